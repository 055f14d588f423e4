"""The controllers that were published of a serial flexible link, and an H-infinity one of our own.

Everything is sampled at 10 ms; the plant is the linear model of the bundled robot, exact between
the samples. State: hub angle, deflection angle (rad), and their speeds; input: motor current (A).
"""
from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import daqp
import numpy as np
from scipy.linalg import expm, solve_continuous_are, solve_discrete_are

from flex_description import load_robot
from flex_dynamics import Model

PERIOD = 0.01            # s
FINE = 10                # steps of the simulation in a period
MOTOR = 8.925            # N m/A
MOST = 0.6               # A
STEP = np.deg2rad(20.0)
HORIZON = 40
CAP = np.deg2rad(2.0)
SLACK = 1e4
Q = 50.0 * np.outer([1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]) + 1e-3 * np.eye(4)
R = np.array([[0.5]])
ENCODERS = np.eye(2, 4)
TIP = np.array([[1.0, 1.0, 0.0, 0.0]])
SHAPING = 2.8            # A/rad: gain of the shaped plant of the H-infinity design
ABOVE_LEAST = 1.1        # its gamma over the least one


class Response(NamedTuple):
    """Of a step of 20 degrees: rise time (s, to 90 %), overshoot (%), largest deflections (deg)
    at the samples and between them, and error (deg) in the last half second."""

    rise: float
    overshoot: float
    deflection: float
    deflection_between: float
    left: float


def plant() -> tuple[np.ndarray, np.ndarray]:
    """A (4, 4), B (4, 1) of the bundled robot, deflections as angles of the end."""
    model = Model(load_robot('serial_flexible_link'))
    beam = model.beam('link1').flexible
    angle = float(beam.bend_y(np.array([beam.length]))[0, 0]) / beam.length
    A, B = model.linearize(np.zeros(2), np.zeros(2), np.zeros(1))
    to = np.diag([1.0, angle, 1.0, angle])
    return to @ A @ np.linalg.inv(to), to @ B * MOTOR


def sampled(A: np.ndarray, B: np.ndarray, period: float) -> tuple[np.ndarray, np.ndarray]:
    """x+ = F x + G u with u held for a period (s)."""
    n, inputs = B.shape
    whole = np.zeros((n + inputs, n + inputs))
    whole[:n] = np.hstack((A, B))
    held = expm(whole * period)
    return held[:n, :n], held[:n, n:]


Law = Callable[[np.ndarray], float]


def lqg(most: float = MOST) -> Law:
    """Current from encoder readings (2,) less their reference."""
    F, G = sampled(*plant(), PERIOD)
    gain, _ = _regulator(F, G)
    return _estimating(F, G, lambda x: float(np.clip(-(gain @ x)[0], -most, most)))


def mpc(most: float = MOST) -> Law:
    """The same with the deflection capped, softly, within 40 samples."""
    F, G = sampled(*plant(), PERIOD)
    cost = _regulator(F, G)[1]
    powers = [np.eye(4)]
    for _ in range(HORIZON):
        powers.append(F @ powers[-1])
    free = np.vstack(powers[1:])
    forced = np.zeros((4 * HORIZON, HORIZON))
    for row in range(HORIZON):
        for column in range(row + 1):
            forced[4 * row:4 * row + 4, column] = (powers[row - column] @ G)[:, 0]
    weights = np.kron(np.eye(HORIZON), Q)
    weights[-4:, -4:] = cost
    H = np.eye(HORIZON + 1)                # the slack's own: small beside its weight
    H[:-1, :-1] = forced.T @ weights @ forced + R[0, 0] * np.eye(HORIZON)
    slack = -np.ones((HORIZON, 1))
    rows = np.vstack((np.hstack((forced[1::4], slack)), np.hstack((-forced[1::4], slack))))
    lower = np.concatenate((np.full(HORIZON, -most), [0.0], np.full(2 * HORIZON, -1e30)))

    def law(x: np.ndarray) -> float:
        there = free @ x
        linear = np.append(forced.T @ weights @ there, SLACK)
        upper = np.concatenate((np.full(HORIZON, most), [1e30], CAP - there[1::4],
                                CAP + there[1::4]))
        solution, _, flag, _ = daqp.solve(H, linear, rows, upper, lower)
        assert flag > 0, flag
        return float(solution[0])

    return _estimating(F, G, law)


def h_infinity(most: float = MOST) -> Law:
    """Loop shaping by McFarlane and Glover 1992: the largest disturbance of the plant's normalised
    coprime factors is borne, by two Riccati equations; sampled by its exact response."""
    A, B = plant()
    B = B * SHAPING
    X = solve_continuous_are(A, B, TIP.T @ TIP, np.eye(1))
    Z = solve_continuous_are(A.T, TIP.T, B @ B.T, np.eye(1))
    least = np.sqrt(1.0 + np.abs(np.linalg.eigvals(X @ Z)).max())
    square = (ABOVE_LEAST * least)**2
    inject = square * np.linalg.inv((1.0 - square) * np.eye(4) + X @ Z).T @ Z @ TIP.T
    inner = A - B @ B.T @ X + inject @ TIP
    F, G = sampled(inner, inject, PERIOD)
    output = SHAPING * B.T @ X
    state = np.zeros(4)

    def law(reading: np.ndarray) -> float:
        nonlocal state
        current = float(np.clip((output @ state)[0], -most, most))
        state = F @ state + G[:, 0] * reading.sum()
        return current

    return law


def _regulator(F: np.ndarray, G: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    cost = solve_discrete_are(F, G, Q, R)
    return np.linalg.solve(R + G.T @ cost @ G, G.T @ cost @ F), cost


def _estimating(F: np.ndarray, G: np.ndarray, law: Callable[[np.ndarray], float]) -> Law:
    """The law of an estimated state; process noise 10 I, measurement noise 1e-6 I."""
    spread = solve_discrete_are(F.T, ENCODERS.T, 10.0 * np.eye(4), 1e-6 * np.eye(2))
    gain = spread @ ENCODERS.T @ np.linalg.inv(ENCODERS @ spread @ ENCODERS.T + 1e-6 * np.eye(2))
    x = np.array([-STEP, 0.0, 0.0, 0.0])

    def update(reading: np.ndarray) -> float:
        nonlocal x
        x = x + gain @ (reading - ENCODERS @ x)
        current = law(x)
        x = F @ x + G[:, 0] * current
        return current

    return update


def response(law: Law, delay: float = 0.0, seconds: float = 3.0) -> Response:
    """A step of 20 degrees, the current `delay` (s) late."""
    fine = PERIOD / FINE
    F, G = sampled(*plant(), fine)
    late = round(delay / fine)
    currents = [0.0] * late
    x, path = np.zeros(4), []
    aim = np.array([STEP, 0.0])
    for _ in range(round(seconds / PERIOD)):
        current = law(ENCODERS @ x - aim)
        for _ in range(FINE):
            currents.append(current)
            x = F @ x + G[:, 0] * currents[-1 - late]
            path.append(x)
    run = np.rad2deg(np.array(path))
    tip, deflection, step = run[:, 0] + run[:, 1], np.abs(run[:, 1]), np.rad2deg(STEP)
    rise = fine * (1 + int(np.argmax(tip >= 0.9 * step)))
    return Response(rise, 100.0 * float(tip.max() / step - 1.0),
                    float(deflection[FINE - 1::FINE].max()), float(deflection.max()),
                    float(np.abs(tip[-round(0.5 / fine):] - step).max()))
