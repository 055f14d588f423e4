"""Qualities of service of topics whose messages come again and again."""
from __future__ import annotations

from rclpy.qos import QoSProfile, ReliabilityPolicy

DEPTH = 100      # of publishers: a recorder that falls behind for a moment loses nothing


def newest(depth: int = 1) -> QoSProfile:
    """Of a subscription to states, readings, terms or commands: the last `depth` count.

    Best effort: it fits publishers of both kinds, those of sensors among them, and nobody has to
    acknowledge a thousand messages a second. What is lost on the way is overtaken by the next; in
    lockstep, where time stands still until it is there, it is sent again.
    """
    return QoSProfile(depth=depth, reliability=ReliabilityPolicy.BEST_EFFORT)
