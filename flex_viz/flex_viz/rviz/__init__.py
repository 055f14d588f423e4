"""Messages for RViz, in numpy and as bytes: markers and transforms."""
