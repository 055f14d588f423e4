"""What hangs on each link: the sum of all that its joints carry, at the zero pose."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from flex_description.inertia import add, moved
from flex_description.robot import Inertia, Joint


def carried(joints: Sequence[Joint], inertias: Mapping[str, Inertia | None],
            ) -> dict[str, Inertia | None]:
    """For every joint: all that it carries, as one rigid body in the frame of its parent link.

    joints: in tree order. inertias: of every link, undeformed, in its own frame.
    """
    hanging: dict[str, list[Inertia]] = {joint.child: [] for joint in joints}
    result: dict[str, Inertia | None] = {}
    for joint in reversed(joints):
        own = inertias[joint.child]
        body = add([*([own] if own is not None else []), *hanging[joint.child]])
        result[joint.name] = None if body is None else moved(body, joint.origin)
        if body is not None and joint.parent in hanging:
            hanging[joint.parent].append(moved(body, joint.origin))
    return result


def about(body: Inertia, point: np.ndarray) -> np.ndarray:
    """Inertia tensor (3, 3) of the body about a point (3,) of the same frame."""
    arm = body.centre - point
    return body.tensor + body.mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
