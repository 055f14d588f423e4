"""Where the nodes of flex_control begin; see flex_start."""
from flex_start import start


def control() -> None:
    start('flex_control.nodes.control')


def controlled_simulator() -> None:
    start('flex_control.nodes.controlled_simulator')
