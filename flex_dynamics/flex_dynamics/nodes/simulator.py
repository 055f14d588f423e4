"""The simulator node: a flexible robot that any ROS robot stack can talk to.

Free running it keeps to the wall clock. In lockstep it publishes a state and waits for the command
that carries the stamp of that state: a run is then the same to the last bit on any machine.
"""
from __future__ import annotations

import time
from functools import partial
from itertools import islice
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from flex_dynamics import DynamicsError, Sensors
from flex_dynamics.nodes.command_owner import CommandOwner, SecondDriver
from flex_dynamics.nodes.command_reader import CommandReader, answered_tick, is_copy
from flex_dynamics.nodes.effort_gate import CommandError
from flex_dynamics.nodes.pacing import Pacing
from flex_dynamics.nodes.payload_services import PayloadServices
from flex_dynamics.nodes.sensor_parameters import SensorParameters
from flex_dynamics.nodes.sensor_topics import Encoders, Gauges, Imus
from flex_dynamics.nodes.simulation_services import SimulationServices
from flex_dynamics.nodes.simulator_parameters import declare_plant, declare_timing
from flex_dynamics.nodes.simulator_status import status
from flex_dynamics.nodes.speedometer import Speedometer
from flex_dynamics.nodes.wrench_input import WrenchInput
from flex_dynamics.ros.model_parameters import MODEL_ERRORS, declare_model
from flex_msgs.msg import FlexState
from flex_ros.bag.recording import Recording
from flex_ros.cdr.fixed_layout import ClockPublisher, FixedLayoutPublisher
from flex_ros.clock import steady_clock
from flex_ros.diagnostics import Diagnostics
from flex_ros.entry import run
from flex_ros.live_parameters import LiveParameters
from flex_ros.message_guard import DecodeError, decode_errors, shortened
from flex_ros.polled_subscription import Polled, waiting
from flex_ros.qos import DEPTH, newest
from flex_ros.real_time_thread import RealTimeThread
from flex_ros.recorded_publisher import RecordedPublisher

QUEUE = 10        # commands that wait to be read
ASK = 0.02        # s of wall time between two looks for readers of the sensors
SLICE = 0.005     # s of wall time until services and other topics get their turn
RESEND = 0.2      # s of wall time between two copies of a state while simulated time stands still


class Simulator(Node):
    """Wires a Plant to topics, services and the clock."""

    def __init__(self) -> None:
        super().__init__('simulator')
        self.model = model = declare_model(self)
        self.timing = declare_timing(self)
        live = LiveParameters(self)
        self.plant = declare_plant(self, model, self.timing, live)
        self._pacing = Pacing(self.timing.period, self.timing.real_time_factor)
        self._thread = RealTimeThread(self.timing.thread_priority, self.get_logger())
        self._speed = Speedometer()

        self.tick = 0                # periods since time zero
        self.playing = not self.timing.start_paused
        self.failure = ''            # why the motion could not go on
        self._credits = 0            # periods that a step request may still run while paused
        self._started = self._starts_alone
        self._answered = False       # lockstep: the command of the present state is there
        self._safe = False           # the fail-safe acts in place of a command
        self._command_tick = 0       # of the state that the last command answered
        self._rejected, self._reason = 0, ''
        self._silence = ''           # lockstep: who is waited for, once patience has ended
        self._waits_since = self._published = self._look_at = time.monotonic()

        state = FlexState(name=list(model.names), joint_count=model.n_joints,
                          position=self.plant.q, velocity=self.plant.v)
        state.header.frame_id = model.robot.links[0].name
        self._flex_state = RecordedPublisher(self, FlexState, 'flex_state',
                                             QoSProfile(depth=DEPTH))
        self._state = FixedLayoutPublisher(self._flex_state, state, ('position', 'velocity'))
        self._clock_topic = RecordedPublisher(self, Clock, '/clock', QoSProfile(depth=10))
        self._packed_clock = ClockPublisher(self._clock_topic)
        sensors = Sensors(model)
        given = SensorParameters(self, live, self.timing.period)
        self._sensors = (Encoders(self, self.plant, given),
                         Gauges(self, self.plant, sensors, given),
                         Imus(self, self.plant, sensors, given))
        self._read_sensors()
        receive: Any = self._receive      # rclpy's types do not know the second argument
        # Deep enough that a second driver does not push the first one's commands out. Free running
        # a command acts from the next period on: it is taken then. It may be the only one, sent by
        # hand to a simulator just found, and must not be lost; in lockstep it is asked for again.
        self._commands = self.create_subscription(
            JointState, 'joint_commands', receive,
            newest(QUEUE) if self.timing.lockstep else QoSProfile(depth=QUEUE), raw=True,
            callback_group=None if self.timing.lockstep else Polled())
        self._reader = CommandReader()
        self._owner = CommandOwner(self._commanders, self.timing.lockstep_timeout
                                   if self.timing.lockstep else
                                   self.timing.command_timeout / self.timing.real_time_factor)
        self._wrenches = WrenchInput(self)
        self._payloads = PayloadServices(self)
        self._simulation_services = SimulationServices(self)
        self._recording = Recording(self, (self._flex_state, self._clock_topic, *(
            outlet for sensor in self._sensors for outlet in sensor.publishers)), live)
        Diagnostics(self, model.robot.name, partial(status, self))
        period = self.timing.period / self.timing.real_time_factor
        self.create_timer(RESEND if self.timing.lockstep else min(RESEND, period), self._on_timer,
                          clock=steady_clock())
        self._publish_again()        # a recording begins with the start
        self.get_logger().info(
            f'{model.robot.name}: {model.n} coordinates, {model.n_joints} of them joints, order '
            f'{model.order}; {1.0 / self.timing.period:g} states a second of {self.timing.steps} '
            f'steps; {"lockstep" if self.timing.lockstep else "free running"}'
            f'{"" if self.playing else ", paused"}')

    # Time -----------------------------------------------------------------------------------

    @property
    def now(self) -> int:
        """Simulated time, ns."""
        return self.timing.stamp(self.tick)

    @property
    def moving(self) -> bool:
        """Whether simulated time may pass."""
        return not self.failure and (self.playing or self._credits > 0)

    @property
    def _starts_alone(self) -> bool:
        """Whether time may pass before the first command, which a robot without joints never
        gets."""
        return not (self.timing.wait_for_command and self.plant.gate.joints)

    @property
    def stepping(self) -> bool:
        """Whether steps that were asked for are under way."""
        return self._credits > 0

    def play(self, playing: bool) -> None:
        """Go on, or pause; steps that are under way end."""
        self._end_steps('it was set to playing' if playing else 'it was paused')
        self.playing = playing
        self._waits_since, self._silence = time.monotonic(), ''
        self._pacing.restart()
        if not playing:
            self._publish_again()
        self._go_on()

    def grant(self, periods: int) -> None:
        """Let so many periods pass although paused, the first of them at once."""
        self._credits = periods
        self._started = True         # who asks for steps does not wait for a command
        self._waits_since, self._silence = time.monotonic(), ''
        self._pacing.restart(due=1)
        self._go_on()

    def _end_steps(self, why: str) -> None:
        if self._credits:
            left, self._credits = self._credits, 0
            self._simulation_services.stepped(f'{why} with {left} steps left')

    def _go_on(self) -> None:
        """Go on in lockstep; free running the timer does."""
        if self.timing.lockstep:
            self._pump()

    def reset(self, state: bool, clock: bool, payloads: bool = False) -> None:
        """Back to the start pose, to time zero, to no payload, or any of these; steps that are
        under way end. DynamicsError if there is no equilibrium at the start pose."""
        self._end_steps('it was reset')
        if payloads:
            self._payloads.detach_all()
        if state:
            self.plant.reset()
            self.failure = ''
            self._started = self._starts_alone
        if clock:
            self.tick = 0
        if state or clock:
            self._wrenches.reset()
            self._owner.release()
            for sensor in self._sensors:
                sensor.reset()
        self._read_sensors()
        self._command_tick = self.tick
        self._answered = self._safe = False
        self._waits_since, self._silence = time.monotonic(), ''
        self._pacing.restart()
        self._publish(again=True)

    def _on_timer(self) -> None:
        if self.timing.lockstep:
            self._pump()
        else:
            self._run_by_the_clock()
        now = time.monotonic()
        if now - self._published >= RESEND:
            self._publish_again()    # for those who come late, and to show that we live
        if self.timing.lockstep and self.moving and not self._silence:
            if now - self._waits_since > self.timing.lockstep_timeout:
                self._silence = self._who_is_silent()
                self.get_logger().warning(self._silence)

    def _run_by_the_clock(self) -> None:
        """Free running, for a slice of time: to wait in the executor for each period costs more
        than the period itself."""
        now = time.monotonic()
        until, pause = now + SLICE, 0.0
        while pause < SLICE and now < until:
            time.sleep(max(pause, 0.0))
            for data, info in islice(waiting(self._commands), QUEUE):
                self._receive(data, info)
            self._wrenches.take()
            self._pump()
            now = time.monotonic()
            pause = self._pacing.pause(now)

    def _pump(self) -> None:
        """Run the periods that are due: in lockstep, those whose command has come."""
        if self.timing.lockstep:
            while self.moving and self._answered:
                self._answered = False
                self._advance()
            return
        if not (self.moving and self._started):
            self._pacing.restart()
            return
        until = time.monotonic() + RESEND
        due = self._pacing.due(time.monotonic())
        if not self.playing:
            due = min(due, self._credits)
        self._thread.keep(self._pacing.slips)
        while due > 0 and self.moving and time.monotonic() < until:
            due -= 1
            age = (self.tick - self._command_tick) * self.timing.period
            late = (age > self.timing.command_timeout and self.tick > 0
                    and bool(self.plant.gate.joints))
            if late and not self._safe:
                self.get_logger().warning(f'no good command for {self.timing.command_timeout:g} '
                                          's: the fail-safe acts', throttle_duration_sec=1.0)
            self._safe = late
            self._advance()

    def _advance(self) -> None:
        began = time.monotonic()
        self.plant.wrenches = self._wrenches.acting(self.tick)
        try:
            self.plant.advance(safe=self._safe and not self.timing.hold_on_silence)
        except DynamicsError as error:
            self.failure, self.playing, self._credits = str(error), False, 0
            self.get_logger().error(f'paused at the last good state: {error}')
            self._simulation_services.stepped(self.failure)
            self._publish_again()
            return
        self.tick += 1
        self._waits_since, self._silence = time.monotonic(), ''
        self._speed.count(self._waits_since - began)
        if self._waits_since > self._look_at:
            self._look_at = self._waits_since + ASK
            for sensor in self._sensors:
                sensor.look()
        self._read_sensors()
        if self.playing:
            self._publish()
            return
        self._credits -= 1
        self._publish(again=not self._credits)       # who waits for the last step sees all of it
        if not self._credits:
            self._simulation_services.stepped('')

    # Topics ---------------------------------------------------------------------------------

    def _publish(self, again: bool = False) -> None:
        """again: time stands still here, so that all is said, the clock too."""
        now = self.now
        if again or self.tick % self.timing.clock_every == 0:
            self._packed_clock.publish(now)
        if again or self._shown():
            for sensor in self._sensors:
                sensor.publish(now)
            # The last of all: who answers a state in lockstep has its readings before it.
            self._state.publish(now, self.plant.q, self.plant.v)
        self._published = time.monotonic()

    def _shown(self) -> bool:
        """Whether the present state goes out on topics."""
        return True

    def _publish_again(self) -> None:
        for sensor in self._sensors:
            sensor.look_again(self.tick)
        self._publish(again=True)

    def _read_sensors(self) -> None:
        for sensor in self._sensors:
            sensor.read(self.tick)

    def _receive(self, data: bytes, info: dict[str, int]) -> None:
        self._command(data, info)

    def _command(self, data: bytes, info: dict[str, int]) -> None:
        try:
            names, when, command = self._reader.read(data)
        except DecodeError as error:
            decode_errors(self).count('joint_commands', error)
            return
        timing = self.timing
        if timing.lockstep and is_copy(when, self.tick, timing, self._answered):
            return
        try:
            self._owner.admit(info['publication_sequence_number'], time.monotonic())
            tick = answered_tick(when, self.tick, self._command_tick, timing)
            self.plant.gate.accept(names, *command)
            self._safe = False
        except CommandError as error:
            self._rejected += 1
            self._reason = shortened(str(error))
            self.get_logger().warning(f'command rejected: {self._reason}',
                                      throttle_duration_sec=1.0)
            if (not (timing.lockstep and when == self.now)
                    or isinstance(error, SecondDriver)):
                return
            # This state gets no other command: the fail-safe is its answer.
            tick, self._safe = self.tick, True
        self._started = self._answered = True
        self._command_tick = tick
        self._go_on()

    def _commanders(self) -> list[str]:
        found = self.get_publishers_info_by_topic(self.resolve_topic_name('joint_commands'))
        return [f'{info.node_namespace.rstrip("/")}/{info.node_name}' for info in found]

    def _who_is_silent(self) -> str:
        topic, names = self.resolve_topic_name('joint_commands'), sorted(set(self._commanders()))
        who = f'{", ".join(names)} on {topic}' if names else f'anyone: no node publishes {topic}'
        return (f'no command for the state at {self.now * 1e-9:.4f} s since '
                f'{self.timing.lockstep_timeout:g} s: waiting for {who}')

    def destroy_node(self) -> None:
        self._recording.close()
        super().destroy_node()


def main() -> None:
    run(Simulator, MODEL_ERRORS)


if __name__ == '__main__':
    main()
