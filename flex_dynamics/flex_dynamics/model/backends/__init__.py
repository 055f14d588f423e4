"""How a model calculates its terms: one backend each, side by side behind one protocol."""
from flex_dynamics.build.assemble import Assembly
from flex_dynamics.model.backends.base import Backend
from flex_dynamics.model.backends.coupled import CoupledBackend
from flex_dynamics.model.backends.linear import LinearBackend
from flex_dynamics.model.backends.recursive import RecursiveBackend

BACKENDS: dict[str, type[RecursiveBackend] | type[LinearBackend]] = {
    'linear': LinearBackend, 'first': RecursiveBackend, 'second': RecursiveBackend}


def create_backend(assembly: Assembly) -> Backend:
    """The numeric backend for the order of an assembly."""
    if assembly.order != 'linear' and any(node.mimic for node in assembly.tree.nodes):
        return CoupledBackend(assembly)
    return BACKENDS[assembly.order](assembly)
