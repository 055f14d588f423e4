"""`make setup` and `env.sh`, as a newcomer meets them."""
import importlib.util
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PARTS = ('setup_steps', 'setup_checks')      # of bare/setup.py
# What a command needs besides the compiler and CMake, each found by its own path.
TOOLS = ['bash', 'sh', 'make', 'env', 'git', 'sed', 'dirname', 'uname', 'cat']


@pytest.fixture(autouse=True)
def scripts_import_each_other(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / 'bare')
    for name in PARTS:
        monkeypatch.delitem(sys.modules, name, raising=False)


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


def environment(folder, **env):
    kept = {name: value for name, value in os.environ.items()
            if name not in ('ROS_DISTRO', 'CXX', 'MAKEFLAGS', 'MAKELEVEL')
            and not name.lower().endswith('_proxy') and not name.startswith('PIP_')}
    return {**kept, 'PATH': str(folder / 'tools'), 'PIP_CONFIG_FILE': os.devnull, **env}


def make(folder, target, **env):
    return subprocess.run(['make', target], cwd=folder, text=True, capture_output=True,
                          env=environment(folder, **env), timeout=300)


@pytest.fixture
def ready_copy(bare_copy):
    """The same, with what looks like a compiler and CMake: it goes on to the downloads."""
    for name in ('c++', 'cmake'):
        (bare_copy / 'tools' / name).symlink_to('/bin/true')
    return bare_copy


def one_line(text):
    """The one line of the set-up in what was written to stderr; make may add its own."""
    lines = [line for line in text.splitlines() if not line.startswith('make') and line]
    assert len(lines) == 1 and lines[0].startswith('set-up: '), text
    return lines[0]


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


@pytest.mark.parametrize('index, why', [
    ('http://127.0.0.1:9/simple', 'Connection refused|NewConnectionError'),
    ('https://no-such-index.invalid/simple', 'resol|NewConnectionError|not known')])
def test_without_a_network_one_line_says_so(ready_copy, index, why):
    done = make(ready_copy, 'setup', PIP_INDEX_URL=index, PIP_RETRIES='1')
    assert done.returncode != 0
    assert re.search(f'no network: packages could not be downloaded .*({why})',
                     one_line(done.stderr))


def fake_program(path, body):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\n{body}\n')
    path.chmod(0o755)


@pytest.mark.parametrize('code, pip_runs', [(0, False), (2, True)])
def test_pip_installs_what_uv_cannot(tmp_path, monkeypatch, capsys, code, pip_runs):
    setup, calls = module('setup'), tmp_path / 'calls'
    for part in (setup, *map(sys.modules.get, PARTS)):
        for name in ('ROOT', 'VENV', 'STATE'):
            if hasattr(part, name):
                monkeypatch.setattr(part, name, tmp_path)
    fake_program(tmp_path / 'bin' / 'uv', f'echo uv "$@" >> "{calls}"; exit {code}')
    fake_program(tmp_path / 'bin' / 'python', f'echo python "$@" >> "{calls}"')
    setup.install(tmp_path / 'wheels.txt')
    said = [line.split() for line in calls.read_text().splitlines()
            if 'config' not in line.split()]
    assert [line[0] for line in said] == ['uv', 'python'][:1 + pip_runs]
    assert all({'--require-hashes', '--no-deps'} < set(line) for line in said)
    assert ('pip goes on' in capsys.readouterr().out) == pip_runs


def test_uv_is_told_of_the_indexes_of_pip(tmp_path, monkeypatch):
    setup = module('setup')
    config = tmp_path / 'pip.conf'
    config.write_text('[global]\nindex-url = https://one.invalid/simple\n'
                      'extra-index-url = https://two.invalid/a\n    https://two.invalid/b\n'
                      'find-links = /a\n    /b\n')
    env = {'PATH': os.environ['PATH'], 'PIP_CONFIG_FILE': str(config), 'HOME': str(tmp_path)}
    monkeypatch.setattr(setup, 'VENV', Path(sys.prefix))
    told = setup.uv_environment(env)
    assert told['UV_DEFAULT_INDEX'] == 'https://one.invalid/simple'
    assert told['UV_INDEX'].split() == ['https://two.invalid/a', 'https://two.invalid/b']
    assert told['UV_FIND_LINKS'] == '/a,/b'
    told = setup.uv_environment({**env, 'PIP_INDEX_URL': 'https://three.invalid/simple',
                                 'UV_INDEX': 'https://mine.invalid'})
    assert told['UV_DEFAULT_INDEX'] == 'https://three.invalid/simple'
    assert told['UV_INDEX'] == 'https://mine.invalid'


@pytest.mark.parametrize('moment', ['early', 'pip'])
def test_ctrl_c_ends_in_one_line(ready_copy, moment):
    """As a terminal sends it, to make, the set-up and pip alike."""
    with socket.create_server(('127.0.0.1', 0)) as silent:      # an index that never answers
        index = f'http://127.0.0.1:{silent.getsockname()[1]}/simple'
        process = subprocess.Popen(
            ['make', 'setup'], cwd=ready_copy, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, start_new_session=True,
            env=environment(ready_copy, PIP_INDEX_URL=index))
        try:
            assert 'installing about' in process.stdout.readline()
            if moment == 'pip':
                silent.settimeout(120.0)
                silent.accept()[0].close()      # pip asks: the venv is there
            os.killpg(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=300)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    assert process.returncode != 0
    assert 'interrupted; run it again' in one_line(err)
    assert 'Traceback' not in out + err


def test_a_read_only_checkout_is_told_in_one_line(bare_copy):
    """By what the system says of a read-only disk: root may write to any other."""
    code = ("import errno, os, sys; sys.path.insert(0, 'bare'); sys.argv = ['setup']\n"
            'def refuse(path, *given):\n'
            '    raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)\n'
            'os.mkdir = refuse; import setup; sys.exit(setup.main())')
    done = subprocess.run([sys.executable, '-c', code], cwd=bare_copy, text=True,
                          capture_output=True, env=environment(bare_copy), timeout=300)
    assert done.returncode == 1
    said = one_line(done.stderr)
    assert 'Read-only file system' in said and str(bare_copy / 'build') in said


def test_a_disk_that_is_full_is_told_in_one_line(ready_copy):
    (ready_copy / 'build' / 'setup').mkdir(parents=True)
    (ready_copy / 'build' / 'setup' / 'requirements-build.log').symlink_to('/dev/full')
    done = make(ready_copy, 'setup', PIP_INDEX_URL='http://127.0.0.1:9/simple', PIP_RETRIES='0')
    assert done.returncode != 0
    said = one_line(done.stderr)
    assert 'No space left on device' in said and str(ready_copy) in said


@pytest.mark.parametrize('name', ['a & b', 'a;b', 'a$b', "a'b", 'a(b)', 'a:b', 'a#b', 'a"b'])
def test_paths_that_no_build_works_in_are_told_in_one_line(bare_copy, name):
    place = bare_copy / name
    place.mkdir()
    shutil.copytree(bare_copy / 'bare', place / 'bare')
    done = subprocess.run([sys.executable, 'bare/setup.py'], cwd=place, text=True,
                          capture_output=True, env=environment(bare_copy), timeout=300)
    assert done.returncode == 1
    assert 'the path of this checkout' in one_line(done.stderr)


def test_a_path_with_spaces_and_letters_of_any_language_works(tmp_path, monkeypatch):
    """Messages and a Python package are built there, and run: `make setup` in short."""
    bare = not os.environ.get('ROS_DISTRO')
    place = tmp_path / ('M\u00fcller \u30ed\u30dc' if bare else 'Miller robot') / 'flex dir'
    place.mkdir(parents=True)
    for name in ('env.sh', 'bare', 'flex_description'):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, place / name)
    if bare:
        (place / '.venv').symlink_to((ROOT / '.venv').resolve())
    (place / 'build' / 'setup').mkdir(parents=True)
    setup = module('setup')
    for name in ('ROOT', 'BARE', 'VENV', 'STATE'):
        for part in (setup, *map(sys.modules.get, PARTS)):
            if hasattr(part, name):
                monkeypatch.setattr(part, name, place / getattr(part, name).relative_to(ROOT))
    env = setup.venv_environment() if bare else dict(os.environ)
    python = str(place / '.venv' / 'bin' / 'python') if bare else sys.executable
    setup.require_path()
    setup.colcon('packages', ['tf2_msgs', 'flex_description'], env, python)
    for shell in filter(shutil.which, ('bash', 'zsh')):
        done = subprocess.run(
            [shell, '-c', 'source ./env.sh && python3 -c "import tf2_msgs.msg; '
             'tf2_msgs.msg.TFMessage(); print(tf2_msgs.__file__)" && '
             'ros2 run flex_description describe lab_link'],
            cwd=place, text=True, capture_output=True, env=env)
        assert done.returncode == 0, done.stderr
        assert str(place) in done.stdout.splitlines()[0] and 'lab_link' in done.stdout
        assert done.stderr == ''


@pytest.mark.parametrize('head', ['#!"{}" -x', '#!{}'])
def test_scripts_of_a_python_with_a_space_in_its_path_start(tmp_path, head):
    """setuptools writes quotes, which the system takes for a part of the name."""
    setup, place = module('setup'), tmp_path / 'M\u00fcller \u30ed\u30dc'
    subprocess.run([sys.executable, '-m', 'venv', '--without-pip', place], check=True)
    python, script = place / 'bin' / 'python', place / 'say'
    body = '# a comment\nimport sys\nprint(sys.argv[1:], sys.prefix)\n'
    script.write_text(f'{head.format(python)}\n{body}')
    script.chmod(0o755)
    with pytest.raises(OSError):
        subprocess.run([script], check=True)
    for _ in range(2):      # a second time changes nothing
        setup.mend_script(script)
        done = subprocess.run([script, 'a b', '"c"'], text=True, capture_output=True, check=True)
        assert done.stdout == f'{["a b", chr(34) + "c" + chr(34)]} {place}\n'
    good = tmp_path / 'good'
    good.write_text(f'#!/usr/bin/python3\n{body}')
    setup.mend_script(good)
    assert good.read_text() == f'#!/usr/bin/python3\n{body}'


def test_unknown_arguments_set_nothing_up(monkeypatch, capsys):
    setup = module('setup')
    monkeypatch.setattr('sys.argv', ['setup.py', '--help'])
    monkeypatch.setattr(setup, 'set_up', lambda: pytest.fail('it was set up'))
    assert setup.main() == 1
    assert 'expected no argument' in one_line(capsys.readouterr().err)


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
    (folder / 'b.cmake').write_text('file(STRINGS "${idl_output}" idl_tuples)')
    assert wheels.rewrite(tmp_path) == 3
    assert 'idl_tuples ENCODING UTF-8)' in (folder / 'b.cmake').read_text()
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


def test_an_error_of_one_action_ends_those_beside_it(tmp_path, monkeypatch):
    steps, ended = module('setup_steps'), []
    monkeypatch.setattr(steps, 'ROOT', tmp_path)
    monkeypatch.setattr(steps, 'STATE', tmp_path)

    def wait():
        try:
            steps.run('wait', ['sleep', '600'], dict(os.environ), lambda line: None)
        except steps.SetupError as error:
            ended.append(str(error))

    def fail():
        raise steps.SetupError('no')

    with pytest.raises(steps.SetupError, match='^no$'):
        steps.together(wait, fail)
    assert len(ended) == 1 and f'exit code {-signal.SIGTERM}' in ended[0]
    assert not steps.RUNNING


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
