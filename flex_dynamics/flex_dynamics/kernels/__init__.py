"""Numba kernels over flat arrays. One algorithm, one file; see layout.py for the arrays."""
