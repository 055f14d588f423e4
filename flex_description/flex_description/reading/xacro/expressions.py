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
"""Expressions of xacro, evaluated node by node within limits; nothing is ever run as Python code.

xacro itself passes its ${...} to eval(), where `9**9**9` never ends and attributes of a
lambda's or a comprehension's variables lead out of the sandbox. Here only the operators, functions
and methods exist that are listed, each with a bound on the size of its result.
"""
from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from flex_description.errors import cut
from flex_description.reading.limits import (
    CONTAINERS,
    LETTERS,
    LONGEST_LIST,
    Budget,
    LimitError,
    bounded,
    check_format,
    check_power,
    check_product,
    check_shift,
    check_width,
)

Scopes = Sequence[Mapping[str, Any]]    # names and values, the innermost last

LONGEST_EXPRESSION = 10_000     # characters

BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
    ast.Pow: operator.pow, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.BitXor: operator.xor, ast.LShift: operator.lshift, ast.RShift: operator.rshift}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_,
    ast.Invert: operator.invert}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b}


_Value = TypeVar('_Value')


class ExpressionError(Exception):
    """An expression that cannot be evaluated; the message says why."""


class Function:
    """The only thing that an expression may call. type: what isinstance() takes it for."""

    def __init__(self, name: str, call: Callable[..., Any], type_: type | None = None) -> None:
        self.name, self.call, self.type = name, call, type_

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.call(*arguments, **named)

    def __repr__(self) -> str:
        return f'<function {self.name}>'


@lru_cache(maxsize=2048)
def parse(text: str) -> ast.expr:
    """The tree of an expression."""
    if len(text) > LONGEST_EXPRESSION:
        raise LimitError(f'expected an expression of at most {LONGEST_EXPRESSION} characters, '
                         f'found {len(text)}')
    try:
        return ast.parse(text.strip(), mode='eval').body
    except (MemoryError, RecursionError):  # Python's errors for brackets nested too deep
        raise LimitError('expected an expression that is not nested so deep') from None
    except SyntaxError as error:
        raise ExpressionError(f'invalid syntax ({error.msg})') from None
    except ValueError as error:  # null characters, whole numbers of thousands of digits
        raise ExpressionError(str(error)) from None


class Evaluator:
    """Evaluates expressions within one budget.

    method: what `value.name` is where it can be called, or None.
    """

    def __init__(self, budget: Budget, method: Callable[[object, str], Function | None]) -> None:
        self.budget, self.method = budget, method

    def evaluate(self, text: str, symbols: Mapping[str, Any]) -> Any:
        """The value of an expression; symbols: what its names mean."""
        return self._value(parse(text), [symbols])

    def _value(self, node: ast.expr, scopes: Scopes) -> Any:
        self.budget.step()
        work = getattr(self, f'_{type(node).__name__}', None)
        if work is None:
            raise ExpressionError(f'{type(node).__name__} is not allowed in an expression')
        return work(node, scopes)

    def _checked(self, value: _Value) -> _Value:
        if isinstance(value, (*LETTERS, *CONTAINERS)):
            self.budget.step(len(value) // 16)
        return bounded(value)

    def _Constant(self, node: ast.Constant, scopes: Scopes) -> Any:
        return bounded(node.value)

    def _Name(self, node: ast.Name, scopes: Scopes) -> Any:
        if node.id.startswith('__'):
            raise ExpressionError(f'Use of invalid name(s): {cut(node.id)}')
        for scope in reversed(scopes):
            try:
                return scope[node.id]
            except KeyError:
                continue
        raise ExpressionError(f"name '{cut(node.id)}' is not defined")

    def _BinOp(self, node: ast.BinOp, scopes: Scopes) -> Any:
        work = BINARY.get(type(node.op))
        if work is None:
            raise ExpressionError(f'{type(node.op).__name__} is not allowed in an expression')
        left, right = self._value(node.left, scopes), self._value(node.right, scopes)
        if work is operator.mul:
            check_product(left, right)
        elif work is operator.pow:
            check_power(left, right)
        elif work is operator.lshift:
            check_shift(right)
        elif work is operator.mod and isinstance(left, LETTERS):
            check_format(left if isinstance(left, str) else repr(left), right)
        return self._checked(work(left, right))

    def _UnaryOp(self, node: ast.UnaryOp, scopes: Scopes) -> Any:
        return bounded(UNARY[type(node.op)](self._value(node.operand, scopes)))

    def _BoolOp(self, node: ast.BoolOp, scopes: Scopes) -> Any:
        stop_at = isinstance(node.op, ast.Or)
        value: Any = not stop_at
        for part in node.values:
            value = self._value(part, scopes)
            if bool(value) is stop_at:
                break
        return value

    def _Compare(self, node: ast.Compare, scopes: Scopes) -> Any:
        left, result = self._value(node.left, scopes), True
        for work, part in zip(node.ops, node.comparators):
            right = self._value(part, scopes)
            result = COMPARE[type(work)](left, right)
            if not result:
                break
            left = right
        return result

    def _IfExp(self, node: ast.IfExp, scopes: Scopes) -> Any:
        return self._value(node.body if self._value(node.test, scopes) else node.orelse, scopes)

    def _items(self, nodes: Sequence[ast.expr], scopes: Scopes) -> list[Any]:
        result: list[Any] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                result.extend(self._value(node.value, scopes))
                bounded(result)
            else:
                result.append(self._value(node, scopes))
        return result

    def _List(self, node: ast.List, scopes: Scopes) -> list[Any]:
        return self._checked(self._items(node.elts, scopes))

    def _Tuple(self, node: ast.Tuple, scopes: Scopes) -> tuple[Any, ...]:
        return self._checked(tuple(self._items(node.elts, scopes)))

    def _Set(self, node: ast.Set, scopes: Scopes) -> set[Any]:
        return self._checked(set(self._items(node.elts, scopes)))

    def _Dict(self, node: ast.Dict, scopes: Scopes) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values):
            inner = self._value(value, scopes)
            if key is None:
                result.update(inner)
            else:
                result[self._value(key, scopes)] = inner
        return self._checked(result)

    def _Subscript(self, node: ast.Subscript, scopes: Scopes) -> Any:
        return self._value(node.value, scopes)[self._value(node.slice, scopes)]

    def _Slice(self, node: ast.Slice, scopes: Scopes) -> slice:
        return slice(*(None if part is None else self._value(part, scopes)
                       for part in (node.lower, node.upper, node.step)))

    def _Attribute(self, node: ast.Attribute, scopes: Scopes) -> Any:
        value = self._value(node.value, scopes)
        if node.attr.startswith('_'):
            raise ExpressionError(f'Use of invalid name(s): {cut(node.attr)}')
        found = self.method(value, node.attr)
        if found is not None:
            return found
        if isinstance(value, Mapping):  # a namespace, or a mapping of a YAML file
            try:
                return value[node.attr]
            except (KeyError, AttributeError):
                raise ExpressionError(f"name '{cut(node.attr)}' is not defined") from None
        raise ExpressionError(f"'{type(value).__name__}' has no attribute '{cut(node.attr)}' that "
                              'an expression may use')

    def _Call(self, node: ast.Call, scopes: Scopes) -> Any:
        function = self._value(node.func, scopes)
        if not isinstance(function, Function):
            raise ExpressionError(f"'{type(function).__name__}' is not a function that an "
                                  'expression may call')
        arguments = self._items(node.args, scopes)
        named: dict[str, Any] = {}
        for word in node.keywords:
            value = self._value(word.value, scopes)
            named.update(value if word.arg is None else {word.arg: value})
        return self._checked(function(*arguments, **named))

    def _Lambda(self, node: ast.Lambda, scopes: Scopes) -> Function:
        names = [argument.arg for argument in node.args.args]
        if node.args.vararg or node.args.kwarg or node.args.kwonlyargs or node.args.defaults:
            raise ExpressionError('a lambda may only have plain arguments')

        def call(*arguments: Any) -> Any:
            if len(arguments) != len(names):
                raise ExpressionError(f'a lambda of {len(names)} arguments is given '
                                      f'{len(arguments)}')
            return self._value(node.body, [*scopes, dict(zip(names, arguments))])
        return Function('lambda', call)

    def _ListComp(self, node: ast.ListComp | ast.GeneratorExp, scopes: Scopes) -> list[Any]:
        result: list[Any] = []
        for inner in self._scopes(node.generators, [*scopes, {}]):
            result.append(self._value(node.elt, inner))
            if len(result) > LONGEST_LIST:
                break  # and is refused
        return self._checked(result)

    _GeneratorExp = _ListComp

    def _SetComp(self, node: ast.SetComp, scopes: Scopes) -> set[Any]:
        return set(self._ListComp(node, scopes))  # type: ignore[arg-type]

    def _DictComp(self, node: ast.DictComp, scopes: Scopes) -> dict[Any, Any]:
        result: dict[Any, Any] = {}
        for inner in self._scopes(node.generators, [*scopes, {}]):
            result[self._value(node.key, inner)] = self._value(node.value, inner)
            if len(result) > LONGEST_LIST:
                break
        return self._checked(result)

    def _scopes(self, generators: Sequence[ast.comprehension],
                scopes: list[Any]) -> Iterator[Scopes]:
        """The scopes of each turn of nested `for ... in ... if ...`; the last one changes."""
        if not generators:
            yield scopes
            return
        first, *rest = generators
        for item in self._value(first.iter, scopes):
            self.budget.step()
            self._assign(first.target, item, scopes[-1])
            if all(self._value(test, scopes) for test in first.ifs):
                yield from self._scopes(rest, scopes)

    def _assign(self, target: ast.expr, item: Any, scope: dict[str, Any]) -> None:
        if isinstance(target, ast.Name):
            scope[target.id] = item
        elif isinstance(target, (ast.Tuple, ast.List)):
            for part, value in zip(target.elts, item, strict=True):
                self._assign(part, value, scope)
        else:
            raise ExpressionError('expected names after "for"')

    def _JoinedStr(self, node: ast.JoinedStr, scopes: Scopes) -> str:
        parts: list[str] = []
        for part in node.values:
            parts.append(str(self._value(part, scopes)))
            bounded(parts)
        return self._checked(''.join(parts))

    def _FormattedValue(self, node: ast.FormattedValue, scopes: Scopes) -> str:
        value = self._value(node.value, scopes)
        if node.conversion != -1:
            value = repr(value) if chr(node.conversion) == 'r' else str(value)
        text = '' if node.format_spec is None else str(self._value(node.format_spec, scopes))
        check_width(text)
        return format(value, text)
