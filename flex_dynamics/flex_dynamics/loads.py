"""External loads: wrenches on frames and beam points, and loads spread along a beam."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from flex_dynamics.build.quadrature import gauss_stations
from flex_dynamics.errors import DynamicsError


@dataclass(frozen=True)
class Wrench:
    """A force (3,) N and a moment (3,) N m, world axes, at a frame or beam point x (m)."""

    frame: str
    force: np.ndarray = field(default_factory=lambda: np.zeros(3))
    moment: np.ndarray = field(default_factory=lambda: np.zeros(3))
    x: float | None = None


@dataclass(frozen=True)
class DistributedLoad:
    """A load along a whole beam, world axes: per_length (3,) N/m, or a function of x (m) to it."""

    link: str
    per_length: np.ndarray | Callable[[float], np.ndarray]


Loads = Mapping[str, np.ndarray] | Iterable[Wrench | DistributedLoad]


def point_wrenches(model, loads: Loads) -> list[Wrench]:
    """Any loads as wrenches on points; a distributed load becomes a Gauss sum along its beam."""
    if isinstance(loads, Mapping):
        loads = [Wrench(frame, _vector(value, 6, frame)[:3], _vector(value, 6, frame)[3:])
                 for frame, value in loads.items()]
    points: list[Wrench] = []
    for load in loads:
        if isinstance(load, DistributedLoad):
            beam = model.beam(load.link)
            for x, weight in zip(*gauss_stations(beam.breakpoints, 16), strict=True):
                value = load.per_length(x) if callable(load.per_length) else load.per_length
                points.append(Wrench(load.link, weight * _vector(value, 3, load.link), x=x))
        else:
            points.append(Wrench(load.frame, _vector(load.force, 3, load.frame),
                                 _vector(load.moment, 3, load.frame), load.x))
    return points


def generalised_force(model, q: np.ndarray, loads: Loads | None) -> np.ndarray:
    """Sum of J' w (n,) of all loads at q."""
    force = np.zeros(model.n)
    for load in point_wrenches(model, loads) if loads is not None else ():
        jacobian = model.jacobian(q, load.frame, load.x)
        force += jacobian.T @ np.concatenate((load.force, load.moment))
    return force


def _vector(value, length: int, where: str) -> np.ndarray:
    vector = np.asarray(value, dtype=float)
    if vector.shape != (length,) or not np.isfinite(vector).all():
        raise DynamicsError(f'load on {where}: expected {length} finite numbers, found {value!r}')
    return vector
