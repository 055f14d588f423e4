"""Printed code in C, Python and LaTeX."""
