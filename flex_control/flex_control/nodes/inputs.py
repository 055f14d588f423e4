"""Inputs of a controller besides the state: model terms and measurements."""
from __future__ import annotations

from collections.abc import Callable

from rclpy.node import Node

from flex_control import Controller, Measurements
from flex_control.loop.stamped_input import StampedInput
from flex_control.nodes.control_parameters import Settings
from flex_control.nodes.measurement_input import MeasurementInput
from flex_control.nodes.terms_input import TermsInput
from flex_dynamics import Model, Terms


class Inputs:
    """Topics are listened to from the first controller on that needs them."""

    def __init__(self, node: Node, model: Model, settings: Settings,
                 arrived: Callable[[], None]) -> None:
        self._settings = settings
        exact, timeout = settings.lockstep, round(1e9 * settings.input_timeout)
        self._terms = TermsInput(node, model, StampedInput(
            exact, round(1e9 * settings.terms_period), timeout), arrived)
        self._measurements = MeasurementInput(
            node, model, lambda: StampedInput(exact, 0, timeout), exact, arrived)

    @property
    def rejected(self) -> int:
        return self._terms.rejected + self._measurements.rejected

    def want(self, controller: Controller) -> None:
        """Listen to what the controller needs."""
        if self._by_topic(controller):
            self._terms.want()
        if controller.needs_measurements:
            self._measurements.want()

    def clear(self) -> None:
        """Forget all: time was set back."""
        self._terms.values.clear()
        self._measurements.clear()

    def missing(self, controller: Controller, stamp_ns: int) -> str:
        """Which input of the controller is missing for the state at `stamp_ns`; empty if none."""
        if self._by_topic(controller) and self._terms.values.at(stamp_ns) is None:
            hint = ('is the dynamics node there, and terms_rate its rate?'
                    if self._settings.lockstep else 'is the dynamics node there?')
            return f'no dynamics_terms {self._when(stamp_ns)}; {hint}'
        topic = self._measurements.missing(stamp_ns) if controller.needs_measurements else ''
        return f'nothing on {topic} {self._when(stamp_ns)}' if topic else ''

    def take(self, controller: Controller,
             stamp_ns: int) -> tuple[Terms | None, Measurements | None]:
        """Terms and measurements for the controller's update at the state of `stamp_ns`."""
        found = self._terms.values.at(stamp_ns) if self._by_topic(controller) else None
        return (None if found is None else found[1],
                self._measurements.at(stamp_ns) if controller.needs_measurements else None)

    def _by_topic(self, controller: Controller) -> bool:
        return controller.needs_terms and not self._settings.own_terms

    def _when(self, stamp_ns: int) -> str:
        return (f'for the state at {1e-9 * stamp_ns:.4f} s' if self._settings.lockstep
                else f'for more than {self._settings.input_timeout:g} s')
