"""Loops, wheels and supports of a model: errors, closing, speeds they allow, and reactions."""
