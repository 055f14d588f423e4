"""Microseconds a call from Python: the 16-coordinate arm here, in segments in Pinocchio."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

import numpy as np
from report import Report, Row
from stages import forward_stages, terms_stages
from timing import interleaved

from flex_description import load_robot
from flex_dynamics import Model

SECTION = 'Calls from Python, 4-joint arm'
FORWARD_LIMIT = 0.75
TERMS_LIMIT = 2.5


def measure(report: Report) -> None:
    robot = load_robot('cibicik_arm_paper')
    model = Model(robot)
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=model.n) * 0.3, rng.normal(size=model.n) * 0.1
    q[model.n_joints:] *= 0.03
    tau = np.ones(model.n_joints)
    calls: dict[str, Callable[[], object]] = {
        'forward dynamics': partial(model.forward_dynamics, q, v, tau),
        'M, C, K, D, g': partial(model.terms, q, v),
    }
    peers = _pinocchio_calls(robot) if find_spec('pinocchio') else {}
    times = interleaved({**calls, **peers})
    for name in calls:
        report.add(SECTION, Row(f'flex, {model.n} coordinates: {name}',
                                _microseconds(times[name])))
    for name in peers:
        report.add(SECTION, Row(f'Pinocchio, 52 coordinates: {name}', _microseconds(times[name])))
    if not peers:
        report.note('Pinocchio (index name: pin) is not installed: no ratio of calls.')
        return
    # The peer is taken at its best: the kind of joint with which it is fastest.
    best = min(times[name] for name in peers if name.startswith('ABA'))
    for name, limit in (('forward dynamics', FORWARD_LIMIT), ('M, C, K, D, g', TERMS_LIMIT)):
        ratio = times[name] / best
        report.add(SECTION, Row(f'{name} / ABA', f'{ratio:.2f}', f'at most {limit:g}',
                                ratio <= limit))
    report.note(forward_stages(model, q, v, tau))
    report.note(terms_stages(model, q, v))


def _pinocchio_calls(robot) -> dict[str, Callable[[], object]]:
    import pinocchio as pin
    from pinocchio_arm import JOINTS, segmented_arm

    calls: dict[str, Callable[[], object]] = {}
    for kind in JOINTS:
        model = segmented_arm(robot, 8, kind).model
        data = model.createData()
        v = np.random.default_rng(1).normal(size=model.nv) * 0.05
        q = pin.integrate(model, pin.neutral(model), v)
        tau = np.ones(model.nv)
        calls[f'ABA, {kind}'] = partial(pin.aba, model, data, q, v, tau)
        calls[f'CRBA, {kind}'] = partial(pin.crba, model, data, q)
    return calls


def _microseconds(seconds: float) -> str:
    return f'{seconds * 1e6:.1f} us'
