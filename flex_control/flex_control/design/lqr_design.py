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
"""Gains of the linear quadratic regulator at one pose, in pieces."""
from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import expm

from flex_control.commanded_joints import commanded_places, rigid_motion, start_pose
from flex_control.design.gains import (
    LQG_MOST_BENDING,
    USUAL_ACCELERATION,
    first_frequency,
    joint_inertia,
)
from flex_control.design.gains import poses as usual_poses
from flex_control.design.rank_tests import unreachable
from flex_control.design.rest_model import RestModel, rest_model
from flex_control.design.riccati import Regulator, riccati
from flex_control.design.sampling import exponential_and_gramian
from flex_control.errors import ControlError
from flex_control.incremental import Pieces, finish
from flex_dynamics import Model

POSES = 64
MOST_COORDINATES = 40
SHARE_BORNE = 0.3        # of the soft force: a push that the speed limits have to allow
PUSH_TIME = 0.6          # s
DOUBLINGS = 5            # of the default tip_error, for arms that bend slower than they move
FINGER_RANGE = 0.1       # m: the last joint, if it slides by less, is one of a gripper
SHARE_OF_EFFORT = 0.5    # of a motor, that a change of acceleration may ask for besides its own
LEAST_DAMPING = 1e-3     # ratio that every mode with a spring has at least in a design


@dataclass(frozen=True)
class Weights:
    """What costs one unit: each error as large as stated, each effort as large as stated."""

    tip_error: float        # m, every component of every tip's place
    joint_error: float      # rad or m, every joint
    energy: float           # J, kinetic energy of the motion about the wanted one
    effort: np.ndarray      # (n_joints,) N m or N beyond what the wanted motion takes
    effort_time: float      # s: an effort that changes by `effort` in this time costs one unit
    integral_time: float    # s: the time integral of an error costs 1/integral_time of it; 0: none
    highest_mode: float     # rad/s: faster modes are left alone


@dataclass(frozen=True)
class LqrGains:
    """u+ = u - state @ (dq, dv) - integral @ z - effort @ u,  dz/dt = error @ dq.

    sampled: the regulator whose gains they are, of x = (scaled modes below the highest, z, u) and
    the change of u; None for a mixture of two designs.
    """

    state: np.ndarray       # (n_joints, 2 n)
    integral: np.ndarray    # (n_joints, n_joints)
    effort: np.ndarray      # (n_joints, n_joints)
    error: np.ndarray       # (n_joints, n)
    sampled: Regulator | None = None


def tip_frames(model: Model) -> list[str]:
    """The links at the ends of the tree; of a gripper whose fingers slide, the link that carries
    them: a regulator of its fingertips would move the light fingers instead of the arm. Links that
    end in a loop are no tips, unless all do."""
    closed = {end.frame.split('/')[0] for loop in model.robot.loops
              for end in (loop.first, loop.second)}
    parents = {joint.parent for joint in model.robot.joints}
    carried = {joint.child: joint for joint in model.robot.joints}
    tips: dict[str, None] = {}       # in this order, each once
    for link in model.robot.links:
        if link.name in parents:
            continue
        joint, tip = carried.get(link.name), link.name
        if (joint is not None and joint.type == 'prismatic' and joint.parent in carried
                and joint.limits.upper - joint.limits.lower <= FINGER_RANGE):
            tip = joint.parent
        tips[tip] = None
    return [tip for tip in tips if tip not in closed] or list(tips)


def joint_motion(model: Model, q: np.ndarray) -> np.ndarray:
    """Speeds (n, n_joints) of all coordinates per speed of each joint, links not bending; with
    constraints per speed of each commanded joint, and zero for the others."""
    if not model.robot.constraints:
        return np.eye(model.n, model.n_joints)
    places, motion = commanded_places(model), np.zeros((model.n, model.n_joints))
    motion[:, places] = rigid_motion(model, q, places)
    return motion


def elastic_motion(model: Model, q: np.ndarray) -> np.ndarray:
    """A basis (n, k) of the motions of the links with the (commanded) joints held."""
    if not model.robot.constraints:
        return np.eye(model.n)[:, model.n_joints:]
    return np.asarray(model.free_directions(q, [model.names[place]
                                                for place in commanded_places(model)]))


def longest_reach(model: Model) -> np.ndarray:
    """Largest speed of a tip per speed of each joint (n_joints,), m/rad or 1, over 64 poses.

    The poses are drawn once for all with a fixed seed, and the stretched one is among them.
    Prismatic joints stay within their limits: a finger that slides by 4 cm adds no metres.
    """
    if model.robot.constraints:
        return _constrained_reach(model)
    q = np.zeros((POSES, model.n))
    q[1:, :model.n_joints] = np.random.default_rng(0).uniform(-np.pi, np.pi,
                                                              (POSES - 1, model.n_joints))
    limits, sliding = model.joint_limits, _sliding(model)
    for place, name in enumerate(model.joint_names):
        lower, upper = limits.lower[place], limits.upper[place]
        if name in sliding and np.isfinite(upper - lower):
            q[:, place] = np.clip(0.5 * (lower + upper)
                                  + q[:, place] * (upper - lower) / (2.0 * np.pi), lower, upper)
    reach = np.zeros(model.n_joints)
    for frame in tip_frames(model):
        for pose in q:
            speeds = np.linalg.norm(model.jacobian(pose, frame)[:3, :model.n_joints], axis=0)
            reach = np.maximum(reach, speeds)
    return _not_zero(reach)


def _constrained_reach(model: Model) -> np.ndarray:
    """The same of robots with constraints, over the poses that they allow."""
    reach = np.zeros(model.n_joints)
    for joints in usual_poses(model):
        q = np.concatenate((joints, np.zeros(model.n - model.n_joints)))
        motion = joint_motion(model, q)
        for frame in tip_frames(model):
            speeds = np.linalg.norm(model.jacobian(q, frame)[:3] @ motion, axis=0)
            reach = np.maximum(reach, speeds)
    return _not_zero(reach)


def _not_zero(reach: np.ndarray) -> np.ndarray:
    """A joint whose axis runs through every tip still turns something."""
    longest: np.ndarray = np.maximum(reach, 1e-3 * reach.max(initial=1e-3))
    return longest


def soft_force(model: Model) -> float:
    """Force (N) on a tip that moves it by 1 % of the longest reach in its softest direction, the
    stretched arm's joints locked; at most the weight of what moves, for arms that hardly bend.

    What is a large force depends on the arm: it is 70 N for the 4-joint arm, 0.17 N for the
    laboratory's strip.
    """
    q = start_pose(model) if model.robot.constraints else np.zeros(model.n)
    weight = max(9.81 * model.first_moment(q)[0], 1e-3)
    if model.n == model.n_joints:
        return weight
    bends = elastic_motion(model, q)
    stiffness = bends.T @ np.asarray(model.stiffness_matrix()) @ bends
    softness = 0.0
    for frame in tip_frames(model):
        J = model.jacobian(q, frame)[:3] @ bends
        softness = max(softness, float(np.linalg.norm(J @ np.linalg.solve(stiffness, J.T), 2)))
    reach = float(longest_reach(model).max())
    return min(weight, 0.01 * reach / softness) if softness > 0.0 else weight


def check_size(model: Model, controller: str) -> None:
    """Raise ControlError, with the reason, if a design would outlast the motion that needs it, or
    if a base has no motors."""
    for joint in model.robot.joints:
        if joint.type in ('floating', 'planar'):
            raise ControlError(f'{controller}: expected motors on all joints, found the '
                               f'{joint.type} base {joint.name}: use pid, which leaves it alone')
    if model.n > MOST_COORDINATES:
        raise ControlError(f'{controller}: expected at most {MOST_COORDINATES} coordinates, whose '
                           f'gains can be designed while the robot moves, found {model.n}: take '
                           'fewer modes or fewer flexible links, or use pid')


def check_bending(model: Model, controller: str) -> None:
    """Raise ControlError, with the reason, if motions of usual accelerations bend the links so far
    that a filter that is linear about the wanted pose loses them."""
    first = first_frequency(model)
    turns = {joint.name for joint in model.robot.joints if joint.type != 'prismatic'}
    at = [place for place in commanded_places(model) if model.joint_names[place] in turns]
    if not at:
        return
    inertia = joint_inertia(model)[at]
    most = np.minimum(USUAL_ACCELERATION, model.joint_limits.effort[at] / inertia)
    # A tip lags by L a / w2; of each joint, as far as its torque is one on the whole arm.
    share = float(most @ inertia) / inertia.max() / first**2
    if share > LQG_MOST_BENDING:
        raise ControlError(
            f'{controller}: expected links that bend by at most {100.0 * LQG_MOST_BENDING:.0f} % '
            f'of the reach in a motion, found {first / (2.0 * np.pi):.2g} Hz as first frequency: '
            f'joints that speed up by {most.max():.2g} rad/s2 bend them by {100.0 * share:.0f} %, '
            'and a filter that is linear about the wanted pose would lose them: use pid or pd, or '
            'lqr with the elastic state measured')


def check_limits(model: Model, q: np.ndarray, weights: Weights, drive_damping: np.ndarray,
                 period: float, controller: str) -> None:
    """Raise ControlError, with the reason, if usual pushes or motions ask for more than the motors
    have: a regulator that is held at their limits swings.

    The loop at the equilibrium q (n,) is linear.
    """
    if model.n == model.n_joints:
        return
    rest = finish(rest_model(model, q, np.zeros(model.n_joints), drive_damping))
    try:
        gains = finish(lqr_gains(model, rest, weights, period))
    except ControlError:      # another pose may do; the first design says so if it does not
        return
    _check_speeds(model, rest, gains, period, controller)
    _check_efforts(model, rest, gains, controller)


def _check_speeds(model: Model, rest: RestModel, gains: LqrGains, period: float,
                  controller: str) -> None:
    """ControlError if a push that the links bear well would drive a motor to its speed limit:
    beyond it a motor only brakes.

    A constant force acts on each tip in the direction in which the joints move it most. Motors
    that it overpowers, as those of a gripper's fingers, yield to it with any controller.
    """
    limits = model.joint_limits.velocity
    if not np.isfinite(limits).any():
        return
    bears = SHARE_BORNE * soft_force(model)
    for frame in tip_frames(model):
        J = model.jacobian(rest.q, frame)[:3]
        driven = J @ joint_motion(model, rest.q)
        side = np.linalg.svd(driven)[0][:, 0]
        speed = bears * _pushed_speeds(rest, gains, J.T @ side, period)
        speed[bears * np.abs(driven.T @ side) > model.joint_limits.effort] = 0.0
        speed[~driven.any(axis=0)] = 0.0
        if (speed > limits).any():
            at = int(np.argmax(speed / np.maximum(limits, 1e-12)))
            unit = 'm/s' if model.names[at] in _sliding(model) else 'rad/s'
            raise ControlError(
                f'{controller}: {model.names[at]} is limited to {limits[at]:.3g} {unit}, and a '
                f'push of {bears * limits[at] / speed[at]:.2g} N on {frame} would already ask for '
                'that; motors at their speed limit only brake, and the arm would swing: use pid, '
                'or a larger tip_error')


def feasible_tip_error(model: Model, q: np.ndarray, weights: Weights, drive_damping: np.ndarray,
                       period: float) -> float:
    """`weights.tip_error` (m), doubled until the motors have what its gains ask for when the arm
    speeds up; as it is if no size would do.

    The reference bends at once by what an acceleration bends the links quasi-statically, and the
    gains answer until the arm has followed. On arms whose first mode is slower than their motions
    this answer is larger than the efforts of the motion itself.
    """
    if model.n == model.n_joints:
        return weights.tip_error
    rest = finish(rest_model(model, q, np.zeros(model.n_joints), drive_damping))
    for error in weights.tip_error * 2.0 ** np.arange(DOUBLINGS + 1):
        try:
            gains = finish(lqr_gains(model, rest, replace(weights, tip_error=error), period))
        except ControlError:      # another pose may do
            break
        share = deflection_efforts(model, rest, gains)[1]
        if share.max(initial=0.0) <= SHARE_OF_EFFORT:
            return float(error)
    return weights.tip_error


def deflection_efforts(model: Model, rest: RestModel,
                        gains: LqrGains) -> tuple[np.ndarray, np.ndarray]:
    """Efforts (n_joints, n_joints) that the gains ask of each joint (row) to bend the links as
    much as a usual acceleration of another joint (column) does; and their shares of the limits."""
    limits, free = model.joint_limits.effort, elastic_motion(model, rest.q)
    moved = joint_motion(model, rest.q) * _accelerations(model)
    bends = -free @ np.linalg.solve(free.T @ np.asarray(model.stiffness_matrix()) @ free,
                                    free.T @ rest.M @ moved)
    # what u comes to while the state stays off by it: gains.effort @ u = -gains.state @ x
    asked = np.abs(np.linalg.solve(gains.effort, gains.state[:, :model.n] @ bends))
    driven = np.isfinite(limits) & (limits > 0.0)
    return asked, np.where(driven[:, None], asked / np.where(driven, limits, 1.0)[:, None], 0.0)


def _accelerations(model: Model) -> np.ndarray:
    """Usual ones of the joints (n_joints,), rad/s2 or m/s2."""
    most: np.ndarray = np.minimum(USUAL_ACCELERATION,
                                  model.joint_limits.effort / joint_inertia(model))
    return most


def _check_efforts(model: Model, rest: RestModel, gains: LqrGains, controller: str) -> None:
    """ControlError if the gains ask for more than the motors have when the arm speeds up (see
    `feasible_tip_error`)."""
    asked, share = deflection_efforts(model, rest, gains)
    if share.max(initial=0.0) <= SHARE_OF_EFFORT:
        return
    at, mover = (int(place) for place in np.unravel_index(int(np.argmax(share)), share.shape))
    sliding, limits = _sliding(model), model.joint_limits.effort
    rate = 'm/s2' if model.names[mover] in sliding else 'rad/s2'
    unit = 'N' if model.names[at] in sliding else 'N m'
    raise ControlError(
        f'{controller}: expected gains that leave half of each motor to the motion, found '
        f'{first_frequency(model) / (2.0 * np.pi):.2g} Hz as first frequency: when '
        f'{model.names[mover]} speeds up by {_accelerations(model)[mover]:.2g} {rate}, they would '
        f'ask for {asked[at, mover]:.3g} of the {limits[at]:.3g} {unit} of {model.names[at]} to '
        'bend the links as much at once, and the arm would swing: use pid, or a larger tip_error')


def _sliding(model: Model) -> set[str]:
    """Names of the prismatic joints."""
    return {joint.name for joint in model.robot.joints if joint.type == 'prismatic'}


def _pushed_speeds(rest: RestModel, gains: LqrGains, force: np.ndarray,
                   period: float) -> np.ndarray:
    """Largest speeds (n_joints,) of the joints within PUSH_TIME of a constant generalised force
    (n,), all modes of the robot included."""
    n, joints, modes = len(force), len(gains.effort), len(rest.squares)
    shapes = rest.shapes
    size = 2 * modes + joints + 1
    system = np.zeros((size, size))
    system[:modes, modes:2 * modes] = np.eye(modes)
    system[modes:2 * modes] = np.hstack((-np.diag(rest.squares), -shapes.T @ rest.D @ shapes,
                                         shapes.T @ rest.B, (shapes.T @ force)[:, None]))
    sampled = expm(system * period)[:2 * modes]
    p, u, z = np.zeros(2 * modes), np.zeros(joints), np.zeros(joints)
    largest = np.zeros(joints)
    state = np.hstack((gains.state[:, :n] @ shapes, gains.state[:, n:] @ shapes))
    error, speeds = gains.error @ shapes, shapes[:joints]
    for _ in range(round(PUSH_TIME / period)):
        u = u - state @ p - gains.integral @ z - gains.effort @ u
        z = z + period * (error @ p[:modes])
        p = sampled @ np.concatenate((p, u, [1.0]))
        largest = np.maximum(largest, np.abs(speeds @ p[modes:]))
    return largest


def lqr_gains(model: Model, rest: RestModel, weights: Weights, period: float) -> Pieces[LqrGains]:
    """Gains at the pose of `rest` for updates every `period` (s); ControlError if there are none.

    Minimises the time integral of
        |tip|^2 / tip_error^2 + |joints|^2 / joint_error^2 + T / energy + |u / effort|^2
        + |du/dt effort_time / effort|^2 + |z|_W^2 / integral_time^2
    over efforts u held between updates, exactly sampled, cross terms included. T is kinetic
    energy, W = J'J / tip_error^2 + 1 / joint_error^2 with J the tips' Jacobian for rigid links,
    and z the time integral of the joint errors that would best explain those of tips and joints:
    W^-1 (J' tip / tip_error^2 + joints / joint_error^2). So z is well defined in every pose,
    stretched out too. The integrator stops when no joint motion can reduce the tip error.

    The cost of du/dt rolls the gain off (Gupta's frequency shaping). Without it a joint with no
    rotor inertia gets gains that hold at the very pose of the design only: 0.05 rad beside it the
    4-joint arm's light modes grow by a third in each millisecond.
    """
    n, places = model.n, commanded_places(model)
    if not model.robot.constraints:
        places = list(range(model.n_joints))
    joints = len(places)
    modes = rest.kept(weights.highest_mode)
    tips = np.vstack([model.jacobian(rest.q, frame)[:3] for frame in tip_frames(model)])
    tips = tips / weights.tip_error
    holds = np.eye(n)[places] / weights.joint_error
    rows = np.vstack((tips, holds))
    pull = rows @ joint_motion(model, rest.q)[:, places]
    W = pull.T @ pull
    error = np.linalg.solve(W, pull.T @ rows)
    yield

    to_positions = rest.shapes[:, :modes] / rest.scale[:modes]
    A, B = _damped(rest, modes)
    B, unit = B[:, places], weights.effort[places]
    states, integrals = 2 * modes, joints if weights.integral_time > 0.0 else 0
    size = states + integrals + joints
    system, cost = np.zeros((size, size)), np.zeros((size, size))
    system[:states, :states], system[:states, -joints:] = A, B
    outputs = rows @ to_positions
    cost[:modes, :modes] = outputs.T @ outputs
    cost[modes:states, modes:states] = np.eye(modes) * (0.5 / weights.energy)
    if integrals:
        at = slice(states, states + integrals)
        system[at, :modes] = error @ to_positions
        cost[at, at] = W / weights.integral_time**2
    cost[-joints:, -joints:] = np.diag(1.0 / unit**2)
    yield
    transposed, summed = yield from exponential_and_gramian(system.T, cost, period)
    # The effort u is a state, its change at an update the input.
    F = transposed.T.copy()
    G = F[:, -joints:].copy()
    change = np.diag((weights.effort_time / unit)**2) / period
    sampled = yield from riccati(F, G, summed, summed[-joints:, -joints:] + change,
                                 summed[:, -joints:])
    gain = sampled.gain
    projection = rest.projection[:modes]
    state = np.hstack((gain[:, :modes] @ (rest.scale[:modes, None] * projection),
                       gain[:, modes:states] @ projection))
    integral = gain[:, states:-joints] if integrals else np.zeros((joints, joints))
    found = LqrGains(state, integral, gain[:, -joints:], error, sampled)
    return found if joints == model.n_joints else _of_all_joints(model, places, found)


def _of_all_joints(model: Model, places: list[int], found: LqrGains) -> LqrGains:
    """The gains of the commanded joints among all: the others have no effort and no integral."""
    joints = model.n_joints
    state, error = np.zeros((joints, 2 * model.n)), np.zeros((joints, model.n))
    integral, effort = np.zeros((joints, joints)), np.eye(joints)
    state[places], error[places] = found.state, found.error
    integral[np.ix_(places, places)] = found.integral
    effort[np.ix_(places, places)] = found.effort
    return LqrGains(state, integral, effort, error)


def _damped(rest: RestModel, modes: int) -> tuple[np.ndarray, np.ndarray]:
    """State space of the first modes, each with a little damping.

    Without it there would be no gains at poses where no joint can reach a vibration, as the
    sideways one of an upright arm.
    """
    A, B = rest.state_space(modes)
    least = np.where(rest.squares[:modes] > 0.0, 2.0 * LEAST_DAMPING * rest.scale[:modes], 0.0)
    A[range(modes, 2 * modes), range(modes, 2 * modes)] -= least
    return A, B


def refuse_unreachable(model: Model, rest: RestModel, highest: float, period: float) -> None:
    """ControlError that names the coordinate if a mode grows and does not follow the efforts."""
    modes = rest.kept(highest)
    A, B = _damped(rest, modes)
    size = 2 * modes + B.shape[1]
    system = np.zeros((size, size))
    system[:2 * modes, :2 * modes], system[:2 * modes, 2 * modes:] = A, B
    sampled, _ = finish(exponential_and_gramian(system, np.zeros((size, size)), period))
    lost = unreachable(sampled[:2 * modes, :2 * modes], sampled[:2 * modes, 2 * modes:])
    if lost is None:
        return
    mode = int(np.argmax(lost[:modes] + lost[modes:]))
    name = main_coordinate(model, rest, mode)
    raise ControlError(
        f'{name} is out of reach of the joint efforts: its mode of '
        f'{np.sqrt(abs(rest.squares[mode])) / (2.0 * np.pi):.3g} Hz grows by itself and no joint '
        f'moves it at this pose (sampled every {period:g} s); hold another pose, or make the link '
        'stiffer')


def main_coordinate(model: Model, rest: RestModel, mode: int) -> str:
    """Name of the coordinate that holds the largest share of a mode's energy."""
    shape = rest.shapes[:, mode]
    return model.names[int(np.argmax(np.abs(shape * (rest.M @ shape))))]
