"""How a flexible robot looks: deflected frames, plots, the browser viewer."""

__version__ = '0.1.0'
