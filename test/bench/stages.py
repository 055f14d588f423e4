"""Where the time of forward dynamics goes: its stages timed inside one kernel."""
from __future__ import annotations

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
            kinematics(table, body, coef, q, v, w)
        if stages > 3:
            own_inertia(table, body, coef, q, v, w)
        if stages > 4:
            keep_rotor_rates(table, v, w)
            solve_sweeps(table, body, coef, force, zeros, 0.0, 0.0, gravity, w, a)


def stage_times(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> str:
    """A small table: microseconds and share of each stage of one call from Python."""
    force, zeros, a = np.zeros(model.n), np.zeros(model.n), np.zeros(model.n)

    def upto(stages: int):
        return lambda: _repeat(*model._arrays, model._work, model.gravity, q, v, tau, force, zeros,
                               a, stages, REPEATS)

    times = interleaved({str(k): upto(k) for k in range(len(STAGES) + 1)})
    times = {k: t / REPEATS for k, t in times.items()}
    call = interleaved({'call': lambda: model.forward_dynamics(q, v, tau)})['call']
    parts = {name: times[str(k + 1)] - times[str(k)] for k, name in enumerate(STAGES)}
    parts['checks and the way into the kernel'] = call - times[str(len(STAGES))]
    lines = [f'Where a call of forward dynamics ({model.n} coordinates) spends its time:']
    lines += [f'  {name:<38}{max(t, 0.0) * 1e6:7.2f} us {max(t, 0.0) / call:6.0%}'
              for name, t in parts.items()]
    return '\n'.join([*lines, f'  {"together":<38}{call * 1e6:7.2f} us'])
