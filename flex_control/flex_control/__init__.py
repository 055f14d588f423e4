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
"""How a flexible robot is driven: trajectories, controllers and estimators, without ROS.

This is the public surface of the package. Other packages, tutorials and examples import from here
and from nowhere else in it; other modules may change without notice.
"""
from __future__ import annotations

import warnings
from typing import Any

from flex_control.batch.control_schedule import control_schedule
from flex_control.batch.run_trials import TrialBatch, run_trials
from flex_control.controllers import (
    PD,
    Controller,
    available_controllers,
    controller_class,
    make_controller,
)
from flex_control.controllers.computed_torque import ComputedTorque
from flex_control.controllers.elastic_joint import ElasticJoint
from flex_control.controllers.feedback_linearization import FeedbackLinearization
from flex_control.controllers.lqg import LQG
from flex_control.controllers.lqr import LQR
from flex_control.controllers.mpc import MPC
from flex_control.controllers.parameters import Parameter
from flex_control.controllers.pid import PID
from flex_control.controllers.sampled_loop import SampledLoop, sampled_loop, sampling_problem
from flex_control.errors import ControlError
from flex_control.estimators import (
    Estimate,
    FilterNoise,
    FlexibleStateFilter,
    Measurements,
    StateObserver,
)
from flex_control.loop import ControlLoop
from flex_control.reference import (
    CartesianLine,
    CartesianPath,
    InverseKinematics,
    StaticLoad,
    TipCircle,
    TipLine,
    TipPoses,
    TipTrajectory,
)
from flex_control.reference.path_timing import JointPath, RigidOptimum, TimeOptimal
from flex_control.shaping import Shaped, Shaper
from flex_control.trajectories import (
    CubicSpline,
    Cycloidal,
    Feedforward,
    MinimumJerk,
    MotionLimits,
    Orientation,
    OrientationSpline,
    QuinticSpline,
    Reference,
    SetPoints,
    Splines,
    Stop,
    TimeScaled,
    Trajectory,
)
from flex_control.trial import Noise, TrialResult, run_trial

__version__ = '0.1.0'

__all__ = [
    'LQG', 'LQR', 'MPC', 'PD', 'PID', 'CartesianLine', 'CartesianPath', 'ComputedTorque',
    'ControlError', 'ControlLoop', 'Controller', 'CubicSpline', 'Cycloidal', 'ElasticJoint',
    'Estimate', 'FeedbackLinearization', 'Feedforward', 'FilterNoise', 'FlexibleStateFilter',
    'InverseKinematics', 'JointPath', 'Measurements', 'MinimumJerk', 'MotionLimits', 'Noise',
    'Orientation', 'OrientationSpline', 'Parameter', 'QuinticSpline', 'Reference',
    'RigidOptimum', 'SampledLoop', 'SetPoints', 'Shaped', 'Shaper', 'Splines', 'StateObserver',
    'StaticLoad', 'Stop', 'TimeOptimal', 'TimeScaled', 'TipCircle', 'TipLine', 'TipPoses',
    'TipTrajectory', 'Trajectory', 'TrialBatch', 'TrialResult', 'available_controllers',
    'control_schedule', 'controller_class', 'make_controller', 'run_trial', 'run_trials',
    'sampled_loop', 'sampling_problem',
]

# Old public name -> new one in this module
_RENAMED = {'Limits': 'MotionLimits'}


def __getattr__(name: str) -> Any:
    if name not in _RENAMED:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    warnings.warn(f'flex_control.{name} is now flex_control.{_RENAMED[name]}; the old name will '
                  'be removed', DeprecationWarning, stacklevel=2)
    return globals()[_RENAMED[name]]
