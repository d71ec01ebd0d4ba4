"""Let an agent learn how long a CR user should sense and transmit; fixed times beside it, on fresh seeds.

    python examples/gym_sensing.py [ROUNDS]

The single hop of Di Felice et al. (MSWiM 2009). The cross-entropy method (Rubinstein and Kroese, 2004) over a
linear policy: draw policies, keep the best quarter, fit the next draw to them. Beside it: the best fixed pair
of a grid, chosen on the seeds of training, and the pair of the paper's Figure 2. Plain numpy; half a minute.
"""

import sys
from collections.abc import Callable

import gymnasium
import numpy as np

import cogtcp.gym  # noqa: F401 (registers the environment)
from cogtcp import Scenario
from cogtcp.statistics import mean_interval, paired_difference

SCENARIO = Scenario.shipped("cr-single-hop").set("run.duration", "60 s")
DRAWN, KEPT = 24, 6
TRAINING = range(1, 7)
FRESH = range(1001, 1041)
SENSING_S = (0.01, 0.02, 0.035, 0.05, 0.07, 0.1, 0.14, 0.2, 0.3)
TRANSMISSION_S = (0.2, 0.3, 0.45, 0.65, 1.0, 1.5, 2.0)
PAPER = (0.2, 1.0)

Policy = Callable[[np.ndarray], np.ndarray]


def episode(env: gymnasium.Env, policy: Policy, run_seed: int) -> np.ndarray:
    """Return the reward per second, the goodput in Mbit/s and the share of time interfering, of one run."""
    seen, info = env.reset(seed=0, options={"run_seed": run_seed})
    total, done = 0.0, False
    while not done:
        seen, reward, _, done, info = env.step(policy(seen))
        total += reward
    time_s = info["time_s"]
    return np.array([total / time_s, info["goodput_bps"] / 1e6, info["interfered_s"] / time_s])


def linear(weights: np.ndarray) -> Policy:
    """Return the policy of a matrix: a row for each time, the last column alone."""
    return lambda seen: np.tanh(weights[:, :-1] @ seen + weights[:, -1]).astype(np.float32)


def fixed(env: gymnasium.Env, sensing_s: float, transmission_s: float) -> Policy:
    """Return the policy that always takes these times."""
    action = env.unwrapped.action_for(sensing_time=sensing_s, transmission_time=transmission_s)
    return lambda seen: action


def reward(env: gymnasium.Env, policy: Policy, seeds: range) -> float:
    """Return the mean reward per second."""
    return float(np.mean([episode(env, policy, seed)[0] for seed in seeds]))


def learn(env: gymnasium.Env, rounds: int) -> Policy:
    """Return the policy that was learnt."""
    draw = np.random.default_rng(1)
    shape = (env.action_space.shape[0], env.observation_space.shape[0] + 1)
    mean, spread = np.zeros(shape), np.full(shape, 0.5)
    for number in range(rounds):
        drawn = mean + spread * draw.standard_normal((DRAWN, *shape))
        scores = [reward(env, linear(weights), TRAINING) for weights in drawn]
        best = drawn[np.argsort(scores)[-KEPT:]]
        mean, spread = best.mean(0), best.std(0) + 0.1 * 0.8**number
        print(f"round {number + 1}: mean reward {np.mean(scores):.3f}, best {max(scores):.3f}")
    return linear(mean)


def main() -> None:
    """Learn, then compare."""
    env = gymnasium.make("cogtcp/Sensing-v0", scenario=SCENARIO, disable_env_checker=True)
    agent = learn(env, int(sys.argv[1]) if len(sys.argv) > 1 else 16)
    grid = [(sensing, transmission) for sensing in SENSING_S for transmission in TRANSMISSION_S]
    best = max(grid, key=lambda pair: reward(env, fixed(env, *pair), TRAINING))
    named = {
        "agent": agent,
        f"best fixed ({best[0]:g} s, {best[1]:g} s)": fixed(env, *best),
        f"the paper's ({PAPER[0]:g} s, {PAPER[1]:g} s)": fixed(env, *PAPER),
    }
    print(f"{len(FRESH)} fresh seeds: reward (95 % interval), goodput, share of the time interfering")
    rewards = {}
    for name, policy in named.items():
        found = np.array([episode(env, policy, seed) for seed in FRESH])
        rewards[name] = found[:, 0].tolist()
        mean = mean_interval(rewards[name])
        print(
            f"{name}: {mean.mean:.3f} ({mean.low:.3f} to {mean.high:.3f}), {found[:, 1].mean():.3f} Mbit/s, "
            f"{found[:, 2].mean() * 100:.2f} %"
        )
    for name in list(named)[1:]:
        apart = paired_difference(rewards["agent"], rewards[name])
        print(f"agent - {name}: {apart.mean:+.3f} ({apart.low:+.3f} to {apart.high:+.3f})")


if __name__ == "__main__":
    main()
