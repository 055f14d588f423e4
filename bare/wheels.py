"""Puts right the paths that the ROS wheels kept from the container in which they were built.

Their CMake files name /opt/python/cp311-cp311 (the tag of the Python version) where they mean this
Python's headers, numpy's headers and the prefix that holds the packages. And one of them reads a
list of paths as ASCII, which ends a path at its first letter beyond. Run by the Python of the venv
that holds the wheels.
"""
import re
import sys
import sysconfig
from pathlib import Path

import numpy


def rewrite(prefix: Path) -> int:
    """Rewrite text files under `prefix`/share; return how many changed."""
    tag = f'cp{sys.version_info.major}{sys.version_info.minor}'
    built = rf'/opt/python/{tag}-{tag}'
    rules = (
        (re.compile(rf'{built}/lib/python[\d.]+/site-packages/numpy/_?core/include'),
         numpy.get_include()),
        (re.compile(rf'{built}/include/python[\d.]+'), sysconfig.get_path('include')),
        (re.compile(built), str(prefix)),
        (re.compile(r'file\(STRINGS "\$\{idl_output\}" idl_tuples\)'),
         'file(STRINGS "${idl_output}" idl_tuples ENCODING UTF-8)'),
    )
    count = 0
    for path in (prefix / 'share').rglob('*'):
        in_index = path.parent.name == 'parent_prefix_path'
        if not path.is_file() or not (path.suffix == '.cmake' or in_index):
            continue
        before = after = path.read_text(encoding='utf-8')
        for pattern, real in rules:
            after = pattern.sub(real.replace('\\', r'\\'), after)
        if after != before:
            path.write_text(after, encoding='utf-8')
            count += 1
    return count


if __name__ == '__main__':
    print(f'set the paths of this machine in {rewrite(Path(sys.prefix))} files of the wheels')
