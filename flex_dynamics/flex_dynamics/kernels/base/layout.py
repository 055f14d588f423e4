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
"""The flat arrays that every kernel reads and the compile options that every kernel has.

A model is a tree of nodes, parents before children. A node is a rigid body, or a beam, behind a
joint; or a section of a beam, to which whatever hangs there is fixed. Three arrays hold a model:

    table  (nodes, TABLE_WIDTH) int64      one row a node, columns below
    body   (nodes, BODY_WIDTH) float64     one row a node, columns below
    coef   (any,) float64                  beam coefficients, at the offsets that `table` names

Twists are [angular; linear] at the node's origin in the node's axes; a beam's node has the beam's
axes. `state` arrays q, v, a and force have length n in the order of `Model.names`.
"""
from __future__ import annotations

from flex_dynamics import compile_messages  # noqa: F401  (before the first kernel is compiled)
from flex_dynamics.kernels import cache  # noqa: F401  (the same)
from flex_dynamics.kernels.inner import EntryCompiler, InnerCompiler

# Reassociation lets sums run in vector registers; NaN and infinity keep their meaning.
FAST = {'reassoc', 'contract', 'arcp', 'nsz'}
# Without numba's runtime no array is reference counted, and a kernel that would allocate does not
# compile. Kernels run without the interpreter lock: their scratch belongs to one thread (Data).
COMMON = {'fastmath': FAST, 'error_model': 'numpy', 'nogil': True, '_nrt': False}
ENTRY = {**COMMON, 'cache': True, 'pipeline_class': EntryCompiler}   # of kernels Python calls
OPTIONS = {**COMMON, 'no_cpython_wrapper': True, 'no_cfunc_wrapper': True,
           'pipeline_class': InnerCompiler}      # of those that only kernels call
LANES = 4         # numbers in a vector register (vector.py)
ROW = 8           # a row of six numbers in two registers, with two places to spare

# Columns of table
PARENT = 0        # node index, -1 for the world
KIND = 1          # how the node moves against its parent
Q = 2             # first joint coordinate; a follower (<mimic>) has that of its leader
DOF = 3           # number of joint coordinates
MOTOR = 4         # motor coordinate of an elastic joint, -1 if none
ELASTIC = 5       # first elastic coordinate
MODES = 6         # number of elastic coordinates (3 groups below)
MODES_Y = 7
MODES_Z = 8
MODES_X = 9
BEAM = 10         # offset of the beam's coefficients in coef
SECTION = 11      # offset of a section's coefficients in coef
N_AXIS = 12       # particles of a beam's axis
N_SECTIONS = 13   # sections of a beam that carry its rotary inertia
STIFFNESS = 14    # offset of the elastic stiffness block in coef
DAMPING = 15      # offset of the elastic damping block in coef
PHI_ROW = 16      # first row of this section's Jacobian in the workspace
PINNED = 17       # offset in coef of the turn of the root section per amplitude, -1 if clamped
FULL = 18         # first joint coordinate when every joint has its own: followers come last
TABLE_WIDTH = 19

# Values of KIND
FIXED = 0
REVOLUTE = 1
PRISMATIC = 2
PLANAR = 3
FLOATING = 4
ON_BEAM = 5

# Columns of body
ROTATION = 0      # 9: node axes to parent axes at q = 0, row-major
POSITION = 9      # 3: node origin in the parent at q = 0
AXIS = 12         # 3: joint axis, node axes
POINT = 15        # 3: a point of the joint axis, in the node
SCREW = 18        # 6: twist of unit speed of the joint coordinate, in the node
MASS = 24
MOMENT = 25       # 3: mass times centre
INERTIA = 28      # 9: rotational inertia about the node's origin
ROTOR = 37        # rotor inertia, motor side
GEAR = 38
SPRING = 39       # elastic joint, link side
DAMPER = 40
ROTOR_AXIS = 41   # 3: in the parent's axes
PLANE = 44        # 6: two unit vectors of a planar joint, node axes
# What follows acts on the joint coordinate, which is the leader's for a follower.
VISCOUS = 50      # friction proportional to speed
COULOMB = 51      # friction of constant size, smoothed by FRICTION_SPEED
ARMATURE = 52     # inertia of a motor, reflected
RATIO = 53        # rad or m of the joint per unit of its coordinate: 1, or <mimic>'s multiplier
BODY_WIDTH = 54

FRICTION_SPEED = 0.01   # rad/s or m/s: COULOMB tanh(joint speed / FRICTION_SPEED)

# Codes of a field's components: 0, 1, 2 = linear in that group of amplitudes (bend_y, bend_z,
# twist) and bilinear in the other two; 3 = a constant and squares in both groups of bending. These
# are the only products that (16) and (18) of Piedboeuf have. A beam's axis points and the rotation
# vectors of its sections have x, y, z of the codes below; columns are ordered by code, so that
# equal codes share loops.
SQUARES = 3
AXIS_POINT = (3, 0, 1)
ROTATION_VECTOR = (2, 1, 0)
# What a section has beside its rotation vector, each as one number a section (section_rotation.py)
SECTION_CONSTANTS = 6
