"""Makes the pictures of the documentation: `make pictures`, or some of them by name.

    python3 doc/make_pictures.py panda tip_vibration

`viewer` needs Chromium.
"""
from __future__ import annotations

import argparse
import contextlib
import io
import runpy
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from draw_robot import RobotPicture, write_gif
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from flex_control import MinimumJerk, Shaped, Shaper, make_controller, run_trial
from flex_control.trial import TrialResult
from flex_description import load_robot
from flex_dynamics import Model
from flex_viz import Run, write_report

DOC = Path(__file__).resolve().parent
EXAMPLES = DOC.parent / 'examples'
# The Panda of the tutorial: links that bend at 8 and 16 Hz instead of 120 and 235 Hz.
PANDA = {'flexible': {
    'panda_link2': {
        'beam': {'to': 'panda_joint3', 'material': 'aluminium', 'section': {
            'shape': 'hollow_circle', 'outer_radius': 0.06, 'inner_radius': 0.054}},
        'damping': 0.01, 'stiffness': {'frequency': 8, 'carried': 'included'}},
    'panda_link4': {
        'beam': {'to': 'panda_joint5', 'material': 'aluminium', 'section': {
            'shape': 'hollow_circle', 'outer_radius': 0.0528, 'inner_radius': 0.0477}},
        'damping': 0.01, 'stiffness': {'frequency': 16, 'carried': 'included'}}}}
FIRST = [0.0, -0.8, 0.0, -2.4, 0.0, 1.6, 0.8]
LAST = [1.0, -0.2, 0.0, -1.6, 0.0, 1.6, 0.8]
TIP = 'panda_link8'
FAST = 0.9                 # s that the motion takes; less is beyond the limits of its speed
BLUE, GREY, RED = '#1f5fae', '#8a8f96', '#c8452d'


def figure(rows: int = 1, columns: int = 1, width: float = 6.4, height: float = 3.2) -> Any:
    """A figure that needs no screen, and its axes."""
    made = Figure(figsize=(width, height), dpi=110, layout='constrained')
    FigureCanvasAgg(made)
    return made, made.subplots(rows, columns)


def _panda() -> Model:
    return Model(load_robot('panda', PANDA))


def _as_run(model: Model, result: TrialResult, tool: str, every: int = 5) -> Run:
    pick = slice(None, None, every)
    return Run(model, tool, result.time[pick], result.q[pick], result.v[pick],
               result.effort[pick], None, result.wanted[pick])


def panda() -> list[Path]:
    """The moving picture of the README: the Panda moves to and fro, its bending drawn larger."""
    model = _panda()
    pictures, factor, rate = [], 15.0, 20.0
    draw = RobotPicture(model, strain=1.5e-3)
    for first, last in ((FIRST, LAST), (LAST, FIRST)):
        motion = MinimumJerk(first, last, FAST)
        stiff = make_controller('pd', model, {'bandwidth': 40.0, 'feedforward': False})
        result = run_trial(stiff, motion, 1.8, period=2e-3, step=1e-3, tip=TIP)
        for at in range(0, len(result.time), round(500.0 / rate)):
            pictures.append(draw.draw(
                result.q[at], factor,
                f'deflection drawn {factor:g} times as large; colour: strain',
                np.array([0.15, 0.0, 0.5]), 0.72))
    path = DOC / 'panda.gif'
    write_gif(path, pictures, 1.0 / rate)
    return [path]


def your_robot() -> list[Path]:
    """The report of the tutorial's motion."""
    model = _panda()
    motion = MinimumJerk(FIRST, LAST, 1.0)
    result = run_trial(make_controller('pid', model), motion, 2.5, period=2e-3, step=1e-3, tip=TIP)
    folder = DOC / 'tutorials' / 'report'
    write_report(folder, _as_run(model, result, TIP), (0.0, 0.3, 0.5, 0.7, 1.0, 2.0), 20.0)
    path = DOC / 'tutorials' / 'your_robot.png'
    (folder / 'run.png').rename(path)
    for left in folder.iterdir():
        left.unlink()
    folder.rmdir()
    return [path]


# Name in the legend, controller, its parameters, whether the motion is shaped.
RIVALS = (('PD and gravity compensation, 40 rad/s as for rigid links', 'pd',
           {'bandwidth': 40.0, 'feedforward': False}, False, GREY),
          ('pid, the default', 'pid', {}, False, BLUE),
          ('computed_torque, motion shaped (zvd)', 'computed_torque', {}, True, RED))


def tip_vibration() -> list[Path]:
    """Distance of the Panda's tip from its goal after a fast motion, by controller."""
    model = _panda()
    made, axes = figure(width=7.0, height=3.4)
    for label, name, parameters, shaped, colour in RIVALS:
        motion = MinimumJerk(FIRST, LAST, FAST)
        if shaped:
            motion = Shaped(motion, Shaper(model, 'zvd'))
        result = run_trial(make_controller(name, model, parameters), motion, 2.5, period=2e-3,
                           step=1e-3, tip=TIP)
        rest = model.pose(model.statics(LAST)[0], TIP)[:3, 3]
        error = 1e3 * np.linalg.norm(result.tip - rest, axis=1)
        left = 1e3 * result.vibration(1.1, 1.6)
        print(f'{label}: motion of {motion.end:.3f} s, vibration from 1.1 to 1.6 s {left:.3f} mm, '
              f'at 1.2 s {error[600]:.3f} mm from its place')
        axes.semilogy(result.time, np.maximum(error, 1e-4), color=colour, linewidth=1.4,
                      label=f'{label}: {left:.2g} mm from 1.1 to 1.6 s')
    axes.set(xlabel='time, s', ylabel='tip from its goal, mm', ylim=(1e-3, 2e3), xlim=(0.0, 2.5))
    axes.axvline(FAST, color='#cccccc', linewidth=1.0, zorder=0)
    axes.text(FAST + 0.01, 1.3e-3, 'end of the unshaped motion', fontsize=8, color='#666666')
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    path = DOC / 'tip_vibration.png'
    made.savefig(path)
    return [path]


# Examples: each runs as it is, and its own variables are drawn.


def _plot(name: str, draw: Callable[[Any, dict[str, Any]], None]) -> list[Path]:
    with contextlib.redirect_stdout(io.StringIO()):
        names = runpy.run_path(str(EXAMPLES / f'{name}.py'))
    made, axes = figure(width=3.6, height=2.2)
    draw(axes, names)
    axes.tick_params(labelsize=7)
    axes.xaxis.label.set_size(8)
    axes.yaxis.label.set_size(8)
    path = EXAMPLES / 'pictures' / f'{name}.png'
    path.parent.mkdir(exist_ok=True)
    made.savefig(path)
    return [path]


def _terms(axes: Any, names: dict[str, Any]) -> None:
    axes.imshow(np.log10(np.abs(names['M']) + 1e-9), cmap='viridis')
    axes.set(xlabel='mass matrix, logarithmic', xticks=[], yticks=[])


def _sag(axes: Any, names: dict[str, Any]) -> None:
    model = names['model']
    drawn = RobotPicture(model, strain=3e-4).draw(names['q'], 10.0, '', np.array([0.8, 0.0, 1.2]),
                                                  2.4)
    axes.imshow(np.asarray(drawn))
    axes.set(xlabel='with 50 N, deflection 10 times as large', xticks=[], yticks=[])


def _frequencies(axes: Any, names: dict[str, Any]) -> None:
    model, q = names['model'], names['q']
    for row, (label, rates) in enumerate((
            ('free', model.frequencies(q)[0]), ('locked', model.frequencies(q, 'locked')[0]),
            ('held', model.frequencies(q, joint_stiffness=names['springs'])[0]))):
        axes.plot(rates[:8] / (2.0 * np.pi), np.full(8, row), 'o', color=BLUE, markersize=4)
        axes.text(0.11, row + 0.15, label, fontsize=7)
    axes.set(xscale='log', xlim=(0.1, 200.0), ylim=(-0.5, 2.7), yticks=[], xlabel='Hz')


def _poles(axes: Any, names: dict[str, Any]) -> None:
    poles = np.linalg.eigvals(names['A'])
    axes.plot(poles.real, poles.imag, 'x', color=BLUE)
    axes.set(xlabel='real part, 1/s', ylabel='imaginary part, 1/s')
    axes.grid(alpha=0.3)


def _swing(axes: Any, names: dict[str, Any]) -> None:
    run = names['simulate'](names['model'], duration=5.0, q=names['start'], output_step=0.02)
    energy = np.array([names['model'].energy(q, v) for q, v in zip(run.q, run.v, strict=True)])
    for at, label in enumerate(('kinetic', 'strain', 'gravity')):
        axes.plot(run.time, energy[:, at], linewidth=1.0, label=label)
    axes.plot(run.time, energy.sum(axis=1), color='black', linewidth=1.2, label='total')
    axes.set(xlabel='time, s', ylabel='energy, J')
    axes.legend(fontsize=6, loc='center right')


def _push(axes: Any, names: dict[str, Any]) -> None:
    axes.plot(names['run'].time, names['error'], color=BLUE, linewidth=1.2)
    axes.set(xlabel='time, s', ylabel='tip moved by, mm')
    axes.grid(alpha=0.3)


def _shaped(axes: Any, names: dict[str, Any]) -> None:
    model, here, there = (names[name] for name in ('model', 'here', 'there'))
    for label, motion, colour in (
            ('plain', MinimumJerk(here, there, 1.0), GREY),
            ('shaped', Shaped(MinimumJerk(here, there, 0.63), names['shaper']), RED)):
        run = run_trial(make_controller('computed_torque', model), motion, 2.0, period=2e-3,
                        step=1e-3)
        axes.semilogy(run.time, 1e3 * np.linalg.norm(run.tip - run.tip[-1], axis=1) + 1e-3,
                      color=colour, linewidth=1.2, label=label)
    axes.set(xlabel='time, s', ylabel='tip from its end, mm')
    axes.legend(fontsize=6)


GALLERY = {'01_terms': _terms, '02_gravity_sag': _sag, '03_frequencies': _frequencies,
           '04_linear_model': _poles, '05_free_swing': _swing, '09_lqr_push': _push,
           '10_lqg_push': _push, '11_shaped_move': _shaped}


def gallery() -> list[Path]:
    """A picture of each example that has something to show."""
    return [path for name, draw in GALLERY.items() for path in _plot(name, draw)]


def viewer() -> list[Path]:
    """The page of the viewer in a browser."""
    from viewer_pictures import viewer as make
    return make()


PICTURES: dict[str, Callable[[], list[Path]]] = {
    'panda': panda, 'your_robot': your_robot, 'tip_vibration': tip_vibration,
    'gallery': gallery, 'viewer': viewer}


def main() -> None:
    parser = argparse.ArgumentParser(description='Make the pictures of the documentation.')
    parser.add_argument('names', nargs='*', help=f'some of {", ".join(PICTURES)}; default: all')
    names = parser.parse_args().names or list(PICTURES)
    for name in names:
        if name not in PICTURES:
            parser.error(f'expected some of {", ".join(PICTURES)}, found {name}')
    for name in names:
        begin = time.monotonic()
        for path in PICTURES[name]():
            print(f'{path.relative_to(DOC.parent)}: {path.stat().st_size / 1e3:.0f} kB, '
                  f'{time.monotonic() - begin:.0f} s', flush=True)


if __name__ == '__main__':
    main()
