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
"""The report of a run: figures that can be told by hand, a page, a bag, a moving picture."""
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from PIL import Image
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from flex_description import load_robot, published_description
from flex_dynamics import Model
from flex_ros.bag.reader import BagReader, BagReadError
from flex_viz.report.animation import animate
from flex_viz.report.bag import read_run
from flex_viz.report.command import main
from flex_viz.report.page import write_report
from flex_viz.report.plots import plot_poses, plot_time
from flex_viz.report.run import Run, RunError, rows, table

FLEX_STATE = (Path(__file__).resolve().parents[2] / 'flex_msgs' / 'msg'
              / 'FlexState.msg').read_text()


@pytest.fixture(scope='module')
def run():
    model = Model(load_robot('cibicik_arm'))
    time = np.linspace(0.0, 2.0, 21)
    q = np.zeros((21, model.n))
    q[:, 1] = np.linspace(0.0, 0.5, 21)
    q[10, list(model.names).index('link3/bend_y/1')] = 0.02
    efforts = np.zeros((21, 4))
    efforts[3, 2] = -123.4
    return Run(model, 'tool', time, q, np.zeros_like(q), efforts, 2.0 * efforts,
               np.full((21, 4), 0.5), wall_time=4.0)


def test_deflection_is_that_of_the_bent_link(run):
    assert np.flatnonzero(run.deflection).tolist() == [10]
    # unit end displacement of the first craig-bampton shape, and link 4 goes along
    assert 0.019 < run.deflection[10] < 0.03


def test_the_table_says_what_happened(run):
    text = table(run)
    row = next(line for line in text.splitlines() if line.startswith('joint2'))
    assert re.split('  +', row) == ['joint2', '0.000 deg', '28.648 deg', '28.648 deg',
                                    '0.000 deg', '0.0 N m', '0.0 N m']
    row = next(line for line in text.splitlines() if line.startswith('joint3'))
    assert re.split('  +', row)[-2:] == ['246.8 N m', '123.4 N m']
    assert '0.50 times real time' in text and 'at 1.000 s' in text


def test_a_run_that_knows_states_only_is_told_too(run):
    bare = Run(run.model, 'tool', run.time, run.q, run.v)
    assert rows(bare)[0][2:] == ('-', '0.000 deg', '-', '-', '-')
    assert 'wall time' not in table(bare)


def test_moments_beyond_the_end_are_its_end(run):
    assert run.at((0.0, 0.1, 1.0, 9.0)).tolist() == [0, 1, 10, 20]


def test_the_page_holds_everything(run, tmp_path):
    files = write_report(tmp_path, run, (0.0, 1.0, 9.0), 4.0)
    assert [path.name for path in files] == ['run.html', 'run.png', 'time.png', 'poses.png',
                                             'table.txt']
    page = files[0].read_text()
    assert page.count('src="data:image/png;base64,') == 2
    assert not re.search(r'(src|href)="(?!data:)', page)      # nothing from elsewhere
    assert '<td>246.8 N m</td>' in page and 'largest 20' in page
    assert all(path.stat().st_size > 5000 for path in files[:4])
    assert 'joint3' in files[4].read_text()


def test_a_bent_robot_looks_bent(tmp_path):
    model = Model(load_robot('lab_link'))
    q = np.zeros(model.n)
    q[model.n_joints:] = 0.05
    plot_poses(tmp_path / 'bent.png', model, [0.0, 1.0], [q, q], (2.0,))
    plot_poses(tmp_path / 'straight.png', model, [0.0, 1.0], [0.0 * q, 0.0 * q], (2.0,))
    bent, straight = imread(tmp_path / 'bent.png'), imread(tmp_path / 'straight.png')
    assert (bent[..., 2] > bent[..., 0] + 0.3).sum() > 200
    assert bent.shape == straight.shape and np.abs(bent - straight).sum() > 500


def test_time_plots_are_drawn(run, tmp_path):
    plot_time(tmp_path / 'deep' / 'time.png', run)
    picture = imread(tmp_path / 'deep' / 'time.png')
    assert picture.shape[0] > 500 and picture[..., :3].std() > 0.05


def test_the_animation_moves_in_real_time(run, tmp_path):
    animate(tmp_path / 'run.gif', run, 4.0, rate=5.0, size=160)
    with Image.open(tmp_path / 'run.gif') as picture:
        assert picture.n_frames == 11 and picture.info['duration'] == 200
        first = np.asarray(picture.convert('RGB'), dtype=int)
        picture.seek(10)
        last = np.asarray(picture.convert('RGB'), dtype=int)
    assert (np.abs(first - last).sum(axis=2) > 60).sum() > 100


class Recorded:
    """Writes a bag as the simulator does."""

    def __init__(self, path, version=9, plugin=StoragePlugin.SQLITE3):
        self.store = get_typestore(Stores.ROS2_JAZZY)
        self.store.register(get_types_from_msg(FLEX_STATE, 'flex_msgs/msg/FlexState'))
        self.writer = Writer(path, version=version, storage_plugin=plugin)
        self.writer.open()
        self.topics = {}

    def write(self, topic, kind, **fields):
        if topic not in self.topics:
            self.topics[topic] = self.writer.add_connection(topic, kind, typestore=self.store)
        message = self.store.types[kind](**fields)
        self.writer.write(self.topics[topic], 0, self.store.serialize_cdr(message, kind))

    def header(self, ns):
        time = self.store.types['builtin_interfaces/msg/Time'](*divmod(ns, 10**9))
        return self.store.types['std_msgs/msg/Header'](time, 'base')

    def state(self, ns, names, q, topic='/flex_state'):
        self.write(topic, 'flex_msgs/msg/FlexState', header=self.header(ns), name=list(names),
                   joint_count=4, position=np.array(q), velocity=np.zeros(len(q)))


def record(path, run, names=None, namespace='', plugin=StoragePlugin.SQLITE3):
    bag = Recorded(path, plugin=plugin)
    bag.write(f'{namespace}/robot_description', 'std_msgs/msg/String', data=run.model.robot.urdf)
    names = list(names or run.model.names)
    bag.state(9 * 10**9, names, run.q[0], f'{namespace}/flex_state')      # before a reset
    for time, q, effort in zip(run.time, run.q, run.efforts):
        ns = round(1e9 * time)
        bag.state(ns, names[::-1], q[::-1], f'{namespace}/flex_state')
        bag.write(f'{namespace}/joint_states', 'sensor_msgs/msg/JointState', header=bag.header(ns),
                  name=list(run.joints), position=q[:4], velocity=np.zeros(4), effort=effort)
    bag.writer.close()


def test_a_bag_gives_its_run_back(run, tmp_path):
    record(tmp_path / 'bag', run, namespace='/arm')
    found = read_run(tmp_path / 'bag')
    assert found.tool == 'tool' and np.allclose(found.time, run.time)
    assert np.array_equal(found.q, run.q) and np.array_equal(found.efforts, run.efforts)
    assert found.commands is None and found.set_points is None


def test_the_robot_is_rebuilt_from_the_merged_description_of_the_bag(tmp_path):
    """Beside a real robot: its driver's rigid description is in the bag too, and later."""
    robot = load_robot('ur5', 'ur5_flexible', log_warnings=False)
    model = Model(robot)
    bag = Recorded(tmp_path / 'bag')
    bag.write('/flex/robot_description', 'std_msgs/msg/String', data=published_description(robot))
    q = 0.01 * np.arange(model.n)
    for at in range(3):
        bag.state(at, model.names, q)
    bag.write('/robot_description', 'std_msgs/msg/String', data=robot.urdf)
    bag.writer.close()
    found = read_run(tmp_path / 'bag')
    assert found.model.names == model.names
    assert np.allclose(found.model.mass_matrix(q), model.mass_matrix(q), rtol=1e-11, atol=1e-13)


def test_plot_makes_the_report_of_a_bag(run, tmp_path, capsys):
    record(tmp_path / 'bag', run)
    assert main([str(tmp_path / 'bag')]) == 0
    assert (tmp_path / 'bag_report' / 'run.html').stat().st_size > 50_000
    out = capsys.readouterr().out
    assert '123.4 N m' in out and re.search(r'deflection drawn \d+ times as large', out)


def test_bad_bags_are_refused_in_a_sentence(run, tmp_path, capsys):
    with pytest.raises(RunError, match='nothing there'):
        read_run(tmp_path / 'none')
    (tmp_path / 'empty').mkdir()
    with pytest.raises(RunError, match='expected a rosbag2.*a folder without metadata.yaml'):
        read_run(tmp_path / 'empty')
    record(tmp_path / 'bag', run)
    with pytest.raises(RunError, match='give the --robot'):
        read_run(tmp_path / 'bag', robot='canadarm')
    with pytest.raises(RunError, match="unknown frame 'hand'"):
        read_run(tmp_path / 'bag', tool='hand')
    bag = Recorded(tmp_path / 'stateless')
    bag.write('/robot_description', 'std_msgs/msg/String', data='')
    bag.writer.close()
    with pytest.raises(RunError, match='expected a topic flex_state'):
        read_run(tmp_path / 'stateless')
    bag = Recorded(tmp_path / 'nan')
    bag.state(0, run.model.names, np.full(run.model.n, np.nan))
    bag.writer.close()
    with pytest.raises(RunError, match='two good states'):
        read_run(tmp_path / 'nan', robot='cibicik_arm')
    assert main([str(tmp_path / 'none')]) == 1
    assert capsys.readouterr().err.startswith('plot: ')


@pytest.mark.parametrize('plugin', [StoragePlugin.SQLITE3, StoragePlugin.MCAP])
def test_mutants_of_a_bag_give_a_run_or_a_sentence(run, tmp_path, plugin):
    """Seeded: bytes changed, cut off and cut out, in the data and in metadata.yaml."""
    record(tmp_path / 'bag', run, plugin=plugin)
    rng, ends = np.random.default_rng(20240612), {'run': 0, 'sentence': 0}
    for path in sorted((tmp_path / 'bag').iterdir()):
        whole = path.read_bytes()
        for _ in range(40):
            changed = bytearray(whole)
            place = int(rng.integers(len(changed)))
            kind = rng.integers(4)
            if kind == 0:
                del changed[place:]
            elif kind == 3:
                changed[place] ^= 1
            elif kind == 1:
                del changed[place:place + int(rng.integers(1, 100))]
            else:
                for at in rng.integers(len(changed), size=int(rng.integers(1, 20))):
                    changed[at] = rng.integers(256)
            path.write_bytes(bytes(changed))
            try:
                assert len(read_run(tmp_path / 'bag').time) >= 2
                ends['run'] += 1
            except RunError as error:
                assert len(str(error)) < 1000
                ends['sentence'] += 1
        path.write_bytes(whole)
    assert min(ends.values()) > 0      # it tries both


def test_states_of_a_bag_that_cannot_be_are_left_out(run, tmp_path):
    names, q = run.model.names, run.q[0]
    bag = Recorded(tmp_path / 'bag')
    for at, state in enumerate((q, q + 1e308, q, q[:-1], q)):
        bag.state(at, names, state)
    bag.writer.close()
    assert len(read_run(tmp_path / 'bag', robot='cibicik_arm').time) == 3
    bag = Recorded(tmp_path / 'short')
    bag.state(0, names, q[:-1])
    bag.writer.close()
    with pytest.raises(RunError, match='expected 20 positions and velocities, found 19'):
        read_run(tmp_path / 'short', robot='cibicik_arm')
    bag = Recorded(tmp_path / 'path')
    bag.state(0, names, q)
    bag.write('/robot_description', 'std_msgs/msg/String', data='/etc/passwd')
    bag.writer.close()
    with pytest.raises(RunError, match='expected XML in its robot_description'):
        read_run(tmp_path / 'path')


def test_messages_that_cannot_be_decoded_are_counted_and_left_out(run, tmp_path, caplog):
    bag = Recorded(tmp_path / 'bag')
    for at in range(3):
        bag.state(at, run.model.names, run.q[0])
        bag.writer.write(bag.topics['/flex_state'], 0, b'\0\1\0\0\xff\xff\xff\xff')
    bag.writer.close()
    with BagReader(tmp_path / 'bag') as reader:
        assert reader.topics == ['/flex_state']
        found = [message.header.stamp.nanosec for _, message in reader.messages(reader.topics)]
    assert found == [0, 1, 2] and reader.undecodable == {'/flex_state': 3}
    assert len(read_run(tmp_path / 'bag', robot='cibicik_arm').time) == 3
    assert '3 messages on /flex_state cannot be decoded' in caplog.text
    with pytest.raises(BagReadError, match='expected a rosbag2 folder or file, found nothing'):
        BagReader(tmp_path / 'none').__enter__()
