"""A planar biped walks with given leg angles: trunk, moments and reactions are found."""
import numpy as np

from flex_dynamics.papers.biped_gait import Walk, steady_trunk, step
from flex_dynamics.papers.planar_biped import Biped, semi_inverse

biped, walk = Biped(), Walk()
path = step(biped, walk, steady_trunk(biped, walk), count=25)
print(f'{biped.mass:g} kg, steps of {walk.length} m in {walk.period:g} s')
print('   s  support  trunk rad   R1 x, z N       R2 x, z N       knees N m      hips N m')
for t, phase, q, found in zip(path.time[::2], path.phase[::2], path.q[::2], path.motion[::2]):
    (r1x, r1z), (r2x, r2z) = found.reaction
    print(f'{t:5.2f} {phase:>7s} {q[2]:8.3f} {r1x:9.1f} {r1z:6.1f} {r2x:8.1f} {r2z:6.1f}',
          *(f'{moment:7.1f}' for moment in (*found.knee, *found.hip)))
total = np.trapezoid([found.reaction[:, 1].sum() for found in path.motion], path.time)
print(f'mean vertical force {total / walk.period:.1f} N, weight '
      f'{biped.mass * biped.gravity:.1f} N')
air = semi_inverse(biped, 'swing', path.q[5], path.v[5], np.zeros(4))
print('in the air: hip falls with', round(float(air.acceleration[1]), 2), 'm/s2')
