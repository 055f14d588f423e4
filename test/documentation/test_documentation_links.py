"""Links of the documentation: files and anchors exist, addresses are well formed, every page is
in the site."""
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from documentation_pages import GENERATED, ROOT, anchors, lines, links, pages, target_of

EXTERNAL = re.compile(r'[a-z]+:')
# Written by `make docs`, so that their headings are not known before.
WRITTEN = {f'{GENERATED[0]}/{name}.md'
           for name in ('api', 'launch_arguments', 'messages', 'nodes')}


@pytest.mark.parametrize('page', pages())
def test_links_lead_somewhere(page):
    wrong = []
    for line, link in links(page):
        if EXTERNAL.match(link):
            continue
        file, anchor = target_of(page, link)
        name = file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else ''
        if name in WRITTEN:
            continue
        if not name or not file.exists():
            wrong.append(f'{page}:{line}: {link}: expected a file, found none')
        elif anchor and file.suffix == '.md' and anchor not in anchors(name):
            wrong.append(f'{page}:{line}: {link}: expected a heading of that anchor, found '
                         f'{sorted(anchors(name))}')
    assert wrong == []


def test_external_addresses_are_well_formed():
    wrong = []
    for page in pages():
        for line, link in links(page):
            if EXTERNAL.match(link):
                parts = urlsplit(link)
                if parts.scheme == 'mailto':
                    continue
                if parts.scheme not in ('http', 'https') or '.' not in parts.netloc \
                        and parts.hostname not in ('localhost', '127.0.0.1'):
                    wrong.append(f'{page}:{line}: {link}')
    assert wrong == []


def test_every_page_is_in_the_site():
    """Named, or matched by a pattern, in the table of contents of doc/index.md."""
    index = 'doc/index.md'
    entries, inside = set(), False
    for line in lines(index):
        if line.startswith('```'):
            inside = line.startswith('```{toctree}')
        elif inside and line and not line.startswith(':'):
            folder, _, name = line.rpartition('/')
            at = Path(ROOT, 'doc', folder).resolve()
            found = {path for suffix in ('.md', '.ipynb') for path in at.glob(name + suffix)}
            assert found or f'doc/{line}'.startswith(GENERATED[0]), f'{index}: no page {line}'
            entries |= {path.relative_to(ROOT).as_posix() for path in found}
    assert set(pages()) - {index} - entries == set()
