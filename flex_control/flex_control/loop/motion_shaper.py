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
"""Trajectories of others, shaped for the modes of a robot and sampled, for its own controller."""
from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from flex_control.errors import ControlError
from flex_control.loop.trajectory_reader import GoalError, TrajectoryReader
from flex_control.shaping import Impulses, Shaped, Shaper
from flex_control.shaping.delays import ConstantDelays, Delays
from flex_control.shaping.takeover import ShapedMotion
from flex_control.trajectories import Reference, SetPoints, Trajectory
from flex_control.trajectories.trajectory_points import TrajectoryPoints
from flex_dynamics import Model

NONE = 'none'         # the shaper that leaves motions as they are
UNSTATED = 0.1        # by which a rate without a limit may exceed its largest before shaping
GRID = 5e-3           # s, of the search for the time of a position
WINDOW = 0.5          # s around the expected time in which a position is looked for
SLOW = 0.05           # rad/s or m/s: slower motions do not tell the time
NEAR = 2e-3           # rad or m from the motion: what is farther is not on it
MOST_PASSED_ON = 20_000        # points of a motion; longer ones have them farther apart,
COARSEST = 5                   # so many periods at most
WHERE = ('motion', 'goal')
PLAIN = ConstantDelays(Impulses(np.ones(1), np.zeros(1)))


@dataclass(frozen=True)
class ShapedGoal:
    """A motion as it is passed on: `motion` sampled at `times` (k,) s for the joints `names`.

    positions (k, m), velocities and accelerations (k, m) or None, as the motion before shaping
    has them. frequencies: of the modes that were shaped, Hz. all_names: the joints of `motion`.
    note: what was not done as asked; empty if nothing.
    """

    motion: ShapedMotion
    names: tuple[str, ...]
    times: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray | None
    accelerations: np.ndarray | None
    frequencies: tuple[float, ...]
    all_names: tuple[str, ...] = ()
    note: str = ''

    @property
    def delay(self) -> float:
        """By how much (s) the motion ends later than without shaping."""
        return self.motion.end - self.motion.trajectory.end

    @property
    def rest(self) -> np.ndarray:
        """Positions (n_joints,) of all joints at the end."""
        return self.motion.trajectory.sample(self.motion.trajectory.end).position

    def time_of(self, names: Sequence[str], positions: Sequence[float],
                near: float) -> float | None:
        """When (s) the motion is at these positions, at most WINDOW from the time `near` (s); None
        if it is not, or so slow that there is no telling."""
        places = [list(names).index(name) if name in names else None for name in self.names]
        if None in places or len(positions) != len(names):
            return None
        wanted = np.array([positions[at] for at in places if at is not None])
        times = np.arange(near - WINDOW, near + WINDOW, GRID)
        path = np.array([np.interp(times, self.times, column) for column in self.positions.T]).T
        best = int(np.argmin(((path - wanted)**2).sum(axis=1)))
        here = self.motion.samples(times[best:best + 1])[:2, 0]
        of = [self.all_names.index(name) for name in self.names]
        off, speed = wanted - here[0, of], here[1, of]
        if np.abs(speed).max() < SLOW:
            return None
        time = float(times[best] + off @ speed / (speed @ speed))
        left = wanted - self.motion.sample(time).position[of]
        return time if np.abs(left).max() < NEAR else None


@dataclass(frozen=True)
class ShaperSettings:
    """How motions are shaped.

    shaper: 'none', 'zv', 'zvd', 'zvdd' or 'ei'. modes: how many, the lowest first. where: delays
    follow the modes along the 'motion', or are those at its 'goal'. period: s between the points
    that are passed on. frequencies (k,) Hz and damping (k,) or (1,), measured ones: they replace
    the modes of the model.
    """

    shaper: str = 'zvd'
    modes: int = 3
    where: str = 'motion'
    period: float = 0.01
    frequencies: tuple[float, ...] = ()
    damping: tuple[float, ...] = (0.0,)


class MotionShaper:
    """Shapes the motions of one robot: `settings` and `model` (with its payload) may change.

    reader: reads and checks trajectories for all joints of the model. Times are s of any clock.
    """

    def __init__(self, model: Model, reader: TrajectoryReader,
                 settings: ShaperSettings | None = None) -> None:
        self.model, self.reader = model, reader
        self.settings = settings or ShaperSettings()

    def shape(self, points: TrajectoryPoints, start: float, present: Reference,
              before: ShapedMotion | None = None, since: float | None = None,
              also: Sequence[str] = ()) -> ShapedGoal:
        """The motion that goes through the points, from `start` (s) on; GoalError if refused.

        present: where the robot is at `start`, of all joints of the model; of no effect with
        `before`, the motion that it follows now. since (s): with `before`, from when on its
        samples are passed on too, so that the robot may change over at any time in between. also:
        joints that are passed on besides those that the points name.
        """
        if before is not None:
            present = before.sample(start)
        wanted = self.reader.read(points, start, present)
        if isinstance(wanted, SetPoints):
            if not np.array_equal(wanted.positions[-1], present.position):
                raise GoalError('points: expected one after now, found none: without time to get '
                                'there the motion would be a step, which cannot be shaped')
            wanted = SetPoints([start], wanted.positions[-1:])
        known = self.reader.names
        named = set(points.names) | set(also)
        names = tuple(name for name in known if name in named)
        self._check_length(wanted.end - start, '')
        degree = 1 + (points.velocities is not None) + (points.accelerations is not None)
        goal = self._first_allowed(wanted, before, since, degree)
        places = [known.index(name) for name in names]
        return replace(
            goal, names=names, positions=goal.positions[:, places],
            velocities=None if goal.velocities is None else goal.velocities[:, places],
            accelerations=None if goal.accelerations is None else goal.accelerations[:, places])

    def _first_allowed(self, wanted: Trajectory, before: ShapedMotion | None,
                       since: float | None, degree: int) -> ShapedGoal:
        """Shaped in the best way that keeps the limits. The last way always does: the motion as
        it is, or constant delays, which are convex."""
        first = wanted.start if since is None or before is None else since
        kept = None if before is None else before.interrupted(wanted.start, first)
        ways, problem, note = self._ways(wanted), '', ''
        if kept is not None:
            ways.append(('no shaper', PLAIN, ()))
        for at, (what, delays, frequencies) in enumerate(ways):
            note = f'the motion is shaped with {what}, as otherwise {problem}' if at else ''
            motion = ShapedMotion(wanted, delays, kept)
            self._check_length(motion.end - first, f', shaped for {frequencies[0]:.3g} Hz'
                               if frequencies else '')
            times = self._times(first, motion.end,
                                self.settings.period if kept is None else 0.0)
            values = motion.samples(times)
            values[0, -1], values[1:, -1] = wanted.sample(wanted.end).position, 0.0
            found = self._beyond(motion, values[:, times >= motion.start], degree)
            if not found or at + 1 == len(ways):
                break
            problem = found
        return ShapedGoal(motion, (), times, values[0], values[1] if degree > 1 else None,
                          values[2] if degree > 2 else None, frequencies,
                          self.reader.names, note)

    def _ways(self, wanted: Trajectory) -> list[tuple[str, Delays, tuple[float, ...]]]:
        """Ways to shape a motion, the best first; constant delays, which keep all limits, last."""
        given, goal = self.settings, wanted.sample(wanted.end).position
        if given.shaper == NONE or isinstance(wanted, SetPoints):
            return [('no shaper', PLAIN, ())]
        if given.frequencies:
            return [('the given frequencies', ConstantDelays(self._measured()),
                     given.frequencies)]
        shaper = Shaper(self.model, given.shaper, given.modes)
        frequencies = tuple(damped / (2.0 * math.pi) for damped, _ in shaper.modes_at(goal))
        ways: list[tuple[str, Delays, tuple[float, ...]]] = [
            ('the modes of the goal', ConstantDelays(shaper.impulses_at(goal)), frequencies)]
        if given.where == 'motion' and frequencies:
            ways.insert(0, ('the modes along the motion', Shaped(wanted, shaper).delays(),
                            frequencies))
        return ways

    def _measured(self) -> Impulses:
        """Impulses for the frequencies that were given."""
        given = self.settings
        ratios = given.damping * (1 if len(given.damping) > 1 else len(given.frequencies))
        total = Impulses(np.ones(1), np.zeros(1))
        for frequency, ratio in zip(given.frequencies, ratios):
            total = total.convolved(Impulses.of(given.shaper, 2.0 * math.pi * frequency, ratio))
        return total

    def _beyond(self, motion: ShapedMotion, values: np.ndarray, degree: int) -> str:
        """Which limit the samples (3, k, n_joints) leave; empty if none."""
        limits, slack = self.reader.limits, self.reader.slack
        grid = np.linspace(motion.start, motion.trajectory.end, max(values.shape[1], 2))
        own = motion.trajectory.samples(grid)
        if motion.before is not None:      # what goes on for a while
            own = np.concatenate((own, motion.before.samples(grid)), axis=1)
        low, high = (np.minimum(limits.lower, own[0].min(axis=0)),
                     np.maximum(limits.upper, own[0].max(axis=0)))
        outside = (values[0] < low - 1e-9) | (values[0] > high + 1e-9)
        if outside.any():
            row, at = (int(k) for k in np.argwhere(outside)[0])
            return (f'{limits.names[at]} would be at {values[0, row, at]:.4g}, outside of its '
                    f'range from {limits.lower[at]:g} to {limits.upper[at]:g}')
        for order, what in ((1, 'velocity'), (2, 'acceleration'))[:degree - 1]:
            peak = np.abs(values[order]).max(axis=0, initial=0.0)
            most = np.abs(own[order]).max(axis=0)
            limit = limits.rate(order)
            allowed = np.where(np.isfinite(limit), np.maximum((1.0 + slack) * limit, most),
                               (1.0 + UNSTATED) * most) + 1e-9
            if (peak > allowed).any():
                at = int(np.argmax(peak - allowed))
                return (f'the {what} of {limits.names[at]} would be {peak[at]:.4g}, where '
                        f'{allowed[at]:.4g} is the most')
        return ''

    def _check_length(self, duration: float, how: str) -> None:
        """GoalError if a motion of so many s makes too many points."""
        longest = COARSEST * MOST_PASSED_ON * self.settings.period
        if duration > longest:
            raise GoalError(f'time_from_start: expected a motion of at most {longest:g} s '
                            f'({COARSEST * MOST_PASSED_ON} times point_period), found '
                            f'{duration:g} s{how}: raise point_period')

    def _times(self, first: float, end: float, skip: float) -> np.ndarray:
        """Every period from `first` + skip on, and the end (s)."""
        period = max(self.settings.period, (end - first) / MOST_PASSED_ON)
        count = max(math.ceil((end - first - skip) / period - 0.2), 0)
        return np.append(first + skip + period * np.arange(count), max(end, first))


def checked_frequencies(frequencies: Sequence[float], damping: Sequence[float]) -> None:
    """ControlError if they are no modes of a shaper."""
    if len(damping) not in (1, len(frequencies)):
        raise ControlError(f'damping: expected 1 or {len(frequencies)} numbers (one a frequency), '
                           f'found {len(damping)}')
