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
"""A controller and its motion as a table over time, which compiled loops follow."""
from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from flex_control.batch.filter_table import FilterTable
from flex_control.controllers import Controller
from flex_control.controllers.affine_law import AffineLaw
from flex_control.controllers.lqg import LQG
from flex_control.errors import ControlError
from flex_control.loop import ControlLoop
from flex_control.trajectories import Trajectory
from flex_dynamics import ControlSchedule
from flex_dynamics.simulation.batch.observer import COMPILED_BACKEND, ObserverSchedule

COMPILED = ('pd', 'lqr', 'lqg')      # for the message


def control_schedule(controller: Controller, trajectory: Trajectory, duration: float, *,
                     period: float = 1e-3, start: ArrayLike | None = None,
                     drive_stiffness: ArrayLike | None = None,
                     drive_damping: ArrayLike | None = None) -> ControlSchedule:
    """What a controller does over `duration` (s), for `simulate_many(..., control=...)`.

    The controller is run along its own reference, sampled every `period` (s), and each update's
    feedforward and gains are kept. They do not depend on the state (gains are redesigned where the
    reference is), so that the table holds for every run that starts with the joints at `start`
    (n_joints,), by default where the trajectory begins. Gains of the drives as in `run_trial`.
    A Kalman filter goes into the table, too: its gains depend on the models that it is linear
    about, and not on what is measured.

    ControlError if the law of the controller is not affine, and of a robot or a motion for which
    the filter is not compiled (`why_not_compiled`).
    """
    count = round(duration / period)
    if count < 1 or abs(count * period - duration) > 1e-9 * duration:
        raise ControlError(f'duration: expected a multiple of the period {period:g} s, found '
                           f'{duration:g} s')
    if not has_affine_law(controller):
        raise ControlError(
            f'{type(controller).__name__}: expected a control law of gains about a reference, as '
            f'{", ".join(COMPILED)} have, found another one; run_trials runs it in worker '
            'processes')
    reason = why_not_compiled(controller, trajectory)
    if reason:
        raise ControlError(f'{type(controller).__name__}: {reason}; run_trials runs it in worker '
                           'processes')
    model, joints = controller.model, controller.model.n_joints
    stiffness, damping = (np.array(np.broadcast_to(
        np.asarray(own if given is None else given, dtype=float), joints))
        for given, own in zip((drive_stiffness, drive_damping), controller.drive_gains()))
    controller.set_drives(stiffness.copy(), damping.copy())
    if start is None:
        start = trajectory.sample(0.0).position
    q, v = model.statics(np.asarray(start, dtype=float)[:joints])[0], np.zeros(model.n)
    loop = ControlLoop(model, controller, trajectory)
    laws, position, velocity = [], np.zeros((count, joints)), np.zeros((count, joints))
    watch = FilterTable(controller, count) if isinstance(controller, LQG) else None
    for k in range(count):
        loop.step(period * k, q, v, measurements=None if watch is None else watch.readings(q, v))
        law = controller.affine_law()
        assert law is not None
        laws.append(law)
        if watch is not None:
            watch.take(k, law.q, law.v)
        position[k], velocity[k] = controller.reference.position, controller.reference.velocity
        q, v = law.q, law.v
    observer = None if watch is None else watch.schedule()
    controller.reset()
    return _table(laws, period, position, velocity, stiffness, damping, observer)


def why_not_compiled(controller: Controller, trajectory: Trajectory) -> str:
    """Why compiled loops do not have the filter of a controller; empty if they have, or if it has
    none."""
    if not controller.needs_measurements:
        return ''
    if controller.model.backend.name != COMPILED_BACKEND:
        return ('expected a tree without followers (<mimic>), loops, wheels or supports for a '
                f'compiled filter, found a {controller.model.backend.name} robot')
    if trajectory.sample(0.0).feedforward is not None:
        return 'expected a motion of the joints for a compiled filter, found a planned tip motion'
    return ''


def has_affine_law(controller: Controller) -> bool:
    """Whether `affine_law` of a controller is that of its `update`: not if a subclass has another
    control law."""
    def owner(name: str) -> type:
        return next(kind for kind in type(controller).__mro__ if name in vars(kind))

    return (owner('affine_law') is not Controller
            and issubclass(owner('affine_law'), owner('update')))


def _table(laws: list[AffineLaw], period: float, position: np.ndarray, velocity: np.ndarray,
           stiffness: np.ndarray, damping: np.ndarray,
           observer: ObserverSchedule | None) -> ControlSchedule:
    """One set of gains for all neighbours that share it."""
    sets: list[AffineLaw] = []
    which = np.full(len(laws), -1, dtype=np.int64)
    for k, law in enumerate(laws):
        if law.state is None:
            continue
        if not sets or not _same(sets[-1], law):
            sets.append(law)
        which[k] = len(sets) - 1
    joints, n = len(laws[0].effort), len(laws[0].q)
    if not sets:
        # An update without feedback only, such as a first one that runs alone.
        empty = np.zeros((1, joints, 2 * n))
        return ControlSchedule(
            period, np.array([law.effort for law in laws]), position, velocity,
            np.array([law.q for law in laws]), np.array([law.v for law in laws]), empty,
            np.zeros((0, joints, joints)), np.zeros((1, joints, 0)), np.zeros((1, 0, n)), which,
            laws[0].limit, stiffness, damping, observer)
    remembers = sets[0].memory is not None
    memory = ([law.memory for law in sets] if remembers else np.zeros((0, joints, joints)))
    return ControlSchedule(
        period, np.array([law.effort for law in laws]), position, velocity,
        np.array([law.q for law in laws]), np.array([law.v for law in laws]),
        np.array([law.state for law in sets]), np.array(memory),
        np.array([law.integral for law in sets]), np.array([law.errors for law in sets]), which,
        laws[0].limit, stiffness, damping, observer)


def _same(one: AffineLaw, other: AffineLaw) -> bool:
    pairs = zip((one.state, one.memory, one.integral, one.errors),
                (other.state, other.memory, other.integral, other.errors), strict=True)
    return all(a is b or (a is not None and b is not None and np.array_equal(a, b))
               for a, b in pairs)
