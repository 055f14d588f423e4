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
"""Requests for motions along a path of the tip: paths and refusals; strain of fibres."""
import numpy as np
import pytest

from flex_control import ControlError, InverseKinematics
from flex_control.loop import planner_process
from flex_control.loop.tip_planning import TipRequest, tip_path
from flex_control.reference.fibre_strain import FibreStrain
from flex_control.trajectories import MotionLimits
from flex_description import load_robot
from flex_dynamics import Model

REST = np.array([0.5, 1.0])
TIP = 'link2/tip'


@pytest.fixture(scope='module')
def arm():
    return Model(load_robot('de_luca_siciliano'))


def request(kind='line', **how):
    return TipRequest(kind, TIP, REST, **{'relative': True, **how})


def line(x, **how):
    return request(positions=np.array([[x, 0.0, 0.0]]), **how)


def test_paths_begin_where_the_frame_is_and_go_where_they_are_asked_to(arm):
    tip = InverseKinematics(arm, TIP).pose(REST)
    path = tip_path(arm, line(0.05, speed=0.1))
    assert path.sample(0.0).position == pytest.approx(tip[:3, 3])
    assert path.end == pytest.approx(0.5)
    assert path.sample(path.end).position == pytest.approx(tip[:3, 3] + [0.05, 0.0, 0.0])
    own = tip_path(arm, line(0.05, duration=1.0, base=TIP))        # along the axes of the frame
    assert own.sample(1.0).position == pytest.approx(tip[:3, 3] + 0.05 * tip[:3, 0])
    far = tip_path(arm, line(0.4, duration=1.0, relative=False))    # in the world
    assert far.sample(1.0).position == pytest.approx([0.4, 0.0, 0.0])
    circle = tip_path(arm, request('circle', centre=np.array([0.0, 0.1, 0.0]), duration=2.0,
                                   normal=np.array([0.0, 0.0, 1.0]), orientation=True))
    assert circle.rows == 6 and circle.sample(2.0).position == pytest.approx(tip[:3, 3])
    assert np.array_equal(circle.sample(1.0).rotation, tip[:3, :3])
    poses = np.array([[0.0, 0.0, 0.0], [0.03, 0.0, 0.0], [0.03, 0.04, 0.0]])
    way = tip_path(arm, request('poses', positions=poses, rotations=np.zeros((3, 3, 3)),
                                speed=0.1))
    assert way.end == pytest.approx(0.7)
    assert way.sample(0.3).position == pytest.approx(tip[:3, 3] + poses[1])
    timed = tip_path(arm, request('poses', positions=poses, rotations=np.zeros((3, 3, 3)),
                                  times=np.array([0.0, 1.0, 2.5])))
    assert timed.sample(1.0).position == pytest.approx(tip[:3, 3] + poses[1])


@pytest.mark.parametrize('asked, why', [
    (line(0.05), 'expected a duration in s or a speed in m/s, one of them'),
    (line(0.05, duration=1.0, speed=1.0), 'one of them, found duration 1 and speed 1'),
    (line(0.0, duration=1.0), 'a length of at least 0.001 m'),
    (line(0.05, duration=1e4), 'expected it to take 0.001 to 600 s'),
    (line(0.05, duration=1e-300), 'found 1e-300 s'),
    (request('poses', positions=np.array([[0.01, 0.0, 0.0], [0.02, 0.0, 0.0]]),
             rotations=np.zeros((2, 3, 3)), times=np.array([1.0, 1.0 + 1e-9])),
     'at least 0.001 s from one pose to the next'),
    (request(duration=1.0), 'line: expected one pose'),
    (request('poses', duration=1.0), 'at least one pose to go to'),
    (request('poses', positions=np.ones((2, 3)), rotations=np.zeros((2, 3, 3)),
             times=np.array([1.0])), 'times: expected 2, one a pose'),
    (request('poses', positions=np.ones((1, 3)), rotations=np.zeros((1, 3, 3)),
             times=np.array([0.0])), 'at time 0, is 1.73 m from where'),
    (request('circle', centre=np.ones(3), normal=np.array([0.0, 0.0, 1.0]), duration=1.0),
     'in the plane')])
def test_what_is_no_path_is_refused(arm, asked, why):
    with pytest.raises(ControlError, match=why):
        tip_path(arm, asked)


def test_a_plan_that_takes_too_long_is_given_up(arm, monkeypatch):
    monkeypatch.setattr(planner_process, 'LONGEST_PLAN', 0.2)
    process = planner_process.PlannerProcess(planner_process.Setting(
        arm, MotionLimits.of(arm.robot, arm.joint_names), 0.02))
    try:
        answer = process.plan(line(0.05, duration=500.0))
        with pytest.raises(ControlError, match='no plan was found within 0.2 s'):
            answer.result(timeout=30.0)
        assert not process.busy
        monkeypatch.setattr(planner_process, 'LONGEST_PLAN', 300.0)
        with pytest.raises(ControlError, match='line: expected one pose'):       # by a new process
            process.plan(request(duration=1.0)).result(timeout=60.0)
    finally:
        process.close()


def test_strain_of_the_outer_fibres_is_that_of_the_curvature(arm):
    fibres = FibreStrain(arm)
    q = np.zeros(arm.n)
    assert fibres.largest(q) == (0.0, '')
    q[arm.n_joints:] = 0.01
    largest, where = fibres.largest(q)
    flexible = arm.beam(where).flexible
    known = flexible.properties(np.array([0.0]))
    most = max(np.abs(arm.curvature(q, where, x)[1:]).sum()
               for x in np.linspace(0.0, flexible.length, 21))
    assert 0.0 < largest <= most * max(float(known.half_y[0]), float(known.half_z[0])) * 1.0001
