"""Estimates of what no sensor measures directly: elastic coordinates, speeds, external forces."""
from flex_control.estimators.filter_model import FilterModel, FilterNoise, filter_model
from flex_control.estimators.flexible_state import FlexibleStateFilter
from flex_control.estimators.kalman import KalmanFilter
from flex_control.estimators.measurements import Measurements

__all__ = ['FilterModel', 'FilterNoise', 'FlexibleStateFilter', 'KalmanFilter', 'Measurements',
           'filter_model']
