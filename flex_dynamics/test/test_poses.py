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
"""Poses of many frames at once are those of one at a time."""
import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model
from flex_dynamics.model.poses import Poses


@pytest.mark.parametrize('order', ['linear', 'first', 'second'])
@pytest.mark.parametrize('name', ['cibicik_arm', 'flexible_tree', 'lab_link'])
def test_they_are_those_of_the_model(name, order):
    model = Model(load_robot(name), order)
    places = [(link.name, None) for link in model.robot.links]
    places += [(frame.name, None) for frame in model.robot.frames]
    for link in model.robot.links:
        if link.flexible is not None:
            places += [(link.name, share * link.flexible.length) for share in (0.0, 0.37, 1.0)]
    poses = Poses(model, places)
    motion = 0.1 * np.random.default_rng(5).standard_normal((3, model.n))
    for q, along in zip(motion, poses.paths(motion)):
        np.testing.assert_allclose(along, poses.at(q)[:, :3, 3], atol=1e-14, rtol=1e-14)
        for (frame, x), pose in zip(places, poses.at(q)):
            np.testing.assert_allclose(pose, model.pose(q, frame, x), atol=1e-12, rtol=0.0)


def test_of_no_frame():
    model = Model(load_robot('lab_link'))
    assert Poses(model, []).at(np.zeros(model.n)).shape == (0, 4, 4)


def test_what_is_not_there_is_refused():
    model = Model(load_robot('lab_link'))
    with pytest.raises(DynamicsError, match='unknown frame'):
        Poses(model, [('nowhere', None)])
    with pytest.raises(DynamicsError, match='q'):
        Poses(model, [(model.robot.links[0].name, None)]).at([0.0])
