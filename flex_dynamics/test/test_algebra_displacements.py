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
"""Dual vector-parameters: rigid displacements and their screws."""
from __future__ import annotations

import numpy as np
import pytest
from algebra_strategies import VECTOR, quick
from hypothesis import assume, given

from flex_dynamics import DynamicsError
from flex_dynamics.papers import dual_groups, dual_numbers
from flex_dynamics.papers import dual_vector_parameters as dvp
from flex_dynamics.papers.vector_parameters import rotation


@quick
@given(VECTOR, VECTOR, VECTOR, VECTOR)
def test_composition_is_that_of_displacements(c1, p1, c2, p2):
    assume(abs(1.0 - c1 @ c2) > 1e-2)
    both = dvp.compose_dual(dvp.dual_parameter(c1, p1), dvp.dual_parameter(c2, p2))
    R, p = dvp.displacement(both)
    assert rotation(c1) @ rotation(c2) == pytest.approx(R, abs=1e-10)
    assert p == pytest.approx(p1 + rotation(c1) @ p2, abs=1e-8)
    # (156): the matrices of dual rotations multiply alike
    X = dual_groups.dual_rotation(R, p)
    assert pytest.approx(dual_groups.dual_rotation(rotation(c1), p1)
                              @ dual_groups.dual_rotation(rotation(c2), p2), abs=1e-8) == X


@quick
@given(VECTOR, VECTOR)
def test_identity_and_inverse(c, p):
    parameter = dvp.dual_parameter(c, p)
    back = dvp.compose_dual(parameter, -parameter)
    assert back.real == pytest.approx(np.zeros(3), abs=1e-12)
    assert back.dual == pytest.approx(np.zeros(3), abs=1e-10)
    R, there = dvp.displacement(parameter)
    assert rotation(c) == pytest.approx(R) and there == pytest.approx(p, abs=1e-10)


@quick
@given(VECTOR, VECTOR)
def test_every_displacement_is_a_screw(c, p):
    assume(np.linalg.norm(c) > 1e-2)
    found = dvp.screw(c, p)
    # points of the axis only slide along it
    for along in (0.0, 0.7):
        point = found.point + along * found.direction
        assert rotation(c) @ point + p == pytest.approx(point + found.slide * found.direction,
                                                        abs=1e-8)
    assert abs(found.point @ found.direction) < 1e-7
    turned = rotation(np.tan(found.angle / 2.0) * found.direction)
    assert turned == pytest.approx(rotation(c), abs=1e-12)
    line = found.line
    assert dual_numbers.dot(line, line).real == pytest.approx(1.0)
    assert dual_numbers.dot(line, line).dual == pytest.approx(0.0, abs=1e-7)


def test_what_is_no_screw_is_said():
    with pytest.raises(DynamicsError, match='pure translation'):
        dvp.screw(np.zeros(3), np.ones(3))
    quarter = dvp.dual_parameter(np.array([0.0, 0.0, 1.0]), np.ones(3))
    with pytest.raises(DynamicsError, match='half-turn'):
        dvp.compose_dual(quarter, quarter)
