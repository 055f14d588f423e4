"""Robots with closed loops: calls beside Pinocchio, a crane with cylinders beside Exudyn."""
from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.util import find_spec

import crane
import numpy as np
from report import Report, Row
from timing import interleaved

from flex_description import Robot, load_robot
from flex_dynamics import Model
from flex_dynamics.simulation.simulation import Simulation

CALLS, CRANE = 'Calls with a closed loop', 'Crane with two cylinders'
RATIO_LIMIT = 2.5
SPEED_LIMIT, REAL_TIME_LIMIT = 10.0, 50.0
TOLERANCE = 1e-3          # m of the tip, from a converged solution
DURATION, SAMPLE = 4.0, 0.04      # s
SWEEPS_END = 1e-4
PARTS = (20, 16, 13, 10, 8, 7, 6, 5)     # steps in a sample, until one is too long
REGULARISATION = 1e-8
TO_ROUNDING, ONCE = 'constraintDynamics to 1e-12', 'constraintDynamics, one iteration (to 1e-7)'
REFERENCE = 4, 2e-4       # beams in each third of a boom, and step (s)


def four_bar(flexible: bool) -> str:
    """Crank of 0.5 m, rocker of 1 m, 1.3 m apart; the coupler is a beam of aluminium, or rigid."""
    length, up = float(np.hypot(1.3, 0.5)), -0.5 * np.pi

    def rod(name: str, size: float) -> str:
        return (f'<link name="{name}"><inertial><origin xyz="{size / 2} 0 0"/><mass value="{size}"'
                f'/><inertia ixx="0.001" iyy="{size**3 / 12}" izz="{size**3 / 12}" ixy="0" ixz="0"'
                ' iyz="0"/></inertial></link>')

    def joint(name: str, parent: str, x: float, pitch: float) -> str:
        return (f'<joint name="{name}_joint" type="continuous"><parent link="{parent}"/><child '
                f'link="{name}"/><origin xyz="{x} 0 0" rpy="0 {pitch!r} 0"/><axis xyz="0 1 0"/>'
                '</joint>')

    beam = (f'<link name="coupler"/><flexible link="coupler"><beam length="{length!r}"><section '
            'shape="rectangle" width="0.02" height="0.01"/><material name="aluminium"/></beam>'
            '<modes bending_y="2" bending_z="2" twist="1"/></flexible>'
            f'<loop name="pin" type="revolute" axis="0 1 0"><first frame="coupler" '
            f'xyz="{length!r} 0 0"/><second frame="rocker" xyz="1 0 0"/></loop>')
    return (f'<robot name="four_bar"><link name="ground"/>{rod("crank", 0.5)}'
            f'{beam if flexible else rod("coupler", length)}{rod("rocker", 1.0)}'
            f'{joint("crank", "ground", 0.0, up)}'
            f'{joint("coupler", "crank", 0.5, -float(np.arctan2(0.5, 1.3)) - up)}'
            f'{joint("rocker", "ground", 1.3, up)}</robot>')


def measure(report: Report) -> None:
    _calls(report)
    _crane(report)


def _calls(report: Report) -> None:
    robot = load_robot(four_bar(True), log_warnings=False)
    model, tree = Model(robot), Model(replace(robot, loops=()))
    rng = np.random.default_rng(0)
    q = np.asarray(model.close(np.zeros(model.n)).q)
    v, tau = model.admissible_speeds(q, 0.1 * rng.normal(size=model.n)), rng.normal(size=3)
    calls: dict[str, Callable[[], object]] = {
        'constrained': partial(model.forward_dynamics, q, v, tau),
        'tree': partial(tree.forward_dynamics, q, v, tau)}
    for name, one in (('steps', model), ('steps of the tree', tree)):
        simulation = Simulation(one, q=q)
        calls[name] = partial(simulation.advance, 10, np.zeros(3))
    peers = _pinocchio_calls(four_bar(False)) if find_spec('pinocchio') else {}
    times = interleaved({**calls, **peers})
    ratio = times['constrained'] / times['tree']
    report.add(CALLS, Row(f'flexible four-bar, {model.n} coordinates and '
                          f'{len(model.constraint_names)} rows: forward dynamics',
                          f'{1e6 * times["constrained"]:.1f} us'))
    report.add(CALLS, Row("the same / its tree's", f'{ratio:.2f}', f'at most {RATIO_LIMIT:g}',
                          ratio <= RATIO_LIMIT))
    report.add(CALLS, Row("a step of the integrator / its tree's",
                          f'{times["steps"] / times["steps of the tree"]:.2f}'))
    if not peers:
        report.note('Pinocchio (index name: pin) is not installed: no ratio of a rigid twin.')
        return
    for name in peers:
        if name != 'aba':
            report.add(CALLS, Row(f'Pinocchio, rigid twin with a ball joint (3 rows): {name} / '
                                  'aba', f'{times[name] / times["aba"]:.2f}'))
    theirs = times[TO_ROUNDING] / times['aba']
    report.add(CALLS, Row("ratio of flex / Pinocchio's, both to rounding", f'{ratio / theirs:.2f}',
                          'below 1', ratio < theirs))


def _pinocchio_calls(text: str) -> dict[str, Callable[[], object]]:
    import pinocchio as pin

    # A joint without limits has two coordinates there: one with limits is faster.
    model = pin.buildModelFromXML(text.replace('"continuous"', '"revolute"').replace(
        '</joint>', '<limit lower="-9" upper="9" effort="1" velocity="1"/></joint>'))
    ends = [pin.SE3(np.eye(3), np.array([x, 0.0, 0.0])) for x in (float(np.hypot(1.3, 0.5)), 1.0)]
    q, v, data = pin.neutral(model), np.zeros(model.nv), model.createData()
    tau = np.random.default_rng(0).normal(size=model.nv)
    calls: dict[str, Callable[[], object]] = {'aba': partial(pin.aba, model, data, q, v, tau)}
    # One of the rows is redundant in the plane: without a regularisation there are only NaN. One
    # iteration leaves its error in the accelerations, several remove it.
    for name, iterations in ((TO_ROUNDING, 10), (ONCE, 1)):
        contacts, found = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        contacts.append(pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D, model, model.getJointId('coupler_joint'), ends[0],
            model.getJointId('rocker_joint'), ends[1], pin.ReferenceFrame.LOCAL))
        found.append(contacts[0].createData())
        own = model.createData()
        pin.initConstraintDynamics(model, own, contacts, found)
        calls[name] = partial(pin.constraintDynamics, model, own, q, v, tau, contacts, found,
                              pin.ProximalSettings(1e-12, REGULARISATION, iterations))
    return calls


def run_flex(model: Model, step: float) -> tuple[np.ndarray, float]:
    """Tip (k, 3) every SAMPLE s of the crane, and the time of the processor (s)."""
    simulation = Simulation(model, step, q=np.zeros(model.n), tolerance=SWEEPS_END)
    servo, still = np.zeros((3, model.n_joints)), np.zeros(model.n_joints)
    for k, name in enumerate(model.joint_names):
        if name == 'slew':
            servo[:, k] = crane.SLEW_STIFFNESS, crane.SLEW_DAMPING, crane.SLEW_STEP
        elif name.startswith('cylinder'):
            servo[:, k] = crane.STIFFNESS, crane.DAMPING, crane.STEPS[int(name[-1]) - 1]
    simulation.set_servo(*servo)
    states, start = [], time.process_time()
    for _ in range(round(DURATION / SAMPLE)):
        simulation.advance(round(SAMPLE / step), still)
        states.append(simulation.q.copy())
    taken = time.process_time() - start
    return np.array([model.pose(q, 'load')[:3, 3] for q in states]), taken


def _crane(report: Report) -> None:
    robot: Robot = crane.crane(2)
    model = Model(robot)
    run_flex(model, SAMPLE / PARTS[0])        # compiles the kernels
    if not find_spec('exudyn'):
        _, taken = run_flex(model, 5e-3)
        _real_time(report, model, 5e-3, taken)
        report.note('Exudyn is not installed: no errors and no ratio of the crane.')
        return
    from exudyn_crane import ExudynCrane, Setting

    reference = ExudynCrane(Setting(*REFERENCE)).run(DURATION, SAMPLE)
    finer = ExudynCrane(Setting(REFERENCE[0], 2.0 * REFERENCE[1])).run(DURATION, SAMPLE)
    report.note('crane: the reference moves by '
                f'{1e3 * _off(finer, reference):.3f} mm with steps twice as long')

    def theirs(step: float) -> tuple[np.ndarray, float]:
        best = np.inf
        for _ in range(2):
            machine, start = ExudynCrane(Setting(2, step)), time.process_time()
            tips = machine.run(DURATION, SAMPLE)
            best = min(best, time.process_time() - start)
        return tips, best

    def ours(step: float) -> tuple[np.ndarray, float]:
        runs = [run_flex(model, step) for _ in range(5)]
        return runs[0][0], min(taken for _, taken in runs)

    step, taken, error = _fastest(ours, reference)
    peer_step, peer_taken, peer_error = _fastest(theirs, reference)
    _real_time(report, model, step, taken)
    report.add(CRANE, Row('the same: largest error of the tip', f'{1e3 * error:.2f} mm',
                          f'at most {1e3 * TOLERANCE:g} mm', error <= TOLERANCE))
    report.add(CRANE, Row(f'Exudyn, 12 beams, steps of {1e3 * peer_step:.1f} ms: time for 4 s',
                          f'{peer_taken:.3f} s, error {1e3 * peer_error:.2f} mm'))
    ratio = peer_taken / taken
    report.add(CRANE, Row('flex against Exudyn, both within 1 mm', f'{ratio:.1f} times as fast',
                          f'at least {SPEED_LIMIT:g}', ratio >= SPEED_LIMIT))


def _real_time(report: Report, model: Model, step: float, taken: float) -> None:
    report.add(CRANE, Row(f'flex, {model.n} coordinates, steps of {1e3 * step:.1f} ms: time for '
                          '4 s', f'{taken:.3f} s, {DURATION / taken:.0f} times real time',
                          f'at least {REAL_TIME_LIMIT:g} times',
                          DURATION / taken >= REAL_TIME_LIMIT))


def _off(tips: np.ndarray, reference: np.ndarray) -> float:
    return float(np.linalg.norm(tips - reference, axis=1).max())


def _fastest(run: Callable[[float], tuple[np.ndarray, float]],
             reference: np.ndarray) -> tuple[float, float, float]:
    """Step (s), time (s) and error (m) of the longest step with which all are within TOLERANCE."""
    found = (np.nan, np.inf, np.inf)
    for parts in PARTS:
        try:
            tips, taken = run(SAMPLE / parts)
        except Exception as failure:      # of a peer whose steps do not converge
            print(f'  steps of {1e3 * SAMPLE / parts:.1f} ms: {failure}', flush=True)
            break
        error = _off(tips, reference)
        if error > TOLERANCE:
            break
        found = SAMPLE / parts, taken, error
    return found
