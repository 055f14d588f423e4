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
"""Physical parameters of a model by path, such as `link2.bending_stiffness_y` or `payload.mass`.

| path | what it is |
|---|---|
| `LINK.bending_stiffness_y` | E Iy, N m2, at the root of the beam; resists deflection along z |
| `LINK.bending_stiffness_z` | E Iz, N m2, at the root of the beam; resists deflection along y |
| `LINK.twist_stiffness` | G J, N m2, at the root of the beam |
| `LINK.mass_per_length` | rho A, kg/m, at the root; rotary inertia goes with it |
| `LINK.damping` | modal damping ratio of the first mode that has one; the others in proportion |
| `LINK.mass` | kg, of a rigid link; its inertia tensor goes with it |
| `JOINT.stiffness` | N m/rad or N/m, of an elastic joint, on the link's side |
| `JOINT.damping` | N m s/rad or N s/m: of an elastic joint's spring, else viscous friction |
| `JOINT.friction` | N m or N, Coulomb friction |
| `JOINT.motor_inertia` | kg m2, of the rotor on the motor's side |
| `PAYLOAD.mass` | kg, of what `with_payload` has attached; its tensor goes with it |
| `PAYLOAD.centre_x`, `_y`, `_z` | m, its centre in its frame |
| `PAYLOAD.inertia_xx`, `_yy`, `_zz`, `_xy`, `_xz`, `_yz` | kg m2, its tensor about its centre |
| `gravity.x`, `.y`, `.z` | m/s2 in the root's frame |

A beam that is not uniform keeps its distribution: all of it has the factor that the root has. Mode
shapes are shared between the models; so are their integrals, but for those of a changed mass.
"""
from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flex_description import FlexibleLink, Joint, Link, Robot, ScaledProperties
from flex_dynamics import checks
from flex_dynamics.arrays import Array
from flex_dynamics.build.assemble import ORDERS, AttachedPayload
from flex_dynamics.errors import DynamicsError
from flex_dynamics.model.composition import recomposed, reloaded
from flex_dynamics.model.model import MODEL_ADVICE, Model
from flex_dynamics.papers.eigenvectors import inertia_fault

# Of a tensor, by axes
MOMENTS = (('x', 'x'), ('y', 'y'), ('z', 'z'), ('x', 'y'), ('x', 'z'), ('y', 'z'))
POSITIVE, NOT_NEGATIVE, ANY = 'a positive number', 'zero or a positive number', 'a number'


@dataclass(frozen=True)
class ModelParameter:
    """A parameter of one model: its path, its value there, its unit and which values it takes."""

    path: str
    value: float
    unit: str
    allowed: str = POSITIVE

    def check(self, value: object) -> float:
        """value as a float that the parameter takes; DynamicsError if it does not."""
        expected = f'{self.allowed} in {self.unit or "no unit"}'
        found = checks.number(value, self.path, expected)
        if (self.allowed == POSITIVE and found <= 0.0) or (
                self.allowed == NOT_NEGATIVE and found < 0.0):
            raise DynamicsError(f'{self.path}: expected {expected}, found {found:g}')
        return found


def model_parameters(model: Model) -> dict[str, ModelParameter]:
    """All parameters of a model by path, in the order of its links, joints and payloads."""
    checks.instance(model, 'model', Model, MODEL_ADVICE)
    found: dict[str, ModelParameter] = {}

    def add(path: str, value: float, unit: str, allowed: str = POSITIVE) -> None:
        # Two owners of one name: a path that could mean either is none.
        if path in found:
            ambiguous.add(path)
        found[path] = ModelParameter(path, float(value), unit, allowed)

    ambiguous: set[str] = set()
    for link in model.robot.links:
        if link.flexible is not None:
            at = link.flexible.properties(np.zeros(1))
            add(f'{link.name}.bending_stiffness_y', at.bending_stiffness_y[0], 'N m2')
            add(f'{link.name}.bending_stiffness_z', at.bending_stiffness_z[0], 'N m2')
            add(f'{link.name}.twist_stiffness', at.torsion_stiffness[0], 'N m2')
            add(f'{link.name}.mass_per_length', at.mass_per_length[0], 'kg/m')
            add(f'{link.name}.damping', link.flexible.damping.first_ratio, '', NOT_NEGATIVE)
        elif link.inertia is not None and link.inertia.mass > 0.0:
            add(f'{link.name}.mass', link.inertia.mass, 'kg')
    for joint in model.robot.joints:
        if joint.type not in ('revolute', 'continuous', 'prismatic'):
            continue
        turns = joint.type != 'prismatic'
        spring = joint.flexible
        if spring is not None:
            add(f'{joint.name}.stiffness', spring.stiffness, 'N m/rad' if turns else 'N/m')
            add(f'{joint.name}.motor_inertia', spring.motor_inertia, 'kg m2')
        elif joint.motor is not None:
            add(f'{joint.name}.motor_inertia', joint.motor.inertia, 'kg m2', NOT_NEGATIVE)
        add(f'{joint.name}.damping', joint.damping if spring is None else spring.damping,
            'N m s/rad' if turns else 'N s/m', NOT_NEGATIVE)
        add(f'{joint.name}.friction', joint.friction, 'N m' if turns else 'N', NOT_NEGATIVE)
    for name, payload in model.payloads.items():
        add(f'{name}.mass', payload.inertia.mass, 'kg')
        for axis, value in zip('xyz', payload.inertia.centre, strict=True):
            add(f'{name}.centre_{axis}', value, 'm', ANY)
        for one, two in MOMENTS:
            add(f'{name}.inertia_{one}{two}',
                payload.inertia.tensor['xyz'.index(one), 'xyz'.index(two)], 'kg m2',
                NOT_NEGATIVE if one == two else ANY)
    for axis, value in zip('xyz', model.gravity, strict=True):
        add(f'gravity.{axis}', value, 'm/s2', ANY)
    return {path: one for path, one in found.items() if path not in ambiguous}


def checked_path(path: object, known: Mapping[str, ModelParameter]) -> ModelParameter:
    """The parameter of this path; DynamicsError with the nearest name if there is none."""
    if isinstance(path, str) and path in known:
        return known[path]
    advice = checks.did_you_mean(str(path), known)
    if isinstance(path, str) and not advice and path.startswith('payload.'):
        advice = "; with_payload('payload', ...) attaches one first"
    raise DynamicsError(f'parameter {checks.shown(path)}: expected a path such as '
                        f'{next(iter(known))!r}{advice or "; model_parameters(model) lists all"}')


def with_parameters(model: Model, values: Mapping[str, float]) -> Model:
    """A model whose parameters have these values, by path (SI units).

    Equal to the model of a robot that was described so, with the shapes of this one. The text of
    the URDF in `model.robot` stays what it was.

    Examples
    --------
    >>> softer = with_parameters(model, {'link1.bending_stiffness_z': 2.0})
    >>> float(softer.robot.links[1].flexible.properties(np.zeros(1)).bending_stiffness_z[0])
    2.0
    """
    known = model_parameters(model)
    if not isinstance(values, Mapping):
        raise DynamicsError('parameters: expected values by path, such as '
                            f'{{{next(iter(known))!r}: 1.0}}, found {checks.shown(values)}')
    wanted: dict[str, dict[str, float]] = {}
    for path, value in values.items():
        number = checked_path(path, known).check(value)
        owner, _, what = str(path).rpartition('.')
        wanted.setdefault(owner, {})[what] = number
    if not wanted:
        return model
    found = recomposed_with(model, wanted)
    for name in set(wanted) & set(found.payloads):
        fault = inertia_fault(found.payloads[name].inertia.tensor)
        if fault:
            raise DynamicsError(f'parameters of payload {name}: {fault}')
    return found


def recomposed_with(model: Model, wanted: Mapping[str, Mapping[str, float]]) -> Model:
    """with_parameters, by owner and quantity; nothing is checked, so that inertias may be none
    that a body can have."""
    known = model_parameters(model)
    before = {path.rpartition('.')[::2]: one.value for path, one in known.items()}
    beams = dict(model.assembly.beams)
    links = tuple(_changed_link(link, wanted[link.name], before, beams)
                  if link.name in wanted else link for link in model.robot.links)
    joints = tuple(_changed_joint(joint, wanted[joint.name])
                   if joint.name in wanted else joint for joint in model.robot.joints)
    payloads = {name: _changed_payload(payload, wanted[name]) if name in wanted else payload
                for name, payload in model.payloads.items()}
    gravity = np.array(model.gravity)
    for axis, value in wanted.get('gravity', {}).items():
        gravity['xyz'.index(axis)] = value
    gravity.setflags(write=False)
    robot: Robot = replace(model.robot, links=links, joints=joints, gravity=gravity)
    if set(wanted) <= {'gravity', *model.payloads} and not set(wanted) & {
            *(one.name for one in links), *(one.name for one in joints)}:
        return reloaded(model, robot, payloads)       # dampings of beams know of neither
    return recomposed(model, robot, beams, payloads)


def _changed_link(link: Link, values: Mapping[str, float],
                  before: Mapping[tuple[str, str], float], beams: dict[Any, Any]) -> Link:
    # A joint may have the name of a link: what is not of the link is the joint's.
    if link.flexible is None:
        if link.inertia is None or 'mass' not in values:
            return link
        factor = values['mass'] / link.inertia.mass
        return replace(link, inertia=replace(link.inertia, mass=values['mass'],
                                             tensor=factor * link.inertia.tensor))

    def factor_of(what: str) -> float:
        return values[what] / before[link.name, what] if what in values else 1.0

    scaled = ScaledProperties(link.flexible.properties, factor_of('bending_stiffness_y'),
                              factor_of('bending_stiffness_z'), factor_of('twist_stiffness'),
                              factor_of('mass_per_length'))
    flexible = replace(link.flexible, properties=scaled)
    if 'damping' in values:
        flexible = replace(flexible, damping=flexible.damping.with_first_ratio(
            values['damping']))
    for key in [key for key in beams if key[0] == link.name]:
        if scaled.mass != 1.0:
            del beams[key]          # its integrals have the mass in them
        elif key[1] in ORDERS:      # others are of the shapes and the mass alone
            fields, packed, stiffness = beams[key]
            beams[key] = fields, packed, _scaled_stiffness(stiffness, flexible, scaled)
    return replace(link, flexible=flexible)


def _scaled_stiffness(stiffness: Array, flexible: FlexibleLink,
                      factors: ScaledProperties) -> Array:
    """K (m, m) of a beam: each kind of shape has one rigidity, and none couples two kinds."""
    roots = np.sqrt(np.repeat((factors.bending_z, factors.bending_y, factors.twist),
                              (flexible.bend_y.count, flexible.bend_z.count,
                               flexible.twist.count)))
    scaled: Array = roots[:, None] * stiffness * roots
    return scaled


def _changed_joint(joint: Joint, values: Mapping[str, float]) -> Joint:
    if joint.flexible is not None:
        spring = joint.flexible
        joint = replace(joint, flexible=replace(
            spring, stiffness=values.get('stiffness', spring.stiffness),
            damping=values.get('damping', spring.damping),
            motor_inertia=values.get('motor_inertia', spring.motor_inertia)))
    else:
        joint = replace(joint, damping=values.get('damping', joint.damping))
        if joint.motor is not None and 'motor_inertia' in values:
            joint = replace(joint, motor=replace(joint.motor, inertia=values['motor_inertia']))
    return replace(joint, friction=values.get('friction', joint.friction))


def _changed_payload(payload: AttachedPayload, values: Mapping[str, float]) -> AttachedPayload:
    inertia = payload.inertia
    mass = values.get('mass', inertia.mass)
    centre = np.array([values.get(f'centre_{axis}', now)
                       for axis, now in zip('xyz', inertia.centre, strict=True)])
    tensor = mass / inertia.mass * inertia.tensor
    for one, two in MOMENTS:
        i, j = 'xyz'.index(one), 'xyz'.index(two)
        tensor[i, j] = tensor[j, i] = values.get(f'inertia_{one}{two}', tensor[i, j])
    return replace(payload, inertia=replace(inertia, mass=mass, centre=centre, tensor=tensor))
