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
"""What the robot stands on and is seen by: floor, shadow, light, background and camera views."""
from __future__ import annotations

from typing import Any

import numpy as np
import viser

from flex_viz.geometry.colours import rounded_up

FIELD_OF_VIEW = 0.6      # rad, vertical: little perspective, so that straight links look straight
FLOOR_LINES, FLOOR_AXES = (186, 192, 200), (150, 157, 166)
SHADOW = (176, 183, 192)
SKY, GROUND = (198, 211, 226), (250, 251, 252)      # of the background, from top to bottom
SUN = np.array([0.35, -0.45, 1.0])                  # direction to it
LIFT = 3e-4              # of the shadow above the floor, share of the reach
# Directions from the robot to the camera.
VIEWS = {'Overview': (0.5, -0.8, 0.38), 'Front': (1.0, 0.0, 0.02), 'Side': (0.0, -1.0, 0.02),
         'Back': (-1.0, 0.0, 0.02), 'Top': (0.02, -0.03, 1.0)}
START = 'Overview'


class Stage:
    """Floor, light and background in `server`, for a robot that reaches `reach` m."""

    def __init__(self, server: viser.ViserServer, reach: float) -> None:
        self._server, self._scene, self._reach = server, server.scene, reach
        self._centre, self._radius = np.array([0.2 * reach, 0.0, 0.3 * reach]), 0.6 * reach
        scene = self._scene
        scene.set_up_direction('+z')
        scene.world_axes.visible = False
        # Lines instead of viser's grid, which is a shaded plane: without a graphics card it takes
        # a fifth of the time of a frame.
        lines, axes = _floor(reach)
        scene.add_line_segments('/floor/lines', lines, FLOOR_LINES, thickness=1.0,
                                thickness_units='screen')
        scene.add_line_segments('/floor/axes', axes, FLOOR_AXES, thickness=2.0,
                                thickness_units='screen')
        scene.set_background_image(_gradient(), format='png')
        # The default light makes all colours pale; this one keeps the strain visible.
        scene.configure_environment_map(None)
        scene.configure_default_lights(False)
        scene.add_light_hemisphere('/light/sky', sky_color=(255, 255, 255),
                                   ground_color=(150, 155, 165), intensity=1.7,
                                   position=(0.0, 0.0, reach))
        scene.add_light_directional('/light/sun', intensity=1.9, position=tuple(SUN * reach))
        scene.add_light_directional('/light/fill', intensity=0.5,
                                    position=tuple(np.array([-0.6, 0.8, 0.3]) * reach))
        self._shadow: Any = None
        self.aim(self._centre, self._radius)

    def aim(self, centre: np.ndarray, radius: float) -> None:
        """Let the views show a sphere about `centre` (3,), m; new browsers begin with one."""
        self._centre, self._radius = np.asarray(centre, dtype=float), radius
        camera = self._server.initial_camera
        camera.fov = FIELD_OF_VIEW
        camera.look_at = tuple(self._centre)
        camera.position = tuple(self.position(START))

    def position(self, view: str) -> np.ndarray:
        """Where the camera is in a view, (3,) m."""
        direction = np.array(VIEWS[view])
        distance = self._radius / np.sin(FIELD_OF_VIEW / 2.0)
        return self._centre + distance * direction / np.linalg.norm(direction)

    def look(self, client: viser.ClientHandle, view: str) -> None:
        """Move the camera of one browser."""
        with client.atomic():
            client.camera.up_direction = (0.0, 0.0, 1.0)
            client.camera.position = self.position(view)
            client.camera.look_at = self._centre

    def show_shadow(self, vertices: np.ndarray, faces: np.ndarray) -> None:
        """The shadow on the floor of vertices (p, 3), m, and faces (f, 3); none: hidden.

        It is drawn as what it is, a flat shape (Blinn, Me and my fake shadow, 1988): shadow maps
        would take longer than all else without a graphics card.
        """
        if not len(faces):
            if self._shadow is not None:
                self._shadow.visible = False
            return
        flat = vertices - np.outer(vertices[:, 2], SUN / SUN[2])
        flat[:, 2] = LIFT * self._reach
        # What is below the floor casts no shadow on it.
        flat[vertices[:, 2] < 0.0, :2] = vertices[vertices[:, 2] < 0.0, :2]
        flat = flat.astype(np.float32)
        if self._shadow is None:
            self._shadow = self._scene.add_mesh_simple(
                '/shadow', flat, faces.astype(np.uint32), color=SHADOW, flat_shading=True,
                side='double', cast_shadow=False, receive_shadow=False)
            return
        self._shadow.vertices = flat
        if len(self._shadow.faces) != len(faces):
            self._shadow.faces = faces.astype(np.uint32)
        self._shadow.visible = True


def _gradient() -> np.ndarray:
    """The background (height, width, 3), 0 to 255."""
    share = np.linspace(0.0, 1.0, 256)[:, None, None]
    colours = (1.0 - share) * np.array(SKY) + share * np.array(GROUND)
    return np.broadcast_to(np.rint(colours), (256, 64, 3)).astype(np.uint8)


def _floor(reach: float) -> tuple[np.ndarray, np.ndarray]:
    """Lines (s, 2, 3), m, of a grid around the root, with cells of 1, 2 or 5 times 10^k m, and
    those of them through the root."""
    cell = rounded_up(reach / 8.0)
    places = cell * np.arange(-round(1.5 * reach / cell), round(1.5 * reach / cell) + 1)
    end = np.full(len(places), places[-1])
    along_x = np.stack((np.column_stack((-end, places)), np.column_stack((end, places))), axis=1)
    lines = np.concatenate((along_x, along_x[..., ::-1]))
    lines = np.concatenate((lines, np.zeros((*lines.shape[:2], 1))), axis=2).astype(np.float32)
    middle = np.concatenate((places, places)) == 0.0
    return lines[~middle], lines[middle]
