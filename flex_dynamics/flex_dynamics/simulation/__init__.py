"""Motion over time: the fixed-step integrator, simulate() and sensors."""
