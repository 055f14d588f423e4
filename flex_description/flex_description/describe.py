"""Former place of the command `describe`, for scripts that run it with `python -m`."""
import sys
import warnings

from flex_description.commands.describe import main

__all__ = ['main']

warnings.warn('flex_description.describe has moved: use flex_description.commands.describe',
              FutureWarning, stacklevel=2)

if __name__ == '__main__':
    sys.exit(main())
