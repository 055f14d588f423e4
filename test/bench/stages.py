"""Where the time of forward dynamics and of the terms goes: their stages timed inside a kernel."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numba import njit
from timing import interleaved

from flex_dynamics import Model
from flex_dynamics.kernels.base.handle import open_handle
from flex_dynamics.kernels.base.layout import ENTRY
from flex_dynamics.kernels.base.workspace import carve
from flex_dynamics.kernels.tree.applied_forces import applied_forces
from flex_dynamics.kernels.tree.body_blocks import carve_blocks, frame_changes, own_bodies
from flex_dynamics.kernels.tree.composite_mass_matrix import sum_bodies
from flex_dynamics.kernels.tree.kinematics import kinematics
from flex_dynamics.kernels.tree.recursive_forward_dynamics import (
    keep_rotor_rates,
    own_inertia,
    solve_sweeps,
)

FORWARD = ('workspace', 'springs, dampers, efforts', 'kinematics',
           'inertia and bias of every body', 'elimination and accelerations')
TERMS = ('workspace', 'kinematics and its rates', 'inertia and Coriolis blocks of every body',
         'changes of frame', 'composite bodies, M, C and g')
REPEATS = 200
# Not cached: numba would not see that the kernels inside have changed.
OWN_OPTIONS = {**ENTRY, 'cache': False}


@njit(**OWN_OPTIONS)
def _forward(handle, q, v, tau, force, zeros, a, stages, repeats):
    m = open_handle(handle)
    for _ in range(repeats):
        w = carve(m.work, m.size)
        if stages > 1:
            applied_forces(m.table, m.body, m.coef, q, v, tau, force)
        if stages > 2:
            kinematics(m.table, m.body, m.coef, q, v, w, False)
        if stages > 3:
            own_inertia(m.table, m.body, m.coef, q, v, w)
        if stages > 4:
            keep_rotor_rates(m.table, v, w)
            solve_sweeps(m.table, m.body, m.coef, force, zeros, 0.0, 0.0, m.gravity, w, a)


@njit(**OWN_OPTIONS)
def _terms(handle, q, v, M, C, g, stages, repeats):
    m = open_handle(handle)
    for _ in range(repeats):
        w, s = carve(m.work, m.size), carve_blocks(m.more_work, m.size)
        if stages > 1:
            kinematics(m.table, m.body, m.coef, q, v, w, True)
        if stages > 2:
            own_bodies(m.table, m.body, m.coef, q, v, w, s)
        if stages > 3:
            frame_changes(m.table, m.body, v, w, s)
        if stages > 4:
            sum_bodies(m.table, m.body, m.gravity, w, s, M, C, g)


def forward_stages(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> str:
    """A small table: microseconds and share of each stage, then of a whole call from Python."""
    force, zeros, a = np.zeros(model.n), np.zeros(model.n), np.zeros(model.n)
    data = model.create_data()
    return _table(f'Where forward dynamics ({model.n} coordinates) spends its time:', FORWARD,
                  partial(_forward, data.handle, q, v, tau, force, zeros, a),
                  partial(model.forward_dynamics, q, v, tau))


def terms_stages(model: Model, q: np.ndarray, v: np.ndarray) -> str:
    """The same for M, C, K, D and g together."""
    square, data = np.zeros((model.n, model.n)), model.create_data()
    return _table(f'Where M, C, K, D, g ({model.n} coordinates) spend their time:', TERMS,
                  partial(_terms, data.handle, q, v, square, square.copy(), np.zeros(model.n)),
                  partial(model.terms, q, v))


def _table(title: str, names: tuple[str, ...], kernel: Callable, call: Callable) -> str:
    calls: dict[str, Callable[[], object]] = {
        str(stages): partial(kernel, stages, REPEATS) for stages in range(len(names) + 1)}
    times = interleaved({**calls, 'call': call})
    until = [times[str(stages)] / REPEATS for stages in range(len(names) + 1)]
    lines = [title]
    for k, name in enumerate(names):
        stage = until[k + 1] - until[k]
        lines.append(f'  {name:<44}{stage * 1e6:7.2f} us {stage / until[-1]:6.0%}')
    return '\n'.join([*lines, f'  {"in the kernel":<44}{until[-1] * 1e6:7.2f} us',
                      f'  {"called from Python":<44}{times["call"] * 1e6:7.2f} us'])
