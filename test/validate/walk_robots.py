"""One walk through other people's robots: describe, suggest, simulate, draw, report.

    python3 test/validate/walk_robots.py FOLDER_OR_FILE ... [--output results/robots] [--jobs 2]

Every robot has a process of its own, with bounded time and memory, and does what a user would do
with it: `describe`, `suggest` (an overlay that makes its long links flexible), the model, a
motion to a goal under the default controller of sim.launch.py with rigid and with flexible links,
markers for RViz, the scene of the browser viewer, and the report page. It works, or it is refused
with a message about its file, or it fails. `make validate` runs it on example-robot-data.
"""
from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np
import yaml

ROOT = Path(__file__).resolve().parents[2]
LONGEST, LARGEST = 120, 6 * 2**30      # s of processor time and bytes of address space, a robot
MOTION, REST = 1.5, 1.5                # s: to the goal, and there
FARTHEST = {'prismatic': 0.02}         # m to the goal, if the limits allow it; other joints:
ANGLE = 0.2                            # rad
QUINTIC_PEAK = 15.0 / 8.0              # speed of a minimum-jerk motion, of the mean one
MOST_ERROR, MOST_SPEED = 0.01, 0.01    # rad and rad/s at the end; a tenth in m, m/s
HEAD = ('robot', 'joints', 'coord.', 'flexible links', 'first Hz', 'error rigid', 'error flexible',
        'load s', 'simulate s', 'draw s', 'outcome')
Row = dict[str, Any]


def robot_files(places: Sequence[Path]) -> list[Path]:
    """The URDF and xacro files in folders, and files given by themselves."""
    found: list[Path] = []
    for place in places:
        found += ([path for kind in ('*.urdf', '*.xacro') for path in sorted(place.rglob(kind))]
                  if place.is_dir() else [place])
    return found


def walk(files: Sequence[Path], output: Path, jobs: int = 2,
         tell: Callable[[str], None] = lambda line: print(line, flush=True)) -> list[Row]:
    """Walk through the robots of those files, `jobs` at a time; a row each, in their order.

    Reports are written below `output`. tell: takes a line for each robot that is done.
    """
    base = Path(os.path.commonpath([file.parent for file in files])) if files else Path()

    def one(file: Path) -> Row:
        name = '_'.join(file.relative_to(base).parts)
        row = _walk_apart(file, output / re.sub(r'[^\w.-]', '_', name))
        row['name'] = str(file.relative_to(base))
        tell(f'{row["name"]}: {row["outcome"]}')
        return row

    with ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(one, files))


def table(rows: Sequence[Row]) -> str:
    """The rows as text, one line a robot."""
    lines = [HEAD, *map(_cells, rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(HEAD) - 1)]
    return '\n'.join('  '.join([line[0].ljust(widths[0]), *(
        cell.rjust(width) for cell, width in zip(line[1:], widths[1:])), line[-1]])
        for line in lines)


def _cells(row: Row) -> tuple[str, ...]:
    def text(key: str, form: str) -> str:
        return format(row[key], form) if row.get(key) is not None else '-'

    seconds = row.get('seconds', {})
    spent = (sum(seconds.get(step, 0.0) for step in steps) for steps in (
        ('load', 'describe', 'suggest', 'model'), ('simulate rigid', 'simulate flexible'),
        ('markers', 'browser', 'report')))
    return (row['name'], text('joints', 'd'), text('coordinates', 'd'),
            text('flexible_links', 'd'), text('first_frequency', '.3g'),
            text('error_rigid', '.1e'), text('error_flexible', '.1e'),
            *(f'{one:.1f}' for one in spent), row['outcome'])


def _walk_apart(file: Path, output: Path) -> Row:
    """`walk_one` in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, 'row.json')
        started = time.monotonic()
        try:
            ended = subprocess.run(
                [sys.executable, __file__, '--one', str(file), '--output', str(output),
                 '--answer', str(answer)], capture_output=True, text=True, timeout=10 * LONGEST)
        except subprocess.TimeoutExpired:
            return {'outcome': f'FAILED: not done after {10 * LONGEST} s', 'verdict': 'failed'}
        if not answer.is_file():
            last = (ended.stderr.strip().splitlines() or ['no message'])[-1]
            return {'outcome': f'FAILED: process ended with {ended.returncode}: {last}',
                    'verdict': 'failed'}
        row: Row = json.loads(answer.read_text())
        row['wall'] = time.monotonic() - started
        row['stderr'] = ended.stderr
        return row


# In the process of one robot ----------------------------------------------------------------


class Refused(Exception):
    """A message for the user instead of a result; its text is that message."""


def walk_one(file: Path, output: Path) -> Row:
    """The row of a robot: figures, seconds by step, verdict (works, warned, refused or failed)
    and outcome, which says it in a sentence."""
    row: Row = {'seconds': {}, 'problems': []}
    try:
        _steps(file, output, row)
    except Refused as refusal:
        named = file.name in str(refusal)
        row['verdict'] = 'refused' if named else 'failed'
        row['outcome'] = f'refused: {refusal}' if named else (
            f'FAILED: the message does not name the file: {refusal}')
    except Exception as error:      # any other is a fault of ours
        row['verdict'], row['outcome'] = 'failed', f'FAILED: {type(error).__name__}: {error}'
        row['traceback'] = traceback.format_exc()
    else:
        wrong = row.pop('wrong', [])
        if wrong:
            row['verdict'], row['outcome'] = 'failed', f'FAILED: {"; ".join(wrong)}'
        elif row['weak']:
            does = 'does not reach the goal' if row['sinks'] else 'works'
            row['verdict'], row['outcome'] = 'warned', f'{does}; warned: {row["weak"]}'
        else:
            row['verdict'], row['outcome'] = 'works', 'works'
    return row


def _steps(file: Path, output: Path, row: Row) -> None:
    from flex_control import ControlError
    from flex_description import RobotError, load_robot
    from flex_dynamics import DynamicsError, Model

    @contextlib.contextmanager
    def step(name: str) -> Iterator[None]:
        started = time.process_time()
        try:
            yield
        except (RobotError, DynamicsError, ControlError) as error:
            raise Refused(str(error)) from None
        finally:
            row['seconds'][name] = (row['seconds'].get(name, 0.0)
                                    + time.process_time() - started)

    logging.getLogger('flex_description').disabled = True       # Robot.warnings has them
    with step('load'):
        rigid = load_robot(file)
    row['warnings'] = list(rigid.warnings)
    with step('describe'):
        described = json.loads(_command('describe', str(file), '--json'))
        _command('describe', str(file))
    with step('model'):
        model = Model(rigid)
    row.update(joints=model.n_joints, coordinates=model.n)
    assert described['coordinates']['total'] == model.n, (described['coordinates'], model.n)
    with step('simulate rigid'):
        run = _simulate(model, row, 'rigid')
    with step('suggest'):
        overlay = suggested_overlay(file, output)
    if overlay is not None:
        with step('model'):
            model = Model(load_robot(file, overlay))
            row['first_frequency'] = float(model.frequencies(
                np.zeros(model.n), joints='locked')[0][0]) / (2.0 * np.pi)
        with step('simulate flexible'):
            run = _simulate(model, row, 'flexible')
    row['coordinates'] = model.n
    row['flexible_links'] = sum(link.flexible is not None for link in model.robot.links)
    with step('markers'):
        _draw_markers(run, row)
    with step('browser'):
        _draw_scene(run, row)
    with step('report'):
        from flex_viz import write_report
        write_report(output, run, np.linspace(0.0, run.time[-1], 6).tolist())


def _command(name: str, *arguments: str) -> str:
    """What a command of flex_description prints; Refused with what it says instead."""
    point, = entry_points(group='console_scripts', name=name)
    with (contextlib.redirect_stdout(io.StringIO()) as out,
          contextlib.redirect_stderr(io.StringIO()) as refusal):
        code = point.load()(list(arguments))
    if code:
        raise Refused(refusal.getvalue().strip().removeprefix('error: '))
    return out.getvalue()


def suggested_overlay(file: Path, output: Path) -> Path | None:
    """The overlay that `suggest` writes for a robot, in a file; None if it has no long link."""
    if not entry_points(group='console_scripts', name='suggest'):
        return None
    text = _command('suggest', str(file))
    if not yaml.safe_load(text):
        return None
    output.mkdir(parents=True, exist_ok=True)
    path = output / 'suggested.yaml'
    path.write_text(text)
    return path


def _defaults() -> dict[str, dict[str, Any]]:
    """Parameters of config/default.yaml, which sim.launch.py uses, by node."""
    content = yaml.safe_load((ROOT / 'flex_bringup' / 'config' / 'default.yaml').read_text())
    return {name.rpartition('/')[2]: given['ros__parameters'] for name, given in content.items()}


def _simulate(model: Any, row: Row, kind: str) -> Any:
    """A motion to a goal by the default controller, as a Run; its figures go into the row."""
    from flex_control import MinimumJerk, make_controller, run_trial
    from flex_control.controllers import DEFAULT_CONTROLLER
    from flex_dynamics.simulation.holding import weak_joints_warning
    from flex_viz import Run
    from flex_viz.geometry.coordinates import tip_frame

    given = _defaults()
    start, goal, slides = motion_ends(model)
    tool = tip_frame(model)
    result = run_trial(make_controller(DEFAULT_CONTROLLER, model),
                       MinimumJerk(start, goal, MOTION), MOTION + REST,
                       period=1.0 / given['simulator']['rate'], step=given['simulator']['step'],
                       tip=tool)
    row['weak'] = (weak_joints_warning(model, start, 'start pose')
                   or weak_joints_warning(model, goal, 'goal'))
    sinks = bool(row['weak'])                 # the file says why it does not settle
    row['weak'] = row['weak'] or ''.join(warning for warning in row['warnings']
                                         if 'its drive cannot move it' in warning)
    friction = {joint.name: joint.friction for joint in model.robot.joints}
    stuck = np.array([0.0 < model.joint_limits.effort[at] <= friction.get(name, 0.0)
                      for at, name in enumerate(model.joint_names)])
    unit = np.where(slides, 0.1, 1.0)         # 1 mm is as bad as 10 mrad
    error = np.where(stuck, 0.0, np.abs(result.joint_error()[-1]) / unit)
    speed = np.where(stuck, 0.0, np.abs(result.v[-1, :model.n_joints]) / unit)
    worst = int(np.argmax(error))
    row[f'error_{kind}'] = float(error[worst])
    row['sinks'] = row.get('sinks', False) or bool(sinks and error[worst] > MOST_ERROR)
    wrong = row.setdefault('wrong', [])
    if not (np.isfinite(result.q).all() and np.isfinite(result.v).all()):
        wrong.append(f'{kind}: a state is not finite')
    elif not sinks:
        if error[worst] > MOST_ERROR:
            wrong.append(f'{kind}: {model.joint_names[worst]} is {error[worst] * unit[worst]:.2g} '
                         f'from its goal, which is {abs(goal - start)[worst]:.2g} from its start')
        elif speed.max() > MOST_SPEED:
            wrong.append(f'{kind}: {model.joint_names[int(speed.argmax())]} still moves')
        limits, joints = model.joint_limits, result.q[:, :model.n_joints]
        beyond = np.maximum(limits.lower - joints, joints - limits.upper).max(axis=0) / unit
        if beyond.max() > MOST_ERROR:
            wrong.append(f'{kind}: {model.joint_names[int(beyond.argmax())]} left its limits by '
                         f'{beyond.max():.2g}')
    return Run(model, tool, result.time, result.q, result.v, result.effort, result.effort,
               result.wanted)


def motion_ends(model: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Start and goal (n_joints,) of the motion, within all limits; which joints slide."""
    from flex_description import default_pose, read_pose

    names, limits = model.joint_names, model.joint_limits
    types = {joint.name: joint.type for joint in model.robot.joints}
    followers = {joint.name for joint in model.robot.joints if joint.mimic is not None}
    pose = default_pose(model.robot)
    start = np.array([pose[name] for name in names])
    goal = {}
    for at, name in enumerate(names):
        if name in followers or name not in types:       # mimics follow; a base has no motor
            continue
        up, down = limits.upper[at] - start[at], start[at] - limits.lower[at]
        way = min(FARTHEST.get(types[name], ANGLE), 0.5 * max(up, down),
                  0.9 * limits.velocity[at] * MOTION / QUINTIC_PEAK)
        goal[name] = float(start[at] + (way if up >= down else -way))
    text = ' '.join(f'{name}={position!r}' for name, position in goal.items())
    reached = read_pose(model.robot, text)
    return (start, np.array([reached[name] for name in names]),
            np.array([types.get(name) == 'prismatic' for name in names]))


def _draw_markers(run: Any, row: Row) -> None:
    from flex_viz.rviz.marker_bytes import marker_array
    from flex_viz.rviz.robot_markers import RobotMarkers

    drawing = RobotMarkers(run.model)
    markers = drawing.at(float(run.time[-1]), run.q[-1])
    numbers = [number for marker in markers for number in (
        *marker.position, *marker.orientation, *marker.scale, *np.ravel(marker.points))]
    assert np.isfinite(numbers).all(), 'a marker is not finite'
    assert marker_array(markers, run.model.robot.links[0].name, 10**9, 1.0)
    row['markers'] = len(markers)


def _draw_scene(run: Any, row: Row) -> None:
    """The scene of the browser viewer, with all meshes; what could not be drawn is a problem."""
    import viser

    from flex_viz.browser.scene import Scene

    with contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host='127.0.0.1', port=0, verbose=False)
    try:
        scene = Scene(server, run.model)
        scene.show(float(run.time[-1]), run.q[-1])
        row['problems'] += scene.robot.problems
    finally:
        server.stop()


def main(arguments: Sequence[str] | None = None) -> int:
    """Walk through the robots of the command line; 1 if one fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('places', nargs='*', type=Path, metavar='FOLDER_OR_FILE')
    parser.add_argument('--output', type=Path, default=ROOT / 'results' / 'robots')
    parser.add_argument('--jobs', type=int, default=2)
    parser.add_argument('--one', type=Path, help=argparse.SUPPRESS)
    parser.add_argument('--answer', type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.one is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, LONGEST))
        resource.setrlimit(resource.RLIMIT_AS, (LARGEST, LARGEST))
        given.answer.write_text(json.dumps(walk_one(given.one, given.output)))
        return 0
    rows = walk(robot_files(given.places), given.output, given.jobs)
    given.output.mkdir(parents=True, exist_ok=True)
    (given.output / 'rows.json').write_text(json.dumps(rows, indent=1))
    (given.output / 'table.txt').write_text(table(rows) + '\n')
    print(table(rows))
    return int(any(row['verdict'] == 'failed' for row in rows))


if __name__ == '__main__':
    sys.exit(main())
