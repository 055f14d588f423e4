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
"""Rotations, quaternions (x, y, z, w), Gauss quadrature and inertia tensors, in plain numpy.

Shared by all packages. Units are SI, angles rad; rotation matrices take coordinates of the inner
frame to the outer one.
"""
from flex_description.math.arrays import Array, ArrayLike
from flex_description.math.derivative import derivative
from flex_description.math.finite import all_finite, within
from flex_description.math.inertia import (
    inertia_tensor,
    is_possible,
    parallel_axes,
    principal_moments,
    rotated_tensor,
    without_negative_moments,
)
from flex_description.math.quadrature import gauss_legendre, gauss_stations
from flex_description.math.quaternions import (
    Quaternion,
    quaternion_from_rotation,
    quaternion_product,
    rotation_from_quaternion,
)
from flex_description.math.rotations import (
    exponential,
    logarithm,
    pose,
    rotation_from_rpy,
    rotation_with_x_along,
    rpy_from_rotation,
    skew,
    unskew,
)

__all__ = [
    'Array', 'ArrayLike', 'Quaternion', 'all_finite', 'derivative', 'exponential',
    'gauss_legendre', 'gauss_stations', 'inertia_tensor', 'is_possible', 'logarithm',
    'parallel_axes', 'pose', 'principal_moments', 'quaternion_from_rotation',
    'quaternion_product', 'rotated_tensor', 'rotation_from_quaternion', 'rotation_from_rpy',
    'rotation_with_x_along', 'rpy_from_rotation', 'skew', 'unskew', 'within',
    'without_negative_moments',
]
