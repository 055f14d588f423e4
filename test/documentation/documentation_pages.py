"""The pages of the documentation, taken apart: code blocks, commands, links and anchors."""
from __future__ import annotations

import ast
import os
import re
import shlex
import textwrap
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATTERNS = ('*.md', 'doc/**/*.md', 'flex_*/doc/**/*.md', 'examples/*.md', 'bare/*.md')
GENERATED = ('doc/reference', 'doc/tutorials/plain_python.md')
FENCE = re.compile(r'( *)(```+|~~~+)\s*(\S*)')
SHELL = ('make', 'ros2', 'source', 'python3', 'python', 'pip', 'colcon', 'rosdep', 'sudo', 'git',
         'ssh', 'dask')


@dataclass(frozen=True)
class Block:
    """A block of code: its page (relative to the checkout), first line, language and text;
    fenced: the page says the language, else it is guessed."""

    page: str
    line: int
    language: str
    text: str
    fenced: bool = True


def pages() -> list[str]:
    """Every page that a person wrote, relative to the checkout."""
    found = {path.relative_to(ROOT).as_posix() for pattern in PATTERNS
             for path in ROOT.glob(pattern)}
    return sorted(one for one in found if not one.startswith(GENERATED))


@cache
def lines(page: str) -> tuple[str, ...]:
    return tuple((ROOT / page).read_text(encoding='utf-8').splitlines())


@cache
def blocks(page: str) -> tuple[Block, ...]:
    """Fenced and indented blocks of code. Those without a language get the one they look like."""
    found, text, at = [], lines(page), 0
    margin = 0          # of the list item that is open
    while at < len(text):
        line = text[at]
        if fence := FENCE.match(line):
            indent, mark, language = fence.groups()
            end = at + 1
            while end < len(text) and not text[end].strip().startswith(mark):
                end += 1
            body = textwrap.dedent('\n'.join(text[at + 1:end]))
            found.append(Block(page, at + 2, language or _guess(body), body, bool(language)))
            at = end + 1
            continue
        if item := re.match(r'(\d+\. |[-*] )', line):
            margin = len(item[1])
        elif line and not line.startswith(' '):
            margin = 0
        before = text[at - 1] if at else ''
        width = margin + 4
        if line.startswith(' ' * width) and (not before.strip() or before.startswith('#')):
            end = at
            while end < len(text) and (not text[end].strip() or text[end].startswith(' ' * width)):
                end += 1
            body = textwrap.dedent('\n'.join(text[at:end])).rstrip()
            found.append(Block(page, at + 1, _guess(body), body, fenced=False))
            at = end
            continue
        at += 1
    return tuple(found)


def _guess(body: str) -> str:
    words = body.split(maxsplit=1)
    mixed = re.search(r'^(from|import) ', body, re.MULTILINE)
    if words and words[0] in SHELL and not mixed:
        return 'bash'
    try:
        ast.parse(body)
    except SyntaxError:
        return 'text'
    return 'python' if re.search(r'^(from|import) ', body, re.MULTILINE) else 'text'


@cache
def prose(page: str) -> str:
    """The page without blocks of code; their lines are left empty."""
    kept = list(lines(page))
    for block in blocks(page):
        for at in range(block.line - 1, block.line - 1 + block.text.count('\n') + 1):
            kept[at] = ''
    return '\n'.join('' if FENCE.match(line) else line for line in kept)


@dataclass(frozen=True)
class Command:
    """One command of a page, split as a shell does; `line` of its block, 0 in the prose."""

    page: str
    line: int
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f'{self.page}:{self.line or ""} {shlex.join(self.words)}'


def commands(page: str) -> list[Command]:
    """Commands of the blocks, and of code in the prose that begins with one of SHELL."""
    found = []
    for block in blocks(page):
        if block.language in ('bash', 'sh', 'shell', 'console'):
            found += [Command(page, block.line, words) for words in _split(block.text)]
    for code in re.findall(r'`([^`]+)`', prose(page)):
        code = ' '.join(code.split())
        if code.split(' ', 1)[0] in SHELL and ' ' in code and page != 'CHANGELOG.md':
            found += [Command(page, 0, words) for words in _split(code)]
    return found


def _split(text: str) -> list[tuple[str, ...]]:
    """Simple commands, without comments, `&&` and variables set before them."""
    found = []
    for line in text.replace('\\\n', ' ').splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars='&|;')
        lexer.whitespace_split = True
        lexer.commenters = '#'
        words: list[str] = []
        for word in [*lexer, '&&']:
            if word and set(word) <= set('&|;'):
                while words and re.fullmatch(r'[A-Z_]+=.*', words[0]):
                    words.pop(0)
                if words:
                    found.append(tuple(words))
                words = []
            else:
                words.append(word)
    return found


# Links ----------------------------------------------------------------------------------------


def links(page: str) -> list[tuple[int, str]]:
    """(line, target) of every link and picture."""
    text = re.sub(r'`[^`\n]*`', lambda code: ' ' * len(code[0]), prose(page))
    return [(text.count('\n', 0, found.start()) + 1, ''.join(found[1].split()))
            for found in re.finditer(r'\]\(\s*([^()\s]+(?:\([^()]*\)[^()\s]*)?)\s*\)', text)]


@cache
def anchors(page: str) -> frozenset[str]:
    """Anchors of the headings, as GitHub and MyST make them."""
    found: dict[str, int] = {}
    named = set()
    for line in prose(page).splitlines():
        if heading := re.match(r'#{1,6} +(.*?)\s*#*$', line):
            text = re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', heading[1]).lower()
            slug = re.sub(r'[^\w\- ]', '', text).replace(' ', '-')
            count = found.get(slug, 0)
            found[slug] = count + 1
            named.add(f'{slug}-{count}' if count else slug)
    return frozenset(named)


def target_of(page: str, link: str) -> tuple[Path, str]:
    """The file that a relative link means, and the anchor in it."""
    path, _, anchor = link.partition('#')
    file = ROOT / page if not path else ROOT / page / '..' / path
    return Path(os.path.normpath(file)), anchor
