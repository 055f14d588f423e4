"""A chain of rigid links and beams in Exudyn: geometrically exact beams, constraints, PD servos.

Every node has a position and a rotation, joints are constraints: the way of a general flexible
multibody program.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import exudyn as exu
import exudyn.itemInterface as items
import numpy as np
from scipy.spatial.transform import Rotation

from flex_description.robot import FlexibleLink, Inertia, Robot

HT: Any = exu.HT    # its stub lacks the arguments
REVOLUTE_ABOUT_Z = [1, 1, 1, 1, 1, 0]


@dataclass(frozen=True)
class Setting:
    """What decides speed and accuracy: beams a link, step (s), integrator and Newton settings.

    A stepped set-point jerks the light first node of a beam within a microsecond; the integrator
    is first-order accurate over such a jump, so the first `start_time` s take small steps; after
    `settle_time` s, if given, the steps may be longer again.
    Newton's tolerance is relative; a tight one cuts steps endlessly.
    """

    elements: int
    step: float
    start_time: float = 0.002
    start_step: float = 2e-5
    spectral_radius: float = 0.9
    tolerance: float = 1e-3
    settle_time: float = 0.0
    settled_step: float = 0.0


class ExudynArm:
    """A chain of joints about z, at `start` (rad), held by servos kp (N m/rad), kd (N m s/rad)."""

    def __init__(self, robot: Robot, start: np.ndarray, kp: np.ndarray, kd: np.ndarray,
                 setting: Setting) -> None:
        self.setting = setting
        self.time = 0.0
        self.servos: list = []
        self.beam_nodes: dict[str, list] = {}
        self._container = exu.SystemContainer()
        self.mbs: Any = self._container.AddSystem()
        self._gravity = np.asarray(robot.gravity)
        links = {link.name: link for link in robot.links}
        pose = np.eye(4)
        carrier = self.mbs.AddObject(items.ObjectGround())
        node = tip = None
        for joint in robot.joints:
            pose = pose @ joint.origin
            if joint.type == 'fixed':
                tip = joint.origin[:3, 3]
                continue
            if joint.type not in ('revolute', 'continuous') or not np.allclose(joint.axis,
                                                                               [0, 0, 1]):
                raise ValueError(f'{joint.name}: expected a revolute joint about z, found '
                                 f'{joint.type} about {joint.axis}')
            parent_marker = self._marker(carrier, node, joint.origin, joint.section_x)
            i = len(self.servos)
            pose[:3, :3] = pose[:3, :3] @ Rotation.from_rotvec([0, 0, start[i]]).as_matrix()
            link = links[joint.child]
            if link.flexible is not None:
                nodes = self._beam(pose, link.flexible)
                self.beam_nodes[link.name] = nodes
                carrier, node = None, nodes[-1]
                child_marker = self._marker(None, nodes[0], np.eye(4), 0.0)
            elif link.inertia is not None:
                carrier, node = self._rigid_body(pose, link.inertia), None
                child_marker = self._marker(carrier, None, np.eye(4), None)
            self._join(parent_marker, child_marker, start[i], kp[i], kd[i])
        self._tip = self._tip_sensor(carrier, node, tip)
        self.mbs.Assemble()

    def _marker(self, carrier, node, origin: np.ndarray, section_x: float | None):
        if node is not None:
            turn = HT(rotation=origin[:3, :3], translation=np.zeros(3))
            return self.mbs.AddMarker(items.MarkerNodeRigid(nodeNumber=node, localHT=turn))
        place = HT(rotation=origin[:3, :3], translation=origin[:3, 3])
        return self.mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=carrier, localHT=place))

    def _node(self, pose: np.ndarray):
        rotation = Rotation.from_matrix(pose[:3, :3]).as_rotvec()
        return self.mbs.AddNode(items.NodeRigidBodyRotVecLG(
            referenceCoordinates=[*pose[:3, 3], *rotation]))

    def _rigid_body(self, pose: np.ndarray, inertia: Inertia):
        # Exudyn's tensor is about the node, not about the centre of mass.
        c = inertia.centre
        about_node = inertia.tensor + inertia.mass * (c @ c * np.eye(3) - np.outer(c, c))
        body = self.mbs.AddObject(items.ObjectRigidBody(
            mass=inertia.mass, centerOfMass=c, nodeNumber=self._node(pose),
            inertia=about_node[[0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]]))
        self._weigh(body)
        return body

    def _beam(self, pose: np.ndarray, beam: FlexibleLink) -> list:
        h = beam.length / self.setting.elements
        nodes = []
        for k in range(self.setting.elements + 1):
            at = pose.copy()
            at[:3, 3] += pose[:3, 0] * k * h
            nodes.append(self._node(at))
        for k in range(self.setting.elements):
            p = beam.properties(np.array([(k + 0.5) * h]))
            section = exu.BeamSection()
            ei_y, ei_z = p.bending_stiffness_y[0], p.bending_stiffness_z[0]
            # Shear 12 E I / h2 makes of the constant-strain element the cubic one of a thin beam.
            section.stiffnessMatrix = np.diag([p.axial_stiffness[0], 12 * ei_z / h ** 2,
                                               12 * ei_y / h ** 2, p.torsion_stiffness[0],
                                               ei_y, ei_z])
            section.massPerLength = p.mass_per_length[0]
            y, z = p.inertia_y[0], p.inertia_z[0]
            section.inertia = np.diag([y + z, y, z])
            self._weigh(self.mbs.AddObject(items.ObjectBeamGeometricallyExact(
                nodeNumbers=nodes[k:k + 2], length=h, sectionData=section)))
        return nodes

    def _weigh(self, body) -> None:
        if self._gravity.any():
            marker = self.mbs.AddMarker(items.MarkerBodyMass(bodyNumber=body))
            self.mbs.AddLoad(items.LoadMassProportional(markerNumber=marker,
                                                        loadVector=self._gravity))

    def _join(self, parent, child, angle: float, kp: float, kd: float) -> None:
        self.mbs.AddObject(items.ObjectJointGeneric(markerNumbers=[parent, child],
                                                    constrainedAxes=REVOLUTE_ABOUT_Z))
        turns = self.mbs.AddNode(items.NodeGenericData(initialCoordinates=[angle],
                                                       numberOfDataCoordinates=1))
        servo = self.mbs.AddObject(items.ObjectConnectorTorsionalSpringDamper(
            markerNumbers=[parent, child], nodeNumber=turns, stiffness=kp, damping=kd,
            offset=angle))
        self.servos.append(servo)

    def _tip_sensor(self, carrier, node, tip):
        kind = exu.OutputVariableType.Position
        if node is not None:
            sensor: Any = items.SensorNode(nodeNumber=node, outputVariableType=kind,
                                      storeInternal=True, writeToFile=False)
        else:
            sensor = items.SensorBody(bodyNumber=carrier, localPosition=tip,
                                      outputVariableType=kind, storeInternal=True,
                                      writeToFile=False)
        return self.mbs.AddSensor(sensor)

    def run(self, duration: float, setpoints: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Step the set-points (rad), go on for `duration` s: times (k,), tip positions (k, 3)."""
        for servo, setpoint in zip(self.servos, setpoints):
            self.mbs.SetObjectParameter(servo, 'offset', setpoint)
        setting = self.setting
        settle = min(setting.settle_time or duration, duration)
        parts = [self._solve(setting.start_time, setting.start_step, modified=False),
                 self._solve(settle - setting.start_time, setting.step, modified=True)[1:]]
        if settle < duration:
            parts.append(self._solve(duration - settle, setting.settled_step, modified=True)[1:])
        rows = np.concatenate(parts)
        return rows[:, 0], rows[:, 1:4]

    def _solve(self, duration: float, step: float, modified: bool) -> np.ndarray:
        settings = exu.SimulationSettings()
        integration = settings.timeIntegration
        integration.startTime = self.time
        integration.endTime = self.time + duration
        integration.numberOfSteps = max(1, round(duration / step))
        integration.generalizedAlpha.spectralRadius = self.setting.spectral_radius
        # Accelerations at the jump are those of a node without mass: they would ring for long.
        integration.generalizedAlpha.computeInitialAccelerations = False
        integration.newton.relativeTolerance = self.setting.tolerance
        integration.newton.useModifiedNewton = modified
        integration.verboseMode = 0
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = step
        settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
        settings.linearSolver.reuseAnalyzedPattern = True
        self.mbs.SolveDynamic(settings, updateInitialValues=True)
        self.time += duration
        return self.mbs.GetSensorStoredData(self._tip)

    def joint_angles(self) -> np.ndarray:
        """Angles (rad) of the joints now."""
        kind = exu.OutputVariableType.Rotation
        return np.array([float(self.mbs.GetObjectOutput(servo, kind)) for servo in self.servos])
