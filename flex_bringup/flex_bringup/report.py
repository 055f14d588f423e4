"""What a recorded run comes to: a table and pictures."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from flex_dynamics import Model
from flex_viz.plots import plot_poses, plot_time


@dataclass(frozen=True)
class Run:
    """k states of a run: time (k,) s, q and v (k, n), the others (k, n_joints)."""

    model: Model
    tool: str                   # the frame whose deflection is told
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    efforts: np.ndarray         # as joint_states has them, the drives' damping included
    commands: np.ndarray        # efforts that the controller asked for
    set_points: np.ndarray
    wall_time: float            # s that the run took

    def deflection(self) -> np.ndarray:
        """(k,) m: how far the tool is from where the same joints with straight links put it."""
        out = np.empty(len(self.time))
        for at, q in enumerate(self.q):
            straight = q.copy()
            straight[self.model.n_joints:] = 0.0
            out[at] = np.linalg.norm(self.model.pose(q, self.tool)[:3, 3]
                                     - self.model.pose(straight, self.tool)[:3, 3])
        return out


def table(run: Run, deflection: np.ndarray) -> str:
    """The run in figures."""
    model = run.model
    lines = [f'{"joint":<12}{"start":>10}{"set-point":>11}{"reached":>10}{"off by":>10}'
             f'{"largest command":>17}',
             f'{"":<12}{"deg":>10}{"deg":>11}{"deg":>10}{"deg":>10}{"N m":>17}']
    for at in range(model.n_joints):
        start, end = np.degrees(run.q[0, at]), np.degrees(run.q[-1, at])
        goal = np.degrees(run.set_points[-1, at])
        lines.append(f'{model.names[at]:<12}{start:>10.3f}{goal:>11.3f}{end:>10.3f}'
                     f'{end - goal:>10.3f}{np.abs(run.commands[:, at]).max():>17.1f}')
    last_second = deflection[run.time >= run.time[-1] - 1.0]
    first, last = (model.energy(q, v) for q, v in ((run.q[0], run.v[0]), (run.q[-1], run.v[-1])))
    gained = sum(last) - sum(first)
    lines += [
        '',
        f'deflection of {run.tool}: largest {1e3 * deflection.max():.1f} mm at '
        f'{run.time[deflection.argmax()]:.3f} s; at the end {1e3 * deflection[-1]:.1f} mm, still '
        f'moving by {1e3 * np.ptp(last_second):.2f} mm in the last second',
        f'energy gained: {gained:.1f} J (kinetic {last[0] - first[0]:.1f}, strain '
        f'{last[1] - first[1]:.1f}, gravity {last[2] - first[2]:.1f})',
        f'{run.time[-1]:g} s in {run.wall_time:.1f} s of wall time: '
        f'{run.time[-1] / run.wall_time:.2f} times real time, {len(run.time)} states',
    ]
    return '\n'.join(lines)


def pictures(run: Run, deflection: np.ndarray, folder: Path, exaggeration: float,
             moments: tuple[float, ...]) -> list[Path]:
    """Draw the run; the files made."""
    files = [folder / 'run.png', folder / 'poses.png']
    names = run.model.names[:run.model.n_joints]
    plot_time(files[0], run.time, run.q[:, :len(names)], run.set_points, deflection, run.efforts,
              names)
    at = np.searchsorted(run.time, np.minimum(moments, run.time[-1]))
    plot_poses(files[1], run.model, run.time[at], run.q[at], exaggeration)
    return files
