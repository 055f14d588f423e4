"""360 trajectories of the kind that MoveIt sends, for the UR5 and the Panda as their MoveIt
configurations limit them, taken by the control node's own reader with its own limits."""
import sys
from pathlib import Path
from types import SimpleNamespace as Record

import numpy as np
import pytest
import yaml

from flex_control.loop.goal_tolerances import SUCCESSFUL, GoalMonitor, Tolerances
from flex_control.loop.trajectory_reader import GoalError, TrajectoryReader, read_tolerances
from flex_control.trajectories import MotionLimits, Reference
from flex_control.trajectories.trajectory_points import TrajectoryPoints
from flex_description import load_robot
from flex_dynamics import Model

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT / 'flex_control' / 'test'))
from planned_trajectories import Planned, plan  # noqa: E402

NOW = 7.0              # s
NAMES = ('ur5', 'panda')
START_TOLERANCE = 0.01


class Arm:
    """A robot, the control node's reader for it, and the limits that MoveIt plans within."""

    def __init__(self, name):
        self.robot = load_robot(name)
        self.names = tuple(Model(self.robot).joint_names)
        self.limits = MotionLimits.of(self.robot, self.names)
        self.reader = TrajectoryReader(self.names, self.limits, partial=True)
        planned = yaml.safe_load((ROOT / 'flex_bringup' / 'config' / 'moveit' / name
                                  / 'joint_limits.yaml').read_text())['joint_limits']
        self.velocity, self.acceleration = (np.array(
            [planned[joint][f'max_{what}'] for joint in self.names])
            for what in ('velocity', 'acceleration'))
        self.lower = np.maximum(self.limits.lower, -np.pi)
        self.upper = np.minimum(self.limits.upper, np.pi)

    def plans(self, count, scaling, seed):
        """So many, through two to five random way-points from limit to limit."""
        rng = np.random.default_rng([seed, len(self.names), int(100 * scaling)])
        found = []
        while len(found) < count:
            waypoints = rng.uniform(self.lower, self.upper, (rng.integers(2, 6), len(self.names)))
            try:
                found.append(plan(waypoints, scaling * self.velocity,
                                  scaling * self.acceleration, rng))
            except ValueError:           # a way-point that the path turns back at
                continue
        return found

    def read(self, planned, order=None, start=None, now=NOW, stamp=0.0):
        order = np.arange(len(self.names)) if order is None else order
        rows = [values[:, order] for values in planned[1:]]
        points = TrajectoryPoints(tuple(self.names[k] for k in order), stamp, planned.times,
                                  *rows, None)
        start = Reference.at_rest(planned.positions[0]) if start is None else start
        return self.reader.read(points, now, start)


@pytest.fixture(scope='module', params=NAMES)
def arm(request):
    return Arm(request.param)


@pytest.mark.parametrize('scaling, count', [(0.1, 40), (0.5, 40), (1.0, 100)])
def test_every_plan_is_taken_and_ends_where_it_says(arm, scaling, count):
    """180 for each arm, in a random order of the joints. At full speed many are faster than the
    limit between their points, by up to half a per cent."""
    rng = np.random.default_rng(11)
    excess = []
    for planned in arm.plans(count, scaling, seed=3):
        motion = arm.read(planned, rng.permutation(len(arm.names)))
        assert motion.end == NOW + planned.times[-1]
        assert 0.0 < np.abs(planned.velocities[-1]).max() < 9.1e-16
        for at in rng.choice(len(planned.times), 5):
            np.testing.assert_allclose(motion.sample(NOW + planned.times[at]).position,
                                       planned.positions[at], rtol=0.0, atol=1e-9)
        end = motion.sample(motion.end + 1e-9)
        np.testing.assert_allclose(end.position, planned.positions[-1], rtol=0.0, atol=1e-12)
        assert not end.velocity.any()
        excess.append((motion.peak(1) / arm.velocity).max() - 1.0)
    if scaling == 1.0:
        assert sum(one > 1e-4 for one in excess) > count // 4 and max(excess) < 0.02
    else:
        assert max(excess) < 0.0


def test_the_start_tolerance_is_taken(arm):
    """MoveIt sends a plan whose start is up to allowed_start_tolerance from where the arm is; the
    control node's reference is where it was going. The motion begins there without a jump."""
    rng = np.random.default_rng(12)
    for planned in arm.plans(30, 0.9, seed=4):
        away = START_TOLERANCE * rng.uniform(-1.0, 1.0, len(arm.names))
        there = np.clip(planned.positions[0] + away, arm.lower, arm.upper)
        motion = arm.read(planned, start=Reference.at_rest(there))
        np.testing.assert_allclose(motion.sample(NOW).position, there, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(motion.sample(motion.end).position, planned.positions[-1],
                                   rtol=0.0, atol=1e-12)


def test_a_start_measured_a_little_beyond_a_limit_leads_back(arm):
    """Encoders have noise, and arms are parked at their limits."""
    rng = np.random.default_rng(14)
    for _ in range(30):
        parked = np.where(rng.random(len(arm.names)) < 0.5, arm.limits.lower, arm.limits.upper)
        goal = rng.uniform(arm.lower, arm.upper)
        planned = plan(np.array([parked + rng.normal(0.0, 1e-3, len(arm.names)), goal]),
                       arm.velocity, arm.acceleration, rng)
        motion = arm.read(planned, start=Reference.at_rest(parked))
        np.testing.assert_allclose(motion.sample(motion.end).position, goal, rtol=0.0, atol=1e-12)
        still = np.zeros((1, len(arm.names)))
        here = Planned(np.zeros(1), planned.positions[:1], still, still)      # already there
        assert arm.read(here, start=Reference.at_rest(parked)).end <= NOW
    planned = plan(np.array([parked + 0.02 * np.sign(parked), goal]), arm.velocity,
                   arm.acceleration, rng)
    with pytest.raises(GoalError, match='its limits'):
        arm.read(planned, start=Reference.at_rest(parked))


def test_re_planning_in_mid_motion_begins_at_the_present_reference(arm):
    """After each of 30 plans, half way, a new one from where the arm was a moment before."""
    rng = np.random.default_rng(13)
    for planned in arm.plans(30, 0.3, seed=5):
        motion = arm.read(planned)
        now = NOW + 0.5 * planned.times[-1]
        seen = motion.sample(now - 0.05).position          # 50 ms for planning and the way here
        goal = rng.uniform(0.6 * arm.lower + 0.4 * arm.upper, 0.4 * arm.lower + 0.6 * arm.upper)
        again = plan(np.array([seen, goal]), 0.3 * arm.velocity, 0.3 * arm.acceleration, rng)
        present = motion.sample(now)
        new = arm.read(again, start=present, now=now)
        for order in range(3):
            np.testing.assert_allclose(new.sample(now).derivative(order),
                                       present.derivative(order), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(new.sample(new.end).position, goal, rtol=0.0, atol=1e-12)


def test_a_single_point_at_time_zero_succeeds_at_the_next_state(arm):
    """With the tolerances of MoveIt's goals, which are empty."""
    here = Reference.at_rest(0.5 * (arm.lower + arm.upper))
    still = np.zeros((1, len(arm.names)))
    motion = arm.read(Planned(np.zeros(1), here.position[None], still, still), start=here)
    none = np.full(len(arm.names), np.inf)
    goal = Record(component_path_tolerance=[], component_goal_tolerance=[], path_tolerance=[],
                  goal_tolerance=[], multi_dof_trajectory=Record(joint_names=[]),
                  goal_time_tolerance=Record(sec=0, nanosec=0))
    tolerances = read_tolerances(goal, arm.names, Tolerances(none, none, none, none + 0.0))
    verdict = GoalMonitor(motion, tolerances, arm.names).judge(
        NOW, motion.sample(NOW), here.position, np.zeros(len(arm.names)))
    assert verdict.code == SUCCESSFUL


def test_what_moveit_would_not_send_is_refused(arm):
    """The reader has not become careless: too fast, beyond a limit, in a wrong order of time."""
    planned, = arm.plans(1, 1.0, seed=6)
    start = Reference.at_rest(planned.positions[0])
    for spoilt, words in (
            (planned._replace(times=planned.times / 1.1, velocities=1.1 * planned.velocities,
                              accelerations=1.21 * planned.accelerations), 'times the duration'),
            (planned._replace(positions=planned.positions + 2.0 * np.pi), 'its limits'),
            (planned._replace(times=planned.times[::-1].copy()), 'expected to rise'),
            (planned._replace(velocities=planned.velocities + 1e-3), 'zero in the last point')):
        with pytest.raises(GoalError, match=words):
            arm.read(spoilt, start=start)
