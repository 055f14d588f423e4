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
"""Linear models of a robot about rest, sampled, and the gains that are designed from them.

What takes longer than one update of a controller is a generator that yields between its pieces
(each some tens of microseconds) and returns its result: see `flex_control.incremental`. So a
design runs beside the control loop without threads, and every run gives the same result.
"""
from flex_control.design.rank_tests import unobservable, unreachable
from flex_control.design.rest_model import RestModel, rest_model
from flex_control.design.riccati import riccati
from flex_control.design.sampling import exponential_and_gramian

__all__ = ['RestModel', 'exponential_and_gramian', 'rest_model', 'riccati', 'unobservable',
           'unreachable']
