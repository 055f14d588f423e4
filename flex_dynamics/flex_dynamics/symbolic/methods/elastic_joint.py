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
"""Dynamic equations of arms with elastic joints, in vector-parameters (Mladenova, section 8).

Links and rotors are rigid bodies; the motor of an elastic joint is a coordinate of its own, whose
rotor spins with the link that carries it, so that rotors and links are coupled inertially. Frames
are composed by vector-parameters (313). Half-turns are within a joint's range, so the chart is the
second, d = sin(q / 2) axis, its root cos(q / 2) carried along: a composition then has no divisor.
Everything is expressed in the base: outward (328), (327), (339), (340), inward (363) to (372). The
matrix C is half the derivative of the vector C_s by the speeds, which makes dM/dt - 2 C
skew-symmetric. Corrected: (326), (327), (338), (349), (350), (353).
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_description.math import quaternion_from_rotation
from flex_dynamics.errors import DynamicsError
from flex_dynamics.kernels.base import layout
from flex_dynamics.symbolic.expressions.tape import Scalar
from flex_dynamics.symbolic.expressions.vectors import clean, cross, scalars, times
from flex_dynamics.symbolic.methods.bodies import Body
from flex_dynamics.symbolic.methods.lagrange import Progress
from flex_dynamics.symbolic.methods.problem import Problem

SUPPORTED_JOINTS = (layout.FIXED, layout.REVOLUTE, layout.PRISMATIC)


@dataclass
class Frame:
    """A link in the base's axes: orientation (d, root), origin p, and velocities without qdd."""

    parameter: np.ndarray                 # (4,) d and root of the second chart: x, y, z, w
    p: np.ndarray
    omega: np.ndarray
    u: np.ndarray                         # velocity of the body's point at the base's origin
    omega_rate: np.ndarray
    u_rate: np.ndarray


@dataclass
class Moving:
    """A body s, link or rotor: the generator of its coordinate and what hangs on it."""

    coordinate: int | None
    parent: int | None                    # of the list of these
    delta: np.ndarray
    lam: np.ndarray
    K: np.ndarray                         # inertia about the base's origin, of all outboard
    H: np.ndarray                         # first moment
    M: float
    N: np.ndarray                         # moment of the speed forces about the base's origin
    D: np.ndarray                         # their sum


def elastic_joint(problem: Problem, progress: Progress,
                  ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M (n, n), C (n, n) and g (n,) of tape scalars."""
    _check(problem)
    frames: list[Frame] = []
    moving: list[Moving] = []
    links: list[int] = []                 # of a body of the problem: its place in `moving`
    for body in problem.bodies:
        progress('links', body.index / len(problem.bodies))
        parent = frames[body.parent] if body.parent >= 0 else _base()
        above = links[body.parent] if body.parent >= 0 else None
        if body.motor is not None:
            moving.append(_rotor(problem, body, parent, above))
        frame, link = _link(problem, body, parent, above)
        frames.append(frame)
        links.append(len(moving))
        moving.append(link)
    for at in range(len(moving) - 1, -1, -1):
        _hang_on(moving, at)
    return _collected(problem, moving, progress)


def _check(problem: Problem) -> None:
    for body in problem.bodies:
        if body.fields is not None:
            raise DynamicsError("method 'elastic_joint': expected rigid links, found the flexible "
                                f"link {body.name!r}; use 'lagrange' or 'dual_screw'")
        if body.kind not in SUPPORTED_JOINTS:
            raise DynamicsError(f"method 'elastic_joint': expected revolute, prismatic or fixed "
                                f"joints, found a moving base at {body.name!r}; use 'lagrange'")


def _base() -> Frame:
    parameter = scalars(4)
    parameter[3] = 1.0
    return Frame(parameter, *(scalars(3) for _ in range(5)))


def compose(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """<p, q> of (d, root): (67), (70)."""
    out = scalars(4)
    out[3] = p[3] * q[3] - p[:3] @ q[:3]
    out[:3] = p[3] * q[:3] + q[3] * p[:3] + times(p[:3], q[:3])
    return out


def rotation(parameter: np.ndarray) -> np.ndarray:
    """O'(d) = I + 2 (root + d^x) d^x: (69)."""
    skew = cross(parameter[:3])
    return np.eye(3) + 2.0 * (parameter[3] * skew + skew @ skew)


def _link(problem: Problem, body: Body, parent: Frame, above: int | None) -> tuple[Frame, Moving]:
    parameter = compose(parent.parameter, clean(quaternion_from_rotation(body.rotation)))
    p = parent.p + rotation(parent.parameter) @ body.position
    delta, tau = scalars(3), scalars(3)
    rate: Scalar | float = 0.0
    coordinate = body.coordinates[0] if body.coordinates else None
    if coordinate is not None:
        q, rate = problem.q[coordinate], problem.v[coordinate]
        axis = rotation(parameter) @ body.axis
        if body.kind == layout.REVOLUTE:
            delta = axis
            half = 0.5 * q
            turn = scalars(4)
            turn[3] = problem.tape.cos(half)
            turn[:3] = problem.tape.sin(half) * body.axis.astype(object)
            parameter = compose(parameter, turn)
        else:
            tau, p = axis, p + q * axis
    lam = tau + times(p, delta)
    omega, u = parent.omega + rate * delta, parent.u + rate * lam
    frame = Frame(parameter, p, omega, u,
                  parent.omega_rate + rate * times(parent.omega, delta),
                  parent.u_rate + rate * (times(omega, lam) + times(u, delta)))
    return frame, _body(body, frame, coordinate, above, delta, lam)


def _body(body: Body, frame: Frame, coordinate: int | None, above: int | None, delta, lam,
          ) -> Moving:
    """Inertia and speed forces of a link, about the base's origin: (365), (369) to (371)."""
    m, R = body.mass, rotation(frame.parameter)
    if not body.has_inertia:
        return Moving(coordinate, above, delta, lam, scalars((3, 3)), scalars(3), 0.0, scalars(3),
                      scalars(3))
    centre = body.moment / m if m > 0.0 else np.zeros(3)
    tensor = clean(body.inertia - m * (centre @ centre * np.eye(3) - np.outer(centre, centre)))
    I, r = R @ tensor @ R.T, R @ centre + frame.p  # noqa: E741
    skew = cross(r)
    force = m * (frame.u_rate + times(frame.omega_rate, r)
                 + times(frame.omega, frame.u + times(frame.omega, r)))
    moment = I @ frame.omega_rate + times(frame.omega, I @ frame.omega) + times(r, force)
    return Moving(coordinate, above, delta, lam, I + m * (skew @ skew.T), m * r, m, moment, force)


def _rotor(problem: Problem, body: Body, parent: Frame, above: int | None) -> Moving:
    """Body 2i - 1: turns about the joint's axis in the carrier, with inertia about that axis only;
    its mass and cross inertia are the carrier's."""
    motor = body.motor
    assert motor is not None
    delta = rotation(parent.parameter) @ body.rotor_axis
    I = body.rotor * np.outer(delta, delta)  # noqa: E741
    rate = problem.v[motor]
    omega = parent.omega + rate * delta
    omega_rate = parent.omega_rate + rate * times(parent.omega, delta)
    moment = I @ omega_rate + times(omega, I @ omega)
    return Moving(motor, above, delta, scalars(3), I, scalars(3), 0.0, moment, scalars(3))


def _hang_on(moving: list[Moving], at: int) -> None:
    """Inward: what hangs on a body hangs on its carrier: (373) to (383), in the base's axes."""
    body = moving[at]
    if body.parent is not None:
        carrier = moving[body.parent]
        carrier.K, carrier.H = carrier.K + body.K, carrier.H + body.H
        carrier.M = carrier.M + body.M
        carrier.N, carrier.D = carrier.N + body.N, carrier.D + body.D


def _collected(problem: Problem, moving: list[Moving], progress: Progress):
    n, tape = problem.n, problem.tape
    M, C, g = scalars((n, n)), scalars((n, n)), scalars(n)
    for at, body in enumerate(moving):
        progress('speeds', at / len(moving))
        k = body.coordinate
        if k is None:
            continue
        X = body.K @ body.delta + times(body.H, body.lam)                      # (378)
        Y = times(body.delta, body.H) + body.M * body.lam
        up: int | None = at
        while up is not None:
            s = moving[up].coordinate
            if s is not None:
                M[s, k] = M[k, s] = moving[up].delta @ X + moving[up].lam @ Y   # (364)
            up = moving[up].parent
        g[k] = -(problem.gravity @ Y)                                          # (372)
        force = body.delta @ body.N + body.lam @ body.D                        # (368)
        if isinstance(force, Scalar):
            for j in range(n):
                C[k, j] = 0.5 * tape.derivative(force, problem.v[j])           # (26)
    return M, C, g
