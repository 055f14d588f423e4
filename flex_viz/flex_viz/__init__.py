"""How a flexible robot looks: deflected frames, markers, the browser viewer, reports, modes."""

__version__ = '0.1.0'
