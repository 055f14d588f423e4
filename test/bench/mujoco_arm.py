"""The arm in MuJoCo, its beams cut into rigid segments with springs by flex_description."""
from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import mujoco
import numpy as np
from manoeuvre import END, KD, KP, SETPOINTS, START

from flex_description.lumping import lump, mjcf_text
from flex_description.robot import Robot


def segmented_arm(robot: Robot, segments: int, step: float) -> mujoco.MjModel:
    """The exported robot, with position servos of the manoeuvre's gains instead of motors."""
    root = ElementTree.fromstring(mjcf_text(lump(robot, segments)))
    root.find('option').set('timestep', f'{step:.17g}')
    motors = root.find('actuator')
    motors.clear()
    for i, (kp, kd) in enumerate(zip(KP, KD)):
        ElementTree.SubElement(motors, 'position', joint=f'joint{i + 1}', kp=f'{kp}', kv=f'{kd}')
    return mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding='unicode'))


def run(model: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    """The manoeuvre: times (k,) and tip positions (k, 3)."""
    data = mujoco.MjData(model)
    for i, angle in enumerate(START):
        data.qpos[model.joint(f'joint{i + 1}').qposadr[0]] = angle
    mujoco.mj_forward(model, data)
    every = max(1, round(0.002 / model.opt.timestep))
    times, tips = [0.0], [data.body('tool').xpos.copy()]
    while data.time < END - model.opt.timestep / 2:
        data.ctrl[:] = [s for t, s in SETPOINTS if t <= data.time + model.opt.timestep / 2][-1]
        mujoco.mj_step(model, data, every)
        mujoco.mj_kinematics(model, data)
        times.append(data.time)
        tips.append(data.body('tool').xpos.copy())
    return np.array(times), np.array(tips)
