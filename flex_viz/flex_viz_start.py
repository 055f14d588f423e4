"""Where the nodes of flex_viz begin; see flex_start."""
from flex_start import start


def state_publisher() -> None:
    start('flex_viz.nodes.state_publisher')


def markers() -> None:
    start('flex_viz.nodes.markers')


def viewer() -> None:
    start('flex_viz.nodes.viewer')


def modes() -> None:
    start('flex_viz.nodes.modes')
