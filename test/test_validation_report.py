"""The report of `make validate`: what fails comes first, and makes its test fail."""
from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

PATH = Path(__file__).parent / 'validate' / 'claims.py'


@pytest.fixture(scope='module')
def claims():
    spec = importlib.util.spec_from_file_location('validation_claims', PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def made(claims) -> list:
    sections = [claims.Section('Paper: one', 'A <text> of it.'), claims.Section('Paper: two'),
                claims.Section('Peer', skipped=['Peer is not installed'])]
    one, two = (claims.Claims(section) for section in sections[:2])
    one.value('(1)', 'length', [1.0, 2.0], [1.0, 2.05], 0.1, unit='m')
    two.bound('(2)', 'a | b', 2e-3, 1e-3, note='too far')
    two.value('(3)', 'not a number', 1.0, np.nan, 1e9)
    two.fact('(4)', 'stable', 'stable', 'stable', True)
    for collected in (one, two):
        figure = Figure()
        figure.subplots().plot([0, 1])
        collected.figure('a figure', figure)
    assert not one.failed and len(two.failed) == 2
    assert 'off by 0.002, allowed 0.001' in two.failed[0]
    return sections


def test_what_fails_comes_first(claims, tmp_path):
    claims.write(made(claims), tmp_path, 4)
    page, text = ((tmp_path / f'validation.{kind}').read_text() for kind in ('html', 'md'))
    assert text.startswith('# Validation\n\n2 of 4 claims hold; 1 tests skipped.')
    assert 'Only 3 of 4 sections ran.' in text
    for whole, head in ((text, '## Claims that fail'), (page, 'Claims that fail</h2>')):
        assert whole.index(head) < whole.index('not a number') < whole.index('Paper: one')
        assert whole.count('FAIL') == 4                 # first, and again in its section
        assert 'Skipped: Peer is not installed' in whole
    assert r'a \| b' in text and 'A &lt;text&gt; of it.' in page
    assert page.count('<tr class=bad>') == 4 and page.count('data:image/png') == 2
    assert sorted(path.name for path in tmp_path.glob('*.png')) == [
        'validation_paper_0.png', 'validation_paper_1.png']


def test_a_whole_report_without_faults_says_nothing_of_them(claims, tmp_path):
    claims.write(made(claims)[:1], tmp_path, 1)
    text = (tmp_path / 'validation.md').read_text()
    assert 'fail' not in text.split('## Paper')[0] and 'Only' not in text
