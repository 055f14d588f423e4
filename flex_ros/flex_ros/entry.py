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
"""A process of one or several nodes, from its start to its exit code."""
from __future__ import annotations

import gc
import os
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import NoReturn

import rclpy
from rclpy.exceptions import ParameterException
from rclpy.executors import ExternalShutdownException
from rclpy.logging import LoggingSeverity
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future

from flex_ros.clock import steady_clock
from flex_ros.executor import EXECUTORS, make_executor, spin
from flex_ros.parameters import NodeError, declare
from flex_ros.rclpy_guard import guard
from flex_ros.shutdown import WRITING, end_by_signal, end_soon
from flex_ros.transport import WATCHES, PortWatch, choose_transport


def run(make: Callable[[], Node | Sequence[Node]],
        expected: tuple[type[Exception], ...] = ()) -> NoReturn:
    """Make a node, or several for one process, spin until SIGINT, SIGTERM or their own end, and
    leave with an exit code.

    expected: errors of the libraries that tell the user what to change; they are printed in one
    line, as a NodeError is.
    """
    code = _spin(make, expected)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)       # all is closed; taking numba and LLVM apart would take a second more


def _spin(make: Callable[[], Node | Sequence[Node]],
          expected: tuple[type[Exception], ...]) -> int:
    choose_transport()
    loaded, stop = threading.Event(), Future()
    nodes: list[Node] = []

    def end() -> None:
        if not (loaded.is_set() or WRITING):
            os._exit(0)
        stop.set_result(None)

    end_by_signal(end)       # first of all: what follows may wait for the middleware
    executor = None
    described: tuple[type[Exception], ...] = (NodeError, ParameterException, *expected)
    try:
        # rclpy's own handlers take the context away from under a callback that is publishing.
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        made = make()
        nodes += [made] if isinstance(made, Node) else made
        executor = make_executor(declare(
            nodes[0], 'executor', 'lean', "what calls the callbacks: flex's own executor, or that "
            'of rclpy, which takes several times as long', choices=EXECUTORS, fixed=True))
        for node in nodes:
            guard(node)
            executor.add_node(node)
        watch = PortWatch(nodes[0], steady_clock(), getattr(nodes[0], 'NOTHING_TO_LOSE', False))
        WATCHES.append(watch)
        gc.collect()
        gc.freeze()      # what a node is made of never goes: collections need not look at it
        loaded.set()
        spin(executor, stop)
    except ExternalShutdownException:
        end_soon(0)
    except described as error:
        end_soon(1)      # before the error goes, and what there is of the node with it
        print(f'error: {error}', file=sys.stderr)
        return 1
    except Exception as error:      # a mistake of ours: one line, and all of it to those who ask
        end_soon(1)
        at = traceback.extract_tb(error.__traceback__)[-1]
        print(f'error: {type(error).__name__}: {error} ({os.path.basename(at.filename)}, line '
              f'{at.lineno}; --log-level debug tells more)', file=sys.stderr)
        if nodes and nodes[0].get_logger().get_effective_level() <= LoggingSeverity.DEBUG:
            traceback.print_exc()
        return 1
    else:
        end_soon(0)
    finally:
        if executor is not None:
            executor.shutdown()
        for node in nodes:
            node.destroy_node()
        rclpy.try_shutdown()
    return 0
