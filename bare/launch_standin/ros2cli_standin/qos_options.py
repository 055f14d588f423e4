"""The options `--qos-...` of `ros2 topic echo` and `ros2 topic pub`."""
from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from rclpy.duration import Duration
from rclpy.qos import (
    QoSDurabilityPolicy,
    QoSHistoryPolicy,
    QoSLivelinessPolicy,
    QoSPresetProfiles,
    QoSProfile,
    QoSReliabilityPolicy,
)

from ros2cli_standin.number_arguments import non_negative_int, positive_float

POLICIES: dict[str, Any] = {
    'history': QoSHistoryPolicy, 'reliability': QoSReliabilityPolicy,
    'durability': QoSDurabilityPolicy, 'liveliness': QoSLivelinessPolicy}


def add_qos_arguments(parser: argparse.ArgumentParser, use: str, preset: str) -> None:
    """use: subscribe or publish; preset: the default of `--qos-profile`."""
    parser.add_argument('--qos-profile', choices=QoSPresetProfiles.short_keys(), default=preset,
                        help=f'Quality of service preset profile to {use} with (default: '
                             f'{preset})')
    parser.add_argument('--qos-depth', metavar='N', type=non_negative_int,
                        help=f'Queue size setting to {use} with (overrides depth value of '
                             '--qos-profile option)')
    for name, policy in POLICIES.items():
        parser.add_argument(f'--qos-{name}', choices=policy.short_keys(),
                            help=f'Quality of service {name} setting to {use} with (overrides '
                                 f'{name} value of --qos-profile option)')
    parser.add_argument('--qos-liveliness-lease-duration-seconds', type=positive_float,
                        help=f'Quality of service liveliness lease duration setting to {use} '
                             'with (overrides liveliness lease duration value of --qos-profile '
                             'option)')


def chosen_profile(args: argparse.Namespace) -> QoSProfile:
    """The preset with what the options override."""
    profile: Any = QoSPresetProfiles.get_from_short_key(args.qos_profile)
    for name, policy in POLICIES.items():
        value = getattr(args, f'qos_{name}')
        if value:
            setattr(profile, name, policy.get_from_short_key(value))
    if args.qos_liveliness_lease_duration_seconds:
        profile.liveliness_lease_duration = Duration(
            seconds=args.qos_liveliness_lease_duration_seconds)
    if args.qos_depth:
        profile.depth = args.qos_depth
    elif profile.durability == QoSDurabilityPolicy.TRANSIENT_LOCAL and profile.depth == 0:
        profile.depth = 1
    return profile


def has_overrides(args: argparse.Namespace) -> bool:
    return any(getattr(args, f'qos_{name}') is not None
               for name in (*POLICIES, 'depth', 'liveliness_lease_duration_seconds'))


def matching_profile(args: argparse.Namespace, publishers: Sequence[Any]) -> QoSProfile:
    """The profile that hears all publishers, unless the options say which one to take."""
    profile: Any = chosen_profile(args)
    if has_overrides(args) or not publishers:
        return profile
    for name, strong, weak in (
            ('reliability', QoSReliabilityPolicy.RELIABLE, QoSReliabilityPolicy.BEST_EFFORT),
            ('durability', QoSDurabilityPolicy.TRANSIENT_LOCAL, QoSDurabilityPolicy.VOLATILE)):
        offering = sum(getattr(one.qos_profile, name) == strong for one in publishers)
        setattr(profile, name, strong if offering == len(publishers) else weak)
        if 0 < offering < len(publishers):
            kind = type(strong).__name__
            print(f'Some, but not all, publishers are offering {kind}.{strong.name}. Falling '
                  f'back to {kind}.{weak.name} as it will connect to all publishers',
                  file=sys.stderr)
    return profile
