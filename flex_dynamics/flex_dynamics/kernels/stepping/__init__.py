"""Kernels of the fixed-step integrator."""
