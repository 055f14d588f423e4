"""Pinocchio as a witness: on rigid robots every term must agree to rounding.

Rigid robots are: the bundled ones without flexible elements; those that remain when the flexible
elements are taken out and every moving body has its <inertial>; three of example-robot-data;
random trees. Differences are shares of the largest number compared, or absolute where that is
below 1.
"""
from __future__ import annotations

import re
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from flex_description import load_robot
from flex_dynamics import Model

pin = pytest.importorskip('pinocchio', reason='Pinocchio (index name: pin) is not installed')

MOST = 1e-9
TREES = 8
RIGID = ('ur5',)
MADE_RIGID = ('canadarm', 'canadarm_paper', 'cibicik_arm', 'cibicik_arm_paper', 'flexible_tree',
              'lab_link', 'lin_lewis_rfr', 'mladenova_arm', 'piedboeuf_arm', 'spin_up_beam')
# An arm with a gripper, an arm whose joints turn without end, a humanoid.
FROM_INDEX = {'panda': 'panda_description/urdf/panda.urdf',
              'kinova': 'kinova_description/robots/kinova.urdf',
              'talos': 'talos_data/robots/talos_reduced.urdf'}


def made_rigid(name: str) -> str:
    """URDF of a bundled robot without its flexible elements."""
    root = ElementTree.fromstring(load_robot(name).urdf)
    for element in [*root.findall('flexible'), *root.findall('flexible_joint')]:
        root.remove(element)
    return ElementTree.tostring(root, encoding='unicode')


def from_index(name: str) -> str:
    """URDF of a robot of example-robot-data; skips where that is not installed."""
    try:
        package = metadata.distribution('example-robot-data')
    except metadata.PackageNotFoundError:
        pytest.skip(f'{name}: example-robot-data is not installed; make validate installs it')
    folder = Path(str(package.locate_file('cmeel.prefix/share/example-robot-data/robots')))
    # By default their followers move freely.
    return re.sub('<mimic.*?/>', '', (folder / FROM_INDEX[name]).read_text(encoding='utf-8'))


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
        self.pin.gravity.linear = np.asarray(robot.gravity)
        self.data = self.pin.createData()
        assert self.pin.nv == self.model.n
        self.order = np.array([self.pin.joints[self.pin.getJointId(name)].idx_v
                               for name in self.model.names])
        rng = np.random.default_rng(seed)
        self.q, self.v, self.a = (rng.uniform(-2, 2, self.model.n) for _ in range(3))
        # Theirs: a joint without end is a point on the circle; neutral is zero for the others.
        self.their_q = pin.integrate(self.pin, pin.neutral(self.pin), self.theirs(self.q))
        self.their_v = self.theirs(self.v)
        # Dampers and dry friction of the joints, which their recursions leave out.
        self.friction = self.model.passive_force(self.q, self.v)

    def theirs(self, vector: np.ndarray) -> np.ndarray:
        out = np.empty(self.model.n)
        out[self.order] = vector
        return out


def mass_matrix(pair: Pair) -> float:
    theirs = np.atleast_2d(pin.crba(pair.pin, pair.data, pair.their_q))
    theirs = np.triu(theirs) + np.triu(theirs, 1).T
    return apart(pair.model.mass_matrix(pair.q), theirs[np.ix_(pair.order, pair.order)])


def velocity_forces(pair: Pair) -> float:
    theirs = pin.computeCoriolisMatrix(pair.pin, pair.data, pair.their_q,
                                       pair.their_v) @ pair.their_v
    return apart(pair.model.coriolis_matrix(pair.q, pair.v) @ pair.v, theirs[pair.order])


def coriolis(pair: Pair) -> float:
    """C + C', which is dM/dt in both: the rest of C each may choose as long as C v is right."""
    theirs = np.atleast_2d(pin.computeCoriolisMatrix(pair.pin, pair.data, pair.their_q,
                                                     pair.their_v))
    theirs = theirs[np.ix_(pair.order, pair.order)]
    ours = pair.model.coriolis_matrix(pair.q, pair.v)
    return apart(ours + ours.T, theirs + theirs.T)


def gravity(pair: Pair) -> float:
    theirs = pin.computeGeneralizedGravity(pair.pin, pair.data, pair.their_q)
    return apart(pair.model.gravity_force(pair.q), theirs[pair.order])


def inverse_dynamics(pair: Pair) -> float:
    theirs = pin.rnea(pair.pin, pair.data, pair.their_q, pair.their_v, pair.theirs(pair.a))
    return apart(pair.model.inverse_dynamics(pair.q, pair.v, pair.a) + pair.friction,
                 theirs[pair.order])


def forward_dynamics(pair: Pair) -> float:
    theirs = pin.aba(pair.pin, pair.data, pair.their_q, pair.their_v,
                     pair.theirs(pair.a + pair.friction))
    return apart(pair.model.forward_dynamics(pair.q, pair.v, pair.a), theirs[pair.order])


def frames(pair: Pair) -> float:
    """Pose, Jacobian and its rate of every link."""
    pin.computeJointJacobiansTimeVariation(pair.pin, pair.data, pair.their_q, pair.their_v)
    pin.updateFramePlacements(pair.pin, pair.data)
    world_axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    worst = []
    for link in pair.model.robot.links[1:]:
        frame = pair.pin.getFrameId(link.name)
        # Of one joint they come as vectors.
        jacobian, rate = (get(pair.pin, pair.data, frame, world_axes).reshape(6, -1) for get in (
            pin.getFrameJacobian, pin.getFrameJacobianTimeVariation))
        worst += [
            apart(pair.model.pose(pair.q, link.name), pair.data.oMf[frame].homogeneous),
            apart(pair.model.jacobian(pair.q, link.name), jacobian[:, pair.order]),
            apart(pair.model.jacobian_rate(pair.q, pair.v, link.name), rate[:, pair.order])]
    return max(worst)


def apart(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Largest difference, as a share of the largest number where that is above 1."""
    return float(np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max()))


COMPARED: dict[str, Callable[[Pair], float]] = {
    'M': mass_matrix, "C + C'": coriolis, 'C v': velocity_forces, 'g': gravity,
    'RNEA': inverse_dynamics, 'ABA': forward_dynamics, 'poses, Jacobians and their rates': frames}


def claim(claims, pairs: list[Pair], robot: str) -> None:
    for what, compare in COMPARED.items():
        claims.bound('Pinocchio', f'{robot}: {what}', max(compare(pair) for pair in pairs), MOST)


@pytest.mark.parametrize('name', RIGID)
def test_rigid_robots(claims, name):
    pair = Pair(name, 5)
    claim(claims, [pair], f'{name}, {pair.model.n} joints')


@pytest.mark.parametrize('name', MADE_RIGID)
def test_robots_made_rigid(claims, name):
    pair = Pair(made_rigid(name), 5)
    claim(claims, [pair], f'{name} made rigid, {pair.model.n} joints')


@pytest.mark.parametrize('name', FROM_INDEX)
def test_robots_from_the_index(claims, name):
    pair = Pair(from_index(name), 5)
    claim(claims, [pair], f'{name} of example-robot-data, {pair.model.n} joints')


def test_random_trees(claims):
    claim(claims, [Pair(random_tree(seed), seed) for seed in range(TREES)],
          f'{TREES} random trees')


def test_rotor_inertia(claims):
    """<motor> is their armature."""
    pairs = []
    for seed in range(TREES):
        source = random_tree(seed)
        moving = [joint.name for joint in load_robot(source).joints if joint.type != 'fixed']
        rng = np.random.default_rng((seed, 1))
        motors = ''.join(f'<motor joint="{name}" inertia="{rng.uniform(1e-4, 1e-3):.17g}" '
                         f'ratio="{rng.uniform(10, 60):.17g}"/>' for name in moving)
        pair = Pair(source.replace('</robot>', f'{motors}</robot>'), seed)
        joints = {joint.name: joint for joint in pair.model.robot.joints}
        pair.pin.armature = pair.theirs(np.array([
            joints[name].motor.reflected_inertia for name in pair.model.names]))
        pair.data = pair.pin.createData()
        pairs.append(pair)
    claim(claims, pairs, f'{TREES} random trees with rotor inertia')


def test_followers(claims):
    """Joints with <mimic>: their CRBA and RNEA have them too."""
    mass, force = [], []
    for seed in range(TREES):
        moving = [j.name for j in load_robot(random_tree(seed)).joints if j.type != 'fixed']
        if len(moving) < 2:
            continue
        mimic = f'<mimic joint="{moving[0]}" multiplier="-0.7" offset="0.3"/>'
        source = re.sub(f'(<joint name="{moving[-1]}".*?)</joint>', rf'\1{mimic}</joint>',
                        random_tree(seed), flags=re.S)
        robot = load_robot(source)
        model, theirs = Model(robot), pin.buildModelFromXML(robot.urdf, mimic=True)
        theirs.gravity.linear = np.asarray(robot.gravity)
        data = theirs.createData()
        order = np.array([theirs.joints[theirs.getJointId(name)].idx_v for name in model.names])
        rng = np.random.default_rng(seed)
        ours = rng.uniform(-2, 2, (3, model.n))
        q, v, a = np.empty_like(ours)
        for vector, values in zip((q, v, a), ours):
            vector[order] = values
        found = np.atleast_2d(pin.crba(theirs, data, q))
        found = np.triu(found) + np.triu(found, 1).T
        mass.append(apart(model.mass_matrix(ours[0]), found[np.ix_(order, order)]))
        force.append(apart(model.inverse_dynamics(*ours) + model.passive_force(*ours[:2]),
                           pin.rnea(theirs, data, q, v, a)[order]))
    claims.bound('Pinocchio', f'{len(mass)} random trees with followers: M', max(mass), MOST)
    claims.bound('Pinocchio', f'{len(force)} random trees with followers: RNEA', max(force), MOST)


def test_no_rigid_robot_is_left_out(claims):
    """Bundled robots that are rigid as they are, are those named here."""
    folder = Path(__file__).resolve().parents[2] / 'flex_description/flex_description/robots'
    robots = [load_robot(path.name.split('.')[0]) for path in sorted(folder.glob('*.urdf*'))]
    rigid = [robot.name for robot in robots
             if not any(part.flexible for part in (*robot.links, *robot.joints))]
    claims.fact('own', 'rigid robots of the package, all compared', ', '.join(RIGID),
                ', '.join(rigid), tuple(rigid) == RIGID)
