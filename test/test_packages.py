"""What holds of every package: manifests, versions, licences, names that ROS and rosdep know."""
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PYTHON = ['flex_description', 'flex_ros', 'flex_dynamics', 'flex_control', 'flex_viz',
          'flex_bringup']
ORDER = ['flex_msgs', *PYTHON]
VERSION = '0.1.0'

# Keys that rosdep resolves for Jazzy on Ubuntu 24.04: packages of the distribution, then system
# packages. A new dependency is looked up there before it is added here.
ROSDEP = {
    'ament_cmake', 'ament_index_python', 'builtin_interfaces', 'control_msgs', 'diagnostic_msgs',
    'domain_coordinator', 'geometry_msgs', 'launch', 'launch_ros', 'launch_testing',
    'rcl_interfaces', 'rclpy', 'rosgraph_msgs', 'rosidl_default_generators',
    'rosidl_default_runtime', 'sensor_msgs', 'simulation_interfaces', 'std_msgs', 'std_srvs',
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
    """A ROS package that the sources import is named in the manifest."""
    sources = [*(ROOT / name / name).rglob('*.py'), *(ROOT / name / 'launch').glob('*.py')]
    imported = {module for path in sources for module in re.findall(
        r'^\s*(?:from|import) (\w+)', path.read_text(), re.MULTILINE)}
    of_ros = {key for key in ROSDEP if not key.startswith('python3')} | set(ORDER)
    assert imported & of_ros - {name} <= set(dependencies(name))


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
