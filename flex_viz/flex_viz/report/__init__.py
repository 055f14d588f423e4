"""Reports of recorded runs: table, plots, HTML page, animation."""
