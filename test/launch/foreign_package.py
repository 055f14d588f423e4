"""A package of someone else, installed for the length of a test as pip would install it."""
from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path


class ForeignPackage:
    """A module `name` in a folder of its own, with controllers {name: class}.

    The nodes of a launch find it by PYTHONPATH, the launch file by this process's own path.
    """

    def __init__(self, name: str, source: str, controllers: dict[str, str]) -> None:
        self._temporary = tempfile.TemporaryDirectory()
        self.folder = Path(self._temporary.name)
        self._path = os.environ.get('PYTHONPATH')
        information = self.folder / f'{name}-0.1.0.dist-info'
        information.mkdir()
        (self.folder / f'{name}.py').write_text(source)
        (information / 'METADATA').write_text(
            f'Metadata-Version: 2.1\nName: {name}\nVersion: 0.1.0\n')
        (information / 'entry_points.txt').write_text('\n'.join([
            '[flex_control.controllers]',
            *(f'{key} = {name}:{kind}' for key, kind in controllers.items()), '']))
        sys.path.append(str(self.folder))
        os.environ['PYTHONPATH'] = os.pathsep.join(filter(None, (self._path, str(self.folder))))

    def write(self, name: str, text: str) -> str:
        """A file beside it; returns its path."""
        (self.folder / name).write_text(text)
        return str(self.folder / name)

    def remove(self) -> None:
        sys.path.remove(str(self.folder))
        if self._path is None:
            del os.environ['PYTHONPATH']
        else:
            os.environ['PYTHONPATH'] = self._path
        self._temporary.cleanup()
