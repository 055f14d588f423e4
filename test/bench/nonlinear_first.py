"""Projection matrices of the 4-joint arm from its nonlinear positions, in sympy.

    python nonlinear_first.py

The way without dual screws: positions and rotations of every link's frame, nonlinear; their
derivatives by every coordinate; time derivatives by the chain rule; at the end all is linearised
in the elastic coordinates and speeds. Prints the seconds of processor time after each step, so
that who runs it under a time limit sees how far it came.
"""
from __future__ import annotations

import time

import numpy as np
import sympy

from flex_description import load_robot
from flex_dynamics import Model
from flex_dynamics.build.linear_beam import section_shapes
from flex_dynamics.kernels.base import layout
from flex_dynamics.symbolic.expressions.tape import Tape
from flex_dynamics.symbolic.methods.problem import Problem


def frames(model: Model) -> list[tuple[sympy.Matrix, sympy.Matrix]]:
    """Rotation (3, 3) and position (3, 1) in the world of every node."""
    problem = Problem(model, Tape())
    q = sympy.symbols(f'q1:{model.n + 1}', real=True)
    out: list[tuple[sympy.Matrix, sympy.Matrix]] = []
    for body in problem.bodies:
        R, p = out[body.parent] if body.parent >= 0 else (sympy.eye(3), sympy.zeros(3, 1))
        if body.kind == layout.ON_BEAM:
            shapes = section_shapes(body.fields, np.array([body.section_x]))[0]
            bent = [sum(float(c) * q[k] for c, k in zip(row, body.amplitudes) if abs(c) > 1e-12)
                    for row in shapes]
            turn = (_about(0, bent[0]) * _about(1, bent[1]) * _about(2, bent[2]))
            move = sympy.Matrix([body.section_x + bent[3], bent[4], bent[5]])
        else:
            turn = sympy.Matrix(body.rotation)
            if body.kind == layout.REVOLUTE:
                axis = int(np.argmax(np.abs(body.axis)))
                turn = turn * _about(axis, float(body.axis[axis]) * q[body.coordinates[0]])
            move = sympy.Matrix(body.position)
        out.append((R * turn, p + R * move))
    return out


def _about(axis: int, angle) -> sympy.Matrix:
    s, c = sympy.sin(angle), sympy.cos(angle)
    out = sympy.eye(3)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    out[i, i] = out[j, j] = c
    out[i, j], out[j, i] = -s, s
    return out


def projection(R: sympy.Matrix, p: sympy.Matrix, q) -> sympy.Matrix:
    """P (6, n): angular and linear velocity in the frame's own axes per coordinate."""
    columns = []
    for coordinate in q:
        turn, move = R.T * R.diff(coordinate), R.T * p.diff(coordinate)
        columns.append(sympy.Matrix([turn[2, 1], turn[0, 2], turn[1, 0], *move]))
    return sympy.Matrix.hstack(*columns)


def rate(P: sympy.Matrix, q, v) -> sympy.Matrix:
    """dP/dt by the chain rule."""
    out = sympy.zeros(*P.shape)
    for coordinate, speed in zip(q, v):
        out += P.diff(coordinate) * speed
    return out


def linearised(P: sympy.Matrix, elastic) -> sympy.Matrix:
    """Value and first-order part in the elastic symbols."""
    small = sympy.Symbol('small')
    scaled = P.xreplace({x: small * x for x in elastic})
    return (scaled.xreplace({small: sympy.Integer(0)})
            + scaled.diff(small).xreplace({small: sympy.Integer(0)}))


def main() -> None:
    model = Model(load_robot('cibicik_arm_paper'), 'linear')
    q = sympy.symbols(f'q1:{model.n + 1}', real=True)
    v = sympy.symbols(f'v1:{model.n + 1}', real=True)
    elastic = [*q[model.n_joints:], *v[model.n_joints:]]
    start = time.process_time()
    for number, (R, p) in enumerate(frames(model)):
        P = projection(R, p, q)
        linearised(P, elastic)
        print(f'frame {number} P {time.process_time() - start:.1f}', flush=True)
        linearised(rate(P, q, v), elastic)
        print(f'frame {number} rate {time.process_time() - start:.1f}', flush=True)
    print(f'done {time.process_time() - start:.1f}', flush=True)


if __name__ == '__main__':
    main()
