"""xacro within limits: expressions are evaluated without eval(), files read from known folders."""
