"""Compile every kernel once, so that no user's first call waits: `make setup` runs it."""
from __future__ import annotations

import time

import numpy as np

from flex_description import load_robot
from flex_dynamics import Model, Simulation
from flex_dynamics.model.poses import Poses
from flex_dynamics.simulation.plant import Drives, Plant


def warm_up() -> None:
    """Call every kernel on a small robot; the compiled code lands in numba's cache."""
    model = Model(load_robot('lab_link'))
    q, v, tau = np.zeros(model.n), np.zeros(model.n), np.zeros(model.n_joints)
    model.mass_and_coriolis(q, v)
    model.forward_dynamics(q, v, tau)
    model.inverse_dynamics(q, v, v)
    model.energy(q, v)
    model.pose(q, model.robot.links[-1].name)
    Poses(model, [(model.robot.links[-1].name, None)]).at(q)
    Simulation(model).advance(1, tau)
    plant = Plant(model, 1e-3, 1, Drives(tau, tau), tau, deflected=False)
    plant.commands.accept_all(tau, tau, tau)
    plant.advance()
    Model(model.robot, 'linear').mass_and_coriolis(q, v)


def main() -> None:
    start = time.monotonic()
    print('compiling the numerical kernels (once; one to three minutes) ...', flush=True)
    warm_up()
    print(f'kernels ready in {time.monotonic() - start:.1f} s')


if __name__ == '__main__':
    main()
