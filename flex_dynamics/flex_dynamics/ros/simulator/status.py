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
"""What the simulator says of itself on /diagnostics."""
from __future__ import annotations

from dataclasses import dataclass

from diagnostic_msgs.msg import DiagnosticStatus

SLOW = 0.1        # s of wall time, of about one, that time waited for the driver: worth a warning


@dataclass(frozen=True)
class SimulatorStatus:
    """The simulator at one moment; times in s, longest_step and share since the last status."""

    failure: str
    silence: str                # who is waited for, in lockstep
    fail_safe: bool
    fail_safes: int             # how often it began to act
    slips: int                  # waits of simulated time for the driver, free running
    slipped: float              # wall time of all these waits
    slipped_lately: float       # and of those since the last status
    moving: bool
    playing: bool
    started: bool
    time: float                 # simulated
    real_time_factor: float
    share: float                # of a core in the integrator, 0 to 1
    longest_step: float         # wall time from state to state
    overruns: int
    scheduling: str
    driver: str                 # node that commands the robot
    rejected: int
    rejection: str
    limited: int                # commands cut to limits
    saturated: int              # periods with a drive at its limit
    rejected_wrenches: int
    wrench_rejection: str
    rejected_twists: int        # of cmd_vel
    twist_rejection: str
    payloads: tuple[str, ...]
    changes: str                # parameters of the model that are not as described
    recording: str
    recording_problem: str
    order: str
    joints: int
    coordinates: int


def diagnostics(status: SimulatorStatus) -> tuple[bytes, str, dict[str, object]]:
    """Level, one sentence and figures, for Diagnostics."""
    if status.failure:
        level, text = DiagnosticStatus.ERROR, status.failure
    elif status.silence and status.moving:
        level, text = DiagnosticStatus.WARN, status.silence
    elif status.fail_safe and status.moving:
        level, text = DiagnosticStatus.WARN, 'the fail-safe acts in place of a command'
    elif status.slipped_lately > SLOW and status.moving:
        level = DiagnosticStatus.WARN
        text = (f'simulated time waited {status.slipped_lately:.2f} s for '
                f'{status.driver or "the driver"} since the last status')
    elif status.recording_problem:
        level, text = DiagnosticStatus.WARN, status.recording_problem
    elif not status.playing:
        level, text = DiagnosticStatus.OK, 'paused'
    else:
        level, text = DiagnosticStatus.OK, 'running' if status.started else 'ready'
    return level, text, {
        'simulated time (s)': f'{status.time:.3f}',
        'real-time factor': f'{status.real_time_factor:.3f}',
        'share of a core in the integrator (%)': f'{100.0 * status.share:.1f}',
        'longest step from state to state (ms)': f'{1e3 * status.longest_step:.3f}',
        'overruns': status.overruns,
        'waits for the driver': status.slips,
        'time waited for the driver (s)': f'{status.slipped:.2f}',
        'times the fail-safe acted': status.fail_safes,
        'scheduling': status.scheduling,
        'driven by': status.driver,
        'rejected commands': status.rejected,
        'last rejection': status.rejection,
        'commands cut to limits': status.limited,
        'periods with a drive at its limit': status.saturated,
        'rejected wrenches': status.rejected_wrenches,
        'last rejected wrench': status.wrench_rejection,
        'rejected twists': status.rejected_twists,
        'last rejected twist': status.twist_rejection,
        'payloads': ', '.join(status.payloads),
        'parameters changed': status.changes,
        'recording': status.recording,
        'order': status.order,
        'joints': status.joints,
        'coordinates': status.coordinates,
    }
