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
"""What a call from Python may hand to the kernels, and what copies of a model do."""
from __future__ import annotations

import copy
import gc
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numba import njit, types

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model
from flex_dynamics.kernels.first_call import AtFirstCall


@pytest.fixture(scope='module')
def model() -> Model:
    return Model(load_robot('cibicik_arm_paper'))


@pytest.fixture()
def state(model):
    rng = np.random.default_rng(5)
    return (0.01 * rng.normal(size=model.n), 0.1 * rng.normal(size=model.n),
            rng.normal(size=model.n_joints))


def read_only(x):
    x = x.copy()
    x.setflags(write=False)
    return x


@pytest.mark.parametrize('form', [
    list, tuple, read_only, lambda x: np.repeat(x, 2)[::2], lambda x: x.astype('>f8'),
    lambda x: np.asarray(x, dtype=object)], ids=['list', 'tuple', 'read-only', 'every second',
                                                 'big-endian', 'objects'])
def test_any_form_of_numbers_gives_the_same(model, state, form):
    q, v, tau = state
    np.testing.assert_array_equal(model.forward_dynamics(form(q), form(v), form(tau)),
                                  model.forward_dynamics(q, v, tau))
    for one, other in zip(model.terms(form(q), form(v)), model.terms(q, v), strict=True):
        np.testing.assert_array_equal(one, other)


def test_results_are_new_arrays(model, state):
    q, v, tau = state
    first = model.forward_dynamics(q, v, tau)
    kept = first.copy()
    mass = model.terms(q, v).M
    kept_mass = mass.copy()
    model.forward_dynamics(2.0 * q, v, tau)
    model.terms(2.0 * q, v)
    np.testing.assert_array_equal(first, kept)
    np.testing.assert_array_equal(mass, kept_mass)


DUPLICATES = pytest.mark.parametrize('duplicate', [
    copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))],
    ids=['copy', 'deepcopy', 'pickle'])


@DUPLICATES
def test_a_copy_lives_on_its_own(state, duplicate):
    original = Model(load_robot('cibicik_arm_paper'))
    expected = original.forward_dynamics(*state)
    other = duplicate(original)
    del original
    gc.collect()
    for _ in range(20):
        np.zeros(200_000).fill(np.nan)
    np.testing.assert_array_equal(other.forward_dynamics(*state), expected)


# Shapes of every basis: formulas are parsed into functions, which no pickle holds.
SHAPES = ('expression" expression_y="(x/L)^2; (x/L)^3" expression_z="1 - cos(pi*x/L)" '
          'expression_twist="sin(x/L)', 'craig-bampton', 'clamped-free', 'clamped-mass',
          'pinned-pinned', 'pinned-free', 'polynomial', 'fe')


@DUPLICATES
@pytest.mark.parametrize('basis', SHAPES, ids=lambda text: text.split('"')[0])
def test_copies_of_every_basis_are_equal(basis, duplicate):
    twist = 0 if basis.startswith('pinned') else 1
    model = Model(load_robot(f"""<robot name="arm"><link name="base"/><link name="link1"/>
      <joint name="joint1" type="continuous"><parent link="base"/><child link="link1"/>
        <axis xyz="0 0 1"/></joint>
      <flexible link="link1"><beam length="2"><section A="1e-3" Iy="1e-8" Iz="1e-8" J="2e-8"/>
        <material E="7e10" G="2.6e10" density="2700"/></beam>
        <modes bending_y="2" bending_z="1" twist="{twist}" basis="{basis}"/></flexible>
      </robot>"""))
    rng = np.random.default_rng(3)
    q, v = 0.01 * rng.normal(size=(2, model.n))
    other = duplicate(model)
    np.testing.assert_array_equal(other.mass_matrix(q), model.mass_matrix(q))
    # A station that was not asked for before: the copy evaluates its own shapes.
    np.testing.assert_array_equal(other.pose(q, 'link1', 1.234), model.pose(q, 'link1', 1.234))
    np.testing.assert_array_equal(Model(other.robot).forward_dynamics(q, v, [1.0]),
                                  model.forward_dynamics(q, v, [1.0]))


@pytest.mark.parametrize('bad, word', [
    (np.zeros(15), 'shape'), (np.zeros((4, 4)), 'shape'), (np.full(16, np.nan), 'finite'),
    (np.full(16, 1e200), r'at most 1e\+'), ('sixteen', 'numbers'), (None, 'shape'),
    (0.0, 'shape')])
def test_what_is_not_a_state_is_said(model, state, bad, word):
    q, v, tau = state
    for call in (lambda: model.forward_dynamics(bad, v, tau),
                 lambda: model.forward_dynamics(q, bad, tau), lambda: model.terms(bad, v),
                 lambda: model.terms(q, bad), lambda: model.mass_matrix(bad)):
        with pytest.raises(DynamicsError, match=word):
            call()


def test_kernels_are_prepared_once_for_many_threads():
    """A new kernel for each number of threads, called by all of them at once."""
    for threads in (2, 4, 8):
        @njit
        def twice(x):
            return 2 * x

        kernel, start = AtFirstCall(twice, types.int64), threading.Barrier(threads)

        def call(number, kernel=kernel, start=start):
            start.wait()
            return kernel.call(number)

        with ThreadPoolExecutor(threads) as pool:
            assert list(pool.map(call, range(threads))) == [2 * k for k in range(threads)]
