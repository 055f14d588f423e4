"""The architecture, read from all imports: who may use whom, and how large folders may be.

Packages depend on packages above them, folders of a package on folders above them (doc/
architecture.md shows both). Other packages use the public surface of a package only.
"""
from __future__ import annotations

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ['flex_msgs', 'flex_description', 'flex_ros', 'flex_dynamics', 'flex_control',
            'flex_viz', 'flex_identification', 'flex_study', 'flex_bringup']
LIBRARIES = [name for name in PACKAGES if name != 'flex_msgs']
# Folders and modules of a package from the bottom up; those in one line may use each other.
LAYERS = {
    'flex_description': [
        ('errors', 'suggestion', 'math'), ('files',), ('shapes', 'robot', 'beam', 'sections',
         'materials', 'carried_inertia', 'rigid_inertia', 'link_modes', 'fit', 'poses', 'visuals'),
        ('reading',), ('writing',), ('load', 'lumping'), ('commands', 'describe')],
    'flex_ros': [
        ('message_fields', 'clock', 'start', 'transport', 'qos', 'cdr', 'printable_text'),
        ('message_guard', 'polled_subscription', 'executor', 'real_time_thread', 'shutdown'),

        ('parameters', 'rclpy_guard', 'diagnostics'), ('bag', 'entry')],
    'flex_dynamics': [
        ('errors', 'arrays', 'all_finite', 'compile_messages'), ('kernels',),
        ('checks', 'immutable'), ('papers',),
        ('build',), ('model',), ('simulation',), ('symbolic', 'warm_up'), ('ros',), ('nodes',)],
    'flex_control': [
        ('errors', 'incremental', 'kernels', 'commanded_joints'), ('trajectories',), ('shaping',),
        ('design',),
        ('reference',), ('estimators',), ('controllers', 'warm_up'), ('loop',), ('trial',),
        ('batch',), ('nodes',)],
    'flex_viz': [
        ('shown_text',), ('geometry',), ('rviz', 'report'), ('browser',), ('nodes',)],
    'flex_identification': [
        ('errors', 'kernels'), ('data', 'online'), ('prediction',), ('fit',), ('report', 'design'),
        ('commands',), ('nodes',)],
    'flex_study': [
        ('errors',), ('sampling', 'measures'), ('study',), ('runs',), ('store', 'estimate'),
        ('cluster', 'report', 'environments'), ('commands',)],
}
# Underscore names of rclpy, rosidl, xacro, numba and sympy, for which there is no public way.
FOREIGN = {
    '_global_symbols', '_executor_event', '_callback_type', '_clock_sub', '_getvalue',
    '_get_module_for_linking', '_locator_classes', '_from_args', '_print', '_CONVERT_TO_PY',
    '_CONVERT_FROM_PY', '_CREATE_ROS_MESSAGE', '_DESTROY_ROS_MESSAGE', '_TYPE_SUPPORT',
    '_goal_request'}
# Modules that other packages may import besides the package itself. flex_ros: all of them.
PUBLIC = {
    'flex_description': ('math', 'shapes', 'suggestion', 'commands', 'lumping', 'visuals'),
    'flex_dynamics': ('symbolic', 'ros', 'arrays', 'simulation', 'papers', 'checks'),
    'flex_control': (), 'flex_viz': (), 'flex_identification': (), 'flex_study': (),
}
COMPILED = 'flex_control'      # has kernels that call those of flex_dynamics
MOST_FILES = 15


@cache
def modules(package):
    """Dotted names of a package's modules, and their syntax trees."""
    folder = ROOT / package / package
    found = {}
    for path in sorted(folder.rglob('*.py')):
        parts = path.relative_to(ROOT / package).with_suffix('').parts
        name = '.'.join(parts[:-1] if parts[-1] == '__init__' else parts)
        found[name] = ast.parse(path.read_text())
    return found


def imports(module, tree):
    """(imported module, names) of every import; names of modules are part of the module."""
    known = {name for package in LIBRARIES for name in modules(package)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, ''
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f'{module}: relative import'
            for alias in node.names:
                inner = f'{node.module}.{alias.name}'
                yield (inner, '') if inner in known else (node.module, alias.name)


def ours():
    for package in LIBRARIES:
        for module, tree in modules(package).items():
            yield package, module, tree


def layer(package, module):
    """Number of the layer that a module of a package is in; None: its __init__."""
    parts = module.split('.')
    if len(parts) == 1:
        return None
    for number, names in enumerate(LAYERS[package]):
        if parts[1] in names:
            return number
    raise AssertionError(f'{module}: no layer of {package} has it; add it to LAYERS')


def test_packages_use_packages_above_them():
    found = [f'{module} imports {target}' for package, module, tree in ours()
             for target, _ in imports(module, tree)
             if target.split('.')[0] in PACKAGES
             and PACKAGES.index(target.split('.')[0]) > PACKAGES.index(package)]
    assert found == []


def test_no_package_uses_the_nodes_of_another():
    found = [f'{module} imports {target}' for package, module, tree in ours()
             for target, _ in imports(module, tree)
             if target.startswith('flex_') and target.split('.')[0] != package
             and '.nodes' in target]
    assert found == []


@pytest.mark.parametrize('package', sorted(LAYERS))
def test_folders_use_folders_above_them(package):
    found = []
    for module, tree in modules(package).items():
        own = layer(package, module)
        for target, _ in imports(module, tree):
            if own is None or target.split('.')[0] != package or target == package:
                continue
            if layer(package, target) > own:
                found.append(f'{module} imports {target}')
    assert found == []


def test_other_packages_use_the_public_surface():
    found = []
    for package, module, tree in ours():
        for target, _ in imports(module, tree):
            owner, *rest = target.split('.')
            if owner in PUBLIC and owner != package and rest and rest[0] not in PUBLIC[owner]:
                # `nodes` has a test of its own; compiled code calls compiled code.
                if 'nodes' not in rest and not (rest[0] == 'kernels' and package == COMPILED):
                    found.append(f'{module} imports {target}')
    assert found == []


def private(name):
    return name.startswith('_') and not name.endswith('__')


def test_no_module_uses_underscore_names_of_another():
    found = []
    for _, module, tree in ours():
        found += [f'{module} imports {name} of {target}' for target, name in imports(module, tree)
                  if target.split('.')[0] in PACKAGES and (private(name) or any(
                      map(private, target.split('.'))))]
        own = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
               and isinstance(node.value, ast.Name) and node.value.id in ('self', 'cls')}
        own |= {node.name for node in ast.walk(tree)
                if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef))}
        own |= {target.id for node in ast.walk(tree)
                if isinstance(node, (ast.Assign, ast.AnnAssign))
                for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
                if isinstance(target, ast.Name)}
        for node in ast.walk(tree):
            if (isinstance(node, ast.Attribute) and private(node.attr)
                    and node.attr not in own | FOREIGN
                    and not (isinstance(node.value, ast.Name) and node.value.id in (
                        'self', 'cls', 'os', 'ctypes'))):
                found.append(f'{module}, line {node.lineno}: {ast.unparse(node)}')
    assert found == []


@pytest.mark.parametrize('package', LIBRARIES)
def test_folders_are_small(package):
    folders = Counter(path.parent for path in (ROOT / package / package).rglob('*.py')
                      if path.name != '__init__.py')
    assert {str(folder): count for folder, count in folders.items() if count > MOST_FILES} == {}


def test_files_that_the_page_names_are_there():
    text = (ROOT / 'doc' / 'architecture.md').read_text()
    named = set(re.findall(r'`(flex_\w+/[\w/]+(?:\.py|/))`', text))
    assert len(named) > 30
    missing = []
    for name in named:
        package, _, rest = name.partition('/')
        inside = ROOT / package / package / rest
        if not inside.exists() and not (ROOT / name).exists():
            missing.append(name)
    assert missing == []
