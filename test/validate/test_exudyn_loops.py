"""Exudyn: a four-bar with a flexible coupler and a slider-crank with a flexible rod.

ANCF cables, rigid bodies and constraints of Exudyn against mode shapes and loops here; thin beams,
undamped, with gravity. The four-bar falls from rest with crank and rocker upright for 1.5 s; a
constant torque drives the crank of the other for 0.6 s, from rest, too. Compared are the middle
and the end of the beam. Truncation is the distance to the same with ten shapes. Thickness, torque
and time are such that deflections are small enough for order second: with a coupler of 5 mm a
rest remains that more shapes do not take away, which is claimed as what it is.
"""
from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pytest
from constrained_machines import slider_crank, thin_four_bar

from flex_description import Robot
from flex_dynamics import Model, Simulation

pytest.importorskip('exudyn', reason='Exudyn is not installed')

from exudyn_loops import PlanarLoop  # noqa: E402

SHAPES, MOST = (1, 2, 3, 4, 6, 8), 10
TORQUE = 0.15       # N m on the crank


def here(robot: Robot, link: str, duration: float, step: float, output: float, torque: float,
         ) -> np.ndarray:
    """Places (k, 2, 2), x and z of the beam's middle and end, each `output` s, from 0."""
    model = Model(robot)
    beam = next(one.flexible for one in robot.links if one.flexible is not None)
    simulation, tau = Simulation(model, step), np.zeros(model.n_joints)
    tau[0] = torque
    found = []
    for k in range(round(duration / output) + 1):
        if k:
            simulation.advance(round(output / step), tau)
        found.append([model.pose(simulation.q, link, x)[[0, 2], 3]
                      for x in (0.5 * beam.length, beam.length)])
    return np.array(found)


def four_bar_there(elements: int, step: float, height: float = 0.008) -> np.ndarray:
    loop = PlanarLoop()
    coupler = next(link.flexible for link in thin_four_bar(2, height).links
                   if link.flexible is not None)
    crank = loop.rod((0.0, 0.0), (0.0, 0.5), 0.5, 0.5 * 0.25 / 12)
    rocker = loop.rod((1.3, 0.0), (1.3, 1.0), 1.0, 1 / 12)
    beam = loop.beam((0.0, 0.5), (1.3, 1.0), coupler, elements)
    for pair in ((loop.place(0.0, 0.0), crank[0]), (crank[1], beam[0]),
                 (loop.place(1.3, 0.0), rocker[0]), (rocker[1], beam[1])):
        loop.pin(*pair)
    return loop.run(1.5, step, 0.01)


def slider_crank_there(elements: int, step: float) -> np.ndarray:
    loop, reach = PlanarLoop(), float(np.sqrt(0.5**2 - 0.15**2))
    rod = next(link.flexible for link in slider_crank(2).links if link.flexible is not None)
    crank = loop.rod((0.0, 0.0), (0.0, 0.15), 0.3, 0.3 * 0.15**2 / 12, -TORQUE)
    beam = loop.beam((0.0, 0.15), (reach, 0.0), rod, elements)
    for pair in ((loop.place(0.0, 0.0), crank[0]), (crank[1], beam[0]),
                 (beam[1], loop.slider((reach, 0.0), 0.2))):
        loop.pin(*pair)
    return loop.run(0.6, step, 0.005)


def distance(one: np.ndarray, other: np.ndarray) -> float:
    """Largest distance of the middles or ends, mm."""
    return 1e3 * float(np.linalg.norm(one - other, axis=2).max())


def compared(claims, what: str, theirs: Callable[[int, float], np.ndarray],
             ours: Callable[[int, float], np.ndarray], step: float) -> None:
    """Claims of one mechanism; theirs(elements, step), ours(shapes, step)."""
    source = f'{what}, Exudyn'
    fine = theirs(16, 0.5 * step)
    by_elements = distance(theirs(8, step), theirs(16, step))
    by_steps = distance(theirs(16, step), fine)
    most = ours(MOST, step)
    by_our_steps = distance(most, ours(MOST, 0.5 * step))
    known = by_elements + by_steps + by_our_steps
    claims.bound(source, 'Exudyn, 8 by 16 elements', by_elements, 0.1, unit='mm')
    claims.bound(source, f'Exudyn, 16 elements, steps of {1e3 * step:g} ms by half of it',
                 by_steps, 0.1, unit='mm')
    claims.bound(source, f'ten shapes, steps of {1e3 * step:g} ms by half of it', by_our_steps,
                 0.1, unit='mm')
    motion = 1e3 * float(np.ptp(fine, axis=0).max())
    claims.bound(source, 'distance of middle and end, ten shapes', distance(most, fine), known,
                 unit='mm', note=f'allowed: the three above; the beam moves by {motion:.0f} mm')
    errors, truncations = [], []
    for shapes in SHAPES:
        found = ours(shapes, step)
        errors.append(distance(found, fine))
        truncations.append(distance(found, most))
        claims.bound(source, f'distance of middle and end, {shapes} '
                     f'shape{"s" if shapes > 1 else ""}', errors[-1], truncations[-1] + known,
                     unit='mm', note=f'allowed: truncation {truncations[-1]:.3g} mm, and the '
                     f'{known:.2g} mm to which both are known')
    claims.fact(source, 'it is truncation: from 2 to 6 shapes the distance falls',
                'to less than a tenth', f'{errors[1]:.3g} to {errors[4]:.3g} mm',
                bool(errors[4] < 0.1 * errors[1]))
    figure, axes = plt.subplots(figsize=(6, 3))
    axes.semilogy(SHAPES, errors, 'o-', label='distance to Exudyn')
    axes.semilogy(SHAPES, truncations, 'x--', label='distance to ten shapes')
    axes.axhline(known, color='grey', lw=0.8, label='to which both are known')
    axes.set(xlabel='shapes', ylabel='mm', title=what)
    axes.legend(fontsize=8)
    claims.figure(f'{what}: largest distance of middle and end by the number of shapes', figure)
    plt.close(figure)


def test_four_bar_with_a_flexible_coupler(claims):
    compared(claims, 'four-bar falling', four_bar_there, lambda shapes, step: here(
        thin_four_bar(shapes), 'coupler', 1.5, step, 0.01, 0.0), 5e-4)


def test_slider_crank_with_a_flexible_rod(claims):
    compared(claims, 'slider-crank driven', slider_crank_there, lambda shapes, step: here(
        slider_crank(shapes), 'rod', 0.6, step, 0.005, TORQUE), 2.5e-4)


def test_large_deflections(claims):
    """A coupler of 5 mm: more shapes no longer help."""
    theirs = four_bar_there(16, 2.5e-4, 0.005)
    for shapes in (6, MOST):
        found = here(thin_four_bar(shapes, 0.005), 'coupler', 1.5, 5e-4, 0.01, 0.0)
        claims.bound('four-bar of 5 mm, Exudyn', f'distance of middle and end, {shapes} shapes',
                     distance(found, theirs), 1.0, unit='mm',
                     note='not truncation: order second leaves out the third, and the distance '
                     'falls to a seventh with half of gravity')
