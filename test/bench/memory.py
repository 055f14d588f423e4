"""Memory: the step kernel allocates nothing, and an hour of simulated time leaves it as it was."""
from __future__ import annotations

import tracemalloc

import numpy as np
from numba.core.runtime import _nrt_python, rtsys
from report import Report, Row

from flex_description import load_robot
from flex_dynamics import Model
from flex_dynamics.simulation.simulation import Simulation

SECTION = 'Memory'
HOUR_ROBOT = 'lab_link'
STEP = 0.002          # s
STEPS = 2000
GROWTH_LIMIT = 1.0    # MB, the grain of what the system says


def measure(report: Report) -> None:
    simulation = _swinging('cibicik_arm', 0.001)
    # A call takes blocks of its own (arrays handed over, counts that are not small integers), the
    # same for some steps as for twice as many.
    blocks, peak = (more - some for more, some in zip(_allocations(simulation, 2 * STEPS),
                                                      _allocations(simulation, STEPS)))
    report.add(SECTION, Row(f'blocks that {STEPS} steps allocate in the kernel', f'{blocks}', '0',
                            blocks == 0))
    report.add(SECTION, Row(f'Python memory that {STEPS} steps allocate', f'{peak} bytes', '0',
                            peak == 0))

    simulation = _swinging(HOUR_ROBOT, STEP)
    _run(simulation, 60.0)
    before = _resident()
    _run(simulation, 3600.0)
    growth = _resident() - before
    report.add(SECTION, Row(f'growth over a simulated hour, {HOUR_ROBOT}', f'{growth:.2f} MB',
                            f'below {GROWTH_LIMIT:g} MB', growth < GROWTH_LIMIT))


def _swinging(name: str, step: float) -> Simulation:
    model = Model(load_robot(name))
    start = np.zeros(model.n)
    start[:model.n_joints] = 0.3
    simulation = Simulation(model, step, q=start)
    simulation.set_servo(np.full(model.n_joints, 50.0), np.full(model.n_joints, 0.0),
                         np.zeros(model.n_joints))
    simulation.advance(10)
    return simulation


def _allocations(simulation: Simulation, steps: int) -> tuple[int, int]:
    """Blocks that numba's runtime allocated, and the peak of Python's own memory in bytes."""
    _nrt_python.memsys_enable_stats()
    tracemalloc.start()
    before = rtsys.get_allocation_stats()
    tracemalloc.reset_peak()
    start = tracemalloc.get_traced_memory()[0]
    simulation.advance(steps)
    peak = tracemalloc.get_traced_memory()[1] - start
    after = rtsys.get_allocation_stats()
    tracemalloc.stop()
    return after.alloc - before.alloc, peak


def _run(simulation: Simulation, duration: float) -> None:
    """Advance by `duration` s, 1 s a call, with a line every ten minutes of simulated time."""
    for second in range(round(duration)):
        simulation.advance(round(1.0 / simulation.step))
        if (second + 1) % 600 == 0:
            print(f'  {(second + 1) // 60} simulated minutes', flush=True)


def _resident() -> float:
    """Resident memory of this process, MB."""
    with open('/proc/self/status') as status:
        line = next(line for line in status if line.startswith('VmRSS'))
    return float(line.split()[1]) / 1024
