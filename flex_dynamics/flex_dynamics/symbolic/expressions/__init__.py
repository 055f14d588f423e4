"""Expressions as a tape of operations, as sympy has them, and simplified."""
