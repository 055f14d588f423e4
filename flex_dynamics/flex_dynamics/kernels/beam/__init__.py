"""Kernels of one flexible link: deformation fields, sections, inertia, Coriolis terms."""
