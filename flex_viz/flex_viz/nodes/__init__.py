"""The ROS nodes around the library."""
