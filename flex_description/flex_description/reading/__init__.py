"""Readers of URDF, xacro and overlay files, bounded in size, time and memory.

Every error names the file, the line and the element.
"""
