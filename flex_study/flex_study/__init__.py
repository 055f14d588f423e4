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
"""How a flexible robot behaves over many runs: studies on a Dask cluster.

This is the public surface of the package.
"""
from flex_study.cluster import run_study
from flex_study.errors import StudyError
from flex_study.estimate import Estimate, estimate
from flex_study.report import write_report
from flex_study.runs import run_batch
from flex_study.store import Store
from flex_study.study import Study, bundled_studies, read_study

__version__ = '0.1.0'

__all__ = ['Estimate', 'Store', 'Study', 'StudyError', 'bundled_studies', 'estimate',
           'read_study', 'run_batch', 'run_study', 'write_report']
