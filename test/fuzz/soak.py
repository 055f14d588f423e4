"""Runs the whole graph for a while under garbage on every topic, service and action.

    python3 test/fuzz/soak.py --minutes 2 --seed 1

Simulator (free running), dynamics, control, observer, state publisher, markers and viewer are
processes of their own. Each of their inputs gets mutated messages through the middleware, `--rate`
a second. At the end every node must be alive and report on /diagnostics, and its memory must be
flat.

What flat means. Two quantities of each node are sampled every 5 s (memory_growth.py):

- Resident pages, which a user sees. They hold free blocks between those in use, and drift by
  megabytes in an hour though nothing is lost. From SETTLED of the time on they may grow by GROWTH:
  that finds large leaks only, 0.3 kB a message and more in an hour.
- Bytes in use, which malloc has given out and not got back, after a collection of Python's garbage
  and with the objects of Python in them. They do not see fragmentation, and repeat to some kB.
  From SETTLED of the time on they may grow by GROWTH too; and over the second half, if that is
  long enough to tell, by LEAK for each message to one input, more than the witness. That is the
  test for leaks. It cannot tell a leak below LEAK from a bounded store that is still being filled.

The nodes have bounded stores, which fill at first: a buffer of Fast DDS for each message that the
queue of a reader or writer can hold, which stays as long as the longest message that was ever in
it; 1000 lines of /rosout for late readers; the results of goals for 60 s. The soak therefore
begins with bursts of the longest garbage to every input. `--release-buffers` has Fast DDS free
each buffer when its message is done, so that what grows is the node's own. It changes the
middleware only, not the nodes.

Requests wait in the queue of their service, 1000 at the most, each with its bytes: a node that the
machine holds up keeps megabytes there, which are no leak. So every ROUND the garbage pauses until
each node has answered a request that came after it. Bytes in use count in these pauses only.

SIGINT and SIGTERM end a run early, with its table.

The witness (probe/soak_witness.py) is a bare node of rclpy under the same messages that keeps
nothing: what grows there, the middleware keeps.

So that the measure is true, the nodes run with PYTHONMALLOC=malloc and without the caches that
glibc has for each thread; that takes a few per cent of time, and needs glibc 2.33 or newer.
"""
from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from control_msgs.action import FollowJointTrajectory
from control_msgs.srv import QueryTrajectoryState
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from memory_growth import (
    SETTLED,
    Sizes,
    at_shares,
    growth,
    in_use,
    probed_environment,
    resident,
    steady_growth,
    within,
)
from message_mutations import Mutator, longest
from rcl_interfaces.srv import SetParameters
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.signals import SignalHandlerOptions
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from simulation_interfaces.msg import SimulationState
from simulation_interfaces.srv import ResetSimulation, SetSimulationState, StepSimulation
from trajectory_msgs.msg import JointTrajectory
from valid_messages import ValidMessages

from flex_description import load_robot
from flex_dynamics import Model
from flex_msgs.action import FollowTipPath
from flex_msgs.msg import DynamicsTerms, FlexState, StrainGauges
from flex_msgs.srv import ApplyWrench, AttachPayload, DetachPayload, GetDynamics, PlanTip

ROBOT = 'lab_link'
SIMULATED = 'use_sim_time:=true'
NODES = {      # module and parameters
    'simulator': ('flex_dynamics.nodes.simulator', (
        'rate:=100.0', 'step:=0.002', 'thread_priority:=0')),
    'dynamics': ('flex_dynamics.nodes.dynamics', ('rate:=20.0', SIMULATED)),
    'control': ('flex_control.nodes.control', (
        'controller:=feedback_linearization', 'drive_node:=simulator', SIMULATED)),
    # One that reads the sensors; its commands reach nobody.
    'estimating': ('flex_control.nodes.control', ('controller:=lqg', SIMULATED)),
    # One whose estimates reach nobody.
    'observer': ('flex_control.nodes.observer.node', ('rate:=100.0', SIMULATED)),
    'state_publisher': ('flex_viz.nodes.state_publisher', (SIMULATED,)),
    'markers': ('flex_viz.nodes.markers', ('rate:=10.0', SIMULATED)),
    'viewer': ('flex_viz.nodes.viewer', ('rate:=10.0', 'port:=18080', SIMULATED)),
    'witness': ('soak_witness', (SIMULATED,)),
}
REMAPPED = {'estimating': ('joint_commands:=other_commands',),
            'observer': ('flex_state:=observed_state',)}
TOPICS = {
    'joint_commands': JointState, 'external_wrench': WrenchStamped, 'flex_state': FlexState,
    'joint_states': JointState, 'dynamics_terms': DynamicsTerms, 'strain_gauges': StrainGauges,
    'imu/tip_imu': Imu, 'applied_wrench': WrenchStamped, 'clock': Clock,
    'control/joint_trajectory': JointTrajectory,
}
SERVICES = {
    'simulator/apply_wrench': ApplyWrench, 'simulator/attach_payload': AttachPayload,
    'simulator/detach_payload': DetachPayload, 'simulator/reset_simulation': ResetSimulation,
    'simulator/set_simulation_state': SetSimulationState,
    'simulator/step_simulation': StepSimulation,
    'dynamics/get_dynamics': GetDynamics, 'control/query_state': QueryTrajectoryState,
    'control/plan_tip': PlanTip,
    **{f'{name}/set_parameters': SetParameters for name in NODES},
}
# Buffers as long as their message, freed after it. Data sharing and synchronous publishing, which
# rmw_fastrtps switches off unless it takes these settings from a file, stay off.
RELEASED = """<?xml version="1.0" encoding="UTF-8"?>
<profiles xmlns="http://www.eprosima.com/XMLSchemas/fastRTPS_Profiles">
  <data_writer profile_name="writer" is_default_profile="true">
    <qos>
      <publishMode><kind>ASYNCHRONOUS</kind></publishMode>
      <data_sharing><kind>OFF</kind></data_sharing>
    </qos>
    <historyMemoryPolicy>DYNAMIC</historyMemoryPolicy>
  </data_writer>
  <data_reader profile_name="reader" is_default_profile="true">
    <qos><data_sharing><kind>OFF</kind></data_sharing></qos>
    <historyMemoryPolicy>DYNAMIC</historyMemoryPolicy>
  </data_reader>
</profiles>
"""
QUIT = SimulationState.STATE_QUITTING      # it ends the simulator, as it should
GOALS = {'follow_joint_trajectory': FollowJointTrajectory, 'follow_tip_path': FollowTipPath}
PROGRESS = 300.0       # s between two lines about it
SAMPLE = 5.0           # s between two looks at the memory
GROWTH = 8.0           # MB that a node may grow once settled, for caches and fragmentation
# Bytes a message to one input that a node may grow in the second half, more than the witness.
# In a month of garbage at 10 messages a second that would be 0.5 GB.
LEAK = 20.0
ROUND = 60.0           # s of garbage between two pauses
QUIET = 6.0            # s of a pause, once all nodes have answered
PERIOD = 2.0           # s between two samples of the bytes in use
WITNESS = 'witness'
BURST = 15             # messages, more than the queue of any input holds
BURSTS = 3
TRIES = 100            # drawings of a message that can be sent
PAUSE = 1.0            # s between two bursts, which are to one input each
LATEST = 2**30 * 10**9  # ns, of the stamps of valid messages
SIGNALS = signal.SIGINT, signal.SIGTERM
came: list[int] = []   # numbers of signals that end the run
SILENT = 30.0          # s without a status after which a node counts as hung


class Graph:
    """The processes of the nodes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.logs = {name: folder / f'{name}.log' for name in NODES}
        self.processes = {name: self._start(name) for name in NODES}
        self.sizes: dict[str, Sizes] = {name: [] for name in NODES}
        self.began = 0.0        # s, monotonic, of the garbage
        self.pauses: list[tuple[float, float]] = []      # s, monotonic

    def _start(self, name: str) -> subprocess.Popen:
        module, parameters = NODES[name]
        words = [part for one in (f'robot:={ROBOT}', *parameters) for part in ('-p', one)]
        for one in (f'__node:={name}', *REMAPPED.get(name, ())):
            words += ['-r', one]
        with self.logs[name].open('w') as log:
            return subprocess.Popen([sys.executable, '-m', module, '--ros-args', *words],
                                    stdout=log, stderr=log, start_new_session=True,
                                    env={**probed_environment(self._folder),
                                         'SOAK_PERIOD': str(PERIOD)})

    def dead(self) -> list[str]:
        """Names of the nodes that have ended."""
        return [name for name, process in self.processes.items() if process.poll() is not None]

    def measure(self) -> None:
        for name, process in self.processes.items():
            self.sizes[name].append((time.monotonic() - self.began, resident(process.pid)))

    def in_use(self, name: str) -> Sizes:
        """Time (s) and bytes in use (MB) in the pauses since the garbage began."""
        return within(in_use(self._probed(name), self.began),
                      [(begin - self.began, end - self.began) for begin, end in self.pauses])

    def _probed(self, name: str) -> Path:
        return self._folder / str(self.processes[name].pid)

    def end(self) -> None:
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        for process in self.processes.values():
            try:
                process.wait(20.0)
            except subprocess.TimeoutExpired:
                process.kill()


class Garbage(Node):
    """Sends mutated messages, and listens to /diagnostics."""

    def __init__(self, seed: int, rate: float) -> None:
        super().__init__('garbage')
        self._mutator = Mutator([seed])
        self._messages = ValidMessages(Model(load_robot(ROBOT)))
        quality = QoSProfile(depth=10)
        self._told = {name: (self.create_publisher(kind, name, quality), self._message_of(kind))
                        for name, kind in TOPICS.items()}
        self._asked = {name: (self.create_client(kind, name), self._request_of(kind))
                          for name, kind in SERVICES.items()}
        for action, kind in GOALS.items():
            name, service = f'control/{action}/_action/send_goal', kind.Impl.SendGoalService
            self._asked[name] = self.create_client(service, name), partial(self._goal, kind)
        self.sent = dict.fromkeys((*self._told, *self._asked), 0)
        self.statuses: dict[str, tuple[float, DiagnosticStatus]] = {}
        self.repairs = self.unsent = 0
        self._futures: dict[Any, list[Any]] = {}
        self._time = 0
        self.create_subscription(DiagnosticArray, '/diagnostics', self._keep, 10)
        self.create_subscription(FlexState, 'flex_state', self._see, 1)
        self._reset = self.create_client(ResetSimulation, 'simulator/reset_simulation')
        self._play = self.create_client(SetSimulationState, 'simulator/set_simulation_state')
        self._rate, self._rounds, self._began, self._paused = rate, 0, 0.0, 0.0

    def burst(self, name: str) -> None:
        """Fill the queues of an input with long messages, faster than they can be read."""
        if name in self._told:
            publisher, valid = self._told[name]
            data = max((longest(valid(self._mutator.rng)) for _ in range(8)), key=len)
            for _ in range(BURST):
                publisher.publish(data)
            return
        client, valid = self._asked[name]
        data = max((longest(valid(self._mutator.rng)) for _ in range(8)), key=len)
        request = deserialize_message(data, client.srv_type.Request)
        if not quits(request):
            for _ in range(BURST):
                client.remove_pending_request(client.call_async(request))

    def begin(self) -> None:
        self._began = time.monotonic()
        self._timer = self.create_timer(1.0 / self._rate, self._send)
        self.create_timer(1.0, self._repair)

    def pause(self) -> list[Any]:
        """Send no garbage; answers that come when a node has done with what came before."""
        self._timer.cancel()
        self._paused = time.monotonic()
        return [self._asked[f'{name}/set_parameters'][0].call_async(SetParameters.Request())
                for name in NODES]

    def go_on(self) -> None:
        self._began += time.monotonic() - self._paused
        self._timer.reset()

    def unread(self) -> list[str]:
        """Inputs that no node reads."""
        return [*(name for name, (publisher, _) in self._told.items()
                  if not publisher.get_subscription_count()),
                *(name for name, (client, _) in self._asked.items()
                  if not client.service_is_ready())]

    def _message_of(self, kind: Any) -> Any:
        return lambda rng: self._messages.make(kind, self._time, rng)

    def _request_of(self, service: Any) -> Any:
        return lambda rng: self._messages.request(service, rng)

    def _goal(self, kind: Any, rng: np.random.Generator) -> Any:
        request = kind.Impl.SendGoalService.Request()
        request.goal = self._messages.make(kind.Goal, self._time, rng)
        request.goal_id.uuid = rng.integers(0, 256, 16).astype(np.uint8)
        return request

    def _send(self) -> None:
        """A message to every input; two if the timer, which skips what it misses, is behind."""
        for _ in range(2):
            if self._rounds < self._rate * (time.monotonic() - self._began):
                self._rounds += 1
                self._send_round()

    def _send_round(self) -> None:
        for name, (publisher, valid) in self._told.items():
            self._until_sent(name, self._tell, publisher, valid)
        for name, (client, valid) in self._asked.items():
            self._until_sent(name, self._ask, client, valid)

    def _until_sent(self, name: str, send: Callable[..., None], *arguments: Any) -> None:
        """Draw until there is a message that can be sent: one of a type of fixed size must not be
        longer than that, and of requests clients send what can be decoded only."""
        for _ in range(TRIES):
            try:
                send(*arguments)
            except RuntimeError:
                self.unsent += 1
            else:
                self.sent[name] += 1
                return

    def _tell(self, publisher: Any, valid: Any) -> None:
        publisher.publish(self._mutator.message(valid(self._mutator.rng)))

    def _ask(self, client: Any, valid: Any) -> None:
        request = deserialize_message(self._mutator.message(valid(self._mutator.rng)),
                                      client.srv_type.Request)
        if quits(request):
            raise RuntimeError('it ends the simulator')
        for future in self._futures.pop(client, []):
            client.remove_pending_request(future)
        self._futures[client] = [client.call_async(request)]

    def _see(self, state: FlexState) -> None:
        # This node's own garbage comes back here too: with room below the largest stamp.
        stamp_ns = state.header.stamp.sec * 10**9 + state.header.stamp.nanosec
        self._time = min(max(0, stamp_ns), LATEST)

    def _keep(self, message: DiagnosticArray) -> None:
        for status in message.status:
            self.statuses[status.name.partition(':')[0]] = time.monotonic(), status

    def _repair(self) -> None:
        """A simulator that was pushed beyond all bounds, or paused, goes on."""
        _, status = self.statuses.get('simulator', (0.0, None))
        if status is not None and (status.level == DiagnosticStatus.ERROR
                                   or status.message == 'paused'):
            self.repairs += 1
            self._reset.call_async(ResetSimulation.Request())
            self._play.call_async(SetSimulationState.Request(
                state=SimulationState(state=SimulationState.STATE_PLAYING)))


def quits(request: Any) -> bool:
    return isinstance(request, SetSimulationState.Request) and request.state.state == QUIT


def report(graph: Graph, garbage: Garbage, seconds: float) -> list[str]:
    """Print what happened; the problems."""
    problems = [f'{name} ended with code {graph.processes[name].returncode}: '
                f'{graph.logs[name].read_text()[-500:]}' for name in graph.dead()]
    counts = list(garbage.sent.values())
    rate = max(min(counts), 1) / seconds
    witness = 2**20 * steady_growth(graph.in_use(WITNESS)) / rate
    print(f'{seconds:.0f} s, {sum(counts)} messages to {len(counts)} inputs, at least '
          f'{min(counts)} to each ({rate:.2f} a second); the simulator was reset '
          f'{garbage.repairs} times')
    print(f'MB at first, {SETTLED:.0%}, 50%, 75%, 100% of the time; MB grown from {SETTLED:.0%} '
          'on; bytes a message in the second half')
    for name in NODES:
        heard, status = garbage.statuses.get(name, (0.0, DiagnosticStatus()))
        values = {one.key: one.value for one in status.values}
        print(f'{name}: {values.get("undecodable messages", "?")} undecodable messages')
        for what, sizes in (('resident', graph.sizes[name]), ('in use', graph.in_use(name))):
            if not sizes:
                problems.append(f'{name} has not told how much memory is {what}')
                continue
            grown, lost = growth(sizes), 2**20 * steady_growth(sizes) / rate
            print(f'  {what:8} {sizes[0][1]:8.2f} {at_shares(sizes)} {grown:7.3f} {lost:7.1f}')
            if what == 'in use' and name != WITNESS and lost > LEAK + max(witness, 0.0):
                problems.append(f'{name}: bytes in use grew by {lost:.0f} for each message to one '
                                f'input in the second half, those of the witness by {witness:.0f};'
                                f' {LEAK:.0f} more would be flat')
            if grown > GROWTH:
                problems.append(f'{name}: {what} memory grew by {grown:.1f} MB')
        if time.monotonic() - heard > SILENT:
            problems.append(f'{name} has been silent on /diagnostics for '
                            f'{time.monotonic() - heard:.0f} s')
    return problems


def over(graph: Graph) -> bool:
    """Whether a node has ended, or the run was told to."""
    return bool(came or graph.dead())


def end(number: int, *_: object) -> None:
    """The run ends with its table; the process at once if it is told again."""
    came.append(number)
    signal.signal(number, signal.SIG_DFL)


def be_quiet(graph: Graph, garbage: Garbage, executor: Any) -> tuple[float, float]:
    """Pause; from when to when (s, monotonic) the nodes had nothing left to do but their work."""
    answers = garbage.pause()
    patience = time.monotonic() + SILENT
    while (not all(answer.done() for answer in answers) and time.monotonic() < patience
           and not over(graph)):
        executor.spin_once(timeout_sec=0.1)
    begin = time.monotonic()
    while time.monotonic() < begin + QUIET and not over(graph):
        executor.spin_once(timeout_sec=0.1)
    garbage.go_on()
    return begin, time.monotonic()


def release_buffers(file: Path) -> None:
    """Have Fast DDS read RELEASED, here and in the nodes, and talk by UDP as nodes do by
    themselves."""
    file.write_text(RELEASED)
    os.environ.update(FASTRTPS_DEFAULT_PROFILES_FILE=str(file),
                      FASTDDS_DEFAULT_PROFILES_FILE=str(file),
                      RMW_FASTRTPS_USE_QOS_FROM_XML='1', FASTDDS_BUILTIN_TRANSPORTS='UDPv4')


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--minutes', type=float, default=2.0, help='how long')
    parser.add_argument('--rate', type=float, default=10.0, help='messages a second and input')
    parser.add_argument('--seed', type=int, default=0, help='of the messages')
    parser.add_argument('--keep', default='', help='folder for the logs; else they are removed')
    parser.add_argument('--release-buffers', action='store_true',
                        help='Fast DDS frees the buffer of each message')
    given = parser.parse_args(words)
    os.environ.setdefault('ROS_DOMAIN_ID', str(random.randrange(1, 101)))
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    with tempfile.TemporaryDirectory() as folder:
        place = Path(given.keep or folder)
        place.mkdir(parents=True, exist_ok=True)
        if given.release_buffers:
            release_buffers(Path(folder, 'buffers.xml'))
        os.chdir(folder)                     # recordings that are asked for go here
        graph = Graph(place.absolute())
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        for number in SIGNALS:
            signal.signal(number, end)
        garbage = Garbage(given.seed, given.rate)
        try:
            problems = run(graph, garbage, 60.0 * given.minutes)
        finally:
            graph.end()
        os.chdir('/')
    for problem in problems:
        print(f'problem: {problem}')
    if came:
        print(f'ended early by signal {came[0]}')
        return 128 + came[0]
    print('all nodes alive, memory flat' if not problems else f'{len(problems)} problems')
    return 1 if problems else 0


def run(graph: Graph, garbage: Garbage, seconds: float) -> list[str]:
    """Garbage for so long, once every node has reported; the problems."""
    executor = rclpy.executors.SingleThreadedExecutor()
    executor.add_node(garbage)
    patience = time.monotonic() + 180.0
    while (len(garbage.statuses) < len(NODES) or garbage.unread()) and not over(graph):
        executor.spin_once(timeout_sec=0.1)
        if time.monotonic() > patience:
            return [f'within 180 s no status of {sorted(set(NODES) - set(garbage.statuses))}, '
                    f'nobody reads {garbage.unread()}']
    for name in list(garbage.sent) * BURSTS:
        garbage.burst(name)
        pause = time.monotonic() + PAUSE
        while time.monotonic() < pause and not over(graph):
            executor.spin_once(timeout_sec=0.1)
    garbage.begin()
    began = graph.began = look = told = time.monotonic()
    pause = began + ROUND
    while time.monotonic() - began < seconds and not over(graph):
        executor.spin_once(timeout_sec=0.1)
        if time.monotonic() >= pause:
            graph.pauses.append(be_quiet(graph, garbage, executor))
            pause = time.monotonic() + ROUND
        if time.monotonic() >= look:
            look += SAMPLE
            graph.measure()
        if time.monotonic() >= told:
            told += PROGRESS
            sizes = ', '.join(f'{name} {of[-1][1]:.2f}' for name in NODES
                              if (of := graph.in_use(name)))
            spent = time.monotonic() - began
            print(f'after {spent / 60.0:.0f} min, at least '
                  f'{min(garbage.sent.values()) / max(spent, 1.0):.1f} messages a second to each '
                  f'input, MB in use: {sizes}', flush=True)
    return report(graph, garbage, time.monotonic() - began)


if __name__ == '__main__':
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)       # taking the middleware apart may hang (see flex_ros/shutdown.py)
