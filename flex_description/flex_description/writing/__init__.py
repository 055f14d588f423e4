"""Descriptions as text: the merged elements of a robot, and the URDF 1.0 that is published."""
