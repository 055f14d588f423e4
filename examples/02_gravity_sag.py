"""How far the links of the 4-joint arm sag, and what its motors hold, with and without a load."""
import numpy as np

from flex_description import load_robot
from flex_dynamics import Model, Wrench

model = Model(load_robot('cibicik_arm'))
pull = Wrench('tool', np.array([0.0, 0.0, -50.0]))
for title, loads in (('alone', []), ('with 50 N', [pull])):
    q, effort = model.statics([0.0, np.pi / 3, np.pi / 3, np.pi / 3], loads)
    for link, length in (('link2', 2.0), ('link3', 1.8)):
        root, tip = model.pose(q, link), model.pose(q, link, length)
        sag = np.linalg.norm(tip[:3, 3] - root[:3, 3] - length * root[:3, 0])
        print(f'{title:10} {link}: sags {1e3 * sag:.2f} mm')
    print(f'{title:10} efforts', ', '.join(f'{value:.2f}' for value in effort), 'N m')
