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
"""The simulator node: a flexible robot that any ROS robot stack can talk to.

Free running it follows the wall clock. In lockstep it publishes a state and waits for the command
that carries the stamp of that state: a run is then the same to the last bit on any machine.
"""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock

from flex_dynamics import DynamicsError, Sensors
from flex_dynamics.ros.model_parameters import declare_model
from flex_dynamics.ros.simulator.commands import CommandSource, TopicCommands
from flex_dynamics.ros.simulator.parameters import declare_plant, declare_timing
from flex_dynamics.ros.simulator.payloads import PayloadServices
from flex_dynamics.ros.simulator.physical_parameters import PhysicalParameters
from flex_dynamics.ros.simulator.platform import make_platform
from flex_dynamics.ros.simulator.reactions import Reactions
from flex_dynamics.ros.simulator.sensor_parameters import SensorParameters
from flex_dynamics.ros.simulator.sensors import Encoders, Gauges, Imus
from flex_dynamics.ros.simulator.services import SimulationServices
from flex_dynamics.ros.simulator.status import SLOW, SimulatorStatus, diagnostics
from flex_dynamics.ros.simulator.supports import SupportService
from flex_dynamics.ros.simulator.wrenches import WrenchInput
from flex_dynamics.simulation.command_limits import CommandError
from flex_dynamics.simulation.command_owner import CommandOwner
from flex_dynamics.simulation.pacing import Speedometer
from flex_dynamics.simulation.simulator_state_machine import SimulatorStateMachine
from flex_msgs.msg import FlexState
from flex_ros.bag.recorded_publisher import RecordedPublisher
from flex_ros.bag.recording import Recording
from flex_ros.cdr.fixed_layout import ClockPublisher, FixedLayoutPublisher
from flex_ros.clock import steady_clock
from flex_ros.diagnostics import Diagnostics
from flex_ros.message_guard import shortened
from flex_ros.parameters import LiveParameters, declare
from flex_ros.qos import DEPTH
from flex_ros.real_time_thread import RealTimeThread

LOOK = 0.02       # s of wall time between two looks for subscribers of the sensors
SLICE = 0.005     # s of wall time, free running, until services and other topics get their turn
LONG_SLICE = 0.05      # the same in lockstep with a controller in this process
INDEPENDENT_PATIENCE = 1.0     # s of silence after which another independent driver may drive
RESEND = 0.2      # s of wall time between two copies of a state while simulated time stands still


class Simulator(Node):
    """Wires a Plant and a SimulatorStateMachine to topics, services and the clock.

    make_commands: what makes the source of commands, the topic `joint_commands` by default.
    decimated: whether the parameter `publish_rate` limits how many states go out on topics.
    """

    def __init__(self, make_commands: Callable[[Simulator], CommandSource] = TopicCommands,
                 decimated: bool = False) -> None:
        super().__init__('simulator')
        described = declare_model(self, constraints=True)
        self.timing = timing = declare_timing(self)
        live = LiveParameters(self)
        self._physical = PhysicalParameters(self, described, live)
        self.model = model = self._physical.model        # that of the start
        self.plant = declare_plant(self, model, timing, live)
        self._physical.drive(self.plant)
        self._thread = RealTimeThread(timing.thread_priority, self.get_logger())
        self._speed = Speedometer()
        self._slipped = 0.0          # s that time had waited for the driver at the last status
        self._running = False        # periods are being run: callbacks must not begin them again
        self._published = self._look_at = time.monotonic()

        state = FlexState(name=list(model.names), joint_count=model.n_joints,
                          position=self.plant.q, velocity=self.plant.v)
        state.header.frame_id = model.robot.links[0].name
        self._state_topic = RecordedPublisher(self, FlexState, 'flex_state',
                                              QoSProfile(depth=DEPTH))
        self._state = FixedLayoutPublisher(self._state_topic, state, ('position', 'velocity'))
        self._clock_topic = RecordedPublisher(self, Clock, '/clock', QoSProfile(depth=10))
        self._clock_messages = ClockPublisher(self._clock_topic)
        sensors = Sensors(model)
        given = SensorParameters(self, live, timing.period)
        self._sensors = (Encoders(self, self.plant, given),
                         Gauges(self, self.plant, sensors, given),
                         Imus(self, self.plant, sensors, given), Reactions(self, self.plant))
        rate = declare(self, 'publish_rate', 100.0, 'states a simulated s on topics, at most one '
                       'a period', lower=0.1, upper=1e5, fixed=True) if decimated else None
        self._publish_every = 1 if rate is None else max(1, round(1.0 / (rate * timing.period)))
        # Delayed readings must be taken before someone asks for them.
        self._read_always = any(sensor.delayed for sensor in self._sensors)
        patience = (timing.lockstep_timeout if timing.lockstep else INDEPENDENT_PATIENCE
                    if timing.independent else timing.command_timeout / timing.real_time_factor)
        self.machine = SimulatorStateMachine(
            timing, bool(self.plant.commands.joints),
            CommandOwner(lambda: self.commands.nodes(), patience), time.monotonic())
        self._platform = make_platform(self)
        self._read_sensors()
        self.commands = make_commands(self)
        SupportService(self)
        self._wrenches = WrenchInput(self)
        self._payloads = PayloadServices(self)
        self._simulation_services = SimulationServices(self)
        self._sources: list[Any] = [*self._sensors, *([self._platform] if self._platform else [])]
        self._recording = Recording(self, (self._state_topic, self._clock_topic, *(
            publisher for source in self._sources for publisher in source.publishers)), live)
        Diagnostics(self, model.robot.name, lambda: diagnostics(self.status()))
        period = timing.period / timing.real_time_factor
        self.create_timer(RESEND if timing.lockstep else min(RESEND, period), self._on_timer,
                          clock=steady_clock())
        self._next = self.create_timer(1e-6, self.go_on, clock=steady_clock())
        self._next.cancel()          # runs while a controller in this process answers at once
        self._publish_again()        # a recording begins with the start
        self.get_logger().info(
            f'{model.robot.name}: {model.n} coordinates, {model.n_joints} of them joints, order '
            f'{model.order}; {1.0 / timing.period:g} states a second of {timing.steps} '
            f'steps; {"lockstep" if timing.lockstep else "free running"}'
            f'{"" if self.machine.playing else ", paused"}')

    # Requests of services -------------------------------------------------------------------

    def play(self, playing: bool) -> None:
        """Go on, or pause; steps that are under way end."""
        self._simulation_services.steps_ended(self.machine.play(playing, time.monotonic()))
        if not playing:
            self._publish_again()
        self._go_on_in_lockstep()

    def grant(self, periods: int) -> None:
        """Let so many periods pass although paused, the first of them at once."""
        self.machine.grant(periods, time.monotonic())
        self._go_on_in_lockstep()

    def reset(self, state: bool, clock: bool, payloads: bool = False) -> None:
        """Back to the start pose, to time zero, to no payload, or any of these; steps that are
        under way end. DynamicsError if there is no equilibrium at the start pose."""
        self._simulation_services.steps_ended(self.machine.end_steps())
        if payloads:
            self._payloads.detach_all()
        if state:
            self.plant.reset()
        if state or clock:
            self._wrenches.reset()
            for sensor in self._sensors:
                sensor.reset()
        self.machine.reset(state, clock, time.monotonic())
        if self._platform and (state or clock):
            self._platform.reset()
        self._read_sensors()
        self._publish(again=True)

    # Time -----------------------------------------------------------------------------------

    def _on_timer(self) -> None:
        if self.timing.lockstep:
            self.go_on()
        else:
            self._run_by_the_clock()
        now = time.monotonic()
        if now - self._published >= RESEND:
            self._publish_again()    # for subscribers that come late, and as a sign of life
        if self.machine.waits_too_long(now):
            self.machine.silence = self._who_is_silent()
            self.get_logger().warning(self.machine.silence)
        if not self.machine.moving:
            self.commands.request()

    def _run_by_the_clock(self) -> None:
        """Free running, for a slice of time: to wait in the executor for each period costs more
        than the period itself."""
        now = time.monotonic()
        until, pause = now + SLICE, 0.0
        while pause < SLICE and now < until:
            time.sleep(max(pause, 0.0))
            self.commands.poll()
            self._wrenches.take()
            if self._platform:
                self._platform.take()
            self.go_on()
            now = time.monotonic()
            pause = self.machine.pacing.pause(now)

    def _go_on_in_lockstep(self) -> None:
        """Free running the timer does."""
        if self.timing.lockstep:
            self.go_on()

    def go_on(self) -> None:
        """Run the periods that are due: in lockstep, those whose command has come."""
        if self._running:            # a callback of the source of commands is at work
            return
        self._running = True
        try:
            if self.timing.lockstep:
                self._run_answered()
            else:
                self._run_due()
        finally:
            self._running = False

    def _run_answered(self) -> None:
        """Lockstep: the periods whose command has come, for one slice of wall time."""
        machine = self.machine
        until = time.monotonic() + LONG_SLICE
        while machine.moving and time.monotonic() < until:
            if not machine.answered:
                self.commands.request()
            if not machine.answered:
                break                # no command for this state yet
            machine.answered = False
            self._advance()
        else:
            if machine.moving:
                self._next.reset()
                return
        self._next.cancel()

    def _run_due(self) -> None:
        """Free running: the periods that are due by the wall clock."""
        machine = self.machine
        if machine.moving and not machine.started:
            self.commands.request()
        now = time.monotonic()
        until, due = now + RESEND, machine.periods_due(now)
        if not (machine.moving and machine.started):
            return
        self._thread.keep(machine.pacing.slips)
        late = False
        while due > 0 and machine.moving and time.monotonic() < until:
            due -= 1
            if late:                 # the driver may have answered meanwhile
                self.commands.poll()
            late = True
            if machine.slips_for(self.commands.driver_present, time.monotonic()):
                return
            if machine.watch_commands():
                self.get_logger().warning(f'no good command for {self.timing.command_timeout:g} '
                                          's: the fail-safe acts', throttle_duration_sec=1.0)
            self.commands.request()
            self._advance()

    def _advance(self) -> None:
        """One period."""
        machine, began = self.machine, time.monotonic()
        self.plant.wrenches = self._wrenches.acting(machine.tick)
        if self._platform:
            self._platform.drive()
        try:
            self.plant.advance(safe=machine.no_effort)
        except DynamicsError as error:
            machine.fail(str(error))
            self.get_logger().error(f'paused at the last good state: {error}')
            self._simulation_services.stepped(machine.failure)
            self._publish_again()
            return
        now = time.monotonic()
        last_step = machine.period_ran(now)
        self._speed.count(now - began)
        if now > self._look_at:
            self._look_at = now + LOOK
            for source in self._sources:
                source.look()
        self._read_sensors()
        if self._platform:
            self._platform.read(machine.tick)
        self._publish(again=last_step)       # who waits for the last step sees all of it
        if last_step:
            self._simulation_services.stepped('')

    # Topics ---------------------------------------------------------------------------------

    def _publish(self, again: bool = False) -> None:
        """again: time stands still here, so everything is published, the clock too."""
        machine = self.machine
        stamp_ns = machine.stamp_ns
        if again or machine.tick % self.timing.clock_every == 0:
            self._clock_messages.publish(stamp_ns)
        if again or self._shown():
            for sensor in self._sensors:
                sensor.publish(stamp_ns)
            # Publish the state last, so that sensor data arrives before it.
            self._state.publish(stamp_ns, self.plant.q, self.plant.v)
        self._published = time.monotonic()

    def _shown(self) -> bool:
        """Whether the present state goes out on topics."""
        machine = self.machine
        return machine.tick % self._publish_every == 0 or not machine.playing

    def _publish_again(self) -> None:
        for sensor in self._sensors:
            sensor.look_again(self.machine.tick)
        self._publish(again=True)

    # Sensors --------------------------------------------------------------------------------

    def _read_sensors(self) -> None:
        if self._read_always or self._shown():
            for sensor in self._sensors:
                sensor.read(self.machine.tick)

    def read_every_period(self) -> None:
        """A controller in this process needs the readings: take them at every state from now on.
        """
        self._read_always = True
        for sensor in self._sensors:
            sensor.inner = True
            sensor.look_again(self.machine.tick)

    def readings(self) -> tuple:
        """What the sensors read at the present state: joint positions and speeds (n_joints,),
        strains (n_gauges,), turning rates and accelerations (n_imus, 3); None where not read."""
        encoders, gauges, imus, _ = self._sensors
        return (*encoders.values(), gauges.values(), *imus.values())

    # Commands -------------------------------------------------------------------------------

    def command_rejected(self, error: CommandError | str) -> None:
        """Warn of a command that the state machine has counted as rejected."""
        self.get_logger().warning(f'command rejected: {shortened(str(error))}',
                                  throttle_duration_sec=1.0)

    def _who_is_silent(self) -> str:
        topic, names = self.resolve_topic_name('joint_commands'), sorted(set(
            self.commands.nodes()))
        who = f'{", ".join(names)} on {topic}' if names else f'anyone: no node publishes {topic}'
        return (f'no command for the state at {self.machine.stamp_ns * 1e-9:.4f} s since '
                f'{self.timing.lockstep_timeout:g} s: waiting for {who}')

    # Status ---------------------------------------------------------------------------------

    def status(self) -> SimulatorStatus:
        """What diagnostics say."""
        machine, plant, now = self.machine, self.plant, time.monotonic()
        simulated = machine.stamp_ns * 1e-9
        factor, share, longest = self._speed.read(simulated)
        lately, self._slipped = machine.slipped - self._slipped, machine.slipped
        driver = machine.owner.driver(now)
        if lately > SLOW:
            self.get_logger().warning(
                f'simulated time waited {lately:.2f} s in the last second for the commands of '
                f'{driver or "the driver"}: it is too slow, or was not scheduled')
        return SimulatorStatus(
            failure=machine.failure, silence=machine.silence, fail_safe=machine.fail_safe,
            moving=machine.moving, playing=machine.playing, started=machine.tick > 0,
            fail_safes=machine.fail_safes, slips=machine.slips, slipped=machine.slipped,
            slipped_lately=lately, time=simulated, real_time_factor=factor, share=share,
            longest_step=longest, overruns=machine.pacing.overruns, scheduling=self._thread.text,
            driver=driver, rejected=machine.rejected,
            rejection=shortened(machine.rejection), limited=plant.commands.limited,
            saturated=plant.saturated, rejected_wrenches=self._wrenches.rejected,
            wrench_rejection=self._wrenches.reason,
            rejected_twists=self._platform.rejected if self._platform else 0,
            twist_rejection=self._platform.reason if self._platform else '',
            payloads=tuple(plant.payloads), changes=self._physical.text,
            recording=self._recording.text,
            recording_problem=self._recording.problem, order=self.model.order,
            joints=self.model.n_joints, coordinates=self.model.n)

    def destroy_node(self) -> None:
        self._recording.close()
        super().destroy_node()
