# Copyright 2026 flex maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except
# in compliance with the License. You may obtain a copy of the License at
# http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License
# is distributed on an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express
# or implied. See the License for the specific language governing permissions and limitations under
# the License.
"""Push the simulated robot from a shell: `ros2 run flex_dynamics push tool --force 0 0 -20`."""
from __future__ import annotations

import argparse
import sys

import rclpy
from geometry_msgs.msg import Vector3
from rclpy.utilities import remove_ros_args

from flex_msgs.srv import ApplyWrench
from flex_ros.shutdown import end_soon

PATIENCE = 10.0      # s of wall time for the simulator to be found and to answer


def read_arguments(words: list[str]) -> argparse.Namespace:
    """The command line, without what is for ROS."""
    parser = argparse.ArgumentParser(
        prog='push', description='Push a frame of the simulated robot for a while.')
    parser.add_argument('frame', help='a link, a frame, or LINK/tip of a flexible link')
    for name, unit in (('force', 'N'), ('torque', 'N m')):
        parser.add_argument(f'--{name}', nargs=3, type=float, default=(0.0, 0.0, 0.0),
                            metavar=('X', 'Y', 'Z'),
                            help=f'{unit} at the origin of the frame, along its axes')
    parser.add_argument('--duration', type=float, default=0.1, metavar='S',
                        help='simulated s (default: 0.1)')
    parser.add_argument('--simulator', default='simulator', metavar='NAME',
                        help='name of the simulator node, with its namespace if it has one')
    return parser.parse_args(words)


def main() -> int:
    given = read_arguments(remove_ros_args(sys.argv)[1:])
    request = ApplyWrench.Request()
    request.wrench.header.frame_id = given.frame
    request.wrench.wrench.force = Vector3(**dict(zip('xyz', given.force)))
    request.wrench.wrench.torque = Vector3(**dict(zip('xyz', given.torque)))
    if not 0.0 < given.duration < 1e9:
        print(f'push: --duration: expected a positive time in s, found {given.duration}',
              file=sys.stderr)
        return 1
    request.duration.sec, request.duration.nanosec = divmod(round(1e9 * given.duration), 10**9)
    rclpy.init(args=sys.argv)
    node = rclpy.create_node('push')
    try:
        code = ask(node, f'{given.simulator}/apply_wrench', request)
    except KeyboardInterrupt:
        code = 130
    end_soon(code)
    node.destroy_node()
    rclpy.try_shutdown()
    return code


def ask(node: rclpy.node.Node, service: str, request: ApplyWrench.Request) -> int:
    """Call the service; the exit code, and one line if it is not 0."""
    client = node.create_client(ApplyWrench, service)
    if not client.wait_for_service(PATIENCE):
        print(f'push: no simulator answers at {client.srv_name}: is it running, and in this '
              'namespace?', file=sys.stderr)
        return 1
    future = client.call_async(request)
    rclpy.spin_until_future_complete(node, future, timeout_sec=PATIENCE)
    answer = future.result() if future.done() else None
    if answer is None or not answer.success:
        print(f'push: {answer.message if answer else "no answer"}', file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main())
