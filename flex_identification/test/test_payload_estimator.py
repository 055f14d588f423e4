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
"""Mass and centre of a payload from joint states and gauges, and what the tip does with them."""
import numpy as np
import pytest
from payload_bench import Bench

from flex_control import MinimumJerk
from flex_description import load_robot
from flex_dynamics import DynamicsError, Model, Sensors
from flex_identification import IdentificationError, PayloadEstimator

POSE = (0.0, 0.5, 1.0, 0.5)
CENTRE = np.array([0.1, 0.05, 0.0])


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('cibicik_arm'))


def weigh(model, carrying, pose, estimator, begin=0.0, seconds=1.0):
    """The last estimate of an arm that rests in a pose with what it carries."""
    q, effort = carrying.statics(pose)
    strain, found = Sensors(model).strain(q), None
    for k in range(round(100 * seconds)):
        found = estimator.update(round(1e9 * begin) + 10_000_000 * k, q[:model.n_joints],
                                 np.zeros(model.n_joints), effort, strain)
    return found


def test_two_kilograms_on_the_4_joint_arm_are_held_within_2_mm_after_2_s(arm):
    bench = Bench(arm, POSE, 'tool')
    bench.advance(0.5)
    assert bench.run.worst(0.0) < 1e-5
    bench.plant.attach('box', 'tool', None, 2.0, np.zeros(3), np.zeros((3, 3)))
    run = bench.advance(2.5)
    assert run.worst(0.5) > 0.02             # it falls, and comes back
    assert run.worst(2.5) < 2e-3
    found = run.at(2.5)
    assert found.present and abs(found.mass - 2.0) < 3.0 * found.deviation[0] < 0.6
    # Let go, the payload is none again.
    bench.plant.detach('box')
    bench.advance(2.5)
    assert bench.gate.payload[0] == 0.0 and run.worst(5.2) < 2e-3


def test_without_the_estimate_the_tip_stays_where_it_fell(arm):
    bench = Bench(arm, POSE, 'tool', use=False)
    bench.plant.attach('box', 'tool', None, 2.0, np.zeros(3), np.zeros((3, 3)))
    run = bench.advance(3.0)
    assert run.worst(2.9) > 0.03


def test_the_ur5_with_flexible_links():
    model = Model(load_robot('ur5', 'ur5_flexible'))
    bench = Bench(model, (0.0, -1.0, 1.0, 0.0, 0.5, 0.0), 'tool0', largest=5.0)
    bench.advance(0.3)
    bench.plant.attach('box', 'tool0', None, 2.0, np.array([0.0, 0.0, 0.05]), np.zeros((3, 3)))
    run = bench.advance(2.3)
    assert run.worst(2.3) < 2e-4
    assert run.at(2.5).mass == pytest.approx(2.0, abs=0.05)


def test_what_a_pose_does_not_tell_is_said(arm):
    carrying = arm.with_payload('box', 'tool', 2.0, CENTRE)
    found = weigh(arm, carrying, POSE, PayloadEstimator(arm, 'tool'))
    assert abs(found.mass - 2.0) < 3.0 * found.deviation[0] < 0.1
    # Along gravity the weight has no lever, across all axes of the joints nobody feels it.
    down = arm.pose(carrying.statics(POSE)[0], 'tool')[:3, :3].T @ [0.0, 0.0, -1.0]
    assert len(found.hidden) >= 1 and 'cannot be told in this pose' in found.text
    assert max(abs(one @ down) for one in found.hidden) > 0.99
    across = np.cross(down, [0.0, 0.0, 1.0])
    spread = float(np.sqrt(across @ found.covariance[1:, 1:] @ across))
    assert abs(across @ (found.centre - CENTRE)) < 3.0 * spread < 0.1
    # The error is what the covariance says, in all directions.
    error = np.append(found.mass - 2.0, found.centre - CENTRE)
    assert error @ np.linalg.solve(found.covariance + 1e-12 * np.eye(4), error) < 16.0


def test_a_turn_of_the_wrist_tells_more(arm):
    bench = Bench(arm, POSE, 'tool')
    bench.plant.attach('box', 'tool', None, 2.0, CENTRE, np.zeros((3, 3)))
    bench.advance(1.5)
    first = bench.run.estimates[-1]
    goal = bench.pose + [0.0, 0.0, 0.0, 1.2]
    bench.loop.set_trajectory(MinimumJerk(bench.pose, goal, 1.5, 1.5))
    bench.advance(2.5)
    last = bench.run.estimates[-1]
    spread = [float(np.sqrt(np.linalg.eigvalsh(one.covariance[1:3, 1:3])[-1]))
              for one in (first, last)]
    assert spread[1] < 0.5 * spread[0]
    assert (np.abs(last.centre[:2] - CENTRE[:2]) < 3.0 * last.deviation[1:3] + 1e-3).all()


@pytest.mark.parametrize('bad', [np.nan, np.inf])
def test_readings_that_are_none_are_left_out(arm, bad):
    estimator = PayloadEstimator(arm, 'tool')
    q, effort = arm.statics(POSE)
    strain, none = Sensors(arm).strain(q), np.full(4, bad)
    for k in range(60):
        missing = 20 <= k < 30
        found = estimator.update(10_000_000 * k, q[:4], none if k % 2 else np.zeros(4),
                                 none if missing else effort, np.full(4, bad) if k % 3 else strain)
        assert (found is None) == missing
    assert not found.present and np.isfinite(found.covariance).all()


def test_a_clock_that_is_set_and_readings_that_jump_begin_anew(arm):
    estimator = PayloadEstimator(arm, 'tool')
    weigh(arm, arm, POSE, estimator, begin=100.0)
    weigh(arm, arm, POSE, estimator, begin=5.0, seconds=0.1)
    assert estimator.restarts == 1
    q, effort = arm.statics((1.0, 0.0, 0.5, 0.0))
    with pytest.raises(IdentificationError, match='from where they should be|left all bounds'):
        estimator.update(5_100_000_000, q[:4], np.zeros(4), effort)
    found = weigh(arm, arm, POSE, estimator, begin=6.0, seconds=0.5)
    assert not found.present and found.deviation[0] < 0.1


def test_robots_that_cannot_be_weighed_are_refused(arm):
    with pytest.raises(DynamicsError, match='elbow'):
        PayloadEstimator(arm, 'elbow')
    for name, reason in (('flexible_four_bar', 'constraints'), ('mobile_arm', 'expected'),
                         ('canadarm', 'gravity')):
        with pytest.raises(IdentificationError, match=reason):
            PayloadEstimator(Model(load_robot(name)))
