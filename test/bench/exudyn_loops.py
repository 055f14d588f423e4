"""Planar mechanisms with one flexible link in Exudyn: ANCF cables, rigid bodies, revolute joints.

The plane is x, y with gravity along -y; the robots here have z for y, and turn about y, which is
-z there.
"""
from __future__ import annotations

from typing import Any

import exudyn as exu
import exudyn.itemInterface as items
import numpy as np

from flex_description.robot import FlexibleLink

GRAVITY = [0.0, -9.81, 0.0]


class PlanarLoop:
    """Rigid bodies and one beam; `pins` join places of them."""

    def __init__(self) -> None:
        self._container = exu.SystemContainer()
        self.mbs: Any = self._container.AddSystem()
        self.ground = self.mbs.AddObject(items.ObjectGround())
        self._sensors: list = []

    def place(self, x: float, y: float):
        """A marker on the ground."""
        return self.mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=self.ground,
                                                           localPosition=[x, y, 0.0]))

    def rod(self, start: tuple[float, float], end: tuple[float, float], mass: float,
            inertia: float, torque: float = 0.0) -> tuple:
        """A rigid rod with its centre in its middle, inertia kg m2 about it; torque N m about z.
        Markers of both ends."""
        start, end = np.array(start), np.array(end)
        length, angle = np.linalg.norm(end - start), np.arctan2(*(end - start)[::-1])
        node = self.mbs.AddNode(items.NodeRigidBody2D(
            referenceCoordinates=[*(0.5 * (start + end)), angle]))
        body = self.mbs.AddObject(items.ObjectRigidBody2D(mass=mass, inertia=inertia,
                                                          nodeNumber=node))
        self._weigh(body)
        if torque:
            marker = self.mbs.AddMarker(items.MarkerNodeRigid(nodeNumber=node))
            self.mbs.AddLoad(items.LoadTorqueVector(markerNumber=marker,
                                                    loadVector=[0.0, 0.0, torque]))
        return tuple(self.mbs.AddMarker(items.MarkerBodyPosition(
            bodyNumber=body, localPosition=[sign * 0.5 * length, 0.0, 0.0])) for sign in (-1, 1))

    def slider(self, at: tuple[float, float], mass: float):
        """A mass that slides along x; its marker."""
        node = self.mbs.AddNode(items.NodePoint2D(referenceCoordinates=list(at)))
        self._weigh(self.mbs.AddObject(items.ObjectMassPoint2D(mass=mass, nodeNumber=node)))
        fixed = self.mbs.AddMarker(items.MarkerNodeCoordinate(
            nodeNumber=self.mbs.AddNode(items.NodePointGround()), coordinate=0))
        moving = self.mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=1))
        self.mbs.AddObject(items.CoordinateConstraint(markerNumbers=[fixed, moving]))
        return self.mbs.AddMarker(items.MarkerNodePosition(nodeNumber=node))

    def beam(self, start: tuple[float, float], end: tuple[float, float], beam: FlexibleLink,
             elements: int) -> tuple:
        """The beam as ANCF cables, an even number; markers of both ends. The middle and the end
        are watched."""
        start, end = np.array(start), np.array(end)
        along = (end - start) / np.linalg.norm(end - start)
        h, p = beam.length / elements, beam.properties(np.array([0.5 * beam.length]))
        nodes = [self.mbs.AddNode(items.NodePoint2DSlope1(
            referenceCoordinates=[*(start + k * h * along), *along]))
            for k in range(elements + 1)]
        for k in range(elements):
            self._weigh(self.mbs.AddObject(items.ObjectANCFCable2D(
                length=h, massPerLength=p.mass_per_length[0], nodeNumbers=nodes[k:k + 2],
                bendingStiffness=p.bending_stiffness_y[0], axialStiffness=p.axial_stiffness[0])))
        for node in (nodes[elements // 2], nodes[-1]):
            self._sensors.append(self.mbs.AddSensor(items.SensorNode(
                nodeNumber=node, outputVariableType=exu.OutputVariableType.Position,
                storeInternal=True, writeToFile=False)))
        return tuple(self.mbs.AddMarker(items.MarkerNodePosition(nodeNumber=nodes[k]))
                     for k in (0, -1))

    def pin(self, one, other) -> None:
        self.mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=[one, other]))

    def _weigh(self, body) -> None:
        marker = self.mbs.AddMarker(items.MarkerBodyMass(bodyNumber=body))
        self.mbs.AddLoad(items.LoadMassProportional(markerNumber=marker, loadVector=GRAVITY))

    def run(self, duration: float, step: float, output: float) -> np.ndarray:
        """Places (k, 2, 2), x and y of the beam's middle and end, each `output` s, from 0."""
        self.mbs.Assemble()
        settings = exu.SimulationSettings()
        settings.timeIntegration.endTime = duration
        settings.timeIntegration.numberOfSteps = round(duration / step)
        settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
        settings.timeIntegration.newton.relativeTolerance = 1e-6
        settings.timeIntegration.newton.absoluteTolerance = 1e-6
        settings.timeIntegration.newton.useModifiedNewton = True
        settings.timeIntegration.verboseMode = 0
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = output
        self.mbs.SolveDynamic(settings)
        times = np.arange(round(duration / output) + 1) * output
        found = []
        for sensor in self._sensors:
            rows = self.mbs.GetSensorStoredData(sensor)
            assert abs(rows[-1, 0] - duration) < 1e-9, 'Exudyn did not reach the end'
            found.append(np.stack([np.interp(times, rows[:, 0], rows[:, k]) for k in (1, 2)], 1))
        return np.stack(found, axis=1)
