"""Mladenova: attitude of a rigid body in vector-parameters, Newton and Euler in screws.

C. D. Mladenova, "Group Theory in the Problems of Modeling and Control of Multi-Body Systems",
sections 2.7 and 4.3. The witnesses share no code with the equations: Jacobi's elliptic functions,
a cloud of particles, and the numeric model of a floating body.
"""
from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipj

from flex_description import load_robot
from flex_description.math import skew
from flex_dynamics import Model
from flex_dynamics.papers import attitude
from flex_dynamics.papers import vector_parameters as vp
from flex_dynamics.papers.newton_euler_screws import (
    force_screw,
    generalized_inertia,
    velocity_operator,
)

SOURCE = 'Mladenova 2.7'
SCREWS = 'Mladenova 4.3'
MOMENTS = np.array([1.0, 2.0, 3.5])       # kg m2
ROUNDING = 1e-12
INTEGRATION = dict(method='DOP853', rtol=1e-13, atol=1e-14)
NEAR = 1.0                                # |c| at which the motion goes on from a new c = 0


def free_speeds(start: np.ndarray, times: np.ndarray) -> np.ndarray:
    """omega (n, 3) of the free body whose second speed is 0 at t = 0: Landau and Lifshitz 37.

    It turns about the axis of the largest moment, so that L^2 > 2 E I2.
    """
    first, second, third = MOMENTS
    energy, momentum = MOMENTS @ start**2, (MOMENTS * start) @ (MOMENTS * start)
    assert momentum > energy * second and start[1] == 0.0
    small, large = energy * third - momentum, momentum - energy * first
    pace = np.sqrt((third - second) * large / (first * second * third))
    sn, cn, dn, _ = ellipj(pace * times,
                           (second - first) * small / ((third - second) * large))
    return np.column_stack((np.sqrt(small / (first * (third - first))) * cn,
                            np.sqrt(small / (second * (third - second))) * sn,
                            np.sqrt(large / (third * (third - first))) * dn))


def paper_s(vector: np.ndarray) -> np.ndarray:
    """S_b (3, 3) of the paper, -omega x."""
    return -skew(vector)


def turned(start: np.ndarray, end: float, moment) -> tuple[np.ndarray, np.ndarray]:
    """x (3,) and O (3, 3) at the end (s), by (103) and (104) from O = 1; moment: of the time."""
    inertia, base, time = np.diag(MOMENTS), np.eye(3), 0.0
    state = np.concatenate((start, np.zeros(3)))

    def rates(t, y):
        return np.concatenate(attitude.attitude_rates(inertia, y[:3], y[3:], moment(t)))

    def near(t, y):
        return NEAR - np.linalg.norm(y[3:])
    near.terminal, near.direction = True, -1.0
    while time < end:
        found = solve_ivp(rates, (time, end), state, events=near, **INTEGRATION)
        time, state = found.t[-1], found.y[:, -1]
        base = base @ vp.rotation(state[3:])
        state = np.concatenate((state[:3], np.zeros(3)))
    return state[:3], base


def test_free_body(claims):
    """Half-turns have no c: the motion goes on from c = 0 in a new fixed frame before them."""
    start, end = np.array([1.5, 0.0, 1.2]), 10.0
    x, R = turned(MOMENTS * start, end, lambda t: np.zeros(3))
    speeds = free_speeds(start, np.array([0.0, end]))
    claims.bound(SOURCE, 'closed form at t = 0', np.abs(speeds[0] - start).max(), ROUNDING)
    claims.value(SOURCE, '(103) free body after 10 s: angular velocity', speeds[1], x / MOMENTS,
                 1e-10, unit='rad/s', note="Jacobi's elliptic functions; sign of (97) corrected")

    def matrix_rate(t, rows):
        return (rows.reshape(3, 3) @ skew(free_speeds(start, np.array([t]))[0])).ravel()
    witness = solve_ivp(matrix_rate, (0.0, end), np.eye(3).ravel(), **INTEGRATION).y[:, -1]
    claims.value(SOURCE, '(104) free body after 10 s: rotation', witness.reshape(3, 3), R, 1e-10,
                 note='dO/dt = O omega x with the closed form of omega')
    claims.value(SOURCE, 'angular momentum in the fixed frame is kept', MOMENTS * start, R @ x,
                 1e-10, unit='N m s')


def test_driven_body(claims):
    """Thrusters (96) about two axes: the work is the energy."""
    B, start = np.array([[1.0, 0.3], [0.0, 0.8], [0.2, 0.0]]), MOMENTS * (0.2, -0.4, 0.3)

    def moment(t):
        return B @ (np.sin(1.3 * t), np.cos(0.7 * t))
    x, R = turned(start, 5.0, moment)

    def rates(t, y):            # Euler (93) and the rotation matrix, written out
        omega, turn = y[:3], y[3:12].reshape(3, 3)
        acceleration = (moment(t) - np.cross(omega, MOMENTS * omega)) / MOMENTS
        return np.concatenate((acceleration, (turn @ skew(omega)).ravel(), [omega @ moment(t)]))
    y = solve_ivp(rates, (0.0, 5.0), np.concatenate((start / MOMENTS, np.eye(3).ravel(), [0.0])),
                  **INTEGRATION).y[:, -1]
    claims.value(SOURCE, '(100), (103) driven body after 5 s: momentum', MOMENTS * y[:3], x, 1e-10,
                 unit='N m s')
    claims.value(SOURCE, '(101), (104) driven body after 5 s: rotation', y[3:12].reshape(3, 3), R,
                 1e-10)
    energy = 0.5 * (x @ (x / MOMENTS) - start @ (start / MOMENTS))
    claims.value(SOURCE, '(96) work of the thrusters is the energy', y[12], energy, 1e-10,
                 unit='J')


def test_identities_and_signs(claims):
    rng = np.random.default_rng(27)
    worst: dict[str, float] = {}

    def keep(what, difference):
        worst[what] = max(worst.get(what, 0.0), float(np.abs(difference).max()))
    for _ in range(200):
        c, rate, x, root = *rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
        inertia = root @ root.T + np.eye(3)
        omega = np.linalg.solve(inertia, x)
        keep('(102) A is (81)', attitude.rate_matrix(c) @ omega - vp.parameter_rate(c, omega))
        y = attitude.body_momentum(inertia, c, rate)
        keep('(105), (107) are inverse', attitude.attitude_rates(
            inertia, y, c, np.zeros(3))[1] - rate)
        keep('(105) y is x', y - inertia @ vp.rotation(c).T @ vp.angular_velocity(c, rate))
        keep('(97) corrected is (94)', -paper_s(x) @ omega - paper_s(omega) @ x)
    for what, found in worst.items():
        claims.bound(SOURCE, what, found, 1e-10)

    c, omega, h = np.array([0.3, -0.2, 0.5]), np.array([0.4, 1.1, -0.7]), 1e-5
    R = vp.rotation(c)
    rate = attitude.rate_matrix(c) @ R @ omega
    change = (vp.rotation(c + h * rate) - vp.rotation(c - h * rate)) / (2.0 * h)
    claims.value(SOURCE, '(95) corrected: dO/dt = -O S_b', change, R @ skew(omega), 1e-8)
    printed = np.abs(change + R @ skew(omega)).max()
    claims.fact(SOURCE, '(95) as printed: dO/dt = O S_b', 'fails', f'off by {printed:.3g}',
                bool(printed > 1.0))


def test_newton_euler_in_screws(claims):
    """A rigid cloud of particles, and the numeric model of a floating body."""
    rng = np.random.default_rng(43)
    masses, places = rng.uniform(0.1, 1.0, 20), rng.normal(size=(20, 3))
    V, omega, a, alpha = rng.normal(size=(4, 3))      # of R, in the fixed frame that the body
    mass = masses.sum()                               # shares at this moment
    centre = masses @ places / mass
    inertia = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(masses, places))
    phi, velocity = generalized_inertia(mass, centre, inertia), np.concatenate((V, omega))

    speeds = V + np.cross(omega, places)
    momenta = masses[:, None] * speeds
    momentum = np.concatenate((momenta.sum(0), np.cross(places, momenta).sum(0)))
    claims.value(SCREWS, '(166), (167) momentum', momentum, phi @ velocity, ROUNDING,
                 relative=True, note='of 20 particles')
    forces = masses[:, None] * (a + np.cross(alpha, places)
                                + np.cross(omega, np.cross(omega, places)))
    expected = np.concatenate((forces.sum(0), np.cross(places, forces).sum(0)))
    # The rate of the components of V in the turning axes is not the acceleration of R.
    ours = force_screw(phi, velocity, np.concatenate((a - np.cross(omega, V), alpha)))
    claims.value(SCREWS, '(166) force', expected, ours, ROUNDING, relative=True,
                 note='of 20 particles')

    about_centre = inertia - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    names = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
    entries = about_centre[np.triu_indices(3)].tolist()
    model = Model(load_robot(
        '<robot name="body"><link name="world"/><link name="body"><inertial>'
        f'<origin xyz="{" ".join(map(repr, centre.tolist()))}"/><mass value="{float(mass)}"/>'
        '<inertia ' + ' '.join(f'{name}="{value!r}"' for name, value in zip(names, entries))
        + '/></inertial></link><joint name="base" type="floating"><parent link="world"/>'
        '<child link="body"/></joint></robot>')).with_gravity(np.zeros(3))
    # At q = 0 the rates of the rotation vector are the angular velocity, to second order.
    found = model.inverse_dynamics(np.zeros(6), velocity, np.concatenate((a, alpha)))
    claims.value(SCREWS, '(166) force', found, ours, 1e-10, relative=True,
                 note='Model of a floating body')
    claims.bound(SCREWS, '(165) a screw does no work on its own momentum',
                 abs(velocity @ velocity_operator(velocity) @ phi @ velocity), 1e-11)
