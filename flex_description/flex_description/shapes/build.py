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
"""Mode shapes of a beam by the name of a basis: the only entry to the families of shapes.

Options (strings or numbers, as they stand in the robot's file):
    normalization   'mass' (default) or 'raw'; closed forms only
    file            path of tabulated shapes, basis 'file'
    table           the same as text: CSV with ';' between the rows
    expression_y, expression_z, expression_twist
                    formulas of x, L and pi, separated by ';', basis 'expression'
"""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from flex_description.math import Array
from flex_description.shapes.base import ModeShapes, NoShapes, ShapeError, StackedShapes
from flex_description.shapes.beam_functions import BeamFunctions
from flex_description.shapes.clamped import clamped_free, clamped_mass
from flex_description.shapes.craig_bampton import craig_bampton_bending, craig_bampton_twist
from flex_description.shapes.expression import Expressions
from flex_description.shapes.finite_elements import FiniteElements, Lump
from flex_description.shapes.pinned import pinned_free, pinned_pinned
from flex_description.shapes.polynomial import ClampedPolynomials
from flex_description.shapes.tabulated import TabulatedShapes, read_table, read_table_text
from flex_description.shapes.tip import TipLoad
from flex_description.shapes.torsion import torsion_clamped_inertia

if TYPE_CHECKING:
    from flex_description.robot import BeamProperties, LumpedMass

BASES = ('craig-bampton', 'clamped-free', 'clamped-mass', 'pinned-pinned', 'pinned-free',
         'polynomial', 'fe', 'file', 'expression')
PINNED = ('pinned-pinned', 'pinned-free')
MAX_MODES = 20
# Of an element, in lengths of the beam: shorter ones are stiffer by more digits than numbers have.
SHORTEST = 1e-4


class BeamLike(Protocol):
    """Properties of a beam that the shapes need; lengths in m."""

    @property
    def length(self) -> float: ...

    @property
    def breakpoints(self) -> tuple[float, ...]: ...

    def properties(self, x: Array) -> BeamProperties: ...


def build_shapes(basis: str, counts: tuple[int, int, int], beam: BeamLike,
                 tip: TipLoad | None = None, masses: Sequence[LumpedMass] = (),
                 options: Mapping[str, Any] | None = None,
                 ) -> tuple[ModeShapes, ModeShapes, ModeShapes]:
    """Shapes (bend_y, bend_z, twist) of a beam.

    counts: how many of each, 0 to 20. tip: the load at the end, used by 'clamped-mass' and
    'fe'. masses: the link's own lumped masses; they, or properties that change along the beam,
    make a closed form be replaced by finite elements with the same end conditions. ShapeError
    with one line says what cannot be done.
    """
    if basis not in BASES:
        raise ShapeError(f"basis: expected one of {', '.join(BASES)}; found '{basis}'")
    for name, count in zip(('bending_y', 'bending_z', 'twist'), counts, strict=True):
        if not 0 <= count <= MAX_MODES:
            raise ShapeError(f'{name}: expected 0 to {MAX_MODES} shapes, found {count}')
    options = options or {}
    raw = _is_raw(basis, options)
    if basis == 'file':
        return _from_file(counts, float(beam.length), options)
    if basis == 'expression':
        return _from_expressions(counts, float(beam.length), options)
    tip = tip or TipLoad()
    planes = [BeamPlane(beam, tip, masses, kind) for kind in ('y', 'z', 'twist')]
    y, z, twist = (_shapes(basis, count, plane, raw) if count else NoShapes(beam.length)
                   for count, plane in zip(counts, planes, strict=True))
    return y, z, twist


def _is_raw(basis: str, options: Mapping[str, Any]) -> bool:
    choice = options.get('normalization', 'mass')
    if choice not in ('mass', 'raw'):
        raise ShapeError(f"normalization: expected 'mass' or 'raw', found '{choice}'")
    if choice == 'raw' and basis in ('polynomial', 'fe', 'file', 'expression'):
        raise ShapeError(f"normalization: 'raw' is for closed forms, not for basis '{basis}'")
    return bool(choice == 'raw')


def _from_file(counts: tuple[int, int, int], length: float, options: Mapping[str, Any],
               ) -> tuple[ModeShapes, ModeShapes, ModeShapes]:
    if options.get('table') and not options.get('file'):
        name, columns = 'table', read_table_text(str(options['table']))
    elif options.get('file') and not options.get('table'):
        name, columns = str(options['file']), read_table(options['file'])
    else:
        raise ShapeError("basis 'file': expected the attribute 'file', a CSV or NPZ table, or "
                         "'table', its text")
    y, z, twist = (TabulatedShapes(length, name, columns, kind, count)
                   if count else NoShapes(length)
                   for kind, count in zip(('v', 'w', 'twist'), counts, strict=True))
    return y, z, twist


def _from_expressions(counts: tuple[int, int, int], length: float, options: Mapping[str, Any],
                      ) -> tuple[ModeShapes, ModeShapes, ModeShapes]:
    shapes: list[ModeShapes] = []
    for kind, count, power in zip(('y', 'z', 'twist'), counts, (2, 2, 1), strict=True):
        formulas = Expressions(length, str(options.get(f'expression_{kind}', '')), power)
        if formulas.count != count:
            raise ShapeError(f"expression_{kind}: expected {count} formulas separated by ';', "
                             f'found {formulas.count}')
        shapes.append(formulas if count else NoShapes(length))
    return shapes[0], shapes[1], shapes[2]


class BeamPlane:
    """One direction of deformation of a beam: bending 'y' or 'z', or 'twist'."""

    def __init__(self, beam: BeamLike, tip: TipLoad, masses: Sequence[LumpedMass],
                 kind: str) -> None:
        self.beam, self.kind, self.length = beam, kind, float(beam.length)
        self.order = 1 if kind == 'twist' else 2
        # masses at the root do not move with the shapes
        self.lumps = [self._lump(mass) for mass in masses if mass.x > 1e-9 * beam.length]
        rotation = {'y': tip.inertia_z, 'z': tip.inertia_y, 'twist': tip.inertia_x}[kind]
        if kind == 'twist':
            self.tip = Lump(1.0, rotation)
        else:
            self.tip = Lump(1.0, tip.mass, tip.mass * tip.offset / self.length,
                            rotation / self.length**2)
        self.uniform = self._is_uniform()

    def _lump(self, body: LumpedMass) -> Lump:
        """The body's share in this plane; centre and tensor are in beam axes."""
        cx, cy, cz = body.centre
        s = body.x / self.length
        if self.kind == 'twist':
            return Lump(s, body.tensor[0, 0] + body.mass * (cy**2 + cz**2))
        rotation = (body.tensor[2, 2] + body.mass * (cx**2 + cy**2) if self.kind == 'y' else
                    body.tensor[1, 1] + body.mass * (cx**2 + cz**2))
        return Lump(s, body.mass, body.mass * cx / self.length, rotation / self.length**2)

    def mass(self, s: Array) -> Array:
        p = self.beam.properties(s * self.length)
        return p.inertia_y + p.inertia_z if self.kind == 'twist' else p.mass_per_length

    def stiffness(self, s: Array) -> Array:
        p = self.beam.properties(s * self.length)
        return {'y': p.bending_stiffness_z, 'z': p.bending_stiffness_y,
                'twist': p.torsion_stiffness}[self.kind]

    def _is_uniform(self) -> bool:
        edges = np.array(self.beam.breakpoints) / self.length
        s = (edges[:-1, None] + np.diff(edges)[:, None] * np.linspace(0.02, 0.98, 7)).ravel()
        return all(np.ptp(values) <= 1e-12 * np.max(np.abs(values))
                   for values in (self.mass(s), self.stiffness(s)))

    def tip_ratios(self) -> tuple[float, float, float]:
        """The tip's mass, coupling and inertia over rho A L (J over rho Ip L), dimensionless."""
        beam_mass = float(self.mass(np.array([0.5]))[0]) * self.length
        if beam_mass <= 0.0:
            raise ShapeError(f'{self.kind}: the beam has no inertia, so it has no modes')
        return (self.tip.mass / beam_mass, self.tip.coupling / beam_mass,
                self.tip.inertia / beam_mass)

    def elements(self, count: int, lumps: Sequence[Lump]) -> FiniteElements:
        """Elements no longer than half a wave of the last mode, approximately."""
        places = sorted({*(x / self.length for x in self.beam.breakpoints), *(m.s for m in lumps)})
        edges = [0.0]
        for place in places:           # a lump beside an edge goes to the node there
            if place - edges[-1] > SHORTEST and place < 1.0 - SHORTEST:
                edges.append(place)
        edges.append(1.0)
        pieces = [np.linspace(a, b, 1 + max(1, int(np.ceil((b - a) * count / 2.0 - 1e-9))))[:-1]
                  for a, b in pairwise(edges)]
        stations = np.append(np.concatenate(pieces), 1.0)
        if np.min(self.mass(0.5 * (stations[1:] + stations[:-1]))) <= 0.0:
            raise ShapeError(f'{self.kind}: the beam has no inertia, so it has no modes')
        return FiniteElements(self.order, self.length, stations, lumps, self.stiffness, self.mass)


def _shapes(basis: str, count: int, plane: BeamPlane, raw: bool) -> ModeShapes:
    if basis == 'polynomial':
        return ClampedPolynomials(plane.length, count, plane.order)
    if basis != 'fe' and plane.uniform and not plane.lumps:
        return _closed_form(basis, count, plane, raw)
    if raw:
        raise ShapeError("normalization: 'raw' is for uniform beams without lumped masses")
    return shapes_by_elements(basis, count, plane)


def _closed_form(basis: str, count: int, plane: BeamPlane, raw: bool) -> ModeShapes:
    length = plane.length
    if basis == 'craig-bampton':
        build: Callable[..., ModeShapes] = (
            craig_bampton_twist if plane.kind == 'twist' else craig_bampton_bending)
        return build(length, count, raw)
    mass = coupling = inertia = 0.0
    if basis == 'clamped-mass' and (plane.tip.mass or plane.tip.inertia):
        mass, coupling, inertia = plane.tip_ratios()
    shapes: BeamFunctions
    if plane.kind == 'twist':
        shapes = torsion_clamped_inertia(length, count, mass)
    elif basis == 'pinned-pinned':
        shapes = pinned_pinned(length, count)
    elif basis == 'pinned-free':
        shapes = pinned_free(length, count)
    elif mass or inertia:
        shapes = clamped_mass(length, count, mass, coupling, inertia)
    else:
        shapes = clamped_free(length, count)
    if raw:
        return shapes
    return shapes.mass_normalised(mass * length, coupling * length**2, inertia * length**3)


def shapes_by_elements(basis: str, count: int, plane: BeamPlane) -> ModeShapes:
    with_tip = basis in ('clamped-mass', 'fe')
    elements = plane.elements(count, [*plane.lumps, plane.tip] if with_tip else plane.lumps)
    end, bending = elements.end, plane.order == 2
    if basis == 'craig-bampton':
        held = [0, 1, end, end + 1] if bending else [0, end]
        root = {0: 0.0, 1: 0.0} if bending else {0: 0.0}
        if not bending or count == 1:
            static = [elements.static({**root, end: 1.0})]
        else:
            static = [elements.static({**root, end: 1.0, end + 1: 0.0}),
                      elements.static({**root, end: 0.0, end + 1: plane.length})]
        if count > len(static):
            return StackedShapes([*static, elements.modes(held, count - len(static))])
        return StackedShapes(static)
    if bending and basis == 'pinned-pinned':
        return elements.modes([0, end], count)
    if bending and basis == 'pinned-free':
        return elements.modes([0], count, rigid=1)
    return elements.modes([0, 1] if bending else [0], count)
