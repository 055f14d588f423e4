"""Exported lumped robots in Pinocchio and MuJoCo against the beams of flex.

`lump` writes a robot as rigid segments on springs. The files are loaded by the programs that they
are for, and frequencies with held joints and the static tip are computed there. They must be those
of the beams to the error that lumping has, which falls with the square of the segments' length,
and the same in both programs.
"""
from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from scipy.linalg import eigh

from flex_description import load_robot
from flex_description.lumping import LumpedRobot, lump, mjcf_text, urdf_text
from flex_dynamics import Model

pin = pytest.importorskip('pinocchio', reason='Pinocchio is not installed')
mujoco = pytest.importorskip('mujoco', reason='MuJoCo is not installed')

ROBOTS = {'cibicik_arm': None, 'flexible_tree': None, 'ur5': 'ur5_flexible.yaml'}
FREQUENCIES = 4
MOST = 0.01             # of the first frequencies and of the sag, with 8 segments


class InPinocchio:
    """The exported URDF; springs as its <gazebo> elements have them."""

    def __init__(self, lumped: LumpedRobot) -> None:
        text = urdf_text(lumped)
        self.model = pin.buildModelFromXML(text)
        self.model.gravity.linear = np.asarray(lumped.robot.gravity)
        self.data = self.model.createData()
        self.stiffness = np.zeros(self.model.nv)
        for element in ElementTree.fromstring(text).findall('gazebo'):
            joint = self.model.joints[self.model.getJointId(element.get('reference'))]
            self.stiffness[joint.idx_v] = float(element.findtext('springStiffness'))

    def place(self, joints: dict[str, float]) -> np.ndarray:
        v = np.zeros(self.model.nv)
        for name, value in joints.items():
            v[self.model.joints[self.model.getJointId(name)].idx_v] = value
        return v

    def configuration(self, v: np.ndarray) -> np.ndarray:
        return pin.integrate(self.model, pin.neutral(self.model), v)

    def mass(self, v: np.ndarray) -> np.ndarray:
        matrix = pin.crba(self.model, self.data, self.configuration(v))
        return np.triu(matrix) + np.triu(matrix, 1).T

    def gravity(self, v: np.ndarray) -> np.ndarray:
        return pin.computeGeneralizedGravity(self.model, self.data, self.configuration(v))

    def tip(self, v: np.ndarray, frame: str) -> np.ndarray:
        pin.framesForwardKinematics(self.model, self.data, self.configuration(v))
        return self.data.oMf[self.model.getFrameId(frame)].translation.copy()


class InMujoco:
    """The exported MJCF."""

    def __init__(self, lumped: LumpedRobot) -> None:
        self.model = mujoco.MjModel.from_xml_string(mjcf_text(lumped))
        self.data = mujoco.MjData(self.model)
        assert self.model.nq == self.model.nv
        self.stiffness = np.zeros(self.model.nv)
        for joint in range(self.model.njnt):
            self.stiffness[self.model.jnt_dofadr[joint]] = self.model.jnt_stiffness[joint]

    def place(self, joints: dict[str, float]) -> np.ndarray:
        q = np.zeros(self.model.nv)
        for name, value in joints.items():
            q[self.model.joint(name).qposadr[0]] = value
        return q

    def _forward(self, q: np.ndarray) -> None:
        self.data.qpos[:], self.data.qvel[:] = q, 0.0
        mujoco.mj_forward(self.model, self.data)

    def mass(self, q: np.ndarray) -> np.ndarray:
        self._forward(q)
        columns = []
        for unit in np.eye(self.model.nv):
            column = np.zeros(self.model.nv)
            mujoco.mj_mulM(self.model, self.data, column, unit)
            columns.append(column)
        return np.array(columns)

    def gravity(self, q: np.ndarray) -> np.ndarray:
        self._forward(q)
        return self.data.qfrc_bias.copy()       # at rest it is gravity alone

    def tip(self, q: np.ndarray, frame: str) -> np.ndarray:
        self._forward(q)
        return self.data.site(frame).xpos.copy()


def frequencies(peer, q: np.ndarray) -> np.ndarray:
    """rad/s with the joints of the robot held."""
    own = np.flatnonzero(peer.stiffness)
    squares = eigh(np.diag(peer.stiffness[own]), peer.mass(q)[np.ix_(own, own)],
                   eigvals_only=True)
    return np.sqrt(squares)[:FREQUENCIES]


def equilibrium(peer, q: np.ndarray) -> np.ndarray:
    own = np.flatnonzero(peer.stiffness)
    q = q.copy()
    for _ in range(40):
        rest = (peer.gravity(q) + peer.stiffness * q)[own]
        if np.abs(rest).max() < 1e-9:
            return q
        q[own] -= rest / peer.stiffness[own]
    raise AssertionError('no equilibrium')


@pytest.mark.parametrize('name', ROBOTS)
def test_exported_robot(claims, name):
    robot = load_robot(name, ROBOTS[name])
    model = Model(robot)
    moving = [joint.name for joint in robot.joints if joint.type != 'fixed']
    joints = dict(zip(moving, np.linspace(0.3, 0.8, len(moving))))
    rest = np.zeros(model.n)
    rest[:model.n_joints] = list(joints.values())
    beams = model.frequencies(rest, joints='locked')[0][:FREQUENCIES]
    frame = robot.frames[-1].name
    start = model.pose(rest, frame)[:3, 3]
    sag = model.pose(model.statics(rest[:model.n_joints])[0], frame)[:3, 3] - start
    found = {}
    for program, kind in (('Pinocchio, URDF', InPinocchio), ('MuJoCo, MJCF', InMujoco)):
        errors = []
        for segments in (4, 8):
            peer = kind(lump(robot, segments))
            q = peer.place(joints)
            each = frequencies(peer, q)
            tip = peer.tip(equilibrium(peer, q), frame)
            errors.append((np.abs(each / beams - 1.0).max(),
                           np.linalg.norm(tip - start - sag) / np.linalg.norm(sag)))
            found[program, segments] = each, tip
        what = f'{name}, 8 segments'
        claims.bound(program, f'{what}: first {FREQUENCIES} frequencies, worst relative error',
                     errors[1][0], MOST)
        claims.bound(program, f'{what}: static tip, error relative to the sag of '
                     f'{1e3 * np.linalg.norm(sag):.2g} mm', errors[1][1], MOST)
        claims.bound(program, f'{name}: error of the static tip, 8 to 4 segments',
                     errors[1][1] / errors[0][1], 0.4, note='second order: 0.25')
    one, other = (found[program, 8] for program in ('Pinocchio, URDF', 'MuJoCo, MJCF'))
    # The URDF has bodies between the rotations of a hinge, with 0.001 of the segment's inertia.
    claims.bound('Pinocchio and MuJoCo', f'{name}: frequencies of both files, relative difference',
                 float(np.abs(one[0] / other[0] - 1.0).max()), 1e-4)
    claims.bound('Pinocchio and MuJoCo', f'{name}: static tips of both files', float(
        np.linalg.norm(one[1] - other[1]) / np.linalg.norm(sag)), 1e-4)
