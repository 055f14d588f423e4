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
"""The payload of a robot at work, from its joint states and gauges as they come."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_dynamics import Model
from flex_dynamics.arrays import Array
from flex_dynamics.simulation.command_limits import driven_places
from flex_identification.errors import IdentificationError
from flex_identification.online.payload_filter import PayloadFilter
from flex_identification.online.payload_motion import PayloadNoise, effort_biases

NANO = 10**9
MOST_MISSED = 20          # periods without joint states that are predicted over
JUMP = 0.1                # rad or m that a joint may be off its estimate
LEAST_GRAVITY = 1.0       # m/s2; accelerations alone were measured to mislead
SURE = 3.0                # standard deviations of mass above zero at which there is a payload
HIDDEN = 0.5              # of the prior deviation: above it the data say nothing of a direction
AXES = 'xyz'


@dataclass(frozen=True)
class PayloadEstimate:
    """Payload on `frame` at `stamp_ns`.

    mass kg; centre (3,) m in the axes of the frame; covariance (4, 4) of both. present: whether
    the mass is above zero beyond doubt; without it the centre is zero with its prior. hidden
    (k, 3): directions of the frame along which the readings do not tell the centre, unit vectors.
    nis: normalised innovation squared, a reading: about 1 if model and noise are right.
    """

    stamp_ns: int
    frame: str
    mass: float
    centre: Array
    covariance: Array
    present: bool
    hidden: Array
    nis: float

    @property
    def deviation(self) -> Array:
        """Standard deviations of mass, kg, and centre, m, (4,)."""
        deviation: Array = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return deviation

    @property
    def text(self) -> str:
        """In words, for people."""
        spread = self.deviation
        if not self.present:
            return f'no payload on {self.frame} (0 +- {spread[0]:.2g} kg)'
        words = [f'{self.mass:.3g} +- {spread[0]:.2g} kg on {self.frame}']
        words += [f'centre {axis} {at:.3f} +- {off:.2g} m' for axis, at, off in zip(
            AXES, self.centre, spread[1:], strict=True)]
        words += [f'centre along {direction_text(one)} cannot be told in this pose: turn the '
                  'frame against gravity, or move it fast' for one in self.hidden]
        return '; '.join(words)


def direction_text(direction: Array) -> str:
    """A unit vector (3,) in words: an axis, or its components."""
    at = int(np.argmax(np.abs(direction)))
    if abs(direction[at]) > 0.99:
        return f'{AXES[at]}'
    return '(' + ', '.join(f'{one:.2f}' for one in direction) + ')'


class PayloadEstimator:
    """A `PayloadFilter` that takes readings as they come, keeps to a grid of time and begins anew
    where readings contradict the model, time was set back, or joint states were missing.

    Parameters
    ----------
    model : flex_dynamics.Model
        The robot without the payload, with its gauges.
    frame : str
        Link or frame that carries the payload; empty: the last link.
    period : float
        Time (s) between two estimates.
    noise : PayloadNoise, optional
        Default: efforts as `effort_biases` has them.
    largest_mass : float
        kg, of a payload that may come.
    largest_offset : float
        m, of its centre from the frame.

    Examples
    --------
    >>> import numpy as np
    >>> from flex_description import load_robot
    >>> from flex_dynamics import Model
    >>> from flex_identification import PayloadEstimator
    >>> model = Model(load_robot('ur5'))
    >>> estimator = PayloadEstimator(model, 'tool0', largest_mass=5.0)
    >>> joints = np.array([0.0, -1.0, 1.0, 0.0, 0.5, 0.0])
    >>> effort = model.statics(joints)[1]
    >>> for k in range(20):
    ...     found = estimator.update(10_000_000 * k, joints, 0.0 * joints, effort)
    >>> found.present
    False
    """

    def __init__(self, model: Model, frame: str = '', period: float = 0.01,
                 noise: PayloadNoise | None = None, largest_mass: float = 10.0,
                 largest_offset: float = 0.3) -> None:
        frame = frame or model.robot.links[-1].name
        self._refuse(model, frame)
        if noise is None:
            biases = effort_biases(model)
            noise = PayloadNoise(effort=biases, effort_bias=biases)
        self.model, self.frame, self.period_ns = model, frame, round(NANO * period)
        self._filter = PayloadFilter(model, frame, noise, period, largest_mass, largest_offset)
        self.stamp_ns = self.restarts = 0
        self.reset()

    @staticmethod
    def _refuse(model: Model, frame: str) -> None:
        if model.robot.constraints:
            raise IdentificationError(f'{model.robot.name}: expected a tree of links, found '
                                      'constraints, whose reactions carry a payload too')
        if len(driven_places(model)) < model.n_joints:
            raise IdentificationError(f'{model.robot.name}: expected joints with motors only, '
                                      'found a floating or planar base, whose efforts are unknown')
        if np.linalg.norm(model.gravity) < LEAST_GRAVITY:
            raise IdentificationError(f'{model.robot.name}: expected gravity of at least '
                                      f'{LEAST_GRAVITY:g} m/s2 to weigh with, found '
                                      f'{np.linalg.norm(model.gravity):.3g}')
        model.pose(np.zeros(model.n), frame)       # DynamicsError if there is no such frame

    def reset(self) -> None:
        """Begin anew with the next readings."""
        self._filter.begun = False
        self._efforts: list[Array] = []
        self._strain: Array | None = None

    def update(self, stamp_ns: int, position: Array, velocity: Array | None, effort: Array,
               strain: Array | None = None) -> PayloadEstimate | None:
        """Readings of the time `stamp_ns` (ns); an estimate, if a period has passed.

        position, velocity, effort (n_joints,): joint states; strain (n_gauges,): gauges, if there
        is a new reading. NaN: not known; without all positions and efforts there is no estimate.
        IdentificationError if readings contradict the model; the next ones begin anew.
        """
        known = np.isfinite(position).all() and np.isfinite(effort).all()
        if self._filter.begun and (stamp_ns < self.stamp_ns - self.period_ns
                                   or self._steps(stamp_ns) > MOST_MISSED):
            self.restarts += 1
            self.reset()
        if strain is not None:
            self._strain = strain
        if not known:
            return None
        if not self._filter.begun:
            with np.errstate(all='ignore'):
                self._filter.begin(position)
            self.stamp_ns = stamp_ns
            return self._estimate(stamp_ns)
        self._efforts.append(effort)
        steps = self._steps(stamp_ns)
        if steps == 0:
            return None
        try:
            with np.errstate(all='ignore'):
                mean = np.mean(self._efforts, axis=0)
                self.stamp_ns += steps * self.period_ns
                later = 1e-9 * (self.stamp_ns - stamp_ns)
                speed = self._filter.v[:len(position)]
                at = position + later * speed
                self._filter.update(mean, at, velocity, self._strain, steps)
                if np.abs(at - self._filter.q[:len(position)]).max(initial=0.0) > JUMP:
                    raise IdentificationError('joint positions are more than '
                                              f'{JUMP:g} rad or m from where they should be')
        except (IdentificationError, ArithmeticError, ValueError) as error:
            self.restarts += 1
            self.reset()
            raise IdentificationError(str(error)) from None
        self._efforts, self._strain = [], None
        return self._estimate(stamp_ns)

    def prior(self, stamp_ns: int) -> PayloadEstimate:
        """What is known before the first reading: that the payload is none of those that are too
        heavy."""
        spread = self._filter.prior
        covariance = np.diag([spread[0]**2, *3 * [(spread[1] / spread[0])**2]])
        return PayloadEstimate(stamp_ns, self.frame, 0.0, np.zeros(3), covariance, False,
                               np.zeros((0, 3)), 0.0)

    def _steps(self, stamp_ns: int) -> int:
        return (stamp_ns - self.stamp_ns + self.period_ns // 2) // self.period_ns

    def _estimate(self, stamp_ns: int) -> PayloadEstimate:
        own = self._filter
        payload, spread = own.payload, own.covariance
        mass, offset = float(payload[0]), float(own.prior[1] / own.prior[0])
        present = mass > SURE * float(np.sqrt(spread[0, 0]))
        covariance, centre = np.zeros((4, 4)), np.zeros(3)
        hidden = np.zeros((0, 3))
        covariance[0, 0] = spread[0, 0]
        covariance[1:, 1:] = offset**2 * np.eye(3)
        if present:
            centre = payload[1:] / mass
            slopes = np.eye(4)
            slopes[1:] = np.hstack((-centre[:, None], np.eye(3))) / mass
            covariance = slopes @ spread @ slopes.T
            squares, directions = np.linalg.eigh(covariance[1:, 1:])
            hidden = directions.T[np.sqrt(np.maximum(squares, 0.0)) > HIDDEN * offset]
        return PayloadEstimate(stamp_ns, self.frame, mass, centre, covariance, present,
                               hidden, own.nis / max(own.measured, 1))
