"""Take a payload up and put it down while the simulation runs; modes stay as they are."""
import numpy as np

from flex_description import load_robot
from flex_dynamics import Model, Simulation

model = Model(load_robot('lab_link'))
simulation = Simulation(model)
simulation.set_servo([20.0], [4.0], [0.0])
loaded = model.with_payload('box', 'payload', 0.3)
for title, current in (('empty', model), ('carries 0.3 kg', loaded), ('empty again', model)):
    simulation.set_model(current)
    simulation.advance(1000)
    first = current.frequencies(simulation.q, 'locked')[0][0] / (2 * np.pi)
    print(f'{simulation.time:.0f} s  {title:15} first frequency {first:.3f} Hz, tip at height '
          f'{1e3 * current.pose(simulation.q, "payload")[2, 3]:+.2f} mm')
