"""The mechanical stops at the joint limits of a URDF, as springs that act inside the step."""
from __future__ import annotations

import numpy as np

from flex_dynamics import Model
from flex_dynamics.joint_inertia import largest_joint_inertia

STIFFNESS = 300.0        # rad/s: a joint's largest inertia would ring at it on its stop
DAMPING = 0.4            # ratio, while the stop is being pressed
MARGIN = 0.02            # rad or m: nearer than this to a limit every step is looked at


class JointStops:
    """Springs at the limits of the joints; arrays (n_joints,).

    A stop catches a joint in the step whose middle, at which the integrator takes its forces,
    would lie beyond the limit, and lets it go when it has come back to where it was caught. The
    spring is slack where it catches, so that a stop never brings energy in: it would, with its
    rest at the limit itself, because a joint is never there at the end of a step. It is caught off
    the limit by half a step's way at most. The damper acts while the stop is being pressed.

    At an elastic joint a stop holds the motor, behind the gear, and on a pinned basis the root
    section: where the drive acts too.
    """

    def __init__(self, model: Model) -> None:
        limits = {joint.name: joint.limits for joint in model.robot.joints}
        names = model.names[:model.n_joints]
        self.lower = np.array([limits[n].lower if n in limits else -np.inf for n in names])
        self.upper = np.array([limits[n].upper if n in limits else np.inf for n in names])
        inertia = largest_joint_inertia(model)
        self.stiffness = STIFFNESS**2 * inertia
        self.damping = 2.0 * DAMPING * STIFFNESS * inertia
        self._any = bool((np.isfinite(self.lower) | np.isfinite(self.upper)).any())
        self.release()

    def release(self) -> None:
        """No joint is at a stop."""
        self.side = np.zeros(len(self.lower))      # -1 caught at the lower limit, 1 at the upper
        self.caught_at = np.zeros(len(self.lower))

    def near(self, position: np.ndarray, velocity: np.ndarray, period: float) -> bool:
        """Whether a joint is at a stop or may touch it within the period (s)."""
        if not self._any:
            return False
        room = np.minimum(position - self.lower, self.upper - position)
        return bool(np.count_nonzero(self.side) or np.count_nonzero(
            room < MARGIN + 2.0 * period * np.abs(velocity)))

    def catch(self, position: np.ndarray, velocity: np.ndarray,
              step: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Stiffness, damping and rest of the springs that act in the step (s) that begins here."""
        back = self.side * (position - self.caught_at) < 0.0
        self.side = np.where(back, 0.0, self.side)
        middle = position + 0.5 * step * velocity
        touches = np.where(middle > self.upper, 1.0, np.where(middle < self.lower, -1.0, 0.0))
        new = (self.side == 0.0) & (touches * velocity > 0.0)
        self.side = np.where(new, touches, self.side)
        self.caught_at = np.where(new, position, self.caught_at)
        held = self.side != 0.0
        pressed = self.side * velocity > 0.0
        return (np.where(held, self.stiffness, 0.0), np.where(pressed, self.damping, 0.0),
                np.where(held, self.caught_at, 0.0))
