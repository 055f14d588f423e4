"""What everything else is made of: substitutions, actions, descriptions and the context."""
from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


def refuser(module: str) -> Callable[[str], Any]:
    """A module's `__getattr__` that says what the stand-in does not implement."""
    def refuse(name: str) -> Any:
        text = (f'{module}.{name} is not in the stand-in for ROS 2 launch that is used on '
                'machines without ROS 2 (bare/launch_standin)')
        here = Path(sys.modules[module].__file__ or '').parent
        # Python asks for a submodule in this way too, before it imports it.
        if name.startswith('_') or (here / name).is_dir() or (here / f'{name}.py').is_file():
            raise AttributeError(text)
        raise ImportError(text)
    return refuse


def log(level: str, name: str, text: str) -> None:
    say(f'[{level}] [{name}]: {text}', level == 'ERROR')


def say(text: str, is_error: bool) -> None:
    """Print a line. Who read our output may be gone: a launch still has its processes to end."""
    with contextlib.suppress(BrokenPipeError):
        print(text, flush=True, file=sys.stderr if is_error else sys.stdout)


class Substitution:
    """A text that is known only when the launch runs."""

    def perform(self, context: LaunchContext) -> str:
        raise TypeError(f'{type(self).__name__} does not say what it stands for')

    def describe(self) -> str:
        return type(self).__name__


def perform(context: LaunchContext, value: Any) -> str:
    """The text of a string, a path, a substitution, or a list of them, joined."""
    if isinstance(value, (str, Path)):
        return str(value)
    if isinstance(value, Substitution):
        return value.perform(context)
    if isinstance(value, Iterable):
        return ''.join(perform(context, part) for part in value)
    raise TypeError(f'expected text or a substitution, found {value!r}')


def describe(value: Any) -> str:
    """As `ros2 launch --show-args` shows a default value."""
    if isinstance(value, Substitution):
        return value.describe()
    if isinstance(value, (list, tuple)):
        return ' + '.join(describe(part) for part in value)
    return f"'{value}'"


def entities_of(result: Any) -> list[Any]:
    if result is None:
        return []
    return list(result) if isinstance(result, (list, tuple)) else [result]


class Action:
    """Something that a launch does, unless its condition is false."""

    argument: str | None = None      # the name of the one that it declares

    def __init__(self, *, condition: Callable[[LaunchContext], bool] | None = None,
                 **unknown: Any) -> None:
        if unknown:
            raise TypeError(f'{type(self).__name__}: no keyword {", ".join(unknown)} in the '
                            'stand-in for ROS 2 launch (bare/launch_standin)')
        self.condition = condition

    def execute(self, context: LaunchContext) -> Any:
        """Do it; the entities returned are visited next."""

    def sub_entities(self) -> list[Any]:
        """Entities inside, as far as they are known before the launch runs."""
        return []


class LaunchDescription:
    """A list of actions and further descriptions."""

    def __init__(self, initial_entities: Iterable[Any] | None = None) -> None:
        self.entities = list(initial_entities or [])

    def add_action(self, action: Action) -> None:
        self.entities.append(action)

    def sub_entities(self) -> list[Any]:
        return self.entities

    def get_launch_arguments(self) -> list[Any]:
        """The arguments that it declares, inner ones included, each name once."""
        found: dict[str, Any] = {}

        def collect(entity: Any) -> None:
            if isinstance(entity, Action) and entity.argument is not None:
                found.setdefault(entity.argument, entity)
            for inner in entity.sub_entities():
                collect(inner)
        collect(self)
        return list(found.values())


class LaunchContext:
    """What the actions of one launch share."""

    def __init__(self, *, argv: Iterable[str] | None = None) -> None:
        self.argv = list(argv or [])
        self.launch_configurations: dict[str, Any] = {}
        self.environment = dict(os.environ)
        self.handlers: list[Any] = []
        self.tasks: set[asyncio.Task[Any]] = set()
        self.at_shutdown: list[Callable[[], Any]] = []
        self.is_shutdown = False
        self.failed = False
        self.process_count = 0

    def visit(self, entity: Any) -> None:
        """Execute an action, or all of a description, and what they return."""
        if isinstance(entity, LaunchDescription):
            for inner in entity.entities:
                self.visit(inner)
        elif isinstance(entity, Action):
            if entity.condition is None or entity.condition(self):
                for inner in entities_of(entity.execute(self)):
                    self.visit(inner)
        else:
            raise TypeError(f'expected an action or a launch description, found {entity!r}')

    def emit_event_sync(self, event: Any) -> None:
        """Let every handler that waits for `event` act on it."""
        for handler in tuple(self.handlers):
            if handler.matches(event):
                for entity in entities_of(handler.handle(event, self)):
                    self.visit(entity)

    def start(self, work: Any) -> None:
        """Run a coroutine beside the others; the launch lasts until all have ended."""
        self.tasks.add(asyncio.get_running_loop().create_task(work))
