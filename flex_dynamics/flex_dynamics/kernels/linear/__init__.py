"""Kernels of the order 'linear'."""
