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
"""External loads: wrenches on frames and beam points, and loads spread along a beam."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from flex_description.math import gauss_stations
from flex_dynamics import checks
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.errors import DynamicsError

if TYPE_CHECKING:
    from flex_dynamics.model.data import Data
    from flex_dynamics.model.model import Model


@dataclass(frozen=True)
class Wrench:
    """A force (3,) N and a moment (3,) N m, world axes, at a frame or beam point x (m)."""

    frame: str
    force: ArrayLike = field(default_factory=lambda: np.zeros(3))
    moment: ArrayLike = field(default_factory=lambda: np.zeros(3))
    x: float | None = None


@dataclass(frozen=True)
class DistributedLoad:
    """A load along a whole beam, world axes: per_length (3,) N/m, or a function of x (m) to it."""

    link: str
    per_length: ArrayLike | Callable[[float], ArrayLike]


Loads = Mapping[str, ArrayLike] | Iterable[Wrench | DistributedLoad]


EXPECTED = ("a list of Wrench and DistributedLoad, or a dict from frame to force and moment (6,), "
            "such as {'tool': [0, 0, -10, 0, 0, 0]}")


def point_wrenches(model: Model, loads: Loads) -> list[Wrench]:
    """Any loads as wrenches on points; a distributed load becomes a Gauss sum along its beam."""
    points: list[Wrench] = []
    for load in _each(loads):
        if isinstance(load, DistributedLoad):
            beam = model.beam(load.link)
            for x, weight in zip(*gauss_stations(beam.breakpoints, 16), strict=True):
                value = load.per_length(x) if callable(load.per_length) else load.per_length
                points.append(Wrench(load.link, weight * _vector(value, load.link), x=float(x)))
        elif isinstance(load, Wrench):
            model.assembly.locate(load.frame, load.x)    # refuses frames and places that are none
            points.append(Wrench(load.frame, _vector(load.force, load.frame),
                                 _vector(load.moment, load.frame),
                                 None if load.x is None else float(load.x)))
        else:
            raise DynamicsError(f'loads: expected {EXPECTED}, found {checks.shown(load)} among '
                                'them')
    return points


def generalised_force(model: Model, q: Array, loads: Loads | None,
                      data: Data | None = None) -> Array:
    """Sum of J' w (n,) of all loads at q."""
    force = np.zeros(model.n)
    for load in point_wrenches(model, loads) if loads is not None else ():
        jacobian = model.jacobian(q, load.frame, load.x, data)
        force += jacobian.T @ np.concatenate((load.force, load.moment))
    return force


def _each(loads: Loads) -> list[Any]:
    """Loads in any form as a list of Wrench, DistributedLoad and what is neither."""
    if isinstance(loads, Mapping):
        found = []
        for frame, value in loads.items():
            checks.text(frame, 'frame of a load', 'the name of a link or frame')
            wrench = _vector(value, frame, 6)
            found.append(Wrench(frame, wrench[:3], wrench[3:]))
        return found
    if isinstance(loads, (str, bytes, np.ndarray)):
        raise DynamicsError(f'loads: expected {EXPECTED}, found {checks.shown(loads)}')
    try:
        return list(loads)
    except TypeError:
        raise DynamicsError(f'loads: expected {EXPECTED}, found {checks.shown(loads)}') from None


def _vector(value: Any, where: str, length: int = 3) -> Array:
    """A copy: the arrays of the caller may change later."""
    array = checks.real_array(value, f'load on {where}', f'{length} finite numbers')
    if array.shape != (length,):
        raise DynamicsError(f'load on {where}: expected {length} finite numbers, found '
                            f'{checks.shown(value)}')
    checks.refuse_size(array, f'load on {where}', 'xyzxyz', checks.LARGEST)
    return array
