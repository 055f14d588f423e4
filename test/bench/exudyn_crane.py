"""The crane of crane.py in Exudyn: geometrically exact beams, rigid cylinders, joints.

Without functions of Python in the loop; the elements are those of exudyn_arm, thin by reduced
shear, which need few nodes.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import crane
import exudyn as exu
import exudyn.itemInterface as items
import numpy as np
from scipy.spatial.transform import Rotation

HT: Any = exu.HT        # its stub lacks the arguments
PARTS = 3               # of a boom between its ends, pins and feet
ABOUT_Z = [1, 1, 1, 1, 1, 0]
ALONG_X = [0, 1, 1, 1, 1, 1]
Y_AS_Z = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


@dataclass(frozen=True)
class Setting:
    """What decides speed and accuracy: beams in each third of a boom, and the step (s); over the
    first `start_time` s, when the set-points have stepped, `start_step`."""

    elements: int
    step: float
    start_time: float = 0.01
    start_step: float = 1e-4


def pose(point: np.ndarray, angle: float) -> np.ndarray:
    """Pose (4, 4) of what points along an angle above the horizontal, its y out of the plane."""
    found = np.eye(4)
    found[:3, :3] = Rotation.from_rotvec([0.0, -angle, 0.0]).as_matrix()
    found[[0, 2], 3] = point
    return found


class ExudynCrane:
    """At rest with straight booms; `run` lets gravity and the stepped set-points act."""

    def __init__(self, setting: Setting) -> None:
        self.setting, self.time = setting, 0.0
        self._container = exu.SystemContainer()
        self.mbs: Any = self._container.AddSystem()
        ground = self.mbs.AddObject(items.ObjectGround())
        at, per = crane.places(), setting.elements
        column = self._rigid(np.eye(4), crane.COLUMN, np.full(3, crane.SLEW))
        self._slew(self._on_body(ground, [0, 0, 0], np.eye(3)),
                   self._on_body(column, [0, 0, 0], np.eye(3)))
        first = self._boom(pose(np.array(crane.PIVOT), crane.ANGLES[0]), crane.LENGTHS[0])
        second = self._boom(pose(at.elbow, crane.ANGLES[1]), crane.LENGTHS[1])
        self._join(self._on_body(column, [crane.PIVOT[0], 0.0, crane.PIVOT[1]], Y_AS_Z),
                   self._on_node(first[0], Y_AS_Z), ABOUT_Z)
        self._join(self._on_node(first[-1], Y_AS_Z), self._on_node(second[0], Y_AS_Z), ABOUT_Z)
        self._cylinder(0, at, self._on_body(column, [crane.FOOT[0], 0.0, crane.FOOT[1]], Y_AS_Z),
                       self._on_node(first[per], np.eye(3)))
        self._cylinder(1, at, self._on_node(first[2 * per], Y_AS_Z),
                       self._on_node(second[per], np.eye(3)))
        load = self._rigid(pose(at.elbow + crane.LENGTHS[1] * crane.direction(crane.ANGLES[1]),
                                crane.ANGLES[1]), crane.PAYLOAD, np.full(3, 1e-6))
        self._join(self._on_node(second[-1], np.eye(3)),
                   self._on_body(load, [0, 0, 0], np.eye(3)), 6 * [1])
        self._tip = self.mbs.AddSensor(items.SensorNode(
            nodeNumber=second[-1], outputVariableType=exu.OutputVariableType.Position,
            storeInternal=True, writeToFile=False))
        self.mbs.Assemble()

    def _node(self, place: np.ndarray):
        return self.mbs.AddNode(items.NodeRigidBodyRotVecLG(referenceCoordinates=[
            *place[:3, 3], *Rotation.from_matrix(place[:3, :3]).as_rotvec()]))

    def _rigid(self, place: np.ndarray, mass: float, moments: np.ndarray):
        body = self.mbs.AddObject(items.ObjectRigidBody(
            mass=mass, nodeNumber=self._node(place), inertia=[*moments, 0.0, 0.0, 0.0]))
        self._weigh(body)
        return body

    def _boom(self, start: np.ndarray, length: float) -> list:
        count = PARTS * self.setting.elements
        h = length / count
        nodes = []
        for k in range(count + 1):
            place = start.copy()
            place[:3, 3] += k * h * start[:3, 0]
            nodes.append(self._node(place))
        beam = next(link.flexible for link in crane.crane(1).links if link.name == 'boom1')
        p = beam.properties(np.array([0.5]))
        ei_y, ei_z = p.bending_stiffness_y[0], p.bending_stiffness_z[0]
        section = exu.BeamSection()
        # Shear 12 E I / h2 makes of the constant-strain element the cubic one of a thin beam.
        section.stiffnessMatrix = np.diag([p.axial_stiffness[0], 12.0 * ei_z / h**2,
                                           12.0 * ei_y / h**2, p.torsion_stiffness[0], ei_y, ei_z])
        section.massPerLength = p.mass_per_length[0]
        y, z = p.inertia_y[0], p.inertia_z[0]
        section.inertia = np.diag([y + z, y, z])
        for k in range(count):
            self._weigh(self.mbs.AddObject(items.ObjectBeamGeometricallyExact(
                nodeNumbers=nodes[k:k + 2], length=h, sectionData=section)))
        return nodes

    def _cylinder(self, k: int, at: crane.Places, foot, pin) -> None:
        """Barrel and rod, each slender, and the spring and damper between foot and pin."""
        along, ends = crane.direction(at.angles[k]), []
        for (mass, length), origin, sign in ((crane.BARREL, at.feet[k], 1.0),
                                             (crane.ROD, at.pins[k], -1.0)):
            moment = mass * length**2 / 12.0
            ends.append((self._rigid(pose(origin + 0.5 * sign * length * along, at.angles[k]),
                                     mass, np.array([0.01 * moment, moment, moment])),
                         [-0.5 * sign * length, 0.0, 0.0]))
        (barrel, start), (rod, end) = ends
        self._join(foot, self._on_body(barrel, start, Y_AS_Z), ABOUT_Z)
        self.mbs.AddObject(items.ObjectJointSpherical(
            markerNumbers=[pin, self._on_body(rod, end, np.eye(3))]))
        self._join(self._on_body(barrel, start, np.eye(3)), self._on_body(rod, end, np.eye(3)),
                   ALONG_X)
        self.mbs.AddObject(items.ObjectConnectorSpringDamper(
            markerNumbers=[foot, pin], referenceLength=at.lengths[k] + crane.STEPS[k],
            stiffness=crane.STIFFNESS, damping=crane.DAMPING))

    def _slew(self, ground, column) -> None:
        self._join(ground, column, ABOUT_Z)
        turns = self.mbs.AddNode(items.NodeGenericData(initialCoordinates=[0.0],
                                                       numberOfDataCoordinates=1))
        self.mbs.AddObject(items.ObjectConnectorTorsionalSpringDamper(
            markerNumbers=[ground, column], nodeNumber=turns, stiffness=crane.SLEW_STIFFNESS,
            damping=crane.SLEW_DAMPING, offset=crane.SLEW_STEP))

    def _on_body(self, body, place, turn: np.ndarray) -> Any:
        return self.mbs.AddMarker(items.MarkerBodyRigid(
            bodyNumber=body, localHT=HT(rotation=turn, translation=np.array(place, dtype=float))))

    def _on_node(self, node, turn: np.ndarray) -> Any:
        return self.mbs.AddMarker(items.MarkerNodeRigid(
            nodeNumber=node, localHT=HT(rotation=turn, translation=np.zeros(3))))

    def _join(self, one, other, axes: list[int]) -> None:
        self.mbs.AddObject(items.ObjectJointGeneric(markerNumbers=[one, other],
                                                    constrainedAxes=axes))

    def _weigh(self, body) -> None:
        marker = self.mbs.AddMarker(items.MarkerBodyMass(bodyNumber=body))
        self.mbs.AddLoad(items.LoadMassProportional(markerNumber=marker,
                                                    loadVector=[0.0, 0.0, -crane.GRAVITY]))

    def run(self, duration: float, every: float) -> np.ndarray:
        """Tip (k, 3) every `every` s, from `every` on; `start_time` is a part of the first."""
        setting = self.setting
        self._solve(setting.start_time, setting.start_step, setting.start_time, False)
        if setting.start_time < every:
            self._solve(every - setting.start_time, setting.step, every, True)
        rows = self._solve(duration - self.time, setting.step, every, True)
        tips: np.ndarray = rows[:, 1:4]
        return tips

    def _solve(self, duration: float, step: float, every: float, modified: bool) -> np.ndarray:
        settings = exu.SimulationSettings()
        integration = settings.timeIntegration
        integration.startTime, integration.endTime = self.time, self.time + duration
        integration.numberOfSteps = max(1, round(duration / step))
        integration.generalizedAlpha.spectralRadius = 0.9
        # Accelerations at the jump are those of a node without mass: they would ring for long.
        integration.generalizedAlpha.computeInitialAccelerations = False
        integration.newton.relativeTolerance = 1e-4
        integration.newton.useModifiedNewton = modified
        integration.verboseMode = 0
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = every
        settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
        settings.linearSolver.reuseAnalyzedPattern = True
        self.mbs.SolveDynamic(settings, updateInitialValues=True)
        self.time += duration
        return self.mbs.GetSensorStoredData(self._tip)
