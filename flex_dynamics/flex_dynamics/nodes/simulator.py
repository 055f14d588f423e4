"""The simulator node as a process."""
from __future__ import annotations

from flex_dynamics.ros.model_parameters import MODEL_ERRORS
from flex_dynamics.ros.simulator import Simulator
from flex_ros.entry import run


def main() -> None:
    run(Simulator, MODEL_ERRORS)


if __name__ == '__main__':
    main()
