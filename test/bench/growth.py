"""Chains of more and more flexible links: the time of forward dynamics should grow as they do."""
from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
from report import Report, Row
from stages import forward_stages
from timing import interleaved

from flex_description import load_robot
from flex_description.robot import Robot
from flex_dynamics import Model

SECTION = 'Growth with the number of flexible links'
COUNTS = (4, 8, 16, 32, 64, 128)
LIMIT = 1.3


def chain(links: int) -> Robot:
    """A chain of aluminium tubes, each turned 90 degrees from the last; two bending shapes a plane
    and one twist shape a link, craig-bampton."""
    parts = ['<robot name="chain">', '<link name="link0"/>']
    for i in range(1, links + 1):
        parts.append(
            f'<link name="link{i}"/>'
            f'<joint name="joint{i}" type="continuous"><parent link="link{i - 1}"/>'
            f'<child link="link{i}"/><origin xyz="{0.5 if i > 1 else 0} 0 0" rpy="1.5708 0 0"/>'
            '<axis xyz="0 0 1"/></joint>'
            f'<flexible link="link{i}"><beam length="0.5">'
            '<section shape="hollow_circle" outer_radius="0.02" inner_radius="0.018"/>'
            '<material name="aluminium"/></beam>'
            '<modes basis="craig-bampton" bending_y="2" bending_z="2" twist="1"/></flexible>')
    return load_robot('\n'.join([*parts, '</robot>']))


def measure(report: Report, results: Path) -> None:
    models, calls = {}, {}
    rng = np.random.default_rng(2)
    for count in COUNTS:
        print(f'  building the chain of {count} flexible links', flush=True)
        model = models[count] = Model(chain(count))
        q, v = rng.uniform(-0.2, 0.2, model.n), rng.uniform(-0.1, 0.1, model.n)
        q[model.n_joints:] *= 0.02
        tau = np.zeros(model.n_joints)
        calls[str(count)] = partial(model.forward_dynamics, q, v, tau)
    times = interleaved(calls)
    per_link = np.array([times[str(count)] / count for count in COUNTS]) * 1e6
    for count, value in zip(COUNTS, per_link):
        report.add(SECTION, Row(f'{count} links, {models[count].n} coordinates',
                                f'{value:.2f} us a link'))
    ratio = per_link.max() / per_link.min()
    report.add(SECTION, Row('slowest / fastest time a link', f'{ratio:.2f}', f'at most {LIMIT}',
                            ratio <= LIMIT))
    if ratio > LIMIT:
        for count in (COUNTS[0], COUNTS[-1]):
            n = models[count].n
            report.note(forward_stages(models[count], np.zeros(n), np.zeros(n),
                                       np.zeros(models[count].n_joints)))
    _plot(per_link, results / 'bench_growth.png')


def _plot(per_link: np.ndarray, path: Path) -> None:
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot as plt
    from matplotlib.ticker import NullLocator

    figure, (whole, each) = plt.subplots(1, 2, figsize=(9, 3.6), layout='constrained')
    whole.loglog(COUNTS, per_link * COUNTS, 'o-')
    whole.set_ylabel('forward dynamics, µs')
    each.semilogx(COUNTS, per_link, 'o-')
    each.axhspan(per_link.min(), per_link.min() * LIMIT, alpha=0.2, label=f'factor {LIMIT}')
    each.set_ylim(0, None)
    each.set_ylabel('µs a link')
    each.legend()
    for axes in (whole, each):
        axes.set_xticks(COUNTS, [str(count) for count in COUNTS])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xlabel('flexible links')
        axes.grid(True, alpha=0.3)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)
