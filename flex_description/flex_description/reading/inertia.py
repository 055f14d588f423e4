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
"""Inertia in a description: reading and checking of tensors, and a warning where <inertial> and
the beam of a flexible link disagree."""
from __future__ import annotations

import numpy as np

from flex_description.math import Array, inertia_tensor, is_possible, principal_moments
from flex_description.reading.element import Element
from flex_description.robot import Inertia

TENSOR = ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz')
TOLERANCE = 0.01    # relative difference from which <inertial> and the beam disagree


def read_tensor(element: Element, default: float | None = None) -> Array:
    """Tensor (3, 3), kg m2, of the attributes ixx, iyy, ...; default: of absent ones."""
    return inertia_tensor(*(element.number(name, default, unit='kg m2') for name in TENSOR))


# A moment below 0 that is smaller than this, kg m2, or than this share of the largest one, is a
# slip of a published file that no motion shows: that of a body of 10 g and 1 cm is 1e-6.
SLIGHT, SLIGHT_SHARE = 1e-6, 1e-3
ROUNDING = 1e-9     # share of the largest moment


def check_tensor(element: Element, tensor: Array, *, point: bool = False) -> str:
    """Refuse a tensor that is not positive definite; point: moments may be zero (point, rod), and
    slightly below.

    Returns '', or a warning about moments that no body has.
    """
    moments = principal_moments(tensor)
    shown = ', '.join(f'{value:g}' for value in moments)
    least = -max(SLIGHT, SLIGHT_SHARE * moments[2])
    none = SLIGHT * ROUNDING      # kg m2: moments of this size were zero before a program rounded
    if (moments[0] <= 0.0 and not point) or moments[0] < least or moments[2] < -none:
        raise element.error('inertia: expected a positive-definite tensor, found principal '
                            f'moments {shown}')
    if point and np.abs(moments).max() < none:
        return ''
    if moments[0] < -ROUNDING * moments[2] and moments[0] < -none:
        return ('inertia: expected principal moments above 0, found '
                f'{shown}; those below 0 are taken as 0')
    if not is_possible(moments):
        return ('inertia: expected principal moments of which each is at most the sum of the '
                f'other two, found {shown}')
    return ''


def inertia_warning(element: Element, length: float, written: Inertia | None,
                    built: Inertia) -> list[str]:
    """At most one warning about a <flexible> element whose beam has the length given (m).

    written: from <inertial>; built: from the beam and its lumped masses, which is used. Both are
    in the link's frame. Centres are compared to the length, tensors to their size.
    """
    if written is None:
        return []
    found = []
    if abs(written.mass - built.mass) > TOLERANCE * built.mass:
        found.append(f'mass {written.mass:.6g} and {built.mass:.6g} kg')
    if np.linalg.norm(written.centre - built.centre) > TOLERANCE * length:
        found.append(f'centre {_row(written.centre)} and {_row(built.centre)} m')
    scale = np.linalg.norm(built.tensor)
    if np.linalg.norm(written.tensor - built.tensor) > TOLERANCE * scale:
        found.append('inertia (xx yy zz xy xz yz) '
                     f'{_six(written.tensor)} and {_six(built.tensor)} kg m2')
    if not found:
        return []
    return [f'{element.source}:{element.line}: {element.label}: <inertial> and the beam with its '
            f'masses disagree: {"; ".join(found)}; the beam is used']


def figures(body: Inertia) -> str:
    """Mass, centre and inertia of a body, with units."""
    return (f'mass {body.mass:.6g} kg, centre {_row(body.centre)} m, inertia (xx yy zz xy xz yz) '
            f'{_six(body.tensor)} kg m2')


def _row(values: Array) -> str:
    return '(' + ' '.join(f'{value:.4g}' for value in values + 0.0) + ')'


def _six(tensor: Array) -> str:
    return _row(tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
