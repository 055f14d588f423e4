"""CDR, the bytes in which the middleware of ROS 2 sends messages."""
