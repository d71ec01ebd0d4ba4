"""Environments: what gymnasium asks of them, and that they are runs like others."""

import itertools
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import cogtcp.gym
from cogtcp import Scenario, UsageError
from conftest import ROOT

SHORT = Scenario.shipped("sensed-link").set("run.duration", "5 s").set("run.warmup", "0 s")


def make() -> gymnasium.Env:
    return gymnasium.make("cogtcp/Congestion-v0", scenario=SHORT)


def play(env: gymnasium.Env, seed: int, action: float) -> list[tuple[float, float, float]]:
    env.reset(seed=seed)
    steps, over = [], False
    while not over:
        _, reward, ended, over, info = env.step(np.array([action], np.float32))
        assert not ended
        steps.append((info["time_s"], float(reward), info["goodput_bps"]))
    return steps


def test_gymnasium_finds_nothing_wrong() -> None:
    check_env(make().unwrapped, skip_render_check=True)


def test_the_same_seed_and_actions_give_the_same_run() -> None:
    one, other = play(make(), 3, 0.1), play(make(), 3, 0.1)
    assert one == other
    assert one[-1][0] == 5.0
    assert all(before[0] < after[0] for before, after in itertools.pairwise(one))


def test_the_window_is_the_agents() -> None:
    # Ten segments of 1,000 bytes in a round trip of 0.1 s are 0.8 Mbit/s; of one the receiver delays the ACK.
    small, kept = play(make(), 1, -1.0)[-1][2], play(make(), 1, 0.0)[-1][2]
    assert 0.6e6 < kept <= 0.8e6
    assert 0 < small < kept / 8


def test_environments_are_vectors_without_threads() -> None:
    import threading

    before = threading.active_count()
    envs = gymnasium.make_vec("cogtcp/Congestion-v0", num_envs=8, vectorization_mode="sync", scenario=SHORT)
    envs.reset(seed=5)
    for _ in range(20):
        seen, _, _, _, _ = envs.step(np.zeros((8, 1), np.float32))
    assert seen.shape == (8, len(cogtcp.gym.congestion.SEEN))
    assert threading.active_count() == before


def test_what_makes_no_sense_is_refused() -> None:
    with pytest.raises(UsageError, match="no flow 9"):
        cogtcp.gym.Congestion(SHORT, flow=9)
    with pytest.raises(UsageError, match="call reset"):
        cogtcp.gym.Congestion(SHORT).step(np.zeros(1, np.float32))


def test_the_example_learns_something() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "examples/gym_congestion.py", "2"], capture_output=True, text=True, check=True
    )
    assert "agent - newreno: " in done.stdout
