"""A flexible arm, held by LQG with encoders, gauges and an IMU, is pushed for a moment."""
import numpy as np

from flex_control import LQG, Noise, SetPoints, run_trial
from flex_description import load_robot
from flex_dynamics import Model, Wrench

model = Model(load_robot('cibicik_arm'))
push = [Wrench('tool', force=np.array([0.0, 20.0, 0.0]))]
controller = LQG(model, {'strain': 2e-6})
run = run_trial(controller, SetPoints([0.0], [[0.0, 0.5, 1.0, 0.5]]), 1.0, step=1e-3,
                loads=lambda time: push if 0.1 < time < 0.2 else None,
                noise=Noise(1e-5, 1e-2, 2e-6, 2e-3, 5e-2))
error = 1e3 * np.linalg.norm(run.tip - run.tip[0], axis=1)
print(f'pushed by 20 N for 0.1 s: largest error {error.max():.2f} mm, left {error[-1]:.2f} mm')
print('estimated push at the end, N:', controller.estimator.push.round(1))
