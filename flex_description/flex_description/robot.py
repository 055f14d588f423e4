"""What a flexible robot is: frozen records, built once by `load_robot`, read by everything else.

Units are SI, angles radians. Poses are 4 x 4 homogeneous matrices that take coordinates of the
inner frame to the outer one.
A beam's x axis runs along it. `bend_y` is a deflection v along the beam's y axis (resisted by E
Iz), `bend_z` a deflection w
along its z axis (resisted by E Iy), `twist` a rotation about its x axis (resisted by G J).
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from flex_description.shapes import ModeShapes


@dataclass(frozen=True)
class Inertia:
    """Rigid inertia: mass (kg), centre (3,) m, tensor (3, 3) kg m2 about the centre, all in
    the link's frame."""

    mass: float
    centre: np.ndarray
    tensor: np.ndarray


@dataclass(frozen=True)
class Limits:
    """Limits of a joint; an absent one is infinite. SI units of the joint (rad or m, N m or N)."""

    lower: float = -np.inf
    upper: float = np.inf
    effort: float = np.inf
    velocity: float = np.inf


@dataclass(frozen=True)
class FlexibleJoint:
    """Spring between the motor, behind its gear, and the link: torque or force = stiffness
    (motor / gear_ratio - joint) + damping (...).

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
class Joint:
    """A joint from `parent` to `child`, the child's frame being the joint's frame (URDF).

    type: revolute, continuous, prismatic, fixed, floating or planar (the last two at the root
    only).
    origin (4, 4): the joint's frame in the parent link's frame at rest. axis (3,): unit vector
    in the joint's frame.
    section_x: where along the parent's beam it is carried, m; None if the parent is rigid.
    friction: Coulomb (N m or N); damping: viscous (N m s/rad or N s/m), from <dynamics>.
    """

    name: str
    type: str
    parent: str
    child: str
    origin: np.ndarray
    axis: np.ndarray
    limits: Limits = Limits()
    friction: float = 0.0
    damping: float = 0.0
    flexible: FlexibleJoint | None = None
    section_x: float | None = None


@dataclass(frozen=True)
class BeamProperties:
    """Properties at stations x (k,): arrays (k,). Units kg/m, kg m, N m2."""

    mass_per_length: np.ndarray      # rho A
    inertia_y: np.ndarray            # rho Iy, about y (bending in z)
    inertia_z: np.ndarray            # rho Iz, about z (bending in y)
    bending_stiffness_y: np.ndarray  # E Iy, resists w
    bending_stiffness_z: np.ndarray  # E Iz, resists v
    torsion_stiffness: np.ndarray    # G J
    axial_stiffness: np.ndarray      # E A
    half_y: np.ndarray | None = None  # m, the outline's half extent along y, for drawing
    half_z: np.ndarray | None = None  # m, along z


@dataclass(frozen=True)
class LumpedMass:
    """A rigid body carried by the section at x: mass kg, centre (3,) m from the section's axis
    point, tensor (3, 3) kg m2
    about that centre, in the beam's axes."""

    x: float
    mass: float
    centre: np.ndarray
    tensor: np.ndarray
    name: str = ''


@dataclass(frozen=True)
class Damping:
    """Either modal ratios (one for all, or one per kind and mode) or Rayleigh D = alpha M +
    beta K of the link's own elastic block."""

    ratio_bend_y: tuple[float, ...] = ()   # the last one serves all higher modes; empty means none
    ratio_bend_z: tuple[float, ...] = ()
    ratio_twist: tuple[float, ...] = ()
    alpha: float = 0.0                     # 1/s
    beta: float = 0.0                      # s


@dataclass(frozen=True)
class StrainGauge:
    """Measures axial strain at station x (m along the beam), at the point (y, z) (m) of the
    section, in beam axes."""

    name: str
    x: float
    y: float
    z: float


@dataclass(frozen=True)
class Imu:
    """An inertial sensor fixed in `frame`."""

    name: str
    frame: str


@dataclass(frozen=True)
class FlexibleLink:
    """The beam of a link: where it lies, what it is made of, how it may deform."""

    link: str
    origin: np.ndarray                     # (4, 4) the beam's frame in the link's frame
    length: float
    breakpoints: tuple[float, ...]         # 0 to length: where properties or shapes are not smooth
    properties: Callable[[np.ndarray], BeamProperties] = field(repr=False)
    bend_y: ModeShapes
    bend_z: ModeShapes
    twist: ModeShapes
    damping: Damping = Damping()
    masses: tuple[LumpedMass, ...] = ()
    gauges: tuple[StrainGauge, ...] = ()
    basis: str = ''                        # as the user named it
    pinned: bool = False                   # the basis has a slope at x = 0: the motor bends it too
    section_shape: str = ''                # of the first section, for drawing: circle ...

    @property
    def n_modes(self) -> int:
        """Number of elastic coordinates: bend_y first, then bend_z, then twist."""
        return self.bend_y.count + self.bend_z.count + self.twist.count


@dataclass(frozen=True)
class Link:
    """A link: its rigid inertia (None if it has no mass, or if the beam carries it all) and
    its beam."""

    name: str
    inertia: Inertia | None = None
    flexible: FlexibleLink | None = None


@dataclass(frozen=True)
class Frame:
    """A named frame fixed in `link` at `pose` (4, 4) of the undeformed link; `section_x` says
    which section carries it."""

    name: str
    link: str
    pose: np.ndarray
    section_x: float | None = None


@dataclass(frozen=True)
class Robot:
    """A tree of links. links[0] is the root; joints are in tree order (a parent's joint before
    its children's).

    urdf is the expanded URDF text, as robot_description carries it. gravity (3,) m/s2 in the
    root's frame.
    """

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    frames: tuple[Frame, ...] = ()
    imus: tuple[Imu, ...] = ()
    gravity: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))
    urdf: str = field(default='', repr=False)
    source: str = ''
    warnings: tuple[str, ...] = ()
