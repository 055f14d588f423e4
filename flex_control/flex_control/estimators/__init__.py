"""What sensors do not say, from what they do: elastic coordinates, speeds, pushes."""
from flex_control.estimators.filter_model import FilterModel, FilterNoise, filter_model
from flex_control.estimators.flexible_state import FlexibleStateFilter
from flex_control.estimators.kalman import KalmanFilter

__all__ = ['FilterModel', 'FilterNoise', 'FlexibleStateFilter', 'KalmanFilter', 'filter_model']
