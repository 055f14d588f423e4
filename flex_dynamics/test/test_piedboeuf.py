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
"""Statics of Piedboeuf's experiment: one link, an eccentric tool, a vertical force at its end.

Rows of curves 5 and 7 (EPM-RT-93-17), computed independently of this package: force (N, upwards),
joint angle (deg), end deflection v(l) (m) in his second-order model and as the exact inextensible
elastica, motor torque (N m) of the elastica, curvature (1/m) at gauge 1 in his second-order model,
v(l) with the integrals of second order left out (his first order).
"""
from __future__ import annotations

import numpy as np
import pytest

from flex_description import load_robot
from flex_dynamics import Model, Wrench

ROWS = [
    (-2.46, -60, -0.01424088265, -0.01423450953, 1.779313217, -0.114110473, -0.01544937356),
    (-2.46, -15, -0.05954714991, -0.05924738733, 4.843445008, -0.3262232976, -0.06105774446),
    (-2.46, 0, -0.06911379516, -0.06862459556, 5.357082665, -0.3638072926, -0.06911379516),
    (-2.46, 35, -0.07422418587, -0.07353473889, 5.205553929, -0.359771359, -0.06999923143),
    (-2.46, 45, -0.07052228969, -0.06989953984, 4.791334572, -0.3328469595, -0.06554352756),
    (-2.46, 70, -0.05097291132, -0.05068224584, 3.082586254, -0.2180391323, -0.04609440528),
    (-5.4, -60, -0.01351810534, -0.01350826896, 2.1719017, -0.1373332124, -0.01514838837),
    (-5.4, -15, -0.08320184947, -0.08238931195, 6.675989871, -0.4527702088, -0.08629452075),
    (-5.4, 0, -0.09998664158, -0.09851023955, 7.538599269, -0.5173182569, -0.09998664158),
    (-5.4, 35, -0.1165964126, -0.1138830203, 7.763026391, -0.546405097, -0.1067631439),
    (-5.4, 45, -0.1138617602, -0.1111790693, 7.306903307, -0.5178027975, -0.1018911538),
    (-5.4, 70, -0.08988314654, -0.08821846052, 5.117462002, -0.3696164134, -0.07685575533),
]


@pytest.fixture(scope='module')
def models():
    robot = load_robot('piedboeuf_arm')
    return {order: Model(robot, order) for order in ('first', 'second')}


def deflected(model, force: float, angle: float):
    """q, effort and the end deflection in the link's frame."""
    q, effort = model.statics([np.radians(angle)],
                              [Wrench('endpoint', np.array([0.0, 0.0, force]))])
    tip = np.linalg.inv(model.pose(q, 'arm')) @ model.pose(q, 'tool')
    return q, effort[0], tip[1, 3]


@pytest.mark.parametrize('row', ROWS, ids=lambda row: f'{row[0]}N{row[1]}deg')
def test_statics(models, row):
    force, angle, second, elastica, torque, gauge, first = row
    q, effort, found = deflected(models['second'], force, angle)
    # His equations keep terms of second order only; ours keep their products too.
    assert found == pytest.approx(second, abs=1e-3)
    assert found == pytest.approx(elastica, abs=2.5e-3)
    assert effort == pytest.approx(torque, abs=8e-3)
    assert models['second'].curvature(q, 'arm', 0.0191)[2] == pytest.approx(gauge, abs=4e-3)
    assert deflected(models['first'], force, angle)[2] == pytest.approx(first, abs=1e-3)
