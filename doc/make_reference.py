"""Writes doc/reference/: the API, and what nodes, launch files and messages say of themselves; and
the page of the notebook.

`make docs` runs it. Each node is started on the default robot and asked (ask_nodes.py), so that
these pages cannot differ from the nodes.
"""
from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import notebook
from ask_nodes import PROGRAMS, Interface, ask_nodes

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / 'doc' / 'reference'
LIBRARIES = ('flex_description', 'flex_dynamics', 'flex_dynamics.symbolic', 'flex_control',
             'flex_viz', 'flex_identification', 'flex_study')


def main() -> int:
    FOLDER.mkdir(exist_ok=True)
    book = ROOT / 'doc' / 'tutorials' / 'plain_python.ipynb'
    book.with_suffix('.md').write_text(notebook.markdown(notebook.read(book)), encoding='utf-8')
    _write('api', _api())
    _write('launch_arguments', _launch_arguments())
    _write('messages', _messages())
    _write('nodes', _nodes())
    return 0


def _write(name: str, text: str) -> None:
    (FOLDER / f'{name}.md').write_text(text.rstrip() + '\n', encoding='utf-8')
    print(f'doc/reference/{name}.md', flush=True)


def _cell(text: object) -> str:
    """Text that stays in one cell of a table."""
    return ' '.join(str(text).split()).replace('|', r'\|').replace('<', '&lt;')


# Libraries ------------------------------------------------------------------------------------


def _api() -> str:
    parts = ['# Python API', '', 'All that the packages export. Units are SI, angles radians.', '']
    for name in LIBRARIES:
        module = importlib.import_module(name)
        parts += [f'## {name}', '', (module.__doc__ or '').split('\n\n')[0], '']
        for public in sorted(module.__all__, key=str.lower):
            thing = getattr(module, public)
            kind = ('autoclass' if isinstance(thing, type) else
                    'autofunction' if callable(thing) else 'py:data')
            parts += ['```{eval-rst}', f'.. {kind}:: {name}.{public}', '```', '']
            if kind == 'py:data':      # a table of names, or the alias of a type
                values = thing if isinstance(thing, (tuple, list, dict)) else [thing]
                parts += [', '.join(f'`{one}`' for one in values), '']
    return '\n'.join(parts)


# Launch files and messages --------------------------------------------------------------------


def _launch_arguments() -> str:
    parts = ['# Launch arguments', '', 'What `ros2 launch flex_bringup FILE --show-args` prints.',
             '']
    for path in sorted((ROOT / 'flex_bringup' / 'launch').glob('*.launch.py')):
        shown = subprocess.run(['ros2', 'launch', 'flex_bringup', path.name, '--show-args'],
                               check=True, capture_output=True, text=True).stdout
        found = re.findall(r"^ +'([^']+)':\n +(.*)\n +\((?:default: (.*)|required)\)$", shown,
                           re.MULTILINE)
        if not found:
            raise SystemExit(f'{path.name}: expected arguments in the output of --show-args, '
                             f'found {shown!r}')
        parts += [f'## {path.name}', '', '| argument | what it does | default |', '|---|---|---|']
        parts += [f'| `{name}` | {_cell(what)} | {_code(default)} |'
                  for name, what, default in found]
        parts.append('')
    return '\n'.join(parts)


def _code(text: str) -> str:
    text = _cell(text).strip('\'"')
    return f'`{text}`' if text else ''


def _messages() -> str:
    parts = ['# Messages, services and actions', '', 'Of `flex_msgs`; all others are those of '
             'ROS.', '']
    for path in sorted(path for kind in ('msg', 'srv', 'action')
                       for path in (ROOT / 'flex_msgs' / kind).glob(f'*.{kind}')):
        parts += [f'## {path.parent.name}/{path.stem}', '', '```text',
                  path.read_text(encoding='utf-8').rstrip(), '```', '']
    return '\n'.join(parts)


# Nodes ----------------------------------------------------------------------------------------


def _nodes() -> str:
    parts = ['# Topics, services and parameters', '', 'Each node as it is with the bundled robot '
             '`cibicik_arm`; with gauges, IMUs, wheels or constraints a robot adds topics. Names '
             'are relative: a namespace goes before them.', '']
    for node in ask_nodes(PROGRAMS):
        parts += [f'## {node.package}: {node.executable}', '', *_graph(node), *_parameters(node)]
    return '\n'.join(parts)


def _graph(node: Interface) -> list[str]:
    lines = ['| | name | type |', '|---|---|---|']
    for kind, found in node.endpoints.items():
        for full, kind_of in found:
            own = full.replace(f'/{node.name}/', '~/', 1) if full.startswith(
                f'/{node.name}/') else full[1:]
            lines.append(f'| {kind} | `{own}` | `{kind_of}` |')
    return [*lines, '']


def _parameters(node: Interface) -> list[str]:
    lines = ['| parameter | what it is | range | value here |', '|---|---|---|---|']
    for one in node.parameters:
        shown = '' if one.value is None else _value(one.value)
        lines.append(f'| `{one.name}` | {_cell(one.description)}'
                     f'{" (read at the start)" if one.read_only else ""} | '
                     f'{_cell(one.range)} | {shown} |')
    return [*lines, '']


def _value(value: object) -> str:
    text = f'{value:g}' if isinstance(value, float) else str(value)
    return _code(text if len(text) <= 40 else f'{text[:37]}...')


if __name__ == '__main__':
    sys.exit(main())
