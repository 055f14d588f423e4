"""Inertia that each joint carries: all links beyond it as one rigid body, at the zero pose."""
from __future__ import annotations

from collections.abc import Mapping, Sequence

from flex_description.rigid_inertia import combined, transformed
from flex_description.robot import Inertia, Joint


def carried_inertia(joints: Sequence[Joint], inertias: Mapping[str, Inertia | None],
                    ) -> dict[str, Inertia | None]:
    """For every joint: all that it carries, as one rigid body in the frame of its parent link.

    joints: in tree order. inertias: of every link, undeformed, in its own frame. The value is
    None where nothing that is carried has mass.
    """
    on_link: dict[str, list[Inertia]] = {joint.child: [] for joint in joints}
    result: dict[str, Inertia | None] = {}
    for joint in reversed(joints):
        own = inertias[joint.child]
        body = combined([*([own] if own is not None else []), *on_link[joint.child]])
        result[joint.name] = None if body is None else transformed(body, joint.origin)
        if body is not None and joint.parent in on_link:
            on_link[joint.parent].append(transformed(body, joint.origin))
    return result
