"""Compiled inner loops of controllers; numba over flat arrays, no allocation."""
