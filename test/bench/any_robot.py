"""Every controller with its defaults on fourteen robots: a move, a push, an unknown payload."""
from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from report import Report, Row

import flex_control
import flex_description
import flex_dynamics
from flex_control import (
    ControlError,
    Noise,
    SetPoints,
    Splines,
    Trajectory,
    TrialResult,
    available_controllers,
    controller_class,
    make_controller,
    run_trial,
)
from flex_description import RobotError, default_pose, load_robot
from flex_dynamics import DynamicsError, Model, Wrench

SECTION = 'Controllers with their defaults, any robot'
OVERLAYS = Path(__file__).resolve().parent / 'overlays'
SHIPPED = 'cmeel.prefix/share/example-robot-data/robots'     # in the wheel example-robot-data
PERIOD, STEP = 2e-3, 1e-3       # s, as in flex_bringup/config/default.yaml
FINE_STEP = 2.5e-4              # s, where the simulation does not converge otherwise
MOVE = 1.2                      # s, a third of it to speed up, a third to slow down
DEPARTURE = 0.2                 # s
ARRIVAL = DEPARTURE + MOVE
PUSHED = 0.2                    # s
PERIODS = 12.0                  # of the first frequency, that a run goes on at least
LARGEST = 0.5                   # rad, of every joint in the move; prismatic: a fifth of it in m
BENT = 0.5                      # rad, of every joint at the start; prismatic: as above
SHARE = 0.7                     # of the limits of speed and effort that the move uses
TOOL_SIZE = 0.05                # m, radius of gyration
BAND = 1e-3                     # of the reach: settled; at least 1 mm
UNSETTLED = '**not**'
CODE = ('.py', '.urdf', '.xacro', '.yaml')
NOISE = Noise(1e-5, 1e-2, 1e-6, 2e-3, 5e-2)                 # as LQG's filter expects it


@dataclass(frozen=True)
class Case:
    """A robot of the table: where it comes from, and how it is disturbed."""

    name: str
    source: str               # bundled robot, or path below that of example-robot-data
    overlay: str = ''         # of OVERLAYS, or of the bundled robots
    tip: str = ''             # link; empty: the last one
    push: float = 20.0        # N at the tip, in the direction in which the joints move it most
    payload: float = 5.0      # kg at the tip, of which the controller does not know
    tool: float = 0.0         # kg at the tip, of which it knows
    patience: float = 4.0     # s after the arrival, at least: soft springs in the joints are slow

    def model(self) -> Model:
        """The robot; DynamicsError if example-robot-data is not installed."""
        if '/' not in self.source:
            return Model(load_robot(self.source, _bundled(self.overlay) or None))
        model = Model(load_robot(shipped_robots() / self.source, OVERLAYS / self.overlay))
        if self.tool:
            model = model.with_payload('tool', self.tip, self.tool, np.zeros(3),
                                       TOOL_SIZE**2 * self.tool * np.eye(3))
        return model


OURS = (
    Case('cibicik_arm', 'cibicik_arm'),
    Case('canadarm', 'canadarm'),
    Case('flexible_tree', 'flexible_tree', tip='left_forearm', payload=1.0),
    Case('lin_lewis_rfr', 'lin_lewis_rfr', push=2.0, payload=0.2),
    Case('piedboeuf_arm', 'piedboeuf_arm', push=2.0, payload=0.2),
    Case('lab_link', 'lab_link', push=0.5, payload=0.05),
    Case('mladenova_arm', 'mladenova_arm', push=1.0, payload=0.05, patience=15.0),
    Case('ur5, flexible', 'ur5', 'ur5_flexible.yaml', tip='tool0'),
)
PUBLISHED = (
    Case('UR10, 6 Hz', 'ur_description/urdf/ur10_robot.urdf', 'ur10.yaml', tip='tool0'),
    Case('Panda, 12 Hz', 'panda_description/urdf/panda.urdf', 'panda.yaml', tip='panda_hand',
         payload=1.0),
    Case('Kinova, 3 Hz', 'kinova_description/robots/kinova.urdf', 'kinova.yaml',
         tip='j2s6s200_end_effector', push=10.0, payload=1.0),
    # without its hand the last link has 4e-6 kg m2 and 1 N m of friction, which no step resolves
    Case('Tiago, 10 Hz', 'tiago_description/robots/tiago_no_hand.urdf', 'tiago.yaml',
         tip='arm_tool_link', payload=1.0, tool=0.5),
    Case('Talos, 8 Hz', 'talos_data/robots/talos_reduced.urdf', 'talos.yaml',
         tip='arm_left_7_link', payload=1.0),
    Case('Z1, 20 Hz', 'z1_description/urdf/z1.urdf', 'z1.yaml', tip='link06', payload=1.0),
)
CASES = (*OURS, *PUBLISHED)


def shipped_robots() -> Path:
    """The folder of the robots of example-robot-data; DynamicsError if it is not installed."""
    for entry in sys.path:
        if (folder := Path(entry) / SHIPPED).is_dir():
            return folder
    raise DynamicsError('example-robot-data is not installed; `make bench` installs it, or '
                        '`python3 bare/setup.py peers`')


def _bundled(overlay: str) -> Path | None:
    return Path(flex_description.__file__).parent / 'robots' / overlay if overlay else None


@dataclass(frozen=True)
class Figures:
    """What a controller did on a robot; lengths in m, times in s, infinite if it never settled.

    loaded_*: the same move with the payload that the controller does not know of; sag: how far the
    tip then rests from where it rests without the payload.
    """

    frequency: float          # Hz, first one with locked joints
    joint_error: float        # rad or m, largest in the move
    residual: float           # of the tip, a second (or a period) after the arrival, for as long
    settled: float            # after the arrival
    pushed: float             # largest distance of the tip under the push
    held: float               # distance of the tip after 4 s or 12 periods of push
    loaded_settled: float
    sag: float

    @property
    def settles(self) -> bool:
        return bool(np.isfinite(self.settled) and np.isfinite(self.loaded_settled))


class Bench:
    """One robot, its move, push and payload, ready for any controller."""

    def __init__(self, case: Case) -> None:
        self.case, self.model = case, case.model()
        model = self.model
        self.tip = case.tip or model.robot.links[-1].name
        default, bent = bent_pose(model)
        self.start = default + bent
        self.end = self.start + self._way(np.sign(bent))
        self.rest = self._tip_at(self.start)
        self.band = max(1e-3, BAND * self._reach())
        self.loaded = model.with_payload('unknown', self.tip, case.payload)
        locked = model.frequencies(model.statics(self.start)[0], joints='locked')[0]
        self.frequency = float(locked[0]) / (2.0 * np.pi) if locked.size else np.inf
        self.window = max(1.0, 1.0 / self.frequency)
        self.patience = max(case.patience, PERIODS / self.frequency)
        q = model.statics(self.start)[0]
        jacobian = model.jacobian(q, self.tip)[:3, :model.n_joints]
        self.side = np.linalg.svd(jacobian / _units(model))[0][:, 0]

    def _tip_at(self, joints: np.ndarray) -> np.ndarray:
        return self.model.pose(self.model.statics(joints)[0], self.tip)[:3, 3]

    def _reach(self) -> float:
        """Distance (m) of the tip from the first joint."""
        first = self.model.robot.joints[0].child
        q = np.zeros(self.model.n)
        q[:self.model.n_joints] = self.start
        return float(np.linalg.norm(self.model.pose(q, self.tip)[:3, 3]
                                    - self.model.pose(q, first)[:3, 3]))

    def _way(self, sign: np.ndarray) -> np.ndarray:
        """How far each joint moves (n_joints,), further from the default pose, so that speeds
        and efforts stay below SHARE of their limits."""
        model, limits = self.model, self.model.joint_limits
        way = np.array([LARGEST * unit for unit in _units(model)])
        way = np.minimum(way, SHARE * limits.velocity * MOVE * 2.0 / 3.0)
        room = np.where(sign > 0.0, limits.upper - self.start, self.start - limits.lower)
        way = np.minimum(way, 0.8 * room) * sign
        way[_friction(model) >= SHARE * limits.effort] = 0.0       # they stick
        for _ in range(40):
            spare = self._spare_effort(way)
            if spare >= 1.0:
                break
            way = 0.8 * way
        return way

    def _spare_effort(self, way: np.ndarray) -> float:
        """Least ratio of the effort that the move may use to the one that it needs."""
        model, joints = self.model, self.model.n_joints
        move = trapezoid(self.start, self.start + way)
        still = np.abs(model.statics(self.start)[1]) + _friction(model)
        most = np.maximum(SHARE * model.joint_limits.effort, 1.2 * still)
        q, v, a = np.zeros((3, model.n))
        least = np.inf
        for now in np.linspace(DEPARTURE, ARRIVAL, 25):
            wanted = move.sample(now)
            q[:joints], v[:joints], a[:joints] = (wanted.position, wanted.velocity,
                                                  wanted.acceleration)
            efforts = np.abs(model.inverse_dynamics(q, v, a)[:joints])
            least = min(least, float((most / np.maximum(efforts, 1e-9)).min()))
        return least

    def run(self, name: str, parameters: dict[str, Any] | None = None) -> Figures:
        """The three trials of a controller; ControlError if it refuses, DynamicsError
        if the simulation fails."""
        def trial(trajectory: Trajectory, duration: float, **more: Any) -> TrialResult:
            for step in (STEP, FINE_STEP):
                controller = make_controller(name, self.model, parameters)
                try:
                    return run_trial(controller, trajectory, duration, period=PERIOD, step=step,
                                     tip=self.tip, noise=NOISE, **more)
                except DynamicsError:      # joints that stick by their friction
                    if step == FINE_STEP:
                        raise
            raise AssertionError('no step')

        move = trapezoid(self.start, self.end)
        end = ARRIVAL + self.patience
        run = trial(move, end)
        loaded = trial(move, end, plant=self.loaded, start=self.start)
        push = [Wrench(self.tip, self.case.push * self.side, np.zeros(3))]
        pushed = trial(SetPoints([0.0], [self.start]), PUSHED + self.patience,
                       loads=lambda t: push if t >= PUSHED else None)
        away = np.linalg.norm(pushed.tip - self.rest, axis=1)
        return Figures(
            self.frequency, float(np.abs(run.joint_error()).max()),
            run.vibration(ARRIVAL + self.window, ARRIVAL + 2.0 * self.window),
            run.settling_time(ARRIVAL, self.band),
            float(away.max()), float(away[-100:].mean()),
            loaded.settling_time(ARRIVAL, self.band),
            float(np.linalg.norm(_last(loaded) - _last(run))))


def bent_pose(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """The default pose, and how far from it the move begins (n_joints,): each joint by 0.5 rad
    (0.1 m), or less if its range is small, so that no arm is stretched out."""
    pose, limits = default_pose(model.robot), model.joint_limits
    start = np.array([pose[name] for name in model.joint_names])
    size = np.array([BENT * unit for unit in _units(model)])
    up, down = limits.upper - start, start - limits.lower
    return (start, np.where(up >= down, 1.0, -1.0) * np.minimum(size, 0.3 * np.maximum(up, down)))


def _friction(model: Model) -> np.ndarray:
    """Coulomb friction (n_joints,), N m or N."""
    found = {joint.name: joint.friction for joint in model.robot.joints}
    return np.array([found[name] for name in model.joint_names])


def _units(model: Model) -> list[float]:
    """1 for joints in rad, 0.2 for those in m."""
    kinds = {joint.name: joint.type for joint in model.robot.joints}
    return [0.2 if kinds[name] == 'prismatic' else 1.0 for name in model.joint_names]


def trapezoid(first: np.ndarray, last: np.ndarray) -> Trajectory:
    """Constant acceleration, speed and deceleration, for a third of MOVE each."""
    third = MOVE / 3.0
    speed = (last - first) / (2.0 * third)
    ramp = 0.5 * third * speed
    times = DEPARTURE + third * np.arange(4)
    return Splines(times, [first, first + ramp, last - ramp, last],
                   [0.0 * speed, speed, speed, 0.0 * speed])


def _last(run: TrialResult) -> np.ndarray:
    return run.tip[-250:].mean(axis=0)


def ours() -> list[str]:
    """Controllers of this package, those of other packages left out."""
    return [name for name in available_controllers()
            if controller_class(name).__module__.startswith('flex_control.')]


def table(cases: tuple[Case, ...], names: list[str] | None = None,
          done: Collection[tuple[str, ...]] = ()) -> Iterator[tuple[Case, str, Figures | str]]:
    """Each robot with each controller: figures, or the reason of a refusal; those pairs of names
    that are done are left out."""
    for case in cases:
        left = [name for name in names or ours() if (case.name, name) not in done]
        if not left or (case.name, 'any') in done:
            continue
        try:
            bench = Bench(case)
        except (DynamicsError, RobotError) as error:
            yield case, 'any', f'failed: {error}'
            continue
        for name in left:
            begin = time.process_time()
            result: Figures | str
            try:
                result = bench.run(name)
            except ControlError as error:
                result = f'refused: {error}'
            except DynamicsError as error:
                result = f'failed: {error}'
            print(f'  {case.name}, {name}: {time.process_time() - begin:.1f} s', flush=True)
            yield case, name, result


HEADER = ('| robot | controller | first frequency, Hz | joint error, mrad or mm | residual '
          'vibration, mm | settled after, s | pushed: largest, mm | at last, mm | unknown '
          'payload: settled after, s | tip sags by, mm |')


def row(case: Case, name: str, figures: Figures | str) -> str:
    """A line of the table."""
    if isinstance(figures, str):
        reason = ' '.join(figures.split()).replace('|', '/')
        return f'| {case.name} | {name} | {reason} | | | | | | | |'
    f = figures
    return (f'| {case.name} | {name} | {f.frequency:.2g} | {1e3 * f.joint_error:.2f} | '
            f'{1e3 * f.residual:.3f} | {_time(f.settled)} | {1e3 * f.pushed:.2f} | '
            f'{1e3 * f.held:.2f} | {_time(f.loaded_settled)} | {1e3 * f.sag:.2f} |')


def _time(value: float) -> str:
    return f'{value:.2f}' if np.isfinite(value) else UNSETTLED


def code_digest() -> str:
    """Hash of what decides the figures: rows of another code are not gone on with."""
    total = hashlib.sha256()
    for package in (flex_description, flex_dynamics, flex_control):
        for path in sorted(Path(package.__file__).parent.rglob('*')):
            if path.suffix in CODE:
                total.update(path.name.encode() + b'\0' + path.read_bytes())
    for path in sorted([Path(__file__), *OVERLAYS.iterdir()]):
        total.update(path.name.encode() + b'\0' + path.read_bytes())
    return total.hexdigest()[:12]


def head() -> list[str]:
    """What stands above the rows."""
    return ['# Controllers with their defaults on any robot', '',
            f'A trapezoid of {MOVE:g} s with all joints, as far as {100 * SHARE:g} % of the '
            'limits of speed and effort allow; a push at the tip in the direction in which the '
            'joints move it most; the move again with a payload that the controller does not '
            f'know. {1.0 / PERIOD:g} updates a second, steps of {1e3 * STEP:g} ms, as in the '
            f'launch files ({1e3 * FINE_STEP:g} ms where friction asks for it). Settled: within '
            '1 mm, or 0.1 % of the reach, of where the tip comes to rest.', '',
            f'Code: {code_digest()}', '', '| robot | push, N | payload, kg |', '|---|---|---|',
            *(f'| {case.name} | {case.push:g} | {case.payload:g} |' for case in CASES),
            '', HEADER, '|---' * 10 + '|']


def measured(path: Path) -> list[str]:
    """The rows of an earlier run of the same code, which was ended before its end."""
    if not path.is_file():
        return []
    lines, above = path.read_text().splitlines(), head()
    if lines[:len(above)] != above:
        return []
    whole = [text for text in lines[len(above):] if text.endswith('|')]
    return [text for text in whole if verdict(text) != 'failed']


def measure(report: Report, results: Path) -> None:
    """Every row goes to the file as it comes. A run that was ended goes on behind its last row;
    one that came to its end starts again."""
    results.mkdir(parents=True, exist_ok=True)
    path, partial = results / 'any_robot.md', results / 'any_robot.partial.md'
    rows = measured(partial)
    if rows:
        print(f'  going on behind the {len(rows)} rows of {partial}', flush=True)
    partial.write_text('\n'.join([*head(), *rows]) + '\n')
    done = {tuple(cell.strip() for cell in text.split('|')[1:3]) for text in rows}
    for case, name, figures in table(CASES, done=done):
        rows.append(row(case, name, figures))
        with partial.open('a') as file:
            file.write(rows[-1] + '\n')
    partial.replace(path)
    report.note('\n'.join([*head(), *rows]))
    kinds = [verdict(text) for text in rows]
    robots = {text.split('|')[1].strip() for text, kind in zip(rows, kinds, strict=True)
              if kind in ('settles', 'does not settle')}
    unsettled = [f'{name.strip()} on {robot.strip()}' for (_, robot, name, *_), kind in
                 zip((text.split('|') for text in rows), kinds, strict=True)
                 if kind in ('does not settle', 'failed')]
    report.add(SECTION, Row('robots in the table', str(len(robots)), 'at least 12',
                            len(robots) >= 12))
    report.add(SECTION, Row(
        f'of {len(rows) - kinds.count("refused")} accepted pairs of robot and controller, those '
        'that do not settle',
        f'{len(unsettled)}: {", ".join(unsettled)}' if unsettled else '0', '0', not unsettled))
    report.note(f'Table of robots and controllers: {path}')


def verdict(text: str) -> str:
    """What a row says: settles, does not settle, refused or failed."""
    third = text.split('|')[3].strip()
    for word in ('refused', 'failed'):
        if third.startswith(word):
            return word
    return 'does not settle' if UNSETTLED in text else 'settles'
