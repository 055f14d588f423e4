"""Symbolic equations of a rigid-flexible-rigid arm: one element, C code, zeros."""
from flex_description import load_robot
from flex_dynamics.symbolic import derive, zero_dynamics

equations = derive(load_robot('lin_lewis_rfr'), method='lagrange')
print('\n'.join(f'{symbol}: {name}' for symbol, name in zip(equations.q, equations.names)))
print('M22 =', equations.simplify(2.0).M[1, 1])
print(len(equations.text('c').splitlines()), 'lines of C')
for output in ('joints', 'tip'):
    print(zero_dynamics(equations.model, output, q=[0.0, 1.0, 1.0]))
