"""The ROS node around the library."""
