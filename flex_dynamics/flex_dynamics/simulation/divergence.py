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
"""Why a step of a simulation failed, in a sentence."""
from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flex_dynamics.arrays import Array
from flex_dynamics.errors import DynamicsError
from flex_dynamics.kernels.stepping.implicit_midpoint import NOT_CONVERGED

if TYPE_CHECKING:
    from flex_dynamics.simulation.simulation import Simulation

BESIDE = 1e-2        # rad or m by which joints are moved, to see what constraints do elsewhere


def why_it_failed(run: Simulation, status: int, tau: Array | None = None) -> str:
    """Names what is largest of speeds, accelerations, efforts and gains at the last good state.

    status: what the kernel returned; tau (n_joints,): the efforts, if they are known.
    """
    what = 'did not converge in 64 parts of a step' if status == NOT_CONVERGED else 'diverged'
    names, found = run.model.names, []
    beyond = np.flatnonzero(np.abs(run.q) > run.amplitude_limits)
    if beyond.size:
        found.append(f'{names[beyond[0]]} bends its beam by more than ten times its length')
    if run.v.any():
        found.append(f'largest speed in {_largest(run.v, names)}')
    if tau is not None:
        found.append(f'largest acceleration in {_largest(_acceleration(run, tau), names)}')
        if tau.any():
            found.append(f'largest effort in {_largest(tau, names)}{_limit(run, tau)}')
    if run.servo[0].any():
        found.append(f'largest servo stiffness in {_largest(run.servo[0], names)}')
    singular = _singular_row(run)
    if singular:
        found.append(f'the constraints are singular at this position: {singular} does not act to '
                     'first order, as where links are in one line; start elsewhere')
    pushed = ', '.join(sorted({load.frame for load in run.loads or ()}))
    if pushed:
        found.append(f'with a push on {pushed}')
    return (f'the motion {what} in the step of {run.step:g} s after {run.time:.6g} s: '
            f'{"; ".join(found)} (SI units); check efforts, gains and damping signs, or take a '
            'smaller step')


def _largest(values: Array, names: tuple[str, ...]) -> str:
    worst = int(np.argmax(np.nan_to_num(np.abs(values), nan=np.inf)))
    return f'{names[worst]}, {values[worst]:.4g}'


def _acceleration(run: Simulation, tau: Array) -> Array:
    """Accelerations (n,) at the state; not a number where there are none."""
    stiffness, damping, target, rate = run.servo
    seen = run.model.input_matrix().T
    try:
        return run.model.forward_dynamics(run.q, run.v, tau + stiffness * (target - seen @ run.q)
                                          + damping * (rate - seen @ run.v), run.loads)
    except DynamicsError:
        return np.full(run.model.n, np.nan)


def _singular_row(run: Simulation) -> str:
    """A row of the constraints that has lost its effect at this position, '' if none has.

    A loop whose links are stretched in one line holds them by forces without bound.
    """
    model = run.model
    if not model.robot.constraints:
        return ''
    beside = run.q.copy()
    beside[:model.n_joints] += BESIDE * np.cos(np.arange(model.n_joints))
    try:
        here, there = (model.constraint_independence(q) for q in (run.q, beside))
    except (DynamicsError, np.linalg.LinAlgError):
        return ''
    lost = [name for name in here.redundant if name not in there.redundant]
    return lost[0] if lost and there.rank > here.rank else ''


def _limit(run: Simulation, tau: Array) -> str:
    """The effort limit in the URDF, if the largest effort is beyond it."""
    worst = int(np.argmax(np.abs(tau)))
    limit = run.model.joint_limits.effort[worst]
    return f', beyond its limit of {limit:g}' if abs(tau[worst]) > limit else ''
