"""Other people's robots: every URDF of example-robot-data works at the first try.

Each one is described, gets the overlay that `suggest` proposes, moves to a goal under the default
controller with rigid and with flexible links, is drawn for RViz and for the browser, and gets its
report page, in a process of its own (walk_robots.py). It works, or it is refused with a message
that names the file and says what is wrong in it. The table and the pages: results/robots.
"""
from __future__ import annotations

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from claims import Claims
from walk_robots import Row, robot_files, table, walk

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / 'results' / 'robots'
LEAST = 69                # URDF files of example-robot-data 6.0
# What may be refused: no link at all, nothing that moves, macros without a robot, an include that
# xacro cannot read, a link of 16 kg with a negative moment of inertia.
REFUSED = {
    'ur_description/urdf/ur3.urdf': 'expected at least one <link>, found none',
    'hector_description/robots/quadrotor_base.urdf': 'nothing can move',
    'hector_description/robots/quadrotor_base.urdf.xacro': 'only defines macros',
    'hector_description/robots/quadrotor_base.xacro': 'found the address "package://',
    'iris_description/robots/iris_simple.urdf': 'nothing can move',
    'romeo_description/urdf/romeo_laas_small.urdf': 'expected a positive-definite tensor',
}


def robots_folder() -> Path:
    """The robots of example-robot-data; skips where that is not installed."""
    try:
        package = metadata.distribution('example-robot-data')
    except metadata.PackageNotFoundError:
        pytest.skip('example-robot-data is not installed; make validate installs it')
    return Path(str(package.locate_file('cmeel.prefix/share/example-robot-data/robots')))


@pytest.fixture(scope='module')
def rows() -> list[Row]:
    """The walk, and its table in results/robots."""
    found = walk(robot_files([robots_folder()]), OUTPUT)
    (OUTPUT / 'rows.json').write_text(json.dumps(found, indent=1), encoding='utf-8')
    (OUTPUT / 'table.txt').write_text(table(found) + '\n', encoding='utf-8')
    print(table(found))
    return found


def test_every_robot_works_or_is_refused_with_a_reason(claims: Claims, rows: list[Row]) -> None:
    for row in rows:
        claims.fact('walk', row['name'], 'works, or is refused with a reason', row['outcome'],
                    row['verdict'] != 'failed', note=_figures(row))


def test_only_files_that_are_wrong_are_refused(claims: Claims, rows: list[Row]) -> None:
    urdfs = [row for row in rows if row['name'].endswith('.urdf')]
    claims.bound('walk', 'URDF files that the walk missed', max(0, LEAST - len(urdfs)), 0)
    for row in rows:
        expected = REFUSED.get(row['name'])
        refused = row['outcome'] if row['verdict'] == 'refused' else ''
        if refused or expected:
            claims.fact('walk', f'{row["name"]} is refused for what is wrong in it',
                        expected or 'not refused', refused or 'not refused',
                        bool(expected) and expected in refused)


def test_every_mesh_is_drawn(claims: Claims, rows: list[Row]) -> None:
    for row in rows:
        if row.get('problems'):
            claims.fact('walk', f'{row["name"]}: meshes', 'drawn', row['problems'][0], False,
                        note=f'{len(row["problems"])} not drawn')
        elif row.get('markers'):
            claims.fact('walk', f'{row["name"]}: meshes', 'drawn', 'drawn', True)


def _figures(row: Row) -> str:
    if row.get('coordinates') is None:
        return ''
    seconds = sum(row['seconds'].values())
    return f'{row["coordinates"]} coordinates, {seconds:.1f} s in all'


def test_the_walk_finds_a_bad_robot(tmp_path: Path) -> None:
    """The command itself, on a robot that it must not pass: one that nothing can hold is warned
    of, one with a fault is refused, and the exit code says so only of failures."""
    good = tmp_path / 'good.urdf'
    good.write_text('<robot name="r"><link name="a"/><link name="b"><inertial><origin '
                    'xyz="0.2 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" '
                    'ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="revolute">'
                    '<parent link="a"/><child link="b"/><axis xyz="0 1 0"/><limit lower="-1" '
                    'upper="1" effort="9" velocity="2"/></joint></robot>')
    weak = tmp_path / 'weak.urdf'
    weak.write_text(good.read_text().replace('effort="9"', 'effort="1"'))
    bad = tmp_path / 'bad.urdf'
    bad.write_text(good.read_text().replace('value="1"', 'value="-1"'))
    ended = subprocess.run([sys.executable, str(Path(__file__).with_name('walk_robots.py')),
                            str(good), str(weak), str(bad), '--output', str(tmp_path / 'out')],
                           capture_output=True, text=True)
    lines = ended.stdout.splitlines()
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert 'good.urdf: works' in lines
    assert any(line.startswith('weak.urdf: does not reach the goal; warned') and 'j needs' in line
               for line in lines)
    assert any(line.startswith('bad.urdf: refused') and 'bad.urdf:1' in line for line in lines)
