"""Where the time of forward dynamics goes: its stages timed inside one kernel."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numba import njit
from timing import interleaved

from flex_dynamics import Model
from flex_dynamics.kernels.applied_forces import applied_forces
from flex_dynamics.kernels.kinematics import kinematics
from flex_dynamics.kernels.layout import OPTIONS
from flex_dynamics.kernels.recursive_forward_dynamics import (
    keep_rotor_rates,
    own_inertia,
    solve_sweeps,
)
from flex_dynamics.kernels.workspace import carve

STAGES = ('workspace views', 'springs, dampers, efforts', 'kinematics',
          'inertia and bias of every body', 'elimination and accelerations')
REPEATS = 200


@njit(**OPTIONS)
def _repeat(table, body, coef, size, work, gravity, q, v, tau, force, zeros, a, stages, repeats):
    for _ in range(repeats):
        w = carve(work, size)
        if stages > 1:
            applied_forces(table, body, coef, q, v, tau, force)
        if stages > 2:
            kinematics(table, body, coef, q, v, w, False)
        if stages > 3:
            own_inertia(table, body, coef, q, v, w)
        if stages > 4:
            keep_rotor_rates(table, v, w)
            solve_sweeps(table, body, coef, force, zeros, 0.0, 0.0, gravity, w, a)


def stage_times(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> str:
    """A small table: microseconds and share of each stage, then of a whole call from Python."""
    force, zeros, a = np.zeros(model.n), np.zeros(model.n), np.zeros(model.n)
    calls: dict[str, Callable[[], object]] = {
        str(stages): partial(_repeat, *model._arrays, model._work, model.gravity, q, v, tau, force,
                             zeros, a, stages, REPEATS)
        for stages in range(len(STAGES) + 1)}
    times = interleaved({**calls, 'call': partial(model.forward_dynamics, q, v, tau)})
    kernel = [times[str(stages)] / REPEATS for stages in range(len(STAGES) + 1)]
    lines = [f'Where forward dynamics ({model.n} coordinates) spends its time:']
    for k, name in enumerate(STAGES):
        stage = kernel[k + 1] - kernel[k]
        lines.append(f'  {name:<34}{stage * 1e6:7.2f} us {stage / kernel[-1]:6.0%}')
    return '\n'.join([*lines, f'  {"in the kernel":<34}{kernel[-1] * 1e6:7.2f} us',
                      f'  {"called from Python":<34}{times["call"] * 1e6:7.2f} us'])
