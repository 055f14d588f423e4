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
"""The particles and sections that a beam keeps have its inertia."""
from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from flex_description import load_robot
from flex_dynamics import Model
from flex_dynamics.build.beam_fields import LEVI_CIVITA, BeamFields
from flex_dynamics.build.quadrature import beam_stations, fewest_particles
from flex_dynamics.build.rotary_sections import rotary_sections
from flex_dynamics.kernels.base.layout import LANES


def inertia(roots, p0, p1, p2, eta) -> np.ndarray:
    """Sum of G'G, G = (-[p], root, dp/deta): the blocks of twist and amplitudes."""
    position = p0 + p1 @ eta + (p2 @ eta) @ eta
    turning = np.einsum('abc,kb->kac', LEVI_CIVITA, -position)
    moving = roots[:, None, None] * np.eye(3)
    rows = np.concatenate((turning, moving, p1 + 2.0 * p2 @ eta), axis=2)
    return np.einsum('kci,kcj->ij', rows, rows)


def rotary_inertia(roots, t1, t2, eta) -> np.ndarray:
    """Sum over sections of the squares of their angular velocities per twist and amplitude."""
    theta, slope = t1 @ eta + (t2 @ eta) @ eta, t1 + 2.0 * t2 @ eta
    total = 0.0
    for root, vector, gradient in zip(roots, theta, slope, strict=True):
        R = Rotation.from_rotvec(vector).as_matrix()
        t = np.linalg.norm(vector)
        skew = np.einsum('abc,b->ac', LEVI_CIVITA, -vector)
        Jr = np.eye(3) - (1 - np.cos(t)) / t**2 * skew + (t - np.sin(t)) / t**3 * skew @ skew
        row = root[:, None] * np.hstack((R.T, np.zeros((3, 3)), Jr @ gradient))
        total = total + row.T @ row
    return total


def beams():
    for name in ('cibicik_arm', 'canadarm', 'flexible_tree', 'spin_up_beam', 'lab_link'):
        for link in load_robot(name).links:
            if link.flexible is not None:
                yield pytest.param(link.flexible, id=f'{name} {link.name}')


def stepped_tube(basis: str):
    """A tube of six diameters, whose every step is a new smooth interval."""
    segments = ''.join(
        f'<segment length="0.3"><section shape="hollow_circle" outer_radius="{0.06 - 0.006 * k}" '
        f'inner_radius="{0.057 - 0.006 * k}"/></segment>' for k in range(6))
    robot = load_robot(f"""<robot name="tube"><link name="base"/><link name="boom"/>
      <joint name="slew" type="continuous"><parent link="base"/><child link="boom"/>
        <axis xyz="0 0 1"/></joint>
      <flexible link="boom"><beam><material E="70e9" G="26e9" density="2700"/>{segments}</beam>
        <modes basis="{basis}" bending_y="2" bending_z="2" twist="2"/></flexible></robot>""")
    return robot.links[1].flexible


def states(fields, stations):
    """Amplitudes: near zero, and deflections of a fifth of the length, twists of 0.5 rad."""
    rng = np.random.default_rng(0)
    for size in (1e-3, 1.0):
        eta = rng.uniform(-1.0, 1.0, fields.n_modes) * stations.largest
        yield size * eta / max(fields.counts)


@pytest.mark.parametrize('beam', [*beams(), pytest.param(stepped_tube('fe'), id='stepped tube')])
def test_few_of_them_have_the_inertia_of_many(beam):
    fields = BeamFields(beam, 'second')
    stations = beam_stations(fields)
    few, sections = fewest_particles(fields, stations), rotary_sections(fields, stations)
    root = np.sqrt(stations.weights * stations.mass)
    every = fields.at(stations.x)
    for eta in states(fields, stations):
        exact = inertia(root, root[:, None] * every.r0, root[:, None, None] * every.r1,
                        root[:, None, None, None] * every.r2, eta)
        kept = inertia(few.roots, few.p0, few.p1, few.p2, eta)
        exact_turning = rotary_inertia(np.sqrt(stations.weights[:, None] * stations.inertia),
                                       every.t1, every.t2, eta)
        kept_turning = rotary_inertia(sections.roots, sections.t1, sections.t2, eta)
        size = np.sqrt(np.diag(exact + exact_turning))
        assert np.max(np.abs(kept - exact) / np.outer(size, size)) < 1e-12
        assert np.max(np.abs(kept_turning - exact_turning) / np.outer(size, size)) < 1e-11


@pytest.mark.parametrize('beam', [*beams(), pytest.param(stepped_tube('fe'), id='stepped tube')])
def test_they_fill_vector_registers_and_are_fewer_than_the_stations(beam):
    fields = BeamFields(beam, 'second')
    stations = beam_stations(fields)
    for count in (len(fewest_particles(fields, stations).roots),
                  len(rotary_sections(fields, stations).x)):
        assert count % LANES == 0 and count < len(stations.x)


def test_many_smooth_intervals_do_not_cost_many_sections():
    fields = BeamFields(stepped_tube('craig-bampton'), 'second')
    assert len(fields.breakpoints) == 7
    assert len(rotary_sections(fields, beam_stations(fields)).x) <= 60


@pytest.mark.parametrize('order', ['first', 'second'])
def test_a_turn_of_a_section_does_not_change_its_energy(order):
    # Twist alone: every section turns about the axis, by any angle, with the same inertia.
    model = Model(load_robot('cibicik_arm'), order)
    twist = [k for k, name in enumerate(model.names) if name.startswith('link3/twist')]
    base = model.mass_matrix(np.zeros(model.n))[np.ix_(twist, twist)]
    for angle in (0.1, 0.3, 1.0, 3.0):
        q = np.zeros(model.n)
        q[twist] = angle
        turned = model.mass_matrix(q)[np.ix_(twist, twist)]
        assert np.abs(turned - base).max() < 1e-13 * base.max()
