"""Constraints of a tree: their rows, and forces that keep them, by the recursion's factors."""
