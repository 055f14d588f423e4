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
"""The dynamics node: the terms of the equations of motion at the robot's state."""
from __future__ import annotations

import math

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Point, Pose, Quaternion
from rclpy.node import Node
from rclpy.qos import QoSProfile

from flex_description import default_pose
from flex_description.math import quaternion_from_rotation, within
from flex_dynamics import DynamicsError
from flex_dynamics.ros.constraint_terms import FIELDS, ConstraintTerms
from flex_dynamics.ros.model_parameters import MODEL_ERRORS, declare_model
from flex_dynamics.ros.state_subscription import State, StateSubscription
from flex_msgs.msg import DynamicsTerms
from flex_msgs.srv import GetDynamics, SetSupport
from flex_ros.cdr.fixed_layout import FixedLayoutPublisher
from flex_ros.clock import steady_clock
from flex_ros.diagnostics import Diagnostics
from flex_ros.entry import run
from flex_ros.message_fields import floats
from flex_ros.message_guard import CALCULATION_ERRORS, LARGEST, shortened
from flex_ros.parameters import declare
from flex_ros.qos import DEPTH

LOOK = 0.1       # s of wall time between two looks for listeners
FAR = 10.0       # rad or m by which joints that were not asked for may move to close a loop


class Dynamics(Node):
    """Publishes `dynamics_terms` for the states that come, and answers `~/get_dynamics`."""

    NOTHING_TO_LOSE = True       # it may be started again at any time

    def __init__(self) -> None:
        super().__init__('dynamics')
        self.model = model = declare_model(self, constraints=True)
        self._constraints = ConstraintTerms(self, model) if model.robot.constraints else None
        rate = declare(self, 'rate', 50.0, 'terms a second, by the stamps of the states; 0: for '
                       'every state', lower=0.0, upper=1e5, fixed=True)
        self._terms = DynamicsTerms(
            name=list(model.names), joint_count=model.n_joints,
            stiffness=floats(model.stiffness_matrix()), damping=floats(model.damping_matrix()),
            input=floats(model.input_matrix(np.zeros(model.n))))
        self._terms.header.frame_id = model.robot.links[0].name
        self._publisher: FixedLayoutPublisher | None = None
        self._topic = self.create_publisher(DynamicsTerms, 'dynamics_terms',
                                            QoSProfile(depth=DEPTH))
        self.create_service(GetDynamics, '~/get_dynamics', self._answer)
        if model.robot.supports:
            self.create_service(SetSupport, '~/set_support', self._set_support)
        self._at = np.zeros(model.n)         # positions (n,) of the last state
        self._input = StateSubscription(self, model, self._publish,
                                 period=round(1e9 / rate) if rate else 0, at_once=False)
        self._published = 0
        self._sizes: tuple[int, ...] = ()        # of the arrays about constraints
        self.create_timer(LOOK, self._look, clock=steady_clock())
        Diagnostics(self, model.robot.name, self._status)
        self.get_logger().info(f'{model.robot.name}: terms of {model.n} coordinates, '
                               f'{f"{rate:g} a second" if rate else "for every state"}')

    def _look(self) -> None:
        """Listen to states while someone listens to the terms or to a reaction."""
        self._input.listen(self._topic.get_subscription_count() > 0
                           or (self._constraints is not None and self._constraints.wanted))

    def _publish(self, state: State) -> None:
        model, self._at = self.model, state.q
        more: tuple[np.ndarray, ...] = ()
        try:
            terms = model.terms(state.q, state.v)
            if self._constraints is not None:
                effort = self._constraints.efforts.poll()
                more = self._constraints.arrays(model, state.q, state.v, effort)
                self._constraints.publish(model, state.stamp_ns, state.q, state.v, effort)
        except CALCULATION_ERRORS as error:
            self._input.reject(error)
            return
        sizes = tuple(len(array) for array in more)
        if self._publisher is None or sizes != self._sizes:      # efforts came, or are gone
            self._terms.static_deflection = state.static
            self._fill(self._terms, state.q, state.v)
            if self._constraints is not None:
                self._constraints.fill(self._terms, model, more)
            self._sizes = sizes
            self._publisher = FixedLayoutPublisher(self._topic, self._terms, (
                'position', 'velocity', 'mass', 'coriolis', 'gravity',
                *(FIELDS if more else ())))
        self._publisher.publish(state.stamp_ns, state.q, state.v, terms.M, terms.C, terms.g, *more)
        self._published += 1

    def _set_support(self, request: SetSupport.Request,
                     response: SetSupport.Response) -> SetSupport.Response:
        """What the simulator's service of this name does, for the terms."""
        try:
            names = [one.name for one in self.model.robot.supports]
            if request.name not in names:
                raise DynamicsError(f'support: expected one of {", ".join(names)}, found '
                                    f'{shortened(request.name)!r}')
            on = {one.name for one in self.model.robot.supports if one.active} - {request.name}
            self.model = self.model.with_supports(
                self._at, on | ({request.name} if request.active else set()))
            response.success = True
        except CALCULATION_ERRORS as error:
            response.message = shortened(str(error))
        return response

    def _fill(self, message: DynamicsTerms, q: np.ndarray, v: np.ndarray) -> None:
        terms = self.model.terms(q, v)
        message.position, message.velocity = floats(q), floats(v)
        message.mass, message.coriolis = floats(terms.M), floats(terms.C)
        message.gravity = floats(terms.g)

    def _answer(self, request: GetDynamics.Request,
                response: GetDynamics.Response) -> GetDynamics.Response:
        try:
            self._ask(request, response)
            response.success = True
        except CALCULATION_ERRORS as error:
            response = GetDynamics.Response(success=False, message=shortened(str(error)))
        return response

    def _ask(self, request: GetDynamics.Request, response: GetDynamics.Response) -> None:
        model = self.model
        q, v, effort = self._state_asked(request)
        if request.static_deflection:
            q = model.statics(q[:model.n_joints])[0]
        terms = DynamicsTerms(
            name=self._terms.name, joint_count=model.n_joints, stiffness=self._terms.stiffness,
            damping=self._terms.damping, input=self._terms.input,
            static_deflection=request.static_deflection)
        terms.header.frame_id = self._terms.header.frame_id
        self._fill(terms, q, v)
        if self._constraints is not None:
            self._constraints.fill(terms, model, self._constraints.arrays(model, q, v, effort))
            response.reactions = self._constraints.reactions(model, q, v, effort)
        response.terms = terms
        if request.frequencies:
            frequencies, shapes = model.frequencies(q)
            response.frequency, response.shapes = floats(frequencies), floats(shapes)
        if request.frame:
            x = None if math.isnan(request.x) else request.x
            pose = model.pose(q, request.frame, x)
            response.pose = Pose(position=Point(**dict(zip('xyz', map(float, pose[:3, 3])))),
                                 orientation=Quaternion(**dict(zip(
                                     'xyzw', quaternion_from_rotation(pose[:3, :3])))))
            response.jacobian = floats(model.jacobian(q, request.frame, x))

    def _state_asked(self, request: GetDynamics.Request,
                     ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions and speeds (n,), and efforts (n_joints,)."""
        names, joints = list(self.model.names), self.model.n_joints
        state = np.zeros((3, self.model.n))
        if len(request.name) > self.model.n:
            raise DynamicsError(f'name: expected at most {self.model.n} coordinates, found '
                                f'{len(request.name)}')
        for row, values, what in ((0, request.position, 'position'),
                                  (1, request.velocity, 'velocity'),
                                  (2, request.effort, 'effort')):
            if len(values) != len(request.name) and (row == 0 or len(values)):
                raise DynamicsError(f'{what}: expected {len(request.name)} numbers, one a name, '
                                    f'found {len(values)}')
            for name, value in zip(request.name, values):
                if name not in names:
                    raise DynamicsError(f'name: {name!r} is no coordinate of '
                                        f'{self.model.robot.name}')
                state[row, names.index(name)] = value
        if not within(state.ravel()):
            raise DynamicsError(f'position, velocity and effort: expected finite numbers of at '
                                f'most {LARGEST:g}')
        if state[2, joints:].any():
            raise DynamicsError(f'effort: expected zero for {names[joints]} and all other '
                                'coordinates that are no joints')
        q, v = state[0], state[1]
        if self._constraints is not None and len(request.name) < len(names):
            q, v = self._closed(q, v, list(request.name))
        return q, v, state[2, :joints]

    def _closed(self, q: np.ndarray, v: np.ndarray,
                given: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """The joints that are not among those given close the constraints, from the default pose
        on; speeds that are not given follow."""
        model, names = self.model, list(self.model.names)
        start = default_pose(model.robot)
        for at, name in enumerate(model.joint_names):
            if name not in given:
                q[at] = start[name]
        held = {*given, *names[model.n_joints:]}
        q = np.asarray(model.close(q, FAR, held).q)
        left = [at for at, name in enumerate(names) if name not in held]
        A = model.constraint_jacobian(q)
        v[left] = -np.linalg.lstsq(A[:, left], A @ v, rcond=1e-9)[0]
        return q, v

    def _status(self) -> tuple[bytes, str, dict[str, object]]:
        level, text = DiagnosticStatus.OK, 'running'
        if not self._input.listening:
            text = 'idle: nobody listens to dynamics_terms'
        elif not self._input.received:
            text = 'waiting for a state'
        elif self._input.problem:
            level, text = DiagnosticStatus.WARN, self._input.problem
        return (level, text, {
            'states received': self._input.received,
            'states rejected': self._input.rejected,
            'terms published': self._published,
            'order': self.model.order,
            'coordinates': self.model.n,
        })


def main() -> None:
    run(Dynamics, MODEL_ERRORS)


if __name__ == '__main__':
    main()
