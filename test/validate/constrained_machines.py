"""Machines of the problems with constraints, written as URDF."""
from __future__ import annotations

import numpy as np

from flex_description import Robot, load_robot

Vector = tuple[float, float, float]


def text(values) -> str:
    return ' '.join(f'{float(value):.17g}' for value in values)


def link(name: str, mass: float, centre: Vector, moments: Vector) -> str:
    """A rigid link whose principal axes are those of its frame."""
    return (f'<link name="{name}"><inertial><origin xyz="{text(centre)}"/><mass value="{mass}"/>'
            f'<inertia ixx="{moments[0]!r}" iyy="{moments[1]!r}" izz="{moments[2]!r}" ixy="0" '
            'ixz="0" iyz="0"/></inertial></link>')


def joint(name: str, parent: str, child: str, at: Vector = (0, 0, 0), axis: Vector = (0, 1, 0),
          kind: str = 'continuous', rpy: Vector = (0, 0, 0)) -> str:
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{text(at)}" rpy="{text(rpy)}"/><axis xyz="{text(axis)}"/></joint>')


def robot(name: str, *parts: str) -> Robot:
    return load_robot(f'<robot name="{name}">{"".join(parts)}</robot>', log_warnings=False)


def sleigh(mass: float, inertia: float, distance: float) -> Robot:
    """Chaplygin's: a knife edge along x, the centre of mass `distance` before it."""
    return robot('sleigh', '<link name="world"/>',
                 link('sleigh', mass, (distance, 0, 0), (inertia, inertia, inertia)),
                 joint('base', 'world', 'sleigh', axis=(0, 0, 1), kind='planar'),
                 '<wheel name="edge" type="knife_edge" frame="sleigh"/>')


def disc(mass: float, radius: float) -> Robot:
    """A thin disc that rolls, upright along x at q = 0."""
    flat = 0.25 * mass * radius**2
    return robot('disc', '<link name="world"/>', link('disc', mass, (0, 0, 0),
                                                      (flat, 2 * flat, flat)),
                 joint('base', 'world', 'disc', (0, 0, radius), kind='floating'),
                 f'<wheel name="rim" frame="disc" radius="{radius}"/>')


def four_bars(count: int, kind: str) -> Robot:
    """IFToMM library A02: 2 count + 1 rods of 1 m and 1 kg in a row of squares, gravity along -y.
    """
    slender, up = (1e-3, 1 / 12, 1 / 12), (0, 0, np.pi / 2)
    axis = ' axis="0 0 1"' if kind == 'revolute' else ''
    parts = ['<gravity xyz="0 -9.81 0"/>', '<link name="ground"/>']
    for k in range(count + 1):
        parts += [link(f'crank{k}', 1.0, (0.5, 0, 0), slender),
                  joint(f'pin{k}', 'ground', f'crank{k}', (k, 0, 0), (0, 0, 1), rpy=up)]
    for k in range(count):
        parts += [link(f'bar{k}', 1.0, (0.5, 0, 0), slender),
                  joint(f'hinge{k}', f'crank{k}', f'bar{k}', (1, 0, 0), (0, 0, 1),
                        rpy=(0, 0, -np.pi / 2)),
                  f'<loop name="loop{k}" type="{kind}"{axis}><first frame="bar{k}" xyz="1 0 0"/>'
                  f'<second frame="crank{k + 1}" xyz="1 0 0"/></loop>']
    return robot('four_bars', *parts)


def bricard() -> Robot:
    """IFToMM library A04: five rods of 1 m and 1 kg, 0.1 m square, along edges of a cube, and the
    ground as the sixth; the axis of a joint is across both of its rods. Gravity along -y."""
    across, along = 1 / 12 + 0.01 / 12, 0.01 / 6
    rods = [(0, 1), (1, -1), (2, 1), (0, -1), (1, 1)]       # axis of the cube, and which way
    axes = [(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    parts = ['<gravity xyz="0 -9.81 0"/>', '<link name="ground"/>']
    before, at = 'ground', (0.0, 0.0, 0.0)
    for k, ((edge, way), axis) in enumerate(zip(rods, axes, strict=True)):
        end = tuple(way * float(i == edge) for i in range(3))
        moments = tuple(along if i == edge else across for i in range(3))
        parts += [link(f'rod{k}', 1.0, tuple(0.5 * x for x in end), moments),
                  joint(f'joint{k}', before, f'rod{k}', at, axis)]
        before, at = f'rod{k}', end
    return robot('bricard', *parts, '<loop name="last" type="revolute" axis="1 0 0"><first '
                 f'frame="{before}" xyz="{text(at)}"/><second frame="ground" xyz="0 0 1"/></loop>')


# A platform with two driven wheels: mass, inertia about its centre, which is `ahead` of the axle;
# wheels: mass, moments about their axis and about a diameter, radius, half of their distance.
PLATFORM = {'mass': 20.0, 'inertia': 1.3, 'ahead': 0.12, 'wheel': 1.5, 'spin': 0.0075,
            'diameter': 0.004, 'radius': 0.1, 'half': 0.25}


def platform() -> Robot:
    p = PLATFORM
    wheel = (p['diameter'], p['spin'], p['diameter'])
    return robot('platform', '<link name="world"/>',
                 link('platform', p['mass'], (p['ahead'], 0, 0), (1.0, 1.0, p['inertia'])),
                 joint('base', 'world', 'platform', (0, 0, p['radius']), (0, 0, 1), 'planar'),
                 *(part for name, side in (('right', -1), ('left', 1)) for part in (
                     link(name, p['wheel'], (0, 0, 0), wheel),
                     joint(f'{name}_joint', 'platform', name, (0, side * p['half'], 0)),
                     f'<wheel name="{name}_wheel" frame="{name}" radius="{p["radius"]}"/>')),
                 '<wheel name="castor" type="castor" frame="platform" xyz="0.3 0 -0.1"/>')


def flexible_four_bar() -> Robot:
    """Crank of 0.5 m, rocker of 1 m, 1.3 m apart; the coupler is a beam of aluminium."""
    length, up = float(np.hypot(1.3, 0.5)), -0.5 * np.pi
    return robot('flexible_four_bar', '<link name="ground"/>',
                 link('crank', 0.5, (0.25, 0, 0), (1e-3, 0.01, 0.01)), '<link name="coupler"/>',
                 link('rocker', 1.0, (0.5, 0, 0), (1e-3, 1 / 12, 1 / 12)),
                 joint('crank_joint', 'ground', 'crank', rpy=(0, up, 0)),
                 joint('coupler_joint', 'crank', 'coupler', (0.5, 0, 0),
                       rpy=(0, -np.arctan2(0.5, 1.3) - up, 0)),
                 joint('rocker_joint', 'ground', 'rocker', (1.3, 0, 0), rpy=(0, up, 0)),
                 f'<flexible link="coupler"><beam length="{length!r}"><section shape="rectangle" '
                 'width="0.02" height="0.02"/><material name="aluminium"/></beam><modes '
                 'bending_y="1" bending_z="2" twist="1"/></flexible>'
                 '<loop name="pin" type="ball"><first frame="coupler/tip"/>'
                 '<second frame="rocker" xyz="1 0 0"/></loop>')


def thin_beam(name: str, length: float, height: float, shapes: int) -> str:
    """Aluminium, 20 mm wide, undamped, bending in the plane of the mechanism only."""
    return (f'<flexible link="{name}"><beam length="{length!r}"><section shape="rectangle" '
            f'width="0.02" height="{height!r}"/><material name="aluminium"/></beam><modes '
            f'bending_y="0" bending_z="{shapes}" twist="0"/></flexible>')


def thin_four_bar(shapes: int, height: float = 0.008) -> Robot:
    """Crank of 0.5 m, rocker of 1 m, upright 1.3 m apart; a coupler of this height (m) between."""
    length, up = float(np.hypot(1.3, 0.5)), -0.5 * np.pi
    return robot('thin_four_bar', '<link name="ground"/>',
                 link('crank', 0.5, (0.25, 0, 0), (1e-3, 0.5 * 0.25 / 12, 0.01)),
                 '<link name="coupler"/>',
                 link('rocker', 1.0, (0.5, 0, 0), (1e-3, 1 / 12, 1 / 12)),
                 joint('crank_joint', 'ground', 'crank', rpy=(0, up, 0)),
                 joint('coupler_joint', 'crank', 'coupler', (0.5, 0, 0),
                       rpy=(0, -np.arctan2(0.5, 1.3) - up, 0)),
                 joint('rocker_joint', 'ground', 'rocker', (1.3, 0, 0), rpy=(0, up, 0)),
                 thin_beam('coupler', length, height, shapes),
                 '<loop name="pin" type="ball"><first frame="coupler/tip"/>'
                 '<second frame="rocker" xyz="1 0 0"/></loop>')


def slider_crank(shapes: int) -> Robot:
    """Crank of 0.15 m, upright, a rod of 0.5 m 4 mm thick, a slider of 0.2 kg along x."""
    up, reach = -0.5 * np.pi, float(np.sqrt(0.5**2 - 0.15**2))
    return robot('slider_crank', '<link name="ground"/>',
                 link('crank', 0.3, (0.075, 0, 0), (1e-4, 0.3 * 0.15**2 / 12, 1e-3)),
                 '<link name="rod"/>', link('slider', 0.2, (0, 0, 0), (1e-4, 1e-4, 1e-4)),
                 joint('crank_joint', 'ground', 'crank', rpy=(0, up, 0)),
                 joint('rod_joint', 'crank', 'rod', (0.15, 0, 0),
                       rpy=(0, float(np.arcsin(0.3)) - up, 0)),
                 joint('slide', 'ground', 'slider', (reach, 0, 0), (1, 0, 0), 'prismatic'),
                 thin_beam('rod', 0.5, 0.004, shapes),
                 '<loop name="pin" type="ball"><first frame="rod/tip"/>'
                 '<second frame="slider"/></loop>')
