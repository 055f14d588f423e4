"""The documentation beside the running nodes: parameters, topics, services and actions that it
names exist and have the type that it says. `make test` looks at the rest of its commands."""
import re
import shlex
import sys
from pathlib import Path

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'documentation'))

from documentation_pages import Command, blocks, commands, lines, pages  # noqa: E402
from documentation_programs import (  # noqa: E402
    CONTROLLER_OF_A_PAGE,
    SPECIAL_PARAMETER,
    Programs,
)
from ros2cli_standin.parameter_values import flatten  # noqa: E402

COMMANDS = [command for page in pages() for command in commands(page)]


@pytest.fixture(scope='module')
def programs():
    return Programs(COMMANDS, ask_nodes=True)


def test_names_in_commands_are_those_of_the_nodes(programs):
    wrong = [f'{command}: {problem}' for command in COMMANDS
             if (problem := programs.problem(command))]
    assert not wrong, '\n'.join(wrong)


@pytest.mark.parametrize('text, expected', [
    ('ros2 run flex_dynamics simulator --ros-args -p robt:=x', 'parameter'),
    ('ros2 param set /control pd.bandwidht 1.0', 'parameter'),
    ('ros2 param set /controls pd.bandwidth 1.0', 'node'),
    ('ros2 param set /control pd.bandwidth abc', 'type'),
    ('ros2 topic echo /flex_stat', 'topic'),
    ("ros2 topic pub /joint_commands sensor_msgs/JointState '{nam: [a]}'", 'nam'),
    ("ros2 service call /simulator/attach_payloads flex_msgs/srv/AttachPayload '{}'", 'service')])
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
                      if name not in declared and not SPECIAL_PARAMETER.match(name)
                      and not name.startswith(CONTROLLER_OF_A_PAGE)]
    assert not wrong, '\n'.join(wrong)


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


def test_parameter_tables_name_parameters(programs):
    """First column of every table whose head says `parameter`."""
    everything = {name for interface in programs.interfaces
                  for name in programs.parameters(interface['name'])}
    suffixes = {name.rpartition('.')[2] for name in everything}
    wrong = []
    # The macro of ros2_control.md has parameters of its own.
    for page in set(pages()) - {'flex_bringup/doc/ros2_control.md'}:
        inside = False
        for at, line in enumerate(lines(page), 1):
            if not line.startswith('|'):
                inside = False
            elif re.match(r'\| *parameter *\|', line):
                inside = True
            elif inside:
                for name in re.findall(r'`([\w./<>]+)`', line.split('|')[1]):
                    plain = re.sub(r'<\w+>', 'joint1', name)
                    if plain not in everything | suffixes and not SPECIAL_PARAMETER.match(plain):
                        wrong.append(f'{page}:{at}: {name}')
    assert not wrong, '\n'.join(wrong)
