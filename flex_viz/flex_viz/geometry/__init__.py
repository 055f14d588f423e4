"""The bent robot as points, surfaces, frames and colours: no ROS, no display library."""
