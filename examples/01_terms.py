"""Every term of M a + C v + D v + K q + g = B tau, and that they add up."""
import numpy as np

from flex_description import load_robot
from flex_dynamics import Model

model = Model(load_robot('flexible_tree'))
rng = np.random.default_rng(0)
q, v = 0.02 * rng.normal(size=(2, model.n))
tau = np.ones(model.n_joints)
a = model.forward_dynamics(q, v, tau)
M, C, K, D, g, B = model.terms(q, v)
left = M @ a + C @ v + D @ v + K @ q + g
print(model.n, 'coordinates:', ', '.join(model.names[:5]), '...')
print(f'largest term {np.abs(M @ a).max():.3g}, left over {np.abs(left - B @ tau).max():.1e}')
