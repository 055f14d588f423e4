"""The 6 s manoeuvre of Cibicik and Egeland: start, gains, stepped set-points; and our own run."""
from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.interpolate import Akima1DInterpolator

from flex_dynamics import Model
from flex_dynamics.simulation.simulation import Simulation

START = np.array([0.0, np.pi / 6, 2 * np.pi / 3, np.pi / 6])    # rad
KP = np.array([4000.0, 12000.0, 6000.0, 400.0])                 # N m/rad
KD = np.array([800.0, 2400.0, 900.0, 40.0])                     # N m s/rad
# From when (s), set-points (rad); the paper steps them, with no gravity compensation.
SETPOINTS = (
    (0.0, START),
    (0.5, np.array([0.0, np.pi / 3, np.pi / 3, np.pi / 3])),
    (3.0, np.array([np.pi / 4, np.pi / 3, np.pi / 3, np.pi / 3])),
)
END = 6.0
SAMPLE = 0.01                                                   # s, between compared positions
SWEEPS_END = 1e-4                           # tolerance of Simulation: the motion is damped
TIMES = np.arange(round(END / SAMPLE) + 1) * SAMPLE


def phases() -> Iterator[tuple[float, np.ndarray]]:
    """Duration (s) and set-points (rad) of each phase."""
    ends = [start for start, _ in SETPOINTS[1:]] + [END]
    for (start, setpoints), end in zip(SETPOINTS, ends):
        yield end - start, setpoints


def sampled(times: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Positions (k, 3) at TIMES, of a trajectory with steps of its own: piecewise cubic, as
    straight lines over steps of 4 ms would add tenths of a millimetre."""
    times, first = np.unique(times, return_index=True)
    return Akima1DInterpolator(times, positions[first], extrapolate=True)(TIMES)


def tip_error(tips: np.ndarray, reference: np.ndarray) -> tuple[float, float]:
    """Largest and root-mean-square distance (m) of tip positions (k, 3) from the reference."""
    distance = np.linalg.norm(tips - reference, axis=1)
    return float(distance.max()), float(np.sqrt(np.mean(distance ** 2)))


def run_flex(model: Model, step: float, start_time: float = 0.0,
             start_step: float = 0.0) -> np.ndarray:
    """Coordinates (k, n) at TIMES, by the fixed-step integrator with `step` s.

    The first `start_time` s after a step of the set-points may take smaller steps.
    """
    start = np.concatenate((START, np.zeros(model.n - len(START))))
    simulation = Simulation(model, step, q=start, tolerance=SWEEPS_END)
    states = [start]
    for duration, setpoints in phases():
        simulation.set_servo(KP, KD, setpoints)
        for k in range(round(duration / SAMPLE)):
            early = (k + 0.5) * SAMPLE < start_time
            simulation.step = start_step if early else step
            simulation.advance(round(SAMPLE / simulation.step))
            states.append(simulation.q.copy())
    return np.array(states)


def tips_of(model: Model, states: np.ndarray, frame: str = 'tool') -> np.ndarray:
    """Positions (k, 3) of a frame for coordinates (k, n)."""
    return np.array([model.pose(q, frame)[:3, 3] for q in states])
