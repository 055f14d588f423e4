"""The joint motion that a deflected arm needs: equilibria, compensation, softened steps."""
from flex_control.reference.cartesian_line import CartesianLine
from flex_control.reference.deflected_reference import DeflectedReference
from flex_control.reference.inverse_kinematics import InverseKinematics
from flex_control.reference.soft_steps import SoftSteps
from flex_control.reference.static_load import StaticLoad
from flex_control.reference.tip_compensation import TipCompensation

__all__ = ['CartesianLine', 'DeflectedReference', 'InverseKinematics', 'SoftSteps', 'StaticLoad',
           'TipCompensation']
