"""A recorded run: its arrays, and its summary as a table."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from flex_dynamics import Model
from flex_viz.shown_text import plain


class RunError(RuntimeError):
    """A run that did not complete or cannot be read; the text gives the reason."""


@dataclass(frozen=True)
class Run:
    """k states of a run.

    time: (k,) s. q, v: (k, n), coordinates and velocities, in the order of `model.names`.
    efforts, commands, set_points: (k, n_joints), or None if unknown.
    """

    model: Model
    tool: str                                # the frame whose deflection is reported
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    efforts: np.ndarray | None = None        # as in joint_states, drives included
    commands: np.ndarray | None = None       # efforts that the controller commanded
    set_points: np.ndarray | None = None
    wall_time: float = 0.0                   # s of wall time that the run took; 0: unknown

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return tuple(self.model.names[:self.model.n_joints])

    @cached_property
    def deflection(self) -> np.ndarray:
        """(k,) m: distance of the tool from its position with straight links, at the same joint
        positions."""
        out = np.empty(len(self.time))
        for at, q in enumerate(self.q):
            straight = q.copy()
            straight[self.model.n_joints:] = 0.0
            out[at] = np.linalg.norm(self.model.pose(q, self.tool)[:3, 3]
                                     - self.model.pose(straight, self.tool)[:3, 3])
        return out

    def at(self, moments: npt.ArrayLike) -> np.ndarray:
        """Indices (m,) of the first states at or after those times (s); at most the last state."""
        return np.minimum(np.searchsorted(self.time, np.asarray(moments) - 1e-9),
                          len(self.time) - 1)


HEAD = ('joint', 'in', 'start', 'set-point', 'reached', 'off by', 'largest command',
        'largest effort')
WIDTHS = (12, 9, 10, 11, 10, 10, 17, 16)


def scale(run: Run) -> tuple[np.ndarray, list[str]]:
    """Factors (n_joints,) from SI to the printed units of joint positions, and those units."""
    kinds = {joint.name: joint.type for joint in run.model.robot.joints}
    sliding = [kinds.get(name) == 'prismatic' for name in run.joints]
    return (np.where(sliding, 1e3, 180.0 / np.pi),
            ['mm, N' if slides else 'deg, N m' for slides in sliding])


def rows(run: Run) -> list[tuple[str, ...]]:
    """A row of the table for each joint, with the columns of HEAD; '-' for unknown values."""
    out = []
    for at, (name, factor, unit) in enumerate(zip(run.joints, *scale(run))):
        start, end = factor * run.q[0, at], factor * run.q[-1, at]
        goal = factor * run.set_points[-1, at] if run.set_points is not None else np.nan
        command, effort = (np.nanmax(np.abs(values[:, at])) if values is not None else np.nan
                           for values in (run.commands, run.efforts))
        numbers = (start, goal, end, end - goal, command, effort)
        forms = ('.3f', '.3f', '.3f', '.3f', '.1f', '.1f')
        out.append((plain(name, 40), unit, *(format(number, form) if np.isfinite(number) else '-'
                                  for number, form in zip(numbers, forms))))
    return out


def notes(run: Run) -> list[str]:
    """Summary of the run: deflection, energy, speed."""
    deflection, model = run.deflection, run.model
    last_second = deflection[run.time >= run.time[-1] - 1.0]
    first, last = (model.energy(q, v) for q, v in ((run.q[0], run.v[0]), (run.q[-1], run.v[-1])))
    lines = [
        f'deflection of {plain(run.tool)}: largest {1e3 * deflection.max():.1f} mm at '
        f'{run.time[deflection.argmax()]:.3f} s; at the end {1e3 * deflection[-1]:.1f} mm, still '
        f'moving by {1e3 * np.ptp(last_second):.2f} mm in the last second',
        f'energy gained: {sum(last) - sum(first):.1f} J (kinetic {last[0] - first[0]:.1f}, strain '
        f'{last[1] - first[1]:.1f}, gravity {last[2] - first[2]:.1f})',
    ]
    span = run.time[-1] - run.time[0]
    if run.wall_time > 0.0:
        lines.append(f'{span:g} s in {run.wall_time:.1f} s of wall time: '
                     f'{span / run.wall_time:.2f} times real time, {len(run.time)} states')
    else:
        lines.append(f'{span:g} s, {len(run.time)} states')
    return lines


def table(run: Run) -> str:
    """The summary of a run as text: a row for each joint, then notes."""
    def line(cells: Sequence[str]) -> str:
        first, *others = (f'{cell:>{width}}' for cell, width in zip(cells, WIDTHS))
        return first.strip().ljust(WIDTHS[0]) + ''.join(others)

    return '\n'.join([line(HEAD), *map(line, rows(run)), '', *notes(run)])
