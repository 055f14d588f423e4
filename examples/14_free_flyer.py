"""A free-flying servicer holds its attitude by reaction wheels while its flexible arm moves."""
import numpy as np

from flex_control import MinimumJerk, make_controller, run_trial
from flex_description import load_robot
from flex_dynamics import Model

model = Model(load_robot('free_flyer'))
start = np.r_[np.zeros(9), 0.3, 0.5, -1.0]       # base, wheels, joints of the arm
end = np.r_[np.zeros(9), -0.2, 0.9, -0.6]
move = MinimumJerk(start, end, 16.0, start=0.5)
for name in ('pid', 'attitude'):
    run = run_trial(make_controller(name, model), move, 18.0, period=1e-2, step=5e-3,
                    tip='payload')
    turned = 1e3 * np.linalg.norm(run.q[:, 3:6], axis=1)
    print(f'{name}: the base turns by {turned.max():.3f} mrad at most, wheels reach '
          f'{np.abs(run.v[:, 6:9]).max():.0f} rad/s')
