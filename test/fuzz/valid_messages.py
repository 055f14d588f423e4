"""Good messages and requests for each input of the nodes, which the fuzzers then mutate."""
from __future__ import annotations

from typing import Any

import numpy as np
from control_msgs.action import FollowJointTrajectory
from control_msgs.srv import QueryTrajectoryState
from geometry_msgs.msg import Pose, WrenchStamped
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    GetParameterTypes,
    ListParameters,
    SetParameters,
    SetParametersAtomically,
)
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu, JointState
from simulation_interfaces.srv import (
    GetSimulationState,
    GetSimulatorFeatures,
    ResetSimulation,
    SetSimulationState,
    StepSimulation,
)
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from flex_dynamics import Model, Sensors
from flex_msgs.action import FollowTipPath
from flex_msgs.msg import DynamicsTerms, FlexState, PayloadEstimate, StrainGauges, TipPath
from flex_msgs.srv import ApplyWrench, AttachPayload, DetachPayload, GetDynamics, PlanTip

PARAMETERS = (
    Parameter('encoders.noise', value=1e-3), Parameter('encoders.bias', value=[0.01]),
    Parameter('gauges.quantisation', value=1e-9), Parameter('imu.gyro_noise', value=0.1),
    Parameter('drive.stiffness', value=[10.0]), Parameter('drive.bandwidth', value=5.0),
    Parameter('record', value=''), Parameter('controller', value='pd'),
    Parameter('pd.bandwidth', value=8.0), Parameter('pd.kp', value=[50.0]),
    Parameter('shaper', value='zv'), Parameter('shaper_modes', value=1),
    Parameter('colour_by', value='strain'), Parameter('exaggeration', value=2.0),
    Parameter('mode', value=1), Parameter('swing', value=0.1), Parameter('rate', value=10.0),
    Parameter('model.link1.bending_stiffness_z', value=3.0),
    Parameter('model.joint1.friction', value=0.1), Parameter('robot', value='lab_link'),
    Parameter('use_sim_time', value=True))


class ValidMessages:
    """Makes good messages of a robot, by their types, with random numbers and the time given."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.sensors = Sensors(model)
        self.joints = list(model.names[:model.n_joints])
        self.tip = model.robot.links[-1].name

    def make(self, kind: Any, stamp_ns: int, rng: np.random.Generator) -> Any:
        """A good message of this type."""
        message = getattr(self, f'_{kind.__name__.lower()}', kind)(rng) if hasattr(
            self, f'_{kind.__name__.lower()}') else kind()
        sec, nanosec = divmod(stamp_ns, 10**9)
        if hasattr(message, 'header'):
            message.header.stamp.sec, message.header.stamp.nanosec = sec, nanosec
        if isinstance(message, Clock):
            message.clock.sec, message.clock.nanosec = sec, nanosec
        return message

    def state(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """q and v (n,), near rest."""
        q, v = 1e-3 * rng.normal(size=(2, self.model.n))
        q[:self.model.n_joints] += 0.3
        return q, v

    def _flexstate(self, rng: np.random.Generator) -> FlexState:
        q, v = self.state(rng)
        return FlexState(name=list(self.model.names), joint_count=self.model.n_joints,
                         position=q.tolist(), velocity=v.tolist())

    def _jointstate(self, rng: np.random.Generator) -> JointState:
        count = len(self.joints)
        return JointState(name=list(self.joints), position=rng.normal(size=count).tolist(),
                          velocity=rng.normal(size=count).tolist(),
                          effort=rng.normal(size=count).tolist())

    def _dynamicsterms(self, rng: np.random.Generator) -> DynamicsTerms:
        q, v = self.state(rng)
        terms = self.model.terms(q, v)
        return DynamicsTerms(
            name=list(self.model.names), joint_count=self.model.n_joints, position=q.tolist(),
            velocity=v.tolist(), **{field: np.ravel(value).tolist() for field, value in zip(
                ('mass', 'coriolis', 'stiffness', 'damping', 'gravity', 'input'), terms)})

    def _straingauges(self, rng: np.random.Generator) -> StrainGauges:
        names = list(self.sensors.gauge_names)
        return StrainGauges(name=names, strain=(1e-5 * rng.normal(size=len(names))).tolist())

    def _imu(self, rng: np.random.Generator) -> Imu:
        message = Imu()
        message.angular_velocity.x, message.linear_acceleration.z = rng.normal(size=2).tolist()
        return message

    def _payloadestimate(self, rng: np.random.Generator) -> PayloadEstimate:
        message = PayloadEstimate(present=True, covariance=(0.01 * np.eye(4)).ravel())
        message.header.frame_id = self.tip
        message.inertia.m, message.inertia.com.x = rng.uniform(0.5, 0.6), 0.05
        return message

    def _wrenchstamped(self, rng: np.random.Generator) -> WrenchStamped:
        message = WrenchStamped()
        message.header.frame_id = self.tip
        message.wrench.force.y, message.wrench.torque.x = (0.1 * rng.normal(size=2)).tolist()
        return message

    def _jointtrajectory(self, rng: np.random.Generator) -> JointTrajectory:
        message = JointTrajectory(joint_names=list(self.joints))
        count = len(self.joints)
        for at in range(int(rng.integers(0, 6))):
            point = JointTrajectoryPoint(
                positions=(0.3 + 0.1 * rng.normal(size=count)).tolist(), velocities=[0.0] * count,
                accelerations=[0.0] * count)
            point.time_from_start.sec = at + 1
            message.points.append(point)
        return message

    def _followjointtrajectory_goal(self, rng: np.random.Generator) -> Any:
        goal = FollowJointTrajectory.Goal(trajectory=self._jointtrajectory(rng))
        goal.goal_time_tolerance.sec = 1
        return goal

    def _tippath(self, rng: np.random.Generator) -> TipPath:
        message = TipPath(kind=int(rng.integers(3)), relative=True, frame=self.tip,
                          keep_orientation=bool(rng.integers(2)), preview=float(rng.random()))
        for _ in range(1 if message.kind == TipPath.LINE else int(rng.integers(1, 4))):
            pose = Pose()
            pose.position.x, pose.position.y = (0.05 * rng.normal(size=2)).tolist()
            message.poses.append(pose)
        message.normal.z, message.centre.x = 1.0, 0.05
        message.duration = 1.0
        return message

    def _followtippath_goal(self, rng: np.random.Generator) -> Any:
        return FollowTipPath.Goal(path=self._tippath(rng), tolerance=0.1)

    # Requests of services, by the names of their types -------------------------------------

    def request(self, kind: Any, rng: np.random.Generator) -> Any:
        """A good request of a service of this type."""
        make = {
            ApplyWrench: self._apply_wrench, AttachPayload: self._attach_payload,
            DetachPayload: lambda _: DetachPayload.Request(name='box'),
            GetDynamics: self._get_dynamics,
            PlanTip: lambda rng: PlanTip.Request(path=self._tippath(rng)),
            StepSimulation: lambda _: StepSimulation.Request(steps=1),
            ResetSimulation: lambda rng: ResetSimulation.Request(scope=int(rng.integers(8))),
            SetSimulationState: self._set_simulation_state,
            QueryTrajectoryState: lambda _: QueryTrajectoryState.Request(),
            SetParameters: lambda rng: SetParameters.Request(parameters=self._parameters(rng)),
            SetParametersAtomically: lambda rng: SetParametersAtomically.Request(
                parameters=self._parameters(rng)),
            GetParameters: lambda rng: GetParameters.Request(names=self._names(rng)),
            GetParameterTypes: lambda rng: GetParameterTypes.Request(names=self._names(rng)),
            DescribeParameters: lambda rng: DescribeParameters.Request(names=self._names(rng)),
            ListParameters: lambda rng: ListParameters.Request(prefixes=['pd', 'drive'], depth=1),
            GetSimulationState: lambda _: GetSimulationState.Request(),
            GetSimulatorFeatures: lambda _: GetSimulatorFeatures.Request()}
        return make[kind](rng) if kind in make else kind.Request()

    def _parameters(self, rng: np.random.Generator) -> list[Any]:
        return [PARAMETERS[at].to_parameter_msg()
                for at in rng.integers(len(PARAMETERS), size=rng.integers(1, 3))]

    def _names(self, rng: np.random.Generator) -> list[str]:
        return [PARAMETERS[at].name for at in rng.integers(len(PARAMETERS), size=2)]

    def _apply_wrench(self, rng: np.random.Generator) -> Any:
        request = ApplyWrench.Request(wrench=self._wrenchstamped(rng))
        request.duration.nanosec = 10_000_000
        return request

    def _attach_payload(self, rng: np.random.Generator) -> Any:
        request = AttachPayload.Request(name='box', frame=self.tip)
        request.inertia.m = float(rng.random())
        return request

    def _set_simulation_state(self, rng: np.random.Generator) -> Any:
        request = SetSimulationState.Request()
        request.state.state = int(rng.integers(3))
        return request

    def _get_dynamics(self, rng: np.random.Generator) -> Any:
        q, v = self.state(rng)
        return GetDynamics.Request(name=list(self.model.names), position=q.tolist(),
                                   velocity=v.tolist(), frequencies=bool(rng.integers(2)),
                                   frame=self.tip, x=float('nan'))
