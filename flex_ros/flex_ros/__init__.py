"""What every node stands on: process, executor, shutdown, parameters, diagnostics, CDR, bags.

Knows ROS and no robots. Import from its modules: this file stays empty, so that the start of a
process (`start.py`) loads nothing that takes time.
"""

__version__ = '0.1.0'
