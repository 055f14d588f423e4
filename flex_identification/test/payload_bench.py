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
"""A robot in lockstep with its controller, an unannounced payload, and the estimator beside it."""
from dataclasses import dataclass, field

import numpy as np

from flex_control import ControlLoop, SetPoints, make_controller
from flex_control.loop.payload_gate import OfferedPayload, PayloadGate
from flex_dynamics import Sensors
from flex_dynamics.simulation.plant import Drives, Plant
from flex_identification import PayloadEstimator

PERIOD, ESTIMATES = 0.002, 5         # s; periods between two estimates


@dataclass
class Run:
    """What happened: time (k,) s, distance (k,) m of the tip from where it should be, and the
    estimates with their times."""

    time: list = field(default_factory=list)
    miss: list = field(default_factory=list)
    estimates: list = field(default_factory=list)

    def worst(self, begin, end=np.inf):
        return max(miss for at, miss in zip(self.time, self.miss, strict=True)
                   if begin <= at <= end)

    def at(self, time):
        return min(self.estimates, key=lambda one: abs(1e-9 * one.stamp_ns - time))


class Bench:
    """PD with tip compensation at rest in `pose`, the noise of sensors, and an estimator."""

    def __init__(self, model, pose, frame, controller='pd', largest=10.0, use=True, **noise):
        self.model, self.frame, self.use = model, frame, use
        self.pose = np.array(pose, dtype=float)
        self.controller = make_controller(controller, model, {
            'tip_compensation': True, 'tip_frame': frame})
        gains = self.controller.drive_gains()
        self.controller.set_drives(*gains)
        # Where the compensated arm rests, so that nothing moves before the payload comes.
        self.plant = Plant(model, 0.001, 2, Drives(*gains), self.rest(), True, stops=False)
        self.loop = ControlLoop(model, self.controller, SetPoints([0.0], [self.pose]))
        self.estimator = PayloadEstimator(model, frame, PERIOD * ESTIMATES, largest_mass=largest)
        self.gate = PayloadGate(largest, 0.3)
        self.sensors, self.random = Sensors(model), np.random.default_rng(7)
        self.noise = {'position': 1e-5, 'velocity': 1e-3, 'strain': 1e-6, **noise}
        straight = np.zeros(model.n)
        straight[:model.n_joints] = self.pose
        self.goal = model.pose(straight, frame)[:3, 3]
        self.run, self.tick = Run(), 0

    def rest(self):
        from flex_control.reference.tip_compensation import TipCompensation
        return self.pose + TipCompensation(self.model, self.frame).correction(self.pose)

    def advance(self, seconds):
        for _ in range(round(seconds / PERIOD)):
            self.step()
        return self.run

    def step(self):
        time, joints, plant = PERIOD * self.tick, self.model.n_joints, self.plant
        self.tick += 1
        q, v = plant.q.copy(), plant.v.copy()
        position, velocity = (truth[:joints] + self.noise[name] * self.random.standard_normal(
            joints) for truth, name in ((q, 'position'), (v, 'velocity')))
        strain = self.sensors.strain(q)
        strain = strain + self.noise['strain'] * self.random.standard_normal(len(strain))
        found = self.estimator.update(round(1e9 * time), position, velocity, plant.applied,
                                      strain if len(strain) else None)
        if found is not None:
            self.run.estimates.append(found)
            self.gate.offer(OfferedPayload(time, found.mass, found.centre,
                                           float(found.deviation[0])))
        if self.use and self.gate.advance(time):
            mass, *moment = self.gate.payload
            self.controller.carry(self.model if mass <= 0.0 else self.model.with_payload(
                'believed', self.frame, mass, np.array(moment) / mass))
        self.run.time.append(time)
        self.run.miss.append(float(np.linalg.norm(
            self.model.pose(q, self.frame)[:3, 3] - self.goal)))
        q[joints:] = v[joints:] = 0.0
        efforts = self.loop.step(time, q, v)
        wanted = self.controller.reference
        plant.commands.accept_all(efforts, wanted.position, wanted.velocity)
        plant.advance()
