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
"""The folders of the package depend on one another in one direction only."""
import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / 'flex_description'
# Each folder or module may import from itself and from the layers before its own.
LAYERS = [('errors',), ('suggestion', 'files'), ('math',), ('shapes',), ('robot',),
          ('materials', 'sections'), ('beam',), ('rigid_inertia',), ('carried_inertia',),
          ('link_modes',), ('fit',), ('reading', 'poses', 'visuals'), ('writing',),
          ('load', 'lumping'), ('commands',),
          ('describe', '__init__')]
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob('*.py'))
# Types of the records, for annotations only.
TYPES_ONLY = {('shapes/build.py', 'robot')}


def imports(path):
    for node in ast.walk(ast.parse((PACKAGE / path).read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or '').startswith('flex_description'):
            yield node.module.split('.')[1:], [alias.name for alias in node.names]


@pytest.mark.parametrize('path', MODULES, ids=str)
def test_imports_point_to_lower_layers(path):
    own = path.parts[0].removesuffix('.py')
    for module, names in imports(path):
        for used in module[:1] or names:
            if (str(path), used) not in TYPES_ONLY:
                assert RANK[used] < RANK[own] or used == own, f'{own} imports {used}'
        assert not [name for name in names if name.startswith('_')], f'{path}: private {names}'


def test_no_folder_has_more_than_15_modules():
    folders = {path.parent for path in MODULES}
    sizes = {str(folder): len(list((PACKAGE / folder).glob('*.py'))) for folder in folders}
    assert {folder: size for folder, size in sizes.items() if size > 15} == {}
