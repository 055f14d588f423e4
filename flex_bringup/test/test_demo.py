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
"""The demo's own part: what it makes of what it recorded, and how it shows progress."""
import io
import re
from types import SimpleNamespace

import numpy as np
import pytest

from flex_bringup.demo import Progress, evaluate
from flex_description import load_robot
from flex_viz import RunError

NAMES = ['joint1', 'joint2', 'joint3', 'joint4',
         *(f'{link}/{kind}/{at}' for link in ('link2', 'link3')
           for kind, count in (('bend_y', 3), ('bend_z', 3), ('twist', 2))
           for at in range(1, count + 1))]


def recorded(times, names=NAMES):
    """What a Recorder holds, without its node."""
    states = {at: np.full((2, 20), 1e-9 * at) for at in times}
    return SimpleNamespace(
        names=list(names), states=states,
        efforts={at: np.full(4, 1.0) for at in times},
        commands={at: np.full(4, 2.0) for at in times},
        set_points={times[0]: np.zeros(4), times[2]: np.ones(4)})


def test_the_record_becomes_arrays_and_set_points_are_held():
    run = evaluate(recorded([0, 2, 4, 6, 8]), 6e-9, 3.0)
    assert run.time.tolist() == pytest.approx([0.0, 2e-9, 4e-9, 6e-9])
    assert run.q.shape == run.v.shape == (4, 20) and run.efforts.shape == (4, 4)
    assert run.set_points[:, 0].tolist() == [0.0, 0.0, 1.0, 1.0]
    assert run.model.robot.name == load_robot('cibicik_arm').name


def test_lost_states_and_another_robot_are_told():
    with pytest.raises(RunError, match='states are missing'):
        evaluate(recorded([0, 2, 6, 8]), 1.0, 3.0)
    with pytest.raises(RunError, match='expected the coordinates of cibicik_arm'):
        evaluate(recorded([0, 2, 4], NAMES[:-1] + ['other']), 1.0, 3.0)


def test_progress_is_a_line_a_second_off_a_terminal():
    out = io.StringIO()
    progress = Progress(out, 2.0)
    for now in np.arange(0.0, 2.5, 0.1):
        progress.show(float(now))
    progress.end()
    lines = out.getvalue().splitlines()
    assert [re.search(r'\] ([\d.]+) of 2 s', line).group(1) for line in lines] == [
        '0.0', '1.0', '2.0']
