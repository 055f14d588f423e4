"""Reading of <flexible>: the beam, its mass and stiffness, and its mode shapes."""
