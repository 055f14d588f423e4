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
"""Default gains of all controllers: shares of the first natural frequency, times the inertia.

They are defined here and nowhere else; configuration files leave them to the controllers.
"""
from __future__ import annotations

import numpy as np

from flex_control.commanded_joints import closed_poses, commanded_places, moved_inertia
from flex_description import default_pose
from flex_dynamics import Model, largest_joint_inertia

FASTEST = 30.0      # rad/s, for stiff robots: 5 Hz, as position loops of industrial arms have
SLOWEST_STIFF = 20.0     # rad/s: stiffer robots count as this where a motion waits for modes
USUAL_PERIOD = 2e-3      # s between updates, as in the launch files
POSES = 16
SHARES = 2.0 ** -np.arange(0.0, 6.0, 0.5)     # that are tried where joints are elastic

# Bandwidths over the first frequency with locked joints
PD_SHARE = 0.6
COMPUTED_TORQUE_SHARE = 0.6
LINEARIZATION_SHARE = 0.3       # with more, an unknown payload takes the damping of the first mode
LINEARIZATION_VIBRATION_DAMPING = 0.3      # ratio

INTEGRAL_SLOWER = 4.0    # pid: the corner of the integral is this much below kp / kd

# Costs of lqr and lqg
LQR_SHARE_OF_SOFT_FORCE = 0.7   # at the tip, in the longest reach: the effort that costs one unit
LQR_TIP_ERROR = 5e-3     # m
LQR_ENERGY = 1.0         # J
LQR_REACH = 4.5          # m; longer arms: the error grows with the reach, the energy by its square
USUAL_ACCELERATION = 1.5      # rad/s2 or m/s2, of every joint, if its motor has as much
LQG_MOST_BENDING = 0.2   # by which it bends the links at most, as a share of the reach
LQR_DRIVE_SHARE = 0.26   # of the first frequency, of the drives' damping over the inertia


def first_frequency(model: Model) -> float:
    """Lowest frequency (rad/s) with locked joints, over the stretched robot and 16 poses within
    its limits, which are drawn once for all with a fixed seed; infinite if rigid."""
    if model.n == model.n_joints:
        return np.inf
    lowest = np.inf
    q = np.zeros(model.n)
    for joints in poses(model):
        q[:model.n_joints] = joints
        frequencies, _ = model.frequencies(q, joints='locked')
        lowest = min(lowest, float(frequencies[0]) if frequencies.size else np.inf)
    return lowest


def poses(model: Model) -> np.ndarray:
    """Joint positions (POSES + 1, n_joints): zero or the pose nearest to it, and others; with
    constraints those of them that they allow."""
    if model.robot.constraints:
        return np.array(closed_poses(model, POSES))
    start = default_pose(model.robot)
    first = np.array([start[name] for name in model.joint_names])
    limits = model.joint_limits
    lower, upper = np.maximum(limits.lower, first - np.pi), np.minimum(limits.upper, first + np.pi)
    draws = np.random.default_rng(0).uniform(0.0, 1.0, (POSES, model.n_joints))
    return np.vstack((first, lower + draws * (upper - lower)))


def safe_bandwidth(model: Model, share: float) -> float:
    """A share of the first frequency (rad/s): a loop far above it would hold the joints still
    while the links vibrate undamped."""
    return min(FASTEST, share * first_frequency(model))


def pd_bandwidth(model: Model) -> float:
    """Default bandwidth (rad/s) of pd and pid.

    Where every motor sits at its joint, feedback of joints is passive: no gain makes a link
    vibrate by itself. With springs between motors and joints it is not; the bandwidth is then the
    one, of shares of the default, at which the slowest motion decays fastest at the default pose.
    """
    bandwidth = safe_bandwidth(model, PD_SHARE)
    if all(joint.flexible is None for joint in model.robot.joints):
        return bandwidth
    inertia, joints = shared_inertia(model), model.n_joints
    q, tau = model.statics(poses(model)[0])
    A, B = model.linearize(q, np.zeros(model.n), tau)
    motors = np.asarray(model.input_matrix()).T
    best, fastest = bandwidth, -np.inf
    for share in SHARES:
        w = share * bandwidth
        gains = np.zeros((joints, 2 * model.n))
        gains[:, :joints] = np.diag(inertia * w**2)
        gains[:, model.n:] = 2.0 * w * inertia[:, None] * motors      # drives act on the motors
        decay = -float(np.linalg.eigvals(A - B @ gains).real.max())
        if decay > fastest:
            best, fastest = w, decay
    return best


def joint_inertia(model: Model) -> np.ndarray:
    """Largest inertia (n_joints,) that each joint moves, kg m2 or kg; with constraints that of the
    commanded joints with all that follows them, and 1 of the others, which carry nothing."""
    if not model.robot.constraints:
        return largest_joint_inertia(model)
    moved = moved_inertia(model, POSES)
    return np.where(moved > 0.0, moved, 1.0)


def shared_inertia(model: Model) -> np.ndarray:
    """Inertia (n_joints,) to scale gains with: between a joint's own and the largest of all; zero
    for the coordinates of a floating or planar base, which has no motors, and for joints that
    constraints move.

    A light wrist at the end of a heavy arm has to withstand the motion of the arm; the geometric
    mean of both gives gains like those found by manual tuning. Rotations are compared with
    rotations, and prismatic joints with prismatic joints.
    """
    own = (moved_inertia(model, POSES) if model.robot.constraints
           else largest_joint_inertia(model))
    driven = np.zeros(model.n_joints, dtype=bool)
    driven[commanded_places(model)] = True
    sliding = {joint.name for joint in model.robot.joints if joint.type == 'prismatic'}
    slides = np.array([name in sliding for name in model.joint_names])
    shared = np.zeros(model.n_joints)
    for group in (driven & slides, driven & ~slides):
        if group.any():
            shared[group] = np.sqrt(own[group] * own[group].max())
    return shared
