"""Pinocchio as a witness: on rigid robots every term must agree to rounding."""
from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from flex_description import load_robot
from flex_dynamics import Model

pin = pytest.importorskip('pinocchio', reason='Pinocchio (index name: pin) is not installed')

TREES = [f'tree {seed}' for seed in range(8)]


def random_tree(seed: int) -> str:
    """URDF of a tree of 3 to 9 rigid links with revolute, prismatic and fixed joints."""
    rng = np.random.default_rng(seed)
    parts = [f'<robot name="tree{seed}">', '<link name="base"/>']
    for i in range(1, int(rng.integers(4, 11))):
        # Three positive semi-axes make any tensor that a body can have.
        a, b, c = rng.uniform(0.01, 0.2, 3)
        frame = Rotation.random(random_state=rng).as_matrix()
        tensor = frame @ np.diag([b + c, a + c, a + b]) @ frame.T
        words = {key: tensor[row, column] for key, row, column in (
            ('ixx', 0, 0), ('iyy', 1, 1), ('izz', 2, 2), ('ixy', 0, 1), ('ixz', 0, 2),
            ('iyz', 1, 2))}
        inertia = ' '.join(f'{key}="{value:.17g}"' for key, value in words.items())
        parent = 'base' if i == 1 else f'link{rng.integers(1, i)}'
        kind = rng.choice(['revolute', 'revolute', 'prismatic', 'fixed']) if i > 1 else 'revolute'
        parts.append(f"""
            <link name="link{i}"><inertial><origin xyz="{_text(rng.normal(size=3) * 0.3)}"
              rpy="{_text(rng.uniform(-3, 3, 3))}"/><mass value="{rng.uniform(0.5, 5)}"/>
              <inertia {inertia}/></inertial></link>
            <joint name="joint{i}" type="{kind}"><parent link="{parent}"/><child link="link{i}"/>
              <origin xyz="{_text(rng.normal(size=3) * 0.5)}"
              rpy="{_text(rng.uniform(-3, 3, 3))}"/>
              <axis xyz="{_text(rng.normal(size=3))}"/>
              <limit lower="-3" upper="3" effort="100" velocity="10"/></joint>""")
    return '\n'.join([*parts, '</robot>'])


def _text(vector) -> str:
    return ' '.join(f'{value:.17g}' for value in vector)


class Pair:
    """The same rigid robot here and in Pinocchio, at the same random state.

    order (n,): where our coordinates are in Pinocchio's, which sorts siblings by name.
    """

    def __init__(self, source: str, seed: int) -> None:
        robot = load_robot(source)
        self.model = Model(robot)
        self.pin = pin.buildModelFromXML(robot.urdf)
        self.data = self.pin.createData()
        assert self.pin.nv == self.model.n
        self.order = np.array([self.pin.joints[self.pin.getJointId(name)].idx_v
                               for name in self.model.names])
        rng = np.random.default_rng(seed)
        self.q, self.v, self.a = (rng.uniform(-2, 2, self.model.n) for _ in range(3))

    def theirs(self, vector: np.ndarray) -> np.ndarray:
        out = np.empty(self.model.n)
        out[self.order] = vector
        return out


@pytest.fixture(params=['ur5', *TREES])
def pair(request) -> Pair:
    name = request.param
    if name == 'ur5':
        return Pair('ur5', 5)
    seed = int(name.split()[1])
    return Pair(random_tree(seed), seed)


def close(ours: np.ndarray, theirs: np.ndarray) -> None:
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * max(1.0, abs(theirs).max()))


def test_mass_matrix(pair: Pair):
    theirs = pin.crba(pair.pin, pair.data, pair.theirs(pair.q))
    theirs = np.triu(theirs) + np.triu(theirs, 1).T
    close(pair.model.mass_matrix(pair.q), theirs[np.ix_(pair.order, pair.order)])


def test_velocity_forces(pair: Pair):
    theirs = pin.computeCoriolisMatrix(pair.pin, pair.data, pair.theirs(pair.q),
                                       pair.theirs(pair.v)) @ pair.theirs(pair.v)
    close(pair.model.coriolis_matrix(pair.q, pair.v) @ pair.v, theirs[pair.order])


def test_gravity(pair: Pair):
    theirs = pin.computeGeneralizedGravity(pair.pin, pair.data, pair.theirs(pair.q))
    close(pair.model.gravity_force(pair.q), theirs[pair.order])


def test_inverse_dynamics(pair: Pair):
    theirs = pin.rnea(pair.pin, pair.data, pair.theirs(pair.q), pair.theirs(pair.v),
                      pair.theirs(pair.a))
    viscous = pair.model.damping_matrix() @ pair.v
    close(pair.model.inverse_dynamics(pair.q, pair.v, pair.a) - viscous, theirs[pair.order])


def test_forward_dynamics(pair: Pair):
    viscous = pair.model.damping_matrix() @ pair.v
    theirs = pin.aba(pair.pin, pair.data, pair.theirs(pair.q), pair.theirs(pair.v),
                     pair.theirs(pair.a - viscous))
    close(pair.model.forward_dynamics(pair.q, pair.v, pair.a), theirs[pair.order])


def test_frames(pair: Pair):
    """Pose, Jacobian and its rate of every link."""
    pin.computeJointJacobiansTimeVariation(pair.pin, pair.data, pair.theirs(pair.q),
                                           pair.theirs(pair.v))
    pin.updateFramePlacements(pair.pin, pair.data)
    world_axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    for link in pair.model.robot.links[1:]:
        frame = pair.pin.getFrameId(link.name)
        close(pair.model.pose(pair.q, link.name), pair.data.oMf[frame].homogeneous)
        jacobian = pin.getFrameJacobian(pair.pin, pair.data, frame, world_axes)
        close(pair.model.jacobian(pair.q, link.name), jacobian[:, pair.order])
        rate = pin.getFrameJacobianTimeVariation(pair.pin, pair.data, frame, world_axes)
        close(pair.model.jacobian_rate(pair.q, pair.v, link.name), rate[:, pair.order])
