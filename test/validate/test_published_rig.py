"""Published controllers of a serial flexible link.

A laboratory rig (Quanser, first stage) under LQG and MPC at 10 ms, in simulation, as published;
beside them an H-infinity design of our own, since the weights of the published one are not given.
The slack of the MPC's cap is weighed linearly, which keeps the cap wherever that is possible: a
square of it in rad would not.
"""
from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip('daqp')

import published_rig as rig  # noqa: E402

SOURCE = 'Quanser serial flexible link'


def test_poles(claims):
    poles = np.linalg.eigvals(rig.plant()[0])
    poles = poles[np.argsort(-poles.real)]
    claims.value(SOURCE, 'real poles', [0.0, -51.8], [poles[0].real, poles[-1].real], 0.05,
                 unit='1/s', note='three digits are printed')
    claims.value(SOURCE, 'complex poles', [-5.58, 15.9], [poles[1].real, abs(poles[1].imag)],
                 0.05, unit='1/s', note='three digits are printed')


@pytest.mark.parametrize('name, law, most, published', [
    ('LQG', rig.lqg, 0.6, (0.30, 1.5, 3.56)), ('LQG, 0.94 A', rig.lqg, 0.94, (0.24, 4.1, 5.41)),
    ('MPC', rig.mpc, 0.6, (0.35, 2.9, 2.00))])
def test_steps(claims, name, law, most, published):
    found = rig.response(law(most))
    claims.value(SOURCE, f'{name}: rise time', published[0], found.rise, 0.1, relative=True,
                 unit='s')
    claims.value(SOURCE, f'{name}: overshoot', published[1], found.overshoot, 0.1, relative=True,
                 unit='%')
    claims.value(SOURCE, f'{name}: largest deflection', published[2], found.deflection_between,
                 0.1, relative=True, unit='deg')
    if name == 'MPC':
        claims.bound(SOURCE, 'MPC: deflection over its cap of 2 degrees at the samples',
                     found.deflection - 2.0, 1e-3, unit='deg',
                     note=f'between the samples by {found.deflection_between - 2.0:.2g} deg')


def test_delays(claims):
    left = {delay: rig.response(rig.lqg(), delay, 8.0).left for delay in (0.03, 0.04, 0.06)}
    claims.fact(SOURCE, 'LQG becomes unstable at a delay of about 50 ms',
                'settles at 40 ms, not at 60 ms',
                ', '.join(f'{1e3 * delay:.0f} ms: {error:.2g} deg'
                          for delay, error in left.items()),
                left[0.03] < 0.01 and left[0.04] < 0.01 and left[0.06] > 1.0)
    without, late = rig.response(rig.h_infinity()), rig.response(rig.h_infinity(), 0.09, 8.0)
    claims.fact(SOURCE, 'an H-infinity design is stable beyond a delay of 80 ms',
                'settles at 90 ms', f'{late.left:.2g} deg', late.left < 0.2,
                note=f'of our own (McFarlane and Glover): rise time {without.rise:.2f} s, '
                     f'overshoot {without.overshoot:.1f} %, deflection '
                     f'{without.deflection_between:.2f} deg; published: 0.49 s, 0.7 %, 2.25 deg, '
                     'weights not given')
