"""The bent robot in a viser scene, without ROS.

viser knows one colour a mesh, so that the surface of all flexible links is sorted into a mesh for
each shade.
"""
from __future__ import annotations

from typing import Any

import numpy as np
import viser

from flex_dynamics import Model
from flex_viz.bent_robot import Bent, BentRobot
from flex_viz.colours import Range, rounded_up, shades
from flex_viz.elastic import scaled, tip_frame
from flex_viz.marker import quaternion
from flex_viz.mesh_file import MeshError, load_mesh
from flex_viz.tip_way import TipWay
from flex_viz.visuals import Visual, mesh_path

SHADES = 9
GREY, GHOST, PATH = (77, 79, 83), (170, 170, 170), (240, 150, 25)
FLOOR = (190, 190, 190)
NOTHING = np.zeros((3, 3), dtype=np.float32)
PATH_SPAN, PATH_GAP = 5.0, 0.1      # s of the tip's way, and from point to point


class Scene:
    """Draws states into `server`; what it draws is in `coloured_by`, `exaggeration`, `ghost`."""

    def __init__(self, server: viser.ViserServer, model: Model, tip: str = '') -> None:
        self.model, self._scene = model, server.scene
        self.robot = BentRobot(model)
        self.tip = tip or tip_frame(model)
        self.exaggeration, self.ghost, self.path = 1.0, True, True
        self.coloured_by = 'strain'
        reach = self.robot.reach()
        self._scene.set_up_direction('+z')
        # Lines, because viser's grid is a plane whose every pixel is calculated: without a
        # graphics card that is a fifth of the time of a picture.
        self._scene.add_line_segments('/floor', _floor(reach), FLOOR, thickness=1.0,
                                      thickness_units='screen')
        # The usual light makes all colours pale; this one leaves strain to be seen.
        self._scene.configure_environment_map(None)
        self._scene.configure_default_lights(False)
        self._scene.add_light_ambient('/light/ambient', intensity=2.2)
        self._scene.add_light_directional('/light/sun', intensity=1.5,
                                          position=(0.5 * reach, -reach, 2.0 * reach))
        server.initial_camera.position = (0.5 * reach, -0.9 * reach, 0.5 * reach)
        server.initial_camera.look_at = (0.1 * reach, 0.0, 0.2 * reach)
        faces = np.arange(3).reshape(1, 3)
        self._bent = [self._scene.add_mesh_simple(f'/bent/{at}', NOTHING, faces, side='double',
                                                  visible=False) for at in range(SHADES)]
        self._straight = {name: self._scene.add_mesh_simple(
            f'/straight/{name}', *_mesh(skin.straight()), color=GHOST, opacity=0.35,
            side='double', cast_shadow=False, receive_shadow=False)
            for name, skin in self.robot.skins.items()}
        self._rigid = [(link, visual, self._add(f'/rigid/{link}/{at}', visual))
                       for link, visuals in self.robot.visuals.items()
                       for at, visual in enumerate(visuals)]
        line = np.zeros((1, 2, 3), dtype=np.float32)
        width = 0.004 * reach
        self._lines = self._scene.add_line_segments('/lines', line, GREY, thickness=2.0 * width,
                                                    visible=False)
        self._way = self._scene.add_line_segments('/tip', line, PATH, thickness=width,
                                                  visible=False)
        self._path_so_far = TipWay(PATH_SPAN, PATH_GAP)
        self._ranges = {by: Range(by) for by in ('strain', 'deflection', 'none')}
        self.top = 0.0                 # of the colours

    def _add(self, name: str, visual: Visual) -> Any:
        colour = np.array(visual.colour[:3])
        opacity = visual.colour[3] if visual.colour[3] < 1.0 else None
        size = visual.size
        if visual.kind == 'box':
            return self._scene.add_box(name, colour, tuple(size), opacity=opacity)
        if visual.kind == 'cylinder':
            return self._scene.add_cylinder(name, size[0] / 2.0, size[2], colour, opacity=opacity)
        if visual.kind == 'sphere':
            return self._scene.add_icosphere(name, size[0] / 2.0, colour, opacity=opacity)
        try:
            corners = load_mesh(mesh_path(visual.mesh, self.model.robot)) * size
        except MeshError as error:
            self.robot.problems.append(f'a visual is not drawn: {error}')
            corners = np.zeros((1, 3, 3))
        return self._scene.add_mesh_simple(
            name, *_mesh(corners.reshape(-1, 3)), color=colour, opacity=opacity,
            flat_shading=True, side='double')

    def forget(self) -> None:
        """Begin the tip's way and the range of the colours anew."""
        self._path_so_far.clear()
        for one in self._ranges.values():
            one.reset()

    def show(self, time: float, q: np.ndarray) -> None:
        """Draw the state q (n,) at `time` (s)."""
        drawn = scaled(self.model, q, self.exaggeration)
        bent = self.robot.at(drawn)
        self._show_surface(q, bent)
        for link, visual, handle in self._rigid:
            _place(handle, bent.poses[link] @ visual.pose)
        if self.ghost:
            for name, pose in self.robot.straight(q).items():
                _place(self._straight[name], pose)
        for mesh in self._straight.values():
            mesh.visible = self.ghost
        if len(bent.lines):
            self._lines.points = bent.lines.astype(np.float32)
            self._lines.visible = True
        self._show_path(time, drawn)

    def _show_surface(self, q: np.ndarray, bent: Bent) -> None:
        values = self.robot.values(q, self.coloured_by)
        largest = max((float(np.abs(some).max()) for some in values.values()), default=0.0)
        self.top = self._ranges[self.coloured_by].top(largest)
        corners, means = [np.zeros((0, 3, 3))], [np.zeros(0)]
        for name, skin in self.robot.skins.items():
            corners.append(bent.vertices[name][skin.faces])
            means.append(values[name][skin.faces].mean(axis=1))
        triangles, value = np.concatenate(corners), np.concatenate(means)
        low = -self.top if self.coloured_by == 'strain' else 0.0
        levels = np.linspace(low, self.top, SHADES)
        share = (value - low) / (self.top - low)
        shade = np.clip(np.rint(share * (SHADES - 1)), 0, SHADES - 1).astype(int)
        colours = np.rint(255.0 * shades(levels, self.top, self.coloured_by)).astype(int)
        for at, mesh in enumerate(self._bent):
            mine = triangles[shade == at].reshape(-1, 3)
            mesh.visible = bool(len(mine))
            if not len(mine):
                continue
            mesh.vertices = mine.astype(np.float32)
            if len(mesh.faces) != len(mine) // 3:
                mesh.faces = np.arange(len(mine), dtype=np.uint32).reshape(-1, 3)
            mesh.color = (int(colours[at, 0]), int(colours[at, 1]), int(colours[at, 2]))

    def _show_path(self, time: float, drawn: np.ndarray) -> None:
        way = self._path_so_far.add(time, self.model.pose(drawn, self.tip)[:3, 3])
        self._way.visible = self.path and len(way) > 1
        if len(way) > 1:
            self._way.points = np.stack((way[:-1], way[1:]), axis=1).astype(np.float32)


def _place(handle: Any, pose: np.ndarray) -> None:
    x, y, z, w = quaternion(pose)
    handle.position, handle.wxyz = pose[:3, 3], (w, x, y, z)


def _floor(reach: float) -> np.ndarray:
    """Lines (s, 2, 3) of a grid around the root, with cells of 1, 2 or 5 times a power of ten m.
    """
    cell = rounded_up(reach / 8.0)
    places = cell * np.arange(-round(reach / cell), round(reach / cell) + 1)
    end = np.full(len(places), places[-1])
    along_x = np.stack((np.column_stack((-end, places)), np.column_stack((end, places))), axis=1)
    lines = np.concatenate((along_x, along_x[..., ::-1]))
    return np.concatenate((lines, np.zeros((*lines.shape[:2], 1))), axis=2).astype(np.float32)


def _mesh(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and faces of triangles (3 f, 3) m that share no corner."""
    return corners.astype(np.float32), np.arange(len(corners), dtype=np.uint32).reshape(-1, 3)
