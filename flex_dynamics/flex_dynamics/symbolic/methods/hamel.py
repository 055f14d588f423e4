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
"""Hamel's equations in pseudo-velocities (Mladenova, section 6.2, (226)-(236)), on a tape.

With pid = A qd and qd = B pid, T*(q, pid) = T(q, B pid):

    d/dt dT*/dpid_k - dT*/dpi_k + sum gamma_kij dT*/dpid_i pid_j = P_k        k = 1 ... m   (235)
                                                                 = P_k + R_k  k > m         (236)

after which pid_j = 0 for j > m. R_k are the multipliers of the constraints, because A2 B2 = 1
(234). (236) prints +P_k where -P_k is right.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from flex_dynamics.symbolic.expressions.compact import Compact
from flex_dynamics.symbolic.expressions.tape import Scalar
from flex_dynamics.symbolic.expressions.vectors import scalars
from flex_dynamics.symbolic.methods.lagrange import Progress
from flex_dynamics.symbolic.methods.problem import Problem
from flex_dynamics.symbolic.methods.pseudo_velocities import inverse

TERMS = ('A1', 'A2', 'B1', 'B2', 'gamma', 'H', 'c', 'g', 'turning')


@dataclass(frozen=True)
class HamelTerms:
    """Terms at q and p (m,), the free pseudo-velocities; scalars of a tape, or numbers.

    A1, B1' (m, n), A2, B2' (n - m, n); gamma (n, n, m): gamma_kij, j up to m, because the others
    are multiplied by zero. H (n, m): d2T*/(dpid dp). c (n,): what (235), (236) have beside H dp/dt
    on their left. g (n,): B' times the gravity force. turning (n,): dB1/dt p, by which the
    accelerations are B1 dp/dt + turning (246).
    """

    A1: np.ndarray
    A2: np.ndarray
    B1: np.ndarray
    B2: np.ndarray
    gamma: np.ndarray
    H: np.ndarray
    c: np.ndarray
    g: np.ndarray
    turning: np.ndarray

    def arrays(self) -> list[np.ndarray]:
        """All of them, in the order of TERMS."""
        return [getattr(self, name) for name in TERMS]


def hamel(problem: Problem, A1: np.ndarray, A2: np.ndarray, exact: Sequence[bool],
          M: np.ndarray, gravity: np.ndarray, compact: Compact, progress: Progress) -> HamelTerms:
    """Terms for pseudo-velocities A1 qd and constraints A2 qd = 0. exact (n - m,): rows of A2 that
    are gradients of a function of q. M (n, n), gravity (n,): of the tree."""
    n, m, tape = problem.n, len(A1), problem.tape
    p = [tape.symbol(f'p{k + 1}') for k in range(m)]
    A = np.vstack((A1, A2))
    progress('inverse', 0.0)
    B = inverse(tape, A, compact)
    speed = compact(B[:, :m] @ np.array(p, dtype=object)) if m else scalars(n)
    progress('gamma', 0.0)
    gamma = coefficients(problem, A, B, m, [False] * m + list(exact), compact)
    progress('energy', 0.0)
    H = compact(B.T @ (M @ B[:, :m])) if m else scalars((n, 0))
    momentum = compact(H @ np.array(p, dtype=object)) if m else scalars(n)
    energy = 0.5 * sum((momentum[k] * p[k] for k in range(m)), 0.0)
    slope = scalars(n)                                          # dT*/dq
    for s in range(n):
        slope[s] = tape.derivative(energy, problem.q[s])
    c = scalars(n)
    for k in range(n):
        progress('speeds', k / n)
        rate = along(problem, momentum[k], speed)               # d/dt dT*/dpid_k at constant p
        turned = sum((gamma[k, i, j] * momentum[i] * p[j] for i in range(n) for j in range(m)
                      if isinstance(gamma[k, i, j], Scalar) or gamma[k, i, j] != 0.0), 0.0)
        c[k] = compact.element(rate - B[:, k] @ slope + turned)
    turning = scalars(n)
    for k in range(n):
        turning[k] = compact.element(along(problem, speed[k], speed))
    return HamelTerms(A1, A2, B[:, :m], B[:, m:], gamma, H, c, compact(B.T @ gravity), turning)


def coefficients(problem: Problem, A: np.ndarray, B: np.ndarray, m: int, exact: Sequence[bool],
                 compact: Compact) -> np.ndarray:
    """gamma (n, n, m) of (231); zero for rows that are constant or a gradient."""
    n, tape = problem.n, problem.tape
    gamma = scalars((n, n, m))
    for i in range(n):
        if exact[i] or not any(isinstance(x, Scalar) for x in A[i]):
            continue
        curl = scalars((n, n))                                  # da_is/dq_l - da_il/dq_s
        for s in range(n):
            for other in range(n):
                if s < other:
                    curl[s, other] = compact.element(
                        tape.derivative(A[i, s], problem.q[other])
                        - tape.derivative(A[i, other], problem.q[s]))
                    curl[other, s] = -curl[s, other]
        gamma[:, i, :] = compact(B.T @ curl @ B[:, :m])
    return gamma


def along(problem: Problem, value, speed: np.ndarray):
    """Rate of a scalar of q for speeds (n,), pseudo-velocities held."""
    if not isinstance(value, Scalar):
        return 0.0
    return sum((problem.tape.derivative(value, q) * v for q, v in zip(problem.q, speed)), 0.0)
