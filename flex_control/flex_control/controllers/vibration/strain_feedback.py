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
"""Joint PD control with strain feedback: strain rate or positive position feedback of gauges."""
from __future__ import annotations

from typing import ClassVar

import numpy as np

from flex_control.controllers.affine_law import AffineLaw
from flex_control.controllers.parameters import Parameter
from flex_control.controllers.pd import PD
from flex_control.design.gains import USUAL_PERIOD, first_frequency, shared_inertia
from flex_control.design.lqr_design import check_size
from flex_control.design.strain_design import FILTERS, StrainDesign, StrainFilter
from flex_control.design.strain_modes import StrainModes, in_order_of
from flex_control.errors import ControlError
from flex_control.estimators.measurements import Measurements
from flex_control.reference.deflected_reference import DeflectedReference
from flex_control.reference.static_load import StaticLoad
from flex_control.reference.tip_compensation import TipCompensation
from flex_dynamics import Model, Sensors

SAME_PERIOD = 0.2        # periods that differ by less are one
MOST_MISSED = 20         # updates without a reading of the gauges, until it is an error
METHODS = tuple(FILTERS)
TUNED_BY = ('kp', 'kd', 'bandwidth', 'gain', 'method', 'highest_mode')


class StrainFeedback(PD):
    """tau = kp (q_d - q) + kd (v_d - v) + tau(q_d, v_d, a_d) + V f(R (s - S q_r)).

    R reads the amplitudes of the modes from the strains s beyond those of the quasi-static
    deflection, S q_r; V acts on the same modes (design/strain_modes.py). f: positive position
    feedback (Fanson and Caughey 1990), f = g w^2 e with e'' + 2 z w e' + w^2 e = w^2 p, or strain
    rate, f = -2 g w p'.
    """

    PARAMETERS: ClassVar[tuple[Parameter, ...]] = (
        *PD.PARAMETERS,
        Parameter('method', 'position', 'position: positive position feedback; rate: of the '
                  'strains, through a low-pass'),
        Parameter('gain', 0.0, 'g: rate: damping ratio that every mode is given; position: share '
                  'of its stiffness; 0: what lets pushes move the tip least', '', 0.0, 2.0),
        Parameter('highest_mode', 0.0, 'modes above are left alone; 0: 0.1 times the sampling '
                  'rate', 'Hz', 0.0, 1e6),
        Parameter('pose_step', 0.05, 'change of a wanted joint position after which the modes are '
                  'calculated anew; 0: never', 'rad or m', 0.0, 1e3),
    )
    needs_measurements: ClassVar[bool] = True
    knows_constraints: ClassVar[bool] = False

    def parameters_changed(self) -> None:
        model, given = self.model, self.parameters
        check_size(model, 'strain_feedback')
        if given['method'] not in METHODS:
            raise ControlError(f'method: expected one of {", ".join(METHODS)}, found '
                               f'{given["method"]!r}')
        _check_gauges(model)
        if not hasattr(self, '_inertia'):
            self._inertia, self._limits = shared_inertia(model), model.joint_limits.effort
            self._static_load = StaticLoad(model)
            self._moving_load = DeflectedReference(model)
            self._sag = DeflectedReference(model)
            self._tuned_by: list[object] = []
            self._period = 0.0
        key = [np.asarray(given[name]).tolist() for name in TUNED_BY]
        if key != self._tuned_by:
            design = StrainDesign(model, given)
            tuning = design.tuned(USUAL_PERIOD)
            self._design, self._tuned_by, self._tuned_for = design, key, USUAL_PERIOD
            self.gain, self.bandwidth = tuning.gain, tuning.bandwidth
            self.kp, self.kd = design.joint_gains(self.bandwidth)
            self._forget()
        self._share()
        self._tip = TipCompensation(model, given['tip_frame'])

    def _forget(self) -> None:
        """Modes and filters begin with the next update."""
        self._modes: StrainModes | None = None
        self._filter: StrainFilter | None = None
        self._state, self._missed = np.zeros(0), 0
        self._strain: np.ndarray | None = None

    def reset(self) -> None:
        super().reset()
        self._sag.reset()
        self._forget()

    def update(self, time: float, period: float) -> np.ndarray:
        wanted = self.wanted(period)
        efforts = self.efforts_towards(wanted, period)
        self._sag.move_to(wanted, period)
        if period <= 0.0:
            return efforts
        strain = self._reading()
        modes, filters = self._prepare(period)
        p = modes.reader @ (strain - self._design.strain @ self._sag.q)
        if self._state.size != len(filters.A):     # no transient: as if p had been there before
            self._state = _settled(filters, p)
        asked = modes.drive @ (filters.C @ self._state + filters.D @ p)
        self._state = filters.A @ self._state + filters.B @ p
        # what the joints leave of the motors
        share = np.clip(asked, np.minimum(-self._limits - efforts, 0.0),
                        np.maximum(self._limits - efforts, 0.0))
        total: np.ndarray = efforts + share
        return total

    def _reading(self) -> np.ndarray:
        """The strains (n_gauges,) of now, or the last ones if none is new."""
        readings = self.measurements or Measurements()
        if readings.strain is None:
            self._missed += 1
            if self._strain is None or self._missed > MOST_MISSED:
                raise ControlError('strain_feedback: expected readings of strain gauges, found '
                                   f'none in {self._missed} updates: is the topic strain_gauges '
                                   'published?')
            return self._strain
        self._missed, self._strain = 0, np.asarray(readings.strain, dtype=float)
        return self._strain

    def _prepare(self, period: float) -> tuple[StrainModes, StrainFilter]:
        """Modes and filters for this period (s)."""
        if abs(period - self._period) > SAME_PERIOD * self._period:
            self._period, self._modes = period, None
            if period > (1.0 + SAME_PERIOD) * self._tuned_for:
                # slower updates than the gain was tuned for
                self.gain = self._design.at_bandwidth(self.bandwidth, period).gain
                self._tuned_for = period
        if self._modes is None or self._filter is None:
            self._begin()
        assert self._modes is not None and self._filter is not None
        return self._modes, self._filter

    def _begin(self) -> None:
        self._at = self._sag.q[:self.model.n_joints].copy()
        self._modes = self._design.modes(self._sag.q, self.kp, self.kd, self._period)
        self._filter = FILTERS[self.parameters['method']](self._modes.frequencies, self.gain,
                                                          self._period)
        self._state = np.zeros(0)

    def ahead(self) -> None:
        """The modes of the pose, if it has changed."""
        step = self.parameters['pose_step']
        if self._modes is None or step <= 0.0:
            return
        joints = self.model.n_joints
        if np.abs(self._sag.q[:joints] - self._at).max(initial=0.0) <= step:
            return
        self._at = self._sag.q[:joints].copy()
        found = self._design.modes(self._sag.q, self.kp, self.kd, self._period)
        same = in_order_of(found, self._modes, self.model.mass_matrix(self._sag.q))
        if same is not None:
            self._modes = same
            self._filter = FILTERS[self.parameters['method']](same.frequencies, self.gain,
                                                              self._period)

    def warning(self) -> str:
        if self.gain > 0.0:
            return super().warning()
        return ('strain_feedback: no gain damps vibration better than the joints alone do, at '
                f'updates every {1e3 * self._tuned_for:g} ms: it acts as pd; update faster, or '
                'use the other method')

    def affine_law(self) -> AffineLaw | None:
        return None


def _settled(filters: StrainFilter, p: np.ndarray) -> np.ndarray:
    """The state (k m,) that a constant p (m,) leads to."""
    size = len(filters.A)
    state: np.ndarray = np.linalg.solve(np.eye(size) - filters.A, filters.B @ p)
    return state


def _check_gauges(model: Model) -> None:
    """ControlError if no gauge sees a vibration."""
    name = model.robot.name
    if not np.isfinite(first_frequency(model)):
        raise ControlError('strain_feedback: expected flexible links, found none in robot '
                           f'{name}: use pid')
    gauges = [gauge for link in model.robot.links if link.flexible is not None
              for gauge in link.flexible.gauges]
    if not gauges:
        raise ControlError(f'strain_feedback: expected strain gauges, found none in robot {name}: '
                           'add a <gauge> to a flexible link, or use computed_torque, or lqr')
    if not Sensors(model).strain_matrix().any():
        raise ControlError('strain_feedback: expected gauges that see their link bend, found '
                           f'{gauges[0].name} and all others of robot {name} on the axis of their '
                           'beam (or where no shape of the link bends): give them y or z')
