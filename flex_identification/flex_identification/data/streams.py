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
"""Streams of samples with stamps of their own, put right and brought onto one time axis."""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from flex_dynamics.arrays import Array
from flex_identification.data.channels import INPUTS, split
from flex_identification.data.recording import FEWEST, GAP, Recording
from flex_identification.errors import IdentificationError

LATEST = 1e11           # s: a stamp beyond it is in ms or ns
RESET = 10.0            # periods that the clock may go back without having been set
SATURATED = 5           # equal readings in a row at an end of the range


@dataclass(frozen=True)
class Stream:
    """Samples that came together: name of the topic or file, stamps (N,) s, channels (N,)."""

    name: str
    time: Array
    channels: Mapping[str, Array]


def cleaned(stream: Stream, warnings: list[str]) -> Stream:
    """The stream with finite stamps that rise; what is mended is added to warnings.

    A clock that was set back, or stamps in another unit, are an IdentificationError.
    """
    time, channels = np.asarray(stream.time, dtype=float), dict(stream.channels)
    _refuse_stamps(stream.name, time)
    keep = np.isfinite(time)
    if not keep.all():
        warnings.append(f'{stream.name}: {(~keep).sum()} samples without a stamp left out')
    time, channels = time[keep], {name: values[keep] for name, values in channels.items()}
    back = np.diff(time)
    step = float(np.median(np.abs(back)))
    if (back < -RESET * max(step, 1e-9)).any():
        at = int(np.argmin(back))
        raise IdentificationError(
            f'{stream.name}: expected stamps that rise, found that they go back by '
            f'{-back[at]:.3g} s after sample {at + 1} (a reset, a clock that was set, or two '
            'recordings in one); split it there')
    if (back < 0.0).any():
        warnings.append(f'{stream.name}: {(back < 0.0).sum()} samples out of order, sorted')
        order = np.argsort(time, kind='stable')
        time, channels = time[order], {name: values[order] for name, values in channels.items()}
    keep = np.append(True, np.diff(time) > 0.0)
    if not keep.all():
        warnings.append(f'{stream.name}: {(~keep).sum()} samples with the stamp of another left '
                        'out')
        time, channels = time[keep], {name: values[keep] for name, values in channels.items()}
    if len(time) < FEWEST:
        raise IdentificationError(f'{stream.name}: expected at least {FEWEST} samples with '
                                  f'stamps of their own, found {len(time)}')
    _warn_of_gaps(stream.name, time, warnings)
    for name, values in channels.items():
        channels[name] = _readings(f'{stream.name}: {name}', values, split(name)[0] in INPUTS,
                                   warnings)
    return Stream(stream.name, time, channels)


def merged(name: str, streams: list[Stream], noise: Mapping[str, float],
           warnings: list[str]) -> Recording:
    """One recording: the time axis is that of the stream with the most joint positions.

    Readings of other streams belong to the nearest sample, and keep how much later they are.
    Inputs of other streams are held from their stamp on.
    """
    def rank(stream: Stream) -> tuple[int, int]:
        return sum(split(one)[0] == 'position' for one in stream.channels), len(stream.time)

    main = max(streams, key=rank)
    begin, half = main.time[0], 0.5 * float(np.median(np.diff(main.time)))
    channels, offsets = dict(main.channels), {}
    for stream in streams:
        if stream is main:
            continue
        for channel, values in stream.channels.items():
            if channel in channels:
                raise IdentificationError(f'{name}: expected {channel} once, found it in '
                                          f'{main.name} and in {stream.name}')
            if split(channel)[0] in INPUTS:
                channels[channel] = _held(main.time, stream.time, values)
            else:
                channels[channel], offsets[channel] = _nearest(
                    main.time, stream.time, values, half, f'{name}: {channel}', warnings)
    return Recording(name, main.time - begin, channels, offsets, noise, tuple(warnings))


def _refuse_stamps(name: str, time: Array) -> None:
    finite = time[np.isfinite(time)]
    if len(finite) < FEWEST:
        raise IdentificationError(f'{name}: expected at least {FEWEST} samples with a stamp, '
                                  f'found {len(finite)}')
    if np.abs(finite).max() > LATEST:
        raise IdentificationError(f'{name}: expected stamps in s, found {finite[0]:g}, which '
                                  'looks like ms or ns; give the unit in the mapping (time: '
                                  '{column: ..., unit: ns})')
    if np.ptp(finite) <= 0.0:
        raise IdentificationError(f'{name}: expected stamps that rise, found the same in all '
                                  f'samples, {finite[0]:g} s')
    if np.ptp(finite) / len(finite) > 1.0:
        raise IdentificationError(f'{name}: expected at least one sample a second, found '
                                  f'{len(finite)} in {np.ptp(finite):g} s; are the stamps in s?')


def _warn_of_gaps(name: str, time: Array, warnings: list[str]) -> None:
    steps = np.diff(time)
    period = float(np.median(steps))
    gaps = steps > GAP * period
    if gaps.any():
        at = int(np.argmax(steps))
        warnings.append(f'{name}: {gaps.sum()} gap{"" if gaps.sum() == 1 else "s"}, the longest '
                        f'{steps[at]:.3g} s at {time[at] - time[0]:.3g} s; the motion starts '
                        'anew after each')
    lost = int(np.round(steps[~gaps] / period - 1.0).sum())
    if lost > 0:
        warnings.append(f'{name}: about {lost} single samples dropped')


def _readings(name: str, values: Array, is_input: bool, warnings: list[str]) -> Array:
    """The readings; NaN where one is at the end of its sensor's range."""
    values = np.array(values, dtype=float)
    if np.isinf(values).any():
        raise IdentificationError(f'{name}: expected finite numbers, found inf in sample '
                                  f'{int(np.argmax(np.isinf(values))) + 1}')
    there = np.isfinite(values)
    if not there.any():
        raise IdentificationError(f'{name}: expected readings, found none (NaN only)')
    if not there.all():
        warnings.append(f'{name}: {(~there).sum()} of {len(values)} readings missing')
    if is_input:
        if not there.all():       # what acted between two samples that are known
            values = np.interp(np.arange(len(values)), np.flatnonzero(there), values[there])
        return values
    low, high = values[there].min(), values[there].max()
    if low == high:
        warnings.append(f'{name}: all readings are {low:g}')
        return values
    cut = np.zeros(len(values), dtype=bool)
    for end in (low, high):
        cut |= _long_runs(values == end)
    # A robot at rest reads the same for long, too; a saturated sensor does so only at its ends.
    if cut.any() and cut.sum() < 0.5 * there.sum() and _leaves_at_speed(values, cut):
        warnings.append(f'{name}: {cut.sum()} readings at the end of the range (saturation) left '
                        'out')
        values[cut] = np.nan
    return values


def _long_runs(flags: Array) -> Array:
    """Where at least SATURATED flags in a row are set."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], flags.astype(int), [0]))))
    long = np.zeros(len(flags), dtype=bool)
    for first, last in edges.reshape(-1, 2):
        long[first:last] = last - first >= SATURATED
    return long


def _leaves_at_speed(values: Array, cut: Array) -> bool:
    """Whether readings beside the stretches change as fast as elsewhere, and by more than a smooth
    motion does that is quantised."""
    steps = np.abs(np.diff(values))
    moving = steps[np.isfinite(steps) & (steps > 0.0)]
    if not moving.size:
        return False
    # The step across the edge is a part of one; that beyond it is whole.
    padded = np.pad(np.nan_to_num(steps), 1)
    edges = np.flatnonzero(np.diff(cut.astype(int)))
    beside = np.max([padded[edges], padded[edges + 1], padded[edges + 2]], axis=0)
    quanta = moving / moving.min()
    quantised = np.mean(np.abs(quanta - np.round(quanta)) < 0.01) > 0.9
    least = 3.0 * moving.min() if quantised else 0.0
    return bool(np.median(beside) > max(least, 0.3 * float(np.median(moving))))


def _held(at: Array, time: Array, values: Array) -> Array:
    """Values in force at the stamps `at`: the last before each."""
    return np.asarray(values[np.maximum(np.searchsorted(time, at, side='right') - 1, 0)])


def _nearest(at: Array, time: Array, values: Array, half: float, name: str,
             warnings: list[str]) -> tuple[Array, Array]:
    """Readings and how much later than the samples `at` they are, both as long as `at`."""
    right = np.clip(np.searchsorted(at, time), 1, len(at) - 1)
    near = np.where(time - at[right - 1] <= at[right] - time, right - 1, right)
    late = time - at[near]
    found, offsets = np.full(len(at), np.nan), np.zeros(len(at))
    best = np.full(len(at), np.inf)
    left_out = 0
    for sample, delta, value in zip(near, late, values, strict=True):
        if abs(delta) > 1.5 * half or abs(delta) >= best[sample] or not np.isfinite(value):
            left_out += 1
            continue
        left_out += int(np.isfinite(best[sample]))
        found[sample], offsets[sample], best[sample] = value, delta, abs(delta)
    if not np.isfinite(found).any():
        raise IdentificationError(f'{name}: expected readings within the time of the joint '
                                  f'positions, found {time[0]:.6g} s to {time[-1]:.6g} s beside '
                                  f'{at[0]:.6g} s to {at[-1]:.6g} s; have they one clock?')
    if left_out:
        warnings.append(f'{name}: {left_out} readings left out, which are faster than the joint '
                        'positions or beside them')
    return found, offsets
