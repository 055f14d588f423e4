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
"""Dual numbers, the groups G1 and G2, screws: axioms, and closed forms against series."""
from __future__ import annotations

import numpy as np
import pytest
from algebra_strategies import VECTOR, quick, vectors
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm

from flex_description.math import skew
from flex_dynamics import DynamicsError
from flex_dynamics.papers import dual_groups as g
from flex_dynamics.papers import dual_numbers as dn
from flex_dynamics.papers import dual_screws as ds
from flex_dynamics.papers import left_jacobian as lj

NUMBER = st.tuples(st.floats(-2.0, 2.0), st.floats(-2.0, 2.0)).map(lambda p: dn.Dual(*p))
DUAL = vectors(6)
TWIST = vectors(12)
SMALL_TURN = st.sampled_from([0.0, 1e-9, 1e-4, 0.05, 0.3, 0.499, 0.5, 0.8, 2.0, 3.0])


def near(found, expected, tolerance=1e-12) -> bool:
    scale = max(1.0, np.abs(expected).max())
    return bool(np.abs(np.asarray(found) - expected).max() <= tolerance * scale)


def same(a: dn.Dual, b: dn.Dual, tolerance=1e-12) -> bool:
    return near(a.real, b.real, tolerance) and near(a.dual, b.dual, tolerance)


def bounded(w: np.ndarray) -> np.ndarray:
    """w with its real rotation below a half-turn."""
    size = np.linalg.norm(w[:3])
    return w if size < 3.0 else np.concatenate((w[:3] * 3.0 / size, w[3:]))


def series_jacobian(W: np.ndarray) -> np.ndarray:
    """The sum of W^k / (k + 1)!."""
    total, term = np.eye(len(W)), np.eye(len(W))
    for k in range(1, 60):
        term = term @ W / (k + 1.0)
        total = total + term
    return total


# Dual numbers ----------------------------------------------------------------------------------

@quick
@given(NUMBER, NUMBER, NUMBER)
def test_dual_numbers_are_a_commutative_ring(a, b, c):
    assert same((a + b) + c, a + (b + c)) and same(a + b, b + a)
    assert same((a * b) * c, a * (b * c)) and same(a * b, b * a)
    assert same(a * (b + c), a * b + a * c)
    assert same(a - a, dn.Dual(0.0)) and same(1.0 * a, a) and same(2.0 - a, -(a - 2.0))
    if abs(a.real) > 1e-2:
        assert same((b / a) * a, b, 1e-10) and same(a / a, dn.Dual(1.0)) and same(1.0 / (1.0 / a),
                                                                                  a, 1e-10)


def test_the_dual_unit_squares_to_zero():
    unit = dn.Dual(0.0, 1.0)
    assert same(unit * unit, dn.Dual(0.0))
    with pytest.raises(DynamicsError, match='divide'):
        dn.Dual(1.0) / unit
    with pytest.raises(DynamicsError, match='root'):
        dn.sqrt(unit)
    with pytest.raises(DynamicsError, match='one shape'):
        dn.Dual([1.0, 2.0], [1.0])


@quick
@given(st.floats(0.1, 1.2), st.floats(-2.0, 2.0))
def test_functions_of_dual_numbers_are_their_taylor_series(r, d):
    h = 1e-5
    x = dn.Dual(r, d)
    for dual, plain in ((dn.sin, np.sin), (dn.cos, np.cos), (dn.tan, np.tan), (dn.exp, np.exp),
                        (dn.arctan, np.arctan), (dn.sqrt, np.sqrt)):
        slope = (plain(r + h * d) - plain(r - h * d)) / (2.0 * h)
        assert dual(x).real == plain(r) and dual(x).dual == pytest.approx(slope, abs=1e-7)
    assert same(dn.sin(x) * dn.sin(x) + dn.cos(x) * dn.cos(x), dn.Dual(1.0))
    assert same(dn.tan(dn.arctan(x)), x)


@quick
@given(DUAL, DUAL)
def test_dual_vectors_and_their_matrices(a, b):
    u, v = dn.unstacked(a), dn.unstacked(b)
    assert near(dn.cross(u, v).stacked(), g.wedge(a) @ b)                           # (13)
    assert same(dn.cross(u, v), -dn.cross(v, u))
    assert abs(dn.dot(u, dn.cross(u, v)).dual) < 1e-10
    A = dn.Dual(skew(a[:3]), skew(a[3:]))
    assert near((A @ A.T).matrix(), A.matrix() @ A.T.matrix())
    assert near((A @ v).stacked(), dn.cross(u, v).stacked())
    if np.linalg.norm(a[:3]) > 0.1:
        assert same(dn.norm(u) * dn.norm(u), dn.dot(u, u))


# G1 and G2 -------------------------------------------------------------------------------------

@quick
@given(DUAL, DUAL, DUAL)
def test_dual_rotations_are_a_group(a, b, c):
    X, Y, Z = map(g.exp_rotation, (a, b, c))
    assert near((X @ Y) @ Z, X @ (Y @ Z))
    assert near(X @ g.inverse_rotation(X), np.eye(6))
    product = X @ Y
    rebuilt = g.dual_rotation(product[:3, :3], g.small_rotation(product))           # closure
    assert near(rebuilt, product) and near(g.vee(g.wedge(a)), a)
    assert near(g.wedge(X @ b), X @ g.wedge(b) @ g.inverse_rotation(X))              # (12)
    bracket = g.wedge(a) @ g.wedge(b) - g.wedge(b) @ g.wedge(a)
    assert near(g.wedge(g.wedge(a) @ b), bracket)                                    # ad


@quick
@given(TWIST, TWIST, TWIST)
def test_dual_poses_are_a_group(a, b, c):
    X, Y, Z = map(g.exp_pose, (a, b, c))
    assert near((X @ Y) @ Z, X @ (Y @ Z))
    assert near(X @ g.inverse_pose(X), np.eye(7))
    assert near(g.vee_twist(g.wedge_twist(a)), a)
    assert near(g.wedge_twist(g.adjoint(X) @ b), X @ g.wedge_twist(b) @ g.inverse_pose(X))
    assert near(g.adjoint(X @ Y), g.adjoint(X) @ g.adjoint(Y))
    bracket = g.wedge_twist(a) @ g.wedge_twist(b) - g.wedge_twist(b) @ g.wedge_twist(a)
    assert near(g.wedge_twist(g.small_adjoint(a) @ b), bracket)
    assert near(g.adjoint(X), expm(g.small_adjoint(a)), 1e-11)


@quick
@given(TWIST, SMALL_TURN)
def test_closed_forms_are_their_series(t, turn):
    size = np.linalg.norm(t[:3])
    t = np.concatenate((t[:3] * (turn / size if size > 0.0 else 0.0), t[3:]))
    assert near(g.exp_rotation(t[:6]), expm(g.wedge(t[:6])))
    assert near(g.exp_pose(t), expm(g.wedge_twist(t)))
    assert near(g.dual_left_jacobian(t[:6]), series_jacobian(g.wedge(t[:6])))        # (143), (144)
    assert near(lj.left_jacobian(t[:3]), series_jacobian(skew(t[:3])))
    assert near(lj.inverse_left_jacobian(t[:3]) @ lj.left_jacobian(t[:3]), np.eye(3))
    assert near(g.log_rotation(g.exp_rotation(t[:6])), t[:6], 1e-11)
    assert near(g.log_pose(g.exp_pose(t)), t, 1e-10)


@quick
@given(TWIST)
def test_logarithm_of_any_turn_below_a_half(t):
    t = bounded(t)
    assert near(g.exp_pose(g.log_pose(g.exp_pose(t))), g.exp_pose(t), 1e-10)
    assert near(g.log_pose(g.exp_pose(t)), t, 1e-9)


def test_a_half_turn_has_no_logarithm():
    with pytest.raises(DynamicsError, match='half-turn'):
        g.log_rotation(g.dual_rotation(np.diag([1.0, -1.0, -1.0])))
    with pytest.raises(DynamicsError, match='expected'):
        g.log_pose(np.full((7, 7), np.nan))


@quick
@given(DUAL, TWIST)
def test_right_velocity_of_a_moving_dual_pose(theta, t):
    """(10), (11): X^-1 dX/dt is [omega; A' theta'] when theta is small and A turns."""
    h = 1e-4

    def path(s):
        return g.dual_rotation(lj.exponential(t[:3] + s * t[3:6]), theta[:3] + s * theta[3:])

    rate = (8.0 * (path(h) - path(-h)) - (path(2 * h) - path(-2 * h))) / (12.0 * h)
    velocity = g.inverse_rotation(path(0.0)) @ rate
    expected = np.concatenate((lj.left_jacobian(-t[:3]) @ t[3:6],
                               lj.exponential(t[:3]).T @ theta[3:]))
    assert near(velocity, g.wedge(expected), 1e-7)


# Screws ----------------------------------------------------------------------------------------

@quick
@given(DUAL, DUAL, DUAL, TWIST)
def test_screw_transformations_compose(w, p, q, screw):
    X = g.exp_rotation(w)
    there = ds.reference_transformation(p) @ ds.reference_transformation(q)
    assert near(there, ds.reference_transformation(p + q))
    assert near(ds.screw_transformation(X, p),
                g.adjoint(g.dual_pose(X, np.zeros(6))) @ ds.reference_transformation(p))
    # moving the point after the turn is moving it before by the turned vector
    assert near(ds.reference_transformation(X @ p) @ ds.axes_transformation(X),
                ds.screw_transformation(X, p), 1e-10)
    assert near(ds.interchanged(ds.interchanged(screw)), screw)
    assert near(ds.hat(np.eye(3)) @ g.wedge(w), g.lower_wedge(w) @ ds.hat(np.eye(3)))  # (100)


@quick
@given(DUAL, DUAL, DUAL, DUAL)
def test_derivative_of_a_dual_line(turn, spin, point, speed):
    """(76), (77): d/dt of a line fixed in a turning frame, seen from a point that moves."""
    axis = ds.real(np.array([0.0, 0.0, 1.0]))
    h = 1e-4

    def line(s):
        X = g.exp_rotation(s * spin) @ g.exp_rotation(turn)
        arm = point + s * speed
        return np.concatenate((X @ axis, g.wedge(arm) @ X @ axis))

    rate = (8.0 * (line(h) - line(-h)) - (line(2 * h) - line(-2 * h))) / (12.0 * h)
    # the moment p x a changes with p' x a + p x (w x a) = (p' - w x p) x a + w x (p x a)
    v = -(speed - g.wedge(spin) @ point)
    assert near(ds.differentiation_operator(spin, v) @ line(0.0), rate, 1e-6)


@quick
@given(VECTOR, VECTOR, DUAL, DUAL)
def test_projection_matrix_of_one_joint_and_one_amplitude(omega, v, w, point):
    X = g.exp_rotation(w)
    joint = ds.Mover(0, X, point, omega, np.zeros(3), False)
    bend = ds.Mover(1, X, point, omega, v, True)
    for projecting in (True, False):
        P = ds.projection_matrix([joint, bend], 3, X, point, projecting)
        own = np.concatenate((ds.real(omega), ds.real(np.zeros(3))))
        bent = np.concatenate((ds.real(omega), ds.real(v)))
        assert near(P[:, 0], own) and not P[:, 2].any()
        assert near(P[:, 1], bent if projecting else ds.interchanged(bent))
