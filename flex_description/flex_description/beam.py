"""The beam of a flexible link: segments of one material each, straight or tapered."""
from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from flex_description.element import Element
from flex_description.materials import Material, read_material
from flex_description.robot import BeamProperties
from flex_description.sections import Section, SectionValues, read_section, taper

# What must be positive all along a beam; sizes of twenty digits leave zero of a difference.
REQUIRED = ('mass_per_length', 'inertia_y', 'inertia_z', 'bending_stiffness_y',
            'bending_stiffness_z', 'torsion_stiffness')


@dataclass(frozen=True)
class Segment:
    """A stretch of beam of one material; the section runs linearly from start to end."""

    length: float
    start: Section
    end: Section
    material: Material


@dataclass(frozen=True)
class Beam:
    """Segments end to end along x, from 0 to `length`."""

    segments: tuple[Segment, ...]

    @cached_property
    def breakpoints(self) -> tuple[float, ...]:
        """Stations where the segments meet, from 0 to the length."""
        ends = np.cumsum([segment.length for segment in self.segments])
        return (0.0, *(float(end) for end in ends))

    @property
    def length(self) -> float:
        return self.breakpoints[-1]

    @property
    def uniform(self) -> bool:
        """One segment without taper."""
        return len(self.segments) == 1 and self.segments[0].start == self.segments[0].end

    @property
    def outlined(self) -> bool:
        """Whether every section has a known outline (it has not if given by A, Iy, Iz, J)."""
        return all(segment.start.shape != 'given' for segment in self.segments)

    def sections(self, x: np.ndarray) -> tuple[SectionValues, np.ndarray]:
        """Section values at stations x (k,) and the number (k,) of the segment of each."""
        x = np.atleast_1d(np.asarray(x, dtype=float))
        inner = self.breakpoints[1:-1]
        number = np.searchsorted(inner, x, side='right')
        rows = np.empty((6, x.size))
        for k, segment in enumerate(self.segments):
            here = number == k
            s = np.clip((x[here] - self.breakpoints[k]) / segment.length, 0.0, 1.0)
            v = taper(segment.start, segment.end, s)
            rows[:, here] = (v.A, v.Iy, v.Iz, v.J, v.half_y, v.half_z)
        return SectionValues(*rows), number

    def properties(self, x: np.ndarray) -> BeamProperties:
        """Properties at stations x (k,), m; at a breakpoint those of the segment that begins."""
        v, number = self.sections(x)
        E, G, rho = np.array([(s.material.E, s.material.G, s.material.density)
                              for s in self.segments])[number].T
        return BeamProperties(
            mass_per_length=rho * v.A, inertia_y=rho * v.Iy, inertia_z=rho * v.Iz,
            bending_stiffness_y=E * v.Iy, bending_stiffness_z=E * v.Iz,
            torsion_stiffness=G * v.J, axial_stiffness=E * v.A,
            half_y=v.half_y, half_z=v.half_z)


@cache
def _gauss(points: int) -> tuple[np.ndarray, np.ndarray]:
    return np.polynomial.legendre.leggauss(points)


def quadrature(breakpoints: tuple[float, ...], points: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss stations and weights, `points` of them on every interval."""
    node, weight = _gauss(points)
    start = np.array(breakpoints[:-1])[:, None]
    half = np.diff(breakpoints)[:, None] / 2
    return (start + half * (node + 1)).ravel(), (half * weight).ravel()


def read_beam(element: Element, length: float) -> Beam:
    """The segments of a <beam> of the length given (m); without <segment> it is one itself."""
    beam = _read_segments(element, length)
    with np.errstate(all='ignore'):  # what is not finite is refused here
        at = beam.properties(quadrature(beam.breakpoints, 3)[0])
    for name in REQUIRED:
        values = getattr(at, name)
        if not np.all((values > 0.0) & np.isfinite(values)):
            raise element.error(f'expected a {name.replace("_", " ")} above 0, found '
                                f'{values.min():g}; look for walls too thin for their width')
    return beam


def _read_segments(element: Element, length: float) -> Beam:
    segments = element.all('segment')
    if not segments:
        return Beam((_read_segment(element, length),))
    for section in element.all('section'):
        raise section.error('expected sections inside each <segment>, found one beside them; '
                            'move it')
    common = element.one('material')
    parts = []
    for segment in segments:
        segment.allow({'length'}, {'section', 'material'})
        parts.append(_read_segment(segment, segment.number('length', above=0.0, unit='m'), common))
    total = sum(part.length for part in parts)
    if abs(total - length) > 1e-6 * length:
        raise element.error(f'segments: expected lengths that sum to {length:.9g} m, the '
                            f'length of the beam, found {total:.9g} m')
    return Beam(tuple(parts))


def _read_segment(element: Element, length: float, common: Element | None = None) -> Segment:
    sections = element.all('section')
    if not 1 <= len(sections) <= 2:
        raise element.error('section: expected one, or two (start and end of a taper), '
                            f'found {len(sections)}')
    start, end = read_section(sections[0]), read_section(sections[-1])
    if start.shape != end.shape:
        raise sections[1].error('shape: expected the same at both ends of a taper, '
                                f'found "{start.shape}" and "{end.shape}"')
    material = element.one('material') or common
    if material is None:
        raise element.error('material: expected <material>, found none')
    return Segment(length, start, end, read_material(material))
