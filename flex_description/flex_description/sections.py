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
"""Cross sections: area and second moments by shape, all in the beam's y and z axes.

Width runs along y, height along z. Iy is the integral of z^2 (resists bending in z), Iz that of
y^2 (resists bending in y), J Saint-Venant's torsion constant, not the polar moment.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flex_description.math import Array

Dimensions = dict[str, Array]


@dataclass(frozen=True)
class SectionValues:
    """Values at stations (k,): A m2; Iy, Iz, J m4; half_y, half_z m (the outline's extent)."""

    A: Array
    Iy: Array
    Iz: Array
    J: Array
    half_y: Array
    half_z: Array


def circle(d: Dimensions) -> SectionValues:
    return hollow_circle({'outer_radius': d['radius'], 'inner_radius': 0.0 * d['radius']})


def hollow_circle(d: Dimensions) -> SectionValues:
    outer, inner = d['outer_radius'], d['inner_radius']
    moment = np.pi / 4 * (outer**4 - inner**4)
    return SectionValues(np.pi * (outer**2 - inner**2), moment, moment, 2 * moment, outer, outer)


def rectangle(d: Dimensions) -> SectionValues:
    w, h = d['width'], d['height']
    return SectionValues(w * h, w * h**3 / 12, h * w**3 / 12, _rectangle_torsion(w, h),
                         w / 2, h / 2)


def _rectangle_torsion(w: Array, h: Array) -> Array:
    """Saint-Venant, sides a >= b:
    J = a b^3 / 3 (1 - 192 b / (pi^5 a) sum_odd tanh(n pi a / 2b) / n^5)."""
    a, b = np.maximum(w, h), np.minimum(w, h)
    n = np.arange(1, 40, 2)[:, None]
    series = np.sum(np.tanh(n * np.pi * a / (2 * b)) / n**5, axis=0)
    torsion: Array = a * b**3 / 3 * (1 - 192 * b / (np.pi**5 * a) * series)
    return torsion


def hollow_rectangle(d: Dimensions) -> SectionValues:
    """Wall of constant thickness; J by Bredt's thin-wall formula on the mid-line."""
    w, h, t = d['width'], d['height'], d['thickness']
    wi, hi = w - 2 * t, h - 2 * t
    torsion = 2 * t * ((w - t) * (h - t))**2 / ((w - t) + (h - t))
    return SectionValues(w * h - wi * hi, (w * h**3 - wi * hi**3) / 12,
                         (h * w**3 - hi * wi**3) / 12, torsion, w / 2, h / 2)


def i_beam(d: Dimensions) -> SectionValues:
    """Flanges across y, web along z; J of thin open walls: sum of length thickness^3 / 3."""
    w, h, tf, tw = d['width'], d['height'], d['flange_thickness'], d['web_thickness']
    web = h - 2 * tf
    torsion = (2 * w * tf**3 + (h - tf) * tw**3) / 3
    return SectionValues(2 * w * tf + web * tw, (w * h**3 - (w - tw) * web**3) / 12,
                         (2 * tf * w**3 + web * tw**3) / 12, torsion, w / 2, h / 2)


def given(d: Dimensions) -> SectionValues:
    """A, Iy, Iz, J as numbers; the outline is that of the rectangle with the same Iy/A, Iz/A."""
    A, Iy, Iz = d['A'], d['Iy'], d['Iz']
    return SectionValues(A, Iy, Iz, d['J'], np.sqrt(3 * Iz / A), np.sqrt(3 * Iy / A))


# For each shape: the dimensions it takes and the formula.
SHAPES: dict[str, tuple[tuple[str, ...], Callable[[Dimensions], SectionValues]]] = {
    'circle': (('radius',), circle),
    'hollow_circle': (('outer_radius', 'inner_radius'), hollow_circle),
    'rectangle': (('width', 'height'), rectangle),
    'hollow_rectangle': (('width', 'height', 'thickness'), hollow_rectangle),
    'i': (('width', 'height', 'web_thickness', 'flange_thickness'), i_beam),
    'given': (('A', 'Iy', 'Iz', 'J'), given),
}


@dataclass(frozen=True)
class Section:
    """A shape and its dimensions."""

    shape: str
    dimensions: dict[str, float]

    def values(self) -> SectionValues:
        """At one station: arrays (1,)."""
        return taper(self, self, np.zeros(1))


def taper(start: Section, end: Section, s: Array) -> SectionValues:
    """Values at s (k,) from 0 (start) to 1 (end): the dimensions run linearly between."""
    dimensions = {name: (1 - s) * value + s * end.dimensions[name]
                  for name, value in start.dimensions.items()}
    return SHAPES[start.shape][1](dimensions)
