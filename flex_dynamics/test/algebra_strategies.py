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
"""What hypothesis draws for the algebra: the same draws in every run."""
from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

quick = settings(deadline=None, derandomize=True, max_examples=40)


def vectors(length: int = 3, size: float = 3.0):
    """Arrays (length,) of numbers up to a size."""
    return arrays(float, length, elements=st.floats(-size, size, allow_subnormal=False))


VECTOR = vectors()
ANGLE = st.floats(-3.0, 3.0)
