"""Planar chains of thin beams in Exudyn: ANCF cables, for the Canadarm and the spin-up beam.

Absolute nodal coordinates: positions and slopes, no rotations; a third formulation, after the
recursion here and the geometrically exact beams of exudyn_arm.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import exudyn as exu
import exudyn.itemInterface as items
import numpy as np

from flex_description.robot import FlexibleLink, Robot

MOST_AXIAL_STIFFNESS = 1e9    # N; a larger one only makes the equations ill-conditioned


class PlanarChain:
    """A chain of flexible links along x, in the x-y plane, joined by revolute joints about z."""

    def __init__(self, robot: Robot, elements: int) -> None:
        self._container = exu.SystemContainer()
        self.mbs: Any = self._container.AddSystem()
        self.ground = self.mbs.AddObject(items.ObjectGround())
        self.cables: list[list] = []
        self.nodes: list[list] = []
        start = 0.0
        for link in robot.links:
            if link.flexible is not None:
                self._beam(link.flexible, start, elements)
                start += link.flexible.length
        self._tip = self.mbs.AddSensor(items.SensorNode(
            nodeNumber=self.nodes[-1][-1], outputVariableType=exu.OutputVariableType.Position,
            storeInternal=True, writeToFile=False))

    def _beam(self, beam: FlexibleLink, start: float, elements: int) -> None:
        h = beam.length / elements
        nodes = [self.mbs.AddNode(items.NodePoint2DSlope1(
            referenceCoordinates=[start + k * h, 0.0, 1.0, 0.0])) for k in range(elements + 1)]
        cables = []
        for k in range(elements):
            p = beam.properties(np.array([(k + 0.5) * h]))
            cables.append(self.mbs.AddObject(items.ObjectANCFCable2D(
                length=h, massPerLength=p.mass_per_length[0], nodeNumbers=nodes[k:k + 2],
                bendingStiffness=p.bending_stiffness_z[0],
                axialStiffness=min(p.axial_stiffness[0], MOST_AXIAL_STIFFNESS))))
        self.nodes.append(nodes)
        self.cables.append(cables)

    def hinge(self, torques: Callable[[float], np.ndarray]) -> None:
        """Join the links by free hinges, driven by torques(t) (n,) N m; the first is at ground."""
        parent = self.mbs.AddMarker(items.MarkerBodyPosition(bodyNumber=self.ground))
        for i, (nodes, cables) in enumerate(zip(self.nodes, self.cables)):
            child = self.mbs.AddMarker(items.MarkerNodePosition(nodeNumber=nodes[0]))
            self.mbs.AddObject(items.ObjectJointRevolute2D(markerNumbers=[parent, child]))
            parent = self.mbs.AddMarker(items.MarkerNodePosition(nodeNumber=nodes[-1]))
            self._torque(cables[0], 0.0, torques, i, 1.0)
            if i:
                before = self.cables[i - 1][-1]
                end = self.mbs.GetObject(before)['length']
                self._torque(before, end, torques, i, -1.0)

    def _torque(self, cable, x: float, torques: Callable[[float], np.ndarray], joint: int,
                sign: float) -> None:
        def load(_mbs, t: float, _load) -> list[float]:
            return [0.0, 0.0, sign * torques(t)[joint]]

        drive: Any = load
        marker = self.mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=cable,
                                                          localPosition=[x, 0.0, 0.0]))
        self.mbs.AddLoad(items.LoadTorqueVector(
            markerNumber=marker, loadVector=[0.0, 0.0, 1.0],
            loadVectorUserFunction=drive))

    def turn(self, angle: Callable[[float], float]) -> None:
        """Clamp the first link to a hub that turns by angle(t) rad about z."""
        node = self.mbs.AddNode(items.NodeRigidBody2D())
        hub = self.mbs.AddObject(items.ObjectRigidBody2D(mass=1.0, inertia=1.0, nodeNumber=node))
        fixed = self.mbs.AddMarker(items.MarkerNodeCoordinate(
            nodeNumber=self.mbs.AddNode(items.NodePointGround()), coordinate=0))
        for coordinate in range(3):
            marker = self.mbs.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node,
                                                                   coordinate=coordinate))
            drive: Any = ((lambda mbs, t, item, offset: angle(t)) if coordinate == 2 else 0)
            self.mbs.AddObject(items.CoordinateConstraint(markerNumbers=[fixed, marker],
                                                          offsetUserFunction=drive))
        on_hub = self.mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=hub))
        on_beam = self.mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=self.cables[0][0]))
        self.mbs.AddObject(items.ObjectJointGeneric(markerNumbers=[on_hub, on_beam],
                                                    constrainedAxes=[1, 1, 0, 0, 0, 1]))

    def run(self, duration: float, step: float) -> tuple[np.ndarray, np.ndarray]:
        """Times (k,) and tip positions (k, 3) of every step."""
        self.mbs.Assemble()
        settings = exu.SimulationSettings()
        settings.timeIntegration.endTime = duration
        settings.timeIntegration.numberOfSteps = round(duration / step)
        settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
        settings.timeIntegration.newton.relativeTolerance = 1e-5
        # From rest the first residuals are nought: relative to them nothing converges.
        settings.timeIntegration.newton.absoluteTolerance = 1e-5
        settings.timeIntegration.newton.useModifiedNewton = True
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = step
        self.mbs.SolveDynamic(settings)
        rows = self.mbs.GetSensorStoredData(self._tip)
        return rows[:, 0], rows[:, 1:4]
