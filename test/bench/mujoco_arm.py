"""The arm in MuJoCo, its beams cut into rigid segments with springs, as in pinocchio_arm."""
from __future__ import annotations

import mujoco
import numpy as np
from manoeuvre import END, KD, KP, SETPOINTS, START
from scipy.spatial.transform import Rotation

from flex_description.robot import FlexibleLink, Robot


def segmented_arm(robot: Robot, segments: int, step: float) -> mujoco.MjModel:
    """A chain of revolute joints about z with position servos of the manoeuvre's gains."""
    links = {link.name: link for link in robot.links}
    opened = 0
    parts, place = [], np.eye(4)
    for joint in robot.joints:
        origin = joint.origin.copy()
        if joint.section_x is not None:
            origin[0, 3] -= joint.section_x
        place = place @ origin
        if joint.type == 'fixed':
            parts.append(f'<site name="tip" pos="{_text(place[:3, 3])}"/>')
            continue
        parts += [_body(place), f'<joint name="{joint.name}" type="hinge" axis="0 0 1"/>']
        opened += 1
        link, place = links[joint.child], np.eye(4)
        if link.inertia is not None:
            parts.append(_inertial(link.inertia.mass, link.inertia.centre, link.inertia.tensor))
        if link.flexible is not None:
            beam, place = _beam(link.flexible, segments)
            parts += beam
            opened += segments
    servos = ''.join(f'<position joint="joint{i + 1}" kp="{kp}" kv="{kd}"/>'
                     for i, (kp, kd) in enumerate(zip(KP, KD)))
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option integrator="implicitfast" timestep="{step}" '
        f'gravity="{_text(robot.gravity)}"/><compiler angle="radian"/>'
        f'<worldbody>{"".join(parts)}{"</body>" * opened}</worldbody>'
        f'<actuator>{servos}</actuator></mujoco>')


def run(model: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    """The manoeuvre: times (k,) and tip positions (k, 3)."""
    data = mujoco.MjData(model)
    for i, angle in enumerate(START):
        data.qpos[model.joint(f'joint{i + 1}').qposadr[0]] = angle
    mujoco.mj_forward(model, data)
    every = max(1, round(0.002 / model.opt.timestep))
    times, tips = [0.0], [data.site('tip').xpos.copy()]
    while data.time < END - model.opt.timestep / 2:
        data.ctrl[:] = [s for t, s in SETPOINTS if t <= data.time + model.opt.timestep / 2][-1]
        mujoco.mj_step(model, data, every)
        mujoco.mj_kinematics(model, data)
        times.append(data.time)
        tips.append(data.site('tip').xpos.copy())
    return np.array(times), np.array(tips)


def _beam(beam: FlexibleLink, segments: int) -> tuple[list[str], np.ndarray]:
    h = beam.length / segments
    parts = [_rod(beam, 0.0, h / 2)]
    place = np.eye(4)
    place[0, 3] = h / 2
    for k in range(segments):
        middle = (k + 0.5) * h
        p = beam.properties(np.array([middle]))
        parts.append(_body(place))
        for axis, stiffness in (('0 0 1', p.bending_stiffness_z[0]),
                                ('0 1 0', p.bending_stiffness_y[0]),
                                ('1 0 0', p.torsion_stiffness[0])):
            parts.append(f'<joint type="hinge" axis="{axis}" stiffness="{stiffness / h}"/>')
        piece = h / 2 if k == segments - 1 else h
        parts.append(_rod(beam, middle, middle + piece))
        place[0, 3] = piece
    return parts, place


def _rod(beam: FlexibleLink, start: float, end: float) -> str:
    length = end - start
    p = beam.properties(np.array([(start + end) / 2]))
    mass = p.mass_per_length[0] * length
    slender = mass * length ** 2 / 12
    y, z = p.inertia_y[0] * length, p.inertia_z[0] * length
    return _inertial(mass, np.array([length / 2, 0.0, 0.0]),
                     np.diag([y + z, slender + y, slender + z]))


def _inertial(mass: float, centre: np.ndarray, tensor: np.ndarray) -> str:
    six = tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    return f'<inertial mass="{mass}" pos="{_text(centre)}" fullinertia="{_text(six)}"/>'


def _body(place: np.ndarray) -> str:
    x, y, z, w = Rotation.from_matrix(place[:3, :3]).as_quat()
    return f'<body pos="{_text(place[:3, 3])}" quat="{w} {x} {y} {z}">'


def _text(values) -> str:
    return ' '.join(f'{value:.17g}' for value in values)
