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
"""What a flexible robot is made of: recorded data, from which its parameters are to be found.

This is the public surface of the package.
"""
from flex_identification.data.plausibility import refuse_implausible
from flex_identification.data.read import read_recording
from flex_identification.data.recording import Recording
from flex_identification.errors import IdentificationError
from flex_identification.fit.identify import FittedParameter, Identification, identify
from flex_identification.online import (
    PayloadEstimate,
    PayloadEstimator,
    PayloadNoise,
    effort_biases,
)
from flex_identification.prediction.filtered_run import Noise
from flex_identification.prediction.fisher import (
    FisherInformation,
    NullDirection,
    fisher_information,
    simulated,
)
from flex_identification.prediction.linearized_run import Inputs, LinearizedRun, linearize
from flex_identification.prediction.outputs import Outputs
from flex_identification.prediction.parameters import FitParameter, ParameterSet, Prior

__version__ = '0.1.0'

__all__ = ['FisherInformation', 'FitParameter', 'FittedParameter', 'Identification',
           'IdentificationError', 'Inputs', 'LinearizedRun', 'Noise', 'NullDirection', 'Outputs',
           'ParameterSet', 'PayloadEstimate', 'PayloadEstimator', 'PayloadNoise', 'Prior',
           'Recording', 'effort_biases', 'fisher_information', 'identify', 'linearize',
           'read_recording', 'refuse_implausible', 'simulated']
