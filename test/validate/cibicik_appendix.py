"""Velocity of a point of link 3 in the appendix of Cibicik and Egeland, (148) and (149).

Link 2 leaves the z1 axis by q2, z2 is y1; its end is turned by Rx(t1) Ry(t2) Rz(t3), then joint 3.
Vectors are in the axes of frame 1; v03, the velocity of frame 3, is left out everywhere. Minus
signs that the text lost at the beginning of lines are put back; a dot that it lost over k2 and k3.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Point:
    """q2, q3 rad; u (3,) joint rates; x m along link 3; t, dt (3,) angles of link 2's end and
    their rates; k, dk (2,) deflection of the point in y3 and z3 and its rate."""

    q2: float
    q3: float
    u: np.ndarray
    x: float
    t: np.ndarray
    dt: np.ndarray
    k: np.ndarray
    dk: np.ndarray

    def small(self, share: float) -> Point:
        """The same with a share of all that is elastic."""
        return Point(self.q2, self.q3, self.u, self.x, share * self.t, share * self.dt,
                     share * self.k, share * self.dk)


def axes(at: Point) -> tuple[np.ndarray, np.ndarray]:
    """Columns x2, y2, z2 and x3, y3, z3."""
    s, c = np.sin(at.q2), np.cos(at.q2)
    two = np.array([[s, c, 0.0], [0.0, 0.0, 1.0], [c, -s, 0.0]])
    return two, two @ turn(at.t) @ _about_z(at.q3)


def turn(t: np.ndarray) -> np.ndarray:
    """Rx(t1) Ry(t2) Rz(t3)."""
    (s1, s2, s3), (c1, c2, c3) = np.sin(t), np.cos(t)
    return np.array([[c2 * c3, -c2 * s3, s2],
                     [c1 * s3 + c3 * s1 * s2, c1 * c3 - s1 * s2 * s3, -c2 * s1],
                     [s1 * s3 - c1 * c3 * s2, c3 * s1 + c1 * s2 * s3, c1 * c2]])


def _about_z(angle: float) -> np.ndarray:
    s, c = np.sin(angle), np.cos(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def by_cross_products(at: Point) -> np.ndarray:
    """dk + w03 x p, w03 as they write it below (148)."""
    two, three = axes(at)
    p = three @ np.array([at.x, *at.k])
    w = (at.u[0] * np.array([0.0, 0.0, 1.0]) + at.u[1] * two[:, 2] + at.u[2] * three[:, 2]
         + two @ at.dt)
    return three[:, 1:] @ at.dk + np.cross(w, p)


def equation_148(at: Point, last_line: bool) -> np.ndarray:
    """Term by term; last_line: with the last one, - dt3 x [...] x2, as printed."""
    (x2, y2, z2), (x3, y3, z3) = (frame.T for frame in axes(at))
    x1, y1 = np.eye(3)[:2]
    s2, c2, s3, c3 = np.sin(at.q2), np.cos(at.q2), np.sin(at.q3), np.cos(at.q3)
    (a1, a2, a3), (b1, b2, b3) = np.sin(at.t), np.cos(at.t)
    u1, u2, u3 = at.u
    x, (k2, k3), (d1, d2, d3) = at.x, at.k, at.dt
    # brackets that come again
    up = s3 * (b3 * a1 + b1 * a2 * a3) + c3 * (a1 * a3 - b1 * b3 * a2)
    side = s3 * (b1 * b3 - a1 * a2 * a3) + c3 * (b1 * a3 + b3 * a1 * a2)
    up_k = s3 * (a1 * a3 - b1 * b3 * a2) - c3 * (b3 * a1 + b1 * a2 * a3)
    v = at.dk[0] * y3 + at.dk[1] * z3 - u1 * x * up * x1
    v = v + u1 * x * (c3 * (c2 * (b1 * a3 + b3 * a1 * a2) + b2 * b3 * s2)
                      + s3 * (c2 * (b1 * b3 - a1 * a2 * a3) - b2 * a3 * s2)) * y1
    v = v + u1 * k2 * up_k * x1
    v = v + u1 * k2 * (c3 * (c2 * (b1 * b3 - a1 * a2 * a3) - b2 * a3 * s2)
                       - s3 * (c2 * (b1 * a3 + b3 * a1 * a2) + b2 * b3 * s2)) * y1
    v = v - u1 * k3 * b1 * b2 * x1 + u1 * k3 * (a2 * s2 - b2 * a1 * c2) * y1
    w = u2 + d3
    v = v - w * x * side * x2 + w * x * (b2 * b3 * c3 - b2 * a3 * s3) * y2
    v = v + w * k2 * (s3 * (b1 * a3 + b3 * a1 * a2) - c3 * (b1 * b3 - a1 * a2 * a3)) * x2
    v = v + w * k2 * (-b2 * b3 * s3 - b2 * a3 * c3) * y2 + w * k3 * (b2 * a1 * x2 + a2 * y2)
    v = v + u3 * x * y3 - u3 * k2 * x3
    v = v - d1 * x * up * y2 + d1 * x * side * z2 + d1 * k2 * up_k * y2
    v = v + d1 * k2 * (c3 * (b1 * b3 - a1 * a2 * a3) - s3 * (b1 * a3 + b3 * a1 * a2)) * z2
    v = v - d1 * k3 * (b1 * b2 * y2 + b2 * a1 * z2)
    v = v + d2 * x * up * x2 + d2 * x * (b2 * a3 * s3 - b2 * b3 * c3) * z2
    v = v - d2 * k2 * up_k * x2 + d2 * k2 * (b2 * b3 * s3 + b2 * a3 * c3) * z2
    v = v + d2 * k3 * (b1 * b2 * x2 - a2 * z2)
    return v - d3 * x * side * x2 if last_line else v


def equation_149(at: Point) -> np.ndarray:
    """Linear in all that is elastic."""
    (x2, y2, z2), (x3, y3, z3) = (frame.T for frame in axes(at))
    x1, y1 = np.eye(3)[:2]
    s2, c2, s3, c3 = np.sin(at.q2), np.cos(at.q2), np.sin(at.q3), np.cos(at.q3)
    u1, u2, u3 = at.u
    x, (k2, k3), (t1, t2, t3), (d1, d2, d3) = at.x, at.k, at.t, at.dt
    return (at.dk[0] * y3 + at.dk[1] * z3 + u1 * x * (-s3 * t1 + c3 * t2) * x1
            + u1 * x * (c3 * (c2 * t3 + s2) + s3 * (c2 - t3 * s2)) * y1
            + u1 * k2 * (c3 * c2 - s3 * s2) * y1 - u1 * k3 * x1
            + u2 * x * (-s3 - c3 * t3) * x2 + u2 * x * (c3 - t3 * s3) * y2
            - u2 * k2 * c3 * x2 - u2 * k2 * s3 * y2 + u3 * x * y3 - u3 * k2 * x3
            + d1 * x * s3 * z2 - d2 * x * c3 * z2 - d3 * x * s3 * x2 + d3 * x * c3 * y2)
