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
"""A running simulation: the state of a Model and the fixed-step integrator that moves it."""
from __future__ import annotations

import logging
from typing import Any

import numpy as np

from flex_dynamics import checks
from flex_dynamics.arrays import Array, ArrayLike
from flex_dynamics.checks import LARGEST_POSITION, Checked
from flex_dynamics.errors import DynamicsError
from flex_dynamics.immutable import ReadOnly
from flex_dynamics.kernels.base.layout import DOF, PARENT, PINNED, Q
from flex_dynamics.kernels.first_call import AtFirstCall
from flex_dynamics.kernels.stepping.base_momentum import AHEAD, LEDGER
from flex_dynamics.kernels.stepping.coupled_step import make_coupled
from flex_dynamics.kernels.stepping.implicit_midpoint import NOT_CONVERGED, SIGNATURE, advance
from flex_dynamics.kernels.stepping.running_state import RunArrays, make_state
from flex_dynamics.model.constraints.closing import Closing
from flex_dynamics.model.loads import Loads, Wrench, point_wrenches
from flex_dynamics.model.model import MODEL_ADVICE, Model
from flex_dynamics.simulation.divergence import why_it_failed

MOST_SWEEPS = 50     # until a step is cut in halves
MOST_COUNT = 10**9    # of steps, and of sweeps, that a kernel may report
REPORTED = 1e-6     # m or rad by which constraints may miss at the start without a warning
AT_ONCE = 1000       # steps of one kernel call, which no key can interrupt
LOGGER = logging.getLogger('flex_dynamics')
ADVANCE = AtFirstCall(advance, *SIGNATURE)


class Simulation:
    """Integrates a model in fixed steps; q, v (n,) and time (s) are its state.

    It has scratch memory of its own, so that simulations of one model may run in several threads,
    each in one at a time.

    `advance` runs up to 1000 steps in one kernel call, which allocates nothing. A servo, if set,
    acts inside the step: k (target - q) + d (target_rate - v) on every joint, implicitly.
    q, v and servo may be written in place; set_state and set_servo check what they are given.
    tolerance: error of speeds, relative, at which the sweeps of a step end; 1e-4 is enough
    for damped motion and saves a third of the time. balance: let energy grow by the work done and
    momentum by the impulses, and by nothing else, at the cost of a third of a sweep a step (on
    floating and planar bases of one sweep).

    Parameters
    ----------
    model : Model
        Of order 'first' or 'second'.
    step : float
        s.
    q, v : array-like, shape (n,), optional
        Positions and speeds at the start; zeros if left out.
    time : float
        s, at the start.
    tolerance : float
        Of the sweeps, see above.
    balance : bool
        See above.

    Examples
    --------
    >>> simulation = Simulation(model, step=1e-3)
    >>> simulation.advance(100, tau=np.zeros(model.n_joints))
    >>> round(simulation.time, 9)
    0.1
    """

    q: ReadOnly[Array] = ReadOnly('set_state(q, v) sets positions (n,)')
    v: ReadOnly[Array] = ReadOnly('set_state(q, v) sets speeds (n,)')
    servo: ReadOnly[Array] = ReadOnly('set_servo sets its rows stiffness, damping, target, '
                                           'target rate (4, n_joints)')
    model: ReadOnly[Model] = ReadOnly('set_model sets the model')
    step = Checked(lambda value: checks.positive(value, 'step', 'a positive time in s'))
    tolerance = Checked(lambda value: checks.positive(value, 'tolerance'))
    time = Checked(lambda value: checks.number(value, 'time', 'a time in s'))
    balance = Checked(lambda value: checks.flag(value, 'balance'))

    def __init__(self, model: Model, step: float = 1e-3, q: ArrayLike | None = None,
                 v: ArrayLike | None = None, time: float = 0.0, tolerance: float = 1e-9,
                 balance: bool = True) -> None:
        checks.instance(model, 'model', Model, MODEL_ADVICE)
        self.step, self.tolerance, self.time, self.balance = step, tolerance, time, balance
        self.sweeps = 0
        self.closing: Closing | None = None     # of the last set_state, if there are constraints
        self._told: Closing | None = None       # the closing that the log has
        self._servo = np.zeros((4, model.n_joints))
        self._ledger = np.zeros(LEDGER)
        self._loads: list[Wrench] | None = None
        self._places: list[tuple[str, float | None]] = []
        self._loaded: Model | None = None
        self._q, self._v, self._a = np.zeros(model.n), np.zeros(model.n), np.zeros(model.n)
        self.set_model(model)
        self.set_state(self._q if q is None else q, self._v if v is None else v)

    def set_model(self, model: Model) -> None:
        """Go on with another model of the same coordinates: a payload taken up or put down."""
        checks.instance(model, 'model', Model, MODEL_ADVICE)
        if model.order == 'linear':
            raise DynamicsError("order 'linear' has no recursion to step in: use simulate() with "
                                "method 'adaptive', or order 'second'")
        if len(self.q) != model.n:
            raise DynamicsError(f'model: expected {len(self.q)} coordinates, found {model.n}')
        self._refuse_other_names(model)
        self._model = model
        self._scratch = np.full((13, model.n), np.nan)
        self._scratch[8] = self._scratch[12] = 0.0
        table = model.assembly.packed.table
        pinned = int(((table[:, DOF] == 1) & (table[:, PINNED] >= 0)).sum())
        self._roots, self._root_work = np.zeros((pinned, model.n)), np.zeros((pinned, pinned + 2))
        inputs = np.array(model.input_matrix())
        for row in table[table[:, DOF] > 1]:      # a base that floats or slides has no servo
            inputs[:, row[Q]:row[Q] + row[DOF]] = 0.0
        self._coupled = make_coupled(len(model.followers.names), model.stiffness_matrix(),
                                     model.damping_matrix(), inputs)
        self._reach = amplitude_limits(model)
        self.set_loads(self._loads)

    def set_state(self, q: ArrayLike, v: ArrayLike) -> None:
        """Set positions and speeds (n,); the integrator starts anew.

        Of a robot with constraints the nearest closed position is taken, and the nearest speeds
        that they allow; `closing` says by how much the position missed.
        """
        q, v = checks.state(self.model, q, v)
        if self.model.robot.constraints:
            self.closing = self.model.close(q)
            q = self.closing.q
            v = self.model.admissible_speeds(q, v)
            if self._is_news(self.closing):
                self._told = self.closing
                LOGGER.warning('robot %s: constraints closed at the start; they missed by %.3g m '
                               'and %.3g rad, most in %s', self.model.robot.name,
                               self.closing.distance, self.closing.angle, self.closing.worst)
        # A coordinate that moves no mass is told here; later a bad pivot means divergence.
        self.model.forward_dynamics(q, v, np.zeros(self.model.n_joints))
        self.q[:], self.v[:] = q, v
        self._a[:] = 0.0
        self._ledger[:] = 0.0
        self._scratch[12] = 0.0

    def _is_news(self, closing: Closing) -> bool:
        """Whether the log should have by how much constraints missed: once for the same start."""
        told = self._told
        return max(closing.distance, closing.angle) > REPORTED and (
            told is None or closing.worst != told.worst or not np.allclose(
                closing[1:3], told[1:3], rtol=1e-3, atol=REPORTED))

    def set_servo(self, stiffness: ArrayLike, damping: ArrayLike, target: ArrayLike,
                  target_rate: ArrayLike | None = None) -> None:
        """Joint servo: gains N m/rad and N m s/rad, targets rad (prismatic: N/m, N s/m, m)."""
        model, joints = self.model, self.model.n_joints
        rate = np.zeros(joints) if target_rate is None else target_rate
        # All are checked before one is set.
        self.servo[:] = (model.finite_vector(stiffness, 'stiffness', joints),
                         model.finite_vector(damping, 'damping', joints),
                         model.finite_vector(target, 'target', joints, LARGEST_POSITION),
                         model.finite_vector(rate, 'target_rate', joints))

    def set_loads(self, loads: Loads | None) -> None:
        """External loads that act from now on, constant in world axes; None takes them off."""
        points = [] if loads is None else point_wrenches(self.model, loads)
        self._loads = None if loads is None else points
        places = [(p.frame, p.x) for p in points]
        if places != self._places or self._loaded is not self.model:     # to build one is slow
            self._stepped = self.model.with_sections_at(places)
            self._data = self._stepped.create_data()
            self._places, self._loaded = places, self.model
        carried = [self._stepped.carrier(p.frame, p.x) for p in points]
        moving = [k for k, (node, _) in enumerate(carried) if node >= 0]
        self._carriers = np.array([carried[k][0] for k in moving], dtype=np.int64)
        self._points = np.array([carried[k][1][:3, 3] for k in moving]).reshape(-1, 3)
        self._wrenches = np.array([np.concatenate((points[k].force, points[k].moment))
                                   for k in moving]).reshape(-1, 6)
        nodes = len(self._stepped.assembly.tree.nodes) + 2
        self._worlds = (np.zeros((nodes, 3, 3)), np.zeros((nodes, 3)))
        constraints = self._stepped.assembly.constraints
        parents = self._stepped.assembly.packed.table[:, PARENT]
        self._constraints = constraints.arrays(parents, self.model.n if constraints.rows else 0)
        self._set_handle()

    def _set_handle(self) -> None:
        self.handle = make_state(RunArrays(
            self.q, self.v, self._a, self._reach, self.servo, self._scratch, self._ledger,
            self._roots, self._root_work, self._carriers, self._points, self._wrenches,
            *self._worlds, self._coupled, self._constraints))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A copied or unpickled simulation has arrays of its own, at other addresses."""
        self.__dict__.update(state)
        self._set_handle()

    @property
    def stepped_handle(self) -> Array:
        """Of the model that kernels step: with a section where a wrench acts on a beam."""
        return self._data.handle

    @property
    def acceleration(self) -> Array:
        """Accelerations (n,) in the middle of the last step, a copy."""
        return self._a.copy()

    @property
    def energy_ahead(self) -> float:
        """Energy, J, by which the motion is ahead of its balance, for later steps to take off."""
        return float(self._ledger[AHEAD])

    @property
    def amplitude_limits(self) -> Array:
        """Amplitudes (n,) beyond which the motion counts as diverged; infinite for joints."""
        return self._reach

    @property
    def loads(self) -> list[Wrench] | None:
        """The external loads that act, as wrenches on points in world axes."""
        return self._loads

    def advance(self, steps: int, tau: ArrayLike | None = None) -> None:
        """Run `steps` inner steps (a whole number, 0 or more) with constant joint efforts tau
        (n_joints,), zero if left out.

        If the motion diverges, a DynamicsError names the step and the coordinate; q, v and time
        are those after the last good step. It has diverged, too, where a mode alone bends a beam
        by ten times its length: no field of second order means anything there, though its
        equations may go on.
        """
        steps = checks.whole(steps, 'steps', 'a whole number of steps')
        model = self._stepped
        tau = (np.zeros(model.n_joints) if tau is None
               else model.finite_vector(tau, 'tau', model.n_joints))
        while steps > 0:
            part = min(steps, AT_ONCE)
            before = self._snapshot()
            status, sweeps = self._run(tau, part)
            if status:
                self._restore(before)
                self.stop_at_failure(tau, part, status)
            self.count_steps(part, 0, sweeps)
            steps -= part

    def restart(self, q: Array, v: Array, a: Array, energy_ahead: float | None = None) -> None:
        """Go on from positions, speeds and accelerations (n,) of an earlier step, and from its
        energy_ahead, J, if that is given."""
        q, v = checks.state(self.model, q, v)
        a = self.model.finite_vector(a, 'a', self.model.n)
        if energy_ahead is not None:
            self._ledger[AHEAD] = checks.number(energy_ahead, 'energy_ahead', 'an energy in J')
        self._a[:] = a
        self.q[:], self.v[:] = q, v

    def stop_at_failure(self, tau: Array, steps: int, status: int) -> None:
        """Step by step up to the step that fails, so that time and state agree; then the error.

        status: what a kernel returned that ran these steps under joint efforts tau (n_joints,), 0
        if it went well. The error is told by it, too, if no step fails this time: a drive or stop
        may have changed the efforts within the period.
        """
        tau = self.model.finite_vector(tau, 'tau', self.model.n_joints)
        steps = checks.whole(steps, 'steps', 'a whole number of steps')
        status = checks.whole(status, 'status', 'what the kernel returned', NOT_CONVERGED)
        before = self._snapshot()
        for _ in range(steps):
            before = self._snapshot()
            failed, sweeps = self._run(tau, 1)
            if failed:
                status = failed
                break
            self.count_steps(1, 0, sweeps)
        if not status:
            return
        problem = why_it_failed(self, status, tau)
        self._restore(before)
        raise DynamicsError(problem)

    def _run(self, tau: Array, steps: int) -> tuple[int, int]:
        status, sweeps = ADVANCE.call(self.stepped_handle, self.handle, tau, self.step, steps,
                                      self.tolerance, MOST_SWEEPS, self.balance)
        return status, sweeps

    def _snapshot(self) -> list[Array]:
        return [array.copy() for array in (self._q, self._v, self._a, self._ledger, self._scratch)]

    def _restore(self, snapshot: list[Array]) -> None:
        for array, kept in zip((self._q, self._v, self._a, self._ledger, self._scratch), snapshot,
                               strict=True):
            array[:] = kept

    def count_steps(self, steps: int, status: int, sweeps: int,
                    tau: ArrayLike | None = None) -> None:
        """Take note of what a kernel did that a caller ran on `handle` and `stepped_handle`.

        steps and sweeps: how many it did; status: what it returned, 0 if it went well, else the
        DynamicsError says why it failed under joint efforts tau (n_joints,).
        """
        # Called a thousand times a second with numbers of a kernel: the common case first.
        if (status or not steps.__class__ is status.__class__ is sweeps.__class__ is int
                or not (0 <= steps <= MOST_COUNT and 0 <= sweeps <= MOST_COUNT)
                or tau is not None):
            steps = checks.whole(steps, 'steps', 'a whole number of steps')
            status = checks.whole(status, 'status', 'what the kernel returned', NOT_CONVERGED)
            sweeps = checks.whole(sweeps, 'sweeps', 'a whole number of sweeps')
            efforts = (None if tau is None
                       else self._model.finite_vector(tau, 'tau', self._model.n_joints))
            if status:
                self.sweeps += sweeps
                raise DynamicsError(why_it_failed(self, status, efforts))
        self.sweeps += sweeps
        self.time += steps * self.step

    def _refuse_other_names(self, model: Model) -> None:
        known = getattr(self, '_model', model).names
        for ours, theirs in zip(known, model.names, strict=True):
            if ours != theirs:
                raise DynamicsError(f'model: expected the coordinates {", ".join(known)}, found '
                                    f'{theirs!r} in place of {ours!r}')


def amplitude_limits(model: Model) -> Array:
    """Amplitudes (n,) at which a mode bends its beam by ten times its length; else infinite."""
    limits, known = np.full(model.n, np.inf), model.assembly.beams
    for link in model.robot.links:
        if link.flexible is None:
            continue
        key = link.name, 'amplitude limits'      # of shapes, which models of one robot share
        if key not in known:
            x = np.linspace(0.0, link.flexible.length, 21)
            known[key] = [10.0 * link.flexible.length / max(float(np.abs(shape).max()), 1e-9)
                          for shapes in (link.flexible.bend_y, link.flexible.bend_z)
                          for shape in shapes(x)]
        first = model.coordinates.links[link.name].bend_y.start
        limits[first:first + len(known[key])] = known[key]
    return limits
