"""Recordings that cannot be: bad paths end the start, a full disk ends the recording alone."""
import resource
import signal
import subprocess
import threading
import time

import pytest
from graph import Listener
from rosbags.highlevel import AnyReader
from simulation_interfaces.msg import Result, SimulationState
from simulation_interfaces.srv import SetSimulationState

SIMULATOR = ['ros2', 'run', 'flex_dynamics', 'simulator', '--ros-args', '-p', 'robot:=lab_link',
             '-p', 'wait_for_command:=false', '-p', 'rate:=500.0', '-p', 'step:=0.002']


class Simulator:
    """A simulator alone, whose lines are read as they come."""

    def __init__(self, *parameters, largest_file=None):
        words = [word for parameter in parameters for word in ('-p', parameter)]
        limit = None
        if largest_file is not None:
            def limit():
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
        self.process = subprocess.Popen(
            [*SIMULATOR, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            start_new_session=True, preexec_fn=limit)
        self.lines = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line)

    def wait_for(self, text, patience=120.0, pause=0.05):
        end = time.monotonic() + patience
        while not any(text in line for line in self.lines):
            assert time.monotonic() < end, (text, self.lines)
            assert self.process.poll() is None, self.lines
            time.sleep(pause)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(60.0)
        self._reader.join(10.0)
        return code


def test_a_full_disk_ends_the_recording_and_nothing_else(tmp_path):
    simulator = Simulator(f'record:={tmp_path / "bag"}', largest_file=400_000)
    try:
        simulator.wait_for('lab_link:')
        simulator.wait_for('ended after')
        line, = [line for line in simulator.lines if 'ERROR' in line]
        assert f'recording to {tmp_path / "bag"} ended after' in line and 'messages' in line
        time.sleep(1.0)
        assert simulator.process.poll() is None
    finally:
        code = simulator.end()
    assert code == 0, simulator.lines
    assert sum('ERROR' in line for line in simulator.lines) == 1
    assert not any('Traceback' in line for line in simulator.lines), simulator.lines


def test_a_recording_from_the_start_to_sigint_in_sqlite3(tmp_path):
    simulator = Simulator(f'record:={tmp_path / "bag"}', 'record_storage:=sqlite3')
    simulator.wait_for('recording to')
    time.sleep(2.0)
    assert simulator.end() == 0, simulator.lines
    with AnyReader([tmp_path / 'bag']) as bag:
        counts = {c.topic: c.msgcount for c in bag.connections}
        assert counts['/flex_state'] == counts['/joint_states'] > 10
        first = next(iter(bag.messages([c for c in bag.connections if c.topic == '/flex_state'])))
        assert bag.deserialize(first[2], first[0].msgtype).header.stamp.nanosec == 0
    assert any('messages recorded to' in line for line in simulator.lines)


def test_a_signal_right_after_the_start_leaves_a_whole_recording(tmp_path):
    simulator = Simulator(f'record:={tmp_path / "bag"}')
    simulator.wait_for('recording to', pause=0.0)
    assert simulator.end() == 0, simulator.lines
    with AnyReader([tmp_path / 'bag']) as bag:
        counts = {c.topic: c.msgcount for c in bag.connections}
    assert counts['/flex_state'] == counts['/joint_states'] >= 1
    assert not any('Traceback' in line for line in simulator.lines), simulator.lines


def test_quitting_by_service_finishes_the_recording(tmp_path):
    simulator = Simulator(f'record:={tmp_path / "bag"}')
    simulator.wait_for('lab_link:')
    listener = Listener()
    try:
        answer = listener.call(SetSimulationState, 'simulator/set_simulation_state',
                               SetSimulationState.Request(state=SimulationState(
                                   state=SimulationState.STATE_QUITTING)))
    finally:
        listener.close()
    assert answer.result.result == Result.RESULT_OK
    assert simulator.process.wait(60.0) == 0, simulator.lines
    assert not any('Traceback' in line or 'rror' in line for line in simulator.lines)
    with AnyReader([tmp_path / 'bag']) as bag:
        assert bag.message_count > 0


@pytest.mark.parametrize('path', ['/dev/null/bag', '~nosuchuser/x'])
def test_a_bad_path_ends_the_start_in_one_line(path):
    done = subprocess.run([*SIMULATOR, '-p', f'record:={path}'], capture_output=True,
                          text=True, timeout=180)
    assert done.returncode == 1
    line, = [line for line in done.stderr.splitlines() if 'error' in line]
    assert f'parameter record: cannot record to {path}' in line, done.stderr
    assert 'Traceback' not in done.stderr, done.stderr
