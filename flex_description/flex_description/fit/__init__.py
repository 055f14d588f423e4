"""Beams fitted to what is known of a link: its rigid inertia, a stiffness, a natural frequency."""
