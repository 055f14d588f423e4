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
"""A Kalman filter as a table over time, and its runs, for loops that are closed in compiled code.
"""
from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from flex_dynamics import checks
from flex_dynamics.arrays import Array
from flex_dynamics.errors import DynamicsError
from flex_dynamics.kernels.stepping import estimated_run as kernel
from flex_dynamics.kernels.stepping.state_estimate import (
    SCRATCH,
    Estimate,
    Gauges,
    Table,
    make_observer,
)
from flex_dynamics.model.model import MODEL_ADVICE, Model
from flex_dynamics.simulation.sensors import Sensors

COMPILED_BACKEND = 'recursive'


@dataclass(frozen=True, eq=False)
class ObserverSchedule:
    """Linear models and gains of a Kalman filter of (q, v, push), N = 2 n + 3 numbers.

    model: what the filter knows of the robot, a tree without followers or constraints. F (sets,
    N, N), held (sets, 2 n, n), by_effort (sets, n, n_joints), inverse, slope_q, slope_v (sets, n,
    n), by_push (sets, n, 3), follow (sets, n, n_joints) and rest (sets, n) are its linear models;
    to_scaled and from_scaled (2 n, 2 n) lead to its coordinates and back. gain (samples, N,
    readings): readings are positions and speeds of the joints, strain gauges, gyros and
    accelerometers; zero where one is not used. which (samples,): the model of each sample, -1
    before the filter begins. stiffness, damping (n_joints,): of the drives, as the filter knows
    them.
    """

    model: Model
    F: Array
    held: Array
    by_effort: Array
    inverse: Array
    slope_q: Array
    slope_v: Array
    by_push: Array
    follow: Array
    rest: Array
    to_scaled: Array
    from_scaled: Array
    stiffness: Array
    damping: Array
    gain: Array
    which: np.ndarray

    def __post_init__(self) -> None:
        checks.instance(self.model, 'model', Model, MODEL_ADVICE)
        refuse_other_backend(self.model, 'model')
        n, joints, sets = self.model.n, self.model.n_joints, len(self.rest)
        size, readings = 2 * n + 3, reading_count(self.model)
        which = np.ascontiguousarray(self.which, dtype=np.int64)
        shapes: dict[str, tuple[int, ...]] = {
            'F': (sets, size, size), 'held': (sets, 2 * n, n), 'by_effort': (sets, n, joints),
            'inverse': (sets, n, n), 'slope_q': (sets, n, n), 'slope_v': (sets, n, n),
            'by_push': (sets, n, 3), 'follow': (sets, n, joints), 'rest': (sets, n),
            'to_scaled': (2 * n, 2 * n), 'from_scaled': (2 * n, 2 * n), 'stiffness': (joints,),
            'damping': (joints,), 'gain': (len(which), size, readings)}
        for name, shape in shapes.items():
            object.__setattr__(self, name, checks.finite(getattr(self, name), name, shape))
        if which.ndim != 1 or which.min(initial=0) < -1 or which.max(initial=-1) >= sets:
            raise DynamicsError(f'which: expected numbers from -1 to {sets - 1}, found '
                                f'{checks.shown(self.which)}')
        object.__setattr__(self, 'which', which)

    def table(self) -> Table:
        """As kernels take it."""
        own = {one.name: getattr(self, one.name) for one in fields(self) if one.name != 'model'}
        return Table(sees=np.ascontiguousarray(np.asarray(self.model.input_matrix()).T), **own)


@dataclass(frozen=True, eq=False)
class ReadingNoise:
    """White noise on the readings: standard deviations (readings,), in the order of
    ObserverSchedule; run k is drawn with seed + k."""

    deviations: Array
    seed: int = 0

    def __post_init__(self) -> None:
        given = checks.real_array(self.deviations, 'deviations', 'one number a reading')
        given = checks.finite(given, 'deviations', (given.size,))
        if (given < 0.0).any():
            raise DynamicsError(f'deviations: expected zero or more, found {given.min():g}')
        object.__setattr__(self, 'deviations', given)
        checks.whole(self.seed, 'seed', 'a whole number from 0')

    def of(self, run: int, samples: int) -> Array:
        """(samples, readings)"""
        random = np.random.default_rng(self.seed + run)
        drawn: Array = self.deviations * random.standard_normal((samples, len(self.deviations)))
        return drawn


def reading_count(model: Model) -> int:
    """Readings of a robot: positions and speeds of joints, gauges, gyros, accelerometers."""
    sensors = Sensors(model)
    return 2 * model.n_joints + len(sensors.gauge_names) + 6 * len(sensors.imu_frames)


def refuse_other_backend(model: Model, name: str) -> None:
    if model.backend.name != COMPILED_BACKEND:
        raise DynamicsError(f'{name}: expected a tree without followers (<mimic>), loops, wheels '
                            'or supports under a control law with a filter, found a '
                            f'{model.backend.name} robot; run_trials of flex_control runs it in '
                            'worker processes')


class Instruments:
    """The sensors of one robot in compiled code, and scratch memory for their readings."""

    def __init__(self, model: Model) -> None:
        sensors = Sensors(model)
        places = [(frame, None) for frame in sensors.imu_frames]
        equipped = model.with_sections_at(places)
        carriers = [equipped.carrier(*one) for one in places]
        offsets = np.array([offset for _, offset in carriers]).reshape(-1, 4, 4)
        self.gauges = Gauges(np.array(sensors.strain_matrix()),
                             np.array([node for node, _ in carriers], dtype=np.int64),
                             np.ascontiguousarray(offsets[:, :3, :3]),
                             np.ascontiguousarray(offsets[:, :3, 3]))
        self.count = reading_count(model)
        self._data = equipped.create_data()

    @property
    def handle(self) -> Array:
        return self._data.handle


class ObserverRun:
    """The filter of one run: its estimate, and the arrays behind `handle`."""

    def __init__(self, schedule: ObserverSchedule, robot: Instruments, plant: Instruments,
                 noise: Array) -> None:
        n, joints = schedule.model.n, schedule.model.n_joints
        self._model, self.begun = schedule.model, kernel.WAITING
        self.estimate = Estimate(
            np.zeros(2 * n + 3), np.zeros(n), np.zeros(n), np.zeros(joints), np.zeros(robot.count),
            np.zeros(robot.count), np.zeros(2 * n + 3), np.zeros((SCRATCH, n)))
        self._arrays = (schedule.table(), robot.gauges, plant.gauges, self.estimate, robot.handle,
                        plant.handle, noise)
        self.handle = make_observer(*self._arrays)

    def begin(self, v: Array) -> None:
        """Let the estimate be the equilibrium at the joints that were read, with speeds v (n,)."""
        joints = self._model.n_joints
        self.estimate.q[:] = self._model.statics(self.estimate.reading[:joints])[0]
        self.estimate.v[:] = v
        self.begun = kernel.GIVEN
