"""How it is put together: launch files, parameters, the demo."""

__version__ = '0.1.0'
