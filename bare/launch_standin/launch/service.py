"""Runs launch descriptions until all that they started has ended."""
from __future__ import annotations

import asyncio
import contextlib
import signal
import traceback
from collections.abc import Iterable
from typing import Any

from launch.core import LaunchContext, LaunchDescription, log
from launch.event_handlers import OnShutdown
from launch.events import Shutdown


class LaunchService:
    """One launch: `include_launch_description`, then `run` in the main thread."""

    def __init__(self, *, argv: Iterable[str] | None = None, noninteractive: bool = False,
                 debug: bool = False) -> None:
        self.context = LaunchContext(argv=argv)
        self.context.handlers.append(OnShutdown(on_shutdown=self._on_shutdown))
        self.debug = debug
        self._descriptions: list[LaunchDescription] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    def include_launch_description(self, launch_description: LaunchDescription) -> None:
        self._descriptions.append(launch_description)

    def run(self, *, shutdown_when_idle: bool = True) -> int:
        """Run to the end; 0 if all went well, else 1."""
        return asyncio.run(self._run(shutdown_when_idle))

    def shutdown(self) -> None:
        """End the launch, from any thread."""
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # It ended in the meantime.
                loop.call_soon_threadsafe(self._end, 'LaunchService.shutdown() called')

    def _on_shutdown(self, event: Shutdown, context: LaunchContext) -> None:
        context.is_shutdown = True
        for stop in context.at_shutdown:
            stop()

    def _end(self, reason: str) -> None:
        if not self.context.is_shutdown:
            self.context.emit_event_sync(Shutdown(reason=reason))

    def _fail(self, error: BaseException) -> None:
        log('ERROR', 'launch', f'Caught exception in launch: {error}')
        if self.debug:
            traceback.print_exception(type(error), error, error.__traceback__)
        self.context.failed = True
        self._end(str(error))

    def _interrupted(self, number: signal.Signals) -> None:
        log('WARNING', 'launch', f'user interrupted with {number.name}')
        self._end(number.name)

    async def _run(self, shutdown_when_idle: bool) -> int:
        self._loop = loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._interrupted, number)
        context = self.context
        stay = asyncio.Event()
        context.at_shutdown.append(stay.set)
        if not shutdown_when_idle:
            context.start(stay.wait())
        try:
            for description in self._descriptions:
                context.visit(description)
        except Exception as error:
            self._fail(error)
        while context.tasks:
            done, _ = await asyncio.wait(context.tasks, return_when=asyncio.FIRST_COMPLETED)
            context.tasks -= done
            for task in done:
                problem: Any = task.exception()
                if problem is not None:
                    self._fail(problem)
        self._end('idle')
        self._loop = None
        return int(context.failed)
