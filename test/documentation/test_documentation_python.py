"""Python of the documentation runs: the blocks of a page one after the other, in an empty folder.

Names that a page takes as given (a model, a state) come from CONTEXT. Blocks that need another
program, a cluster or minutes are in ELSEWHERE, with the reason; their syntax and their imports
from flex are checked here all the same.
"""
import ast
import importlib

import numpy as np
import pytest
from documentation_pages import ROOT, blocks, pages
from documentation_python import ELSEWHERE, PAGES, reason, run_page


@pytest.mark.parametrize('page', [page for page in PAGES if page not in ELSEWHERE])
def test_python_of_a_page_runs(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with np.errstate(all='ignore'):
        run_page(page)


def test_what_does_not_run_here_is_known():
    assert [page for page in ELSEWHERE if page not in PAGES] == []
    assert all(reason(block) for page in PAGES if page in ELSEWHERE for block in blocks(page)
               if block.language == 'python')


@pytest.mark.parametrize('page', pages())
def test_names_from_flex_exist(page):
    for block in blocks(page):
        if block.language != 'python':
            continue
        for node in ast.walk(ast.parse(block.text)):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith('flex'):
                if (ROOT / node.module.split('.')[0]).is_dir():
                    module = importlib.import_module(node.module)
                    missing = [one.name for one in node.names if not hasattr(module, one.name)]
                    assert missing == [], f'{page}:{block.line}'
