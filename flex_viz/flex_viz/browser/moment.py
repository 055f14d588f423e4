# Copyright 2026 flex maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.
"""What the panel asks of the node; the node has the services and topics for it."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Actions:
    """Callbacks of the controls, called in threads of the server; they must return at once."""

    pause: Callable[[], None]
    play: Callable[[], None]
    step: Callable[[int], None]                              # periods
    reset: Callable[[], None]
    push: Callable[[np.ndarray, float], None]                # N along the axes of the tip, s
    go: Callable[[np.ndarray, float, str], None]             # pose (m,) rad or m, s, its name
    pull: Callable[[np.ndarray], None]                       # N in the frame of the root, for now
    payload: Callable[[float], None]                         # kg at the tip; 0: none
    select: Callable[[str, str], None]                       # a parameter of control: its value


@dataclass(frozen=True)
class Gain:
    """A parameter of a controller: its name without that of the controller, and its value."""

    name: str
    text: str             # numbers between commas
    hint: str = ''


@dataclass(frozen=True)
class ControlSettings:
    """The settings of the control node, as it tells them."""

    controller: str
    controllers: tuple[str, ...]
    shaper: str
    shapers: tuple[str, ...]
    shaper_modes: int
    gains: tuple[Gain, ...] = ()      # of the controller that is selected


@dataclass(frozen=True)
class Moment:
    """What is to be shown: time in s of the robot's clock, q (n,), and of the joints (m,) their
    efforts and set-points, as far as they are known."""

    time: float
    q: np.ndarray
    efforts: np.ndarray
    set_points: np.ndarray | None = None
    alarms: tuple[str, ...] = field(default=())      # of fail-safes that act
