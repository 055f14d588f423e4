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
"""How a model calculates its terms: one backend each, side by side behind one protocol."""
from flex_dynamics import checks
from flex_dynamics.build.assemble import Assembly
from flex_dynamics.model.backends.base import Backend
from flex_dynamics.model.backends.constrained import ConstrainedBackend
from flex_dynamics.model.backends.coupled import CoupledBackend
from flex_dynamics.model.backends.linear import LinearBackend
from flex_dynamics.model.backends.recursive import RecursiveBackend

BACKENDS: dict[str, type[RecursiveBackend] | type[LinearBackend]] = {
    'linear': LinearBackend, 'first': RecursiveBackend, 'second': RecursiveBackend}


def create_backend(assembly: Assembly) -> Backend:
    """The numeric backend for the order of an assembly."""
    if assembly.robot.constraints:
        _refuse_constraints(assembly)
        return ConstrainedBackend(assembly)
    if assembly.order != 'linear' and any(node.mimic for node in assembly.tree.nodes):
        return CoupledBackend(assembly)
    return BACKENDS[assembly.order](assembly)


def _refuse_constraints(assembly: Assembly) -> None:
    """DynamicsError where constraints and something else of the robot do not go together yet."""
    robot, followers = assembly.robot, [node for node in assembly.tree.nodes if node.mimic]
    if assembly.order == 'linear':
        checks.refuse_constraints(robot, "order 'linear' computes robots")
    if followers:
        checks.refuse_constraints(robot, f'Model computes robots with followers (<mimic>, here '
                                         f'joint {followers[0].own_joint.name!r})')
    for node in assembly.tree.nodes:
        if node.beam is not None and node.beam.pinned:
            checks.refuse_constraints(robot, f'Model computes robots with a pinned basis (here of '
                                             f'link {node.beam.link!r})')
