#!/usr/bin/env python3
"""Makes this checkout ready to run: with the ROS 2 that is sourced, or with one from the index.

A second run does only what changed (setup_steps.py). Needs nothing but Python's own library.
"""
from __future__ import annotations

import fcntl
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from setup_checks import require_path, require_tools
from setup_steps import ROOT, STATE, SetupError, digest, run, step, together

BARE = ROOT / 'bare'
VENV = ROOT / '.venv'
PYTHON_PACKAGES = ('flex_description', 'flex_ros', 'flex_dynamics', 'flex_control', 'flex_viz',
                   'flex_identification', 'flex_study', 'flex_bringup')
KERNEL_PACKAGES = ('flex_description', 'flex_dynamics', 'flex_control')
LACKING = ('tf2_msgs', 'control_msgs', 'simulation_interfaces')
MODULES = ('numpy', 'scipy', 'numba', 'sympy', 'yaml', 'matplotlib', 'urdf_parser_py', 'xacro',
           'rosbags', 'domain_coordinator', 'pytest', 'hypothesis')
# Templates in packages are no Python, so files that do not compile are no error.
BYTE_CODE = ('import compileall, os, sysconfig; os.nice(10); '
             'compileall.compile_dir(sysconfig.get_path("purelib"), maxlevels=40, quiet=2)')
# Sets of wheels that only some targets need, by the name of their file.
OPTIONAL = {'peers': 'the programs to compare with', 'study': 'what flex_study needs',
            'docs': 'what builds the documentation'}
ROSDEP = 'PIP_BREAK_SYSTEM_PACKAGES=1 rosdep install --from-paths . --ignore-src -y'


def venv_environment() -> dict[str, str]:
    """Environment in which colcon and CMake find the wheels in the venv and nothing else."""
    env = {name: value for name, value in os.environ.items()
           if name not in ('PYTHONPATH', 'PYTHONHOME', 'COLCON_PREFIX_PATH', 'LD_LIBRARY_PATH',
                           '_ROS_WHEELS_BOOTSTRAP_COMPLETE')}
    env.update(VIRTUAL_ENV=str(VENV), PATH=f'{VENV}/bin{os.pathsep}{env["PATH"]}',
               AMENT_PREFIX_PATH=str(VENV), CMAKE_PREFIX_PATH=str(VENV))
    return env


def count(requirements: Path) -> int:
    """Packages in a file of pinned ones; some of them are for other versions of Python."""
    return sum(line[:1].isalpha() for line in requirements.open())


def install(requirements: Path) -> None:
    """Install pinned packages into the venv by uv, which downloads many files at once, once it is
    there; by pip where it fails. Both check the hash of every file."""
    # The files list everything that is needed. Without --no-deps older versions of pip look again
    # for what a package asks for with extras (`coverage[toml]`), find a release that is newer than
    # the pinned one, and stop because it has no hash.
    options = ['install', '--require-hashes', '--no-deps', '--no-build-isolation',
               '-r', str(requirements)]
    env, name = venv_environment(), requirements.stem
    uv = VENV / 'bin' / 'uv'
    if uv.exists():
        # Copied: wheels.py changes installed files, which must not change those of uv's cache.
        command = [str(uv), 'pip', *options, '--python', str(VENV / 'bin' / 'python'),
                   '--link-mode', 'copy', '--no-progress']
        try:
            run(f'{name}-uv', command, uv_environment(env), lambda line: line.strip()
                if line.startswith(('Prepared', 'Installed')) else None)
        except SetupError:
            print(f'  uv could not install them (build/setup/{name}-uv.log); pip goes on')
        else:
            return
    collected = 0

    def show(line: str) -> str | None:
        nonlocal collected
        if line.startswith('Installing collected'):
            return 'all downloaded, installing'
        if not line.startswith('Collecting '):
            return None
        collected += 1
        return None if collected % 20 else f'{collected} of {count(requirements)}'

    # Byte code is made later, beside the build.
    run(name, [str(VENV / 'bin' / 'python'), '-m', 'pip', *options, '--no-compile',
               '--progress-bar', 'off'], env, show)


def uv_environment(env: dict[str, str]) -> dict[str, str]:
    """`env` with what pip is told about indexes, by variables or files, in the words of uv."""
    listed = subprocess.run([str(VENV / 'bin' / 'python'), '-m', 'pip', 'config', 'list'],
                            env=env, capture_output=True, text=True, check=False).stdout
    told = {name: value for section in ('global', 'install', ':env:')      # the last one counts
            for name, value in re.findall(rf"^{section}\.([\w-]+)='(.*)'$", listed, re.MULTILINE)}
    named = {'index-url': 'UV_DEFAULT_INDEX', 'extra-index-url': 'UV_INDEX',
             'find-links': 'UV_FIND_LINKS', 'trusted-host': 'UV_INSECURE_HOST',
             'cert': 'SSL_CERT_FILE', 'proxy': 'ALL_PROXY'}
    given = {named[name]: value.replace('\\n', ' ') for name, value in told.items()
             if name in named}
    if 'UV_FIND_LINKS' in given:
        given['UV_FIND_LINKS'] = ','.join(given['UV_FIND_LINKS'].split())
    # As pip does: any index may have the file, since its hash is checked.
    return {'UV_INDEX_STRATEGY': 'unsafe-best-match', **given, **env}


def install_wheels(requirements: list[Path]) -> None:
    """Make the venv and install the pinned wheels."""
    total = sum(map(count, requirements))
    print(f'installing about {total} pinned packages from the Python index '
          '(a minute or a few, the first time)', flush=True)
    version = STATE / 'venv.python'
    same = version.exists() and version.read_text() == sys.version + str(VENV)
    options = [] if same else ['--clear']
    # In a shell of env.sh this is the venv's own Python, which cannot make the venv anew.
    python = sys.executable if sys.prefix != str(VENV) else str(
        Path(sys.base_prefix, 'bin', f'python3.{sys.version_info.minor}'))
    run('venv', [python, '-m', 'venv', *options, str(VENV)], dict(os.environ), lambda line: None)
    version.write_text(sys.version + str(VENV))
    for path in requirements:
        install(path)
    run('wheels', [str(VENV / 'bin' / 'python'), str(BARE / 'wheels.py')], venv_environment(),
        lambda line: line.strip())


def drop_dead_links(folder: Path) -> None:
    """A build links to each file of the sources, and the next one fails at a link to no file."""
    for path in [*folder.rglob('*')]:
        if path.is_symlink() and not path.exists():
            path.unlink()


def colcon(name: str, packages: list[str], env: dict[str, str], python: str) -> None:
    """Build `packages`, linked to the sources, so that an edit of Python takes effect at once."""
    for package in packages:
        drop_dead_links(ROOT / 'build' / package)
        drop_dead_links(ROOT / 'install' / package)
    print(f'building {len(packages)} packages: {", ".join(packages)}', flush=True)
    env = dict(env, PYTHONWARNINGS='ignore')
    run(name, ['colcon', 'build', '--symlink-install', '--base-paths', '.', 'bare/interfaces',
               '--packages-select', *packages,
               '--cmake-args', '-DBUILD_TESTING=OFF', f'-DPython3_EXECUTABLE={python}',
               '--no-warn-unused-cli'],
        env, lambda line: line.strip() if line.startswith(('Finished', 'Failed')) else None)
    for package in packages:
        for script in (ROOT / 'install' / package / 'lib' / package).glob('*'):
            if script.is_file():
                mend_script(script)


def mend_script(path: Path) -> None:
    """Let a script start whose Python has a space in its path, or a long one: the system takes the
    first word after `#!`, quoted or not, and not more than some hundred bytes."""
    head, _, body = path.read_bytes().partition(b'\n')
    found = re.fullmatch(rb'#!"?(/.*?/python[\d.]*)"?( -x)?', head)
    if found and (b' ' in found[1] or len(head) > 120):
        # A shell runs the second line; for Python it is a text.
        path.write_bytes(b"""#!/bin/sh\n'''exec' "%s" "$0" "$@"\n' '''\n%s""" % (found[1], body))


def sources(package: Path, *patterns: str) -> list[Path]:
    return [path for pattern in patterns for path in package.rglob(pattern)]


def absent(packages: Iterable[str], prefixes: str) -> list[str]:
    """Those packages that no ament prefix holds."""
    return [name for name in packages if not any(
        (Path(prefix) / 'share' / name / 'package.xml').exists()
        for prefix in prefixes.split(os.pathsep) if Path(prefix).parent != ROOT / 'install')]


def ros_is_sourced() -> bool:
    return bool(os.environ.get('ROS_DISTRO') and importlib.util.find_spec('rclpy'))


def install_optional(requirements: Path) -> None:
    """Add a set of wheels to the venv, or to the Python of the ROS that is sourced."""
    if not ros_is_sourced():
        install(requirements)
        return
    run(requirements.stem, ['bash', '-c', '. ./env.sh && python3 -m pip install --require-hashes '
                            f'--no-deps --progress-bar off -r {shlex.quote(str(requirements))}'],
        dict(os.environ), lambda line: None)


def set_up() -> str:
    began = time.monotonic()
    require_path()
    if sys.version_info < (3, 10):  # noqa: UP036 (older ones come this far and no further)
        raise SetupError(f'Python 3.10 or newer is needed, found {sys.version.split()[0]}; '
                         'name another by PYTHON=python3.12 make ...')
    with_ros = ros_is_sourced()
    done = []
    requirements = [BARE / 'requirements-build.txt', BARE / 'requirements.txt']
    wheels_key = digest([*requirements, BARE / 'wheels.py'], sys.version, str(VENV))
    if with_ros:
        env, python = dict(os.environ), sys.executable
        lacking = [name for name in MODULES if not importlib.util.find_spec(name)]
        if lacking:
            raise SetupError(f'missing Python modules: {", ".join(lacking)}. '
                             f'Get them by: {ROSDEP}')
        place = f'ROS 2 {env["ROS_DISTRO"]} as sourced'
    else:
        env, python = venv_environment(), str(VENV / 'bin' / 'python')
        place = f'ROS 2 jazzy from the Python index in {VENV.name}'
    interfaces = absent(LACKING, env.get('AMENT_PREFIX_PATH', ''))
    folders = [ROOT / 'flex_msgs', *(BARE / 'interfaces' / name for name in interfaces)]
    interface_key = digest(
        [path for folder in folders for path in sources(
            folder, '*.msg', '*.srv', '*.action', 'CMakeLists.txt', 'package.xml')],
        wheels_key, place, interfaces)
    folders = [ROOT / name for name in PYTHON_PACKAGES]
    data = [str(path) for folder in folders
            for path in sources(folder, '*.launch.py', '*.yaml', '*.rviz', '*.urdf', '*.xacro')]
    package_key = digest(
        [path for folder in folders
         for path in sources(folder, 'package.xml', 'setup.py', 'setup.cfg')],
        interface_key, sorted(data))

    stamp = STATE / 'packages.stamp'
    if not (stamp.exists() and stamp.read_text() == package_key):
        require_tools(with_ros)
    if not with_ros and step('venv', wheels_key, lambda: install_wheels(requirements)):
        done.append('installed the wheels')
    messages = [*interfaces, 'flex_msgs']
    compiled = [ROOT / name / name for name in ('flex_dynamics', 'flex_control')]
    kernels_key = digest([path for folder in compiled for path in (
        *sources(folder / 'kernels', '*.py'), folder / 'warm_up.py')], wheels_key)

    def build() -> None:
        if step('interfaces', interface_key,
                lambda: colcon('interfaces', messages, env, python)):
            done.append(f'built {len(messages)} interface packages')
        if step('packages', package_key,
                lambda: colcon('packages', list(PYTHON_PACKAGES), env, python)):
            done.append(f'built {len(PYTHON_PACKAGES)} Python packages')

    def compile_kernels() -> None:
        if step('kernels', kernels_key, lambda: warm_up(env, python)):
            done.append('compiled the kernels')

    def make_byte_code() -> None:
        if not with_ros:
            step('byte-code', wheels_key, lambda: run(
                'byte-code', [python, '-c', BYTE_CODE], env, lambda line: None))

    together(build, compile_kernels, make_byte_code)
    what = ', '.join(done) + f' in {time.monotonic() - began:.0f} s' if done else 'up to date'
    return f'set-up: {place}; {what}'


def warm_up(env: dict[str, str], python: str) -> None:
    """Compile the kernels from the sources, beside the build of the packages: in two processes, of
    which each compiles what the other does not."""
    print('compiling the numerical kernels (once; about a minute)', flush=True)
    paths = [*(str(ROOT / name) for name in KERNEL_PACKAGES), env.get('PYTHONPATH', '')]
    env = dict(env, PYTHONPATH=os.pathsep.join(filter(None, paths)))

    def part(name: str, *command: str) -> None:
        run(f'kernels-{name}', [python, '-m', *command], env,
            lambda line: line.strip() if ' compiled in ' in line else None)

    def terms() -> None:
        part('terms', 'flex_dynamics.warm_up', 'terms')
        part('control', 'flex_control.warm_up')

    together(lambda: part('motion', 'flex_dynamics.warm_up', 'motion'), terms)


def browser() -> str:
    """Have a Chromium, which the tests of the browser viewer look with; say what was done."""
    names = ('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable')
    if any(map(shutil.which, names)):
        return ''
    if os.geteuid() != 0 or not shutil.which('apt-get'):
        return 'set-up: the tests of the viewer need Chromium: sudo apt install chromium'
    print('installing Chromium for the tests of the viewer (apt-get)', flush=True)
    env = dict(os.environ, DEBIAN_FRONTEND='noninteractive')
    install = ['apt-get', 'install', '-y', '--no-install-recommends', 'chromium']
    try:
        run('browser', ['apt-get', 'update'], env, lambda line: None)
        run('browser', install, env, lambda line: None)
    except SetupError as error:
        return f'set-up: Chromium, for the tests of the viewer, could not be installed: {error}'
    return 'set-up: installed Chromium'


def work(what: list[str]) -> None:
    """Do what the command line asks for, alone in this checkout."""
    if what not in ([], ['browser'], *([name] for name in OPTIONAL)):
        raise SetupError('expected no argument (ROS, packages and kernels), "browser" (for the '
                         'tests of the viewer), "peers" (programs to compare with), "study" '
                         '(what flex_study needs) or "docs" (what builds the documentation), '
                         f'found {" ".join(what)!r}')
    STATE.mkdir(parents=True, exist_ok=True)
    with (STATE / 'lock').open('w') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print('waiting for another set-up of this checkout to end', flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        if what == ['browser']:
            print(browser() or 'set-up: Chromium is there', flush=True)
        elif what:
            name, requirements = what[0], BARE / f'requirements-{what[0]}.txt'
            if step(name, digest([requirements], sys.version),
                    lambda: install_optional(requirements)):
                print(f'set-up: installed {OPTIONAL[name]}')
        else:
            print(set_up(), flush=True)


def main() -> int:
    try:
        work(sys.argv[1:])
    except SetupError as error:
        print(f'set-up: {error}', file=sys.stderr)
        return 1
    except OSError as error:      # a checkout that is read-only, a disk that is full
        print(f'set-up: {error.strerror or error}: {error.filename or ROOT}. The set-up writes to '
              f'build, install and .venv in {ROOT}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print('\nset-up: interrupted; run it again to go on from there', file=sys.stderr)
        return 130
    return 0


if __name__ == '__main__':
    sys.exit(main())
