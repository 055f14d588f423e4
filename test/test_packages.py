"""What holds of every package: manifests, versions, licences, names that ROS and rosdep know."""
import ast
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ['flex_description', 'flex_ros', 'flex_dynamics', 'flex_control', 'flex_viz',
          'flex_identification', 'flex_study', 'flex_bringup']
ORDER = ['flex_msgs', *PYTHON]
VERSION = '0.1.0'
# Keys of modules that have another name.
KEYS = {'PIL': 'python3-pil', 'urdf_parser_py': 'urdfdom_py', 'rosbags': 'python3-rosbags-pip',
        'mpl_toolkits': 'python3-matplotlib', 'llvmlite': 'python3-numba', **{
            name: f'python3-{name}' for name in ('hypothesis', 'matplotlib', 'numba', 'numpy',
                                                 'pytest', 'scipy', 'sympy')},
        'yaml': 'python3-yaml'}
# Modules that rosdep does not have: of mpc, of the viewer in the browser and of studies, whose
# errors name them.
NO_KEY = {'flex_control': {'daqp'}, 'flex_viz': {'viser', 'websockets', 'msgspec'},
          'flex_study': {'dask', 'distributed', 'gymnasium', 'xarray', 'zarr'}}
# Prints the extras_require of a setup.py.
DISTRIBUTION = ('import setuptools; from distutils.core import run_setup; '
                'print(run_setup("setup.py", stop_after="init").extras_require)')

# Keys that rosdep resolves for Jazzy on Ubuntu 24.04: packages of the distribution, then system
# packages. A new dependency is looked up there before it is added here.
ROSDEP = {
    'action_msgs', 'ament_cmake', 'ament_index_python', 'builtin_interfaces', 'control_msgs',
    'diagnostic_msgs', 'domain_coordinator', 'geometry_msgs', 'launch', 'launch_ros',
    'launch_testing', 'nav_msgs', 'rcl_interfaces', 'rclpy', 'rosgraph_msgs',
    'rosidl_default_generators', 'rosidl_default_runtime', 'sensor_msgs',
    'simulation_interfaces', 'std_msgs', 'std_srvs',
    'tf2_msgs', 'trajectory_msgs', 'urdfdom_py', 'visualization_msgs', 'xacro',
    'python3-hypothesis', 'python3-matplotlib', 'python3-numba', 'python3-numpy', 'python3-pil',
    'python3-pytest', 'python3-rosbags-pip', 'python3-scipy', 'python3-sympy', 'python3-yaml',
}


def manifest(name):
    return ElementTree.parse(ROOT / name / 'package.xml').getroot()


def dependencies(name):
    return [element.text for element in manifest(name) if element.tag.endswith('depend')]


@pytest.mark.parametrize('name', ORDER)
def test_manifest(name):
    root = manifest(name)
    assert root.get('format') == '3'
    assert root.findtext('name') == name
    assert root.findtext('license') == 'Apache-2.0'
    assert root.findtext('version') == VERSION
    assert len(root.findtext('description')) > 20
    assert '@' in root.find('maintainer').get('email')
    built = 'ament_cmake' if name == 'flex_msgs' else 'ament_python'
    assert root.findtext('export/build_type') == built


@pytest.mark.parametrize('name', ORDER)
def test_dependencies_exist_and_point_downwards(name):
    needed = dependencies(name)
    assert [key for key, count in Counter(needed).items() if count > 1] == []
    ours = [key for key in needed if key.startswith('flex_')]
    assert set(ours) <= set(ORDER[:ORDER.index(name)])
    assert set(needed) - set(ours) <= ROSDEP


@pytest.mark.parametrize('name', PYTHON)
def test_python_package(name):
    setup = (ROOT / name / 'setup.py').read_text()
    assert f"version='{VERSION}'" in setup
    assert f"name='{name}'" in setup
    assert set(re.findall(r"'flex-\w+==([\d.]+)'", setup)) <= {VERSION}
    assert (ROOT / name / 'resource' / name).is_file()
    assert f'install_scripts=$base/lib/{name}' in (ROOT / name / 'setup.cfg').read_text()


@pytest.mark.parametrize('name', PYTHON)
def test_entry_points_of_a_package_are_there(name):
    setup = (ROOT / name / 'setup.py').read_text()
    setup = setup.replace("'\n            '", '')
    programs = re.findall(r"'(\w+) = ([\w.]+):(\w+)'", setup)
    nodes = re.findall(r"'(\w+) = flex_ros.start:main_of\.([\w.]+)'", setup)
    assert programs or nodes or name == 'flex_ros'
    programs += [(program, module, 'main') for program, module in nodes]
    for _, module, name_there in programs:
        path = ROOT / name / Path(*module.split('.'))
        source = (path / 'node.py' if path.is_dir() else path.with_suffix('.py')).read_text()
        assert re.search(rf'^(def|class) {name_there}\b', source, re.MULTILINE), module


@pytest.mark.parametrize('name', PYTHON)
def test_imports_are_declared(name):
    """All that sources and tests import is named in the manifest, under the key of rosdep."""
    folder = ROOT / name
    own = {name, *(path.stem for path in (folder / 'test').rglob('*.py'))}
    installed = {key for key, kind in declared(name) if kind in ('depend', 'exec_depend')}
    for sources, known in (([*(folder / name).rglob('*.py'), *(folder / 'launch').glob('*.py')],
                            installed), ((folder / 'test').rglob('*.py'), dependencies(name))):
        missing = {module for path in sources for module in imported(path)
                   if KEYS.get(module, module) not in known}
        assert missing - own - NO_KEY.get(name, set()) == set()


def imported(path):
    """Modules that a file imports, without those of Python itself."""
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [
            node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        yield from {name.split('.')[0] for name in names} - sys.stdlib_module_names


def declared(name):
    return [(element.text, element.tag) for element in manifest(name)
            if element.tag.endswith('depend')]


@pytest.mark.parametrize('name', PYTHON)
def test_colcon_finds_the_tests(name):
    """`colcon test` runs pytest only if setup.py names it, and reports success if it does not."""
    run = subprocess.run([sys.executable, '-c', DISTRIBUTION], cwd=ROOT / name, text=True,
                         capture_output=True, timeout=120, check=True)
    extras = ast.literal_eval(run.stdout.splitlines()[-1])
    assert 'pytest' in extras['test']
    keys = {KEYS.get(module, f'python3-{module}') for module in extras['test']}
    assert keys <= set(dependencies(name))


@pytest.mark.parametrize('name', ORDER)
def test_files_that_a_release_needs(name):
    root = manifest(name)
    licence = ROOT / name / root.find('license').get('file')
    assert licence.read_text() == (ROOT / 'LICENSE').read_text()
    assert root.findtext('author')
    lines = (ROOT / name / 'CHANGELOG.rst').read_text().splitlines()
    title = f'Changelog for package {name}'
    assert lines[:3] == ['^' * len(title), title, '^' * len(title)]
    assert 'Forthcoming' in lines or any(line.startswith(f'{VERSION} (') for line in lines)


@pytest.mark.parametrize('path', sorted((ROOT / 'flex_msgs').glob('*/*.[ms][sr][gv]')),
                         ids=lambda path: path.stem)
def test_every_field_is_explained(path):
    listed = (ROOT / 'flex_msgs' / 'CMakeLists.txt').read_text()
    assert f'{path.parent.name}/{path.name}' in listed
    said = ''
    for line in path.read_text().splitlines():
        if not line or line == '---':
            said = ''
        elif line.lstrip().startswith('#'):
            said = line
        elif line != 'bool success':
            assert '#' in line or said, f'{path.name}: {line}'


def test_copyright_headers_are_complete():
    """Once the first file has a header (doc/release.md), all have, new ones too."""
    paths = [path for package in ROOT.glob('flex_*') for path in package.rglob('*.py')]
    texts = {path: path.read_text(encoding='utf-8') for path in paths}
    without = [path for path, text in texts.items()
               if text.strip() and not re.match(r'(#!.*\n)?# Copyright \d{4} ', text)]
    assert not without or len(without) == len([text for text in texts.values() if text.strip()]), \
        f'no copyright header: {", ".join(str(path.relative_to(ROOT)) for path in without)}'


def test_names_of_test_files_are_unique():
    """pytest and launch_testing import them by their bare names."""
    folders = [ROOT / 'test', *(ROOT / name / 'test' for name in PYTHON)]
    names = Counter(path.name for folder in folders for path in folder.rglob('test_*.py'))
    assert [name for name, count in names.items() if count > 1] == []


def test_nothing_names_this_machine():
    pattern = re.compile(r'/(?:home|root|work|tmp)/\w')
    files = [path for path in ROOT.glob('*') if path.is_file()]
    for folder in ['bare', 'test', *ORDER]:
        files += [path for path in (ROOT / folder).rglob('*') if path.is_file()
                  and path.suffix in ('.py', '.xml', '.md', '.txt', '.in', '.yaml', '.sh', '.cfg')]
    bad = [str(path.relative_to(ROOT)) for path in files
           if path.name != 'test_packages.py' and pattern.search(path.read_text())]
    assert bad == []
