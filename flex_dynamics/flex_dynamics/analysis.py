"""What follows from the equations of motion: energies, linear models, frequencies, equilibria."""
from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from flex_dynamics.errors import DynamicsError
from flex_dynamics.loads import generalised_force


def energy(model, q, v) -> tuple[float, float, float]:
    """Kinetic, strain and gravity energy, J; gravity is zero at the world's origin."""
    mass = model.mass_matrix(q)
    q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
    strain = 0.5 * q @ model.stiffness_matrix() @ q
    _, moment = model.first_moment(q)
    return 0.5 * float(v @ mass @ v), float(strain), -float(model.gravity @ moment)


def derivative(function, point: np.ndarray, step: float) -> np.ndarray:
    """Jacobian by fourth-order central differences: columns d function / d point_j."""
    columns = []
    for j in range(len(point)):
        offset = np.zeros(len(point))
        offset[j] = step * max(1.0, abs(point[j]))
        columns.append((8.0 * (function(point + offset) - function(point - offset))
                        - (function(point + 2.0 * offset) - function(point - 2.0 * offset)))
                       / (12.0 * offset[j]))
    return np.array(columns).T


def linearize(model, q, v, tau) -> tuple[np.ndarray, np.ndarray]:
    """A (2n, 2n) and B (2n, n_joints) of d(q, v)/dt about (q, v, tau)."""
    n = model.n
    q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
    model.forward_dynamics(q, v, tau)
    A = np.zeros((2 * n, 2 * n))
    A[:n, n:] = np.eye(n)
    A[n:, :n] = derivative(lambda p: model.forward_dynamics(p, v, tau), q, 1e-4)
    A[n:, n:] = derivative(lambda s: model.forward_dynamics(q, s, tau), v, 1e-4)
    B = np.zeros((2 * n, model.n_joints))
    B[n:] = np.linalg.solve(model.mass_matrix(q), model.input_matrix(q))
    return A, B


def frequencies(model, q, joints: str = 'free', joint_stiffness=None):
    """Undamped frequencies (rad/s) and mass-normalised shapes (n, count) of M, K at q.

    joints: 'free' leaves the rigid motions in as zero frequencies, 'locked' holds the joints
    (motors stay free). joint_stiffness (n_joints,) N m/rad adds springs, as a PD loop does.
    """
    if joints not in ('free', 'locked'):
        raise DynamicsError(f"joints: expected 'free' or 'locked', found {joints!r}")
    mass, stiffness = model.mass_matrix(q), model.stiffness_matrix()
    if joint_stiffness is not None:
        springs = model.finite_vector(joint_stiffness, 'joint_stiffness', model.n_joints)
        inputs = model.input_matrix(q)
        stiffness = stiffness + inputs @ np.diag(springs) @ inputs.T
    keep = np.arange(model.n_joints if joints == 'locked' else 0, model.n)
    shapes = np.zeros((model.n, len(keep)))
    try:
        squares, vectors = eigh(stiffness[np.ix_(keep, keep)], mass[np.ix_(keep, keep)])
    except np.linalg.LinAlgError:
        # The recursion's pivots know which coordinate it is.
        model.forward_dynamics(q, np.zeros(model.n), np.zeros(model.n_joints))
        raise DynamicsError('frequencies: mass matrix not positive definite') from None
    shapes[keep] = vectors
    return np.sqrt(np.maximum(squares, 0.0)), shapes


def statics(model, q_joints, wrenches=None) -> tuple[np.ndarray, np.ndarray]:
    """Deflected equilibrium at given joint positions: Newton on motors and amplitudes.

    Returns q (n,) and the joint efforts (n_joints,) that hold it against gravity and loads.
    """
    n, joints = model.n, model.n_joints
    q = np.zeros(n)
    q[:joints] = model.finite_vector(q_joints, 'q_joints', joints)
    inputs = model.input_matrix(q)
    zero = np.zeros(n)

    def residual(full: np.ndarray) -> np.ndarray:
        return model.inverse_dynamics(full, zero, zero) - generalised_force(model, full, wrenches)

    # Unknowns: motors and amplitudes in q, and the efforts; n equations in all.
    free = n - joints
    for _ in range(50):
        def moved(part: np.ndarray) -> np.ndarray:
            return residual(np.concatenate((q[:joints], part)))

        matrix = np.hstack((derivative(moved, q[joints:], 1e-4) if free else np.zeros((n, 0)),
                            -inputs))
        step = np.linalg.solve(matrix, -residual(q))
        q[joints:] += step[:free]
        tau = step[free:]
        if np.abs(step[:free]).max(initial=0.0) < 1e-12 * max(1.0, np.abs(q).max()):
            return q, tau
    raise DynamicsError('statics: no equilibrium found in 50 Newton steps; the load may buckle a '
                        'link')
