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
"""Where the deflection puts many sections of one beam: all stations in one product.

A section at x has, in the beam's frame (build/beam_fields.py),

    position  r = (x, 0, 0) + r1 eta + eta' r2 eta
    rotation  R = exp(theta),  theta = t1 eta + eta' t2 eta

so that r and theta of k stations are one constant matrix times (1, eta, products of eta).
"""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flex_description.math import exponential
from flex_dynamics import checks
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.errors import DynamicsError

if TYPE_CHECKING:
    from flex_dynamics.model.model import Model


class BeamSections:
    """k sections of one flexible link; `Model.sections` gives them.

    link: its name. stations (k,): m along its beam. Deflections in order 'linear' are those of
    order 'first'.
    """

    def __init__(self, model: Model, link: str, stations: ArrayLike) -> None:
        beam = model.beam(link)
        x = checks.real_array(stations, 'stations', 'places (k,) along the beam in m')
        if x.ndim != 1 or not x.size:
            raise DynamicsError('stations: expected places (k,) along the beam in m, found '
                                f'{checks.shown(stations)}')
        for station in x:
            checks.station(station, link, beam.flexible.length)
        self.link, self.stations = link, x
        self._model = model
        self._own = model.coordinates.links[link].all
        fields = beam.at(x)
        self._pairs = np.triu_indices(beam.n_modes)
        twice = np.where(self._pairs[0] == self._pairs[1], 1.0, 2.0)
        rows = []
        for constant, linear, square in ((fields.r0, fields.r1, fields.r2),
                                         (np.zeros((len(x), 3)), fields.t1, fields.t2)):
            products = square[..., self._pairs[0], self._pairs[1]] * twice
            rows.append(np.concatenate((constant[..., None], linear, products), axis=-1))
        self._matrix = np.concatenate(rows).reshape(6 * len(x), -1)
        self._curvature = beam.rotation_first(x, 1)

    def poses(self, q: ArrayLike) -> tuple[Array, Array]:
        """Positions (k, 3) m and rotations (k, 3, 3) in the beam's frame at q (n,)."""
        eta = checks.position(self._model, q)[self._own]
        powers = np.concatenate(([1.0], eta, eta[self._pairs[0]] * eta[self._pairs[1]]))
        values = (self._matrix @ powers).reshape(2, -1, 3)
        return values[0], exponential(values[1])

    def curvature(self, q: ArrayLike) -> Array:
        """(k, 3) 1/m: twist rate, curvature about y and about z; alpha', -w'', v''."""
        curvature: Array = self._curvature @ checks.position(self._model, q)[self._own]
        return curvature
