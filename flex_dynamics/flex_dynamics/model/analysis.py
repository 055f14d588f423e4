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

from flex_description.math import derivative
from flex_dynamics import checks
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.checks import LARGEST_POSITION
from flex_dynamics.errors import DynamicsError
from flex_dynamics.model.constraints import held_joints
from flex_dynamics.model.loads import Loads, generalised_force, point_wrenches

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
                held: Iterable[str] | None, data: Data) -> tuple[Array, Array]:
    """Undamped frequencies (rad/s) and mass-normalised shapes (n, count) of M, K at q.

    joints: 'free' leaves the rigid motions in as zero frequencies, 'locked' holds the joints
    (motors stay free). joint_stiffness (n_joints,) N m/rad adds springs, as a PD loop does.
    """
    checks.choice(joints, 'joints', JOINTS)
    mass, stiffness = model.mass_matrix(q, data), model.stiffness_matrix()
    if joint_stiffness is not None:
        springs = model.finite_vector(joint_stiffness, 'joint_stiffness', model.n_joints)
        inputs = model.input_matrix()
        stiffness = stiffness + inputs @ np.diag(springs) @ inputs.T
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


def statics(model: Model, q_joints: ArrayLike, wrenches: Loads | None,
            held: Iterable[str] | None, data: Data) -> tuple[Array, Array]:
    """Deflected equilibrium at given joint positions: Newton on motors and amplitudes.

    Returns q (n,) and the joint efforts (n_joints,) that hold it against gravity and loads.
    """
    if held is not None or model.robot.constraints:
        return held_joints.statics(model, q_joints, wrenches, held, data)
    n, joints = model.n, model.n_joints
    q = np.zeros(n)
    q[:joints] = model.finite_vector(q_joints, 'q_joints', joints, LARGEST_POSITION)
    # Once: the loads may come from a generator, which can be read only once.
    loads = None if wrenches is None else point_wrenches(model, wrenches)
    inputs = model.input_matrix()
    zero = np.zeros(n)

    def residual(full: Array) -> Array:
        return (model.inverse_dynamics(full, zero, zero, data)
                - generalised_force(model, full, loads, data))

    # Unknowns: motors and amplitudes in q, and the efforts; n equations in all.
    free = n - joints
    for _ in range(50):
        def moved(part: Array) -> Array:
            return residual(np.concatenate((q[:joints], part)))

        matrix = np.hstack((derivative(moved, q[joints:], 1e-4) if free else np.zeros((n, 0)),
                            -inputs))
        try:
            step = np.linalg.solve(matrix, -residual(q))
        except np.linalg.LinAlgError:
            break
        q[joints:] += step[:free]
        tau = np.asarray(step[free:], dtype=np.float64)
        largest = np.abs(q).max(initial=0.0)
        if np.abs(step[:free]).max(initial=0.0) < 1e-12 * max(1.0, largest):
            return q, tau
        if not np.abs(q[joints:]).max(initial=0.0) < 0.5 * LARGEST_POSITION:
            break
    raise DynamicsError('statics: no equilibrium found in 50 Newton steps; the load may buckle a '
                        'link: try smaller loads first')
