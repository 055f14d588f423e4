"""Commands of the documentation: programs, options and launch arguments are those that the
programs themselves print. `make validate` asks the nodes, too (test_documentation_nodes.py)."""
import ast
import re
import shlex
import xml.etree.ElementTree as ElementTree

import pytest
from documentation_pages import ROOT, Command, blocks, commands, lines, pages
from documentation_programs import Programs

COMMANDS = [command for page in pages() for command in commands(page)]


@pytest.fixture(scope='module')
def programs():
    return Programs(COMMANDS, ask_nodes=False)


def test_enough_is_found():
    """The pages are taken apart as they should be."""
    assert len(COMMANDS) > 150
    assert ('make', 'sim') in {one.words for one in COMMANDS}
    assert any(one.words[:3] == ('ros2', 'launch', 'flex_bringup') for one in COMMANDS)


def test_commands_of_the_pages_exist(programs):
    wrong = [f'{command}: {problem}' for command in COMMANDS
             if (problem := programs.problem(command))]
    assert not wrong, '\n'.join(wrong)


@pytest.mark.parametrize('text, expected', [
    ('make nothing', 'target'), ('ros2 launch flex_bringup sim.launch.py robt:=x', 'argument'),
    ('ros2 run flex_viz plott', 'program'), ('ros2 run flex_viz plot BAG --wrong', 'options'),
    ('ros2 topic ecco /flex_state', 'command'), ('ros2 topic echo --onse /a', 'onse'),
    ('python3 examples/99_nothing.py', 'script'), ('frobnicate', 'known program')])
def test_wrong_commands_are_found(programs, text, expected):
    """The check is one: mistakes in each part of a command are found."""
    assert expected in programs.problem(Command('page', 1, tuple(shlex.split(text))))


def test_xml_of_the_pages_is_well_formed():
    for block in (block for page in pages() for block in blocks(page)):
        if block.language == 'xml':
            text = re.sub(r'<\?xml.*?\?>', '', block.text)
            ElementTree.fromstring(
                f'<page xmlns:xacro="http://www.ros.org/wiki/xacro">{text}</page>')


TROUBLES = 'doc/how_to/troubleshooting.md'


def _said():
    """All texts in the sources, parts of f-strings joined by `…`."""
    for path in (path for folder in ROOT.glob('flex_*/flex_*') for path in folder.rglob('*.py')):
        for node in ast.walk(ast.parse(path.read_text(encoding='utf-8'))):
            if isinstance(node, ast.JoinedStr):
                yield '…'.join(part.value for part in node.values
                               if isinstance(part, ast.Constant))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.Constant) and isinstance(node.value, bytes):
                yield node.value.decode(errors='replace')


def test_messages_of_the_troubleshooting_page_are_said():
    """Each message in the first column is in the sources, from end to end of its fixed parts."""
    said = [*_said(), *((ROOT / name).read_text() for name in ('env.sh', 'bare/setup_checks.py'))]
    found, wrong = 0, []
    for at, line in enumerate(lines(TROUBLES), 1):
        for message in re.findall(r'`([^`]+)`', line.split('|')[1] if line[:1] == '|' else ''):
            if ' ' not in message:
                continue          # a name, not a message
            parts = [re.escape(part) for part in re.split(r'\s*…\s*', message) if part]
            pattern = re.compile('.*?'.join(parts).replace(r'\ ', r'\s+'), re.DOTALL)
            found += 1
            if not any(pattern.search(text) for text in said):
                wrong.append(f'{TROUBLES}:{at}: {message}')
    assert not wrong, '\n'.join(wrong)
    assert found > 20
