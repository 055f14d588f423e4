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
"""Kinds of channels that a recording may have, and the units that files may have them in.

| channel | what it is | unit |
|---|---|---|
| `position/JOINT` | joint position as the model counts it, on the link's side | rad or m |
| `velocity/JOINT` | its rate | rad/s or m/s |
| `effort/JOINT` | effort that acted, measured | N m or N |
| `command/JOINT` | effort that was commanded | N m or N |
| `strain/LINK/GAUGE` | axial strain of a gauge of the robot | m/m |
| `gyro/IMU/x`, `/y`, `/z` | angular velocity in the axes of the IMU's frame | rad/s |
| `acceleration/IMU/x`, ... | specific force in the axes of the IMU's frame | m/s2 |
| `tip/FRAME/x`, ... | position of a frame in the root's frame, as a tracker sees it | m |
"""
from __future__ import annotations

from dataclasses import dataclass

from flex_identification.errors import IdentificationError

AXES = 'xyz'
RADIANS = 3.141592653589793 / 180.0


@dataclass(frozen=True)
class Kind:
    """One kind: its unit in words, whether it has axes, and other units with their factors."""

    unit: str
    axes: bool = False
    units: tuple[tuple[str, float], ...] = ()


LENGTHS = (('m', 1.0), ('mm', 1e-3))
KINDS = {
    'position': Kind('rad or m', units=(('rad', 1.0), ('deg', RADIANS), *LENGTHS)),
    'velocity': Kind('rad/s or m/s', units=(('rad/s', 1.0), ('deg/s', RADIANS), ('m/s', 1.0),
                                            ('mm/s', 1e-3), ('rpm', 6.0 * RADIANS))),
    'effort': Kind('N m or N', units=(('N m', 1.0), ('mN m', 1e-3), ('N', 1.0))),
    'command': Kind('N m or N', units=(('N m', 1.0), ('mN m', 1e-3), ('N', 1.0))),
    'strain': Kind('m/m', units=(('m/m', 1.0), ('microstrain', 1e-6))),
    'gyro': Kind('rad/s', True, (('rad/s', 1.0), ('deg/s', RADIANS))),
    'acceleration': Kind('m/s2', True, (('m/s2', 1.0), ('g', 9.80665))),
    'tip': Kind('m', True, LENGTHS),
}
TIMES = {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9}
INPUTS = ('effort', 'command')      # what acts on the robot; all others are readings


def split(channel: str) -> tuple[str, str, str]:
    """Kind, target (joint, `link/gauge`, IMU or frame) and axis ('' if none) of a channel's name;
    IdentificationError if no channel is called so."""
    kind, _, rest = channel.partition('/')
    if kind not in KINDS:
        raise IdentificationError(f'channel {channel!r}: expected a kind ({", ".join(KINDS)}), '
                                  f'a slash and a name, such as position/joint1, found the kind '
                                  f'{kind!r}')
    target, axis = rest, ''
    if KINDS[kind].axes:
        target, _, axis = rest.rpartition('/')
        if axis not in tuple(AXES):
            raise IdentificationError(f'channel {channel!r}: expected an axis at the end, such '
                                      f'as {kind}/NAME/x, found {axis!r}')
    if not target:
        raise IdentificationError(f'channel {channel!r}: expected a name after {kind}/, found '
                                  'none')
    return kind, target, axis
