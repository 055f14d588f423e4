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
"""Data: scratch memory apart from the model, one a thread, and threads that run in parallel."""
from __future__ import annotations

import copy
import pickle
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from random_robots import random_robot, random_state
from symbolic_robots import derived

from flex_description import load_robot
from flex_dynamics import Data, DynamicsError, Model, Simulation
from flex_dynamics.symbolic import SymbolicModel

ROUNDS = 60


@pytest.fixture(scope='module', params=['linear', 'first', 'second', 'exported'])
def model(request) -> Model:
    if request.param == 'exported':
        return SymbolicModel(derived('lin_lewis_rfr', 'lagrange', 'second'), 'numpy')
    return Model(load_robot('cibicik_arm_paper'), request.param)


def answers(model: Model, seed: int, data: Data | None) -> list[np.ndarray]:
    """Everything that needs scratch memory, at one random state."""
    rng = np.random.default_rng(seed)
    q, v = random_state(rng, model, 0.002)
    a, tau = rng.normal(size=model.n), rng.normal(size=model.n_joints)
    tip = model.robot.links[-1].name
    load = {tip: rng.normal(size=6)}
    motion = model.frame_motion(q, v, tip, data=data)
    mass, moment = model.first_moment(q, data)
    return [model.forward_dynamics(q, v, tau, data=data),
            model.forward_dynamics(q, v, tau, load, data=data),
            model.inverse_dynamics(q, v, a, data), model.mass_matrix(q, data),
            model.coriolis_matrix(q, v, data), *model.terms(q, v, data),
            model.gravity_force(q, data), model.bias_force(q, v, data), *motion,
            model.pose(q, tip, data=data), model.jacobian(q, tip, data=data),
            model.jacobian_rate(q, v, tip, data=data), np.array(mass), moment,
            np.array(model.energy(q, v, data))]


def test_own_data_gives_what_the_thread_s_gives(model):
    own = model.create_data()
    for seed in range(3):
        for one, other in zip(answers(model, seed, own), answers(model, seed, None), strict=True):
            np.testing.assert_array_equal(one, other)
    q, v, tau = np.zeros(model.n), np.zeros(model.n), np.zeros(model.n_joints)
    for call in (lambda data: model.linearize(q, v, tau, data),
                 lambda data: model.frequencies(q, 'locked', data=data),
                 lambda data: model.statics(tau, data=data)):
        for one, other in zip(call(own), call(None), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize('given', ['own data', 'default'])
def test_threads_agree_with_one_thread(model, given):
    """Four threads on one model, each at states of its own, at a switch interval that makes them
    interleave wherever the interpreter allows it."""
    expected = [answers(model, seed, None) for seed in range(4)]
    together = threading.Barrier(4)

    def work(seed: int) -> None:
        data = model.create_data() if given == 'own data' else None
        together.wait()
        for _ in range(ROUNDS // 4):
            for one, other in zip(answers(model, seed, data), expected[seed], strict=True):
                np.testing.assert_array_equal(one, other)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(work, seed) for seed in range(4)]:
                done.result()
    finally:
        sys.setswitchinterval(before)


def test_simulations_of_one_model_in_threads_agree_with_one_after_another():
    model = Model(load_robot('cibicik_arm_paper'))

    def run(start: float) -> np.ndarray:
        simulation = Simulation(model, 1e-3, q=np.full(model.n, start))
        for _ in range(20):
            simulation.advance(10)
        return np.concatenate((simulation.q, simulation.v))

    starts = [0.0, 1e-3, 2e-3, 3e-3]
    expected = [run(start) for start in starts]
    with ThreadPoolExecutor(4) as pool:
        for found, wanted in zip(pool.map(run, starts), expected, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_python_goes_on_during_one_kernel_call():
    """While one kernel call moves time, another thread runs Python code: with the interpreter lock
    held it could not see a state between the first and the last of the call.

    The switch interval is so long that the main thread never gives up the lock between two
    bytecodes: either the kernel does, or the watcher never runs before the loop ends."""
    model = Model(load_robot('cibicik_arm'))
    simulation = Simulation(model, 1e-5, q=np.full(model.n, 1e-3))
    simulation.advance(1)
    seen: set[float] = set()
    started, done = threading.Event(), threading.Event()

    def watch() -> None:
        started.set()
        while not done.is_set():
            seen.add(float(simulation.q[0]))
            time.sleep(0.0)          # gives up the lock, which the interval would not

    watcher = threading.Thread(target=watch, daemon=True)
    before = sys.getswitchinterval()
    watcher.start()
    started.wait()
    sys.setswitchinterval(1e3)
    try:
        ends = {float(simulation.q[0])}
        for _ in range(50):
            simulation.advance(1000)
            ends.add(float(simulation.q[0]))
            if len(seen - ends) > 1:
                break
        during = seen - ends
    finally:
        sys.setswitchinterval(before)
        done.set()
        watcher.join()
    assert len(during) > 1


def test_data_of_another_model_is_refused(model):
    q, v, tau = np.zeros(model.n), np.zeros(model.n), np.zeros(model.n_joints)
    for data in (Model(load_robot('lab_link')).create_data(), 'data', 0):
        for call in (lambda data=data: model.forward_dynamics(q, v, tau, data=data),
                     lambda data=data: model.mass_matrix(q, data),
                     lambda data=data: model.pose(q, model.robot.links[-1].name, data=data),
                     lambda data=data: model.linearize(q, v, tau, data)):
            with pytest.raises(DynamicsError, match=r'data: expected the Data of this model.*'
                                                    r'model\.create_data\(\) gives one'):
                call()


@pytest.mark.parametrize('duplicate', [copy.copy, copy.deepcopy,
                                       lambda data: pickle.loads(pickle.dumps(data))],
                         ids=['copy', 'deepcopy', 'pickle'])
def test_a_copy_has_memory_of_its_own(duplicate):
    model = Model(load_robot('lab_link'))
    data = model.create_data()
    other = duplicate(data)
    assert not np.shares_memory(other.work, data.work)
    assert not (other.handle == data.handle).all()


def test_a_model_holds_no_scratch_memory():
    """No call changes an array of the model: what it holds is the same before and after."""
    model = Model(random_robot(5, base='floating'))
    before = pickle.dumps(model)
    answers(model, 0, None)
    model.statics(np.zeros(model.n_joints))
    assert pickle.dumps(model) == before


def test_sections_that_were_asked_for_once_do_not_fill_the_memory():
    model = Model(load_robot('lab_link'))
    data = model.create_data()
    q = np.full(model.n, 0.01)
    stations = np.linspace(0.0, model.beam('link1').flexible.length, 2500)
    last = [model.pose(q, 'link1', x, data)[1, 3] for x in stations]
    assert len(data.sections) <= 1000
    np.testing.assert_array_equal(last[:3], [model.pose(q, 'link1', x, data)[1, 3]
                                             for x in stations[:3]])
