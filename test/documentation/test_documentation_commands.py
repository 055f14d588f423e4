"""Commands of the documentation: programs, options, launch arguments, parameters, topics,
services, actions and their types are those of the running programs."""
import ast
import re
import shlex
import xml.etree.ElementTree as ElementTree

import pytest
import yaml
from documentation_pages import ROOT, Command, blocks, commands, lines, pages
from documentation_programs import CONTROLLER_OF_A_PAGE, Programs
from ros2cli_standin.parameter_values import flatten

COMMANDS = [command for page in pages() for command in commands(page)]


@pytest.fixture(scope='module')
def programs():
    return Programs(COMMANDS)


def test_enough_is_found():
    """The pages are taken apart as they should be."""
    assert len(COMMANDS) > 150
    assert ('make', 'sim') in {one.words for one in COMMANDS}
    assert any(one.words[:3] == ('ros2', 'launch', 'flex_bringup') for one in COMMANDS)


def test_commands_of_the_pages_exist(programs):
    wrong = [f'{command}: {problem}' for command in COMMANDS
             if (problem := programs.problem(command))]
    assert wrong == []


@pytest.mark.parametrize('text, expected', [
    ('make nothing', 'target'), ('ros2 launch flex_bringup sim.launch.py robt:=x', 'argument'),
    ('ros2 run flex_viz plott', 'program'), ('ros2 run flex_viz plot BAG --wrong', 'options'),
    ('ros2 run flex_dynamics simulator --ros-args -p robt:=x', 'parameter'),
    ('ros2 param set /control pd.bandwidht 1.0', 'parameter'),
    ('ros2 param set /controls pd.bandwidth 1.0', 'node'),
    ('ros2 param set /control pd.bandwidth abc', 'type'),
    ('ros2 topic echo /flex_stat', 'topic'),
    ("ros2 topic pub /joint_commands sensor_msgs/JointState '{nam: [a]}'", 'nam'),
    ("ros2 service call /simulator/attach_payloads flex_msgs/srv/AttachPayload '{}'", 'service'),
    ('python3 examples/99_nothing.py', 'script'), ('frobnicate', 'known program')])
def test_wrong_commands_are_found(programs, text, expected):
    """The check is one: mistakes in each part of a command are found."""
    assert expected in programs.problem(Command('page', 1, tuple(shlex.split(text))))


def test_parameter_files_of_the_pages_exist(programs):
    """YAML is read; names below `ros__parameters` are parameters of that node."""
    wrong = []
    for block in (block for page in pages() for block in blocks(page)):
        if block.language != 'yaml':
            continue
        for node, content in _documents(block.text):
            if not isinstance(content, dict) or 'ros__parameters' not in content:
                continue
            declared = programs.parameters(node.rpartition('/')[2])
            wrong += [f'{block.page}:{block.line}: {node}: {name}'
                      for name in flatten(content['ros__parameters'])
                      if name not in declared and not name.startswith(CONTROLLER_OF_A_PAGE)]
    assert wrong == []


def _documents(text):
    """(key, value) of a mapping; a list of examples may have the same key in every line."""
    try:
        parsed = [yaml.safe_load(text)]
        lines_of = text.splitlines()
        keys = [line.split(':')[0] for line in lines_of if re.match(r'\w', line)]
        if len(set(keys)) < len(keys):
            parsed = [yaml.safe_load(line) for line in lines_of if line.strip()]
    except yaml.YAMLError as error:
        raise AssertionError(f'{error}: {text}') from error
    return [pair for one in parsed if isinstance(one, dict) for pair in one.items()]


def test_xml_of_the_pages_is_well_formed():
    for block in (block for page in pages() for block in blocks(page)):
        if block.language == 'xml':
            text = re.sub(r'<\?xml.*?\?>', '', block.text)
            ElementTree.fromstring(
                f'<page xmlns:xacro="http://www.ros.org/wiki/xacro">{text}</page>')


def test_parameter_tables_name_parameters(programs):
    """First column of every table whose head says `parameter`."""
    everything = {name for interface in programs.interfaces
                  for name in programs.parameters(interface['name'])}
    suffixes = {name.rpartition('.')[2] for name in everything}
    wrong = []
    for page in pages():
        inside = False
        for at, line in enumerate(lines(page), 1):
            if not line.startswith('|'):
                inside = False
            elif re.match(r'\| *parameter *\|', line):
                inside = True
            elif inside:
                for name in re.findall(r'`([\w./<>]+)`', line.split('|')[1]):
                    plain = re.sub(r'<\w+>', 'joint1', name)
                    if plain not in everything and plain not in suffixes:
                        wrong.append(f'{page}:{at}: {name}')
    assert wrong == []


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
    assert wrong == [] and found > 20
