"""Parts of the shaping proxy: its parameters, the robot as it sees it, the controller below."""
