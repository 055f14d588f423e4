"""Mutations of what is not XML: texts and bytes of files, overlays and tables of mode shapes."""
from __future__ import annotations

import copy
import io
import random
import zipfile

import numpy as np
from descriptions_mutators import ATTRIBUTES, NUMBERS, TAGS, WORDS, misspell, value


def mutate_text(rng: random.Random, text: str) -> str:
    """Cut, repeat, insert or replace a few characters."""
    start = rng.randrange(len(text) + 1)
    end = min(len(text), start + rng.choice([0, 1, 5, 40]))
    inner = rng.choice(['', text[start:end] * 2, rng.choice(NUMBERS), rng.choice(WORDS), '<', '>',
                        '<!DOCTYPE a [<!ENTITY b "c">]>', '<![CDATA[', '-->', '<?xml?>', '&#0;',
                        '&b;', '\n', '\r', '*a', '&a', '!!python/object', '"', "'", ']', '}', ': ',
                        '[' * 300, '- ', '\ufeff', '\ud800', chr(rng.randrange(32, 0x3000))])
    return text[:start] + inner + text[end:]


def mutate_bytes(rng: random.Random, data: bytes) -> bytes:
    """Damage of a file, or another encoding of it."""
    kind = rng.randrange(6)
    if kind == 0:
        text = data.decode('utf-8', 'replace')
        return text.encode(rng.choice(['utf-16', 'utf-16-le', 'utf-16-be', 'utf-32', 'utf-32-le',
                                       'utf-7', 'latin-1', 'cp1252']), 'replace')
    at = rng.randrange(len(data) + 1)
    if kind == 1:
        return data[:at]
    noise = bytes(rng.randrange(256) for _ in range(rng.choice([1, 1, 4, 16])))
    return data[:at] + noise + data[at + (len(noise) if kind < 5 else 0):]


def mutate_yaml(rng: random.Random, tree: object) -> tuple[object, str]:
    """Spoil nested mappings and lists in one place; returns the new tree and what was done."""
    tree = copy.deepcopy(tree)
    places: list[tuple[object, object]] = []
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            places += [(node, key) for key in node]
            stack += node.values()
        elif isinstance(node, list):
            places += [(node, index) for index in range(len(node))]
            stack += node
    if not places:
        return rng.choice([None, [], 'x', 1, {}]), 'replace all'
    holder, key = rng.choice(places)
    old = holder[key]  # type: ignore[index]
    kind = rng.randrange(6)
    if kind == 0:
        del holder[key]  # type: ignore[attr-defined]
        return tree, f'drop {key}'
    if kind == 1 and isinstance(holder, dict):
        new = rng.choice([misspell(rng, str(key)), rng.choice(ATTRIBUTES), rng.choice(TAGS), 3])
        holder[new] = holder.pop(key)
        return tree, f'rename {key} to {new}'
    if kind == 2:
        new_value: object = rng.choice(
            [True, False, None, [], {}, [[]], [True], {'a': {'b': 1}}, [old, old], {str(key): old},
             10**30, float('nan'), float('inf'), -1, '1:2:3', '0o17', '2020-01-01', b'x'])
    else:
        text = value(rng, str(old) if not isinstance(old, (dict, list)) else '1')
        words = text.split()
        new_value = words if len(words) == 3 and rng.random() < 0.5 else text
    holder[key] = new_value  # type: ignore[index]
    return tree, f'{key} = {str(new_value)[:60]!r}'


def mutate_table(rng: random.Random, columns: dict[str, np.ndarray]) -> tuple[dict, str]:
    """Spoil the columns of a table."""
    columns = dict(columns)
    name = rng.choice(list(columns))
    old = columns[name]
    at = rng.randrange(old.size) if old.size else 0
    kind = rng.randrange(12)
    if kind == 0:
        del columns[name]
        return columns, f'drop {name}'
    if kind == 1:
        columns[rng.choice([misspell(rng, name), 'v', 'w1', 'twist', 'v' * 300, 'v１'])] = old
        return columns, f'another {name}'
    if kind == 2:
        rows = rng.choice([0, 1, 2, 5, 11, 12])
        return {key: values[:rows] for key, values in columns.items()}, f'{rows} rows'
    if kind == 3:
        columns[name] = rng.choice([old[::-1], old[:-1], old.reshape(1, -1), old * 0, old[:0]])
    elif kind == 4:
        columns[name] = old.astype(rng.choice(['f4', 'i4', 'u1', '?', 'c16', 'S8', 'U8', 'O',
                                               '>f8', 'f2', 'M8[s]', 'm8[s]']))
    elif kind == 5:
        columns[name] = old * 10.0**rng.randint(-320, 300)
    else:
        new = np.array(old, float)
        if new.size:
            new[at] = rng.choice([np.nan, np.inf, -1.0, 0.0, 1e8, 1e-12, 1e30, 1e200, 1e308, -1e30,
                                  new[at] * 1.01, new[at] + 1e-3])
        columns[name] = new
    return columns, f'{name} spoilt'


def table_bytes(rng: random.Random, columns: dict[str, np.ndarray], suffix: str) -> bytes:
    """A table as the bytes of a CSV or NPZ file; now and then one that claims gigabytes."""
    if suffix == '.csv':
        size = max((values.size for values in columns.values()), default=0)
        rows = [','.join(str(name) for name in columns)]
        for row in range(size):
            rows.append(','.join(str(values.ravel()[row]) if row < values.size else ''
                                 for values in columns.values()))
        return '\n'.join(rows).encode('utf-8', 'replace')
    if rng.random() < 0.1:
        return _bomb(rng)
    out = io.BytesIO()
    np.savez(out, **{str(name): values for name, values in columns.items() if name != 'file'})
    return out.getvalue()


def _bomb(rng: random.Random) -> bytes:
    """An archive that unpacks to far more than it holds, or says so."""
    out = io.BytesIO()
    header = io.BytesIO()
    shape = rng.choice([(10**12,), (10**9,), (2**62, 4), (-5,), (3, 0), ()])
    np.lib.format.write_array_header_1_0(header, {'descr': '<f8', 'fortran_order': False,
                                                  'shape': shape})
    with zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as archive:
        archive.writestr('x.npy', header.getvalue() + bytes(rng.choice([0, 8, 80, 10**6])))
        if rng.random() < 0.5:
            archive.writestr('v.npy', bytes(70 * 2**20) if rng.random() < 0.05 else b'')
    return out.getvalue()
