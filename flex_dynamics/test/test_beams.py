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
"""Textbook beams: frequencies, deflections, buckling, damping."""
from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy.linalg import eigh
from scipy.optimize import brentq
from small_robots import EIY, EIZ, GJ, LENGTH, RHO_A, beam_robot

from flex_description import load_robot
from flex_description.commands.describe import main as describe
from flex_dynamics import DistributedLoad, Model, Wrench

CLAMPED_FREE = np.array([1.8751040687, 4.6940911330, 7.8547574382])
PINNED_FREE = np.array([3.9266023120, 7.0685827456])
# Self-weight at which a standing cantilever buckles, times rho A g L^3 / E I: Greenhill.
GREENHILL = 7.8373474


# Rotary inertia, which textbooks leave out: so little of it that it takes 3e-11 of a frequency.
THIN = 1e-13


def rates(roots, stiffness) -> np.ndarray:
    return (roots / LENGTH) ** 2 * np.sqrt(stiffness / RHO_A)


class Ritz:
    """The textbook's integrals over given shapes: a witness of what n shapes can give.

    shapes(x, d): d-th derivatives (n, len(x)). Frequencies are of E I = 1 N m2 and RHO_A.
    """

    def __init__(self, *shapes) -> None:
        nodes, weights = np.polynomial.legendre.leggauss(80)
        x, weights = 0.5 * LENGTH * (nodes + 1.0), 0.5 * LENGTH * weights
        self.mass, self.slope, self.bend = (
            (values * weights) @ values.T for values in (
                np.concatenate([shape(x, d) for shape in shapes]) for d in range(3)))

    def frequencies(self) -> np.ndarray:
        return np.sqrt(np.abs(eigh(self.bend, RHO_A * self.mass, eigvals_only=True)))

    def buckling(self) -> float:
        """Compression by E I, 1/m2, at which the least stiffness vanishes."""
        return 1.0 / eigh(self.slope, self.bend, eigvals_only=True)[-1]


def powers(first: int, last: int):
    return lambda x, d: np.array([Polynomial.basis(k)(x / LENGTH) if d == 0 else
                                  Polynomial.basis(k).deriv(d)(x / LENGTH) / LENGTH**d
                                  for k in range(first, last + 1)])


def beam_modes(roots, share):
    """cosh - cos - c (sinh - sin), c = share(root); derivatives turn signs of cos and sin."""
    def shapes(x, d):
        rows = []
        for b in roots:
            s, c = b * x / LENGTH, share(b)
            even, odd = (np.cosh, np.sinh) if d % 2 == 0 else (np.sinh, np.cosh)
            turn = d * np.pi / 2.0
            rows.append((b / LENGTH) ** d * (even(s) - np.cos(s + turn)
                                             - c * (odd(s) - np.sin(s + turn))))
        return np.array(rows)
    return shapes


def roots_near(places, function) -> list[float]:
    return [brentq(function, place - 0.4, place + 0.4, xtol=1e-15) for place in places]


def clamped_clamped(count: int):
    roots = roots_near((np.arange(count) + 1.5) * np.pi, lambda b: np.cos(b) - 1.0 / np.cosh(b))
    return beam_modes(roots, lambda b: (np.cosh(b) - np.cos(b)) / (np.sinh(b) - np.sin(b)))


def clamped_free(count: int):
    roots = roots_near((np.arange(count) + 0.5) * np.pi, lambda b: np.cos(b) + 1.0 / np.cosh(b))
    return beam_modes(roots, lambda b: (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b)))


def sines(count: int):
    wave = np.pi / LENGTH * np.arange(1, count + 1)[:, None]
    return lambda x, d: wave**d * np.sin(wave * x + d * np.pi / 2.0)


@pytest.mark.parametrize('basis', ['basis="clamped-free"', 'basis="clamped-mass" tip_mass="0"',
                                   'basis="fe"'])
def test_frequencies_of_a_cantilever(basis):
    """Its own modes have its frequencies."""
    model = Model(beam_robot(f'{basis} bending_y="6" bending_z="6" twist="0"', rotary=THIN))
    found, shapes = model.frequencies(np.zeros(model.n))
    mass = model.mass_matrix(np.zeros(model.n))
    assert np.abs(shapes.T @ mass @ shapes - np.eye(12)).max() < 1e-9
    expected = np.sort(np.concatenate((rates(CLAMPED_FREE[:2], EIY), rates(CLAMPED_FREE, EIZ))))
    assert found[:4] == pytest.approx(expected[:4], rel=1e-9)
    # bend_y is resisted by E Iz, the softer one here.
    assert model.names[np.argmax(np.abs(shapes[:, 0]))].startswith('beam/bend_y')


@pytest.mark.parametrize('basis, shapes, missed', [
    ('craig-bampton', (powers(2, 3), clamped_clamped(4)), 1e-4),
    ('polynomial', (powers(2, 7),), 1e-5)])
def test_other_shapes_give_their_ritz_approximation(basis, shapes, missed):
    """From above, as Ritz has it, and missing of the second frequency what these shapes miss."""
    model = Model(beam_robot(f'basis="{basis}" bending_y="6" bending_z="0" twist="0"',
                             rotary=THIN))
    found = model.frequencies(np.zeros(model.n))[0][:3]
    assert found == pytest.approx(np.sqrt(EIZ) * Ritz(*shapes).frequencies()[:3], rel=1e-9)
    off = found / rates(CLAMPED_FREE, EIZ) - 1.0
    assert off.min() > -1e-9 and missed < off[1] < 2.0 * missed


def test_rotary_inertia_lowers_frequencies():
    """By r^2 / 2 int phi'^2 / int phi^2, r^2 = I / A: 1.7e-8 of the first frequency here."""
    found = {rotary: Model(beam_robot('basis="clamped-free" bending_y="3" bending_z="0" twist="0"',
                                      rotary=rotary)).frequencies(np.zeros(3))[0]
             for rotary in (THIN, 1e-9)}
    ritz = Ritz(clamped_free(3))
    expected = -0.5 * (1e-9 - THIN) * EIZ * np.diag(ritz.slope) / np.diag(ritz.mass)
    assert found[1e-9] / found[THIN] - 1.0 == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize('basis, shapes', [
    ('pinned-pinned', (sines(8),)), ('clamped-free', (clamped_free(8),)),
    ('craig-bampton', (powers(2, 3), clamped_clamped(6)))])
def test_frequencies_of_a_hinged_beam(basis, shapes):
    """Ritz, with the turn of the joint as one more shape; the joint's free motion has none."""
    modes = f'basis="{basis}" bending_y="8" bending_z="0" twist="0"'
    found, _ = Model(beam_robot(modes, joint='continuous', rotary=THIN)).frequencies(np.zeros(9))
    assert found[0] < 1e-3
    witness = np.sqrt(EIZ) * Ritz(powers(1, 1), *shapes).frequencies()
    assert found[1:4] == pytest.approx(witness[1:4], rel=1e-8)
    assert (found[1:3] > rates(PINNED_FREE, EIZ) * (1.0 - 1e-8)).all()


def test_a_hinged_beam_in_its_own_modes():
    found, _ = Model(beam_robot('basis="pinned-free" bending_y="4" bending_z="0" twist="0"',
                                joint='continuous', rotary=THIN)).frequencies(np.zeros(5))
    assert found[1:3] == pytest.approx(rates(PINNED_FREE, EIZ), rel=1e-9)


def test_frequencies_of_twist():
    rotary = 1e-3
    model = Model(beam_robot('basis="clamped-free" bending_y="0" bending_z="0" twist="3"',
                             rotary=rotary))
    polar = rotary * RHO_A * (EIY + EIZ)
    expected = (2.0 * np.arange(3) + 1.0) * np.pi / 2.0 / LENGTH * np.sqrt(GJ / polar)
    assert model.frequencies(np.zeros(3))[0] == pytest.approx(expected, rel=1e-9)


def test_deflection_under_a_tip_load():
    """F L^3 / 3 E I and F L^2 / 2 E I in both planes, T L / G J; curvature F (L - x) / E I."""
    model = Model(beam_robot())
    force, torque = 1e-8, 1e-8     # their products, which bend and twist too, are of 1e-9
    load = [Wrench('tip', np.array([0.0, force, -force]), np.array([torque, 0.0, 0.0]))]
    q, tau = model.statics(np.zeros(0), load)
    assert tau.shape == (0,)
    tip = model.pose(q, 'tip')
    assert tip[1, 3] == pytest.approx(force * LENGTH**3 / (3.0 * EIZ), rel=2e-9)
    assert tip[2, 3] == pytest.approx(-force * LENGTH**3 / (3.0 * EIY), rel=2e-9)
    assert tip[1, 0] == pytest.approx(force * LENGTH**2 / (2.0 * EIZ), rel=2e-9)
    assert tip[2, 0] == pytest.approx(-force * LENGTH**2 / (2.0 * EIY), rel=2e-9)
    assert tip[2, 1] == pytest.approx(torque * LENGTH / GJ, rel=2e-9)
    for x in (0.0, 0.7, LENGTH):
        arm = force * (LENGTH - x)
        assert model.curvature(q, 'beam', x) == pytest.approx(
            [torque / GJ, arm / EIY, arm / EIZ], rel=1e-7, abs=1e-14)


def test_foreshortening_under_a_tip_load():
    """Half the integral of the slope squared: F^2 L^5 / 15 (E I)^2; none in order first."""
    load = [Wrench('tip', np.array([0.0, 1e-2, 0.0]))]
    for order, expected in (('second', -(1e-2 / EIZ) ** 2 * LENGTH**5 / 15.0), ('first', 0.0)):
        model = Model(beam_robot(), order)
        tip = model.pose(model.statics(np.zeros(0), load)[0], 'tip')
        assert tip[0, 3] - LENGTH == pytest.approx(expected, rel=1e-4, abs=1e-14)


def test_deflection_under_distributed_loads():
    """Exact with x^2 ... x^5: even load p L^4 / 8 E I, load that grows 11 p L^4 / 120 E I."""
    model = Model(beam_robot('basis="polynomial" bending_y="4" bending_z="4" twist="0"'))
    p = 1e-4
    even = DistributedLoad('beam', np.array([0.0, p, 0.0]))
    growing = DistributedLoad('beam', lambda x: np.array([0.0, 0.0, p * x / LENGTH]))
    tip = model.pose(model.statics(np.zeros(0), [even, growing])[0], 'tip')
    assert tip[1, 3] == pytest.approx(p * LENGTH**4 / (8.0 * EIZ), rel=1e-7)
    assert tip[2, 3] == pytest.approx(11.0 * p * LENGTH**4 / (120.0 * EIY), rel=1e-7)
    weight = Model(beam_robot('basis="polynomial" bending_y="4" bending_z="4" twist="0"',
                              gravity=f'0 {p / RHO_A} 0'))
    sagging = weight.pose(weight.statics(np.zeros(0))[0], 'tip')
    assert sagging[1, 3] == pytest.approx(p * LENGTH**4 / (8.0 * EIZ), rel=1e-7)


def load_stiffness(model, load) -> np.ndarray:
    """What a constant load adds to the stiffness at rest: - d(J' w)/dq."""
    h, wrench = 1e-4, np.concatenate((load.force, load.moment))
    columns = [(model.jacobian(h * e, load.frame) - model.jacobian(-h * e, load.frame)).T @ wrench
               for e in np.eye(model.n)]
    return -np.array(columns).T / (2.0 * h)


def buckling_loads(model) -> np.ndarray:
    """The least two compressions (N) of the tip at which stiffness vanishes."""
    softening = load_stiffness(model, Wrench('tip', np.array([-1.0, 0.0, 0.0])))
    inverse = eigh(-softening, model.stiffness_matrix(), eigvals_only=True)
    return np.sort(1.0 / inverse[inverse > 1e-9])[:2]


def test_buckling_under_a_tip_load():
    """Stiffness vanishes at pi^2 E I / 4 L^2 of compression, in both planes; tension stiffens."""
    exact = np.pi**2 / (4.0 * LENGTH**2)
    # Powers up to x^7 hold a quarter of a cosine wave; three shapes give their Ritz value, above.
    many = Model(beam_robot('basis="polynomial" bending_y="6" bending_z="6" twist="0"'))
    assert buckling_loads(many) == pytest.approx([exact * EIZ, exact * EIY], rel=1e-9)
    model = Model(beam_robot())
    witness = Ritz(powers(2, 3), clamped_clamped(1)).buckling()
    assert exact < witness < 1.0002 * exact
    assert buckling_loads(model) == pytest.approx([witness * EIZ, witness * EIY], rel=1e-9)
    pulled = load_stiffness(model, Wrench('tip', np.array([1.0, 0.0, 0.0])))
    assert np.linalg.eigvalsh(pulled)[-1] > 0.0 and np.linalg.eigvalsh(pulled)[0] > -1e-6
    first = Model(model.robot, 'first')
    assert np.abs(load_stiffness(first, Wrench('tip', np.array([-1.0, 0.0, 0.0])))).max() < 1e-9


@pytest.mark.parametrize('share, grows', [(0.98, False), (1.02, True)])
def test_a_standing_beam_falls_under_its_own_weight(share, grows):
    critical = GREENHILL * EIZ / (RHO_A * LENGTH**3)
    model = Model(beam_robot(gravity=f'{-share * critical} 0 0'))
    A, _ = model.linearize(np.zeros(model.n), np.zeros(model.n), np.zeros(0))
    fastest = np.linalg.eigvals(A).real.max()
    assert fastest > 0.1 if grows else fastest < 1e-3


def test_modal_damping_ratio_and_rayleigh():
    model = Model(beam_robot(inside='<damping ratio_bending_y="0.02 0.05" ratio_twist="0.1"/>'))
    zero = np.zeros(model.n)
    poles = np.linalg.eigvals(model.linearize(zero, zero, np.zeros(0))[0])
    ratios = -poles.real / np.abs(poles)
    for rate, ratio in ((rates(CLAMPED_FREE[0], EIZ), 0.02), (rates(CLAMPED_FREE[0], EIY), 0.0),
                        (rates(CLAMPED_FREE[1], EIZ), 0.05)):
        nearest = np.argmin(np.abs(np.abs(poles) - rate))
        assert ratios[nearest] == pytest.approx(ratio, abs=1e-6)
    rayleigh = Model(beam_robot(inside='<damping alpha="0.3" beta="0.002"/>'))
    assert rayleigh.damping_matrix() == pytest.approx(
        0.3 * rayleigh.mass_matrix(zero) + 0.002 * rayleigh.stiffness_matrix(), rel=1e-9)


def test_describe_and_frequencies_agree(capsys):
    """describe prints Hz, the API is in rad/s: the same modes for a robot with one beam."""
    model = Model(load_robot('lab_link'))
    assert describe(['lab_link']) == 0
    printed = re.findall(r' ([\d.]+) Hz ', capsys.readouterr().out)
    found = model.frequencies(np.zeros(model.n), 'locked')[0] / (2.0 * np.pi)
    assert [float(text) for text in printed] == pytest.approx(found, rel=1e-5)
