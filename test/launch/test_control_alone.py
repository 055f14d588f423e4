"""The control node alone, fed by the test: each fail-safe, terms of both sources, bad input."""
from __future__ import annotations

import numpy as np
import pytest
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_bench import A_WHILE, MODEL, Bench, stamp
from control_msgs.action import FollowJointTrajectory
from foreign_package import ForeignPackage
from rclpy.action import ActionClient
from rclpy.parameter import Parameter
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

WEIGHT = """
from flex_control import Controller


class Weight(Controller):
    '''The joint's weight, from the terms.'''
    needs_terms = True

    def update(self, time, period):
        return self.terms.g[:1] + self.terms.M[0, :1]
"""


@pytest.fixture
def bench(request):
    package = ForeignPackage('weight_control', WEIGHT, {'weight': 'Weight'})
    made = Bench(controller='weight', **request.param)
    yield made
    made.close()
    package.remove()


FREE = {'input_timeout': 0.1, 'recovery_time': 0.05, 'state_timeout': 3.0}   # s; the last: wall


def start(bench):
    """The first command: it waits for terms, and is the law's."""
    assert not bench.state(1.0, expected=False) and 'waiting: no dynamics_terms' in bench.status()
    bench.terms(1.0)
    assert bench.state(1.0) and bench.status() == 'running'
    terms = MODEL.terms(bench.q, np.zeros(MODEL.n))
    assert np.isclose(bench.effort, terms.g[0] + terms.M[0, 0])


@pytest.mark.parametrize('bench', [{'fail_safe': 'zero', **FREE}], indirect=True)
def test_zero_lets_go_where_the_joint_is(bench):
    start(bench)
    assert bench.state(1.09) and bench.effort != 0.0          # the newest terms are young enough
    assert bench.state(1.2) and bench.effort == 0.0
    assert bench.status().startswith('fail-safe (zero): no dynamics_terms for more than 0.1 s')
    assert bench.commands[-1].position[0] == bench.q[0]
    bench.terms(1.2)
    assert bench.state(1.21) and bench.effort == 0.0          # hysteresis: they may go again
    assert bench.state(1.26) and bench.effort != 0.0 and bench.status() == 'running'
    before = len(bench.commands)
    assert bench.until(lambda: len(bench.commands) > before + 1)      # no states any more
    assert bench.effort == 0.0 and bench.status().startswith('fail-safe (zero): no state for')


@pytest.mark.parametrize('bench', [{'fail_safe': 'none', **FREE}], indirect=True)
def test_none_is_silent(bench):
    start(bench)
    assert not bench.state(1.2, expected=False)
    assert bench.status().startswith('fail-safe (none): no dynamics_terms')
    before = len(bench.commands)
    assert not bench.until(lambda: len(bench.commands) > before, A_WHILE)
    bench.terms(1.3)
    assert not bench.state(1.3, expected=False)
    assert bench.state(1.35) and bench.status() == 'running'
    assert bench.control._status()[2]['times the fail-safe acted'] == 1


@pytest.mark.parametrize('bench', [{'fail_safe': 'hold', **FREE}], indirect=True)
def test_hold_carries_the_arm_where_it_was_seen_last(bench):
    start(bench)
    assert bench.state(1.2) and bench.status().startswith('fail-safe (hold)')
    last = bench.effort
    assert np.isclose(last, MODEL.terms(bench.q, np.zeros(MODEL.n)).M[0, 0] + MODEL.terms(
        bench.q, np.zeros(MODEL.n)).g[0])                     # no jump at first
    for tick in range(30):
        assert bench.state(1.21 + 0.01 * tick)
    assert np.isclose(bench.effort, MODEL.statics([0.4])[1][0], rtol=1e-6)
    before = len(bench.commands)
    assert bench.until(lambda: len(bench.commands) > before + 1)
    assert np.isclose(bench.effort, MODEL.statics([0.4])[1][0], rtol=1e-6)
    assert bench.commands[-1].velocity[0] == 0.0


@pytest.mark.parametrize('bench', [{'use_sim_time': True, 'input_patience': 1e3, **FREE}],
                         indirect=True)
def test_a_simulated_robot_waits_for_late_terms(bench):
    start(bench)
    assert not bench.state(1.2, expected=False)        # simulated time waits for the command
    bench.terms(1.2)
    assert bench.until(lambda: bench.commands[-1].header.stamp == stamp(1.2))
    assert bench.status() == 'running'
    assert bench.control._status()[2]['times the fail-safe acted'] == 0


@pytest.mark.parametrize('bench', [{'fail_safe': 'hold', **FREE}], indirect=True)
def test_terms_that_come_and_go_do_not_make_the_fail_safe_flap(bench):
    start(bench)
    for tick in range(10, 40):                # two states with terms of 0.1 s or less, two without
        if tick % 4 == 0:
            bench.terms(1.0 + 0.01 * tick)
        assert bench.state(1.09 + 0.01 * tick)
    assert bench.control._status()[2]['times the fail-safe acted'] == 1


@pytest.mark.parametrize('bench', [{'sync': 'lockstep', 'terms_rate': 0.0}], indirect=True)
def test_lockstep_waits_for_the_terms_of_the_state(bench):
    start(bench)
    assert not bench.state(1.01, expected=False)
    bench.terms(1.0, factor=5.0)                              # of another stamp
    assert not bench.state(1.01, expected=False)
    assert 'no dynamics_terms for the state at 1.0100 s' in bench.status()
    bench.terms(1.01, factor=2.0)
    assert bench.until(lambda: bench.commands[-1].header.stamp == stamp(1.01))
    terms = MODEL.terms(bench.q, np.zeros(MODEL.n))
    assert np.isclose(bench.effort, 2.0 * terms.g[0] + terms.M[0, 0])


@pytest.mark.parametrize('bench', [{'sync': 'lockstep', 'terms_source': 'model',
                                    'state_timeout': 0.2}], indirect=True)
def test_lockstep_waits_for_states_as_long_as_it_takes(bench):
    """A simulator that is held up loses nothing: no fail-safe, no other motion after it."""
    assert bench.state(1.0)
    before = len(bench.commands)
    assert bench.until(lambda: bench.status().startswith('no state for'))
    assert not bench.until(lambda: len(bench.commands) > before, A_WHILE)
    assert bench.until(lambda: 'time stands still' in bench.status())
    assert bench.state(1.01) and bench.status() == 'running'
    assert bench.control.loop.controller is bench.control._wanted


@pytest.mark.parametrize('bench', [{'terms_source': 'model'}], indirect=True)
def test_the_own_model_needs_no_topic(bench):
    assert bench.state(1.0)
    terms = MODEL.terms(bench.q, np.zeros(MODEL.n))
    assert np.isclose(bench.effort, terms.g[0] + terms.M[0, 0])


@pytest.mark.parametrize('bench', [{'terms_source': 'model'}], indirect=True)
def test_a_goal_waits_for_the_first_state(bench):
    """An action server is there before the robot is."""
    client = ActionClient(bench.node, FollowJointTrajectory, 'control/follow_joint_trajectory')
    point = JointTrajectoryPoint(positions=[0.5], time_from_start=Duration(sec=1))
    sent = []
    try:
        assert bench.until(client.server_is_ready)
        for _ in range(2):
            sent.append(client.send_goal_async(FollowJointTrajectory.Goal(
                trajectory=JointTrajectory(joint_names=['joint1'], points=[point]))))
            assert bench.until(sent[-1].done)
        results = [one.result().get_result_async() for one in sent]
        assert bench.until(results[0].done) and not results[1].done()
        assert 'another motion took its place' in results[0].result().result.error_string
        bench.q = MODEL.statics([0.5])[0]
        assert bench.state(1.0) and bench.commands[-1].position[0] == 0.5
        for tick in range(1, 22):
            assert bench.state(1.0 + 0.05 * tick)
        assert bench.until(results[1].done)
        assert results[1].result().status == GoalStatus.STATUS_SUCCEEDED
    finally:
        client.destroy()


@pytest.mark.parametrize('bench', [FREE], indirect=True)
def test_bad_terms_go_no_further(bench):
    for changes in ({'gravity': [float('nan')] * MODEL.n}, {'mass': [1.0]},
                    {'name': ['elbow'] * MODEL.n}, {'joint_count': 2}):
        bench.terms(1.0, **changes)
        assert not bench.state(1.0, expected=False)
    assert bench.control._inputs.rejected == 4
    start(bench)


@pytest.mark.parametrize('bench', [{'terms_source': 'model'}], indirect=True)
@pytest.mark.parametrize('bad, reason', [
    (Parameter('shaper', value='zvx'), "parameter shaper: expected one of none, zv, zvd, zvdd, "
     "ei, found 'zvx'"),
    (Parameter('pid.kp', value=[1.0, 2.0]), 'pid.kp: expected 1 or 1 numbers (one a joint), '
     'found 2'),
])
def test_a_refused_set_of_parameters_changes_no_controller(bench, bad, reason):
    """Neither the gains of one that is built nor those of one that would have been built."""
    control = bench.control
    assert bench.state(1.0)
    running, fallback = control.loop.controller, control._controllers.get('pd')
    before = fallback.parameters['kp'].copy()
    good = [Parameter('pd.kp', value=[5.0]), Parameter('pid.ki', value=[7.0]),
            Parameter('controller', value='pid')]
    result = control.set_parameters_atomically([*good, bad])
    assert not result.successful and result.reason == reason
    assert control.get_parameter('controller').value == 'weight'
    assert np.array_equal(fallback.parameters['kp'], before)
    assert 'pid' not in control._controllers._built
    assert bench.state(1.01) and control.loop.controller is running
    assert control.set_parameters_atomically(good).successful
    assert bench.state(1.02) and bench.state(1.03)
    assert control.loop.controller.parameters['ki'] == 7.0
    assert fallback.parameters['kp'] == 5.0
