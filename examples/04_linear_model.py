"""The linear model of a flexible link about rest: poles and damping ratios."""
import numpy as np

from flex_description import load_robot
from flex_dynamics import Model

model = Model(load_robot('lab_link'))
q, effort = model.statics([0.0])
A, B = model.linearize(q, np.zeros(model.n), effort)
for pole in sorted(np.linalg.eigvals(A), key=abs):
    if pole.imag > 0.0:
        print(f'{abs(pole) / (2 * np.pi):8.3f} Hz, damping ratio {-pole.real / abs(pole):.4f}')
print('states and inputs:', A.shape, B.shape)
