"""What can happen to a launch."""
from dataclasses import dataclass

from launch.core import refuser

__getattr__ = refuser(__name__)


@dataclass
class Shutdown:
    """The launch ends."""

    reason: str = 'reason not given'
