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
"""An executor for nodes that answer messages a thousand times a second.

rclpy's own executor makes a new wait set at every turn, over every entity of a node, and takes
three turns a message. This one keeps its wait sets and calls subscriptions and timers directly.
Everything rarer (services, clients, actions, events, coroutines) is left to a turn of rclpy's own,
and behaves as it does there. Where rclpy lacks the parts that this is built from, `make_executor`
gives rclpy's own.
"""
from __future__ import annotations

import inspect
import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, cast

from rclpy.event_handler import EventHandler
from rclpy.executors import (
    ExternalShutdownException,
    SingleThreadedExecutor,
    TimeoutException,
)
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.subscription import Subscription
from rclpy.task import Future
from rclpy.waitable import NumberOfEntities, Waitable

from flex_ros.polled_subscription import reset_error

EXECUTORS = ('lean', 'rclpy')
BUSY = 0.02     # s after a message in which only subscriptions and timers are waited for
RARE = 0.5      # s between two turns of rclpy's own; news about the quality of service can wait
PARTS = ('_guard', '_sigint_gc', '_tasks', '_context', '_is_shutdown', 'wait_for_ready_callbacks')


def make_executor(kind: str = 'lean') -> SingleThreadedExecutor:
    """An executor of one of the EXECUTORS."""
    own = SingleThreadedExecutor()
    if kind == 'rclpy' or not (hasattr(rclpy_implementation, 'WaitSet')
                               and all(hasattr(own, part) for part in PARTS)):
        return own
    own.shutdown()
    return LeanExecutor()


def spin(executor: SingleThreadedExecutor, stop: Future) -> None:
    """Run callbacks until `stop` is done, which another thread may see to."""
    stop.add_done_callback(lambda _: executor.wake())
    if isinstance(executor, LeanExecutor):
        turn: Callable[[], None] = executor.turn
    else:
        turn = partial(executor.spin_once_until_future_complete, cast(Future, _End(stop.done)))
    while executor.context.ok() and not stop.done():
        turn()


class _End:
    """A future whose end has been seen to: rclpy adds a callback to it at every turn."""

    def __init__(self, done: Callable[[], bool]) -> None:
        self.done = done

    def add_done_callback(self, callback: Any) -> None:
        pass


class LeanExecutor(SingleThreadedExecutor):
    """One thread; `turn` after `turn`.

    A subscription whose callback group has the attribute `polled` is left out: its node takes
    from it when it likes.
    """

    def __init__(self) -> None:
        super().__init__()
        self._stale = True
        self._entered = ExitStack()      # holds the handles that the wait sets point to
        self._busy_until = self._rare_at = 0.0
        self._blocked = False

    def wake(self) -> None:
        """Called when entities come and go, and to end a wait."""
        self._stale = True
        super().wake()

    def shutdown(self, timeout_sec: float | None = None) -> bool:
        for task, _, _ in self._tasks:
            task.cancel()        # Python warns of a coroutine, say of a goal, that never began
        self._entered.close()
        self._stale = True
        return super().shutdown(timeout_sec)

    def turn(self) -> None:
        """Wait, then call what is ready; for BUSY s after a message rare things have to wait."""
        if self._stale:
            self._stale = False
            self._gather()
        now = time.monotonic()
        busy = now < self._busy_until
        ready, until = ((self._hot, self._busy_until) if busy
                        else (self._all, max(self._rare_at, now)))
        ready.wait(until - now)
        if not self._context.ok():
            raise ExternalShutdownException
        rare = ready.of('guard_condition')
        if not busy:
            rare = rare or now >= self._rare_at or ready.of('service') or ready.of('client')
            self._busy_until = time.monotonic() + BUSY
        for pointer in ready.of('timer'):
            rare = not self._call(self._timers.get(pointer)) or rare
        for pointer in ready.of('subscription'):
            if self._stale:      # one may be gone by now; what is ready stays so
                break
            rare = not self._take(self._subscriptions.get(pointer)) or rare
        if self._blocked:        # by a coroutine of the same group that waits: as rclpy has it
            self._blocked = False
            self.spin_once(BUSY)
        elif (self._resume() or rare) and self._context.ok():
            self._rclpy_turn()

    def _rclpy_turn(self) -> None:
        """One turn of rclpy's own executor, without waiting, for what is not called directly."""
        self._rare_at = time.monotonic() + RARE
        ours: list[Any] = [*self._subscriptions.values(), *self._timers.values()]
        for entity in ours:
            entity._executor_event = True       # rclpy's mark of what is in other hands
        try:
            while True:
                handler, _, _ = self.wait_for_ready_callbacks(0.0)
                handler()
                handler.result()      # raises what the callback raised
        except TimeoutException:
            return
        finally:
            for entity in ours:
                entity._executor_event = False

    def _resume(self) -> bool:
        """Let coroutines that wait for something look whether it is there; True: one has ended."""
        for task, _, _ in list(self._tasks):
            task()
            if task.done():
                task.result()         # raises what the coroutine raised
        return any(task.done() for task, _, _ in self._tasks)

    def _call(self, timer: Any) -> bool:
        """False: not ours to call."""
        if timer is None or not self._free(timer):
            return timer is not None
        if timer.handle.is_timer_ready():
            timer.handle.call_timer()
            timer.callback()
        return True

    def _take(self, subscription: Any) -> bool:
        """False: not ours to take."""
        if subscription is None or not self._free(subscription):
            return subscription is not None
        taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
        if not subscription.raw:      # one before it may have been impossible to decode
            reset_error()
        if taken is not None:
            alone = subscription._callback_type is Subscription.CallbackType.MessageOnly
            subscription.callback(*taken[:1] if alone else taken)
        return True

    def _free(self, entity: Any) -> bool:
        self._blocked = self._blocked or not entity.callback_group.can_execute(entity)
        return not self._blocked

    def _gather(self) -> None:
        """Make the wait sets anew, from the entities that the nodes have now."""
        self._entered.close()
        self._entered = ExitStack()
        self._entered.enter_context(cast(Any, self._context.handle))
        nodes = self.get_nodes()
        subscriptions = [one for node in nodes for one in node.subscriptions
                         if not getattr(one.callback_group, 'polled', False)]
        timers = [one for node in nodes for one in node.timers]
        guards: list[Any] = [self._guard, self._sigint_gc]
        hot: dict[str, list[Any]] = {
            'subscription': subscriptions, 'timer': timers, 'guard_condition': guards}
        rest: dict[str, list[Any]] = {
            'service': [one for node in nodes for one in node.services],
            'client': [one for node in nodes for one in node.clients],
            'guard_condition': guards + [one for node in nodes for one in node.guards]}
        for entity in {*itertools.chain(*hot.values(), *rest.values())}:
            self._entered.enter_context(entity.handle)
        waitables = [one for node in nodes for one in node.waitables
                     if not isinstance(one, EventHandler)]
        self._hot = WaitSet(hot, (), self._context)
        self._all = WaitSet({**hot, **rest}, waitables, self._context)
        self._subscriptions = {one.handle.pointer: one for one in subscriptions
                               if not inspect.iscoroutinefunction(one.callback)}
        self._timers = {one.handle.pointer: one for one in timers
                        if not inspect.iscoroutinefunction(one.callback)}
        self._busy_until = 0.0


class WaitSet:
    """A wait set of the same entities again and again; `of` gives pointers of the ready ones."""

    def __init__(self, entities: Mapping[str, Sequence[Any]], waitables: Sequence[Waitable],
                 context: Any) -> None:
        count = NumberOfEntities(*(len(entities.get(kind, ())) for kind in (
            'subscription', 'guard_condition', 'timer', 'client', 'service')))
        for waitable in waitables:
            count += waitable.get_num_entities()
        self._set = rclpy_implementation.WaitSet(
            count.num_subscriptions, count.num_guard_conditions, count.num_timers,
            count.num_clients, count.num_services, count.num_events, context.handle)
        self._adds = [(getattr(self._set, f'add_{kind}'), entity.handle)
                      for kind, some in entities.items() for entity in some]
        self._waitables = waitables
        self.of = self._set.get_ready_entities

    def wait(self, seconds: float) -> None:
        self._set.clear_entities()
        for add, handle in self._adds:
            add(handle)
        for waitable in self._waitables:
            waitable.add_to_wait_set(self._set)
        self._set.wait(int(1e9 * seconds))
