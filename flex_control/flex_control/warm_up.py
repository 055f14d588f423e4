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
"""Compile the controllers' kernels once, so that no robot waits for them: `make setup` runs it,
while the packages are built: no controller can be found by its name yet."""
from __future__ import annotations

from flex_control.kernels.linearizing_efforts import SIGNATURE, linearizing_efforts
from flex_dynamics.kernels.base.handle import prepare


def warm_up() -> None:
    """Compile every kernel of this package into numba's cache."""
    prepare(linearizing_efforts, *SIGNATURE)


if __name__ == '__main__':
    warm_up()
