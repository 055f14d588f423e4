"""Nodes and their namespaces."""
from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from launch.actions import ExecuteProcess
from launch.core import Action, LaunchContext, log, perform, refuser
from launch_ros.parameter_descriptions import evaluate_all
from launch_ros.substitutions import ExecutableInPackage

__getattr__ = refuser(__name__)


def namespace_in(context: LaunchContext, inner: Any) -> str | None:
    """`inner` below the namespace that was pushed, if any; None if there is neither."""
    outer = context.launch_configurations.get('ros_namespace')
    text = None if inner is None else perform(context, inner)
    if text is None:
        return outer
    if not text.startswith('/'):
        text = f'{(outer or "").rstrip("/")}/{text}'
    return text.rstrip('/') or '/'


class PushRosNamespace(Action):
    """Put the nodes that follow in the group into a namespace."""

    def __init__(self, namespace: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.namespace = namespace

    def execute(self, context: LaunchContext) -> None:
        context.launch_configurations['ros_namespace'] = namespace_in(context, self.namespace)


class Node(ExecuteProcess):
    """A program of a package, with ROS arguments."""

    def __init__(self, *, executable: Any, package: Any = None, name: Any = None,
                 namespace: Any = None, exec_name: Any = None,
                 parameters: Iterable[Any] | None = None,
                 remappings: Iterable[tuple[Any, Any]] | None = None,
                 ros_arguments: Iterable[Any] | None = None,
                 arguments: Iterable[Any] | None = None, **kwargs: Any) -> None:
        program = executable if package is None else ExecutableInPackage(executable, package)
        super().__init__(cmd=[program, *(arguments or ())], name=exec_name, **kwargs)
        self.node_name, self.namespace = name, namespace
        self.parameters, self.remappings = list(parameters or ()), list(remappings or ())
        self.ros_arguments = list(ros_arguments or ())

    def command(self, context: LaunchContext) -> list[str]:
        words = [*super().command(context), '--ros-args']
        words += [perform(context, word) for word in self.ros_arguments]
        namespace = namespace_in(context, self.namespace)
        owner = '/**'
        if self.node_name is not None:
            name = perform(context, self.node_name)
            words += ['-r', f'__node:={name}']
            if namespace is not None:
                owner = f'{namespace.rstrip("/")}/{name}'
        if namespace is not None:
            words += ['-r', f'__ns:={namespace}']
        for given in self.parameters:
            path = self.parameter_file(context, given, owner)
            if path is not None:
                words += ['--params-file', path]
        for old, new in self.remappings:
            words += ['-r', f'{perform(context, old)}:={perform(context, new)}']
        return words

    @staticmethod
    def parameter_file(context: LaunchContext, given: Any, owner: str) -> str | None:
        """The path given, or that of a file with the parameters of the dictionary given."""
        if not isinstance(given, Mapping):
            path = perform(context, given)
            if not Path(path).is_file():
                log('WARNING', 'launch_ros', f'Parameter file path is not a file: {path}')
                return None
            return path
        values = evaluate_all(context, given)
        with tempfile.NamedTemporaryFile('w', prefix='launch_params_', delete=False) as file:
            yaml.safe_dump({owner: {'ros__parameters': values}}, file)
        context.at_shutdown.append(lambda: Path(file.name).unlink(missing_ok=True))
        return file.name
