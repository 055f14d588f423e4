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
"""Compile every kernel once, so that no user's first call waits: `make setup` runs it.

`python3 -m flex_dynamics.warm_up` compiles in two processes, one for each part; with the name of
a part, in this one.
"""
from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

from flex_description import load_robot
from flex_dynamics import Model
from flex_dynamics.model.backends.constrained import CONSTRAINT_TERMS
from flex_dynamics.model.backends.recursive import DERIVATIVES, FORWARD_DYNAMICS
from flex_dynamics.model.poses import Poses
from flex_dynamics.simulation.command_limits import TAKE_COMMAND
from flex_dynamics.simulation.plant import CONTROLLED_RUN, DRIVEN_PERIOD
from flex_dynamics.simulation.simulation import ADVANCE


def warm_up_motion() -> None:
    """The kernels that move a robot."""
    for kernel in (FORWARD_DYNAMICS, ADVANCE, DRIVEN_PERIOD, CONTROLLED_RUN, TAKE_COMMAND):
        kernel.prepare()


def warm_up_terms() -> None:
    """Those of the terms of the equations of motion and of frames: called on a small robot."""
    CONSTRAINT_TERMS.prepare()       # accelerations under constraints: 19 s, at their first use
    DERIVATIVES.prepare()
    model = Model(load_robot('lab_link'))
    q, v = np.zeros(model.n), np.zeros(model.n)
    model.mass_and_coriolis(q, v)
    model.inverse_dynamics(q, v, v)
    model.energy(q, v)
    model.pose(q, model.robot.links[-1].name)
    poses = Poses(model, [(model.robot.links[-1].name, None)])
    poses.at(q)
    poses.paths(q[None])
    Model(model.robot, 'linear').mass_and_coriolis(q, v)


PARTS = {'motion': warm_up_motion, 'terms': warm_up_terms}     # about the same work each


def main() -> int:
    start = time.monotonic()
    if sys.argv[1:]:
        for name in sys.argv[1:]:
            PARTS[name]()
        return 0
    parts = [subprocess.Popen([sys.executable, '-m', 'flex_dynamics.warm_up', name])
             for name in PARTS]
    failed = any([part.wait() for part in parts])
    if not failed:
        print(f'kernels ready in {time.monotonic() - start:.1f} s')
    return int(failed)


if __name__ == '__main__':
    sys.exit(main())
