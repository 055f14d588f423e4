"""A flexible arm, held by LQR with joint efforts alone, is pushed, and comes back."""
import numpy as np

from flex_control import LQR, SetPoints, run_trial
from flex_description import load_robot
from flex_dynamics import Model, Wrench

model = Model(load_robot('cibicik_arm'))
push = [Wrench('tool', force=np.array([0.0, 20.0, 0.0]))]
controller = LQR(model, {'tip_error': 3.0})      # mm
run = run_trial(controller, SetPoints([0.0], [[0.0, 0.5, 1.0, 0.5]]), 1.0, step=1e-3,
                loads=lambda time: push if time > 0.1 else None)
error = 1e3 * np.linalg.norm(run.tip - run.tip[0], axis=1)
print(f'pushed by 20 N for good: largest error {error.max():.2f} mm, left {error[-1]:.2f} mm')
