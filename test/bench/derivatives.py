"""Exact derivatives: the 16-coordinate arm here, in segments in Pinocchio; growth with links."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

import numpy as np
from growth import chain
from report import Report, Row
from timing import interleaved

from flex_description import load_robot
from flex_dynamics import Model

SECTION = 'Derivatives, 4-joint arm'
LIMITS = {'forward dynamics by q, v and tau': 0.6, 'linearize': 0.9, 'statics': 1.5}
PEER = 'computeABADerivatives, ball joint'
COUNTS = (4, 8, 16, 32)
MOST_GROWTH = 4.0          # of the time when the number of links doubles: quadratic


def measure(report: Report) -> None:
    robot = load_robot('cibicik_arm_paper')
    model = Model(robot)
    rng = np.random.default_rng(0)
    q, v = rng.normal(size=model.n) * 0.3, rng.normal(size=model.n) * 0.1
    q[model.n_joints:] *= 0.03
    tau, a = np.ones(model.n_joints), rng.normal(size=model.n)
    calls: dict[str, Callable[[], object]] = {
        'forward dynamics by q, v and tau': partial(model.forward_dynamics_derivatives, q, v, tau),
        'inverse dynamics by q, v and a': partial(model.inverse_dynamics_derivatives, q, v, a),
        'linearize': partial(model.linearize, q, v, tau),
        'statics': partial(model.statics, q[:model.n_joints]),
        'forward dynamics': partial(model.forward_dynamics, q, v, tau),
    }
    peers = _pinocchio_calls(robot) if find_spec('pinocchio') else {}
    times = interleaved({**calls, **peers})
    for name in calls:
        report.add(SECTION, Row(f'flex, {model.n} coordinates: {name}',
                                f'{times[name] * 1e6:.1f} us'))
    for name in peers:
        report.add(SECTION, Row(f'Pinocchio, 52 coordinates: {name}',
                                f'{times[name] * 1e6:.1f} us'))
    if peers:
        for name, limit in LIMITS.items():
            ratio = times[name] / times[PEER]
            report.add(SECTION, Row(f'{name} / computeABADerivatives', f'{ratio:.2f}',
                                    f'at most {limit:g}', ratio <= limit))
    else:
        report.note('Pinocchio (index name: pin) is not installed: no ratio of derivatives.')
    _growth(report)


def _growth(report: Report) -> None:
    """Time of the three partials when the number of flexible links doubles."""
    rng, calls = np.random.default_rng(2), {}
    for count in COUNTS:
        model = Model(chain(count))
        q, v = rng.uniform(-0.2, 0.2, model.n), rng.uniform(-0.1, 0.1, model.n)
        q[model.n_joints:] *= 0.02
        calls[str(count)] = partial(model.forward_dynamics_derivatives, q, v,
                                    np.zeros(model.n_joints))
    times = interleaved(calls, rounds=20)
    for few, many in zip(COUNTS[:-1], COUNTS[1:]):
        factor = times[str(many)] / times[str(few)]
        report.add(SECTION, Row(
            f'{many} links / {few} links ({times[str(many)] * 1e6:.0f} us)', f'{factor:.2f}',
            f'at most {MOST_GROWTH:g}', factor <= MOST_GROWTH))


def _pinocchio_calls(robot) -> dict[str, Callable[[], object]]:
    import pinocchio as pin
    from pinocchio_arm import JOINTS, segmented_arm

    calls: dict[str, Callable[[], object]] = {}
    for kind in JOINTS:
        model = segmented_arm(robot, 8, kind).model
        data = model.createData()
        v = np.random.default_rng(1).normal(size=model.nv) * 0.05
        q, tau = pin.integrate(model, pin.neutral(model), v), np.ones(model.nv)
        calls[f'computeABADerivatives, {kind}'] = partial(pin.computeABADerivatives, model, data,
                                                          q, v, tau)
        calls[f'computeRNEADerivatives, {kind}'] = partial(pin.computeRNEADerivatives, model,
                                                           data, q, v, tau)
    return calls
