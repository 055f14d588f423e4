"""Mladenova: vector-parameters, operation counts, elastic joint, interpolation of rotations.

C. D. Mladenova, "Group Theory in the Problems of Modeling and Control of Multi-Body Systems".

In her table 3 the products 852 and 800 of n = 6 are printed in each other's row: the formulae
beside them say which is which.
"""
from __future__ import annotations

from collections import Counter

import matplotlib.pyplot as plt
import numpy as np
from counting import counted, plain
from scipy.integrate import solve_ivp
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from flex_control import Reference
from flex_control.controllers.elastic_joint import ElasticJoint
from flex_control.trajectories import OrientationSpline
from flex_description import load_robot
from flex_dynamics import Model
from flex_dynamics.algebra import eigenvectors
from flex_dynamics.algebra import vector_parameters as vp
from flex_dynamics.algebra.dual_vector_parameters import screw
from flex_dynamics.algebra.skew import skew, unskew

SIZE, DIFFERENCES = 1e-11, 1e-7     # rounding where |c| reaches 10; differences in time
ONE = np.eye(3)


def samples(count: int = 200, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, 4, 3))


def worst(difference) -> float:
    """Largest entry of difference(a, b, c, d) over random vectors."""
    return max(float(np.abs(difference(*row)).max()) for row in samples())


def test_identities_that_hold(claims):
    """Row Z1."""
    def cayley(c):
        return (ONE + skew(c)) @ np.linalg.inv(ONE - skew(c))

    def turn(c):
        return expm(skew(vp.to_rotation_vector(c)))

    def bryant(angles):
        x, y, z = np.tan(0.5 * angles)
        return np.array([x - y * z, y + x * z, z - x * y]) / (1.0 + x * y * z)

    def trace(R):
        return 1.0 + np.trace(R)

    def denavit(alpha, theta):
        (sa, ca), (st, ct) = ((np.sin(x), np.cos(x)) for x in (alpha, theta))
        return np.array([[ct, -st, 0.0], [st * ca, ct * ca, -sa], [st * sa, ct * sa, ca]])

    for what, difference in {
            '(65) O(c) is the exponential': lambda a, *_: vp.rotation(a) - turn(a),
            "(65) O(c) is Cayley's": lambda a, *_: vp.rotation(a) - cayley(a),
            '(66) c of O': lambda a, *_: 2.0 * unskew(cayley(a)) / trace(cayley(a)) - a,
            '(67) composition': lambda a, b, *_: (
                vp.rotation(vp.compose(a, b)) - vp.rotation(a) @ vp.rotation(b)),
            '(69) second chart': lambda a, *_: (
                vp.rotation_second(vp.second_chart(a)) - vp.rotation(a)),
            '(74) Bryant angles': lambda a, *_: vp.rotation(bryant(np.tanh(a))) - vp.rotation(
                vp.from_bryant(*np.tanh(a))),
            '(81) rate of c': lambda a, b, *_: (vp.rotation(-a) + ONE) @ b / trace(
                vp.rotation(a)) - vp.parameter_rate(a, b),
            '(79), (81) are inverse': lambda a, b, *_: vp.angular_velocity(
                a, vp.parameter_rate(a, b)) - b,
            '(309), (312) Denavit-Hartenberg': lambda a, *_: denavit(a[0], a[1]) - vp.rotation(
                np.array([1.0, -np.tan(a[1] / 2.0), np.tan(a[1] / 2.0) / np.tan(a[0] / 2.0)])
                * np.tan(a[0] / 2.0))}.items():
        claims.bound('Mladenova, row Z1', what, worst(difference), SIZE)


def test_rates_and_eigenvectors_hold(claims):
    def derivative(function, h=1e-3):
        return (8.0 * (function(h) - function(-h)) - (function(2 * h) - function(-2 * h))
                ) / (12.0 * h)

    def speed(a, b, *_):
        R = vp.rotation(a)
        return unskew(derivative(lambda t: vp.rotation(a + t * b)) @ R.T) - vp.angular_velocity(
            a, b)

    def growth(a, b, c, _):
        found = derivative(lambda t: vp.angular_velocity(a + t * b + 0.5 * t * t * c, b + t * c))
        return found - vp.angular_acceleration(a, b, c)

    claims.bound('Mladenova, row Z1', '(79) angular velocity, by differences', worst(speed),
                 DIFFERENCES, unit='rad/s')
    claims.bound('Mladenova, row Z1', '(80) angular acceleration, by differences', worst(growth),
                 10.0 * DIFFERENCES, unit='rad/s2')

    def quartic(a, *_):
        value = 5.0 * a[0]
        return np.array([np.polyval([1.0, -2.0 * value, -6.0, 2.0 * value, 1.0], u) / (1.0 + u**4)
                         for u in eigenvectors.second_level_roots(value)])

    def diagonal(a, b, c, d):
        A = np.array([a, b, c]) + np.array([a, b, c]).T
        values, parameter = eigenvectors.principal_axes(A)
        R = vp.rotation(parameter)
        return R.T @ A @ R - np.diag(values)

    claims.bound('Mladenova, row Z1', '(184) at its roots (185) to (188)', worst(quartic), SIZE)
    claims.bound('Mladenova, theorem 4', 'O(c) makes a symmetric matrix diagonal',
                 worst(diagonal), 1e-12)


def test_misprints(claims):
    """Row Z2: as printed it fails, corrected it holds."""
    def both(what: str, printed, right, note: str) -> None:
        claims.bound('Mladenova, row Z2', f'{what}, corrected', worst(right), SIZE, note=note)
        claims.fact('Mladenova, row Z2', f'{what}, as printed', 'fails',
                    f'off by {worst(printed):.2g}', worst(printed) > 1e-2)

    both('(68) second chart', lambda a, *_: vp.rotation_second(a / (1.0 + a @ a)) - vp.rotation(a),
         lambda a, *_: vp.rotation_second(vp.second_chart(a)) - vp.rotation(a),
         'd = c / sqrt(1 + c2)')
    pairs, failed = samples(20000, 3)[:, :2], 0
    for c1, c2 in pairs:
        d1, d2 = vp.second_chart(c1), vp.second_chart(c2)
        failed += bool(np.sqrt(1.0 - d1 @ d1) * np.sqrt(1.0 - d2 @ d2) < d1 @ d2)
    claims.value('Mladenova, row Z2', '(70), as printed: share of pairs that need the other sign',
                 np.mean(np.einsum('ki,ki->k', *pairs.transpose(1, 0, 2)) > 1.0),
                 failed / len(pairs), 1e-12, note='those with c1.c2 > 1; the share depends on how '
                 'pairs are drawn')
    both('(70) composition', lambda a, b, *_: _second(a, b, False) - vp.second_from_rotation(
        vp.rotation(a) @ vp.rotation(b)), lambda a, b, *_: _second(a, b, True)
        - vp.second_from_rotation(vp.rotation(a) @ vp.rotation(b)), 'sign where c1.c2 > 1')

    def euler(a, sign):
        psi, theta, phi = np.tanh(a)
        plus, minus = 0.5 * (psi + phi), 0.5 * (psi - phi)
        c = np.array([sign * np.tan(theta / 2) * np.cos(minus) / np.cos(plus),
                      np.tan(theta / 2) * np.sin(minus) / np.cos(plus), np.tan(plus)])
        return vp.rotation(c) - Rotation.from_euler('ZXZ', [psi, theta, phi]).as_matrix()

    both('(71) Euler angles', lambda a, *_: euler(a, -1.0), lambda a, *_: euler(a, 1.0),
         'first component with +')

    def quaternion(c, order):
        q = vp.quaternion(c)
        return vp.rotation(order(q) / q[0]) - vp.rotation(c)

    both('(72) quaternion', lambda a, *_: quaternion(a, lambda q: np.array([-q[3], -q[2], q[1]])),
         lambda a, *_: quaternion(a, lambda q: q[1:]), 'c = (q1, q2, q3) / q0')

    def chord(c, sign):
        c = c / (1.0 + np.linalg.norm(c))          # below 90 deg
        a = 4.0 * c / (1.0 + c @ c)
        return a / (2.0 + sign * np.sqrt(4.0 - a @ a)) - c

    both('(85)', lambda a, *_: chord(a, -1.0), lambda a, *_: chord(a, 1.0),
         '2 + sqrt for rotations below 90 deg')

    def matrix(c, rate, factor):
        return factor / (1.0 + c @ c) * (skew(c) + ONE) @ rate - vp.angular_velocity(c, rate)

    both('(117)', lambda a, b, *_: matrix(a, b, 1.0), lambda a, b, *_: matrix(a, b, 2.0),
         'factor 2 as in (79)')

    def moment(c, p, sign):
        found = screw(c, p)
        printed = np.cross(c, p) - p + (c @ p) / (c @ c) * c
        return sign * printed / (2.0 * np.linalg.norm(c)) - np.cross(found.point, found.direction)

    both("(141) axis L'", lambda a, b, *_: moment(a, b, 1.0), lambda a, b, *_: moment(a, b, -1.0),
         'sign of X x E in (148)')

    def pitch(c, rate, p_rate, turning):
        omega = vp.angular_velocity(c, rate)
        below = (c @ c) * (rate @ rate) - (c @ rate)**2 + turning * rate @ rate
        return 0.5 * (1.0 + c @ c) * (np.cross(c, rate) + rate) @ p_rate / below - (
            omega @ p_rate / (omega @ omega))

    both('(143) pitch', lambda a, b, c, _: pitch(a, b, c, 0.0),
         lambda a, b, c, _: pitch(a, b, c, 1.0), 'dp/dt for p, and + cd^2 below')


def test_couples_are_no_group_as_printed(claims):
    """(82) to (88): a rotation as two orthogonal unit vectors x, y, its first two columns."""
    def couple_parameter(R):
        x, y, z = R.T
        return np.array([y[2] - z[1], z[0] - x[2], x[1] - y[0]]) / (1.0 + x[0] + y[1] + z[2])

    def printed(R1, R2):
        """(88), a_i = x_i x E."""
        a1, a2 = (2.0 * unskew(R) for R in (R1, R2))
        w1, w2 = (np.sqrt(np.maximum(4.0 - a @ a, 0.0)) for a in (a1, a2))
        below = w1 + w2 - w1 * w2 - a1 @ a2
        return ((2.0 - w2) * R1[:, 0] + (2.0 - w1) * R2[:, 0]) / below

    claims.bound('Mladenova', '(83) c of a couple x, y', worst(
        lambda a, *_: couple_parameter(vp.rotation(a)) - a), SIZE)
    claims.bound('Mladenova', '(83) and (67): couple of two rotations', worst(
        lambda a, b, *_: vp.rotation(vp.compose(couple_parameter(vp.rotation(a)), couple_parameter(
            vp.rotation(b))))[:, 0] - (vp.rotation(a) @ vp.rotation(b))[:, 0]), SIZE,
        note='the way round: c, which has a group law')
    lengths = [np.linalg.norm(printed(vp.rotation(a), vp.rotation(b)))
               for a, b, *_ in 0.3 * samples()]
    claims.fact('Mladenova, row Z2', '(86) to (88) as printed: |x3| of 200 pairs of rotations',
                'fails', f'{min(lengths):.2f} to {max(lengths):.2f}, not 1',
                max(lengths) - min(lengths) > 0.1, note='not the group law; no correction of the '
                'formula is known, its denominator vanishes for small rotations')


def body_chain(seed: int) -> tuple[Model, np.ndarray]:
    """Three rigid bodies on revolute joints about random axes (3, 3), without weight."""
    rng = np.random.default_rng(seed)
    turned = rng.normal(size=(3, 3))
    turned /= np.linalg.norm(turned, axis=1)[:, None]
    text = '<robot name="bodies"><gravity xyz="0 0 0"/><link name="link0"/>'
    for i, axis in enumerate(turned, 1):
        place, centre = (' '.join(f'{x:.17g}' for x in rng.normal(size=3)) for _ in range(2))
        a, b, c = rng.uniform(0.1, 0.2, 3)
        text += f"""<link name="link{i}"><inertial><origin xyz="{centre}"/>
          <mass value="{i}"/><inertia ixx="{a}" iyy="{b}" izz="{c}" ixy="0.01" ixz="0.02"
          iyz="-0.01"/></inertial></link><joint name="joint{i}" type="continuous">
          <parent link="link{i - 1}"/><child link="link{i}"/><origin xyz="{place}"/>
          <axis xyz="{' '.join(f'{x:.17g}' for x in axis)}"/></joint>"""
    return Model(load_robot(text + '</robot>')), turned


def kinetic_energy(model: Model, joint_axes, q, v, right: bool) -> float:
    """By (114) to (132), q in c_i = tan(q_i / 2) n_i; right: with (117), (127), (129), (130)
    corrected."""
    c = np.tan(0.5 * q)[:, None] * joint_axes
    rates = (0.5 * (1.0 + np.tan(0.5 * q) ** 2) * v)[:, None] * joint_axes
    g, total = np.zeros(3), 0.0
    blocks = []                                             # O(g_{k-1}) N(c_k)
    for k, link in enumerate(model.robot.links[1:]):
        N = (2.0 if right else 1.0) / (1.0 + c[k] @ c[k]) * (skew(c[k]) + ONE)
        blocks.append(vp.rotation(g) @ N)
        g = vp.compose(g, c[k])
        pose = model.pose(q, link.name)
        centre = pose[:3, 3] + pose[:3, :3] @ link.inertia.centre
        speed, turning = np.zeros(3), np.zeros(3)
        for j in range(k + 1):
            joint = model.pose(q, model.robot.links[j + 1].name)[:3, 3]
            lever = joint - centre if right or j == k else -centre
            speed += skew(lever) @ blocks[j] @ rates[j]
            last = np.zeros(3) if j == 0 else c[j - 1]
            part = blocks[j] if right else vp.rotation(last) @ N
            turning += vp.rotation(-g) @ part @ rates[j]
        spin = turning @ link.inertia.tensor @ turning
        total += 0.5 * link.inertia.mass * speed @ speed + (0.5 if right else 1.0) * spin
    return float(total)


def test_kinetic_energy_in_vector_parameters(claims):
    model, joint_axes = body_chain(1)
    rng, found = np.random.default_rng(2), []
    for q, v in rng.normal(size=(50, 2, 3)):
        expected = model.energy(q, v)[0]
        found.append([abs(kinetic_energy(model, joint_axes, q, v, right) / expected - 1.0)
                      for right in (True, False)])
    corrected, printed = np.max(found, axis=0)
    claims.bound('Mladenova (127) to (132)', 'kinetic energy of three bodies, corrected, 50 '
                 'states, relative', corrected, SIZE, note='(117) with 2; (127) p_k - p_G for '
                 'every k; (129) O(g) for O(c); (130) 1/2 also for the turning')
    claims.fact('Mladenova (127) to (130)', 'the same as printed', 'fails',
                f'off by {100.0 * printed:.0f} %', printed > 0.1)


def _second(c1, c2, signed: bool) -> np.ndarray:
    d1, d2 = vp.second_chart(c1), vp.second_chart(c2)
    if signed:
        return vp.compose_second(d1, d2)
    return d1 * np.sqrt(1.0 - d2 @ d2) + d2 * np.sqrt(1.0 - d1 @ d1) + np.cross(d1, d2)


# Table 1: multiplications, additions, transcendental functions to form B or c; totals of n joints.
TABLE_1 = {
    'Eulerian angles': ((12, 4, 6), (3, 2, 5), ((20, 10, 6), (13, 14, 5))),
    'Bryant angles': ((14, 4, 6), (5, 0, 3), ((22, 10, 6), (15, 12, 3))),
    'Eulerian parameters': ((11, 10, 0), (3, 4, 0), ((19, 16, 0), (13, 16, 0))),
    'Denavit-Hartenberg': ((6, 0, 4), (1, 0, 2), ((14, 8, 4), (11, 12, 2)))}


def test_operations_of_table_1(claims):
    for name, (matrix, vector, (per_matrix, per_vector)) in TABLE_1.items():
        apply = (8, 8 if name.startswith('Denavit') else 6, 0)
        claims.value('Mladenova table 1', f'{name}: B and B p of one joint', per_matrix,
                     np.add(matrix, apply), 0.0, note='m, a, tr. f.')
        claims.value('Mladenova table 1', f'{name}: n c + (n - 1) compositions + O(c) p, n = 6',
                     6 * np.array(per_vector) + [4, 3, 0],
                     6 * np.array(vector) + 5 * np.array([10, 12, 0]) + [14, 15, 0], 0.0,
                     note='m, a, tr. f.')
    counts: dict[str, Counter] = {name: Counter() for name in ('c1, c2', 'O(c) p', 'B p')}
    a, b, p = samples(1)[0, :3]
    found = composed(*(counted(x, counts['c1, c2']) for x in (a, b)))
    turned = rotated(*(counted(x, counts['O(c) p']) for x in (a, p)))
    by_matrix = counted(vp.rotation(a), counts['B p']) @ counted(p, counts['B p'])
    claims.bound('own', 'counted (67), (65) and B p are those of the library', max(
        np.abs(plain(found) - vp.compose(a, b)).max(),
        np.abs(plain(turned) - vp.rotation(a) @ p).max(),
        np.abs(plain(by_matrix) - vp.rotation(a) @ p).max()), 1e-14)
    for name, printed, ours, note in (
            ('c1, c2', (10, 12), (12, 12), '9 products and 3 quotients; she counts 10'),
            ('O(c) p', (14, 15), (19, 15), '18 products and 1 quotient; she counts 14'),
            ('B p', (8, 6), (9, 6), 'a full matrix; hers has a zero element')):
        done = counts[name]
        claims.value('Mladenova table 1, own count', f'{name}: products and quotients, sums', ours,
                     [done['multiplications'] + done['divisions'], done['additions']], 0.0,
                     note=f'printed {printed[0]}, {printed[1]}: {note}')
    claims.fact('Mladenova 1', 'products of 6 Eulerian joints, vector-parameters by matrices',
                'reduced by more than 30 %', f'{100 * (1 - 82 / 120):.0f} % by her counts, '
                f'{100 * (1 - (6 * 3 + 5 * 12 + 19) / (6 * (12 + 9))):.0f} % by ours',
                82 / 120 < 0.7, note='by ours less is saved: quotients and scalings count')


def composed(c1, c2) -> np.ndarray:
    """(67) in 12 additions, 9 products and 3 quotients."""
    return (c1 + c2 + np.array([c1[1] * c2[2] - c1[2] * c2[1], c1[2] * c2[0] - c1[0] * c2[2],
                                c1[0] * c2[1] - c1[1] * c2[0]])) / (1.0 - c1 @ c2)


def rotated(c, p) -> np.ndarray:
    """O(c) p = p + 2 / (1 + c2) (c x p + c x (c x p))."""
    def cross(x, y):
        return np.array([x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2],
                         x[0] * y[1] - x[1] * y[0]])

    scale = 2.0 / (1.0 + c @ c)
    once = cross(c, p)
    return p + (once + cross(c, once)) * scale


def test_operations_of_table_2(claims):
    """Jacobians; formulae alone are given: products, sums, transcendental functions."""
    table = {'Waldron': ((30, -55), (15, -38), (2, -2), (24, -42), (22, -41)),
             'Ribble': ((30, -11), (18, -20), (2, 0), (24, -6), (22, -3)),
             'Renaud': ((30, -87), (15, -66), (2, -2), (24, -52), (22, -60)),
             'Paul': ((30, -25), (15, -22), (2, 0), (24, -26), (22, -26)),
             'Orin and Schrader': ((30, -18), (14, -15), (2, 0), (24, -10), (22, -12))}
    for name, rows in table.items():
        m, a, f, vm, va = (6 * slope + cut for slope, cut in rows)
        claims.fact('Mladenova table 2', f'{name}: products, sums and functions for n = 6',
                    'printed: more than 30 % less', f'{m}, {a}, {f} become {vm}, {va}, 6: '
                    f'{100 * ((vm + va + 6) / (m + a + f) - 1):+.0f} % of all',
                    vm < m and va > a and f > 6, note='by her own formulae products fall by a '
                    'fifth, functions by half, and sums grow: what is claimed of "elementary '
                    'operations" (section 1) does not follow from this table')


def test_operations_of_table_3(claims):
    """Dynamic modelling: the columns for n = 6 are the formulae at 6."""
    for name, slope, cut, printed in (
            ('Hollerbach 4x4, multiplications', 830, -592, 4388),
            ('Hollerbach 4x4, additions', 675, -464, 3586),
            ('Hollerbach 3x3, multiplications', 412, -277, 2195),
            ('Hollerbach 3x3, additions', 320, -201, 1719),
            ('Luh and Armstrong, additions', 131, -48, 738),
            ('Orin and others, additions', 101, -11, 595),
            ('Nakamura, multiplications', 133, -17, 781), ('Nakamura, additions', 106, -19, 617),
            ('vector-parameters, multiplications', 138, -53, 775),
            ('vector-parameters, additions', 143, -66, 792)):
        claims.value('Mladenova table 3', name, printed, 6 * slope + cut, 0.0)
    for name, slope, cut, right in (('Luh and Armstrong', 137, -22, 800),
                                    ('Orin and others', 150, -48, 852)):
        claims.value('Mladenova table 3', f'{name}, multiplications', right, 6 * slope + cut, 0.0,
                     note="852 and 800 are printed in each other's row")


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
