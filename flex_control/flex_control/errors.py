"""Errors of control, each a sentence that says what was expected and what was found."""
from flex_dynamics import Model


class ControlError(ValueError):
    """A controller or trajectory that cannot be: unknown name, bad parameter, bad points."""


def refuse_constraints(model: Model, what: str) -> None:
    """ControlError if a robot has loops, wheels or supports, which `what` does not know."""
    if model.robot.constraints:
        one = model.robot.constraints[0]
        raise ControlError(f'{what}: expected a tree of links, found {type(one).__name__.lower()} '
                           f'{one.name!r} of robot {model.robot.name}; its equations have no '
                           'loops, wheels and supports yet')
