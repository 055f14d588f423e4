"""Other people's robots through ROS: a goal of the action, every node a process of its own.

A few robots of example-robot-data, each of another kind, with the overlay that `suggest` proposes:
sim.launch.py in lockstep, a goal for all joints by FollowJointTrajectory, and where the joints are
after it.
"""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='robots through ROS: rclpy is not there')

from claims import Claims  # noqa: E402
from control_msgs.action import FollowJointTrajectory  # noqa: E402
from rclpy.action import ActionClient  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from test_other_robots import robots_folder  # noqa: E402
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint  # noqa: E402
from walk_robots import MOST_ERROR, motion_ends, suggested_overlay  # noqa: E402

from flex_description import load_robot  # noqa: E402
from flex_dynamics import Model  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'launch'))
from graph import Listener  # noqa: E402
from processes import end  # noqa: E402

ROBOTS = {
    'arm with a gripper': 'panda_description/urdf/panda.urdf',
    'arm': 'ur_description/urdf/ur10_robot.urdf',
    'joints that turn without end': 'kinova_description/robots/kinova.urdf',
    'humanoid': 'talos_data/robots/talos_reduced.urdf',
    'mobile manipulator with a hand': 'tiago_description/robots/tiago.urdf',
    'hand': 'allegro_hand_description/urdf/allegro_right_hand.urdf',
    'quadruped': 'solo_description/robots/solo12.urdf',
    'arm of a hexarotor': 'hextilt_description/urdf/hextilt_flying_arm_5.urdf',
    'quadrotor with limits of zero': 'iris_description/robots/iris.urdf',
}
DURATION = 2        # s of the motion
PATIENCE = 300.0    # s of wall time for it, on a busy machine


@pytest.mark.parametrize('kind', ROBOTS)
def test_a_goal_is_reached(claims: Claims, kind: str, tmp_path: Path) -> None:
    file = robots_folder() / ROBOTS[kind]
    overlay = suggested_overlay(file, tmp_path)
    model = Model(load_robot(file, overlay))
    _, goal, _ = motion_ends(model)
    followers = {joint.name for joint in model.robot.joints if joint.mimic is not None}
    wanted = {name: float(position) for name, position in zip(model.joint_names, goal)
              if name not in followers}
    log = tmp_path / 'launch.log'
    flexible = [f'overlay:={overlay}'] if overlay is not None else []
    listener = Listener()
    # What the robot before has left in the graph would take the goal.
    listener.until(lambda: not listener.node.get_publishers_info_by_topic(
        '/control/follow_joint_trajectory/_action/status'), 'the end of the robot before')
    with log.open('w') as out:
        launch = subprocess.Popen(
            ['ros2', 'launch', 'flex_bringup', 'sim.launch.py', f'robot:={file}', *flexible,
             'sync:=lockstep', 'headless:=true'],
            stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            code, reached = _go(listener, wanted, launch, log)
        finally:
            listener.close()
            end(launch)
    error = max(abs(reached[name] - position) for name, position in wanted.items())
    text = log.read_text()
    claims.value(file.name, f'{kind}: the action ends with', 0, code, 0)
    claims.bound(file.name, f'{kind}: farthest joint from its goal', error, MOST_ERROR,
                 unit='rad or m', note=f'{model.n} coordinates, {len(wanted)} joints')
    claims.fact(file.name, f'{kind}: output of the nodes', 'no traceback',
                'a traceback' if 'Traceback' in text else 'no traceback', 'Traceback' not in text)


def _go(listener: Listener, wanted: dict[str, float], launch: subprocess.Popen,
        log: Path) -> tuple[int, dict[str, float]]:
    """Error code of the action with that goal, and positions by joint after it."""
    def there() -> bool:
        assert launch.poll() is None, f'the launch has ended: {log.read_text()[-2000:]}'
        return client.server_is_ready()

    listener.listen(JointState, 'joint_states')
    client = ActionClient(listener.node, FollowJointTrajectory, 'control/follow_joint_trajectory')
    try:
        listener.until(there, 'the action server', PATIENCE)
        listener.next('joint_states', 3, PATIENCE)
        point = JointTrajectoryPoint(positions=list(wanted.values()))
        point.time_from_start.sec = DURATION
        sent = client.send_goal_async(FollowJointTrajectory.Goal(trajectory=JointTrajectory(
            joint_names=list(wanted), points=[point])))
        listener.until(sent.done, 'the acceptance of the goal', PATIENCE)
        assert sent.result().accepted, 'the goal was refused'
        result = sent.result().get_result_async()
        listener.until(result.done, 'the result of the goal', PATIENCE)
        state, = listener.next('joint_states', 1, PATIENCE)
        return result.result().result.error_code, dict(zip(state.name, np.array(state.position)))
    finally:
        client.destroy()
