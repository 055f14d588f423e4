"""Frequencies of the 4-joint arm with joints free, locked, and held by a servo."""
import numpy as np

from flex_description import load_robot
from flex_dynamics import Model

model = Model(load_robot('cibicik_arm'))
q = np.zeros(model.n)
q[:4] = 0.0, np.pi / 6, 2 * np.pi / 3, np.pi / 6
springs = np.array([4000.0, 12000.0, 6000.0, 400.0])
for title, (rates, _) in (('free', model.frequencies(q)),
                          ('locked', model.frequencies(q, 'locked')),
                          ('held', model.frequencies(q, joint_stiffness=springs))):
    print(f'{title:7}', '  '.join(f'{hz:.2f}' for hz in rates[:8] / (2 * np.pi)), 'Hz')
