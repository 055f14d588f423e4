"""ROS packages that are not on every machine, as far as a launch file needs them: an entry in the
index, and programs that behave as the real ones towards our nodes."""
from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

OPEN: list[PartnerPackages] = []


class PartnerPackages:
    """A prefix of its own in front of AMENT_PREFIX_PATH, until `close`.

    programs: by package, the Python files of the partners by the names of their programs.
    The programs find `folder` in FLEX_PARTNER_FOLDER, for what they leave to the test.
    """

    def __init__(self, programs: dict[str, dict[str, Path]]) -> None:
        self._files = tempfile.TemporaryDirectory()
        self.folder = Path(self._files.name, 'left')
        self.folder.mkdir()
        prefix = Path(self._files.name, 'prefix')
        for package, ours in programs.items():
            index = prefix / 'share' / 'ament_index' / 'resource_index' / 'packages' / package
            index.parent.mkdir(parents=True, exist_ok=True)
            index.touch()
            (prefix / 'share' / package).mkdir(parents=True)
            lib = prefix / 'lib' / package
            lib.mkdir(parents=True)
            for name, source in ours.items():
                program = lib / name
                program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{source}" "$@"\n')
                program.chmod(0o755)
        self._before = os.environ.get('AMENT_PREFIX_PATH', '')
        os.environ['AMENT_PREFIX_PATH'] = os.pathsep.join(filter(None, (str(prefix),
                                                                       self._before)))
        os.environ['FLEX_PARTNER_FOLDER'] = str(self.folder)

        OPEN.append(self)

    @staticmethod
    def close_all() -> None:
        """At the end of a file of tests."""
        while OPEN:
            OPEN.pop().close()

    def close(self) -> None:
        os.environ['AMENT_PREFIX_PATH'] = self._before
        del os.environ['FLEX_PARTNER_FOLDER']
        self._files.cleanup()
