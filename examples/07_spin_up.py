"""A beam spun up about its root: order 'second' bends back and returns, order 'first' diverges."""
import numpy as np

from flex_description import load_robot
from flex_dynamics import DynamicsError, Model, Servo, simulate


def hub(t: float) -> np.ndarray:
    """Angle of the root: to 6 rad/s in 15 s."""
    turn = 2 * np.pi / 15.0
    early = 0.4 * (t**2 / 2 + (np.cos(turn * t) - 1) / turn**2)
    return np.array([early if t < 15.0 else 6 * t - 45.0])


for order in ('second', 'first'):
    model = Model(load_robot('spin_up_beam'), order)
    try:
        run = simulate(model, 20.0, servo=Servo(np.array([1e9]), np.array([1e5]), hub), step=4e-3)
    except DynamicsError as error:
        print(f'{order}: {error}')
        continue
    tip = run.q[:, 1:] @ model.beam('beam').flexible.bend_y(np.array([10.0]))[:, 0]
    print(f'{order}: furthest behind {tip.min():.3g} m at {run.time[np.argmin(tip)]:.2f} s, '
          f'within {1e3 * np.abs(tip[run.time > 15]).max():.3g} mm after 15 s')
