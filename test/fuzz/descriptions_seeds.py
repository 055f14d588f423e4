"""Where mutants of descriptions begin: every bundled robot, and small ones with all we read."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from flex_description import bundled_robots, load_robot

LENGTH = 1.5
SMALL = """<robot name="arm">
  <link name="base"/>
  <link name="link1">
    <visual><geometry><cylinder radius="0.05" length="1"/></geometry></visual></link>
  <link name="tool"><inertial><origin xyz="0.1 0 0"/><mass value="2"/>
    <inertia ixx="0.02" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="joint1" type="revolute"><parent link="base"/><child link="link1"/>
    <origin xyz="0 0 0.3" rpy="0 0 0"/><axis xyz="0 0 1"/>
    <limit lower="-2" upper="2" effort="100" velocity="3"/>
    <dynamics damping="0.1" friction="0.2"/></joint>
  <joint name="joint2" type="{joint}"><parent link="link1"/><child link="tool"/>
    <origin xyz="1.5 0 0"/><limit lower="-1" upper="1" effort="9" velocity="3"/></joint>
  <flexible link="link1">
    <beam length="1.5"><origin xyz="0 0 0"/>{section}<material name="steel"/></beam>
    {parts}
    <modes {modes}/>
    <damping ratio="0.01"/>
    <gauge name="root" x="0.1" z="0.01"/>
  </flexible>
  <flexible_joint joint="joint1" stiffness="1e4" motor_inertia="1e-3" gear_ratio="100"/>
  <loop name="rod" type="distance" length="1.5"><first frame="base"/><second frame="tool"/></loop>
  <wheel name="rim" frame="tool" axis="0 1 0" radius="0.1"/>
  <support name="foot" frame="link1" x="1.5" active="false"/>
  <imu name="tip" frame="tool"/>
  <gravity xyz="0 0 -9.81"/>
</robot>"""
TUBE = '<section shape="hollow_circle" outer_radius="0.05" inner_radius="0.045"/>'
BOX = '<section shape="hollow_rectangle" width="0.1" height="0.08" thickness="0.004"/>'
TAPER = '<section shape="circle" radius="0.05"/><section shape="circle" radius="0.03"/>'
GIVEN = '<section A="1e-3" Iy="1e-6" Iz="1e-6" J="2e-6"/>'
LUMP = '<mass x="0.7" mass="2" xyz="0 0 0.01" ixx="0.1" iyy="0.1" izz="0.1"/>'
COUNTS = 'bending_y="1" bending_z="1" twist="1"'
# section, parts, modes, type of the second joint
VARIANTS = [
    (TUBE, '', f'basis="craig-bampton" {COUNTS}', 'continuous'),
    (GIVEN, '', 'bending_y="3" bending_z="2" twist="2"', 'fixed'),
    (BOX, '', f'basis="clamped-free" {COUNTS}', 'prismatic'),
    (TUBE, '', f'basis="clamped-mass" {COUNTS} tip_mass="auto"', 'fixed'),
    (TUBE, '', f'basis="clamped-mass" {COUNTS} tip_mass="2" tip_inertia="0.1" tip_offset="0.1"',
     'revolute'),
    (TUBE, LUMP, 'basis="fe" bending_y="1" bending_z="0" twist="1"', 'fixed'),
    (TAPER, '', 'bending_y="1" bending_z="0" twist="1"', 'continuous'),
    (TUBE, '', f'basis="pinned-pinned" {COUNTS} normalization="raw"', 'fixed'),
    (TUBE, '', f'basis="pinned-free" {COUNTS}', 'fixed'),
    (GIVEN, LUMP, f'basis="polynomial" {COUNTS}', 'continuous'),
    (TUBE, '', 'basis="expression" expression_y="x^2; x^3" expression_twist="x"', 'fixed'),
]
# A link whose mass is kept and whose stiffness is known: material and <stiffness>.
KNOWN = [
    ('', '<stiffness tip="2e4 3e4" twist="4e3"/>'),
    ('<material name="steel"/>', '<stiffness frequency="5" carried="included"/>'),
    ('<material density="900"/>', '<stiffness load="50" deflection="0.01"/>'),
    ('<material G="5e9"/>', '<stiffness frequency="30" carried="excluded"/>'),
    ('<material E="7e10"/>', '<stiffness torque="10" rotation="0.01"/>'),
    ('<material E="7e10" G="2e10" density="2000"/>', ''),
]
INERTIAL = """<inertial><origin xyz="0.7 0.01 0.02"/><mass value="9"/>
    <inertia ixx="0.05" iyy="1.9" izz="1.9" ixy="0.01" ixz="0" iyz="0"/></inertial>"""
TABLED = (TUBE, '', 'basis="file" file="modes.{suffix}" bending_y="1" bending_z="1" twist="1"',
          'fixed')
OVERLAY = {
    'flexible': {'link1': {
        'beam': {'to': 'joint2', 'section': {'shape': 'rectangle', 'width': 0.05, 'height': 0.04},
                 'material': {'E': 69e9, 'G': 26e9, 'density': 2700}},
        'masses': [{'name': 'm', 'x': 0.5, 'mass': 1.0, 'xyz': [0, 0, 0.1]}],
        'modes': {'basis': 'clamped-free', 'bending_y': 1, 'bending_z': 1, 'twist': 1},
        'damping': 0.01, 'gauges': [{'name': 'g', 'x': 0.1, 'y': 0.01}]}},
    'flexible_joints': {'joint1': {'stiffness': 1e5, 'damping': 10, 'motor_inertia': 1e-3}},
    'imus': {'i': {'frame': 'tool'}}, 'gravity': [0, 0, -9.81]}
KEPT = {'flexible': {'link1': {
    'mass': 'keep', 'beam': {'to': 'joint2', 'section': {'shape': 'circle', 'radius': 0.03}},
    'stiffness': {'frequency': 4, 'carried': 'included', 'twist': 1e4}, 'damping': 0.01}}}
SCALED = {'flexible': {'link1': {
    'beam': {'to': 'joint2', 'section': {'shape': 'circle', 'radius': 0.03}, 'material': 'carbon'},
    'stiffness': {'load': 10, 'deflection': [0.001, 0.002]}}}}
UNLOADED = {**OVERLAY, 'flexible': {'link1': {
    key: part for key, part in OVERLAY['flexible']['link1'].items() if key != 'masses'}}}
CHANGED = {'flexible': {'link1': {'modes': {'basis': 'clamped-mass', 'tip_mass': 2}, 'damping': {
    'alpha': 0.1, 'beta': 0.01}}}, 'flexible_joints': {'joint1': {'stiffness': 1e3}}}
CONFIG = 'a: 1\nb: [1, 2, {c: !degrees 90}]\nd: &d {e: 1}\nf: *d\n'
BOMB = 'a: &a [x, x, x, x, x, x, x, x, x, x]\n' + ''.join(
    f'{name}: &{name} [{", ".join([f"*{before}"] * 10)}]\n'
    for before, name in zip('abcdefgh', 'bcdefghi'))


@dataclass(frozen=True)
class Seeds:
    """small, bundled: URDF texts; xacro: texts by file name; table: columns of mode shapes."""

    small: list[str]
    bundled: list[str]
    tabled: dict[str, str]
    xacro: dict[str, str]
    overlays: list[tuple[str, object]]
    table: dict[str, np.ndarray]


def small(section: str, parts: str, modes: str, joint: str) -> str:
    return SMALL.format(section=section, parts=parts, modes=modes, joint=joint)


def kept(material: str, stiffness: str) -> str:
    """A small robot that keeps the mass of its flexible link."""
    text = small(TUBE, stiffness, COUNTS, 'continuous').replace('<material name="steel"/>',
                                                                material)
    return heavy(text).replace('<flexible ', '<flexible mass="keep" ')


def heavy(text: str) -> str:
    """With an <inertial> in the link that bends."""
    return text.replace('<link name="link1">', f'<link name="link1">{INERTIAL}')


MACROS = ('parts.xml', 'ros2_control.xml')     # files of macros beside the bundled robots


def seeds() -> Seeds:
    """All of them; every one is a good robot."""
    robots = bundled_robots()
    folder = next(iter(robots.values())).parent
    xacro = {path.name: path.read_text() for path in robots.values() if path.suffix == '.xacro'}
    texts = [load_robot(name).urdf for name in robots]
    bare = small(*VARIANTS[0]).replace('</flexible>', '</gazebo>')
    for tag in ('flexible', 'flexible_joint', 'imu', 'gravity'):
        bare = bare.replace(f'<{tag} ', '<gazebo ')
    ur5 = yaml.safe_load((folder / 'ur5_flexible.yaml').read_text())
    x = np.linspace(0.0, LENGTH, 31)
    return Seeds(
        small=[*(small(*variant) for variant in VARIANTS), *(kept(*known) for known in KNOWN)],
        bundled=texts,
        tabled={suffix: small(TABLED[0], TABLED[1], TABLED[2].format(suffix=suffix), TABLED[3])
                for suffix in ('csv', 'npz')},
        xacro={**xacro, **{name: (folder / name).read_text() for name in MACROS}},
        overlays=[*[(bare, UNLOADED)] * 6, (bare, OVERLAY), (bare, OVERLAY),
                  *[(small(*VARIANTS[0]), CHANGED)] * 4, *[(heavy(bare), KEPT)] * 4,
                  *[(heavy(bare), SCALED)] * 4,
                  ((folder / 'ur5.urdf').read_text(), ur5)],
        table={'x': x, 'v': x**2, 'w': x**2 * (1.0 + x), 'twist': x})


def helper_files() -> dict[str, str]:
    """Files that mutants of xacro may name."""
    return {'config.yaml': CONFIG, 'bomb.yaml': BOMB}


def folder_of_robots() -> Path:
    return next(iter(bundled_robots().values())).parent
