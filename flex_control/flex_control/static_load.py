"""Efforts that carry a robot at rest, deflection included, cheap enough for every period."""
from __future__ import annotations

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from flex_dynamics import Model

MOST_SWEEPS = 20
TOLERANCE = 1e-9


class StaticLoad:
    """Solves K q + g(q) = B tau for the efforts and the elastic part of q at given joints.

    The unknowns enter linearly but for g, which changes little with deflection: sweeps with one
    factored matrix, each from the last pose's deflection, replace Newton's method.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        joints = model.n_joints
        stiffness = model.stiffness_matrix()
        self._joint_stiffness = stiffness[:, :joints]
        matrix = np.hstack((stiffness[:, joints:], -model.input_matrix(np.zeros(model.n))))
        self._factors = lu_factor(matrix)
        self._q = np.zeros(model.n)
        self._still = np.zeros(model.n)
        self._efforts = np.zeros(joints)
        self._asked: np.ndarray | None = None

    def efforts(self, joints: np.ndarray) -> np.ndarray:
        """Efforts (n_joints,) that hold the joints (n_joints,) against gravity."""
        if self._asked is not None and np.array_equal(self._asked, joints):
            return self._efforts
        count = self._model.n_joints
        self._q[:count] = joints
        for _ in range(MOST_SWEEPS):
            load = self._model.bias_force(self._q, self._still)
            solved = lu_solve(self._factors, -load - self._joint_stiffness @ joints)
            change = np.abs(solved[:-count] - self._q[count:]).max(initial=0.0)
            self._q[count:] = solved[:-count]
            if change < TOLERANCE:
                break
        self._asked, self._efforts = np.array(joints), solved[-count:]
        return self._efforts
