"""A running simulation: the state of a Model and the fixed-step integrator that moves it."""
from __future__ import annotations

import numpy as np

from flex_dynamics.errors import DynamicsError
from flex_dynamics.kernels.base_momentum import LEDGER
from flex_dynamics.kernels.handle import HANDLE, NUMBERS, prepare
from flex_dynamics.kernels.implicit_midpoint import NOT_CONVERGED, SETTINGS, advance
from flex_dynamics.kernels.layout import DOF, PINNED
from flex_dynamics.kernels.running_state import State, make_state
from flex_dynamics.loads import Loads, Wrench, point_wrenches
from flex_dynamics.model import Model

MOST_SWEEPS = 50     # until a step is cut in halves


class Simulation:
    """Integrates a model in fixed steps (s); q, v (n,) and time (s) are its state.

    `advance` runs many inner steps in one kernel call and allocates nothing. A servo, if set,
    acts inside the step: k (target - q) + d (target_rate - v) on every joint, implicitly.
    tolerance: error of speeds, relative, at which the sweeps of a step end; 1e-4 is enough
    for damped motion and saves a third of the time. balance: let energy grow by the work done and
    momentum by the impulses, and by nothing else, at the cost of a third of a sweep a step (on
    floating and planar bases of one sweep).
    """

    def __init__(self, model: Model, step: float = 1e-3, q=None, v=None, time: float = 0.0,
                 tolerance: float = 1e-9, balance: bool = True) -> None:
        if not 0.0 < step < np.inf:
            raise DynamicsError(f'step: expected a positive time in s, found {step}')
        if model.order == 'linear':
            raise DynamicsError("order 'linear' has no recursion to step in: use simulate() with "
                                "method 'adaptive', or order 'second'")
        prepare(advance, HANDLE, HANDLE, NUMBERS, *SETTINGS)
        self.step = float(step)
        self.time = float(time)
        self.tolerance = float(tolerance)
        self.balance = bool(balance)
        self.sweeps = 0
        self.servo = np.zeros((4, model.n_joints))
        self._ledger = np.zeros(LEDGER)
        self._loads: list[Wrench] | None = None
        self._places: list[tuple[str, float | None]] = []
        self._loaded: Model | None = None
        self.q, self.v = np.zeros(model.n), np.zeros(model.n)
        self._a = np.zeros(model.n)
        self.set_model(model)
        self.set_state(self.q if q is None else q, self.v if v is None else v)

    def set_model(self, model: Model) -> None:
        """Go on with another model of the same coordinates: a payload taken up or put down."""
        if len(self.q) != model.n:
            raise DynamicsError(f'model: expected {len(self.q)} coordinates, found {model.n}')
        self.model = model
        self._scratch = np.full((11, model.n), np.nan)
        self._scratch[8] = 0.0
        table = model._arrays[0]
        pinned = int(((table[:, DOF] == 1) & (table[:, PINNED] >= 0)).sum())
        self._roots, self._root_work = np.zeros((pinned, model.n)), np.zeros((pinned, pinned + 2))
        self._reach = reach(model)
        self.set_loads(self._loads)

    def set_state(self, q, v) -> None:
        """Set positions and speeds (n,); the integrator starts anew."""
        self.q[:] = self.model.finite_vector(q, 'q', self.model.n)
        self.v[:] = self.model.finite_vector(v, 'v', self.model.n)
        self._a[:] = 0.0
        self._ledger[:] = 0.0
        # A coordinate that moves no mass is told here; later a bad pivot means divergence.
        self.model.forward_dynamics(self.q, self.v, np.zeros(self.model.n_joints))

    def set_servo(self, stiffness, damping, target, target_rate=None) -> None:
        """Joint servo: gains N m/rad and N m s/rad, targets rad (prismatic: N/m, N s/m, m)."""
        rate = np.zeros(self.model.n_joints) if target_rate is None else target_rate
        rows = (stiffness, damping, target, rate)
        servo = np.array(rows) if all(isinstance(row, np.ndarray) for row in rows) else None
        if servo is None or servo.shape != self.servo.shape or not np.isfinite(servo).all():
            names = ('stiffness', 'damping', 'target', 'target_rate')
            servo = np.array([self.model.finite_vector(row, name, self.model.n_joints)
                              for name, row in zip(names, rows, strict=True)])
        self.servo[:] = servo

    def set_loads(self, loads: Loads | None) -> None:
        """External loads that act from now on, constant in world axes; None takes them off."""
        points = [] if loads is None else point_wrenches(self.model, loads)
        self._loads = None if loads is None else points
        places = [(p.frame, p.x) for p in points]
        if places != self._places or self._loaded is not self.model:     # to build one is slow
            self._stepped = self.model.with_sections_at(places)
            self._places, self._loaded = places, self.model
        carried = [self._stepped.carrier(p.frame, p.x) for p in points]
        moving = [k for k, (node, _) in enumerate(carried) if node >= 0]
        self._carriers = np.array([carried[k][0] for k in moving], dtype=np.int64)
        self._points = np.array([carried[k][1][:3, 3] for k in moving]).reshape(-1, 3)
        self._wrenches = np.array([np.concatenate((points[k].force, points[k].moment))
                                   for k in moving]).reshape(-1, 6)
        nodes = len(self._stepped._tree.nodes) + 2
        self._worlds = (np.zeros((nodes, 3, 3)), np.zeros((nodes, 3)))
        self._set_handle()

    def _set_handle(self) -> None:
        self.handle = make_state(State(
            self.q, self.v, self._a, self._reach, self.servo, self._scratch, self._ledger,
            self._roots, self._root_work, self._carriers, self._points, self._wrenches,
            *self._worlds))

    def __setstate__(self, state: dict) -> None:
        """A copied or unpickled simulation has arrays of its own, at other addresses."""
        self.__dict__.update(state)
        self._set_handle()

    @property
    def stepped_handle(self) -> np.ndarray:
        """Of the model that kernels step: with a section where a wrench acts on a beam."""
        return self._stepped._handle

    @property
    def loads(self) -> list[Wrench] | None:
        """The external loads that act, as wrenches on points in world axes."""
        return self._loads

    def advance(self, steps: int, tau=None) -> None:
        """Run `steps` inner steps with constant joint efforts tau (n_joints,).

        If the motion diverges, a DynamicsError names the coordinate; q and v keep the last good
        state. It has diverged, too, where a mode alone bends a beam by ten times its length:
        no field of second order means anything there, though its equations may go on.
        """
        model = self._stepped
        tau = (np.zeros(model.n_joints) if tau is None
               else model.finite_vector(tau, 'tau', model.n_joints))
        status, sweeps = advance(self.stepped_handle, self.handle, tau, self.step, steps,
                                 self.tolerance, MOST_SWEEPS, self.balance)
        self.count(steps, status, sweeps)

    def count(self, steps: int, status: int, sweeps: int) -> None:
        """Take note of what a kernel did; DynamicsError if it failed."""
        self.sweeps += sweeps
        if status:
            self._complain(status)
        self.time += steps * self.step

    def _complain(self, status: int) -> None:
        speeds = np.nan_to_num(np.abs(self.v), nan=np.inf)
        worst = int(np.argmax(speeds))
        what = ('did not converge in 64 parts of a step' if status == NOT_CONVERGED
                else 'diverged')
        pushed = ', '.join(sorted({load.frame for load in self._loads or ()}))
        raise DynamicsError(
            f'the motion {what} after {self.time:.4f} s: largest speed in '
            f'{self.model.names[worst]}, {self.v[worst]:.4g} (SI units)'
            f'{f", with a push on {pushed}" if pushed else ""}; check gains, damping signs and '
            f'efforts, or take a smaller step than {self.step:g} s')


def reach(model: Model) -> np.ndarray:
    """Amplitudes (n,) at which a mode bends its beam by ten times its length; else infinite."""
    limits = dict.fromkeys(model.names, np.inf)
    for link in model.robot.links:
        if link.flexible is None:
            continue
        x = np.linspace(0.0, link.flexible.length, 21)
        for group, shapes in (('bend_y', link.flexible.bend_y), ('bend_z', link.flexible.bend_z)):
            for k, shape in enumerate(shapes(x), 1):
                largest = max(float(np.abs(shape).max()), 1e-9)
                limits[f'{link.name}/{group}/{k}'] = 10.0 * link.flexible.length / largest
    return np.array([limits[name] for name in model.names])
