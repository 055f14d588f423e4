"""Recordings in the format of rosbag2."""
