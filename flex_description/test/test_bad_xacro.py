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
"""Xacros that would never end, fill the memory, run code or read foreign files: one line each."""
import time

import pytest

from flex_description import RobotError, load_robot
from flex_description.reading import limits

ROBOT = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="a" default="2"/>
  {}
  <link name="{}"/>
</robot>
"""


def load(folder, before='', name='base', **files):
    for file, text in files.items():
        (folder / file.replace('__', '.')).write_text(text)
    path = folder / 'robot.xacro'
    path.write_text(ROBOT.format(before, name.replace('<', '&lt;').replace('"', '&quot;')))
    return load_robot(path)


def refusal(folder, *arguments, line=None, **files):
    """The message; that it comes soon and names the file and, if asked, the line."""
    start = time.process_time()
    with pytest.raises(RobotError) as caught:
        load(folder, *arguments, **files)
    assert time.process_time() - start < 20.0
    message = str(caught.value)
    assert message.startswith(f'{folder}/robot.xacro:' + (f'{line}: ' if line else ''))
    assert message.isprintable() and len(message) < 1200 + len(str(folder))
    return message


@pytest.mark.parametrize(('expression', 'words'), [
    ('9**9**9', 'at most 4096 bits'), ('1 << 10**9', 'at most 4096 bits'),
    ('2**4000 * 2**4000', 'at most 4096 bits'),
    ('range(10**10)', 'at most 10000 numbers'), ('list(range(10**30))', 'at most 10000'),
    ("'a' * 10**10", 'at most 200000'), ('10**10 * [0]', 'at most 200000'),
    ('[i for i in range(9999) for j in range(9999)]', 'at most 10000 items'),
    ('[[[[0] * 100] * 100] * 100]', 'at most 200000'),
    ('[i for i in range(9999) if [j for j in range(9999)]]', '1000000 operations'),
    ("'%999999999d' % 1", 'at most 200 columns'), ("'%*d' % (10**9, 1)", 'width'),
    ("'%(a)s' * 9000 % dict(a='b' * 9000)", 'at most 200000'),
    ("'a'.zfill(10**10)", 'at most 200000'), ("'aaa'.replace('a', 'b' * 99999)", 'at most 200000'),
    ("('b' * 9999).join(['a'] * 9999)", 'at most 200000'),
    ('round(5, -10**9)', 'at most 400 digits'), ('factorial(10**7)', 'at most 300'),
    ('math.prod([10**300] * 9999)', 'at most 4096 bits'),
    ('(' * 20_000, 'at most 10000 characters'), ('-' * 9_000 + '1', 'nested so deep'),
    ('1' + '+1' * 4_000, 'nested so deep'), ('[' * 500, 'invalid syntax')])
def test_expression_that_costs_too_much(tmp_path, expression, words):
    message = refusal(tmp_path, '', f'${{{expression}}}', line=4)
    assert words in message and 'when evaluating expression' in message


@pytest.mark.parametrize('expression', [
    # these three run code in xacro itself
    '[x.__class__.__base__.__subclasses__() for x in [1]]', '(lambda: ().__class__)()',
    '[c for c in [type(1)] if c.mro]', "'{0.__class__}'.format(1)", '__import__("os")', 'vars()',
    'open("/etc/passwd")', 'str.format', '(1).real', 'math.__dict__', 'xacro.load_yaml.call',
    "getattr(1, 'real')", 'python.vars()', '[].append(1)'])
def test_expression_that_leads_out_of_the_sandbox(tmp_path, expression):
    assert 'xacro: ' in refusal(tmp_path, '', f'${{{expression}}}', line=4)


def test_eval_is_no_code_either(tmp_path):
    target = tmp_path / 'written'
    spoilt = f"$(eval open('{target}', 'w'${{'\\x29'}})"
    assert "name 'open' is not defined" in refusal(tmp_path, '', spoilt)
    assert not target.exists()
    assert load(tmp_path, '', '$(eval 1 + a)').links[0].name == '3'


@pytest.mark.parametrize(('expression', 'name'), [
    ("'a' + str(1 + 2 * 3)", 'a7'), ('2**3 // 3', '2'), ('1 if 2 > 1 else 0', '1'),
    ("dict(a=1)['a']", '1'), ("'x_%s_%02d' % ('a', 3)", 'x_a_03'), ('max(1, 2.5)', '2.5'),
    ("'-'.join([str(i) for i in range(3) if i != 1])", '0-2'), ("'ab'.upper()[0]", 'A'),
    ('sorted([3, 1, 2], key=lambda x: -x)[0]', '3'), ('radians(180) == pi', 'True'),
    ('math.floor(2.7)', '2'), ('python.sum([1, 2, 3])', '6'), ("'a b'.split()[1]", 'b'),
    ('not (1 and 0) or 5', 'True'), ('python.isinstance(1, int)', 'True'),
    ('abs_filename("/a")', '/a'),
    ("xacro.tokenize('a,b c')[2]", 'c'), ('[a + b for a, b in [(1, 2)]][0]', '3'),
    ('list(map(int, "12"))[1]', '2'), ('len((1, 2))', '2'), ('[1, 2, 3][-1]', '3'),
    ('[1, 2, 3][1:] == [2, 3]', 'True'), ('1 in [1]', 'True'), ('round(2.567, 1)', '2.6')])
def test_expressions_of_everyday(tmp_path, expression, name):
    assert load(tmp_path, '', f'${{{expression}}}').links[0].name == name


TWICE = """<xacro:macro name="m" params="n">
  <xacro:if value="${n > 0}"><xacro:m n="${n - 1}"/><xacro:m n="${n - 1}"/></xacro:if>
</xacro:macro><xacro:m n="40"/>"""
DOUBLED = '<xacro:property name="p0" value="aaaaaaaaaa"/>' + ''.join(
    f'<xacro:property name="p{k + 1}" value="${{p{k}}}${{p{k}}}"/>' for k in range(40))


@pytest.mark.parametrize(('before', 'words'), [
    (TWICE, 'at most 5000 elements'), (DOUBLED + '<a b="${p40}"/>', 'characters'),
    ('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>', 'endless recursion'),
    ('<xacro:property name="p" value="${p}"/><a b="${p}"/>', 'circular'),
    (f'<xacro:macro name="m" params="a:=x{"x" * 60}\'"/>', ''),
    ('<xacro:include filename="robot.xacro"/>', 'includes itself'),
    ('<!-- c -->\n' * 300_000 + '<xacro:property name="p" value="1"/>', ''),
    (f'<a b="{"x" * 200_000}${{1}}"/>', 'at most 100000 characters'),
    ('<a>' * 150 + '</a>' * 150, '100 deep')])
def test_document_that_costs_too_much(tmp_path, monkeypatch, before, words):
    monkeypatch.setattr(limits, 'MOST_ELEMENTS', 5_000)  # the whole of it takes seconds
    if words:
        assert words in refusal(tmp_path, before)
    else:   # takes xacro itself minutes, or for ever
        start = time.process_time()
        assert load(tmp_path, before).links[0].name == 'base'
        assert time.process_time() - start < 10.0


ALIASES = 'a: &a [x, x, x, x, x, x, x, x, x, x]\n' + ''.join(
    f'{name}: &{name} [{", ".join([f"*{before}"] * 10)}]\n'
    for before, name in zip('abcdefgh', 'bcdefghi'))
MERGES = 'a: &a {x: 1}\n' + ''.join(
    f'{name}: &{name} {{<<: [{", ".join([f"*{before}"] * 10)}]}}\n'
    for before, name in zip('abcdefgh', 'bcdefghi'))


@pytest.mark.parametrize(('text', 'words'), [
    (ALIASES, 'at most 200000 values'), (MERGES, 'at most 200000 values'),
    ('a: &a [*a]', 'contains itself'), ('[' * 20_000, 'at most 100 levels'),
    ('- ' * 20_000 + 'a', 'at most 100 levels'), ('a: ' + '1:' * 60_000 + '1', '100 characters'),
    ('a: !!python/object:os.system x', 'could not determine a constructor'),
    ('a: b\n' * 100_000, 'more than 0.25 MB'), ('a: "\\0', 'xacro')])
def test_yaml_that_costs_too_much(tmp_path, text, words):
    assert words in refusal(tmp_path, '', "${xacro.load_yaml('a.yaml')}", a__yaml=text)


def test_yaml_with_units_and_aliases(tmp_path):
    text = 'a: !degrees 180\nb: &b {c: [1, {d: x}]}\ne: *b\n'
    name = "${load_yaml('a.yaml')['a'] == pi}_${xacro.load_yaml('a.yaml').e.c[1].d}"
    assert load(tmp_path, '', name, a__yaml=text).links[0].name == 'True_x'


@pytest.mark.parametrize('name', ['/etc/hosts', '../secret.yaml', '/dev/zero',
                                  '/proc/self/environ'])
@pytest.mark.parametrize('way', ['load_yaml', 'include'])
def test_files_outside_the_folder_are_refused(tmp_path, way, name):
    (tmp_path / 'secret.yaml').write_text('a: 1')
    folder = tmp_path / 'robot'
    folder.mkdir()
    arguments = (f'<xacro:include filename="{name}"/>', 'base') if way == 'include' else (
        '', f"${{xacro.load_yaml('{name}')}}")
    message = refusal(folder, *arguments, line=3 if way == 'include' else 4)
    assert f'{way}: expected a file in the folder of the description' in message
    assert name in message


def test_files_of_the_ros_package_around_it_are_read(tmp_path):
    (tmp_path / 'package.xml').write_text('<package/>')
    (tmp_path / 'config').mkdir()
    (tmp_path / 'config' / 'a.yaml').write_text('a: 7')
    folder = tmp_path / 'urdf'
    folder.mkdir()
    name = "${xacro.load_yaml('../config/a.yaml')['a']}"
    assert load(folder, '', name).links[0].name == '7'
    (tmp_path / 'package.xml').unlink()
    assert 'load_yaml: expected a file in' in refusal(folder, '', name)


def test_files_of_a_package_that_is_found_are_read(tmp_path, monkeypatch):
    share = tmp_path / 'share'
    (share / 'ament_index' / 'resource_index' / 'packages').mkdir(parents=True)
    (share / 'ament_index' / 'resource_index' / 'packages' / 'arms').touch()
    (share / 'arms').mkdir()
    (share / 'arms' / 'more.xacro').write_text('<robot><link name="more"/></robot>')
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    folder = tmp_path / 'robot'
    folder.mkdir()
    include = '<xacro:include filename="$(find arms)/more.xacro"/>' + (
        '<joint name="j" type="fixed"><parent link="base"/><child link="more"/></joint>')
    assert [link.name for link in load(folder, include).links] == ['base', 'more']
    include = f'<xacro:include filename="{share}/arms/more.xacro"/>'
    assert 'include: expected a file in' in refusal(folder, include)


def test_includes_that_are_optional_may_be_missing(tmp_path):
    include = '<xacro:include filename="gone.xacro" optional="true"/>'
    assert load(tmp_path, include).links[0].name == 'base'
    message = refusal(tmp_path, include.replace('true', 'false'), line=3)
    assert 'found no such file' in message and 'gone.xacro' in message


@pytest.mark.parametrize(('name', 'value'), [('${"a b"}', '1'), ('a', '${"\\x00"}')])
def test_what_xml_cannot_hold_is_refused(tmp_path, name, value):
    before = f"<xacro:element xacro:name='{name}' b='{value}'/>"
    assert 'names and values XML can hold' in refusal(tmp_path, before)


def test_an_address_is_no_path(tmp_path):
    message = refusal(tmp_path, '<xacro:include filename="package://others/urdf/arm.xacro"/>',
                      line=3)
    assert ('include: expected a path, found the address "package://others/urdf/arm.xacro", which '
            'xacro does not read; write "$(find others)/urdf/arm.xacro"') in message


def test_macros_alone_are_no_robot(tmp_path):
    path = tmp_path / 'arm.urdf.xacro'
    path.write_text('<robot xmlns:xacro="http://www.ros.org/wiki/xacro">\n'
                    '<xacro:macro name="arm"><link name="base"/></xacro:macro></robot>')
    with pytest.raises(RobotError, match='expected at least one <link>, found none; a xacro file '
                       'that only defines macros is for another one'):
        load_robot(path)
