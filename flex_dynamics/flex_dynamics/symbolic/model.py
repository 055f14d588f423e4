"""A Model whose equations of motion are the exported functions of a derivation."""
from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from flex_dynamics import checks
from flex_dynamics.errors import DynamicsError
from flex_dynamics.model.model import Model
from flex_dynamics.symbolic.derive import derive
from flex_dynamics.symbolic.equations import FUNCTIONS, Equations
from flex_dynamics.symbolic.export.code import Function, c_compiler


class SymbolicModel(Model):
    """Drop-in Model: M, C and g, and all that follows from them (forward and inverse dynamics,
    energy, linear models, frequencies, statics), by the exported function; K, D and B by the
    derivation. Frames, Jacobians and payloads are the Model's; a payload derives anew.

    For small robots, and to check the numeric core. `simulate(..., method='adaptive')` integrates
    it; the fixed-step Simulation steps inside the numeric core's recursion, whatever the Model.
    kind: 'c' or 'numpy'; None takes C where the machine has a compiler.
    """

    def __init__(self, equations: Equations, kind: str | None = None) -> None:
        checks.instance(equations, 'equations', Equations, 'derive(robot) gives them')
        self.kind = (('c' if c_compiler() else 'numpy') if kind is None
                     else checks.choice(kind, 'kind', FUNCTIONS))
        self.method = equations.method
        self._equations: Equations | None = equations
        source = equations.model
        self.robot, self.order = source.robot, source.order
        self._beams, self._payloads = source._beams, source._payloads
        self._extra_sections = source._extra_sections
        self._build()
        self._damping_blocks = source._damping_blocks
        self._freeze()
        self._lock()

    @property
    def equations(self) -> Equations:
        assert self._equations is not None
        return self._equations

    def _build(self) -> None:
        super()._build()
        if self._equations is None or self._equations.n != self.n:
            base = Model(self.robot, self.order)._changed(self._payloads, self._extra_sections)
            self._equations = derive(base, self.method, order=self.order)
        self._linear = ExportedTerms(self.names, self._equations.function(self.kind),
                                     self.order)  # type: ignore[assignment]

    def _freeze(self) -> None:
        super()._freeze()
        self._stiffness = self.equations.K_numbers.copy()
        self._inputs = self.equations.B_numbers.copy()
        self._protect()

    def _hand_on(self, model: Any) -> None:
        super()._hand_on(model)
        model.kind, model.method, model._equations = self.kind, self.method, None


class ExportedTerms:
    """M, C and g of an exported function, with the calls by which a Model uses them."""

    def __init__(self, names: tuple[str, ...], function: Function, order: str) -> None:
        self._names, self._function, self._order = names, function, order

    def terms(self, q, v) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """M (n, n), C (n, n) and g (n,)."""
        return self._function(q, v)

    def mass_matrix(self, q) -> np.ndarray:
        mass = self._function(q, np.zeros(len(self._names)))[0]
        self._factor(mass)
        return mass

    def mass_and_coriolis(self, q, v) -> tuple[np.ndarray, np.ndarray]:
        mass, coriolis, _ = self._function(q, v)
        self._factor(mass)
        return mass, coriolis

    def inverse_dynamics(self, q, v, a) -> np.ndarray:
        """M a + C v + g (n,)."""
        mass, coriolis, force = self._function(q, v)
        return mass @ a + coriolis @ v + force

    def forward_dynamics(self, q, v, generalised_force) -> np.ndarray:
        """Accelerations (n,); generalised_force (n,) without C v and g."""
        mass, coriolis, force = self._function(q, v)
        return dpotrs(self._factor(mass), generalised_force - coriolis @ v - force, lower=1)[0]

    def _factor(self, mass: np.ndarray) -> np.ndarray:
        if not np.isfinite(mass).all():
            raise DynamicsError('mass matrix: expected finite numbers; the state is not finite')
        factor, pivot = dpotrf(mass, lower=1)
        if pivot:
            reason = ("the deflections are too large for order 'linear', or it moves no mass"
                      if self._order == 'linear' else 'it moves no mass')
            raise DynamicsError('mass matrix not positive definite at coordinate '
                                f'{self._names[pivot - 1]}: {reason}')
        return factor
