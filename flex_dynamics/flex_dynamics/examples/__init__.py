"""Short examples that run: python -m flex_dynamics.examples.free_swing, and so on."""
