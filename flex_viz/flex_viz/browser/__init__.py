"""The viewer for web browsers: scene, panel, and the web server with its access rules."""
