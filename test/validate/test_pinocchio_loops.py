"""Rigid robots with loops: Pinocchio's constrained dynamics as a witness, to 1e-9.

Two random arms whose tips are joined by a ball or a weld that is closed at q = 0; then Newton
closes it near a random position. Pinocchio's contacts of three and of six rows say the same.
"""
from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from flex_description import load_robot
from flex_dynamics import Model

pin = pytest.importorskip('pinocchio', reason='Pinocchio (index name: pin) is not installed')

MOST = 1e-9
ARMS = 8


def _text(values) -> str:
    return ' '.join(f'{value:.17g}' for value in values)


def _end(tag: str, link: str, pose: np.ndarray) -> str:
    return (f'<{tag} frame="{link}" xyz="{_text(pose[:3, 3])}" '
            f'quat_xyzw="{_text(Rotation.from_matrix(pose[:3, :3]).as_quat())}"/>')


def arms(seed: int) -> str:
    """URDF of two random arms of five joints on one base."""
    rng = np.random.default_rng(seed)
    parts = [f'<robot name="arms{seed}">', '<link name="base"/>']
    for side in 'ab':
        before = 'base'
        for k in range(5):
            a, b, c = rng.uniform(0.01, 0.2, 3)
            name, kind = f'{side}{k}', 'prismatic' if k == 2 else 'revolute'
            parts.append(f"""
                <link name="{name}"><inertial><origin xyz="{_text(rng.normal(size=3) * 0.3)}"
                  rpy="{_text(rng.uniform(-3, 3, 3))}"/><mass value="{rng.uniform(0.5, 5)}"/>
                  <inertia ixx="{b + c}" iyy="{a + c}" izz="{a + b}" ixy="0" ixz="0" iyz="0"/>
                  </inertial></link>
                <joint name="joint_{name}" type="{kind}"><parent link="{before}"/>
                  <child link="{name}"/><origin xyz="{_text(rng.normal(size=3) * 0.5)}"
                  rpy="{_text(rng.uniform(-3, 3, 3))}"/><axis xyz="{_text(rng.normal(size=3))}"/>
                  <limit lower="-3" upper="3" effort="100" velocity="10"/></joint>""")
            before = name
    return ''.join([*parts, '</robot>'])


def looped(seed: int, kind: str) -> tuple[str, str]:
    """Two arms, and the same with a loop between their last links."""
    tree = arms(seed)
    rng = np.random.default_rng(seed)
    model = Model(load_robot(tree, log_warnings=False))
    second, q = np.eye(4), np.zeros(model.n)
    second[:3, :3] = Rotation.random(random_state=rng).as_matrix()
    second[:3, 3] = rng.normal(size=3) * 0.3
    first = np.linalg.inv(model.pose(q, 'a4')) @ model.pose(q, 'b4') @ second
    loop = (f'<loop name="closure" type="{kind}">{_end("first", "a4", first)}'
            f'{_end("second", "b4", second)}</loop>')
    return tree, tree.replace('</robot>', f'{loop}</robot>')


def compared(seed: int, kind: str) -> tuple[float, float]:
    """Differences of accelerations and of reactions, as shares of the largest number."""
    tree, text = looped(seed, kind)
    ours = Model(load_robot(text, log_warnings=False))
    rng = np.random.default_rng(seed)
    q = ours.close(0.2 * rng.uniform(-1, 1, ours.n), reach=2.0).q
    v = ours.admissible_speeds(q, rng.uniform(-2, 2, ours.n))
    tau = rng.uniform(-10, 10, ours.n)
    found = ours.constrained_dynamics(q, v, tau)
    assert found.rank == len(ours.constraint_names)

    theirs = pin.buildModelFromXML(tree)
    data = theirs.createData()
    record = ours.robot.loops[0]
    contact = pin.ContactType.CONTACT_3D if kind == 'ball' else pin.ContactType.CONTACT_6D

    def joint_and_placement(end):
        frame = theirs.frames[theirs.getFrameId(end.frame)]
        return frame.parentJoint, frame.placement * pin.SE3(end.pose)

    one, at_one = joint_and_placement(record.first)
    two, at_two = joint_and_placement(record.second)
    contacts = pin.StdVec_RigidConstraintModel()
    contacts.append(pin.RigidConstraintModel(contact, theirs, one, at_one, two, at_two,
                                             pin.ReferenceFrame.LOCAL))
    datas = pin.StdVec_RigidConstraintData()
    datas.append(contacts[0].createData())
    settings = pin.ProximalSettings(1e-14, 1e-14, 0.0, 1)
    pin.initConstraintDynamics(theirs, data, contacts, datas)
    order = [theirs.joints[theirs.getJointId(name)].idx_v for name in ours.names]
    their_q, their_v, their_tau = (np.zeros(theirs.nv) for _ in range(3))
    their_q[order], their_v[order], their_tau[order] = q, v, tau
    a = pin.constraintDynamics(theirs, data, their_q, their_v, their_tau, contacts, datas,
                               settings)[order]
    # Pinocchio has the force between the ends as it acts on the first, in its axes.
    force = datas[0].contact_force
    turn = ours.pose(q, record.first.frame)[:3, :3] @ record.first.pose[:3, :3]
    reaction = ours.reactions(q, v, tau)['closure'].first
    theirs_on_first = np.concatenate((turn @ force.linear, turn @ force.angular))
    if kind == 'ball':
        theirs_on_first[3:] = 0.0
    return (float(np.abs(a - found.acceleration).max() / max(1.0, np.abs(a).max())),
            float(np.abs(theirs_on_first - reaction).max() / max(1.0, np.abs(reaction).max())))


@pytest.mark.parametrize('kind', ['ball', 'weld'])
def test_rigid_loops(claims, kind):
    found = [compared(seed, kind) for seed in range(ARMS)]
    for what, differences in zip(('accelerations', 'reactions'), zip(*found, strict=True),
                                 strict=True):
        claims.bound('Pinocchio, constraintDynamics', f'{ARMS} pairs of random arms whose tips a '
                     f'{kind} joins: {what}', max(differences), MOST)
