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
"""Symbolic equations of motion: derived, read, simplified, exported, and checked for zeros."""
from flex_dynamics.symbolic.derive import METHODS, Payload, derive
from flex_dynamics.symbolic.equations import Equations
from flex_dynamics.symbolic.hamel import derive_hamel
from flex_dynamics.symbolic.hamel_equations import HamelEquations, HamelMotion
from flex_dynamics.symbolic.model import SymbolicModel
from flex_dynamics.symbolic.zero_dynamics import ZeroDynamics, zero_dynamics

__all__ = ['METHODS', 'Equations', 'HamelEquations', 'HamelMotion', 'Payload', 'SymbolicModel',
           'ZeroDynamics', 'derive', 'derive_hamel', 'zero_dynamics']
