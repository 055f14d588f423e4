"""`python3 -m ros2cli_standin`: what `bin/ros2` runs."""
import sys

from ros2cli_standin.cli import run

sys.exit(run(sys.argv[1:]))
