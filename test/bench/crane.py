"""A crane that slews, with two cylinders and two flexible booms, for both programs.

Tree: ground, column, boom 1, boom 2; barrel and rod of cylinder 1 on the column, those of cylinder
2 on boom 1. The rods are pinned to the booms by loops. A spring and a damper along each cylinder
and about the column hold them. At rest, with straight booms, gravity sets in and the set-points
step.
"""
from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from flex_description import Robot, load_robot

GRAVITY = 9.81
PIVOT, FOOT = (0.0, 1.0), (0.5, 0.3)      # of boom 1 and of cylinder 1, m
LENGTHS = (3.0, 2.4)                # m of the booms
ANGLES = (math.radians(60.0), math.radians(-20.0))      # above the horizontal
PINS = (1.0, 0.8)                   # m along the booms, where the rods are pinned
# The booms between the places where something pulls, m: at each of them the curvature has a kink,
# which static shapes of the pieces have and modes of a whole boom do not.
PIECES = {'boom1': 1.0, 'boom1_middle': 1.0, 'boom1_end': 1.0, 'boom2': 0.8, 'boom2_end': 1.6}
BASE = 2.0                          # m along boom 1, where cylinder 2 begins
SECTION = (0.06, 0.09)              # m, width and height of aluminium
MODULUS, DENSITY = 70e9, 2700.0
PAYLOAD = 60.0                      # kg at the tip of boom 2
BARREL, ROD = (10.0, 0.8), (6.0, 0.9)      # kg, m: slender, the rod ends at its pin
STIFFNESS, DAMPING = 4e5, 8e3       # N/m and N s/m of each cylinder
STEPS = (0.02, -0.02)               # m, of the set-points at the start
COLUMN, SLEW = 120.0, 8.0           # kg at the axis, and kg m2 about it
SLEW_STIFFNESS, SLEW_DAMPING, SLEW_STEP = 2e5, 1e4, 0.1    # N m/rad, N m s/rad and rad


def direction(angle: float) -> np.ndarray:
    return np.array([np.cos(angle), np.sin(angle)])


@dataclass(frozen=True)
class Places:
    """Points of the plane (m) at the start: where boom 2 begins, and for each cylinder where it
    begins, its pin, its length and its angle."""

    elbow: np.ndarray
    feet: tuple[np.ndarray, np.ndarray]
    pins: tuple[np.ndarray, np.ndarray]
    lengths: tuple[float, float]
    angles: tuple[float, float]


def places() -> Places:
    first, second = (direction(angle) for angle in ANGLES)
    elbow = PIVOT + LENGTHS[0] * first
    feet = np.array(FOOT), PIVOT + BASE * first
    pins = PIVOT + PINS[0] * first, elbow + PINS[1] * second
    along = [pin - foot for pin, foot in zip(pins, feet, strict=True)]
    return Places(elbow, feet, pins, tuple(float(np.linalg.norm(one)) for one in along),
                  tuple(float(np.arctan2(one[1], one[0])) for one in along))


def crane(modes: int) -> Robot:
    """As a description, with `modes` bending shapes of each boom in both planes; without slewing
    the booms are in the plane x, z."""
    at = places()

    def slender(name: str, mass: float, length: float, centre: float) -> str:
        moment = mass * length**2 / 12.0
        return (f'<link name="{name}"><inertial><origin xyz="{centre!r} 0 0"/><mass value='
                f'"{mass!r}"/><inertia ixx="{0.01 * moment!r}" iyy="{moment!r}" izz="{moment!r}" '
                'ixy="0" ixz="0" iyz="0"/></inertial></link>')

    def hinge(name: str, parent: str, child: str, xyz: str, angle: float) -> str:
        return (f'<joint name="{name}" type="continuous"><parent link="{parent}"/><child link='
                f'"{child}"/><origin xyz="{xyz}" rpy="0 {-angle!r} 0"/><axis xyz="0 1 0"/></joint>'
                f'<passive_joint name="{name}"/>')

    parts = ['<link name="ground"/>',
             f'<link name="column"><inertial><mass value="{COLUMN!r}"/><inertia ixx="{SLEW!r}" '
             f'iyy="{SLEW!r}" izz="{SLEW!r}" ixy="0" ixz="0" iyz="0"/></inertial></link>',
             '<joint name="slew" type="continuous"><parent link="ground"/><child link="column"/>'
             '<axis xyz="0 0 1"/></joint>',
             hinge('lift', 'column', 'boom1', f'{PIVOT[0]!r} 0 {PIVOT[1]!r}', ANGLES[0]),
             hinge('knuckle', 'boom1_end', 'boom2', f'{PIECES["boom1_end"]!r} 0 0',
                   ANGLES[1] - ANGLES[0])]
    carriers = 'column', 'boom1_end'
    for k, (carrier, length) in enumerate(zip(carriers, at.lengths, strict=True), 1):
        foot = f'{FOOT[0]!r} 0 {FOOT[1]!r}' if k == 1 else '0 0 0'
        angle = at.angles[k - 1] - (0.0 if k == 1 else ANGLES[0])
        parts += [
            slender(f'barrel{k}', *BARREL, 0.5 * BARREL[1]),
            slender(f'rod{k}', *ROD, -0.5 * ROD[1]),
            hinge(f'foot{k}', carrier, f'barrel{k}', foot, angle),
            f'<joint name="cylinder{k}" type="prismatic"><parent link="barrel{k}"/><child link='
            f'"rod{k}"/><origin xyz="{length!r} 0 0"/><axis xyz="1 0 0"/><limit lower="-0.4" '
            'upper="0.4" effort="1e6" velocity="2"/></joint>',
            f'<loop name="pin{k}" type="ball"><first frame="boom{k}/tip"/>'
            f'<second frame="rod{k}"/></loop>']
    for name, length in PIECES.items():
        parts += [f'<link name="{name}"/>', f'<flexible link="{name}"><beam length="{length!r}">'
                  f'<section shape="rectangle" width="{SECTION[0]}" height="{SECTION[1]}"/>'
                  f'<material E="{MODULUS!r}" G="27e9" density="{DENSITY!r}"/></beam>'
                  f'<modes bending_y="{modes}" bending_z="{modes}" twist="1"/></flexible>']
    for one, other in (('boom1', 'boom1_middle'), ('boom1_middle', 'boom1_end'),
                       ('boom2', 'boom2_end')):
        parts.append(f'<joint name="{one}_weld" type="fixed"><parent link="{one}"/><child link='
                     f'"{other}"/><origin xyz="{PIECES[one]!r} 0 0"/></joint>')
    parts += [f'<link name="load"><inertial><mass value="{PAYLOAD!r}"/><inertia ixx="1e-6" '
              'iyy="1e-6" izz="1e-6" ixy="0" ixz="0" iyz="0"/></inertial></link>',
              '<joint name="hook" type="fixed"><parent link="boom2_end"/><child link="load"/>'
              f'<origin xyz="{PIECES["boom2_end"]!r} 0 0"/></joint>']
    return load_robot(f'<robot name="cylinder_crane">{"".join(parts)}</robot>', log_warnings=False)
