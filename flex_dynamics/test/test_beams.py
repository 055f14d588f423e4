"""Textbook beams: frequencies, deflections, buckling, damping."""
from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from small_robots import EIY, EIZ, GJ, LENGTH, RHO_A, beam_robot

from flex_dynamics import DistributedLoad, Model, Wrench

CLAMPED_FREE = np.array([1.8751040687, 4.6940911330, 7.8547574382])
PINNED_FREE = np.array([3.9266023120, 7.0685827456])
# Self-weight at which a standing cantilever buckles, times rho A g L^3 / E I: Greenhill.
GREENHILL = 7.8373474


def rates(roots, stiffness) -> np.ndarray:
    return (roots / LENGTH) ** 2 * np.sqrt(stiffness / RHO_A)


@pytest.mark.parametrize('modes, tolerance', [
    ('basis="clamped-free"', 1e-6), ('basis="clamped-mass" tip_mass="0"', 1e-6),
    ('basis="craig-bampton"', 2e-4), ('basis="polynomial"', 1e-4), ('basis="fe"', 1e-4)])
def test_frequencies_of_a_cantilever(modes, tolerance):
    model = Model(beam_robot(f'{modes} bending_y="6" bending_z="6" twist="0"'))
    found, shapes = model.frequencies(np.zeros(model.n))
    mass = model.mass_matrix(np.zeros(model.n))
    assert np.abs(shapes.T @ mass @ shapes - np.eye(12)).max() < 1e-9
    expected = np.sort(np.concatenate((rates(CLAMPED_FREE[:2], EIY), rates(CLAMPED_FREE, EIZ))))
    assert found[:4] == pytest.approx(expected[:4], rel=tolerance)
    # bend_y is resisted by E Iz, the softer one here.
    assert model.names[np.argmax(np.abs(shapes[:, 0]))].startswith('beam/bend_y')


@pytest.mark.parametrize('basis, tolerance', [('pinned-free', 1e-6), ('pinned-pinned', 2e-2),
                                              ('clamped-free', 1e-3), ('craig-bampton', 1e-3)])
def test_frequencies_of_a_hinged_beam(basis, tolerance):
    modes = f'basis="{basis}" bending_y="8" bending_z="0" twist="0"'
    model = Model(beam_robot(modes, joint='continuous'))
    found, _ = model.frequencies(np.zeros(model.n))
    assert found[0] < 1e-3
    assert found[1:3] == pytest.approx(rates(PINNED_FREE, EIZ), rel=tolerance)


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
    force, torque = 1e-6, 1e-6
    load = [Wrench('tip', np.array([0.0, force, -force]), np.array([torque, 0.0, 0.0]))]
    q, tau = model.statics(np.zeros(0), load)
    assert tau.shape == (0,)
    tip = model.pose(q, 'tip')
    assert tip[1, 3] == pytest.approx(force * LENGTH**3 / (3.0 * EIZ), rel=1e-6)
    assert tip[2, 3] == pytest.approx(-force * LENGTH**3 / (3.0 * EIY), rel=1e-6)
    assert tip[1, 0] == pytest.approx(force * LENGTH**2 / (2.0 * EIZ), rel=1e-6)
    assert tip[2, 0] == pytest.approx(-force * LENGTH**2 / (2.0 * EIY), rel=1e-6)
    assert tip[2, 1] == pytest.approx(torque * LENGTH / GJ, rel=1e-6)
    for x in (0.0, 0.7, LENGTH):
        arm = force * (LENGTH - x)
        assert model.curvature(q, 'beam', x) == pytest.approx(
            [torque / GJ, arm / EIY, arm / EIZ], rel=1e-5, abs=1e-12)


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
    assert tip[1, 3] == pytest.approx(p * LENGTH**4 / (8.0 * EIZ), rel=1e-6)
    assert tip[2, 3] == pytest.approx(11.0 * p * LENGTH**4 / (120.0 * EIY), rel=1e-6)
    weight = Model(beam_robot('basis="polynomial" bending_y="4" bending_z="4" twist="0"',
                              gravity=f'0 {p / RHO_A} 0'))
    sagging = weight.pose(weight.statics(np.zeros(0))[0], 'tip')
    assert sagging[1, 3] == pytest.approx(p * LENGTH**4 / (8.0 * EIZ), rel=1e-6)


def load_stiffness(model, load) -> np.ndarray:
    """What a constant load adds to the stiffness at rest: - d(J' w)/dq."""
    h, wrench = 1e-4, np.concatenate((load.force, load.moment))
    columns = [(model.jacobian(h * e, load.frame) - model.jacobian(-h * e, load.frame)).T @ wrench
               for e in np.eye(model.n)]
    return -np.array(columns).T / (2.0 * h)


def test_buckling_under_a_tip_load():
    """Stiffness vanishes at pi^2 E I / 4 L^2 of compression, in both planes; tension stiffens."""
    model = Model(beam_robot())
    softening = load_stiffness(model, Wrench('tip', np.array([-1.0, 0.0, 0.0])))
    inverse = eigh(-softening, model.stiffness_matrix(), eigvals_only=True)
    critical = np.sort(1.0 / inverse[inverse > 1e-9])[:2]
    assert critical == pytest.approx(np.pi**2 / (4.0 * LENGTH**2) * np.array([EIZ, EIY]), rel=3e-4)
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
