"""Let a flexible link with an eccentric tool swing, and watch its energy stay."""
from flex_description import load_robot
from flex_dynamics import Model, simulate

model = Model(load_robot('piedboeuf_arm'))
start, _ = model.statics([-0.6])
run = simulate(model, duration=5.0, q=start, output_step=0.5)
for time, q, v in zip(run.time, run.q, run.v, strict=True):
    kinetic, strain, gravity = model.energy(q, v)
    print(f'{time:4.1f} s  joint {q[0]:+.3f} rad  kinetic {kinetic:.4f}  strain {strain:.4f}  '
          f'gravity {gravity:+.4f}  total {kinetic + strain + gravity:+.6f} J')
