"""`make setup` and `env.sh`, as a newcomer meets them."""
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# What a command needs besides the compiler and CMake, each found by its own path.
TOOLS = ['bash', 'sh', 'make', 'env', 'git', 'sed', 'dirname', 'uname', 'cat']


def module(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / 'bare' / f'{name}.py')
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.fixture
def bare_copy(tmp_path):
    """The set-up in a fresh folder, with a PATH that has only what `TOOLS` names."""
    for name in ('Makefile', 'env.sh', 'bare', 'flex_msgs'):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tmp_path / name)
        else:
            shutil.copy(source, tmp_path)
    tools = tmp_path / 'tools'
    tools.mkdir()
    for name in TOOLS:
        (tools / name).symlink_to(shutil.which(name))
    (tools / 'python3').symlink_to(sys.executable)
    return tmp_path


def make(folder, target, **env):
    kept = {name: value for name, value in os.environ.items()
            if name not in ('ROS_DISTRO', 'CXX', 'MAKEFLAGS', 'MAKELEVEL')}
    return subprocess.run(['make', target], cwd=folder, text=True, capture_output=True,
                          env={**kept, 'PATH': str(folder / 'tools'), **env}, timeout=60)


@pytest.mark.parametrize('target', ['setup', 'sim', 'test'])
def test_missing_compiler_and_cmake_are_named(bare_copy, target):
    done = make(bare_copy, target)
    assert done.returncode != 0
    assert 'missing: a C++ compiler, CMake' in done.stderr
    assert 'sudo apt install g++ cmake' in done.stderr
    assert 'Traceback' not in done.stderr
    assert not (bare_copy / '.venv').exists()


def test_missing_cmake_alone(bare_copy):
    (bare_copy / 'tools' / 'c++').symlink_to('/bin/true')
    done = make(bare_copy, 'setup')
    assert done.returncode != 0
    assert 'missing: CMake. ' in done.stderr


def test_sourced_ros_without_our_dependencies_names_rosdep(bare_copy):
    (bare_copy / 'rclpy.py').touch()
    done = make(bare_copy, 'setup', ROS_DISTRO='jazzy', PYTHONPATH=str(bare_copy),
                LD_LIBRARY_PATH='', PYTHONNOUSERSITE='1')
    assert done.returncode != 0
    assert 'colcon' in done.stderr or 'rosdep install' in done.stderr
    assert not (bare_copy / '.venv').exists()


def test_help_explains_every_target():
    done = subprocess.run(['make', 'help'], cwd=ROOT, text=True, capture_output=True)
    for name in ('setup', 'sim', 'test', 'view', 'bench', 'validate', 'lint', 'clean'):
        assert f'make {name} ' in done.stdout


def test_paths_of_the_container_are_rewritten(tmp_path):
    wheels = module('wheels')
    tag = f'cp{sys.version_info.major}{sys.version_info.minor}'
    version = f'python{sys.version_info.major}.{sys.version_info.minor}'
    built = f'/opt/python/{tag}-{tag}'
    folder = tmp_path / 'share' / 'std_msgs' / 'cmake'
    folder.mkdir(parents=True)
    (folder / 'a.cmake').write_text(
        f'"{built}/include/{version};{built}/lib/{version}/site-packages/numpy/_core/include;'
        f'{built}/lib"')
    index = tmp_path / 'share' / 'ament_index' / 'resource_index' / 'parent_prefix_path'
    index.mkdir(parents=True)
    (index / 'std_msgs').write_text(built)
    assert wheels.rewrite(tmp_path) == 2
    numpy_include = wheels.numpy.get_include()
    include = wheels.sysconfig.get_path('include')
    assert (folder / 'a.cmake').read_text() == f'"{include};{numpy_include};{tmp_path}/lib"'
    assert (index / 'std_msgs').read_text() == str(tmp_path)
    assert wheels.rewrite(tmp_path) == 0


def test_a_step_runs_again_only_when_what_it_read_changed(tmp_path, monkeypatch):
    setup = module('setup')
    monkeypatch.setattr(setup, 'STATE', tmp_path)
    source = tmp_path / 'source'
    source.write_text('one')
    runs = []

    def go():
        return setup.step('x', setup.digest([source]), lambda: runs.append(1))

    assert go() and not go()
    source.write_text('two')
    assert go() and not go()

    def fail():
        raise setup.SetupError('no')

    with pytest.raises(setup.SetupError):
        setup.step('x', 'other', fail)
    assert setup.step('x', 'other', lambda: None), 'a step that failed must run again'


def test_links_to_files_that_are_gone_do_not_stop_a_build(tmp_path):
    setup = module('setup')
    folder, source = tmp_path / 'build' / 'rviz', tmp_path / 'source'
    folder.mkdir(parents=True)
    source.write_text('here')
    (folder / 'good').symlink_to(source)
    (folder / 'dead').symlink_to(tmp_path / 'gone')
    setup.drop_dead_links(tmp_path / 'build')
    setup.drop_dead_links(tmp_path / 'not built yet')
    assert [path.name for path in folder.iterdir()] == ['good']


def test_the_shell_of_env_sh_imports_everything_and_does_not_grow():
    show = 'echo "$PATH|$PYTHONPATH|$LD_LIBRARY_PATH|$AMENT_PREFIX_PATH"'
    code = 'import flex_msgs.msg, tf2_msgs.msg, control_msgs.action, simulation_interfaces.srv, ' \
           'flex_description, launch, launch_ros, launch_testing, rclpy'
    done = subprocess.run(
        ['bash', '-c', f'set -e; source ./env.sh; {show}; source ./env.sh; {show}; '
                       f'python3 -c "{code}"; ros2 launch --help > /dev/null'],
        cwd=ROOT, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()[:2]
    assert first == second


def test_every_requirement_is_pinned_and_hashed():
    for path in (ROOT / 'bare').glob('requirements*.txt'):
        entries = [line for line in path.read_text().replace('\\\n', '').splitlines()
                   if line and not line.lstrip().startswith('#')]
        assert entries
        for entry in entries:
            assert '==' in entry and '--hash=sha256:' in entry, entry[:80]
