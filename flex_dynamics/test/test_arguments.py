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
"""Every argument of every public call, with everything that it is not: always a DynamicsError.

Calls and their arguments are found by introspection. An argument under a new name fails
`test_every_argument_is_known` until KINDS says what it is.
"""
from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from symbolic_robots import one_link

import flex_dynamics
from flex_description import load_robot
from flex_dynamics import (
    DistributedLoad,
    DynamicsError,
    Model,
    ParameterDerivatives,
    Poses,
    ReadingNoise,
    Rollout,
    Sensors,
    Servo,
    ServoTargets,
    Simulation,
    SimulationResult,
    Wrench,
    largest_joint_inertia,
    model_parameters,
    simulate,
    simulate_many,
    with_parameters,
)
from flex_dynamics.symbolic import SymbolicModel, derive

LINEAR = Model(load_robot('lab_link'), 'linear')
MODEL = Model(load_robot('lab_link'))
FORCE = np.array([0.0, 0.0, 1.0])
OTHER_DATA = Model(load_robot('spin_up_beam')).create_data()


def symbolic() -> SymbolicModel:
    return SymbolicModel(derive(one_link('pinned-pinned', 2)), 'numpy')


def not_vectors(length: int) -> dict:
    """What is no vector of real, finite numbers of this length."""
    good = np.full(length, 0.01)
    nan, objects = good.copy(), good.astype(object)
    nan[-1], objects[0] = np.nan, None
    return {
        'too short': good[:-1], 'too long': np.zeros(length + 1), 'no numbers': [],
        'a matrix': good[None], 'a number': 0.5, 'nan': nan, 'inf': np.full(length, np.inf),
        'huge': np.full(length, 1e200), 'huge integers': [10**400] * length,
        'complex': good + 1j, 'complex list': [1j] * length,
        'masked': np.ma.masked_array(good, mask=np.ones(length, bool)), 'bools': good > 0.0,
        'text': 'abc', 'texts': ['0.1'] * length, 'bytes': [b'1'] * length, 'None': None,
        'Nones': [None] * length, 'objects': objects, 'a dict': {'joint1': 0.1},
        'ragged': [[0.0], *[[0.0, 1.0]] * (length - 1), [0.0]], 'a class': object,
        'dates': np.zeros(length, 'datetime64[s]'), 'strings in objects':
        np.array(['0.1'] * length, dtype=object)}


NOT_NUMBERS = {'nan': np.nan, 'inf': np.inf, 'minus inf': -np.inf, 'text': '0.1', 'bytes': b'1',
               'complex': 1j, 'a list': [0.1, 0.2], 'a list of one': [0.1], 'huge': 10**400,
               'True': True, 'a dict': {}, 'None': None, 'masked': np.ma.masked,
               'an array': np.zeros(3)}
NOT_TEXT = {'None': None, 'a number': 3, 'bytes': b'link1', 'empty': '', 'a list': ['link1'],
            'an array': np.array(['link1', 'base'])}
NO_FRAME = {**NOT_TEXT, 'unknown': 'nowhere'}
NOT_WHOLE = {'a half': 1.5, 'a float': 2.0, 'below zero': -5, 'text': '3', 'None': None,
             'nan': np.nan, 'True': True, 'a list': [1], 'huge': 10**30}
NOT_LOADS = {
    'a number': 3, 'text': 'payload', 'an array': np.zeros(6),
    'a wrench': Wrench('payload', FORCE), 'numbers': [3], 'Nones': [None],
    'no frame': {3: np.zeros(6)},
    'unknown': {'nowhere': np.zeros(6)}, 'texts': {'payload': 'abc'},
    'three': {'payload': np.zeros(3)}, 'complex': {'payload': np.full(6, 1j)},
    'masked': {'payload': np.ma.masked_all(6)}, 'two': [Wrench('payload', FORCE[:2])],
    'nan': [Wrench('payload', FORCE * np.nan)], 'moment': [Wrench('payload', FORCE, 'abc')],
    'huge': [Wrench('payload', FORCE * 1e200)], 'off': [Wrench('link1', FORCE, x=99.0)],
    'x text': [Wrench('link1', FORCE, x='0.1')], 'no name': [Wrench(None, FORCE)],
    'rigid': [DistributedLoad('base', FORCE)], 'spread': [DistributedLoad('link1', 'abc')],
    'spread by': [DistributedLoad('link1', lambda x: np.zeros(2))]}
NOT_PLACES = {'None': None, 'text': 'link1', 'a number': 3, 'names': ['link1'],
              'one': [('link1',)], 'three': [('link1', 0.1, 0.2)], 'unknown': [('nowhere', None)],
              'x text': [('link1', '0.1')], 'off': [('link1', 99.0)], 'nan': [('link1', np.nan)],
              'nobody': [(None, None)]}
NO_FLAG = {'None': None, 'text': 'yes', 'a number': 1, 'an array': np.ones(2, bool)}
NO_FUNCTION = {'a number': 3, 'text': 'sin', 'to text': lambda t, q, v: 'abc',
               'to nan': lambda t, q, v: np.nan, 'to None': lambda t, q, v: None}
NO_SERVO = {
    'a number': 3, 'a tuple': (1.0, 1.0, 0.0),
    'gains': Servo([1.0, 1.0], [1.0], lambda t: [0.0]),
    'texts': Servo(['1'], [1.0], lambda t: [0.0]), 'nan': Servo([1.0], [np.nan], lambda t: [0.0]),
    'target': Servo([1.0], [1.0], lambda t: 'abc'),
    'targets': Servo([1.0], [1.0], lambda t: [0.0, 0.0]),
    'rates': Servo([1.0], [1.0], lambda t: ([0.0], [1j])),
    'nan target': Servo([1.0], [1.0], lambda t: [np.nan]),
    'no function': Servo([1.0], [1.0], [0.0])}


NO_NAMES = {'None': None, 'a number': 3, 'unknown': ['nowhere'], 'numbers': [3], 'bytes': b'x',
            'Nones': [None], 'text': 'nowhere'}


NO_PARAMETERS = {'a number': 3, 'text': 'link1.mass', 'a list': ['link1.damping'],
                 'unknown': {'link1.dampin': 0.1}, 'nobody': {'nowhere.mass': 1.0},
                 'number': {3: 1.0}, 'below zero': {'link1.damping': -0.1},
                 'zero': {'link1.twist_stiffness': 0.0}, 'text value': {'link1.damping': '0.1'},
                 'nan': {'link1.damping': np.nan}, 'None': {'link1.damping': None},
                 'complex': {'link1.damping': 1j}, 'a table': {'link1.damping': [[0.1]]}}
NO_PATHS = {'a number': 3, 'text': 'gravity.z', 'unknown': ['gravity.w'], 'numbers': [3],
            'None': None, 'Nones': [None], 'bytes': b'x'}
NO_TARGETS = {'a number': 3, 'servo': Servo([1.0], [1.0], lambda t: [0.0]),
              'gains': ServoTargets([1.0, 1.0], [1.0], [0.0]),
              'texts': ServoTargets(['1'], [1.0], [0.0]),
              'target': ServoTargets([1.0], [1.0], 'abc'),
              'targets': ServoTargets([1.0], [1.0], [0.0, 0.0]),
              'rates': ServoTargets([1.0], [1.0], [0.0], [1j]),
              'nan': ServoTargets([1.0], [1.0], [np.nan])}


def without(values: dict, *names: str) -> dict:
    return {what: value for what, value in values.items() if what not in names}


def not_rows(length: int) -> dict:
    """What is no matrix (N, length) of real, finite numbers."""
    return {'a vector': np.zeros(length), 'a number': 0.5, 'None': None,
            'masked': np.ma.masked_all((1, length)),
            **{f'row: {what}': [bad] for what, bad in not_vectors(length).items()
               if what != 'masked'}}


def positive(more: dict | None = None) -> dict:
    return {**NOT_NUMBERS, 'zero': 0.0, 'below zero': -1.0, **(more or {})}


# By argument: a value that is one, and values that are not, for a model.
KINDS = {
    **{name: lambda m: (np.zeros(m.n), not_vectors(m.n)) for name in ('q', 'v', 'a')},
    **{name: lambda m: (np.zeros(m.n_joints), not_vectors(m.n_joints)) for name in (
        'tau', 'q_joints', 'joint_stiffness', 'stiffness', 'damping', 'target', 'target_rate')},
    'gravity': lambda m: (FORCE, not_vectors(3)), 'centre': lambda m: (FORCE, not_vectors(3)),
    'tensor': lambda m: (np.eye(3), not_vectors(3)),
    'value': lambda m: (np.zeros(3), not_vectors(3)),
    'x': lambda m: (0.5, {**NOT_NUMBERS, 'before': -0.1, 'behind': 99.0}),
    'frame': lambda m: ('link1', NO_FRAME), 'link': lambda m: ('link1', NO_FRAME),
    'name': lambda m: ('joint1', NOT_TEXT), 'joints': lambda m: ('free', NO_FRAME),
    'order': lambda m: ('second', {**NO_FRAME, 'None': None}),
    'method': lambda m: ('midpoint', NO_FRAME), 'kind': lambda m: ('numpy', NO_FRAME),
    'wrenches': lambda m: ([], NOT_LOADS), 'loads': lambda m: ([], NOT_LOADS),
    'points': lambda m: ([('link1', 0.5)], NOT_PLACES),
    'places': lambda m: ([('link1', 0.5)], NOT_PLACES),
    'mass': lambda m: (1.0, positive()), 'duration': lambda m: (0.02, positive({'odd': 0.0155})),
    'step': lambda m: (0.01, positive()),
    'output_step': lambda m: (0.01, positive({'odd': 0.015, 'less': 5e-4})),
    'tolerance': lambda m: (1e-6, positive({'below rounding': 1e-20})),
    'energy_ahead': lambda m: (None, NOT_NUMBERS),
    'time': lambda m: (0.0, NOT_NUMBERS), 't': lambda m: (0.0, NOT_NUMBERS),
    'steps': lambda m: (1, NOT_WHOLE), 'sweeps': lambda m: (1, NOT_WHOLE),
    'status': lambda m: (0, {**NOT_WHOLE, 'below zero': -5}),
    'stations': lambda m: ([0.1, 0.5], {
        **{what: bad for what, bad in not_vectors(2).items() if not what.startswith('too ')},
        'off': [0.1, 99.0]}),
    'data': lambda m: (None, {'text': 'abc', 'of another': OTHER_DATA, 'a model': m}),
    'balance': lambda m: (True, NO_FLAG), 'loaded': lambda m: (True, NO_FLAG),
    'paths': lambda m: (['gravity.z'], NO_PATHS),
    'by_states': lambda m: (np.zeros(2 * m.n), not_vectors(2 * m.n)),
    'reach': lambda m: (0.1, positive()), 'held': lambda m: ([], NO_NAMES),
    'active': lambda m: ([], NO_NAMES),
    'supports': lambda m: (m.robot.supports, {'None': None, 'a name': 'foot', 'names': ('foot',)}),
    'a_held': lambda m: ([], {'None': None, 'text': 'abc', 'too long': [1.0], 'a number': 0.5,
                              'nan': [np.nan]}),
    'progress': lambda m: (False, NO_FLAG), 'event': lambda m: (lambda t, q, v: -1.0, NO_FUNCTION),
    'servo': lambda m: (None, NO_SERVO),
    'rest': lambda m: (None, without(not_vectors(1), 'a matrix', 'ragged')),
    'control': lambda m: (None, {'a number': 3, 'text': 'pd', 'numbers': [3]}),
    'noise': lambda m: (None, {'a number': 0.1, 'text': '0.1', 'numbers': [0.1], 'nan': np.nan,
                               'without a filter': ReadingNoise([0.1])}),
    'parameters': lambda m: (None, NO_PARAMETERS), 'values': lambda m: ({}, NO_PARAMETERS),
    'runs': lambda m: (1, {**NOT_WHOLE, 'none': 0, 'too many': 10**9}),
    'threads': lambda m: (1, {**NOT_WHOLE, 'none': 0}),
    'frames': lambda m: ((), {'a number': 3, 'unknown': ['nowhere'], 'numbers': [3],
                              'Nones': [None], 'text': 'payload'}),
    'robot': lambda m: (m.robot, {'a name': 'lab_link', 'None': None, 'a model': m}),
    'model': lambda m: (m, {'a robot': m.robot, 'a name': 'lab_link', 'None': None}),
    'equations': lambda m: (getattr(m, 'equations', None), {'None': None, 'a model': MODEL}),
    # Said in the error only, or by other modules of this package.
    'length': lambda m: (3, {}), 'most': lambda m: (1e9, {}),
}
# Where an argument of that name is something else.
OWN = {('without_payload', 'name'): lambda m: ('box', {**NO_FRAME}),
       ('finite_vector', 'name'): lambda m: ('q', {}),
       ('of', 'name'): lambda m: (m.names[0], NO_FRAME),
       # A class can be called, so that it is taken for a function of (t, q, v).
       ('simulate', 'tau'): lambda m: (None, {what: bad for what, bad in not_vectors(1).items()
                                              if what != 'a class'}),
       # Of many runs a matrix has one row each.
       **{('simulate_many', name): lambda m: (None, without(not_vectors(m.n), 'a matrix'))
          for name in ('q', 'v')},
       **{(name, of): lambda m: (np.zeros((1, m.n)), not_rows(m.n))
          for name, of in (('paths', 'q'), *(('inverse_dynamics_along', of) for of in 'qva'))},
       ('simulate_many', 'tau'): lambda m: (None, without(not_vectors(1), 'a matrix', 'ragged')),
       ('simulate_many', 'servo'): lambda m: (None, NO_TARGETS),
       ('simulate_many', 'model'): lambda m: (m, {
           'a robot': m.robot, 'a name': 'lab_link', 'None': None, 'none': [], 'names': ['x']}),
       ('simulate_many', 'progress'): lambda m: (False, {'text': 'yes', 'a number': 1}),
       ('Rollout', 'tau'): lambda m: (np.zeros((1, m.n_joints)), without(
           not_vectors(m.n_joints), 'a matrix', 'ragged')),
       ('Rollout', 'parameters'): lambda m: ((), NO_PATHS),
       # The sweeps of a step end by themselves at rounding; scipy would go on.
       ('Simulation', 'tolerance'): lambda m: (1e-6, positive())}


def public_calls(one) -> list[str]:
    return [name for name in dir(one) if not name.startswith('_') and callable(getattr(one, name))]


def objects() -> dict:
    """Something with calls, and the model that its arguments belong to."""
    with_box = MODEL.with_payload('box', 'payload', 1.0)
    own = symbolic()
    found = {f'Model.{name}': (with_box, name, MODEL) for name in public_calls(Model)}
    found.update({f'linear.{name}': (LINEAR.with_payload('box', 'link1', 1.0), name, LINEAR)
                  for name in public_calls(Model)})
    found.update({f'SymbolicModel.{name}': (own, name, own) for name in public_calls(Model)
                  if name != 'without_payload'})
    for kind, one in (('Simulation', Simulation(MODEL, 1e-3)), ('Sensors', Sensors(MODEL)),
                      ('Poses', Poses(MODEL, [])),
                      ('Servo', Servo(np.ones(1), np.ones(1), lambda t: np.zeros(1))),
                      ('BeamSections', MODEL.sections('link1', [0.1, 0.5])),
                      ('ParameterDerivatives', ParameterDerivatives(MODEL, ['gravity.z'])),
                      ('Rollout', Rollout(MODEL, np.zeros(MODEL.n), np.zeros(MODEL.n),
                                          np.zeros((1, MODEL.n_joints)))),
                      ('SimulationResult', simulate(MODEL, 1e-3))):
        found.update({f'{kind}.{name}': (one, name, MODEL) for name in public_calls(type(one))})
    for kind in (Model, Simulation, Sensors, Poses, ParameterDerivatives, Rollout):
        found[kind.__name__] = (kind, None, MODEL)
    found['SymbolicModel'] = (SymbolicModel, None, own)
    found['simulate'] = (simulate, None, MODEL)
    found['simulate_many'] = (simulate_many, None, MODEL)
    found['model_parameters'] = (model_parameters, None, MODEL)
    found['with_parameters'] = (with_parameters, None, MODEL)
    found['largest_joint_inertia'] = (largest_joint_inertia, None, MODEL)
    return found


CALLS = objects()
# Records that are checked where they are used, in NOT_LOADS and NO_SERVO, and results.
RECORDS = {'BatchResult', 'ControlSchedule', 'Coordinates', 'Data', 'DistributedLoad',
           'DynamicsError', 'FrameMotion', 'ImuReading', 'JointLimits', 'LinkCoordinates', 'Loads',
           'ModelParameter', 'ReadingNoise', 'Servo', 'ServoTargets', 'SimulationResult', 'Terms',
           'Wrench'}


def call_of(which: str):
    one, name, model = CALLS[which]
    return one if name is None else getattr(one, name), name or which, model


def parameters(call) -> list[inspect.Parameter]:
    return list(inspect.signature(call).parameters.values())


def kind_of(name: str, parameter: str):
    return OWN.get((name, parameter), KINDS[parameter])


def test_every_public_name_is_called():
    assert set(flex_dynamics.__all__) - RECORDS <= {which.split('.')[0] for which in CALLS}


@pytest.mark.parametrize('which', CALLS)
def test_every_argument_is_known(which):
    call, name, _ = call_of(which)
    assert not {p.name for p in parameters(call)} - set(KINDS)


def good_arguments(call, name, model) -> dict:
    found = {}
    for parameter in parameters(call):
        if parameter.default is inspect.Parameter.empty:
            found[parameter.name] = kind_of(name, parameter.name)(model)[0]
    return found


@pytest.mark.parametrize('which', CALLS)
def test_what_an_argument_is_not_is_refused(which):
    call, name, model = call_of(which)
    good = good_arguments(call, name, model)
    call(**good)
    failures = []
    for parameter in parameters(call):
        for what, bad in kind_of(name, parameter.name)(model)[1].items():
            if bad is None and parameter.default is None:
                continue
            failures += refused(call, {**good, parameter.name: bad}, f'{parameter.name}, {what}')
    assert not failures, '\n'.join(failures)


def refused(call, arguments: dict, what: str) -> list[str]:
    """Nothing, or what happened instead of a DynamicsError of one line."""
    with warnings.catch_warnings():
        warnings.simplefilter('error')          # numpy warns where it drops something
        try:
            result = call(**arguments)
        except DynamicsError as error:
            if '\n' in str(error) or len(str(error)) > 500 or not any(
                    word in str(error) for word in ('expected', 'not attached', 'not a flexible',
                                                    'not on a flexible')):
                return [f'{what}: said {error}']
            return []
        except Exception as error:
            return [f'{what}: {type(error).__name__}: {error}']
    return [f'{what}: taken, gave {type(result).__name__}']


def test_what_was_refused_has_changed_nothing():
    """All the wrong calls above, then the right answer."""
    simulation = Simulation(MODEL, 1e-3)
    for name in public_calls(Simulation):
        call = getattr(simulation, name)
        for parameter in parameters(call):
            for bad in kind_of(name, parameter.name)(MODEL)[1].values():
                if bad is None and parameter.default is None:
                    continue
                refused(call, {**good_arguments(call, name, MODEL), parameter.name: bad}, '')
    assert simulation.time == 0.0 and not simulation.q.any() and not simulation.servo.any()
    fresh = Simulation(MODEL, 1e-3)
    for run in (simulation, fresh):
        run.advance(20)
    np.testing.assert_array_equal(simulation.q, fresh.q)
    assert simulation.time == fresh.time == pytest.approx(0.02)


@pytest.mark.parametrize('name', ['step', 'tolerance', 'time', 'balance', 'q', 'v', 'model',
                                  'servo'])
def test_attributes_of_a_simulation_are_checked(name):
    simulation = Simulation(MODEL, 1e-3)
    for bad in ('abc', None, np.nan):
        with pytest.raises(DynamicsError, match=f'{name}: expected'):
            setattr(simulation, name, bad)


def test_a_state_may_be_changed_in_place():
    simulation = Simulation(MODEL, 1e-3)
    simulation.v += 0.01
    simulation.advance(1)
    assert np.abs(simulation.q).min() > 1e-6


def test_numbers_in_other_forms_are_taken():
    """A whole array of a masked type, read-only and integer arrays, numpy's scalars."""
    n = MODEL.n
    expected = MODEL.mass_matrix(np.ones(n))
    read_only = np.ones(n)
    read_only.setflags(write=False)
    for form in (np.ma.masked_array(np.ones(n)), read_only, np.ones(n, dtype=int), [1] * n,
                 np.ones(n, dtype=np.float32), np.array([1] * n, dtype=object), tuple([1.0] * n)):
        np.testing.assert_array_equal(MODEL.mass_matrix(form), expected)
    for x in (np.float32(0.5), np.array(0.5), np.int64(1), 1):
        assert MODEL.pose(np.zeros(n), 'link1', x).shape == (4, 4)
    simulation = Simulation(MODEL, np.float64(1e-3))
    simulation.advance(np.int32(2))
    assert simulation.time == pytest.approx(2e-3)
    assert isinstance(simulate(MODEL, 1e-3), SimulationResult)
