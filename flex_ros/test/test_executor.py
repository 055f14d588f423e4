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
"""The lean executor does what rclpy's own does, and both end when told."""
import gc
import threading
import time

import pytest
import rclpy
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import Int64
from std_srvs.srv import Trigger

from flex_ros.executor import EXECUTORS, LeanExecutor, make_executor, spin

PATIENCE = 60.0


@pytest.fixture(params=EXECUTORS)
def executor(request):
    rclpy.init()
    made = make_executor(request.param)
    assert isinstance(made, LeanExecutor) == (request.param == 'lean')
    yield made
    made.shutdown()
    rclpy.try_shutdown()


@pytest.fixture
def node(executor):
    made = Node('tested')
    executor.add_node(made)
    yield made
    made.destroy_node()


def run_until(executor, done):
    """Spin until done() is true; False after PATIENCE."""
    stop, end = Future(), time.monotonic() + PATIENCE

    def watch():
        while not done() and time.monotonic() < end:
            time.sleep(0.005)
        stop.set_result(None)

    thread = threading.Thread(target=watch)
    thread.start()
    spin(executor, stop)
    thread.join()
    return done()


def test_messages_come_in_order_with_or_without_their_info(executor, node):
    got, infos = [], []
    node.create_subscription(Int64, 'number', lambda message: got.append(message.data), 200)

    def with_info(message, info):
        infos.append(info['publication_sequence_number'])

    node.create_subscription(Int64, 'number', with_info, 200)
    raw = []
    node.create_subscription(Int64, 'number', raw.append, 200, raw=True)
    publisher = node.create_publisher(Int64, 'number', 200)
    for number in range(100):
        publisher.publish(Int64(data=number))
    assert run_until(executor, lambda: len(got) == len(infos) == len(raw) == 100)
    assert got == list(range(100)) and infos == sorted(infos)
    assert all(isinstance(data, bytes) for data in raw)


def test_timers_services_and_coroutines_run_beside_a_stream_of_messages(executor, node):
    group = ReentrantCallbackGroup()
    ticks, numbers, gate = [], [], Future()
    node.create_timer(0.01, lambda: ticks.append(time.monotonic()))
    publisher = node.create_publisher(Int64, 'stream', 10)

    def forward(message):
        numbers.append(message.data)
        if message.data == 300:
            gate.set_result('through')
        publisher.publish(Int64(data=message.data + 1))      # never a quiet moment

    node.create_subscription(Int64, 'stream', forward, 10)

    async def wait_for_gate(request, response):
        response.message = await gate
        response.success = True
        return response

    node.create_service(Trigger, 'wait', wait_for_gate, callback_group=group)
    client = node.create_client(Trigger, 'wait', callback_group=group)
    assert run_until(executor, client.service_is_ready)
    answer = client.call_async(Trigger.Request())
    publisher.publish(Int64(data=0))
    assert run_until(executor, answer.done)
    assert answer.result().message == 'through' and len(numbers) > 300
    assert run_until(executor, lambda: len(ticks) > 5)


def test_what_is_made_or_destroyed_in_a_callback_counts_at_once(executor, node):
    got = []
    publisher = node.create_publisher(Int64, 'second', 10)

    def second(message):
        got.append(message.data)

    def once():
        node.destroy_timer(timer)
        node.create_subscription(Int64, 'second', second, 10)
        node.create_timer(0.02, lambda: publisher.publish(Int64(data=7)))

    timer = node.create_timer(0.01, once)
    assert run_until(executor, lambda: len(got) > 2)
    assert set(got) == {7}


@pytest.mark.parametrize('where', ['subscription', 'timer', 'service', 'coroutine'])
def test_what_a_callback_raises_comes_out(executor, node, where):
    def fail(*_):
        raise RuntimeError('on purpose')

    async def fail_later(*_):
        await soon
        fail()

    soon = Future()
    publisher = node.create_publisher(Int64, 'trap', 10)
    client = node.create_client(Trigger, 'trap_service')
    if where == 'subscription':
        node.create_subscription(Int64, 'trap', fail, 10)
        publisher.publish(Int64(data=1))
    elif where == 'timer':
        node.create_timer(0.01, fail)
    else:
        node.create_timer(0.2, lambda: soon.set_result(None))
        node.create_service(Trigger, 'trap_service', fail if where == 'service' else fail_later,
                            callback_group=ReentrantCallbackGroup())
        assert run_until(executor, client.service_is_ready)
        client.call_async(Trigger.Request())
    with pytest.raises(RuntimeError, match='on purpose'):
        run_until(executor, lambda: False)


def test_a_coroutine_that_waits_holds_up_its_own_group_only(executor, node):
    gate, called = Future(), []

    async def wait(request, response):
        await gate
        return response

    other = ReentrantCallbackGroup()
    node.create_service(Trigger, 'held', wait)
    client = node.create_client(Trigger, 'held', callback_group=other)
    assert run_until(executor, client.service_is_ready)
    answer = client.call_async(Trigger.Request())
    node.create_timer(0.01, lambda: called.append('same'))
    node.create_timer(0.01, lambda: called.append('other'), callback_group=other)
    used = time.thread_time()
    assert run_until(executor, lambda: called.count('other') > 50)
    same = called.count('same')
    assert run_until(executor, lambda: called.count('other') > 100)
    assert called.count('same') == same and time.thread_time() - used < 5.0
    gate.set_result(None)
    assert run_until(executor, lambda: answer.done() and called.count('same') > same)


def test_a_coroutine_that_never_began_ends_without_a_warning(recwarn):
    """As that of a goal which is accepted in the turn that a signal ends; those that wait end
    too."""
    rclpy.init()
    executor, left, gate = make_executor('lean'), [], Future()

    async def goal(number):
        try:
            await gate
        finally:
            left.append(number)

    executor.create_task(goal, 1)
    executor.turn()                              # the first waits
    executor.create_task(goal, 2)
    executor.shutdown()
    rclpy.try_shutdown()
    del executor
    gc.collect()
    assert left == [1]
    assert [str(one.message) for one in recwarn if 'never awaited' in str(one.message)] == []


def test_an_idle_executor_sleeps_and_ends_at_once(executor, node):
    stop = Future()
    threading.Timer(1.0, lambda: stop.set_result(None)).start()
    began, used = time.monotonic(), time.thread_time()
    spin(executor, stop)
    assert 0.9 < time.monotonic() - began < 20.0
    assert time.thread_time() - used < 0.2
