"""What a launch can do; processes are in `launch.process`."""
from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from launch import events
from launch.core import Action, LaunchContext, log, perform, refuser
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.process import ExecuteProcess

__all__ = [
    'DeclareLaunchArgument', 'EmitEvent', 'ExecuteProcess', 'GroupAction',
    'IncludeLaunchDescription', 'LogInfo', 'OpaqueFunction', 'RegisterEventHandler',
    'SetLaunchConfiguration', 'Shutdown', 'TimerAction',
]
__getattr__ = refuser(__name__)


class DeclareLaunchArgument(Action):
    """An argument of a launch file."""

    def __init__(self, name: str, *, default_value: Any = None, description: str | None = None,
                 choices: list[str] | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.name, self.default_value, self.choices = name, default_value, choices
        self.argument = name
        self.description = description or 'no description given'
        if choices is not None:
            if isinstance(default_value, str) and default_value not in choices:
                raise ValueError(f'default value {default_value!r} of {name} is not in {choices}')
            self.description += ('' if self.description.endswith('.') else '.') \
                + f' Valid choices are: {choices}'

    def execute(self, context: LaunchContext) -> None:
        if self.name not in context.launch_configurations:
            if self.default_value is None:
                raise ValueError(f'Required launch argument "{self.name}" was not provided.')
            context.launch_configurations[self.name] = perform(context, self.default_value)
        value = context.launch_configurations[self.name]
        if self.choices is not None and value not in self.choices:
            raise ValueError(f'Argument "{self.name}" provided value "{value}" is not valid. '
                             f'Valid options are: {self.choices}')


class SetLaunchConfiguration(Action):
    """Give a launch configuration a value."""

    def __init__(self, name: Any, value: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.name, self.value = name, value

    def execute(self, context: LaunchContext) -> None:
        context.launch_configurations[perform(context, self.name)] = perform(context, self.value)


class IncludeLaunchDescription(Action):
    """Another launch file, with arguments."""

    def __init__(self, launch_description_source: Any, *,
                 launch_arguments: Iterable[tuple[Any, Any]] | None = None,
                 **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(launch_description_source, PythonLaunchDescriptionSource):
            launch_description_source = PythonLaunchDescriptionSource(launch_description_source)
        self.source = launch_description_source
        self.launch_arguments = list(launch_arguments or ())

    def execute(self, context: LaunchContext) -> list[Any]:
        arguments = [SetLaunchConfiguration(name, value) for name, value in self.launch_arguments]
        return [*arguments, self.source.get_launch_description(context)]

    def sub_entities(self) -> list[Any]:
        try:
            return [self.source.get_launch_description(LaunchContext())]
        except LookupError:  # Its path depends on an argument.
            return []


class GroupAction(Action):
    """Actions under one condition; what they set ends with them."""

    def __init__(self, actions: Iterable[Action], *, scoped: bool = True, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.actions, self.scoped = list(actions), scoped

    def execute(self, context: LaunchContext) -> None:
        kept = dict(context.launch_configurations)
        for action in self.actions:
            context.visit(action)
        if self.scoped:
            context.launch_configurations = kept

    def sub_entities(self) -> list[Any]:
        return list(self.actions)


class OpaqueFunction(Action):
    """Call a function with the context; it may return further actions."""

    def __init__(self, *, function: Callable[..., Any], args: Iterable[Any] | None = None,
                 kwargs: dict[str, Any] | None = None, **others: Any) -> None:
        super().__init__(**others)
        self.function, self.args, self.kwargs = function, tuple(args or ()), dict(kwargs or {})

    def execute(self, context: LaunchContext) -> Any:
        return self.function(context, *self.args, **self.kwargs)


class LogInfo(Action):
    """Say something."""

    def __init__(self, *, msg: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.msg = msg

    def execute(self, context: LaunchContext) -> None:
        log('INFO', 'launch.user', perform(context, self.msg))


class RegisterEventHandler(Action):
    """React to events from now on."""

    def __init__(self, event_handler: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.event_handler = event_handler

    def execute(self, context: LaunchContext) -> None:
        context.handlers.append(self.event_handler)


class EmitEvent(Action):
    """Let an event happen."""

    def __init__(self, *, event: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.event = event

    def execute(self, context: LaunchContext) -> None:
        if not (isinstance(self.event, events.Shutdown) and context.is_shutdown):
            context.emit_event_sync(self.event)


class Shutdown(EmitEvent):
    """End the launch."""

    def __init__(self, *, reason: str = 'reason not given', **kwargs: Any) -> None:
        super().__init__(event=events.Shutdown(reason=reason), **kwargs)


class TimerAction(Action):
    """Actions after `period` seconds, unless the launch has ended."""

    def __init__(self, *, period: Any, actions: Iterable[Action], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.period, self.actions = period, list(actions)

    def execute(self, context: LaunchContext) -> None:
        period = self.period
        seconds = float(period if isinstance(period, (int, float)) else perform(context, period))
        ended = asyncio.Event()
        context.at_shutdown.append(ended.set)

        async def later() -> None:
            try:
                await asyncio.wait_for(ended.wait(), seconds)
            except asyncio.TimeoutError:
                for action in self.actions:
                    context.visit(action)

        context.start(later())

    def sub_entities(self) -> list[Any]:
        return list(self.actions)
