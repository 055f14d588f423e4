"""The first use of a kernel on a machine: it is told at once, and only then."""
import os
import pkgutil
import pty
import re
import subprocess
import sys
from importlib import import_module

import pytest
from numba import njit, types
from numba.core.dispatcher import Dispatcher

import flex_control
import flex_dynamics
from flex_dynamics.kernels.base.layout import ENTRY, OPTIONS
from flex_dynamics.kernels.base.machine_code import address_of, caller
from flex_dynamics.kernels.base.so3 import coefficients

# The cheapest kernel; a robot would need dearer ones.
CODE = """
from flex_dynamics.simulation.command_limits import TAKE_COMMAND
TAKE_COMMAND.prepare()
print('done')
"""
TOLD = re.compile(r'flex_dynamics: compiling kernel take_command for this machine, once: about '
                  r'\d+ s\nflex_dynamics: kernel take_command compiled in \d+\.\d s\n')


def use_a_kernel(cache, code=CODE, stderr=subprocess.PIPE, **env):
    done = subprocess.run([sys.executable, '-c', code], text=True, stdout=subprocess.PIPE,
                          stderr=stderr, timeout=300,
                          env={**os.environ, 'NUMBA_CACHE_DIR': str(cache), **env})
    assert done.returncode == 0, done.stderr
    assert done.stdout == 'done\n'
    return done.stderr


def test_a_cold_cache_is_told_at_once_and_a_warm_one_is_silent(tmp_path):
    assert TOLD.fullmatch(use_a_kernel(tmp_path))
    assert use_a_kernel(tmp_path) == ''


def test_a_program_with_a_log_gets_the_messages_there(tmp_path):
    said = use_a_kernel(tmp_path, 'import logging; logging.basicConfig(level="INFO")' + CODE)
    assert re.fullmatch('INFO:flex_dynamics:compiling kernel take_command .*\n'
                        'INFO:flex_dynamics:kernel take_command compiled .*\n', said)


@pytest.mark.parametrize('quiet', ['0', '1'])
def test_a_terminal_has_one_line_or_none(tmp_path, quiet):
    ours, theirs = pty.openpty()
    try:
        use_a_kernel(tmp_path, stderr=theirs, FLEX_QUIET=quiet)
        os.write(theirs, b'end')
        said = ''
        while not said.endswith('end'):
            said += os.read(ours, 10000).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    if quiet == '1':
        assert said == 'end'
        return
    first, *_, last = said.split('\r\x1b[K')[1:]
    assert first.startswith('flex_dynamics: compiling kernel take_command')
    assert re.fullmatch(r'flex_dynamics: kernel take_command compiled in \d+\.\d s\r\nend', last)


def test_an_inner_kernel_is_a_type_error_in_python():
    assert coefficients.targetoptions['no_cpython_wrapper']
    for _ in range(2):       # the second time numba knows its types
        with pytest.raises(TypeError, match='not callable'):
            coefficients(0.5)


def long_kernel():
    """A kernel that is too large to be inlined: x + 1 + 1/2 + ... of four hundred divisions."""
    body = ''.join(f'    x += 1.0 / (x + {k}.0)\n' for k in range(400))
    names: dict = {'__name__': __name__}
    exec(f'def long(x):\n{body}    return x\n', names)
    return names['long']


def test_a_large_callee_is_optimised_once_and_linked_where_python_calls():
    plain = long_kernel()
    long = njit(**{**OPTIONS, 'fastmath': False})(plain)

    @njit(**OPTIONS)
    def short(x):
        return x + 1.0

    @njit(**OPTIONS)
    def middle(x):
        return long(short(x)) + long(x)

    @njit(**{**ENTRY, 'cache': False, 'fastmath': False})
    def entry(x):
        return middle(x) + long(x)

    found = entry(2.0)
    assert found == pytest.approx(plain(3.0) + 2.0 * plain(2.0), rel=1e-15)
    key = (types.float64,)
    libraries = [kernel.overloads[key].library for kernel in (long, short, middle, entry)]
    assert list(libraries[2].left_out) == [libraries[0]]
    assert list(libraries[3].left_out) == [libraries[0]]
    assert str(libraries[2]._final_module).count('fdiv') == 0
    assert str(libraries[3]._final_module).count('fdiv') == 400

    there = caller(types.float64, types.float64)

    @njit(**{**ENTRY, 'cache': False})
    def jumps(address, x):
        return there(address, (x,))

    assert jumps(address_of(entry, key), 2.0) == found


def test_whatever_python_code_imports_of_the_kernels_can_be_called_from_python():
    """So that no module beside the kernels calls one that only kernels can call."""
    found = 0
    for package in (flex_dynamics, flex_control):
        for info in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):
            if {'kernels', 'nodes', 'ros'} & set(info.name.split('.')):
                continue
            for name, value in vars(import_module(info.name)).items():
                if isinstance(value, Dispatcher):
                    found += 1
                    assert 'no_cpython_wrapper' not in value.targetoptions, (info.name, name)
    assert found > 5
