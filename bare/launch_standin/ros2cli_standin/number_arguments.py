"""Types of numbers on the command line."""
from __future__ import annotations

from argparse import ArgumentTypeError


def positive_float(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise ArgumentTypeError(f"expected a number, found '{text}'") from None
    if not 0.0 < number < float('inf'):
        raise ArgumentTypeError(f'value must be positive and finite, found {text}')
    return number


def positive_int(text: str) -> int:
    return _whole(text, 1, 'a positive integer')


def non_negative_int(text: str) -> int:
    return _whole(text, 0, 'a non-negative integer')


def _whole(text: str, least: int, expected: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise ArgumentTypeError(f"value must be {expected}, found '{text}'")
    return number
