"""The documentation site: `make docs`. The pages stay beside the packages that they describe."""
from __future__ import annotations

project = 'flex'
author = copyright = 'flex maintainers'

extensions = ['myst_parser', 'sphinx.ext.autodoc', 'sphinx.ext.napoleon', 'sphinx.ext.viewcode',
              'sphinx_copybutton', 'sphinxcontrib.mermaid']
root_doc = 'doc/index'
include_patterns = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'doc/**', 'flex_*/doc/**',
                    'examples/README.md', 'bare/README.md']
exclude_patterns = ['.*', '.venv', 'build', 'install', 'log', 'results', 'test', '**/test']
source_suffix = {'.md': 'markdown'}

html_theme = 'furo'
html_title = 'flex'

myst_enable_extensions = ['dollarmath']
myst_heading_anchors = 4
myst_fence_as_directive = ['mermaid']

autodoc_member_order = 'bysource'
autodoc_typehints = 'signature'
autodoc_default_options = {'members': True, 'show-inheritance': False}
napoleon_numpy_docstring = True
copybutton_exclude = '.linenos, .gp'
