"""The notebook of the documentation runs, and prints and draws what is stored in it."""
import json
import re
import sys

import numpy as np
from documentation_pages import ROOT

sys.path.insert(0, str(ROOT / 'doc'))

import notebook  # noqa: E402

PATH = ROOT / 'doc' / 'tutorials' / 'plain_python.ipynb'
NUMBER = re.compile(r'[-+]?\d+\.?\d*(?:e[-+]?\d+)?')


def test_the_notebook_does_what_it_shows():
    book = notebook.read(PATH)
    cells = [cell for cell in book['cells'] if cell['cell_type'] == 'code']
    assert len(cells) >= 6
    pictures = 0
    for cell, outputs in zip(cells, notebook.run(PATH, book), strict=True):
        stored, found = notebook.text_of(cell['outputs']), notebook.text_of(outputs)
        assert NUMBER.sub('0', stored).split() == NUMBER.sub('0', found).split()
        # Digits may differ from machine to machine.
        np.testing.assert_allclose([float(one) for one in NUMBER.findall(found)],
                                   [float(one) for one in NUMBER.findall(stored)],
                                   rtol=0.02, atol=0.02)
        kinds = [[sorted(one.get('data', {})) for one in which]
                 for which in (cell['outputs'], outputs)]
        assert kinds[0] == kinds[1]
        pictures += kinds[1].count(['image/png'])
    assert pictures >= 2


def test_the_page_of_the_notebook_has_its_cells(tmp_path):
    text = notebook.markdown(notebook.read(PATH))
    assert text.count('```python') >= 6 and text.count('data:image/png') >= 2


def test_the_notebook_is_one():
    book = json.loads(PATH.read_text())
    assert book['nbformat'] == 4 and book['metadata']['kernelspec']['name'] == 'python3'
    assert all(cell['execution_count'] for cell in book['cells'] if cell['cell_type'] == 'code')
