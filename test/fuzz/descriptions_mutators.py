"""Mutations of parsed XML, URDF and xacro.

A mutator takes a random generator and something that is well-formed, and spoils it in one way that
people, programs or attackers do. All of them are deterministic.
"""
from __future__ import annotations

import math
import random
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

NUMBERS = ['0', '-0', '1', '-1', '0.5', '2', '3', '21', '100', '1e-9', '-1e-9', '1e-12', '-1e-12',
           '1e-30', '1e-31', '1e-320', '5e-324', '1e8', '1e15', '-1e8', '1e29', '1e30', '1.1e30',
           '1e150', '1e308', '1e999', 'nan', 'inf', '-inf', 'NaN', '0x10', '1_000', '1e', '.', '-',
           '1,5', '1.5.2', '+3', '1e+3', '3.14159', '6.283', '1e-3', '1e3', '1e5', '１', '½']
WORDS = ['', ' ', '\t', 'x', 'auto', 'base', 'link1', 'link2', 'tool', 'joint1', 'joint2', 'steel',
         'circle', 'given', 'i', 'fe', 'file', 'expression', 'polynomial', 'clamped-mass',
         'clamped-free', 'pinned-free', 'pinned-pinned', 'craig-bampton', 'revolute', 'fixed',
         'continuous', 'prismatic', 'floating', 'planar', 'true', 'null', '~', '[1, 2]', '{a: b}',
         '${1 + 1}', '$(arg a)', '../x', '/dev/zero', '/etc/passwd', '.', 'a' * 300,
         'b' * 100_000, '\u202e', '\x85', '\u009b31m', '&lt;b&gt;', '%s%n', "'", '"', '🤖', '\0',
         '<script>', '-' * 40, '(' * 200, 'raw', 'mass', 'link1/tip', 'modes.csv', 'modes.npz',
         'keep', 'beam', 'included', 'excluded']
VECTORS = ['0 0 0', '1 0 0', '0 0 1', '1 2', '1 2 3 4', '0 0 nan', '1e8 0 0', '0 1e8 0',
           '1e-12 0 0', '1e30 1e30 1e30', '-1 -1 -1', '1e-30 0 0', '0,0,0', '1 1 1', '0 0 1e-10']
FORMULAS = ['x^2', 'x^2; x^3', 'x', 'x^2/(x-0.1234567)', 'x^2/L', 'sin(x)', 'x^2*sqrt(x)', '1/x',
            'x^-2', '((((x))))', '(' * 20_000, 'x^2' + '+x^2' * 100, 'x^x', 'x^2^x', 'exp(1000*x)',
            'x^2*exp(-x)', ';' * 1000, 'x^2;' * 21, '1-cos(x)', 'cosh(x)-1', 'x^2*(L-x)^0.5',
            '0*x', 'x^1e9', '1e308*x^2', 'x^2*1e-200', 'x^2*x^2*1e160', 'x^3-x^3', '__import__']
TAGS = ['robot', 'link', 'joint', 'inertial', 'inertia', 'mass', 'origin', 'axis', 'limit',
        'dynamics', 'mimic', 'visual', 'collision', 'geometry', 'box', 'mesh', 'material',
        'flexible', 'flexible_joint', 'motor', 'imu', 'gravity', 'beam', 'section', 'segment',
        'modes', 'stiffness', 'damping', 'gauge', 'parent', 'child', 'gazebo', 'ros2_control',
        'xacro:macro',
        'xacro:property', 'xacro:if', 'xacro:include', 'xacro:insert_block', 'xacro:call', 'a:b']
ATTRIBUTES = ['name', 'link', 'joint', 'type', 'xyz', 'rpy', 'value', 'ixx', 'iyy', 'izz', 'ixy',
              'lower', 'upper', 'effort', 'velocity', 'damping', 'friction', 'length', 'to',
              'roll', 'shape', 'radius', 'outer_radius', 'inner_radius', 'width', 'height',
              'thickness', 'A', 'Iy', 'Iz', 'J', 'E', 'G', 'density', 'x', 'y', 'z', 'mass',
              'basis', 'bending_y', 'bending_z', 'twist', 'tip_mass', 'tip_inertia', 'tip_offset',
              'normalization', 'file', 'expression_y', 'expression_z', 'expression_twist', 'ratio',
              'alpha', 'beta', 'stiffness', 'motor_inertia', 'gear_ratio', 'frame', 'version',
              'quat_xyzw', 'expressed_in', 'filename', 'params', 'default', 'scope', 'tip', 'load',
              'deflection', 'frequency', 'carried', 'torque', 'rotation']
EXPRESSIONS = ['${9**9**9}', '${range(10**10)}', '${list(range(10**4))}', "${'a' * 10**10}",
               '${[0] * 10**9}', '${1 << 10**9}', '${p}', '${p + q}', '${q}', '${nothing}',
               '${[x.__class__ for x in [1]]}', '${(lambda: 1)()}', '${1 / 0}', '${1 if p else 2}',
               "${xacro.load_yaml('/dev/zero')}", "${xacro.load_yaml('config.yaml')}",
               "${xacro.load_yaml('bomb.yaml')}", "${load_yaml('config.yaml')['a']}", '${{}}',
               '$(arg a)', '$(find flex_description)', '$(env HOME)', '$(eval 1 + 1)', '$(cwd)',
               '$(dirname)', '$${p}', '${', '$(', '${)', '${(' * 10, '${math.pi}', '${pi * 2}',
               '${round(5, -10**9)}', "${'%999999999d' % 1}", '${sorted([3, 1])}',
               '${max(p, q)}', "${' '.join(['1', '2', '3'])}", '${len(p)}', '${-p}', '${p.q}',
               '${[[i, j] for i in range(200) for j in range(200)]}', '${python.sum([1, 2])}',
               '${2.0**5000}', '${math.factorial(10**6)}', "${'{:9}'}", '${p == q and not p}',
               '${float("nan")}', '${1e308 * 10}', '${xacro.fatal("stop")}', '${str(math)}']


PLAIN = re.compile("[ -!#-%'-;=?-~]*")    # what needs no escaping in an attribute


@dataclass
class Node:
    """An XML element that can be changed and written."""

    tag: str
    attributes: dict[str, str]
    children: list[Node] = field(default_factory=list)
    text: str = ''

    def walk(self) -> list[Node]:
        found, stack = [], [self]
        while stack:
            node = stack.pop()
            found.append(node)
            stack.extend(node.children)
        return found

    def write(self, out: list[str]) -> None:
        attributes = ''.join([f' {name}="{value}"' if PLAIN.fullmatch(value) else
                              f' {name}={quoteattr(value)}'
                              for name, value in self.attributes.items()])
        if self.children or self.text:
            out.append(f'<{self.tag}{attributes}>{escape(self.text) if self.text else ""}')
            for child in self.children:
                child.write(out)
            out.append(f'</{self.tag}>\n')
        else:
            out.append(f'<{self.tag}{attributes}/>\n')

    def __str__(self) -> str:
        out: list[str] = []
        self.write(out)
        return ''.join(out)

    def copy(self) -> Node:
        return Node(self.tag, dict(self.attributes), [child.copy() for child in self.children],
                    self.text)


def parse(text: str) -> Node:
    """The tree of an XML text, comments left out."""
    top = Node('', {})
    stack = [top]
    parser = expat.ParserCreate()

    def start(tag: str, attributes: dict[str, str]) -> None:
        stack[-1].children.append(node := Node(tag, attributes))
        stack.append(node)

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: stack.pop()
    parser.Parse(text, True)
    return top.children[0]


def misspell(rng: random.Random, word: str) -> str:
    if not word:
        return 'x'
    at = rng.randrange(len(word))
    return rng.choice([word[:at] + word[at + 1:], word[:at] + word[at] + word[at:],
                       word[:at] + rng.choice('abcxyz_') + word[at + 1:], word.upper(),
                       word[:at] + word[at:at + 2][::-1] + word[at + 2:]]) or 'x'


def value(rng: random.Random, old: str) -> str:
    """Something to stand where `old` stood."""
    kind = rng.random()
    if kind < 0.35:
        return rng.choice(NUMBERS)
    if kind < 0.5:
        return rng.choice(VECTORS)
    if kind < 0.65:
        return rng.choice(WORDS)
    if kind < 0.7:
        return rng.choice(FORMULAS)
    words = old.split() or ['0']
    at = rng.randrange(len(words))
    try:
        number = float(words[at])
    except ValueError:
        return misspell(rng, old)
    words[at] = rng.choice([f'{number * 10.0**rng.randint(-12, 12):g}', f'{-number:g}',
                            f'{number + rng.gauss(0, 1):.17g}', rng.choice(NUMBERS)])
    return ' '.join(words)


def set_attribute(rng: random.Random, root: Node) -> str:
    nodes = [node for node in root.walk() if node.attributes]
    if not nodes:
        return 'nothing to set'
    node = rng.choice(nodes)
    name = rng.choice(list(node.attributes))
    node.attributes[name] = value(rng, node.attributes[name])
    return f'{node.tag}.{name} = {node.attributes[name][:60]!r}'


def scale_numbers(rng: random.Random, root: Node) -> str:
    """Other sizes, all of them numbers: what is left to go wrong is the physics."""
    nodes = [node for node in root.walk() if node.attributes]
    done = []
    for _ in range(rng.choice([1, 2, 4])):
        node = rng.choice(nodes or [root])
        for name, old in node.attributes.items():
            words = old.split()
            if words and all(_is_number(word) for word in words) and rng.random() < 0.7:
                node.attributes[name] = ' '.join(
                    f'{float(word) * 10.0**rng.choice([-15, -6, -3, -1, 0, 0, 1, 3, 6, 15]):g}'
                    for word in words)
                done.append(f'{node.tag}.{name} = {node.attributes[name]}')
    return ', '.join(done) or 'nothing to scale'


def _is_number(word: str) -> bool:
    try:
        return math.isfinite(float(word))
    except ValueError:
        return False


def swap_attributes(rng: random.Random, root: Node) -> str:
    nodes = [node for node in root.walk() if node.attributes]
    if not nodes:
        return 'nothing to swap'
    one, two = rng.choice(nodes), rng.choice(nodes)
    a, b = rng.choice(list(one.attributes)), rng.choice(list(two.attributes))
    one.attributes[a], two.attributes[b] = two.attributes[b], one.attributes[a]
    return f'swap {one.tag}.{a} and {two.tag}.{b}'


def drop_attribute(rng: random.Random, root: Node) -> str:
    nodes = [node for node in root.walk() if node.attributes]
    if not nodes:
        return 'nothing to drop'
    node = rng.choice(nodes)
    name = rng.choice(list(node.attributes))
    del node.attributes[name]
    return f'drop {node.tag}.{name}'


def rename_attribute(rng: random.Random, root: Node) -> str:
    nodes = [node for node in root.walk() if node.attributes]
    if not nodes:
        return 'nothing to rename'
    node = rng.choice(nodes)
    name = rng.choice(list(node.attributes))
    new = rng.choice([misspell(rng, name), rng.choice(ATTRIBUTES)])
    new = ''.join(letter for letter in new if letter.isalnum() or letter in '_:') or 'x'
    node.attributes[f'_{new}' if new[0].isdigit() else new] = node.attributes.pop(name)
    return f'rename {node.tag}.{name} to {new}'


def add_attribute(rng: random.Random, root: Node) -> str:
    node = rng.choice(root.walk())
    name = rng.choice(ATTRIBUTES)
    node.attributes[name] = value(rng, node.attributes.get(name, '1'))
    return f'add {node.tag}.{name} = {node.attributes[name][:60]!r}'


def drop_element(rng: random.Random, root: Node) -> str:
    parents = [node for node in root.walk() if node.children]
    if not parents:
        return 'nothing to drop'
    parent = rng.choice(parents)
    gone = parent.children.pop(rng.randrange(len(parent.children)))
    return f'drop <{gone.tag}> of <{parent.tag}>'


def repeat_element(rng: random.Random, root: Node) -> str:
    parents = [node for node in root.walk() if node.children]
    if not parents:
        return 'nothing to repeat'
    parent = rng.choice(parents)
    again = rng.choice(parent.children)
    parent.children.extend(again.copy() for _ in range(rng.choice([1, 1, 1, 2, 20])))
    return f'repeat <{again.tag}> of <{parent.tag}>'


def move_element(rng: random.Random, root: Node) -> str:
    nodes = root.walk()
    parent = rng.choice([node for node in nodes if node.children] or [root])
    if not parent.children:
        return 'nothing to move'
    moved = rng.choice(parent.children)
    rng.choice(nodes).children.append(moved.copy())
    return f'copy <{moved.tag}> elsewhere'


def rename_element(rng: random.Random, root: Node) -> str:
    node = rng.choice(root.walk())
    old = node.tag
    new = rng.choice([misspell(rng, old), rng.choice(TAGS)])
    node.tag = ''.join(letter for letter in new if letter.isalnum() or letter in '_:') or 'x'
    if node.tag[0].isdigit():
        node.tag = f'_{node.tag}'
    return f'rename <{old}> to <{node.tag}>'


def wrap_element(rng: random.Random, root: Node) -> str:
    node = rng.choice(root.walk())
    depth = rng.choice([1, 1, 3, 99, 120])
    inner = node.children
    for _ in range(depth):
        inner = [Node(rng.choice(TAGS[:30]), {}, inner)]
    node.children = inner
    return f'wrap the children of <{node.tag}> {depth} times'


def splice(rng: random.Random, root: Node, other: Node) -> str:
    """An element of another robot."""
    node = rng.choice(other.walk())
    rng.choice(root.walk()).children.append(node.copy())
    return f'splice <{node.tag}> of another robot'


XML_MUTATORS: list[tuple[int, Callable[[random.Random, Node], str]]] = [
    (12, set_attribute), (12, scale_numbers), (2, swap_attributes), (2, drop_attribute),
    (2, rename_attribute), (3, add_attribute), (2, drop_element), (2, repeat_element),
    (2, move_element), (2, rename_element), (1, wrap_element)]
_CHOICES = [work for times, work in XML_MUTATORS for _ in range(times)]


def mutate_xml(rng: random.Random, root: Node, others: list[Node]) -> str:
    """Spoil a tree in one place; returns what was done."""
    if rng.random() < 0.04:
        return splice(rng, root, rng.choice(others))
    return rng.choice(_CHOICES)(rng, root)


def mutate_xacro(rng: random.Random, root: Node) -> str:
    """Put an expression, a macro, an include or a condition where there was none."""
    kind = rng.randrange(6)
    nodes = [node for node in root.walk() if node.attributes]
    if kind <= 2 and nodes:
        node = rng.choice(nodes)
        name = rng.choice(list(node.attributes))
        node.attributes[name] = rng.choice(EXPRESSIONS) + rng.choice(['', '', ' 0 0', '${p}'])
        return f'{node.tag}.{name} = {node.attributes[name]!r}'
    place = rng.choice(root.walk()).children
    name, other = rng.choice(['p', 'q', 'm']), rng.choice(['p', 'q', 'm'])
    if kind == 3:
        place.insert(0, Node('xacro:property', {'name': name, 'value': rng.choice(
            [f'${{{other}}}${{{other}}}', rng.choice(EXPRESSIONS), value(rng, '1')])}))
        return f'property {name}'
    if kind == 4:
        call = Node(f'xacro:{other}', {'a': '${a - 1}'})
        body = Node('xacro:if', {'value': '${a > 0}'}, [call, call.copy()])
        place.insert(0, Node('xacro:macro', {'name': name, 'params': rng.choice(
            ['a', 'a:=3', "a:=x'" + 'x' * 40, 'a *b', 'a:=^|${1 + 1}', '', 'a=^'])}, [body]))
        place.append(Node(f'xacro:{name}', {'a': rng.choice(['3', '5', '-1', 'x', '${p}'])}))
        return f'macro {name} that calls {other} twice'
    place.insert(0, Node('xacro:include', {'filename': rng.choice(
        ['robot.xacro', 'parts.xml', '/etc/passwd', '/dev/zero', 'gone.xml', '*.xml', '..', '/*/*',
         '$(find flex_description)/robots/parts.xml', 'config.yaml', '${p}', ''])}))
    return f'include {place[0].attributes["filename"]}'
