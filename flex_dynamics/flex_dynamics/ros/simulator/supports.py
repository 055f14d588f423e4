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
"""Supports switched at run time: `~/set_support`."""
from __future__ import annotations

from typing import Any

from flex_dynamics import DynamicsError
from flex_msgs.srv import SetSupport
from flex_ros.message_guard import CALCULATION_ERRORS, shortened


class SupportService:
    """Puts feet down where they are and lifts them; speeds jump as in an inelastic impact."""

    def __init__(self, simulator: Any) -> None:
        self._simulator = simulator
        simulator.create_service(SetSupport, '~/set_support', self._set)

    def _set(self, request: Any, response: Any) -> Any:
        plant = self._simulator.plant
        try:
            active = {support.name for support in plant.model.robot.supports if support.active}
            if request.active and request.name in active:
                raise DynamicsError(f'support {shortened(request.name)!r} is active already')
            plant.set_support(request.name, request.active)
            self._simulator.get_logger().info(
                f'support {shortened(request.name)} {"holds" if request.active else "is off"}')
            response.success = True
        except CALCULATION_ERRORS as error:
            response.message = shortened(str(error))
        return response
