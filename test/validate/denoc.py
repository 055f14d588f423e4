"""The forward dynamics recursion of Mohan and Saha, corrected, in plain arithmetic to be counted.

A chain of revolute joints about z; each link a clamped beam with m shapes in y and in z (order
first). Numbers may be floats or `counting.Counted`; products with a plain 0 or 1 cost nothing.
Accelerations are those of the link's root, in its axes: (30) with qdd; (20a) with -dV/dq; (24b)
with 2 du/dt; (33) with gamma; (39) with eta of the articulated body. `printed` takes one of the
first three back.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from counting import plain


@dataclass(frozen=True)
class Beam:
    """length m, mass kg; per shape: h = int phi, g = int x phi, mass = int phi^2, all by kg;
    stiffness; tip value and slope. `spatial`: the same shapes in z too."""

    length: float
    mass: float
    h: np.ndarray
    g: np.ndarray
    own: np.ndarray
    stiffness: np.ndarray
    tip: np.ndarray
    slope: np.ndarray
    spatial: bool = False


def zeros(*shape: int) -> np.ndarray:
    return np.full(shape, 0.0, dtype=object)


def cross(a) -> np.ndarray:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]], dtype=object)


def forward_dynamics(beams: list[Beam], angles, bends, speeds, rates, tau,
                     printed: str = '') -> tuple[list, list]:
    """Joint accelerations and amplitude accelerations; bends and rates: one array a link, y first,
    then z. Functions sin and cos are of plain numbers. printed: '(20a)', '(24b)' or '(33)'."""
    omega, links = zeros(3), []
    turn, step, drift = np.eye(3).astype(object), zeros(3), zeros(6)
    for beam, q, d, w, dd in zip(beams, angles, bends, speeds, rates):
        joint = _rotation(2, q)
        R = turn @ joint
        before = R.T @ omega
        omega = before + np.array([0.0, 0.0, w], dtype=object)
        spin = zeros(6)
        spin[0], spin[1] = omega[1] * w, -(omega[0] * w)          # omega x z w
        inertia, F, H, force, modal, S = _body(beam, d, dd, omega, printed)
        before_step, before_drift = step, drift
        tip, bent = S[3:] @ d, S[:3] @ d
        turn = _rotation(2, bent[2]) @ _rotation(1, bent[1])
        step = tip + np.array([beam.length, 0.0, 0.0], dtype=object)
        speed, turning = S[3:] @ dd, S[:3] @ dd
        W = cross(omega)
        drift = np.concatenate((W @ turning, W @ (W @ step + speed + speed)))
        omega = omega + turning
        # as seen from the root: the change of frame adds the lever of the tip to every turn
        S = S.copy()
        S[3:], drift[3:] = S[3:] + cross(step) @ S[:3], drift[3:] + cross(step) @ drift[:3]
        links.append((R, before_step, before_drift, spin, inertia, F, H, force, modal, S))
    return _solve(links, tau)


def _rotation(axis: int, angle) -> np.ndarray:
    value = float(plain(angle))
    if value == 0.0 and not hasattr(angle, 'counts'):
        return np.eye(3).astype(object)
    s, c = (_like(angle, f(value)) for f in (math.sin, math.cos))
    out = np.eye(3).astype(object)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    out[i, i], out[i, j], out[j, i], out[j, j] = c, -s, s, c
    return out


def _like(angle, value: float):
    return type(angle)(value, angle.counts) if hasattr(angle, 'counts') else value


def _body(beam: Beam, d, dd, w, printed: str) -> tuple:
    """Inertia (6, 6), coupling F (6, k), H (k,) diagonal, bias (6,), modal bias (k,), tip S."""
    m = len(beam.h)
    y, z = d[:m], (d[m:] if beam.spatial else zeros(m))
    yd, zd = dd[:m], (dd[m:] if beam.spatial else zeros(m))
    k = len(d)
    c = np.array([0.5 * beam.mass * beam.length, beam.h @ y, beam.h @ z], dtype=object)
    My, Mz = beam.own * y, beam.own * z
    yy, zz, yz = My @ y, Mz @ z, My @ z
    xy, xz = beam.g @ y, beam.g @ z
    along = beam.mass * beam.length**2 / 3.0
    J = np.array([[yy + zz, -xy, -xz], [-xy, along + zz, -yz], [-xz, -yz, along + yy]],
                 dtype=object)
    inertia = zeros(6, 6)
    inertia[:3, :3], inertia[:3, 3:], inertia[3:, :3] = J, cross(c), -cross(c)
    inertia[3, 3] = inertia[4, 4] = inertia[5, 5] = beam.mass
    F, S = zeros(6, k), zeros(6, k)
    F[0, :m], F[2, :m], F[4, :m] = -Mz, beam.g, beam.h
    S[2, :m], S[4, :m] = beam.slope, beam.tip
    if beam.spatial:
        F[0, m:], F[1, m:], F[5, m:] = My, -beam.g, beam.h
        S[1, m:], S[5, m:] = -beam.slope, beam.tip
    W = cross(w)
    rate = np.array([0.0, beam.h @ yd, beam.h @ zd], dtype=object)
    Myd, Mzd = beam.own * yd, beam.own * zd
    N = np.array([[0.0, 0.0, 0.0], [beam.g @ yd, Myd @ y, Myd @ z],
                  [beam.g @ zd, Mzd @ y, Mzd @ z]], dtype=object)        # int u' r'
    moved = N[1, 1] + N[2, 2]
    once = printed == '(24b)'
    turn = w * moved - N @ w
    moment = W @ (J @ w) + (turn if once else 2.0 * turn)
    force = np.concatenate((moment, W @ (W @ c + rate + (0.0 if once else rate))))
    square, twice = w @ w, w[0] + (0.0 if once else w[0])
    modal = (w[1] * w[0]) * beam.g + (w[1] * w[1] - square) * My + (w[1] * w[2]) * Mz - (
        twice * Mzd)
    springs = -beam.stiffness if printed == '(20a)' else beam.stiffness
    if beam.spatial:
        modal = np.concatenate((modal, (w[2] * w[0]) * beam.g + (w[2] * w[1]) * My
                                + (w[2] * w[2] - square) * Mz + twice * Myd))
    if printed == '(33)':
        force, modal = zeros(6), zeros(k)
    modal = modal + np.concatenate((springs * y, springs * z))[:k]
    H = np.concatenate((beam.own, beam.own))[:k]
    return inertia, F, np.diag(H).astype(object), force, modal, S


def _solve(links: list, tau) -> tuple[list, list]:
    """Articulated bodies inward (36) to (38), (39), accelerations outward (40) to (42)."""
    kept: list[tuple] = []
    child = None
    for at in range(len(links) - 1, -1, -1):
        R, step, drift, spin, inertia, F, H, force, modal, S = links[at]
        if child is not None:
            Is, ps = child
            IS = Is @ S
            push = Is @ links[at + 1][2] + ps
            inertia, force = inertia + Is, force + push
            F, H, modal = F + IS, H + S.T @ IS, modal + S.T @ push
        G, e = _eliminate(H, F, -modal)                       # L^-1 F', L^-1 (0 - modal)
        inertia, force = inertia - G[1].T @ G[1], force + G[1].T @ e
        U, pivot = inertia[:, 2], 1.0 / inertia[2, 2]
        bias = force + inertia @ spin
        right = tau[at] - bias[2]
        scaled = U * pivot
        kept.append((G, e, U, pivot, right))
        below = inertia - np.outer(scaled, U)
        child = _moved(R, step, below, bias + scaled * right)
    kept.reverse()
    return _accelerations(links, kept)


def _moved(R, step, inertia, force) -> tuple[np.ndarray, np.ndarray]:
    """To the axes and the root of the link before."""
    T = zeros(6, 6)
    T[:3, :3] = T[3:, 3:] = R.T
    T[3:, :3] = -(R.T @ cross(step))
    return T.T @ (inertia @ T), T.T @ force


def _eliminate(H, F, right) -> tuple[tuple, np.ndarray]:
    k = len(H)
    L, G, e = zeros(k, k), zeros(k, 6), zeros(k)
    for i in range(k):
        for j in range(i):
            L[i, j] = (H[i, j] - L[i, :j] @ L[j, :j]) * L[j, j] if j else H[i, 0] * L[0, 0]
        pivot = H[i, i] - L[i, :i] @ L[i, :i] if i else H[i, i]
        L[i, i] = 1.0 / _root(pivot)
        G[i] = (F[:, i] - L[i, :i] @ G[:i]) * L[i, i] if i else F[:, 0] * L[0, 0]
        e[i] = (right[i] - L[i, :i] @ e[:i]) * L[i, i] if i else right[0] * L[0, 0]
    return (L, G), e


def _root(number):
    return _like(number, math.sqrt(float(plain(number))))


def _accelerations(links: list, kept: list) -> tuple[list, list]:
    turning, bending = [], []
    moving = zeros(6)
    for (R, step, drift, spin, *_, S), ((L, G), e, U, pivot, right) in zip(links, kept):
        moving = moving + drift
        alpha, linear = moving[:3], moving[3:]
        moving = np.concatenate((R.T @ alpha, R.T @ (linear - cross(step) @ alpha)))
        qdd = (right - U @ moving) * pivot
        moving = moving + spin
        moving[2] = moving[2] + qdd
        amplitudes = e - G @ moving
        for i in range(len(e) - 1, -1, -1):
            rest = amplitudes[i]
            if i + 1 < len(e):
                rest = rest - L[i + 1:, i] @ amplitudes[i + 1:]
            amplitudes[i] = rest * L[i, i]
        moving = moving + S @ amplitudes
        turning.append(qdd)
        bending.append(amplitudes)
    return turning, bending
