"""A control node inside the simulator process: the same motion to the last bit."""
import subprocess
from pathlib import Path

import numpy as np
import pytest
from ament_index_python.packages import get_package_share_directory
from control_msgs.msg import JointTrajectoryControllerState
from graph import Listener, seconds
from processes import end
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Result, SimulationState
from simulation_interfaces.srv import ResetSimulation, SetSimulationState

from flex_msgs.msg import FlexState

DURATION = 600      # ms; the first step of the set-points is in it
PARAMS = Path(get_package_share_directory('flex_bringup'), 'config', 'cibicik_manoeuvre.yaml')


@pytest.fixture
def listener():
    made = Listener()
    made.listen(FlexState, 'flex_state', 5000)
    made.listen(JointTrajectoryControllerState, 'control/controller_state', 5000)
    yield made
    made.close()


@pytest.fixture
def launch(listener):
    """Starts the manoeuvre, paused; ends it with the test."""
    started = []

    def begin(**arguments):
        words = [f'{name}:={value}' for name, value in arguments.items()]
        started.append(subprocess.Popen(
            ['ros2', 'launch', 'flex_bringup', 'sim.launch.py', f'params_file:={PARAMS}',
             'controller:=pd',
             'sync:=lockstep', 'paused:=true', 'headless:=true', *words],
            start_new_session=True))
        listener.until(lambda: listener.heard['flex_state'], 'a first state')
        return started[-1]

    yield begin
    for process in started:
        end(process)


def play(listener, state=SimulationState.STATE_PLAYING):
    answer = listener.call(SetSimulationState, 'simulator/set_simulation_state',
                           SetSimulationState.Request(state=SimulationState(state=state)))
    assert answer.result.result == Result.RESULT_OK, answer


def run(listener, launch, **arguments):
    """States by their stamp (ms) up to DURATION."""
    process = launch(**arguments)
    play(listener)
    heard = listener.heard['flex_state']
    listener.until(lambda: 1e3 * seconds(heard[-1].header.stamp) > DURATION, 'the end')
    assert end(process) == 0
    states = {round(1e3 * seconds(one.header.stamp)): np.array([one.position, one.velocity])
              for one in heard}
    heard.clear()
    return {at: state for at, state in states.items() if at <= DURATION}


def test_the_motion_is_that_of_two_processes_to_the_last_bit(listener, launch):
    """By the controller that needs most: encoders, gauges and IMU, drives and the step's way."""
    apart = run(listener, launch, in_process='false', controller='lqg')
    within = run(listener, launch, in_process='true', controller='lqg')
    # Of 301 and 61 states; a listener that is held up for long may lose some.
    both = sorted(apart.keys() & within.keys())
    assert len(apart) <= 301 and 30 < len(both) <= len(within) <= 61, (len(apart), len(within))
    for at in both:
        assert within[at].tobytes() == apart[at].tobytes(), at
    assert max(np.abs(within[at][1]).max() for at in both) > 0.1       # and it did move


def test_it_can_be_paused_reset_and_is_driven_by_nobody_else(listener, launch):
    launch(in_process='true', sync='free')
    states = listener.heard['flex_state']
    play(listener)
    listener.until(lambda: seconds(states[-1].header.stamp) > 0.5, 'motion')
    stranger = listener.node.create_publisher(JointState, 'joint_commands', 10)
    listener.until(stranger.get_subscription_count, 'the simulator')
    stranger.publish(JointState(name=['joint1'], effort=[1e4]))
    reports = listener.heard['control/controller_state']
    listener.until(lambda: reports, 'a report of the controller')
    play(listener, SimulationState.STATE_PAUSED)
    listener.spin(1.5)           # longer than the control node waits for a state
    listener.still('flex_state')
    before = len(reports)        # the first state of the new run is answered while it is paused
    listener.call(ResetSimulation, 'simulator/reset_simulation', ResetSimulation.Request())
    listener.until(lambda: seconds(states[-1].header.stamp) == 0.0, 'time zero')
    play(listener)
    listener.until(lambda: len(reports) > before + 3, 'reports of the new run')
    efforts = np.array([report.output.effort for report in reports[before:]])
    assert np.isfinite(efforts).all() and seconds(reports[before].header.stamp) == 0.0
    found = np.array(states[-1].position[:4])
    assert np.isfinite(found).all() and np.abs(found).max() < 3.0
