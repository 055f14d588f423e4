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
"""Errors of a Model against the witness at one state of a random tree, as shares.

Coordinates of all kinds count alike: errors and sizes are scaled by sqrt(M_ii). Forces, and
accelerations, are compared with the largest of their kind; momentum with the sum of |m v| over all
bodies, or |m r x v|; poses and Jacobians with their largest number. Run with seeds of random trees
as arguments it prints all errors of these.
"""
from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from field_witness import Witness
from random_trees import Tree, random_state, random_tree

from flex_dynamics import Model, Wrench

MOST = 1e-9                    # of every error
WELL = 1e6                     # condition number of M up to which that holds of accelerations
# Order `linear` is the others' at zero deflection, and there only.
WITHOUT_DEFLECTION = ('M', 'C v', 'g', 'K', 'D', 'B', 'accelerations', 'inverse dynamics')
QUANTITIES = (*WITHOUT_DEFLECTION, 'poses', 'Jacobians', 'Jacobian rates', 'kinetic energy',
              'strain energy', 'gravity energy', "C + C' - dM/dt", 'mass times position',
              'momentum')


def conditions(M: np.ndarray) -> tuple[float, float]:
    """Condition number of M, and of M scaled to a unit diagonal."""
    size = np.sqrt(np.diag(M))
    return float(np.linalg.cond(M)), float(np.linalg.cond(M / np.outer(size, size)))


def share(error: np.ndarray, size: np.ndarray, least: float = 1e-300) -> float:
    """Largest error by the largest of the numbers that it is an error of."""
    return float(np.abs(error).max(initial=0.0) / max(np.abs(size).max(initial=0.0), least))


class Comparison:
    """A tree, its model and its witness at one state; `errors` has every quantity's."""

    def __init__(self, tree: Tree, order: str) -> None:
        self.tree, self.order = tree, order
        self.model = Model(tree.robot, order)
        for k, (frame, body, x) in enumerate(tree.payloads):
            self.model = self.model.with_payload(f'payload{k}', frame, body.mass, body.centre,
                                                 body.tensor, x)
        points: list[tuple[str, float | None]] = []
        for link in tree.robot.links:
            points.append((link.name, None))
            if link.flexible is not None:
                points += [(link.name, part * link.flexible.length) for part in (0.0, 0.37, 1.0)]
                points.append((f'{link.name}/tip', None))
        self.witness = Witness(tree.robot, 'first' if order == 'linear' else order, tree.payloads,
                               points)
        assert self.model.names == self.witness.names
        self.q, self.v = random_state(tree, self.witness)
        if order == 'linear':
            for own in self.witness.elastic.values():
                self.q[own] = self.v[own] = 0.0
        self.terms = self.witness.terms(self.q, self.v)
        self.root = np.sqrt(np.diag(self.terms.M))
        self.condition, self.scaled_condition = conditions(self.terms.M)
        self.errors: dict[str, float] = {}
        self._equations()
        if order != 'linear':
            self._frames()
            self._energy()
            self._momentum()

    def allowed(self, what: str) -> float:
        """Rounding of M costs accelerations as many digits as the condition number has."""
        return MOST * max(1.0, self.condition / WELL) if what == 'accelerations' else MOST

    def _force(self, found: np.ndarray, expected: np.ndarray, beside: float = 0.0) -> float:
        return share((found - expected) / self.root, expected / self.root, beside)

    def _equations(self) -> None:
        w, t, q, v, errors = self.witness, self.terms, self.q, self.v, self.errors
        found = self.model.terms(q, v)
        size = np.outer(self.root, self.root)
        errors['M'] = share((found.M - t.M) / size, np.ones(1))
        # A force that vanishes, as weight does in level flight, is compared with others.
        rest = share(w.K @ q / self.root + t.g / self.root, np.ones(1)) * 1e-3
        errors['C v'] = self._force(found.C @ v, t.velocity_force, rest)
        errors['g'] = self._force(found.g, t.g, rest)
        for name in 'KD':
            ours = getattr(w, name)
            errors[name] = share((getattr(found, name) - ours) / size, ours / size, 1e-9)
        errors['B'] = share(found.B - w.B, w.B)
        rng = np.random.default_rng((self.tree.seed, 3))
        tau, a = rng.normal(size=w.n_joints), rng.normal(size=w.n) * 10.0
        passive = w.D @ v + w.K @ q + w.coulomb_force(v)
        errors['inverse dynamics'] = self._force(
            self.model.inverse_dynamics(q, v, a), t.M @ a + t.velocity_force + t.g + passive)
        frame = w.points[-1]
        wrench = rng.normal(size=6) * 5.0
        load = Wrench(frame[0], wrench[:3], wrench[3:], frame[1])
        if self.order == 'linear':
            a = self.model.forward_dynamics(q, v, tau)
            force = w.B @ tau
        else:
            a = self.model.forward_dynamics(q, v, tau, [load])
            force = w.B @ tau + w.frames_at(q)[1][-1].T @ wrench
        force = force - t.velocity_force - t.g - passive
        scaled = np.linalg.solve(t.M / size, force / self.root)
        errors['accelerations'] = share(a * self.root - scaled, scaled)

    def _frames(self) -> None:
        w, q, v = self.witness, self.q, self.v
        poses, jacobians = w.frames_at(q)
        rates = w.jacobian_rates(q, v)
        worst: dict[str, list[float]] = {'poses': [], 'Jacobians': [], 'Jacobian rates': []}
        for k, (frame, x) in enumerate(w.points):
            worst['poses'].append(share(self.model.pose(q, frame, x) - poses[k], np.ones(1)))
            worst['Jacobians'].append(share(
                (self.model.jacobian(q, frame, x) - jacobians[k]) / self.root,
                jacobians / self.root))
            worst['Jacobian rates'].append(share(
                (self.model.jacobian_rate(q, v, frame, x) - rates[k]) / self.root,
                rates / self.root))
        self.errors.update({name: max(values) for name, values in worst.items()})

    def _energy(self) -> None:
        t, w, q, v = self.terms, self.witness, self.q, self.v
        kinetic, strain, gravity = self.model.energy(q, v)
        self.errors['kinetic energy'] = abs(kinetic - t.kinetic) / t.kinetic
        expected = 0.5 * q @ w.K @ q
        self.errors['strain energy'] = abs(strain - expected) / expected
        weight = t.mass * np.linalg.norm(w.robot.gravity)
        self.errors['gravity energy'] = abs(gravity - t.gravity) / weight
        C = self.model.coriolis_matrix(q, v)
        size = np.outer(self.root, self.root)
        rate = w.mass_rate(q, v) / size
        self.errors["C + C' - dM/dt"] = share((C + C.T) / size - rate, rate, 1.0)
        mass, moment = self.model.first_moment(q)
        self.errors['mass times position'] = max(
            abs(mass - t.mass), np.abs(moment - t.moment).max()) / t.mass

    def _momentum(self) -> None:
        """Of a floating base: M v has the momentum of all, as wrench on the base's coordinates."""
        base = self.tree.robot.joints[0]
        if base.type != 'floating':
            return
        generalised = (self.model.mass_matrix(self.q) @ self.v)[:6]
        jacobian = self.model.jacobian(self.q, base.child)[:, :6]
        found = np.linalg.solve(jacobian.T, generalised)
        place = self.model.pose(self.q, base.child)[:3, 3]
        angular = found[3:] + np.cross(place, found[:3])
        t = self.terms
        self.errors['momentum'] = max(share(found[:3] - t.linear, t.sizes[:1]),
                                      share(angular - t.angular, t.sizes[1:]))


def main(seeds: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for seed in map(int, seeds):
            tree = random_tree(seed, Path(folder))
            for order in ('first', 'second', 'linear'):
                found = Comparison(tree, order)
                print(f'seed {seed}, order {order}, {found.witness.n} coordinates, bent by '
                      f'{tree.share:.1%}, condition {found.condition:.1e} (scaled '
                      f'{found.scaled_condition:.1e})')
                for what, error in found.errors.items():
                    mark = '' if error <= found.allowed(what) else '  <-- too much'
                    print(f'  {what:22s} {error:.1e}{mark}')


if __name__ == '__main__':
    main(sys.argv[1:])
