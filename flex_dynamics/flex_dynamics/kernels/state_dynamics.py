"""Accelerations of a state under joint efforts: what one call from Python does."""
from __future__ import annotations

from numba import njit

from flex_dynamics.kernels.applied_forces import applied_forces
from flex_dynamics.kernels.finite import BAD_INPUT, finite
from flex_dynamics.kernels.layout import OPTIONS
from flex_dynamics.kernels.recursive_forward_dynamics import forward_dynamics


@njit(**OPTIONS)
def accelerations(table, body, coef, size, work, gravity, q, v, tau, external, a):
    """a (n,) = M^-1 (B tau + external - K q - D v - friction - bias).

    Returns what forward_dynamics returns, or BAD_INPUT.

    work: workspace, then n for the forces and n zeros.
    """
    if not (finite(q) and finite(v) and finite(tau)):
        return BAD_INPUT
    n = q.shape[0]
    end = work.shape[0]
    force, zeros = work[end - 2 * n:end - n], work[end - n:]
    applied_forces(table, body, coef, q, v, tau, force)
    for i in range(external.shape[0]):
        force[i] += external[i]
    for i in range(n):
        zeros[i] = 0.0
    return forward_dynamics(table, body, coef, size, work, gravity, q, v, force, zeros, 0.0, 0.0,
                            a)
