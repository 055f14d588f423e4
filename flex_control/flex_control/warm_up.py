"""Compile the controllers' kernels once, so that no robot waits for them: `make setup` runs it,
while the packages are built: no controller can be found by its name yet."""
from __future__ import annotations

from flex_control.kernels.linearizing_efforts import SIGNATURE, linearizing_efforts
from flex_dynamics.kernels.base.handle import prepare


def warm_up() -> None:
    """Compile every kernel of this package into numba's cache."""
    prepare(linearizing_efforts, *SIGNATURE)


if __name__ == '__main__':
    warm_up()
