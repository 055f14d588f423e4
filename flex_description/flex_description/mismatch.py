"""Where <inertial> and the beam disagree, a warning says both figures; the beam wins."""
from __future__ import annotations

import numpy as np

from flex_description.flexible import FlexibleParts
from flex_description.robot import Inertia

TOLERANCE = 0.01


def mismatch(part: FlexibleParts, written: Inertia | None, built: Inertia) -> list[str]:
    """At most one warning about a link: `written` from <inertial>, `built` from beam and lumped
    masses, both in the link's frame. Lengths are compared to the beam's, tensors to their size."""
    if written is None:
        return []
    found = []
    if abs(written.mass - built.mass) > TOLERANCE * built.mass:
        found.append(f'mass {written.mass:.6g} and {built.mass:.6g} kg')
    if np.linalg.norm(written.centre - built.centre) > TOLERANCE * part.beam.length:
        found.append(f'centre {_row(written.centre)} and {_row(built.centre)} m')
    scale = np.linalg.norm(built.tensor)
    if np.linalg.norm(written.tensor - built.tensor) > TOLERANCE * scale:
        found.append('inertia (xx yy zz xy xz yz) '
                     f'{_six(written.tensor)} and {_six(built.tensor)} kg m2')
    if not found:
        return []
    where = f'{part.element.source}:{part.element.line}'
    return [f'{where}: {part.element.label}: <inertial> and the beam with its masses disagree: '
            f'{"; ".join(found)}; the beam is used']


def _row(values: np.ndarray) -> str:
    return '(' + ' '.join(f'{value:.4g}' for value in values + 0.0) + ')'


def _six(tensor: np.ndarray) -> str:
    return _row(tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
