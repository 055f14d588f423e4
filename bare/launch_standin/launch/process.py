"""Processes: started, read line by line, and ended for certain."""
from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from launch.core import Action, LaunchContext, log, perform, say
from launch.event_handlers import OnProcessExit
from launch.events.process import ProcessExited, ProcessIO, ProcessStarted
from launch.substitutions import LaunchConfiguration

# s after SIGINT, which a node may need 3 for, and after SIGTERM
SIGTERM_TIMEOUT = LaunchConfiguration('sigterm_timeout', default='3.0')
SIGKILL_TIMEOUT = LaunchConfiguration('sigkill_timeout', default='2.0')


class ExecuteProcess(Action):
    """Run a command until it ends or the launch does."""

    def __init__(self, *, cmd: Iterable[Any], name: Any = None, cwd: Any = None,
                 env: dict[Any, Any] | None = None, additional_env: dict[Any, Any] | None = None,
                 output: Any = 'log', on_exit: Any = None, respawn: bool = False,
                 respawn_delay: float | None = None,
                 sigterm_timeout: Any = SIGTERM_TIMEOUT, sigkill_timeout: Any = SIGKILL_TIMEOUT,
                 **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.cmd, self.name, self.cwd = list(cmd), name, cwd
        self.env, self.additional_env = env, additional_env
        self.output, self.on_exit = output, on_exit
        self.respawn, self.respawn_delay = respawn, respawn_delay
        self.timeouts = sigterm_timeout, sigkill_timeout
        self.process_details: dict[str, Any] | None = None
        self.return_code: int | None = None

    def command(self, context: LaunchContext) -> list[str]:
        """The words of the command line."""
        return [perform(context, word) for word in self.cmd]

    def execute(self, context: LaunchContext) -> None:
        if context.is_shutdown:
            return
        if self.process_details is not None:
            raise RuntimeError(f"process {self.process_details['name']} is started twice")
        command = self.command(context)
        context.process_count += 1
        label = perform(context, self.name) if self.name is not None else Path(command[0]).name
        environment = context.environment if self.env is None else self.env
        environment = {perform(context, key): perform(context, value) for key, value in
                       {**environment, **(self.additional_env or {})}.items()}
        # Lines of Python programs are to come when they are printed.
        environment.setdefault('PYTHONUNBUFFERED', '1')
        self.process_details = {
            'action': self, 'name': f'{label}-{context.process_count}', 'cmd': command,
            'cwd': perform(context, self.cwd) if self.cwd is not None else None,
            'env': environment}
        self.patience = [float(perform(context, timeout)) for timeout in self.timeouts]
        self.to_screen = perform(context, self.output) in ('screen', 'both')
        if self.on_exit is not None:
            context.handlers.append(OnProcessExit(target_action=self, on_exit=self.on_exit))
        context.start(self.run(context, self.process_details))

    async def run(self, context: LaunchContext, details: dict[str, Any]) -> None:
        """Start the process, again if it is to be respawned, and see it end."""
        name, command = details['name'], details['cmd']
        ending = asyncio.Event()
        context.at_shutdown.append(ending.set)
        while not context.is_shutdown:
            try:
                process = await asyncio.create_subprocess_exec(
                    *command, cwd=details['cwd'], env=details['env'], start_new_session=True,
                    stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.PIPE, limit=2**24)
            except OSError as error:
                raise RuntimeError(f'{name} cannot be started: {error}') from error
            details['pid'] = process.pid
            what: dict[str, Any] = {'action': self, 'process_name': name, 'cmd': command,
                                    'pid': process.pid}
            log('INFO', name, f'process started with pid [{process.pid}]')
            context.emit_event_sync(ProcessStarted(**what))
            readers = [asyncio.ensure_future(self.read(context, stream, what, is_error))
                       for stream, is_error in ((process.stdout, False), (process.stderr, True))]
            end = asyncio.ensure_future(self.end(context, process, name, ending))
            self.return_code = code = await process.wait()
            # A child of the process may hold the pipes open for ever.
            done, _ = await asyncio.wait(readers, timeout=0.5)
            asked = ending.is_set()
            for task in (*readers, end):
                task.cancel()
            for reader in done:
                reader.result()
            if asked:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            if code == 0:
                log('INFO', name, f'process has finished cleanly [pid {process.pid}]')
            else:
                log('ERROR', name, f'process has died [pid {process.pid}, exit code {code}, '
                                   f"cmd '{shlex.join(command)}'].")
                again = self.respawn and not asked
                context.failed |= code == -signal.SIGKILL if asked else not again
            context.emit_event_sync(ProcessExited(**what, returncode=code))
            if not self.respawn:
                return
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(ending.wait(), self.respawn_delay or 0.0)

    async def read(self, context: LaunchContext, stream: Any, what: dict[str, Any],
                   from_stderr: bool) -> None:
        """Pass on the lines of one stream, with the name of the process before each."""
        while line := await stream.readline():
            if self.to_screen or from_stderr:
                say(f"[{what['process_name']}] {line.decode(errors='replace').rstrip()}",
                    from_stderr)
            context.emit_event_sync(ProcessIO(**what, text=line, from_stderr=from_stderr))

    async def end(self, context: LaunchContext, process: Any, name: str,
                  ending: asyncio.Event) -> None:
        """At shutdown ask ever less politely, until the process has ended."""
        await ending.wait()
        for sign, wait in zip((signal.SIGINT, signal.SIGTERM, signal.SIGKILL),
                              (*self.patience, None)):
            with contextlib.suppress(ProcessLookupError):
                log('INFO', name, f"sending signal '{sign.name}' to process[{name}]")
                os.killpg(process.pid, sign)
            if wait is not None:
                await asyncio.sleep(wait)
                log('ERROR', name, f"process[{name}] failed to terminate '{wait}' seconds after "
                                   f"receiving '{sign.name}', escalating")
