"""Let an agent learn a congestion control, and set it beside NewReno on fresh seeds.

    python examples/gym_congestion.py [ROUNDS]

The cross-entropy method (Rubinstein and Kroese, 2004) over a linear policy: draw policies, keep the best
quarter, fit the next draw to them. Plain numpy; less than a minute.
"""

import sys

import gymnasium
import numpy as np

import cogtcp.gym  # noqa: F401 (registers the environment)
from cogtcp import Scenario, run
from cogtcp.statistics import mean_interval, paired_difference

SCENARIO = Scenario.shipped("sensed-link").set("run.duration", "20 s").set("run.warmup", "0 s")
DRAWN, KEPT = 16, 4
TRAINING = range(1, 4)
FRESH = range(101, 111)


def episode(env: gymnasium.Env, weights: np.ndarray, run_seed: int) -> tuple[float, float]:
    """Return the sum of rewards per second, and the goodput, of one run."""
    seen, info = env.reset(seed=0, options={"run_seed": run_seed})
    total, before, done = 0.0, 0.0, False
    while not done:
        action = np.tanh(weights[:-1] @ seen + weights[-1])
        seen, reward, _, done, info = env.step(np.array([action], np.float32))
        total += reward * (info["time_s"] - before)
        before = info["time_s"]
    return total / info["time_s"], info["goodput_bps"]


def learn(env: gymnasium.Env, rounds: int) -> np.ndarray:
    """Return the weights of the policy."""
    draw = np.random.default_rng(1)
    size = env.observation_space.shape[0] + 1
    mean, spread = np.zeros(size), np.ones(size)
    for number in range(rounds):
        drawn = mean + spread * draw.standard_normal((DRAWN, size))
        scores = [np.mean([episode(env, weights, seed)[0] for seed in TRAINING]) for weights in drawn]
        best = drawn[np.argsort(scores)[-KEPT:]]
        mean, spread = best.mean(0), best.std(0) + 0.3 * 0.7**number
        print(f"round {number + 1}: mean reward {np.mean(scores):.3f}, best {max(scores):.3f}")
    return mean


def main() -> None:
    """Learn, then compare."""
    env = gymnasium.make("cogtcp/Congestion-v0", scenario=SCENARIO)
    weights = learn(env, int(sys.argv[1]) if len(sys.argv) > 1 else 12)
    agent = [episode(env, weights, seed)[1] / 1e6 for seed in FRESH]
    newreno = [
        run(SCENARIO.with_transport("newreno"), seed, "summary").metrics["goodput_bps"] / 1e6
        for seed in FRESH
    ]
    for name, values in (("agent", agent), ("newreno", newreno)):
        found = mean_interval(values)
        print(f"{name}: {found.mean:.2f} Mbit/s (95 % interval {found.low:.2f} to {found.high:.2f})")
    apart = paired_difference(agent, newreno)
    print(
        f"agent - newreno: {apart.mean:+.2f} Mbit/s ({apart.low:+.2f} to {apart.high:+.2f}), "
        f"{len(FRESH)} fresh seeds"
    )


if __name__ == "__main__":
    main()
