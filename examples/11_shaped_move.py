"""A flexible arm turns by 45 degrees in a second, and its tip is at rest when it arrives."""
import numpy as np

from flex_control import ComputedTorque, MinimumJerk, Shaped, Shaper, run_trial
from flex_description import load_robot
from flex_dynamics import Model

model = Model(load_robot('cibicik_arm'))
here, there = [0.0, 1.0, 1.0, 1.0], [np.pi / 4, 1.0, 1.0, 1.0]
shaper = Shaper(model, 'zvd')
for name, motion in (('plain', MinimumJerk(here, there, 1.0)),
                     ('shaped', Shaped(MinimumJerk(here, there, 0.63), shaper))):
    run = run_trial(ComputedTorque(model), motion, motion.end + 0.6, step=1e-3)
    left = 1e3 * run.vibration(motion.end + 0.1, motion.end + 0.6)
    print(f'{name}: arrives after {motion.end:.2f} s, leaves {left:.2f} mm')
