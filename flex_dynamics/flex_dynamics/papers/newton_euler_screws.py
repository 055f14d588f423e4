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
"""Newton's and Euler's equations of a rigid body in screws (Mladenova, section 4.3).

Screws (6,) are of the point R of the body, in its axes, and have the linear part first: velocity
[V; omega], momentum [F; M], force [f; n]. Equation numbers are the paper's.
"""
from __future__ import annotations

import numpy as np

from flex_description.math import skew
from flex_dynamics.arrays import Array


def velocity_operator(velocity: Array) -> Array:
    """The matrix (6, 6) by which a momentum that stands still in the body changes: (165)."""
    V, omega = skew(velocity[:3]), skew(velocity[3:])
    return np.block([[omega, np.zeros((3, 3))], [V, omega]])


def generalized_inertia(mass: float, centre: Array, inertia: Array) -> Array:
    """phi (6, 6): (167). centre (3,): from R to the centre of mass; inertia (3, 3): about R."""
    moment = mass * skew(centre)
    return np.block([[mass * np.eye(3), moment.T], [moment, inertia]])


def force_screw(phi: Array, velocity: Array, rate: Array) -> Array:
    """[f; n] (6,) that gives the velocity the rate, which is that of its components: (166)."""
    return phi @ rate + velocity_operator(velocity) @ phi @ velocity
