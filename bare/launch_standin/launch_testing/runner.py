"""Runs a launch and, beside it and after it, the test cases of the same file."""
from __future__ import annotations

import functools
import inspect
import threading
import unittest
from collections.abc import Iterator
from typing import Any

from launch import LaunchDescription, LaunchService
from launch.actions import RegisterEventHandler
from launch.event_handlers import OnProcessExit, OnProcessIO, OnProcessStart
from launch_testing.actions import ReadyToTest
from launch_testing.handlers import ProcInfo, ProcOutput

PATIENCE = '15.0'     # s, of a launch under test, for each kind of asking its processes to end


def ready_actions(entity: Any) -> Iterator[ReadyToTest]:
    if isinstance(entity, ReadyToTest):
        yield entity
    for inner in entity.sub_entities():
        yield from ready_actions(inner)


def bound(function: Any, given: dict[str, Any]) -> Any:
    """`function` with those arguments filled in that it asks for by name."""
    wanted = inspect.signature(function).parameters
    return functools.partial(
        function, **{name: value for name, value in given.items() if name in wanted})


def suite_of(module: Any, after: bool, given: dict[str, Any]) -> unittest.TestSuite:
    """The test cases of `module` that run after the shutdown, or those that run before it."""
    suite = unittest.TestSuite()
    for case in vars(module).values():
        if not (isinstance(case, type) and issubclass(case, unittest.TestCase)):
            continue
        if getattr(case, '__post_shutdown_test__', False) != after:
            continue
        case = type(case.__name__, (case,), {'__module__': case.__module__})
        for name in ('setUpClass', 'tearDownClass'):
            setattr(case, name, staticmethod(bound(getattr(case, name), given)))
        for test in unittest.defaultTestLoader.loadTestsFromTestCase(case):
            for name in ('setUp', 'tearDown', test._testMethodName):  # type: ignore[union-attr]
                setattr(test, name, bound(getattr(test, name), given))
            suite.addTest(test)
    return suite


def run_launch_test(module: Any) -> list[str]:
    """Run all of a launch test; return a text for each failure."""
    function = module.generate_test_description
    made = function()
    description, context = made if isinstance(made, tuple) else (made, {})
    ready = threading.Event()
    actions = list(ready_actions(description))
    if not actions:
        return ['generate_test_description must return a LaunchDescription with a ReadyToTest']
    actions[0].callbacks.append(ready.set)

    info, output, service = ProcInfo(), ProcOutput(), LaunchService()
    # A process that a busy machine holds up at its end is no failure of a test.
    for name in ('sigterm_timeout', 'sigkill_timeout'):
        service.context.launch_configurations[name] = PATIENCE
    given = {**context, 'proc_info': info, 'proc_output': output, 'launch_service': service}
    service.include_launch_description(LaunchDescription([
        RegisterEventHandler(OnProcessStart(on_start=lambda event, _: info.append(event))),
        RegisterEventHandler(OnProcessExit(on_exit=lambda event, _: info.append(event))),
        RegisterEventHandler(OnProcessIO(on_stdout=output.append, on_stderr=output.append)),
        description,
    ]))
    results: list[unittest.TestResult] = []
    patience = getattr(function, '__ready_to_test_action_timeout__', 15)

    def test() -> None:
        try:
            if ready.wait(patience):
                results.append(unittest.TextTestRunner(verbosity=2).run(
                    suite_of(module, False, given)))
        finally:
            service.shutdown()

    thread = threading.Thread(target=test, name='launch test', daemon=True)
    thread.start()
    keep = getattr(function, '__markers__', {}).get('keep_alive', False)
    service.run(shutdown_when_idle=not keep)
    if not ready.is_set():
        return [f'ReadyToTest did not come within {patience} s']
    thread.join(1.0)
    if not results:
        return ['the processes under test ended before the tests did: '
                + ', '.join(f'{event.process_name} {vars(event).get("returncode", "")}'
                            for event in info)]
    results.append(unittest.TextTestRunner(verbosity=2).run(suite_of(module, True, given)))
    return [f'{case.id()}\n{text}' for result in results
            for case, text in (*result.errors, *result.failures)]
