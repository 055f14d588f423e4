"""ROS nodes around the library: parameters in, library calls, messages out."""
