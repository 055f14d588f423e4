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
"""The description of a flexible robot: frozen records that `load_robot` builds and checks.

Units are SI, angles radians. A pose is a homogeneous matrix (4, 4) that takes coordinates of the
inner frame to the outer one.
A beam's x axis runs along it. `bend_y` is a deflection v along the beam's y axis (resisted by
E Iz), `bend_z` a deflection w along its z axis (resisted by E Iy), `twist` a rotation about its x
axis (resisted by G J).
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from flex_description.math import Array
from flex_description.shapes import ModeShapes


@dataclass(frozen=True)
class Inertia:
    """Inertia of a rigid body, in the frame of its link unless said otherwise.

    tensor is about the centre of mass, in the axes of that frame.
    """

    mass: float         # kg
    centre: Array       # (3,) m
    tensor: Array       # (3, 3) kg m2


@dataclass(frozen=True)
class Limits:
    """Limits of a joint, in the units of a revolute or a prismatic one; an absent one is infinite.
    """

    lower: float = -np.inf      # rad or m
    upper: float = np.inf       # rad or m
    effort: float = np.inf      # N m or N
    velocity: float = np.inf    # rad/s or m/s
    acceleration: float = np.inf    # rad/s2 or m/s2, of rising speed
    deceleration: float = np.inf    # rad/s2 or m/s2, of falling speed
    jerk: float = np.inf        # rad/s3 or m/s3


@dataclass(frozen=True)
class FlexibleJoint:
    """Spring and damper between the gear of a motor and the link.

    Torque or force on the link = stiffness (motor / gear_ratio - joint) + damping (the same of the
    speeds).

    stiffness N m/rad, damping N m s/rad, both on the link's side; for a prismatic joint N/m and
    N s/m. motor_inertia kg m2: the rotor about its own axis, which is the joint's, on the motor's
    side. gear_ratio: rad of the motor per rad of the joint; for a prismatic joint (spindle, rack
    or rope drive) per metre. The motor's position is in rad, always.
    """

    stiffness: float
    motor_inertia: float
    damping: float = 0.0
    gear_ratio: float = 1.0


@dataclass(frozen=True)
class Motor:
    """Rotor of the motor of a joint that is not elastic.

    inertia kg m2: the rotor about its own axis, on the motor's side. ratio: rad of the motor per
    rad of the joint, or per metre of a prismatic one. The rotor adds ratio^2 inertia to the joint
    coordinate, as `armature` of MuJoCo and Pinocchio; its gyroscopic effects are left out.
    """

    inertia: float
    ratio: float = 1.0

    @property
    def reflected_inertia(self) -> float:
        """kg m2 at a revolute joint, kg at a prismatic one."""
        return self.ratio**2 * self.inertia


@dataclass(frozen=True)
class Mimic:
    """What <mimic> says: position = multiplier * position of `joint` + offset.

    multiplier: rad or m of this joint per rad or m of the other; offset: rad or m. `joint` itself
    follows none. A follower has no coordinate and no drive of its own.
    """

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True)
class Joint:
    """A joint from `parent` to `child`, the child's frame being the joint's frame (URDF).

    type: revolute, continuous, prismatic, fixed, floating or planar (the last two at the root
    only).
    origin (4, 4): the joint's frame in the parent link's frame at rest. axis (3,): unit vector
    in the joint's frame.
    section_x: where along the parent's beam it is carried, m; None if the parent is rigid.
    friction: Coulomb (N m or N); damping: viscous (N m s/rad or N s/m), from <dynamics>.
    command_interfaces: position, velocity and effort, as far as a <ros2_control> tag lists them.
    motor: its rotor; an elastic joint has that of `flexible` instead. passive: it has no motor and
    moves freely.
    mimic: the joint that it follows, if it does.
    limits: those of a leader leave its followers within theirs.
    """

    name: str
    type: str
    parent: str
    child: str
    origin: Array
    axis: Array
    limits: Limits = Limits()
    friction: float = 0.0
    damping: float = 0.0
    flexible: FlexibleJoint | None = None
    section_x: float | None = None
    mimic: Mimic | None = None
    motor: Motor | None = None
    command_interfaces: tuple[str, ...] = ()
    passive: bool = False


@dataclass(frozen=True)
class BeamProperties:
    """Properties of a beam at stations x (k,), in beam axes: arrays (k,)."""

    mass_per_length: Array      # rho A, kg/m
    inertia_y: Array            # rho Iy, kg m, about y (bending in z)
    inertia_z: Array            # rho Iz, kg m, about z (bending in y)
    bending_stiffness_y: Array  # E Iy, N m2, resists w
    bending_stiffness_z: Array  # E Iz, N m2, resists v
    torsion_stiffness: Array    # G J, N m2
    axial_stiffness: Array      # E A, N
    half_y: Array | None = None  # m, the outline's half extent along y, for drawing
    half_z: Array | None = None  # m, along z


@dataclass(frozen=True)
class LumpedMass:
    """A rigid body carried by the section at x, in beam axes."""

    x: float            # m along the beam
    mass: float         # kg
    centre: Array       # (3,) m, of mass, from the section's point on the beam axis
    tensor: Array       # (3, 3) kg m2, about the centre of mass
    name: str = ''


@dataclass(frozen=True)
class ScaledProperties:
    """Properties of a beam with factors; a class, so that robots can be pickled."""

    base: Callable[[Array], BeamProperties]
    bending_y: float = 1.0
    bending_z: float = 1.0
    twist: float = 1.0
    mass: float = 1.0

    def __call__(self, x: Array) -> BeamProperties:
        at = self.base(x)
        return replace(at, mass_per_length=self.mass * at.mass_per_length,
                       inertia_y=self.mass * at.inertia_y, inertia_z=self.mass * at.inertia_z,
                       bending_stiffness_y=self.bending_y * at.bending_stiffness_y,
                       bending_stiffness_z=self.bending_z * at.bending_stiffness_z,
                       torsion_stiffness=self.twist * at.torsion_stiffness)


@dataclass(frozen=True)
class Damping:
    """Damping of a link: either modal ratios or Rayleigh, D = alpha M + beta K of the link's own
    elastic block.

    The last ratio of a kind holds for all higher modes of that kind; no ratio means no damping.
    """

    ratio_bend_y: tuple[float, ...] = ()
    ratio_bend_z: tuple[float, ...] = ()
    ratio_twist: tuple[float, ...] = ()
    alpha: float = 0.0                     # 1/s
    beta: float = 0.0                      # s

    @property
    def first_ratio(self) -> float:
        """The first modal ratio that is not zero, else zero."""
        ratios = (*self.ratio_bend_y, *self.ratio_bend_z, *self.ratio_twist)
        return next((ratio for ratio in ratios if ratio > 0.0), 0.0)

    def with_first_ratio(self, ratio: float) -> Damping:
        """With this first ratio, the others in proportion; all of them if there is none."""
        first = self.first_ratio
        kinds = self.ratio_bend_y, self.ratio_bend_z, self.ratio_twist
        if first == 0.0:
            return replace(self, ratio_bend_y=(ratio,), ratio_bend_z=(ratio,),
                           ratio_twist=(ratio,))
        y, z, x = (tuple(ratio / first * one for one in kind) for kind in kinds)
        return replace(self, ratio_bend_y=y, ratio_bend_z=z, ratio_twist=x)


@dataclass(frozen=True)
class StrainGauge:
    """Measures the axial strain of the beam at one point, in beam axes."""

    name: str
    x: float            # m along the beam
    y: float            # m, of the point in the section
    z: float            # m


@dataclass(frozen=True)
class Imu:
    """An inertial measurement unit fixed in `frame`, a link or a frame of the robot."""

    name: str
    frame: str


@dataclass(frozen=True)
class BeamFit:
    """How a beam was fitted to what is known of its link, beside its sections and materials.

    mass: 'beam' (of sections and densities) or 'keep' (that of <inertial>: the mass of the beam
    has the factor `mass_factor`, and the lumped mass `root` has the rest). stiffness: what was
    asked for, with units, such as 'tip 20000 N/m'; '' for that of sections and materials, which
    have the factors of E Iz, E Iy and G J in stiffness_factors.
    """

    mass: str = 'beam'
    mass_factor: float = 1.0
    stiffness: str = ''
    stiffness_factors: tuple[float, float, float] = (1.0, 1.0, 1.0)


@dataclass(frozen=True)
class FlexibleLink:
    """The beam of a link: its place, its properties and its mode shapes."""

    link: str
    origin: Array                          # (4, 4) the beam's frame in the link's frame
    length: float                          # m
    breakpoints: tuple[float, ...]         # m, 0 to length: properties or shapes are not smooth
    # properties at stations x (k,), m along the beam
    properties: Callable[[Array], BeamProperties] = field(repr=False)
    bend_y: ModeShapes
    bend_z: ModeShapes
    twist: ModeShapes
    damping: Damping = Damping()
    masses: tuple[LumpedMass, ...] = ()
    gauges: tuple[StrainGauge, ...] = ()
    basis: str = ''                        # name of the basis, such as 'craig-bampton'
    pinned: bool = False                   # shapes have a slope at x = 0: the motor bends the beam
    section_shape: str = ''                # of the first section, such as 'circle', for drawing
    fit: BeamFit = BeamFit()               # to what is known of the link

    @property
    def n_modes(self) -> int:
        """Number of elastic coordinates: bend_y first, then bend_z, then twist."""
        return self.bend_y.count + self.bend_z.count + self.twist.count


@dataclass(frozen=True)
class Link:
    """A link: its rigid inertia and its beam.

    inertia is None for a link without mass, and for a flexible one, whose beam and lumped masses
    have all of it.
    """

    name: str
    inertia: Inertia | None = None
    flexible: FlexibleLink | None = None


@dataclass(frozen=True)
class Frame:
    """A named frame fixed in `link`.

    pose (4, 4): in the frame of the undeformed link. section_x: the section that carries it, m
    along the beam; None if the link is rigid.
    """

    name: str
    link: str
    pose: Array
    section_x: float | None = None


@dataclass(frozen=True)
class Attachment:
    """Where a constraint holds a robot: a frame fixed in a link or frame.

    frame: a link or frame of the robot; the root link is the world. x: m along the beam if the
    frame is a flexible link, whose section at x then carries it. pose (4, 4): in that frame, or in
    the section, whose x axis is along the beam.
    """

    frame: str
    pose: Array
    x: float | None = None


@dataclass(frozen=True)
class Loop:
    """Two frames that a joint joins, and closes a loop of the tree.

    type: revolute, prismatic, ball, universal, weld or distance. axis (3,): unit vector with the
    same components in both frames, about which a revolute joint turns or along which a prismatic
    one slides; of a universal joint the axis in the first frame, axis2 (3,) that in the second,
    which are perpendicular to each other. length: m between the points of type distance.
    """

    name: str
    type: str
    first: Attachment
    second: Attachment
    axis: Array | None = None
    axis2: Array | None = None
    length: float | None = None


@dataclass(frozen=True)
class Wheel:
    """What touches the ground plane and rolls or slides on it.

    type: rolling (its point on the ground has no speed), castor (it stays on the ground and
    slides freely) or knife_edge (its point does not move sideways). centre: the wheel's centre,
    or the point of the knife edge. axis (3,): unit vector in that frame; a wheel turns about it,
    a knife edge moves along it. radius: m, 0 for a sliding point. normal (3,) and height: the
    ground has all points p with normal.p = height, in the root's frame.
    """

    name: str
    type: str
    centre: Attachment
    axis: Array
    radius: float
    normal: Array
    height: float = 0.0


@dataclass(frozen=True)
class Support:
    """A point of a link that is fixed to the ground while it is active, such as a foot.

    type: point (it may turn) or flat (it may not). at (4, 4): the pose in the root's frame that it
    keeps, of type point the position alone; None: where it is at q = 0. active: whether it is at
    the start.
    """

    name: str
    type: str
    point: Attachment
    at: Array | None = None
    active: bool = True


@dataclass(frozen=True)
class Robot:
    """A tree of links.

    links[0] is the root; joints are in tree order (a parent's joint before its children's), and
    links[k + 1] is the child of joints[k]. gravity (3,) m/s2 in the root's frame. urdf: the
    expanded URDF text of the source. extensions: the elements of ours in it as XML, merged with
    those of the overlay; `published_description` makes one text of both. source: the file, or
    <string>.
    warnings: one line each, about what is read but doubtful. loops, wheels, supports: constraints
    between links of the tree, and between links and the ground.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    frames: tuple[Frame, ...] = ()
    imus: tuple[Imu, ...] = ()
    gravity: Array = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    urdf: str = field(default='', repr=False)
    extensions: str = field(default='', repr=False)
    source: str = ''
    warnings: tuple[str, ...] = ()
    loops: tuple[Loop, ...] = ()
    wheels: tuple[Wheel, ...] = ()
    supports: tuple[Support, ...] = ()

    @property
    def constraints(self) -> tuple[Loop | Wheel | Support, ...]:
        """All loops, then all wheels, then all supports."""
        return (*self.loops, *self.wheels, *self.supports)
