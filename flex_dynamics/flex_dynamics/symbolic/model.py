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
"""A Model whose equations of motion are the exported functions of a derivation."""
from __future__ import annotations

from flex_dynamics import checks
from flex_dynamics.build.assemble import Assembly
from flex_dynamics.model.backends.exported import ExportedBackend
from flex_dynamics.model.composition import ComposedModel
from flex_dynamics.model.model import Model
from flex_dynamics.symbolic.derive import carrying, derive
from flex_dynamics.symbolic.equations import FUNCTIONS, Equations
from flex_dynamics.symbolic.export.code import c_compiler


class DerivedBackend(ExportedBackend):
    """The exported function of equations; for another assembly they are derived anew."""

    def __init__(self, assembly: Assembly, equations: Equations, kind: str) -> None:
        super().__init__(assembly, equations.function(kind), equations.K_numbers,
                         equations.B_numbers)
        self.equations, self.kind = equations, kind

    def rebuilt(self, assembly: Assembly) -> DerivedBackend:
        equations, before = self.equations, self._assembly
        attached = list(assembly.payloads.values())
        if assembly.robot is not before.robot or len(attached) != len(before.payloads) or any(
                one is not other for one, other in zip(attached, before.payloads.values())):
            base = carrying(Model(assembly.robot, assembly.order), assembly.payloads)
            equations = derive(base, equations.method, order=assembly.order)
        return DerivedBackend(assembly, equations, self.kind)


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
        kind = (('c' if c_compiler() else 'numpy') if kind is None
                else checks.choice(kind, 'kind', FUNCTIONS))
        source = equations.model
        backend = DerivedBackend(source.assembly, equations, kind)
        ComposedModel.__init__(self, source.assembly, backend, dict(source.link_damping))

    @property
    def equations(self) -> Equations:
        """The equations that it evaluates."""
        return self._derived.equations

    @property
    def kind(self) -> str:
        """'c' or 'numpy': what was exported."""
        return self._derived.kind

    @property
    def method(self) -> str:
        """The method by which the equations were derived."""
        return self.equations.method

    @property
    def _derived(self) -> DerivedBackend:
        assert isinstance(self.backend, DerivedBackend)
        return self.backend
