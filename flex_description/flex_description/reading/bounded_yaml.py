# Copyright 2026 flex maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.
"""YAML within limits: nesting and the expansion of aliases are bounded before anything is built.

`*name` may stand for a thousand items that each stand for a thousand, and `1:1:1:...` is a whole
number to the base of 60, of any length.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import yaml

from flex_description.reading.limits import DEEPEST, HEAVIEST, LimitError

LONGEST_NUMBER = 100    # characters
# Tags of xacro for values with a unit, and how many SI units that is.
UNITS = {'!radians': 1.0, '!degrees': math.pi / 180.0, '!meters': 1.0, '!millimeters': 0.001,
         '!foot': 0.3048, '!inches': 0.0254}


class _Loader(yaml.SafeLoader):
    """SafeLoader without endless numbers or nesting. aliases: whether they are allowed."""

    def __init__(self, text: str, aliases: bool = True) -> None:
        super().__init__(text)
        self.aliases, self.depth = aliases, 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """Counts levels on the way down: the scanner looks at all open levels for every token,
        so it must not see thousands."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if self.check_event(yaml.AliasEvent) and not self.aliases:
            raise LimitError('expected plain YAML, found an alias (*name); write it out',
                             event.start_mark.line + 1)
        self.depth += 1
        if self.depth > DEEPEST:
            raise LimitError(f'expected YAML of at most {DEEPEST} levels, found more',
                             event.start_mark.line + 1)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_short_number(self, node: yaml.ScalarNode) -> int | float:
        if len(node.value) > LONGEST_NUMBER:
            raise LimitError(f'expected a number of at most {LONGEST_NUMBER} characters, found '
                             f'{len(node.value)} on line {node.start_mark.line + 1}')
        whole = node.tag.endswith('int')
        return (self.construct_yaml_int if whole else self.construct_yaml_float)(node)


for _kind in ('int', 'float'):
    _Loader.add_constructor(f'tag:yaml.org,2002:{_kind}', _Loader.construct_short_number)


def compose(text: str, aliases: bool = True) -> yaml.Node | None:
    """The nodes of a document. LimitError, and the errors of yaml, say what is wrong with it.

    aliases: whether they are allowed.
    """
    return _Loader(text, aliases).get_single_node()


def load(text: str, evaluate: Callable[[str], Any]) -> Any:
    """The values of a document. evaluate: computes the expressions that have a unit."""
    node = compose(text)
    if node is None:
        return None
    if _size(node, {}, 0) > HEAVIEST:
        raise LimitError(f'expected at most {HEAVIEST} values, aliases written out, found more')
    class Loader(_Loader):
        """With constructors for the units of this document."""

    for tag, factor in UNITS.items():
        Loader.add_constructor(tag, _with_unit(factor, evaluate))
    return Loader('').construct_document(node)


def _with_unit(factor: float, evaluate: Callable[[str], Any]) -> Callable[..., float]:
    return lambda loader, node: float(evaluate(loader.construct_scalar(node))) * factor


def _size(node: yaml.Node, known: dict[int, int], depth: int) -> int:
    """Values of a node, each alias counted as what it stands for."""
    if id(node) in known:
        return known[id(node)]
    if depth > DEEPEST:
        raise LimitError('expected aliases that end, found one that contains itself')
    if isinstance(node, yaml.MappingNode):
        inner = [part for pair in node.value for part in pair]
    else:
        inner = node.value if isinstance(node, yaml.SequenceNode) else []
    total = 1 + sum(_size(part, known, depth + 1) for part in inner)
    if isinstance(node, yaml.ScalarNode):
        total += len(node.value)
    known[id(node)] = total
    return total
