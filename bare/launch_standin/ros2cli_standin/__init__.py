"""A small `ros2` for machines without ROS 2, written on rclpy.

Commands, options and output are those of ros2cli of Jazzy. Deliberate differences:

- There is no daemon. Each command discovers the graph itself (`--spin-time`, longer while nodes
  still appear), and waits some seconds for a node, topic, service or action that is named.
- Waiting for a service or an action server is bounded, and what was not found is named together
  with what is there. `topic hz`, and `topic pub` for a subscription, wait until interrupted, as in
  the real one.
- The exit code is 1 where the real one prints a failure and returns 0: a refused parameter, a
  rejected or aborted goal.
- `param set` and `param load` send `1e-6` as a number if the node declares a double.

What is missing is refused in one line with exit code 2 (`commands.py` has the list).
"""
