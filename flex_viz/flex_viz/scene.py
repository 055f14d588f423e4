"""The robot in a browser: a viser scene that follows the state; without ROS."""
from __future__ import annotations

import numpy as np
import viser

from flex_dynamics import Model
from flex_viz.bent_robot import BentRobot
from flex_viz.elastic import scaled
from flex_viz.outline import outline

BLUE, GREY, GHOST = (31, 111, 196), (77, 79, 83), (170, 170, 170)


class Scene:
    """Serves a page at http://host:port with the bent robot and a slider for its deflection."""

    def __init__(self, model: Model, host: str = '127.0.0.1', port: int = 8080) -> None:
        self._model = model
        self._robot = BentRobot(model)
        self._tubes = self._robot.skins
        self._server = viser.ViserServer(host=host, port=port, verbose=False,
                                         label=f'flex: {model.robot.name}')
        self.address = f'http://{host}:{self._server.get_port()}'
        still = np.zeros(model.n)
        reach = max((float(np.abs(line).max()) for line in outline(model, still).values()),
                    default=1.0)
        self._server.scene.set_up_direction('+z')
        self._server.scene.add_grid('/floor', 2.0 * reach, 2.0 * reach)
        self._server.initial_camera.position = (0.6 * reach, -1.4 * reach, 0.8 * reach)
        self._server.initial_camera.look_at = (0.0, 0.0, 0.3 * reach)
        self._meshes = {
            name: self._server.scene.add_mesh_simple(
                f'/links/{name}', self._robot.at(still).vertices[name], tube.faces, color=BLUE,
                side='double')
            for name, tube in self._tubes.items()}
        self._figures = self._server.gui.add_markdown('waiting for a state')
        self._factor = self._server.gui.add_slider(
            'deflection drawn times', min=0.0, max=20.0, step=0.5, initial_value=1.0)
        self._ghost = self._server.gui.add_checkbox('straight links in grey', True)

    def show(self, time: float, q: np.ndarray) -> None:
        """Draw the state q (n,) at `time` (s)."""
        factor = float(self._factor.value)
        rigid = [line for name, line in outline(self._model, q, factor).items()
                 if name not in self._tubes]
        straight = outline(self._model, q, 0.0)
        bent = outline(self._model, q, 1.0)
        with self._server.atomic():
            for name, points in self._robot.at(scaled(self._model, q, factor)).vertices.items():
                self._meshes[name].vertices = points.astype(np.float32)
            self._lines('/rigid', rigid, GREY)
            self._lines('/straight', [straight[name] for name in self._tubes]
                        if self._ghost.value else [], GHOST)
            most = max((float(np.linalg.norm(bent[name][-1] - straight[name][-1]))
                        for name in self._tubes), default=0.0)
            self._figures.content = (f'simulated time {time:.2f} s, largest deflection '
                                     f'{1e3 * most:.1f} mm')

    def _lines(self, name: str, lines: list[np.ndarray], colour: tuple[int, int, int]) -> None:
        """Replace the polylines under `name`."""
        pieces = [np.stack((line[:-1], line[1:]), axis=1) for line in lines]
        points = np.concatenate(pieces) if pieces else np.zeros((1, 2, 3))
        self._server.scene.add_line_segments(name, points.astype(np.float32), colour,
                                             thickness=0.02, visible=bool(pieces))

    def close(self) -> None:
        self._server.stop()
