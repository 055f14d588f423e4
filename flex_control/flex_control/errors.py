"""Errors of control, each a sentence that says what was expected and what was found."""
from flex_dynamics import Model


class ControlError(ValueError):
    """A controller or trajectory that cannot be: unknown name, bad parameter, bad points."""


def refuse_constraints(model: Model, what: str) -> None:
    """ControlError if a robot has loops, wheels, supports or joints without motor, which `what`
    does not know."""
    for joint in model.robot.joints:
        if joint.passive:
            raise ControlError(f'{what}: expected a motor on every joint, found joint '
                               f'{joint.name!r} of robot {model.robot.name} without one '
                               '(<passive_joint>)')
    if model.robot.constraints:
        one = model.robot.constraints[0]
        raise ControlError(f'{what}: expected a tree of links, found {type(one).__name__.lower()} '
                           f'{one.name!r} of robot {model.robot.name}; its equations have no '
                           'loops, wheels and supports yet')
