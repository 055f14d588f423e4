"""`ros2 interface show`."""
from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from ros2cli_standin.commands import Verb
from ros2cli_standin.errors import CommandError, suggestion
from ros2cli_standin.graph import Graph

PRIMITIVES = {'bool', 'byte', 'char', 'float32', 'float64', 'string', 'wstring',
              *(f'{sign}int{bits}' for sign in ('', 'u') for bits in (8, 16, 32, 64))}
# A field or a constant: type, bounds of strings and arrays, name.
FIELD = re.compile(r'([A-Za-z]\w*(?:/[A-Za-z]\w*)*)(?:<=\d+)?(?:\[[^]]*\])?\s+[A-Za-z]\w*')
CODE = re.compile(r"""(?:[^#"']|"[^"]*"|'[^']*')*""")      # up to a comment


def show_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument('--all-comments', action='store_true',
                       help='Show all comments, including for nested interface definitions')
    group.add_argument('--no-comments', action='store_true',
                       help='Show no comments or whitespace')
    parser.add_argument(
        'type', help="Show an interface definition (e.g. 'example_interfaces/msg/String'). "
                     "Passing '-' reads the argument from stdin (e.g. 'ros2 topic type /chatter "
                     "| ros2 interface show -').")


def show(args: argparse.Namespace, graph: Graph) -> int:
    name = args.type
    if name == '-':
        if sys.stdin.isatty():
            raise CommandError('expected stdin pipe')
        name = sys.stdin.readline().strip()
    for line in lines_of(name, not args.no_comments, args.all_comments):
        print(line)
    return 0


def lines_of(name: str, comments: bool, nested_comments: bool, depth: int = 0) -> Iterator[str]:
    """The definition, with those of its fields indented below them."""
    for line in definition_file(name).read_text().splitlines():
        line = line.rstrip()
        found = CODE.match(line)
        code = found[0].strip() if found else ''
        text = line if comments else code
        if text or comments:
            yield '\t' * depth + text if text else ''
        field = FIELD.match(code)
        if field and field[1] not in PRIMITIVES:
            yield from lines_of(_full_name(field[1], name.split('/')[0]), nested_comments,
                                nested_comments, depth + 1)


def _full_name(kind: str, package: str) -> str:
    """`Header`, `Point` of the same package, or `geometry_msgs/Point`."""
    if kind == 'Header':
        return 'std_msgs/msg/Header'
    parts = kind.split('/')
    return f'{parts[0] if len(parts) > 1 else package}/msg/{parts[-1]}'


def definition_file(name: str) -> Path:
    """The .msg, .srv or .action file of `package/msg/Name`."""
    parts = name.split('/')
    if len(parts) != 3 or not all(part.isidentifier() for part in parts):
        hint = (f"; did you mean '{parts[0]}/msg/{parts[1]}'?"
                if len(parts) == 2 and all(parts) else '')
        raise CommandError(f"Invalid name '{name}'. Expected three parts separated by '/'{hint}")
    package, kind, last = parts
    try:
        share = Path(get_package_share_directory(package))
    except (PackageNotFoundError, ValueError):
        raise CommandError(f"Unknown package '{package}': it is not in AMENT_PREFIX_PATH; is it "
                           'built, and env.sh sourced?') from None
    path = share / kind / f'{last}.{kind}'
    if not path.is_file():
        known = [f'{package}/{one.parent.name}/{one.stem}' for word in ('msg', 'srv', 'action')
                 for one in share.glob(f'{word}/*.{word}')]
        raise CommandError(f"Could not find the interface '{name}'"
                           + suggestion(name, known, 'interfaces of that package'))
    return path


VERBS = {'show': Verb('Output the interface definition.', show_arguments, show)}
