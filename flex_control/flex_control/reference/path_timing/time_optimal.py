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
"""Fast motion along a path within limits that the vibrating links keep, at rest at its end."""
from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline
from scipy.optimize import linprog

from flex_control.design.limited_outputs import LINKS, limited_outputs
from flex_control.design.zero_dynamics import check_joint_outputs
from flex_control.errors import ControlError, refuse_constraints
from flex_control.reference.path_timing.bending_sensitivity import Bent, bent
from flex_control.reference.path_timing.rigid_optimum import JointPath, RigidOptimum
from flex_control.trajectories.base import Feedforward, Reference, Trajectory
from flex_dynamics import Model

PIECES = 32              # of the spline s(t)
DEGREE = 5
STEPS = 300              # of the simulation, at least
SHORTEST_PERIOD = 12     # steps in a period of the slowest mode, at least
# Durations that are tried, over the rigid optimum's.
FACTORS = 1.03, 1.06, 1.08, 1.1, 1.12, 1.14, 1.15, 1.18, 1.25, 1.4, 1.7, 2.2, 3.0, 4.5
SWEEPS = 14              # of linear programs at one duration
GAIN = 0.95              # of what exceeds the limits: no more may be left by a program that helped
MOST_STALE = 3           # programs one after another that did not help
TRUST = 0.08             # of the length, by which a weight may change in one of them
AT_AN_INSTANT = 4        # outputs of a kind that take part at one instant
NEAR = 0.5               # of a limit, from which on they do
KEPT = 1e-3              # of the limits, by which a motion may exceed them
VIBRATION = 0.015        # of the rigid optimum's residual vibration, that is aimed at
SHARED = 3               # modes that may each have their part of it
REST = 1e-7              # m, of the tip: no less vibration than that is asked for


class TimeOptimal(Trajectory):
    """A motion along a path, as fast as limits on efforts, speeds and strain of the bending robot
    allow, and without vibration at its end.

    The path is that of the joints: through waypoints, or that of a trajectory (`CartesianLine`,
    say) in another time. Joints, elastic coordinates and efforts are those of the model;
    controllers take them as feedforward, as with `TipTrajectory`.

    Parameters
    ----------
    model : flex_dynamics.Model
        The robot, with its payload.
    path : Trajectory or array-like, shape (k, n_joints)
        Where the joints go.
    strain_limit : float
        Largest bending strain (m/m) at the outer fibres of the links; 0: none.
    effort_limit, velocity_limit : array-like, shape (n_joints,), optional
        Largest efforts and speeds of the joints; left out: those of the robot.
    frame : str, optional
        Whose vibration counts; left out: the last link.
    start : float
        When it begins, s.

    Attributes
    ----------
    rigid : RigidOptimum
        The fastest motion within the same limits if links did not vibrate.
    duration, ratio : float
        s, and over that of the rigid optimum.
    vibration, rigid_vibration : float
        Largest distance (m) of the frame from its resting place after the end, to first order in
        the modes, of this motion and of the rigid optimum with the links bending.

    Examples
    --------
    >>> from flex_control import TimeOptimal
    >>> from flex_description import load_robot
    >>> from flex_dynamics import Model
    >>> model = Model(load_robot('lab_link'))
    >>> motion = TimeOptimal(model, [[0.0], [0.6]], effort_limit=0.3, velocity_limit=3.0)
    >>> motion.ratio < 1.15 and motion.vibration < 0.02 * motion.rigid_vibration
    True
    """

    def __init__(self, model: Model, path: Trajectory | ArrayLike, strain_limit: float = 0.0,
                 effort_limit: ArrayLike | None = None, velocity_limit: ArrayLike | None = None,
                 frame: str = '', start: float = 0.0) -> None:
        refuse_constraints(model, 'time-optimal motion')
        check_joint_outputs(model, 'time-optimal motion')
        self.model, self.path = model, JointPath(path)
        if self.path.at(0.0).shape != (model.n_joints,):
            raise ControlError(f'path: expected {model.n_joints} joints, found '
                               f'{self.path.at(0.0).shape[0]}')
        self.frame = frame or model.robot.links[-1].name
        if not 0.0 <= strain_limit < 1.0:
            raise ControlError(f'strain_limit: expected 0 to 1, found {strain_limit}')
        effort, velocity = (_limit(given, own, name) for given, own, name in (
            (effort_limit, model.joint_limits.effort, 'effort_limit'),
            (velocity_limit, model.joint_limits.velocity, 'velocity_limit')))
        self.limited = limited_outputs(model, effort, velocity, 0.0, strain_limit, LINKS)
        if not len(self.limited):
            raise ControlError('time-optimal motion: expected limits of effort, speed or strain, '
                               'found none')
        self.rigid = RigidOptimum(model, self.path, self.limited, start)
        self._modes()
        rows = self._arrival(self._follow_rigid())
        self.rigid_vibration = float(np.hypot(*rows.reshape(2, -1)).sum())
        self._tolerance = max(VIBRATION * self.rigid_vibration, REST) / SHARED
        self._solve()
        self.start, self.end = start, start + self.duration
        self.ratio = self.duration / self.rigid.duration

    # What arrives ---------------------------------------------------------------------------

    def _modes(self) -> None:
        """Modes with the joints held at the end of the path, and what they move the frame by."""
        model, joints = self.model, self.model.n_joints
        self._last, self._holding = model.statics(self.path.at(self.path.length))
        self._first, self._starting = model.statics(self.path.at(0.0))
        self._rates, shapes = model.frequencies(self._last, joints='locked')
        shapes = np.asarray(shapes)[-(model.n - joints):] if model.n > joints else np.zeros((0, 0))
        M = model.mass_matrix(self._last)[joints:, joints:]
        scale = np.sqrt(np.einsum('ij,ik,kj->j', shapes, M, shapes)) if shapes.size else 1.0
        shapes = shapes / scale
        moves = np.linalg.norm(model.jacobian(self._last, self.frame)[:3, joints:] @ shapes,
                               axis=0)
        self._to_tip = moves[:, None] * (shapes.T @ M)

    def _arrival(self, end: np.ndarray) -> np.ndarray:
        """How far each mode moves the frame at the end, and its speed over the mode's rate (2 m,),
        of elastic coordinates and speeds (2, m)."""
        off = end[0] - self._last[self.model.n_joints:]
        return np.concatenate((self._to_tip @ off, (self._to_tip @ end[1]) / self._rates))

    def _follow_rigid(self) -> np.ndarray:
        count = self._count(self.rigid.duration)
        step = self.rigid.duration / count
        at = [self.rigid.sample(self.rigid.start + (k + 0.5) * step) for k in range(count)]
        joints = np.array([[one.derivative(order) for one in at] for order in range(3)])
        return bent(self.model, joints, None, step).end

    def _count(self, duration: float) -> int:
        """Steps that resolve the motion and the slowest mode."""
        slowest = float(self._rates.min(initial=np.inf))
        period = 2.0 * np.pi / slowest if np.isfinite(slowest) else np.inf
        return max(STEPS, int(np.ceil(SHORTEST_PERIOD * duration / period)))

    # The program ----------------------------------------------------------------------------

    def _solve(self) -> None:
        """Sequential linear programs for the weights of s(t), at longer and longer durations."""
        knots = np.concatenate((np.zeros(DEGREE), np.linspace(0.0, 1.0, PIECES + 1),
                                np.ones(DEGREE)))
        count = len(knots) - DEGREE - 1
        self._basis = [BSpline(knots, np.eye(count), DEGREE)]
        for _ in range(4):
            self._basis.append(self._basis[-1].derivative())
        places = np.linspace(0.0, 1.0, 400)
        rigid = np.array([self.rigid.progress(share * self.rigid.duration)[0]
                          for share in places])
        ends = np.zeros(count)
        ends[-3:] = self.path.length
        free = slice(3, count - 3)
        table = self._basis[0](places)
        weights = ends.copy()
        weights[free] = np.linalg.lstsq(table[:, free], rigid - table @ ends, rcond=None)[0]
        weights = np.maximum.accumulate(np.clip(weights, 0.0, self.path.length))
        for factor in FACTORS:
            self.duration = factor * self.rigid.duration
            weights, fits = self._fit(weights.copy(), free)
            if fits:
                break
        else:
            raise ControlError(
                f'time-optimal motion: no motion without vibration was found within '
                f'{FACTORS[-1]:g} times the rigid optimum ({self.rigid.duration:.3g} s); allow '
                'larger limits, or a shorter path')

    def _fit(self, weights: np.ndarray, free: slice) -> tuple[np.ndarray, bool]:
        """Weights whose motion keeps all limits at this duration; whether they do."""
        count = self._count(self.duration)
        places = (np.arange(count) + 0.5) / count
        rows = [self._basis[order](places)[:, free] / self.duration**order for order in range(3)]
        trust, best, merit, stale = TRUST * self.path.length, weights, np.inf, 0
        for _ in range(SWEEPS):
            found = self._bent(weights, rows, places)
            y = self.limited.at(found.q, found.v, found.effort)
            speed = rows[1] @ weights[free] + self._speed_of_ends(weights, free, places)
            arrival = self._arrival(found.end) / self._tolerance
            worst = max(float(np.abs(y).max()), float(np.abs(arrival).max(initial=0.0)))
            backwards = float(-speed.min()) * self.duration / self.path.length
            worst = max(worst, 1.0 + backwards)
            if worst <= 1.0 + KEPT:
                self._keep(weights, found, y, arrival)
                return weights, True
            stale = stale + 1 if worst > 1.0 + GAIN * (merit - 1.0) else 0
            if stale > MOST_STALE:
                break
            if worst < merit:
                best, merit = weights.copy(), worst
            else:
                trust *= 0.4
            step = self._program(found, y, arrival, speed, rows[1], trust)
            weights = weights.copy()
            weights[free] += step
        return best, False

    def _speed_of_ends(self, weights: np.ndarray, free: slice, places: np.ndarray) -> np.ndarray:
        ends = weights.copy()
        ends[free] = 0.0
        found: np.ndarray = self._basis[1](places) @ ends / self.duration
        return found

    def _bent(self, weights: np.ndarray, rows: list[np.ndarray], places: np.ndarray) -> Bent:
        """The motion of these weights and its derivatives."""
        T = self.duration
        s, speed, rate = (self._basis[order](places) @ weights / T**order for order in range(3))
        first, second, third = (self.path.at(s, order) for order in (1, 2, 3))
        one, two = speed[:, None], rate[:, None]
        joints = np.array([self.path.at(s), first * one, first * two + second * one**2])
        by, by_speed, by_rate = (row[:, None, :] for row in rows)
        slopes = np.array([
            first[:, :, None] * by,
            first[:, :, None] * by_speed + (second * one)[:, :, None] * by,
            first[:, :, None] * by_rate + 2.0 * (second * one)[:, :, None] * by_speed
            + (second * two + third * one**2)[:, :, None] * by])
        return bent(self.model, joints, slopes, T / len(places))

    def _program(self, found: Bent, y: np.ndarray, arrival: np.ndarray, speed: np.ndarray,
                 by_speed: np.ndarray, trust: float) -> np.ndarray:
        """The change (w,) within `trust` that exceeds the limits least, to first order."""
        limited, A, upper = self.limited, [], []
        kinds = np.array(limited.kinds)
        for kind in np.unique(kinds):
            own = np.flatnonzero(kinds == kind)
            sizes = np.abs(y[:, own])
            most = own[np.argsort(-sizes, axis=1)[:, :AT_AN_INSTANT]]
            instants, column = np.nonzero(np.take_along_axis(np.abs(y), most, 1) > NEAR)
            outputs = most[instants, column]
            slope = (np.einsum('rn,rnw->rw', limited.position[outputs], found.dq[instants])
                     + np.einsum('rn,rnw->rw', limited.velocity[outputs], found.dv[instants])
                     + np.einsum('rj,rjw->rw', limited.effort[outputs],
                                 found.d_effort[instants]))
            side = np.sign(y[instants, outputs])
            A.append(side[:, None] * slope)
            upper.append(1.0 - np.abs(y[instants, outputs]))
        reached = np.vstack((self._to_tip @ found.d_end[0],
                             (self._to_tip @ found.d_end[1]) / self._rates[:, None]))
        reached = reached / self._tolerance
        A += [0.02 * reached, -0.02 * reached]
        upper += [0.02 * (0.5 - arrival), 0.02 * (0.5 + arrival)]
        A.append(-by_speed * self.duration / self.path.length)
        upper.append(speed * self.duration / self.path.length)
        rows = np.vstack(A)
        width = rows.shape[1]
        program = linprog(
            np.append(np.zeros(width), 1.0), np.column_stack((rows, -np.ones(len(rows)))),
            np.concatenate(upper) - KEPT,
            bounds=[(-trust, trust)] * width + [(0.0, None)], method='highs')
        if program.status:
            return np.zeros(width)
        change: np.ndarray = program.x[:-1]
        return change

    # The motion -----------------------------------------------------------------------------

    def _keep(self, weights: np.ndarray, found: Bent, y: np.ndarray, arrival: np.ndarray) -> None:
        joints = self.model.n_joints
        self._weights = weights
        #: largest share of its limit of each kind of output
        self.shares = {kind: float(np.abs(y[:, [k == kind for k in self.limited.kinds]]).max())
                       for kind in dict.fromkeys(self.limited.kinds)}
        self.vibration = float(np.hypot(*(arrival * self._tolerance).reshape(2, -1)).sum())
        step = self.duration / len(found.q)
        self._times = np.concatenate(([0.0], (np.arange(len(found.q)) + 0.5) * step,
                                      [self.duration]))
        still = np.zeros((1, self.model.n - joints))
        self._elastic = np.array([
            np.vstack((first, one[:, joints:], last)) for one, first, last in (
                (found.q, self._first[None, joints:], found.end[:1]),
                (found.v, still, found.end[1:]), (found.a, still, still))])
        self._efforts = np.vstack((self._starting, found.effort, self._holding))

    def times(self) -> np.ndarray:
        """Times (k,) s from the start, of the points of the solution."""
        return self._times.copy()

    def efforts(self) -> np.ndarray:
        """Efforts (k, n_joints), N m or N, at these times."""
        return self._efforts.copy()

    def coordinates(self) -> np.ndarray:
        """Joints and elastic coordinates (k, n) at these times."""
        joints = np.array([self.sample(self.start + time).position for time in self._times])
        return np.hstack((joints, self._elastic[0]))

    def sample(self, time: float) -> Reference:
        past = time - self.start
        ends = (self._first, self._starting) if past <= 0.0 else (self._last, self._holding)
        if not 0.0 < past < self.duration:
            q, effort = ends
            joints = self.model.n_joints
            still = np.zeros(self.model.n - joints)
            return replace(Reference.at_rest(q[:joints]), feedforward=Feedforward(
                q[joints:], still, still, effort, np.zeros(joints)))
        share = past / self.duration
        way = self.path.reference([float(basis(share) @ self._weights) / self.duration**order
                                   for order, basis in enumerate(self._basis[:3])])
        at = min(int(np.searchsorted(self._times, past, side='right')) - 1, len(self._times) - 2)
        length = self._times[at + 1] - self._times[at]
        part = (past - self._times[at]) / length
        q, v, a = ((1.0 - part) * one[at] + part * one[at + 1] for one in self._elastic)
        rate = (self._efforts[at + 1] - self._efforts[at]) / length
        return replace(way, feedforward=Feedforward(
            q, v, a, self._efforts[at] + part * length * rate, rate))


def _limit(given: ArrayLike | None, own: np.ndarray, name: str) -> np.ndarray:
    if given is None:
        return np.asarray(own)
    most = np.array(given, dtype=float)
    if most.ndim > 1 or (most.ndim and most.shape != own.shape) or not (most > 0.0).all():
        raise ControlError(f'{name}: expected one positive number or {len(own)}, found {given!r}')
    found: np.ndarray = np.minimum(np.where(own > 0.0, own, np.inf), most)
    return found
