"""Kernels over the whole robot: kinematics, forward and inverse dynamics, mass matrix."""
