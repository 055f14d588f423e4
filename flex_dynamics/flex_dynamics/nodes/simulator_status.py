"""What the simulator says of itself on /diagnostics."""
from __future__ import annotations

import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticStatus


def status(simulator: Any) -> tuple[bytes, str, dict[str, object]]:
    """Level, one sentence and figures, for Diagnostics."""
    factor, share, longest = simulator._speed.read(simulator.now * 1e-9)
    if simulator.failure:
        level, text = DiagnosticStatus.ERROR, simulator.failure
    elif simulator._silence and simulator.moving:
        level, text = DiagnosticStatus.WARN, simulator._silence
    elif simulator._safe and simulator.moving:
        level, text = DiagnosticStatus.WARN, 'the fail-safe acts in place of a command'
    elif simulator._recording.problem:
        level, text = DiagnosticStatus.WARN, simulator._recording.problem
    elif not simulator.playing:
        level, text = DiagnosticStatus.OK, 'paused'
    else:
        level, text = DiagnosticStatus.OK, 'running' if simulator.tick else 'ready'
    return level, text, {
        'simulated time (s)': f'{simulator.now * 1e-9:.3f}',
        'real-time factor': f'{factor:.3f}',
        'share of a core in the integrator (%)': f'{100.0 * share:.1f}',
        'longest step from state to state (ms)': f'{1e3 * longest:.3f}',
        'overruns': simulator._pacing.overruns,
        'scheduling': simulator._thread.text,
        'driven by': simulator._owner.driver(time.monotonic()),
        'rejected commands': simulator._rejected,
        'last rejection': simulator._reason,
        'commands cut to limits': simulator.plant.gate.limited,
        'periods with a drive at its limit': simulator.plant.saturated,
        'rejected wrenches': simulator._wrenches.rejected,
        'last rejected wrench': simulator._wrenches.reason,
        'payloads': ', '.join(simulator.plant.payloads),
        'recording': simulator._recording.text,
        'order': simulator.model.order,
        'joints': simulator.model.n_joints,
        'coordinates': simulator.model.n,
    }
