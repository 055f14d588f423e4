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
"""Reports of robots of any size: nothing is covered or cut off, and bending is visible."""
import re

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.image import imread

from flex_description import load_robot
from flex_dynamics import Model
from flex_viz.report.drawing import RobotDrawing, bounds, project
from flex_viz.report.page import write_report
from flex_viz.report.plots import exaggeration_to_see, plot_poses, pose_figures, time_figure
from flex_viz.report.run import Run, millimetres, rows, table
from flex_viz.shown_text import distinct, shortened

LONG = 'shoulder_to_elbow_transmission_joint_nr_'      # 40 characters; the number comes after it
TOOL = """<link name="tool"><inertial><mass value="1"/><inertia ixx="0.02" iyy="0.02" izz="0.02"
  ixy="0" ixz="0" iyz="0"/></inertial><visual><origin xyz="0.4 0 0"/><geometry>
  <box size="0.8 0.6 0.3"/></geometry></visual></link>
<joint name="end" type="fixed"><parent link="link{last}"/><child link="tool"/>
  <origin xyz="1 0 0"/></joint>"""
LINK = """<link name="link{k}"/><joint name="{joint}" type="{kind}"><parent link="{parent}"/>
  <child link="link{k}"/><origin xyz="{x} 0 0"/><axis xyz="0 {y} {z}"/>
  <limit lower="-3" upper="3" effort="500" velocity="1"/></joint>"""
BEAM = """<flexible link="link{k}"><beam length="1"><section shape="circle" radius="0.02"/>
  <material name="steel"/></beam><modes bending_y="1" bending_z="1" twist="0"/></flexible>"""


def chain(count, name='joint', kind='revolute'):
    """Links of 1 m, a joint each, and a box of 0.8 m as the tool."""
    parts = [LINK.format(k=k, joint=f'{name}{k}', parent=f'link{k - 1}' if k > 1 else 'base',
                         x=float(k > 1), y=k % 2, z=(k + 1) % 2, kind=kind) + BEAM.format(k=k)
             for k in range(1, count + 1)]
    return Model(load_robot('<robot name="chain"><link name="base"/>' + ''.join(parts)
                            + TOOL.format(last=count) + '</robot>'))


def bending(model, deflection, states=7):
    """A run in which the joints turn by 1 rad and the tool is deflected by up to `deflection` m.
    """
    time = np.linspace(0.0, 3.0, states)
    q = np.zeros((states, model.n))
    q[:, :model.n_joints] = np.linspace(0.0, 1.0, states)[:, None]
    shape = np.zeros(model.n)
    shape[model.coordinates.elastic] = 1e-6
    middle = q[states // 2]
    rate = np.linalg.norm(model.pose(middle + shape, 'tool')[:3, 3]
                          - model.pose(middle, 'tool')[:3, 3]) / 1e-6
    q += np.sin(np.pi * time / 3.0)[:, None] * shape * 1e6 * deflection / rate
    efforts = np.zeros((states, model.n_joints))
    return Run(model, 'tool', time, q, 0.0 * q, efforts, efforts, q[:, :model.n_joints])


@pytest.mark.parametrize('count, name', [(1, 'joint'), (6, 'joint'), (7, LONG), (12, LONG),
                                         (24, 'joint')])
def test_the_legend_covers_nothing(count, name):
    figure = time_figure(bending(chain(count, name), 0.01))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    page, renderer = figure.bbox, canvas.get_renderer()
    plots = [axis.get_tightbbox(renderer) for axis in figure.axes]
    for box in plots:
        assert box.width > 800 and box.height > 120      # pixels: not squeezed by the legend
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0
    assert all(not a.overlaps(b) for at, a in enumerate(plots) for b in plots[:at])
    assert [len(axis.get_legend_handles_labels()[0]) for axis in figure.axes] == [0, 0, 0]
    assert len(figure.legends) == (count > 1)
    for legend in figure.legends:
        box = legend.get_window_extent(renderer)
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and box.y1 <= page.y1
        assert not any(box.overlaps(plot) for plot in plots)
        labels = [text.get_text() for text in legend.get_texts()]
        assert len(set(labels)) == count and labels[-1].endswith(str(count))


@pytest.mark.parametrize('deflection', [1e-4, 1e-3, 0.03, 1.0])
def test_bending_is_visible_and_its_factor_is_printed(deflection, tmp_path):
    run = bending(chain(2), deflection)
    factor = exaggeration_to_see(run, (0.0, 1.5, 3.0))
    assert factor in [step * 10.0**power for power in range(5) for step in (1.0, 2.0, 5.0)]
    drawing = RobotDrawing(run.model)
    low, high, _ = bounds([drawing.at(q, 0.0) for q in run.q])
    drawn = drawing.deflection([run.q[3]]) * factor / (high - low).max()
    assert 0.05 < drawn < 0.16 or (factor == 1.0 and drawn > 0.05)
    assert factor == 1.0 if deflection == 1.0 else factor > 0.02 / deflection
    figures = pose_figures(run.model, run.time[:4], run.q[:4], (1.0, factor))
    titles = [figure.texts[0].get_text() for figure in figures]
    assert 'true deflection' in titles[0] and len(titles) == (1 if factor == 1.0 else 2)
    assert factor == 1.0 or f'drawn {factor:g} times as large' in titles[1]
    write_report(tmp_path, run, (0.0, 1.5))
    page = (tmp_path / 'run.html').read_text()
    assert ('times as large' in page) == (factor != 1.0)
    assert factor == 1.0 or f'drawn {factor:g} times as large' in page


def test_one_millimetre_is_seen_in_the_picture(tmp_path):
    """Pixels of the bent robot that are far from those of the straight one."""
    run = bending(chain(2), 1e-3)
    bent, straight = run.q[3], run.q[3].copy()
    straight[run.model.n_joints:] = 0.0

    def changed(factor):
        for name, q in (('bent', bent), ('straight', straight)):
            plot_poses(tmp_path / f'{name}.png', run.model, [0.0, 0.0], [bent, q], (factor,))
        return sum(np.abs(imread(tmp_path / 'bent.png') - imread(tmp_path / 'straight.png'))
                   .max(axis=2).ravel() > 0.3)

    assert changed(1.0) < 50 and changed(exaggeration_to_see(run, (1.5,))) > 1500


def test_a_robot_without_deflection_has_one_strip():
    assert exaggeration_to_see(bending(chain(2), 0.0), (0.0, 1.0)) == 1.0
    assert exaggeration_to_see(bending(chain(2), 1e-12), (0.0, 1.0)) == 1e4      # bounded
    rigid = Model(load_robot('ur5'))
    q = np.zeros((3, rigid.n))
    run = Run(rigid, 'tool0', np.arange(3.0), q, q)
    assert exaggeration_to_see(run, (0.0, 1.0)) == 1.0
    assert 'no flexible links' in table(run)
    figure, = pose_figures(rigid, [0.0], q[:1], (1.0, exaggeration_to_see(run, (0.0,))))
    assert 'no flexible links' in figure.texts[0].get_text()


@pytest.mark.parametrize('count, times', [(1, 1), (2, 6), (12, 8)])
def test_tools_are_drawn_whole(count, times):
    run = bending(chain(count), 0.3, times + 1)
    figures = pose_figures(run.model, run.time[:times], run.q[:times], (1.0, 2.0))
    assert len(figures) == 2
    for figure in figures:
        assert len(figure.axes) == times
        boxes = [axis.get_position() for axis in figure.axes]
        assert all(box.x0 >= 0.0 and box.x1 <= 1.0 + 1e-9 and box.y0 >= 0.0 and box.y1 < 1.0
                   for box in boxes)
        for axis in figure.axes:
            tool, = [part for part in axis.collections if isinstance(part, PolyCollection)]
            silhouette, = (path.vertices for path in tool.get_paths())
            limits = np.array([axis.get_xlim(), axis.get_ylim()])
            assert (silhouette > limits[:, 0]).all() and (silhouette < limits[:, 1]).all()
            assert np.ptp(silhouette, axis=0).max() > 0.5      # of a box of 0.8 m
    # the silhouette is that of the box: straight robot, at zero
    hull, = RobotDrawing(run.model).at(run.q[0]).hulls
    corners = project(np.array([(count + x, y, z) for x in (0.0, 0.8) for y in (-0.3, 0.3)
                                for z in (-0.15, 0.15)]))
    assert np.abs(hull.max(axis=0) - corners.max(axis=0)).max() < 1e-9
    assert np.abs(hull.min(axis=0) - corners.min(axis=0)).max() < 1e-9


def test_a_mesh_that_is_missing_is_reported_once(caplog):
    robot = load_robot('<robot name="r"><link name="base"/><link name="a"><inertial><mass '
                       'value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
                       '</inertial><visual><geometry><mesh filename="none.stl"/></geometry>'
                       '</visual><visual><geometry><mesh filename="nor.stl"/></geometry></visual>'
                       '</link><joint name="j" type="continuous"><parent link="base"/><child '
                       'link="a"/></joint></robot>')
    caplog.clear()
    assert RobotDrawing(Model(robot)).at(np.zeros(1)).hulls == []
    assert caplog.text.count('2 visuals are not drawn; link a: ') == 1


@pytest.mark.parametrize('name', ['joint', LONG, 'x' * 90])
def test_columns_of_the_table_are_aligned(name):
    run = bending(chain(11, name), 0.01)
    lines = table(run).splitlines()[:12]
    assert len({len(line) for line in lines}) == 1
    ends = [[at.end() for at in re.finditer(r'\S+( \S+)*', line)] for line in lines]
    assert all(row[1:] == ends[0][1:] and len(row) == 7 for row in ends)
    assert len({row[0] for row in rows(run)}) == 11
    cells = [cell for row in rows(run) for cell in row[1:]]
    assert all(re.fullmatch(r'-?\d+\.\d+ (deg|N m)', cell) for cell in cells)
    assert '-0.0' not in ' '.join(cells)


def test_joints_that_slide_are_in_millimetres_and_newtons():
    run = bending(chain(1, kind='prismatic'), 0.01)
    assert rows(run)[0][1:] == ('0.000 mm', '1000.000 mm', '1000.000 mm', '0.000 mm', '0.0 N',
                                '0.0 N')


@pytest.mark.parametrize('kind, units', [('planar', 'mm mm deg'),
                                         ('floating', 'mm mm mm deg deg deg')])
def test_moving_bases_have_lengths_and_angles(kind, units):
    model = chain(1, kind=kind)
    q = np.zeros((2, model.n))
    run = Run(model, 'tool', np.arange(2.0), q, q)
    assert [row[1] for row in rows(run)] == [f'0.000 {unit}' for unit in units.split()]


def test_lengths_and_names_fit():
    assert [millimetres(x) for x in (0.0, 1e-9, 4.2e-7, 1e-5, 1e-3, 0.0123, 1.0)] == [
        '0 mm', '0 mm', '0.0004 mm', '0.0100 mm', '1.00 mm', '12.3 mm', '1000.0 mm']
    assert shortened('abcdefghijklmnopqrstuvwxyz', 15) == 'abcdef...uvwxyz'
    assert shortened('abc\n', 15) == 'abc\ufffd'
    assert distinct(['a', 'b'], 15) == ['a', 'b']
    same = distinct(['x' * 30 + str(k) + 'x' * 30 for k in range(12)], 20)
    assert len(set(same)) == 12 and all(len(name) <= 20 for name in same)
