"""Train a reach of a flexible link by augmented random search: a linear policy, in numpy."""
import numpy as np

from flex_study.environments import Fleet, Reach

SEED, DIRECTIONS, BEST, UPDATES = 1, 12, 6, 25
NOISE, RATE = 0.3, 0.5
fleet = Fleet('lab_link', Reach(0.6, way=0.6), 2 * DIRECTIONS, step=2e-3, period=0.04)
joints = fleet.model.n_joints


def rewards(policies, seeds):
    """Mean rewards (count,) of policies (count, joints, features), each in its own episode."""
    seen = fleet.reset(range(fleet.count), [np.random.default_rng(seed) for seed in seeds])
    total = np.zeros(fleet.count)
    for _ in range(fleet.steps):
        step = fleet.step(np.einsum('kji,ki->kj', policies, features(seen)))
        seen, total = step.observations, total + step.rewards
    return total / fleet.steps


def features(seen):
    """Set-point, strains, gyro and goal; a policy does not need to see gravity."""
    keep = [k for k, name in enumerate(fleet.names) if name.startswith(
        ('set-point', 'strain', 'gyro', 'goal'))]
    return seen[:, keep]


def test(policy):
    """Mean reward in episodes that training has not seen."""
    return rewards(np.repeat(policy[None], fleet.count, axis=0), range(900, 900 + fleet.count))


random = np.random.default_rng(SEED)
policy = np.zeros((joints, features(np.zeros((1, len(fleet.names)))).shape[1]))
before = test(policy).mean()
for update in range(UPDATES):
    tries = random.standard_normal((DIRECTIONS, *policy.shape))
    seeds = np.tile(1000 * (update + 1) + np.arange(DIRECTIONS), 2)
    got = rewards(np.concatenate((policy + NOISE * tries, policy - NOISE * tries)), seeds)
    plus, minus = np.split(got, 2)
    best = np.argsort(np.maximum(plus, minus))[-BEST:]
    spread = np.concatenate((plus[best], minus[best])).std()
    policy += RATE / (BEST * spread) * np.einsum('k,kji->ji', (plus - minus)[best], tries[best])
after = test(policy).mean()
print(f'mean distance of the tip from its goal: {-1e3 * before:.1f} mm untrained, '
      f'{-1e3 * after:.1f} mm after {UPDATES} updates')
