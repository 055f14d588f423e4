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
"""<motion_limits>: rates of a joint that <limit> has from URDF 1.2 on.

Older parsers do not know them in <limit>; descriptions that are published have them here.
"""
from __future__ import annotations

from flex_description.errors import quoted
from flex_description.reading.element import Element
from flex_description.suggestion import suggestion

RATES = {'acceleration': 's2', 'deceleration': 's2', 'jerk': 's3'}


def add_motion_limits(root: Element, elements: dict[str, Element]) -> None:
    """Write the rates of <motion_limits>, by joint, into the <limit> of their joints."""
    joints = {joint.attributes.get('name', '').strip(): joint for joint in root.all('joint')}
    for name, element in elements.items():
        element.allow({'joint', *RATES})
        if name not in joints:
            element.fail('joint', 'the name of a joint',
                         f'{quoted(name)}; {suggestion(name, joints)}')
        limit = joints[name].one('limit')
        if limit is None:
            element.fail('joint', 'a joint with a <limit>', f'none in {quoted(name)}')
        for rate, unit in RATES.items():
            if rate in element.attributes:
                element.number(rate, above=0.0, unit=f'rad/{unit} or m/{unit}')
                limit.attributes[rate] = element.attributes[rate]
