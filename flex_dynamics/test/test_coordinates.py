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
"""Places in q by name, limits as arrays, sections of beams, and the public surface of a model."""
from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
import warnings

import numpy as np
import pytest
from random_robots import random_robot, random_state

import flex_dynamics
from flex_description import load_robot
from flex_dynamics import DynamicsError, Model, Simulation, simulate

ROBOTS = [load_robot(name) for name in ('cibicik_arm', 'flexible_tree', 'mladenova_arm',
                                        'canadarm', 'ur5')]
ROBOTS += [random_robot(seed, base=base) for seed, base in ((1, 'floating'), (2, 'planar'))]


@pytest.fixture(params=ROBOTS, ids=lambda robot: robot.name)
def model(request) -> Model:
    return Model(request.param)


def test_places_agree_with_the_names(model):
    """What the names say, said once more by the places: every coordinate has exactly one."""
    places, names = model.coordinates, np.array(model.names)
    found: list[str] = []
    for joint, place in places.joint.items():
        own = names[place].tolist()
        assert own == [joint] or all(name.startswith(f'{joint}/') for name in own)
        found += own
    assert tuple(found) == model.joint_names == tuple(names[places.joints])
    for joint, at in places.motor.items():
        assert names[at] == f'{joint}/motor'
        found.append(names[at])
    assert names[places.motors].tolist() == found[model.n_joints:]
    for link, own in places.links.items():
        for group in ('bend_y', 'bend_z', 'twist'):
            part = names[getattr(own, group)].tolist()
            assert part == [f'{link}/{group}/{k + 1}' for k in range(len(part))]
            found += part
        assert own.link == link and own.all == slice(own.bend_y.start, own.twist.stop)
    assert tuple(found) == model.names
    assert list(places.links) == [link.name for link in model.robot.links
                                  if link.flexible is not None]


def test_limits_are_those_of_the_robot(model):
    limits = {joint.name: joint.limits for joint in model.robot.joints}
    for at, name in enumerate(model.joint_names):
        own = limits.get(name)
        found = [array[at] for array in (model.joint_limits.lower, model.joint_limits.upper,
                                         model.joint_limits.velocity, model.joint_limits.effort)]
        assert found == ([-np.inf, np.inf, np.inf, np.inf] if own is None else
                         [own.lower, own.upper, own.velocity, own.effort])
    for array in vars(model.joint_limits).values():
        assert array.shape == (model.n_joints,)
        with pytest.raises(ValueError, match='read-only'):
            array[:] = 0.0


@pytest.mark.parametrize('duplicate', [copy.copy, copy.deepcopy,
                                       lambda m: pickle.loads(pickle.dumps(m))],
                         ids=['copy', 'deepcopy', 'pickle'])
def test_copies_have_them_too(duplicate):
    model = Model(load_robot('flexible_tree')).with_payload('box', 'base', 1.0)
    other = duplicate(model)
    assert other.coordinates == model.coordinates and other.joint_names == model.joint_names
    np.testing.assert_array_equal(other.joint_limits.effort, model.joint_limits.effort)
    assert list(other.payloads) == ['box'] and other.payloads['box'].frame == 'base'
    with pytest.raises(TypeError):
        other.payloads['box'] = None


@pytest.mark.parametrize('order', ['first', 'second'])
def test_sections_are_where_pose_says(order):
    model = Model(load_robot('cibicik_arm'), order)
    q = random_state(np.random.default_rng(4), model, 0.02)[0]
    link = next(iter(model.coordinates.links))
    beam = model.robot.links[[one.name for one in model.robot.links].index(link)].flexible
    stations = np.linspace(0.0, beam.length, 7)
    sections = model.sections(link, stations)
    positions, rotations = sections.poses(q)
    root = model.pose(q, link) @ beam.origin
    for x, position, rotation, curvature in zip(stations, positions, rotations,
                                                sections.curvature(q), strict=True):
        pose = model.pose(q, link, x)
        np.testing.assert_allclose(root[:3, :3] @ position + root[:3, 3], pose[:3, 3], atol=1e-12)
        np.testing.assert_allclose(root[:3, :3] @ rotation, pose[:3, :3], atol=1e-12)
        np.testing.assert_allclose(curvature, model.curvature(q, link, x), atol=1e-12)


def test_frame_motion_is_what_the_single_calls_give():
    model = Model(load_robot('cibicik_arm'))
    q, v = random_state(np.random.default_rng(6), model, 0.01)
    tip = model.robot.links[-1].name
    motion = model.frame_motion(q, v, tip)
    np.testing.assert_array_equal(motion.pose, model.pose(q, tip))
    np.testing.assert_array_equal(motion.jacobian, model.jacobian(q, tip))
    np.testing.assert_array_equal(motion.jacobian_rate, model.jacobian_rate(q, v, tip))


def test_help_and_completion_show_the_public_interface():
    model = Model(load_robot('lab_link'))
    text = ' '.join(pydoc.plain(pydoc.render_doc(Model)).replace('|', ' ').split())
    for name in ('n', 'n_joints', 'names', 'joint_names', 'joint_limits', 'coordinates', 'order',
                 'robot', 'gravity', 'payloads'):
        words = ' '.join(inspect.getdoc(getattr(Model, name)).split())
        assert words and f' {name} {words}' in text, name
    assert not [name for name in dir(model) if name.startswith('_')]
    assert {'n', 'names', 'forward_dynamics', 'create_data', 'coordinates'} <= set(dir(model))


@pytest.mark.parametrize('one', [getattr(flex_dynamics, name) for name in flex_dynamics.__all__
                                 if name != 'Loads'], ids=lambda one: one.__name__)
def test_every_public_name_is_documented_and_typed(one):
    assert inspect.getdoc(one)
    calls = [one] if inspect.isfunction(one) else [
        call for name, call in inspect.getmembers(one, inspect.isfunction)
        if not name.startswith('_') and call.__module__.startswith('flex_dynamics')]
    for call in calls:
        assert inspect.getdoc(call), call.__qualname__
        signature = inspect.signature(call)
        assert signature.return_annotation is not inspect.Signature.empty, call.__qualname__
        untyped = [p.name for p in signature.parameters.values()
                   if p.annotation is inspect.Parameter.empty and p.name != 'self']
        assert not untyped, f'{call.__qualname__}: {untyped}'


@pytest.mark.parametrize('one', [Model, simulate, Simulation, Model.linearize, Model.frequencies,
                                 Model.statics], ids=lambda one: one.__qualname__)
def test_the_main_calls_have_parameters_and_an_example_that_runs(one):
    """The lines of the example, as the documentation shows them."""
    text = inspect.getdoc(one)
    assert 'Parameters\n---' in text and 'Examples\n---' in text
    assert isinstance(one, type) or 'Returns\n---' in text
    model = Model(load_robot('lab_link'))
    names = {'np': np, 'model': model, 'Model': Model, 'Simulation': Simulation,
             'simulate': simulate, 'load_robot': load_robot, 'q': np.zeros(model.n),
             'v': np.zeros(model.n), 'tau': np.zeros(model.n_joints)}
    lines = text[text.index('Examples'):].splitlines()
    found = 0
    for line, expected in zip(lines, [*lines[1:], ''], strict=True):
        if not line.startswith('>>> '):
            continue
        code = line[4:]
        if not expected or expected.startswith('>>> '):
            exec(code, names)
        else:
            assert repr(eval(code, names)) == expected.strip()
            found += 1
    assert found


def test_the_old_name_of_results_still_works():
    with pytest.warns(DeprecationWarning, match='SimulationResult'):
        old = flex_dynamics.Trajectory
    assert old is flex_dynamics.SimulationResult
    with pytest.raises(AttributeError, match='no attribute'):
        flex_dynamics.Nothing  # noqa: B018
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert 'Trajectory' not in flex_dynamics.__all__


def test_stations_off_the_beam_are_refused():
    model = Model(load_robot('lab_link'))
    with pytest.raises(DynamicsError, match='along the beam'):
        model.sections('link1', [0.0, 1e3])
