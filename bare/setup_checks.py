"""What the set-up needs of this machine before it starts; what is missing is told in one line."""
from __future__ import annotations

import importlib.util
import os
import shutil
import sysconfig
from pathlib import Path

from setup_steps import ROOT, SetupError

# What shells, make, CMake or lists of paths take for something else than a part of a name.
SPECIAL = set('&;$#\'"`()<>|*?!\\:[]{}%\t\n\r')


def require_path() -> None:
    """Fail with one line if no build could work in this folder. Spaces and letters of any language
    do work."""
    wrong = sorted(SPECIAL & set(str(ROOT)))
    if wrong:
        raise SetupError(f'the path of this checkout, {str(ROOT)!r}, has '
                         f'{" ".join(map(repr, wrong))}, which CMake and make cannot build in. '
                         'Move it to a path without')


def require_tools(for_ros: bool) -> None:
    """Fail with one line that names every missing tool and the command that brings it."""
    missing = []
    compiler = os.environ.get('CXX') or 'c++'
    if not any(map(shutil.which, (compiler.split()[0], 'g++', 'clang++'))):
        missing.append(('a C++ compiler', 'g++'))
    if not shutil.which('cmake'):
        missing.append(('CMake', 'cmake'))
    if not (shutil.which('make') or shutil.which('ninja')):
        missing.append(('make', 'make'))
    if for_ros:
        if not shutil.which('colcon'):
            missing.append(('colcon', 'python3-colcon-common-extensions'))
    else:
        if not all(map(importlib.util.find_spec, ('venv', 'ensurepip'))):
            missing.append(("Python's venv module", 'python3-venv'))
        if not Path(sysconfig.get_path('include'), 'Python.h').exists():
            missing.append(('the headers of Python', 'python3-dev'))
    if missing:
        raise SetupError('missing: ' + ', '.join(what for what, _ in missing)
                         + '. On Debian or Ubuntu: sudo apt install '
                         + ' '.join(package for _, package in missing))
