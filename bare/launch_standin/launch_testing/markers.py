"""Marks of test descriptions."""
from typing import Any

from launch.core import refuser

__getattr__ = refuser(__name__)


def keep_alive(test_description: Any) -> Any:
    """The launch goes on when its processes have ended, until the tests have."""
    test_description.__markers__ = {'keep_alive': True}
    return test_description
