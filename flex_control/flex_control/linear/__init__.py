"""Linear models of a robot about rest, sampled, and what is designed from them.

What takes longer than an update of a controller is a generator that yields between its pieces
(each some tens of microseconds) and returns its result: `finish` runs it to its end, `Job` runs
one piece a call. So a design goes on beside control without threads, the same in every run.
"""
from flex_control.linear.job import Job, finish
from flex_control.linear.rank_tests import unobservable, unreachable
from flex_control.linear.rest_model import RestModel, rest_model
from flex_control.linear.riccati import riccati
from flex_control.linear.sampling import exponential_and_gramian

__all__ = ['Job', 'RestModel', 'exponential_and_gramian', 'finish', 'rest_model', 'riccati',
           'unobservable', 'unreachable']
