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
"""The joint motion that a deflected arm needs: equilibria, compensation, softened steps."""
from flex_control.reference.cartesian_line import CartesianLine
from flex_control.reference.cartesian_path import CartesianPath, TipCircle, TipLine, TipPoses
from flex_control.reference.deflected_reference import DeflectedReference
from flex_control.reference.inverse_kinematics import InverseKinematics
from flex_control.reference.soft_steps import SoftSteps
from flex_control.reference.static_load import StaticLoad
from flex_control.reference.tip_compensation import TipCompensation
from flex_control.reference.tip_trajectory import TipTrajectory

__all__ = ['CartesianLine', 'CartesianPath', 'DeflectedReference', 'InverseKinematics',
           'SoftSteps', 'StaticLoad', 'TipCircle', 'TipCompensation', 'TipLine', 'TipPoses',
           'TipTrajectory']
