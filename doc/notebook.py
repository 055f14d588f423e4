"""Runs a notebook without Jupyter, and turns it into a page of the site.

    python3 doc/notebook.py doc/tutorials/plain_python.ipynb        # writes the outputs into it
"""
from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any


def read(path: Path) -> dict[str, Any]:
    book: dict[str, Any] = json.loads(path.read_text(encoding='utf-8'))
    return book


def run(path: Path, book: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Run all cells of code in one namespace; outputs of each of them, as Jupyter stores them."""
    import matplotlib
    matplotlib.use('Agg')
    import matplotlib.pyplot as plt

    names: dict[str, Any] = {'__name__': '__main__'}
    found = []
    for at, cell in enumerate(cell for cell in book['cells'] if cell['cell_type'] == 'code'):
        tree = ast.parse(''.join(cell['source']))
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        where, printed, outputs = f'{path}, cell {at + 1}', io.StringIO(), []
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, where, 'exec'), names)
            value = None if last is None else eval(
                compile(ast.Expression(last.value), where, 'eval'), names)
        if printed.getvalue():
            outputs.append({'output_type': 'stream', 'name': 'stdout',
                            'text': printed.getvalue().splitlines(keepends=True)})
        for number in plt.get_fignums():
            data = io.BytesIO()
            plt.figure(number).savefig(data, format='png', dpi=80, bbox_inches='tight')
            outputs.append({'output_type': 'display_data', 'metadata': {}, 'data': {
                'image/png': base64.b64encode(data.getvalue()).decode()}})
        plt.close('all')
        if value is not None and not outputs:
            outputs.append({'output_type': 'execute_result', 'execution_count': at + 1,
                            'metadata': {}, 'data': {
                                'text/plain': repr(value).splitlines(keepends=True)}})
        found.append(outputs)
    return found


def text_of(outputs: list[dict[str, Any]]) -> str:
    """What a cell printed."""
    return ''.join(''.join(one.get('text', one.get('data', {}).get('text/plain', '')))
                   for one in outputs)


def markdown(book: dict[str, Any]) -> str:
    """The notebook as a page, pictures included."""
    parts = []
    for cell in book['cells']:
        source = ''.join(cell['source'])
        if cell['cell_type'] == 'markdown':
            parts.append(source)
            continue
        parts.append(f'```python\n{source}\n```')
        if text := text_of(cell['outputs']).rstrip():
            parts.append(f'```text\n{text}\n```')
        parts += [f'![what the cell draws](data:image/png;base64,{one["data"]["image/png"]})'
                  for one in cell['outputs'] if 'image/png' in one.get('data', {})]
    return '\n\n'.join(parts) + '\n'


def main() -> int:
    for name in sys.argv[1:]:
        path = Path(name)
        book = read(path)
        cells = [cell for cell in book['cells'] if cell['cell_type'] == 'code']
        for at, (cell, outputs) in enumerate(zip(cells, run(path, book), strict=True)):
            cell.update(outputs=outputs, execution_count=at + 1)
        path.write_text(json.dumps(book, indent=1, ensure_ascii=False) + '\n', encoding='utf-8')
        print(f'{path}: {len(cells)} cells')
    return 0


if __name__ == '__main__':
    sys.exit(main())
