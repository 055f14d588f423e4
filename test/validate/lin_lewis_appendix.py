"""Mass matrix of the rigid-flexible-rigid arm: as in the appendix of Lin and Lewis, corrected; and
by positions, written without them."""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flex_description import Robot

# Printed values of phi with bL = 0.912224, and what is allowed: half a printed digit, or rounding
# of doubles, of which an integral sums 40.
CONSTANTS = {
    'phi(L)': (0.5497897482078318, 1e-15), 'phi(L)^2': (0.3022687672344311, 1e-15),
    'int phi^2 / L': (0.07147226535009999, 1e-14),
    '2 int phi / L phi(L)': (0.7517462583877994, 1e-14),
    '2 int x phi / L^2 phi(L)': (0.5509971691837638, 1e-14),
    'int x phi / L^2 phi(L)': (0.2754985845918819, 1e-14), 'int phi / L': (0.206651, 5e-7),
    '2 int phi / L': (0.413302, 5e-7)}


@dataclass(frozen=True)
class Arm:
    """Numbers of the arm, SI; x, weights: quadrature along link 2, phi its shape there."""

    L1: float
    L2: float
    L3: float
    Lc1: float
    Lc3: float
    m1: float
    m3: float
    payload: float
    I1: float
    I3: float
    rhoA: float
    x: np.ndarray
    weights: np.ndarray
    phi: np.ndarray
    tip: float
    slope: float

    @classmethod
    def of(cls, robot: Robot) -> Arm:
        links = {link.name: link for link in robot.links}
        joints = {joint.name: joint for joint in robot.joints}
        beam, one, three = links['link2'].flexible, links['link1'].inertia, links['link3'].inertia
        nodes, weights = np.polynomial.legendre.leggauss(40)
        x, end = 0.5 * beam.length * (nodes + 1.0), np.array([beam.length])
        return cls(joints['joint2'].origin[0, 3], beam.length,
                   joints['payload_mount'].origin[0, 3], one.centre[0], three.centre[0],
                   one.mass, three.mass, links['payload'].inertia.mass, one.tensor[2, 2],
                   three.tensor[2, 2], float(beam.properties(end).mass_per_length[0]), x,
                   0.5 * beam.length * weights, beam.bend_y(x)[0], beam.bend_y(end)[0, 0],
                   beam.bend_y(end, 1)[0, 0])

    def constant(self, name: str) -> float:
        """By quadrature: a number of CONSTANTS."""
        whole = self.phi @ self.weights / self.L2
        lever = (self.x * self.phi) @ self.weights / self.L2**2
        return {'phi(L)': self.tip, 'phi(L)^2': self.tip**2,
                'int phi^2 / L': self.phi**2 @ self.weights / self.L2,
                '2 int phi / L phi(L)': 2.0 * whole / self.tip,
                '2 int x phi / L^2 phi(L)': 2.0 * lever / self.tip,
                'int x phi / L^2 phi(L)': lever / self.tip, 'int phi / L': whole,
                '2 int phi / L': 2.0 * whole}[name]


def by_positions(arm: Arm, q: np.ndarray, turn: float, whole_turn: bool = True) -> np.ndarray:
    """M (4, 4) from positions in the complex plane; the end of link 2 turns by turn * v.

    whole_turn: link 3 turns with all speeds; without, with joint rates of rigid links only.
    """
    first, second = np.exp(1j * q[0]), np.exp(1j * (q[0] + q[1]))
    third = second * np.exp(1j * (q[2] + turn * q[3]))

    def beam(x, phi) -> tuple:
        away = (x + 1j * phi * q[3]) * second
        return 1j * (arm.L1 * first + away), 1j * away, 0.0 * away, 1j * phi * second

    def outboard(r: float) -> tuple:
        rows = beam(arm.L2, arm.tip)
        own = 1j * r * third
        return rows[0] + own, rows[1] + own, own, rows[3] + turn * own

    M = np.zeros((4, 4))
    columns = np.array(beam(arm.x, arm.phi))
    M += arm.rhoA * ((columns.conj() * arm.weights) @ columns.T).real
    for mass, r in ((arm.m3, arm.Lc3), (arm.payload, arm.L3)):
        point = np.array(outboard(r))
        M += mass * np.outer(point.conj(), point).real
    M[0, 0] += arm.I1 + arm.m1 * arm.Lc1**2
    spin = np.array([1.0, 1.0, 1.0, turn]) if whole_turn else np.array([1.0, 0.0, 1.0, 0.0])
    return M + arm.I3 * np.outer(spin, spin)


def appendix(arm: Arm, q: np.ndarray) -> np.ndarray:
    """M (4, 4) of the appendix, collected; corrected: v after 1.0996
    Lc3 ms3 sin in M11; Lc3, /2 and the sign of 0.206651 in M12; 2 mpd L2^2 in M14; the plus in the
    cosine of M34; Lc3^2 ms3 in M44; Ix3 wherever link 3 turns."""
    L1, L2, L3, Lc3 = arm.L1, arm.L2, arm.L3, arm.Lc3
    m, p, A, v = arm.m3, arm.payload, arm.rhoA, q[3]
    f = 0.5497897482078318
    c2, s2 = np.cos(q[1]), np.sin(q[1])
    c3, s3 = np.cos(q[2] + f * v / L2), np.sin(q[2] + f * v / L2)
    c23 = np.cos(q[1] + q[2] + f * v / L2)
    pm, lever, square = p + m, p * L3 + m * Lc3, p * L3**2 + m * Lc3**2
    ff, own = 0.3022687672344311, 0.07147226535009999
    M22 = (pm * L2**2 + 2.0 * lever * c3 * L2 + square + A * L2**3 / 3.0
           + 1.099579496415663 * lever * s3 * v + (ff * pm + own * A * L2) * v**2 + arm.I3)
    half = (c2 * L1 * L2 * pm + c23 * L1 * lever + A * c2 * L1 * L2**2 / 2.0
            - f * pm * L1 * s2 * v - 0.7517462583877994 * f / 2.0 * A * L1 * L2 * s2 * v)
    M12 = M22 + half
    M11 = (arm.I1 + arm.m1 * arm.Lc1**2 + L1**2 * (pm + A * L2) + M22 + 2.0 * half)
    M23 = c3 * L2 * lever + square + f * lever * s3 * v + arm.I3
    M13 = M23 + c23 * L1 * lever
    M24 = (f * (pm * L2**2 + 2.0 * c3 * L2 * lever + square
                + 0.2754985845918819 * A * L2**3 + f * lever * s3 * v) / L2 + arm.I3 * f / L2)
    M14 = M24 + f / L2 * (c2 * L1 * L2 * pm + c23 * L1 * lever
                          + 0.5 * 0.7517462583877994 * A * c2 * L1 * L2**2)
    M33 = arm.I3 + square
    M34 = f * c3 * lever + f * square / L2 + arm.I3 * f / L2
    M44 = (ff * pm + 2.0 * ff * c3 * lever / L2 + ff * square / L2**2 + own * A * L2
           + arm.I3 * f**2 / L2**2)
    return np.array([[M11, M12, M13, M14], [M12, M22, M23, M24], [M13, M23, M33, M34],
                     [M14, M24, M34, M44]])
