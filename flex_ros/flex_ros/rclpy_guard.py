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
"""Inputs that every node has from rclpy itself: the clock and the services for parameters.

Some of their messages end rclpy's own callbacks, and with them the node, with an exception: a
clock before time zero, a parameter of a type that does not exist. Here these are refused, or
ignored and counted.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    GetParameterTypes,
    ListParameters,
    SetParameters,
    SetParametersAtomically,
)
from rclpy.node import Node

from flex_ros.message_guard import decode_errors, shortened

READING = (DescribeParameters, GetParameters, GetParameterTypes, ListParameters)
MOST = 200           # parameters in one request; each may take milliseconds
AS_FIRST = 'as the first'


def guard(node: Node) -> None:
    """Let the node outlive any message on its clock and on its services for parameters."""
    guard_clock(node)
    guard_parameters(node)


def guard_clock(node: Node) -> None:
    """Ignore and count clock messages before time zero."""
    source: Any = getattr(node, '_time_source', None)
    if source is None:
        return
    take, errors = source.clock_callback, decode_errors(node)

    def receive(message: Any) -> None:
        if message.clock.sec < 0:
            errors.count('/clock', f'expected a time from zero on, found {message.clock.sec} s')
            return
        take(message)

    source.clock_callback = receive          # of a subscription that is still to come
    if source._clock_sub is not None:
        source._clock_sub.callback = receive


def guard_parameters(node: Node) -> None:
    """Answer requests that rclpy cannot handle with the reason."""
    for service in node.services:
        if service.srv_type is SetParameters:
            service.callback = _set_one_by_one(service.callback)
        elif service.srv_type is SetParametersAtomically:
            service.callback = _set_together(service.callback)
        elif service.srv_type in READING:
            service.callback = _read(service.callback)


def _check_count(given: Any) -> None:
    if len(given) > MOST:
        raise ValueError(f'expected at most {MOST} parameters in a request, found {len(given)}')


def _refused(error: Exception) -> SetParametersResult:
    return SetParametersResult(successful=False, reason=shortened(
        f'{type(error).__name__}: {error}'))


def _set_one_by_one(take: Callable[..., Any]) -> Callable[..., Any]:
    def answer(request: Any, response: Any) -> Any:
        try:
            _check_count(request.parameters)
        except ValueError as error:
            # One text for all: the middleware keeps room for the longest answers that it sent.
            response.results = [_refused(error)] + [SetParametersResult(
                successful=False, reason=AS_FIRST)] * (len(request.parameters) - 1)
            return response
        results = []
        for parameter in request.parameters:
            try:
                results += take(SetParameters.Request(parameters=[parameter]),
                                SetParameters.Response()).results
            except Exception as error:       # of any kind: the request is anyone's
                results.append(_refused(error))
        response.results = results
        return response
    return answer


def _set_together(take: Callable[..., Any]) -> Callable[..., Any]:
    def answer(request: Any, response: Any) -> Any:
        try:
            _check_count(request.parameters)
            return take(request, response)
        except Exception as error:
            return SetParametersAtomically.Response(result=_refused(error))
    return answer


def _read(take: Callable[..., Any]) -> Callable[..., Any]:
    """A reading request that fails is answered as rclpy answers unknown names: with nothing."""
    def answer(request: Any, response: Any) -> Any:
        try:
            _check_count(getattr(request, 'names', None) or getattr(request, 'prefixes', []))
            return take(request, response)
        except Exception:
            return type(response)()
    return answer
