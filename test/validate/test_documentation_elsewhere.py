"""Python of the documentation that takes longer, or needs programs of `make validate`."""
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'documentation'))

from documentation_python import ELSEWHERE, run_page  # noqa: E402

PINOCCHIO = 'flex_description/doc/lump.md'


@pytest.mark.parametrize('page', [*ELSEWHERE, PINOCCHIO])
def test_python_of_a_page_runs_here(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with np.errstate(all='ignore'):
        run_page(page, elsewhere=True)
