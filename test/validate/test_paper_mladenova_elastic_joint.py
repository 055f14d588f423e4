"""Mladenova, motion: a link on an elastic joint (section 7), interpolation of rotations (9.2)."""
from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from flex_control import ElasticJoint, OrientationSpline, Reference
from flex_description import load_robot
from flex_description.math import skew
from flex_dynamics import Model
from flex_dynamics.papers import vector_parameters as vp

ONE = np.eye(3)


def single_link() -> tuple[Model, float, float, float, float]:
    """The arm, I(l), I(m), K, M g L."""
    model = Model(load_robot('mladenova_arm'))
    spring = model.robot.joints[0].flexible
    return (model, model.mass_matrix(np.zeros(2))[0, 0], spring.motor_inertia, spring.stiffness,
            model.gravity_force(np.array([np.pi / 2.0, 0.0]))[0])


def law(x: np.ndarray, v: float) -> float:
    """u = (Il Im / K) (v - a(x)), x = (q, dq, qm, dqm): linear from v to q."""
    _, link, motor, K, weight = single_link()
    m, k = weight / link, K / link
    a = (m * np.sin(x[0]) * (x[1]**2 + m * np.cos(x[0]) + k)
         + k * (x[0] - x[2]) * (k + K / motor + m * np.cos(x[0])))
    return link * motor / K * (v - a)


def test_equation_in_c(claims):
    model, link, _, _, weight = single_link()
    rng, right, printed, expected = np.random.default_rng(2), [], [], []
    for _ in range(50):
        c, rate, second = rng.normal(size=3)
        q, v = 2.0 * np.arctan(c), 2.0 * rate / (1.0 + c * c)
        a = 2.0 / (1.0 + c * c) * (second - 2.0 * c * rate**2 / (1.0 + c * c))
        expected.append(model.inverse_dynamics([q, q], [v, v], [a, a])[0])
        right.append(2.0 * link / (1.0 + c * c) * (second - 2.0 * c * rate**2 / (1.0 + c * c))
                     + 2.0 * weight * c / (1.0 + c * c))
        printed.append((2.0 * link * second + 2.0 * c * rate**2 + 2.0 * weight / 0.5 * c)
                       / (1.0 + c * c))
    claims.value('Mladenova, row Z2', '(305) moment of the link, corrected, 50 states', expected,
                 right, 1e-12, unit='N m')
    off = np.abs(np.subtract(printed, expected)).max()
    claims.fact('Mladenova, row Z2', '(305) as printed', 'fails', f'off by {off:.2g} N m',
                off > 1e-2)


def test_feedback_linearisation(claims):
    """Row Z3: constant brackets; the closed loop is (d/dt + w)^4 q = 0."""
    model, link, motor, K, _ = single_link()
    rng, brackets = np.random.default_rng(6), []
    for _ in range(5):
        q, v = rng.normal(size=(2, 2))
        A, B = model.linearize(q, v, [0.0])
        rows = [B[:, 0]]
        for _ in range(3):
            rows.append(-A @ rows[-1])                       # ad_f g of a constant field
        brackets.append(rows)
    brackets = np.array(brackets)
    claims.bound('Mladenova 7.5, row Z3', 'g, ad g, ad2 g, ad3 g the same at 5 states',
                 np.ptp(brackets, axis=0).max() / np.abs(brackets).max(), 1e-9)
    claims.value('Mladenova 7.5, row Z3', 'rank of the four brackets', 4,
                 np.linalg.matrix_rank(brackets[0]), 0.0)

    w = 6.0

    def rates(_, x):
        q, qd, qm, qmd = x
        qdd, _ = model.forward_dynamics([q, qm], [qd, qmd], [0.0])
        jerk = (-model.gravity_force([np.pi / 2, 0.0])[0] * np.cos(q) * qd - K * (qd - qmd)) / link
        u = law(x, -(w**4 * q + 4 * w**3 * qd + 6 * w**2 * qdd + 4 * w * jerk))
        return [qd, *_mixed(model.forward_dynamics([q, qm], [qd, qmd], [u]), qmd)]

    # at rest away from the goal, springs loaded so that dq^2 and dq^3 begin at zero too
    start = 1.2
    begin = [start, 0.0, start + model.gravity_force([start, 0.0])[0] / K, 0.0]
    times = np.linspace(0.0, 3.0, 301)
    run = solve_ivp(rates, (0.0, 3.0), begin, 'DOP853', times, rtol=1e-11, atol=1e-12)
    x = w * times
    linear = start * (1.0 + x + x**2 / 2.0 + x**3 / 6.0) * np.exp(-x)
    claims.value('Mladenova 7.5, row Z3', 'closed loop of the model under u against the linear '
                 'one, 3 s', linear, run.y[0], 2e-10 * 5.0, unit='rad',
                 note='independently computed: 2e-10 from a motion of 0.2 rad; here of 1.2 rad')
    figure, axes = plt.subplots(figsize=(7, 3))
    axes.plot(times, linear, label='linear')
    axes.plot(times, run.y[0], '--', label='flex under (308)')
    axes.plot(times, run.y[2], lw=0.8, label='motor')
    axes.set(xlabel='s', ylabel='rad', title='Single link on an elastic joint')
    axes.legend()
    claims.figure('Mladenova 7.5: the link under feedback linearisation', figure)
    plt.close(figure)


def _mixed(acceleration: np.ndarray, motor_rate: float) -> list[float]:
    return [acceleration[0], motor_rate, acceleration[1]]


def test_controller_is_the_law(claims):
    model, link, _, K, weight = single_link()
    controller = ElasticJoint(model, {'bandwidth': 6.0})
    rng, expected, found = np.random.default_rng(5), [], []
    for _ in range(20):
        q, qd, qm, qmd = x = rng.normal(size=4)
        controller.q, controller.v = np.array([q, qm]), np.array([qd, qmd])
        controller.reference = Reference(*np.zeros((5, 1)))
        qdd = (-weight * np.sin(q) - K * (q - qm)) / link
        jerk = (-weight * np.cos(q) * qd - K * (qd - qmd)) / link
        expected.append(law(x, -(6.0**4 * q + 4 * 6.0**3 * qd + 6 * 36.0 * qdd + 24.0 * jerk)))
        found.append(controller.update(0.0, 1e-3)[0])
    claims.value('Mladenova 7.5', 'effort of the controller elastic_joint, 20 states', expected,
                 found, 1e-5, relative=True, unit='N m',
                 note='it takes derivatives of the model by differences')


def test_interpolation(claims):
    """9.2: two points by (389) to (397), several by 9.2.3, and our spline."""
    ends = Rotation.from_rotvec([[0.1, 0.2, 0.3], [1.0, -0.6, 0.8]]).as_matrix()
    speeds = np.array([[0.5, -1.0, 0.3], [-0.8, 0.2, 1.1]])
    c1 = vp.from_rotation(ends[0].T @ ends[1])
    z = speeds[0] / 2.0
    end = (1.0 + c1 @ c1) / 2.0 * np.linalg.solve(ONE - skew(c1), speeds[1])
    x = end - z - 2.0 * (c1 - z)
    y = c1 - z - x

    def curve(t: float, sign: float) -> np.ndarray:
        c = skew(sign * (x * t**3 + y * t**2 + z * t))
        return ends[0] @ (ONE + c) @ np.linalg.inv(ONE - c)

    def spin(t: float, h: float = 1e-4) -> np.ndarray:
        return Rotation.from_matrix(curve(t - h, 1.0).T @ curve(t + h, 1.0)).as_rotvec() / (2 * h)

    claims.bound('Mladenova, row Z1', '(392) to (397): end rotation', np.abs(
        curve(1.0, 1.0) - ends[1]).max(), 1e-13)
    claims.bound('Mladenova, row Z1', '(393), (394): angular velocities at the ends', max(
        np.abs(spin(float(t)) - speeds[t]).max() for t in (0, 1)), 1e-7, unit='rad/s',
        note='by differences')
    off = np.abs(curve(1.0, -1.0) - ends[1]).max()
    claims.fact('Mladenova, row Z2', '(389) as printed, (I - c)(I + c)^-1', 'fails',
                f'end rotation off by {off:.2g}', off > 0.1)
    spline = OrientationSpline([0.0, 1.0], ends, *speeds)
    claims.bound('own', 'OrientationSpline of two points is this curve', max(
        np.abs(spline.sample(t).rotation - curve(t, 1.0)).max() for t in (0.1, 0.5, 0.9)), 1e-13)
    _several_points(claims)


def _several_points(claims) -> None:
    rng = np.random.default_rng(3)
    turns = [Rotation.identity()]
    for _ in range(4):
        turns.append(turns[-1] * Rotation.from_rotvec(0.6 * rng.normal(size=3)))
    knots = np.array([turn.as_matrix() for turn in turns])
    spline = OrientationSpline(np.arange(5.0), knots)
    first = spline.sample(0.0).acceleration
    for what, right in (('corrected', True), ('as printed', False)):
        jump = recursion_jumps(knots, first, right)
        if right:
            claims.bound('Mladenova 9.2.3', f'jumps of angular velocity and acceleration, {what}',
                         jump, 1e-12, unit='rad/s',
                         note='y1 = wd / 4, w = f of the piece before, from the second on')
        else:
            claims.fact('Mladenova 9.2.3', f'jumps of angular velocity, {what}', 'fails',
                        f'{jump:.2g} rad/s', jump > 0.1)
    before = [spline.sample(k - 1e-9) for k in range(1, 4)]
    after = [spline.sample(k + 1e-9) for k in range(1, 4)]
    claims.bound('own', 'OrientationSpline: jumps of angular acceleration', max(
        np.abs(a.acceleration - b.acceleration).max() for a, b in zip(before, after)), 1e-6,
        unit='rad/s2')
    claims.bound('own', 'OrientationSpline: knots met', max(
        np.abs(spline.sample(float(k)).rotation - knots[k]).max() for k in range(5)), 1e-12)
    figure, axes = plt.subplots(1, 2, figsize=(10, 3))
    times = np.linspace(0.0, 4.0, 400)
    path = [spline.sample(t) for t in times]
    axes[0].plot(times, [vp.second_from_rotation(p.rotation) for p in path])
    axes[0].set(title='sin(angle / 2) axis', xlabel='s')
    axes[1].plot(times, [p.velocity for p in path])
    axes[1].set(title='angular velocity, rad/s', xlabel='s')
    claims.figure('Mladenova 9.2: five orientations, twice differentiable', figure)
    plt.close(figure)


def recursion_jumps(knots: np.ndarray, first: np.ndarray, right: bool) -> float:
    """Largest jump of angular velocity or acceleration at equidistant knots, by 9.2.3."""
    f = [vp.from_rotation(a.T @ b) for a, b in zip(knots, knots[1:])]
    z, y = np.zeros(3), first / (4.0 if right else 2.0)
    x, jump = f[0] - z - y, 0.0
    for i in range(1, len(f)):
        w = f[i - 1] if right else f[i]
        v, u, scale = 3.0 * x + 2.0 * y + z, 6.0 * x + 2.0 * y, 1.0 + w @ w
        z = (v - np.cross(w, v)) / scale
        y = (u - np.cross(w, u) - 2.0 * (w @ v) * z) / (2.0 * scale)
        x = f[i] - z - y
        c, size = f[i - 1], 2.0 / (1.0 + f[i - 1] @ f[i - 1])
        speed = size * (v - np.cross(c, v))                  # body axes: (79) of -c
        growth = size * (u - np.cross(c, u) - (c @ v) * speed)
        jump = max(jump, np.abs(speed - 2.0 * z).max(), np.abs(growth - 4.0 * y).max())
    return float(jump)
