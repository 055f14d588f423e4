"""Which coordinates of a model are elastic amplitudes, and of which link."""
from __future__ import annotations

import numpy as np
import numpy.typing as npt

from flex_dynamics import Model
from flex_dynamics.checks import LARGEST_POSITION

DEFORMATIONS = ('bend_y', 'bend_z', 'twist')      # as in coordinate names: link2/bend_y/1


def flexible_links(model: Model) -> list[str]:
    """Names of the flexible links, in tree order."""
    return [link.name for link in model.robot.links if link.flexible is not None]


def amplitudes(model: Model, link: str | None = None) -> np.ndarray:
    """Indices in q of the elastic amplitudes of one link, or of all: bend_y, bend_z, twist."""
    wanted = {link} if link is not None else set(flexible_links(model))
    found = []
    for at, name in enumerate(model.names):
        owner, *rest = name.rsplit('/', 2)       # link2/bend_y/1; a motor is joint2/motor
        if (at >= model.n_joints and owner in wanted and len(rest) == 2
                and rest[0] in DEFORMATIONS):
            found.append(at)
    return np.array(found, dtype=int)


def scaled(model: Model, q: npt.ArrayLike, exaggeration: float) -> np.ndarray:
    """q (n,) with its elastic amplitudes multiplied; joints and motors are unchanged.

    Amplitudes are limited to the largest that a Model accepts: a state may contain amplitudes of
    that size, and exaggerating them must not stop the node that draws.
    """
    q = np.array(q, dtype=float)
    if exaggeration != 1.0:
        elastic = amplitudes(model)
        q[elastic] = np.clip(exaggeration * q[elastic], -LARGEST_POSITION, LARGEST_POSITION)
    return q


def tip_frame(model: Model) -> str:
    """The default frame for tip path and deflection: the last link of the longest chain, or the
    tip of its beam."""
    depth = {model.robot.links[0].name: 0}
    for joint in model.robot.joints:
        depth[joint.child] = depth[joint.parent] + 1
    deepest = max(depth, key=lambda name: depth[name])
    return f'{deepest}/tip' if deepest in flexible_links(model) else deepest
