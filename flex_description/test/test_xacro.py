# Copyright 2026 flex maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.
"""xacro: expansion, arguments, includes, and errors that name the line of the xacro file."""
import pytest

from flex_description import RobotError, load_robot

ARM = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="length" default="1.5"/>
  <xacro:property name="mass" value="${1 + 1}"/>
  <xacro:include filename="links.xacro"/>
  <link name="base"/>
  <xacro:link name="link1" mass="${mass}"/>
  <joint name="joint1" type="continuous"><parent link="base"/><child link="link1"/></joint>
  <flexible link="link1">
    <beam length="$(arg length)">
      <section shape="circle" radius="0.02"/>
      <material name="steel"/>
    </beam>
  </flexible>
</robot>
"""
LINKS = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="link" params="name mass">
    <link name="${name}">
      <inertial>
        <mass value="${mass}"/>
        <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>
      </inertial>
    </link>
  </xacro:macro>
</robot>
"""


def load(folder, arm=ARM, links=LINKS, **arguments):
    (folder / 'links.xacro').write_text(links)
    path = folder / 'arm.urdf.xacro'
    path.write_text(arm)
    return load_robot(path, arguments=arguments)


def test_file_with_macro_and_include(tmp_path):
    arm = load(tmp_path)
    assert [link.name for link in arm.links] == ['base', 'link1']
    assert arm.links[1].flexible.length == 1.5
    assert 'mass 2 and' in arm.warnings[0]
    assert 'xacro:' not in arm.urdf.split('<robot', 1)[1].split('>', 1)[1]
    assert 'flex_note' not in arm.urdf
    assert load_robot(arm.urdf).links[1].flexible.length == 1.5


def test_argument(tmp_path):
    assert load(tmp_path, length='2.5').links[1].flexible.length == 2.5


def test_string(tmp_path, monkeypatch):
    load(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert load_robot(ARM).links[1].name == 'link1'


@pytest.mark.parametrize('file, old, new, line, words', [
    ('arm', 'radius="0.02"', 'radius="-1"', 10, '<section>: radius: expected a positive number'),
    ('links', 'ixx="0.1"', 'ixx="nan"', 6, '<link name="link1"> <inertia>: ixx: expected'),
    ('links', '</inertial>', '', 8, 'expected well-formed XML, found: mismatched tag'),
    ('arm', '<link name="base"/>', '<link name="base">', 14, 'expected well-formed XML'),
    ('links', '<robot ', '<!DOCTYPE a [<!ENTITY b "c">]>\n<robot ', 1, 'expected plain XML'),
])
def test_errors_name_file_and_line(tmp_path, file, old, new, line, words):
    texts = {'arm': ARM, 'links': LINKS}
    texts[file] = texts[file].replace(old, new, 1)
    name = {'arm': 'arm.urdf.xacro', 'links': 'links.xacro'}[file]
    with pytest.raises(RobotError) as caught:
        load(tmp_path, texts['arm'], texts['links'])
    assert str(caught.value).startswith(f'{tmp_path / name}:{line}: ')
    assert words in str(caught.value) and '\n' not in str(caught.value)


@pytest.mark.parametrize('old, new, words', [
    ('links.xacro', 'gone.xacro', 'gone.xacro'),
    ('${1 + 1}', '${1 / 0}', 'division by zero'),
    ('${1 + 1}', '${nothing}', "name 'nothing' is not defined"),
    ('${1 + 1}', '${__import__("os").system("true")}', 'xacro'),
    ('mass="${mass}"', '', 'mass'),
    ('$(arg length)', '$(find nothing_of_this_name)', 'xacro'),
])
def test_errors_of_xacro_itself(tmp_path, capfd, old, new, words):
    with pytest.raises(RobotError) as caught:
        load(tmp_path, ARM.replace(old, new, 1))
    message = str(caught.value)
    assert message.startswith(str(tmp_path)) and words in message and '\n' not in message
    assert capfd.readouterr() == ('', '')


def test_endless_macro(tmp_path):
    links = LINKS.replace('<link name', '<xacro:link name="a" mass="1"/><link name')
    with pytest.raises(RobotError, match='endless recursion'):
        load(tmp_path, links=links)


@pytest.mark.parametrize(('new', 'words'), [
    ('<xacro:property name="m" value="1" vlaue="2"/>', 'unknown attribute(s): vlaue'),
    ('<xacro:property name="len" value="1"/>', 'redefining global symbol: len'),
    ('<xacro:include filename="*.nothing"/>', 'matched no files'),
    ('<a b="${xacro.warning(1, 2)}"/>', '1 2')])
def test_warnings_of_xacro_are_warnings_of_the_robot(tmp_path, capfd, caplog, new, words):
    robot = load(tmp_path, ARM.replace('<link name="base"/>', f'<link name="base"/>{new}'))
    found = [warning for warning in robot.warnings if words in warning]
    assert found[0].startswith(f'{tmp_path}/arm.urdf.xacro:5: xacro: ')
    assert capfd.readouterr() == ('', '')
