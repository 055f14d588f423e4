"""Compile the controllers' kernels once, so that no robot waits for them: `make setup` runs it."""
from __future__ import annotations

from flex_control.controllers import controller_class
from flex_description import load_robot
from flex_dynamics import Model


def warm_up() -> None:
    """Make every controller that has a kernel; the compiled code lands in numba's cache."""
    controller_class('feedback_linearization')(Model(load_robot('lab_link')))


if __name__ == '__main__':
    warm_up()
