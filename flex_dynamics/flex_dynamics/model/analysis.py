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
"""What follows from the equations of motion: energies, linear models, frequencies, equilibria."""
from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh

from flex_dynamics import checks
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.checks import LARGEST_POSITION
from flex_dynamics.errors import DynamicsError
from flex_dynamics.kernels.derivatives.equilibrium import MOST_STEPS
from flex_dynamics.model.constraints import held_joints
from flex_dynamics.model.derivatives import state_derivatives as derivatives
from flex_dynamics.model.derivatives.frames import load_slope
from flex_dynamics.model.loads import Loads, Wrench, generalised_force, point_wrenches

if TYPE_CHECKING:
    from flex_dynamics.model.data import Data
    from flex_dynamics.model.model import Model

JOINTS = ('free', 'locked')


def energy(model: Model, q: ArrayLike, v: ArrayLike,
           data: Data | None = None) -> tuple[float, float, float]:
    """Kinetic, strain and gravity energy, J; gravity is zero at the world's origin."""
    q, v = checks.state(model, q, v)
    mass = model.mass_matrix(q, data)
    strain = 0.5 * q @ model.stiffness_matrix() @ q
    _, moment = model.first_moment(q, data)
    return 0.5 * float(v @ mass @ v), float(strain), -float(model.assembly.gravity @ moment)


def frequencies(model: Model, q: ArrayLike, joints: str, joint_stiffness: ArrayLike | None,
                held: Iterable[str] | None, loaded: bool, wrenches: Loads | None,
                data: Data) -> tuple[Array, Array]:
    """Undamped frequencies (rad/s) and mass-normalised shapes (n, count) of M, K at q.

    joints: 'free' leaves the rigid motions in as zero frequencies, 'locked' holds the joints
    (motors stay free). joint_stiffness (n_joints,) N m/rad adds springs, as a PD loop does.
    """
    checks.choice(joints, 'joints', JOINTS)
    loaded = checks.flag(loaded, 'loaded') or wrenches is not None
    mass, stiffness = model.mass_matrix(q, data), model.stiffness_matrix()
    if joint_stiffness is not None:
        springs = model.finite_vector(joint_stiffness, 'joint_stiffness', model.n_joints)
        inputs = model.input_matrix()
        stiffness = stiffness + inputs @ np.diag(springs) @ inputs.T
    if loaded:
        stiffness = stiffness + _geometric_stiffness(model, checks.position(model, q), wrenches,
                                                     data)
    if held is not None or model.robot.constraints:
        names: Iterable[str] = () if held is None else held
        if held is None and joints == 'locked':
            names = held_joints.independent_joints(model, q, data)
        return held_joints.frequencies(model, q, names, stiffness, data)
    keep = np.arange(model.n_joints if joints == 'locked' else 0, model.n)
    shapes = np.zeros((model.n, len(keep)))
    if not len(keep):
        return np.zeros(0), shapes
    try:
        squares, vectors = eigh(stiffness[np.ix_(keep, keep)], mass[np.ix_(keep, keep)])
    except np.linalg.LinAlgError:
        # The recursion's pivots know which coordinate it is.
        model.forward_dynamics(q, np.zeros(model.n), np.zeros(model.n_joints), data=data)
        raise DynamicsError('frequencies: expected a positive definite mass matrix, found one '
                            'that is not; give every link an inertia') from None
    shapes[keep] = vectors
    return np.sqrt(np.maximum(squares, 0.0)), shapes


def _geometric_stiffness(model: Model, q: Array, wrenches: Loads | None, data: Data) -> Array:
    """What gravity and loads add to the stiffness at q (n, n), symmetric: moments in world axes
    have no potential, and their skew part is left out."""
    slope = derivatives.gravity_force(model, q, data)
    if wrenches is not None:
        slope = slope - load_slope(model, q, wrenches, data)
    return 0.5 * (slope + slope.T)


def statics(model: Model, q_joints: ArrayLike, wrenches: Loads | None,
            held: Iterable[str] | None, data: Data) -> tuple[Array, Array]:
    """Deflected equilibrium at given joint positions: Newton on motors and amplitudes.

    Returns q (n,) and the joint efforts (n_joints,) that hold it against gravity and loads.
    """
    if held is not None or model.robot.constraints:
        return held_joints.statics(model, q_joints, wrenches, held, data)
    q = np.zeros(model.n)
    q[:model.n_joints] = model.finite_vector(q_joints, 'q_joints', model.n_joints,
                                             LARGEST_POSITION)
    if wrenches is None:
        tau = model.backend.quick_equilibrium(q, data)
        found = None if tau is None else (q, tau)
        if tau is None and model.backend.name != 'recursive':
            found = _equilibrium(model, q, None, data)
    else:
        # Once: the loads may come from a generator, which can be read only once.
        found = _equilibrium(model, q, point_wrenches(model, wrenches), data)
    if found is None:
        raise DynamicsError(f'statics: no equilibrium found in {MOST_STEPS} Newton steps; the '
                            'load may buckle a link: try smaller loads first')
    return found


def _equilibrium(model: Model, q: Array, loads: list[Wrench] | None,
                 data: Data) -> tuple[Array, Array] | None:
    """Newton's method from q (n,) for any backend and loads; None if it does not converge."""
    n, joints = model.n, model.n_joints
    free, inputs, zero = n - joints, model.input_matrix(), np.zeros(n)
    for _ in range(MOST_STEPS):
        slope = derivatives.inverse_dynamics(model, q, zero, zero, data).by_q
        residual = model.inverse_dynamics(q, zero, zero, data)
        if loads is not None:
            slope = slope - load_slope(model, q, loads, data)
            residual = residual - generalised_force(model, q, loads, data)
        try:
            step = np.linalg.solve(np.hstack((slope[:, joints:], -inputs)), -residual)
        except np.linalg.LinAlgError:
            return None
        q[joints:] += step[:free]
        largest = np.abs(q).max(initial=0.0)
        if np.abs(step[:free]).max(initial=0.0) < 1e-12 * max(1.0, largest):
            return q, np.asarray(step[free:], dtype=np.float64)
        if not largest < 0.5 * LARGEST_POSITION:
            return None
    return None
