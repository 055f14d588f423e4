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
"""The page on flexible elements: its examples load, agree, and its table has every attribute."""
import re
from pathlib import Path

import numpy as np
import pytest

from flex_description import load_robot, sections
from flex_description.commands.summary import summary
from flex_description.materials import MATERIALS
from flex_description.reading.flexible import link as flexible
from flex_description.reading.flexible import modes
from flex_description.reading.inertia import TENSOR
from flex_description.shapes.build import BASES

PAGE = (Path(__file__).parents[1] / 'doc' / 'flexible_elements.md').read_text(encoding='utf-8')
XML, = re.findall(r'```xml\n(<robot .*?)```', PAGE, re.S)
YAML, = re.findall(r'```yaml\n(flexible:\n.*?)```', PAGE, re.S)


def test_the_overlay_makes_the_robot_of_the_urdf(tmp_path):
    plain = XML[:XML.index('  <flexible link="boom">')] + '</robot>'
    assert 'flexible' not in plain
    path = tmp_path / 'overlay.yaml'
    path.write_text(YAML)
    ours, theirs = summary(load_robot(XML)), summary(load_robot(plain, path))
    assert ours == theirs and ours['warnings'] == []
    assert ours['coordinates']['total'] == 2 + 1 + 5 + 7


def test_table_names_every_attribute():
    table = PAGE[PAGE.index('## Every attribute'):PAGE.index('## What is good to know')]
    named = set(re.findall(r'`([a-z_A-Z0-9-]+)`', table))
    wanted = {*flexible.PARTS, *flexible.RATIOS, *modes.COUNTS, *modes.TIP, *modes.OPTIONS,
              *TENSOR, *BASES, *MATERIALS, *sections.SHAPES,
              *(name for names, _ in sections.SHAPES.values() for name in names)}
    assert not wanted - named


@pytest.mark.parametrize('name', MATERIALS)
def test_table_of_materials(name):
    row = re.search(rf'\| `{name}`.*?\| (\S+) \| (\S+) \| (\S+) \|', PAGE[PAGE.index('GPa'):])
    assert row is not None
    material = MATERIALS[name]
    assert np.array(row.groups(), float) == pytest.approx(
        [material.E / 1e9, material.G / 1e9, material.density])
