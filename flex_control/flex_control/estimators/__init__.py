"""Estimates of what no sensor measures directly: elastic coordinates, speeds, external forces."""
from flex_control.estimators.filter_model import FilterModel, FilterNoise, filter_model
from flex_control.estimators.flexible_state import FlexibleStateFilter
from flex_control.estimators.kalman import KalmanFilter
from flex_control.estimators.measurements import Measurements
from flex_control.estimators.state_observer import Estimate, StateObserver

__all__ = ['Estimate', 'FilterModel', 'FilterNoise', 'FlexibleStateFilter', 'KalmanFilter',
           'Measurements', 'StateObserver', 'filter_model']
