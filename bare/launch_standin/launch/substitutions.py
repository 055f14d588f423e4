"""Texts that are known only when the launch runs."""
from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from launch.core import LaunchContext, Substitution, describe, perform, refuser

__getattr__ = refuser(__name__)


class TextSubstitution(Substitution):
    """Just the text."""

    def __init__(self, *, text: str) -> None:
        self.text = text

    def perform(self, context: LaunchContext) -> str:
        return self.text

    def describe(self) -> str:
        return f"'{self.text}'"


class LaunchConfiguration(Substitution):
    """The value of a launch argument."""

    def __init__(self, variable_name: Any, *, default: Any = None) -> None:
        self.variable_name = variable_name
        self.default = default

    def perform(self, context: LaunchContext) -> str:
        name = perform(context, self.variable_name)
        if name in context.launch_configurations:
            return context.launch_configurations[name]
        if self.default is None:
            raise LookupError(f"launch configuration '{name}' does not exist")
        return perform(context, self.default)

    def describe(self) -> str:
        return f'LaunchConfig({describe(self.variable_name)})'


class PathJoinSubstitution(Substitution):
    """Its parts, joined to a path."""

    def __init__(self, substitutions: Iterable[Any]) -> None:
        self.substitutions = list(substitutions)

    def perform(self, context: LaunchContext) -> str:
        return os.path.join(*(perform(context, part) for part in self.substitutions))

    def describe(self) -> str:
        return f"LocalPath({', '.join(map(describe, self.substitutions))})"


class PythonExpression(Substitution):
    """The text of a Python expression's value."""

    def __init__(self, expression: Any) -> None:
        self.expression = expression

    def perform(self, context: LaunchContext) -> str:
        text = perform(context, self.expression)
        try:
            return str(eval(text, {}))  # As the real one: launch files are code anyway.
        except Exception as error:
            raise ValueError(f'expression {text!r}: {error}') from error

    def describe(self) -> str:
        return f'PythonExpr({describe(self.expression)})'
