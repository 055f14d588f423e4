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
"""The motion of a robot with a payload, linear about a pose and sampled, for the payload filter.

Payload parameters are pi = (m, m c), mass kg and first moment kg m in the axes of the frame that
carries it. With a the acceleration of the frame's origin less gravity, w its turning rate and b
its turning acceleration, all in world axes, and R the frame's rotation, it acts on the frame with

    force  = -(m a + b x R m c + w x (w x R m c)),    moment = -(R m c) x a,

which is linear in pi (Atkeson, An and Hollerbach 1986). Its moments of inertia are left out.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, expm

from flex_dynamics import Model
from flex_dynamics.arrays import Array

PAYLOAD = 'estimated payload'
PARAMETERS = 4             # mass and three first moments
LEAST_RATE = 1.0           # rad/s: scales the positions of modes that no spring holds
TRUSTED = 0.2              # of the update rate: frequencies up to which modes are trusted
UNTRUSTED_DAMPING = 0.3    # ratio that faster modes are taken to have
UNTRUSTED_ENERGY = 1e-4    # J that each of them may have
LEAST_MASS = 1e-3          # of the largest mass: below, the model carries no payload
BIAS_SHARE = 2e-3          # of the largest holding effort, as bias of an effort
BIAS_POSES = 32            # random poses at which holding efforts are looked at


@dataclass(frozen=True)
class PayloadNoise:
    """Standard deviations of readings and disturbances.

    joint_position rad or m, joint_velocity rad/s or m/s, strain m/m: white noise of readings.
    effort (n_joints,) N m or N: white errors of the mean effort of a period. effort_bias
    (n_joints,) and strain_bias: errors that stay for `bias_time` (s): friction, wrong weights,
    drifting gauges. mass kg/sqrt(s): how much a payload changes by itself.
    """

    effort: Array
    effort_bias: Array
    joint_position: float = 1e-4
    joint_velocity: float = 1e-2
    strain: float = 2e-6
    strain_bias: float = 1e-6
    bias_time: float = 30.0
    mass: float = 1e-3
    model: float = 0.1


def effort_biases(model: Model) -> Array:
    """Usual errors (n_joints,) of joint efforts, N m or N: friction and 0.2 % of the weight."""
    random = np.random.default_rng(0)
    limits = model.joint_limits
    lower = np.maximum(limits.lower, -np.pi)
    upper = np.minimum(limits.upper, np.pi)
    most = np.zeros(model.n_joints)
    for _ in range(BIAS_POSES):
        q = np.zeros(model.n)
        q[:model.n_joints] = random.uniform(lower, upper)
        weight = model.gravity_force(q)[:model.n_joints]
        most = np.maximum(most, np.abs(weight))
    friction = np.zeros(model.n_joints)
    for joint in model.robot.joints:
        if joint.name in model.joint_names:
            friction[model.joint_names.index(joint.name)] = joint.friction
    biases: Array = friction + BIAS_SHARE * np.maximum(most, 0.05 * most.max(initial=1e-3))
    return biases


@dataclass(frozen=True)
class PayloadMotion:
    """Sampled motion about the rest at q (n,) with the payload `reference` (4,) in the model.

    F, Q (2 n, 2 n): of scaled (q, v) over the period. held (2 n, n): what accelerations held over
    the period add. follow (n, n_joints): how coordinates go with the joints, quasi-statically.
    slope_q, slope_v, inverse (n, n): of accelerations, and of M. by_effort (n, n_joints).
    """

    model: Model
    q: Array
    reference: Array
    F: Array
    Q: Array
    held: Array
    follow: Array
    slope_q: Array
    slope_v: Array
    inverse: Array
    by_effort: Array


def carrying(model: Model, frame: str, reference: Array, largest: float) -> Model:
    """model with a payload of these parameters (4,), or as it is if that is next to none."""
    mass = float(reference[0])
    if mass < LEAST_MASS * largest:
        return model
    return model.with_payload(PAYLOAD, frame, mass, reference[1:] / mass)


def payload_wrench(rotation: Array, lift: Array, rate: Array, turning: Array) -> Array:
    """(6, 4): force and moment on the frame, in world axes, per unit of pi.

    rotation (3, 3) of the frame; lift (3,): its acceleration less gravity, m/s2; rate, turning
    (3,): its angular velocity and acceleration, rad/s and rad/s2; all in world axes.
    """
    wrench = np.zeros((6, PARAMETERS))
    wrench[:3, 0] = -lift
    wrench[:3, 1:] = -(cross(turning) + cross(rate) @ cross(rate)) @ rotation
    wrench[3:, 1:] = cross(lift) @ rotation
    return wrench


def cross(a: Array) -> Array:
    """[a] (3, 3) with [a] b = a x b."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def modes(model: Model, q: Array) -> tuple[Array, Array, Array]:
    """Mass matrix (n, n), squares of the rates (n,), (rad/s)^2, and shapes (n, n) at rest at q."""
    slope = model.gravity_force_derivative(q)
    mass = np.array(model.mass_matrix(q))
    squares, shapes = eigh(model.stiffness_matrix() + 0.5 * (slope + slope.T), mass)
    return mass, squares, shapes


def scaling(mass: Array, squares: Array, shapes: Array) -> tuple[Array, Array]:
    """(q, v) to scaled modes (2 n, 2 n), in which each spring's energy is 1/2 z'z, and back."""
    n = len(squares)
    rates = np.sqrt(np.maximum(np.abs(squares), LEAST_RATE**2))
    projection = shapes.T @ mass
    there, back = np.zeros((2 * n, 2 * n)), np.zeros((2 * n, 2 * n))
    there[:n, :n], there[n:, n:] = rates[:, None] * projection, projection
    back[:n, :n], back[n:, n:] = shapes / rates, shapes
    return there, back


def payload_motion(model: Model, joints: Array, reference: Array, noise: PayloadNoise,
                   period: float, fixed: tuple[Array, Array] | None = None
                   ) -> tuple[PayloadMotion, tuple[Array, Array]]:
    """The motion about rest at joints (n_joints,) of a model that carries the payload `reference`.

    fixed: scaling in whose coordinates F, Q and held are; None: the one of this pose, which is
    returned beside the motion.
    """
    n = model.n
    q = np.array(model.statics(joints)[0])
    mass, squares, shapes = modes(model, q)
    own = scaling(mass, squares, shapes)
    to_fixed, from_fixed = fixed or own
    rates = np.sqrt(np.maximum(np.abs(squares), LEAST_RATE**2))
    A = np.zeros((3 * n, 3 * n))
    A[:n, n:2 * n] = np.diag(rates)
    A[n:2 * n, :n] = np.diag(-squares / rates)
    A[n:2 * n, n:2 * n] = -shapes.T @ model.damping_matrix() @ shapes
    fast = np.flatnonzero(squares > (2.0 * np.pi * TRUSTED / period)**2)
    A[n + fast, n + fast] -= 2.0 * UNTRUSTED_DAMPING * rates[fast]
    A[n:2 * n, 2 * n:] = np.eye(n)
    sampled = expm(A * period)
    move, push = sampled[:2 * n, :2 * n], sampled[:2 * n, 2 * n:]
    shaken = np.zeros((2 * n, 2 * n))
    both = np.concatenate((fast, n + fast))
    part = move[np.ix_(both, both)]
    shaken[np.ix_(both, both)] = UNTRUSTED_ENERGY * np.maximum(
        0.0, np.diag(1.0 - np.sum(part * part, axis=1)))
    there, back = to_fixed @ own[1], own[0] @ from_fixed
    inverse = shapes @ shapes.T
    by_effort = inverse @ np.asarray(model.input_matrix(q))
    held = there @ push @ (shapes.T @ mass)
    kicks = held @ by_effort * noise.effort
    Q = there @ shaken @ there.T + kicks @ kicks.T
    count = model.n_joints
    stiffness = model.stiffness_matrix()
    follow = np.eye(n, count)
    if n > count:
        follow[count:] = -np.linalg.solve(stiffness[count:, count:], stiffness[count:, :count])
    spring = np.asarray((mass @ shapes * squares) @ (shapes.T @ mass))
    return PayloadMotion(
        model, q, np.array(reference), there @ move @ back, 0.5 * (Q + Q.T), held, follow,
        -inverse @ spring, -inverse @ model.damping_matrix(), inverse, by_effort), own
