"""Environments: what gymnasium asks of them, and that they are runs like others."""

import itertools
import re
import subprocess
import sys
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import cogtcp.gym
from cogtcp import Scenario, UsageError
from cogtcp.deciding.gym._runs import scenario_of
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


def test_a_scenario_is_given_itself_by_its_file_or_by_its_name() -> None:
    shipped = Scenario.shipped("sensed-link")
    for given in (shipped, "sensed-link", str(ROOT / "scenarios/sensed-link.toml")):
        assert gymnasium.make("cogtcp/Congestion-v0", scenario=given) is not None
        assert scenario_of(given).hash == shipped.hash


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
    with pytest.raises(UsageError, match="unknown flow 9"):
        cogtcp.gym.Congestion(SHORT, flow=9)
    with pytest.raises(UsageError, match="call reset"):
        cogtcp.gym.Congestion(SHORT).step(np.zeros(1, np.float32))


SENSED = Scenario.shipped("cr-single-hop").set("run.duration", "10 s")


def sensing(**given: object) -> gymnasium.Env:
    return gymnasium.make("cogtcp/Sensing-v0", **{"scenario": SENSED, **given})


def cycles(env: gymnasium.Env, seed: int, action: list[float]) -> list[tuple[list[float], float, dict]]:
    env.reset(seed=seed)
    steps, over = [], False
    while not over:
        seen, reward, ended, over, info = env.step(np.array(action, np.float32))
        assert not ended
        assert env.observation_space.contains(seen)
        steps.append((seen.tolist(), float(reward), info))
    return steps


@pytest.mark.parametrize("chooses", [("sensing_time", "transmission_time"), ("transmission_time",)])
def test_gymnasium_finds_nothing_wrong_with_sensing(chooses: tuple[str, ...]) -> None:
    check_env(sensing(chooses=chooses).unwrapped, skip_render_check=True)


def test_the_same_seed_and_actions_give_the_same_cycles() -> None:
    one, other = cycles(sensing(), 3, [0.1, -0.4]), cycles(sensing(), 3, [0.1, -0.4])
    assert one == other
    assert one[-1][2]["time_s"] == 10.0
    assert cycles(sensing(), 4, [0.1, -0.4]) != one
    times = [info["time_s"] for _, _, info in one]
    assert all(before < after for before, after in itertools.pairwise(times))


def test_the_times_are_the_agents() -> None:
    env = sensing(scenario=SENSED.set("spectrum.pu", "none").set("radio.cr.cr.detector", "perfect"))
    action = env.unwrapped.action_for(sensing_time=0.05, transmission_time=2.0)
    steps = cycles(env, 1, action.tolist())
    ends = [info["time_s"] for _, _, info in steps]
    # A nanosecond before each sensing, and at the end of the run.
    assert ends == pytest.approx([2.05, 4.1, 6.15, 8.2, 10.0], abs=1e-6)
    assert steps[0][2]["sensing_time_s"] == pytest.approx(0.05)
    # The other time stays as the scenario says: 0.2 s of sensing.
    one = cycles(sensing(scenario=SENSED, chooses=["transmission_time"]), 1, [0.0])
    assert {info["sensing_time_s"] for _, _, info in one} == {0.2}
    assert {round(info["transmission_time_s"], 6) for _, _, info in one} == {1.0}


def test_the_rewards_sum_to_goodput_less_interference() -> None:
    for weights in ({}, {"goodput_weight": 2.0, "interference_weight": 3.0}):
        steps = cycles(sensing(**weights), 7, [-0.5, 0.0])
        total, last = sum(reward for _, reward, _ in steps), steps[-1][2]
        worth, cost = weights.get("goodput_weight", 1.0), weights.get("interference_weight", 10.0)
        delivered = last["goodput_bps"] * last["time_s"] / 1e6
        assert total == pytest.approx(worth * delivered - cost * last["interfered_s"])
        assert delivered > 1
        assert last["interfered_s"] > 0


def test_the_agent_sees_reports_and_not_the_truth() -> None:
    """What a detector that errs reports is seen; which reports were wrong is not: never, and always."""
    blind = {"fixed": {"detection": 0.0, "false_alarm": 0.0}}
    alarmed = {"fixed": {"detection": 1.0, "false_alarm": 1.0}}
    for detector, report in ((blind, -1.0), (alarmed, 1.0)):
        scenario = SENSED.set("radio.cr.cr.detector", detector).set("run.duration", "3 s")
        steps = cycles(sensing(scenario=scenario), 1, [0.0, 0.0])
        # All but the last, which the end of the run may cut.
        assert {seen[0] for seen, _, _ in steps[:-1]} == {report}
        assert len(steps) > 2


def test_sensing_environments_are_vectors_without_threads() -> None:
    import threading

    before = threading.active_count()
    envs = gymnasium.make_vec("cogtcp/Sensing-v0", num_envs=6, vectorization_mode="sync", scenario=SENSED)
    first, _ = envs.reset(seed=5)
    assert first.shape == (6, len(cogtcp.gym.sensing.SEEN))
    for _ in range(20):
        seen, _, _, _, infos = envs.step(np.zeros((6, 2), np.float32))
    # Each has its own seed, so that their cycles fall apart.
    assert len(set(infos["time_s"])) > 1
    assert seen.shape == first.shape
    assert threading.active_count() == before


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"scenario": SHORT}, "no CR user"),
        ({"radio": "cf"}, "unknown CR user 'cf'; known: cr"),
        ({"flow": 1}, "unknown flow 1"),
        ({"chooses": ["sensing"]}, "unknown time to choose 'sensing'; did you mean 'sensing_time'"),
        ({"chooses": []}, "one or both of"),
        ({"sensing_times": (0.0, 1.0)}, "sensing_times: give the shortest"),
        ({"transmission_times": (2.0, 1.0)}, "transmission_times: give the shortest"),
    ],
)
def test_a_cycle_that_makes_no_sense_is_refused(given: dict, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        cogtcp.gym.Sensing(**{"scenario": SENSED, **given})


def numbers(line: str) -> tuple[str, list[float]]:
    """Split a line into its words and its numbers."""
    number = r"[+-]?\d+\.\d+"
    return re.sub(number, "#", line), [float(found) for found in re.findall(number, line)]


@pytest.mark.parametrize("name", ["gym_congestion", "gym_sensing"])
def test_the_examples_learn_what_the_docs_print(name: str) -> None:
    """The block below the example's name in docs/gym.md is what it prints, but for its rounds."""
    done = subprocess.run(
        [sys.executable, ROOT / f"examples/{name}.py"], capture_output=True, text=True, check=True
    )
    printed = [line for line in done.stdout.splitlines() if not line.startswith("round ")]
    docs = (ROOT / "docs/gym.md").read_text()
    block = docs[docs.index(f"examples/{name}.py") :].split("```\n")[1]
    assert [numbers(line)[0] for line in printed] == [numbers(line)[0] for line in block.splitlines()]
    for line, pinned in zip(printed, block.splitlines(), strict=True):
        # Processors round the last digit of a product differently, and learning carries that on.
        assert numbers(line)[1] == pytest.approx(numbers(pinned)[1], rel=0.05, abs=0.02), printed


def view(**given: float) -> SimpleNamespace:
    """Return an agent's view of a flow after half a second, with 20 segments of 1,000 B sent."""
    told = {"time_s": 0.5, "srtt_s": 0.1, "min_rtt_s": 0.1, "delivered": 0, "retransmitted": 0, "sent": 20}
    return SimpleNamespace(**{**told, "in_flight": 0, "timeouts": 0, "mss": 1000, **given})


def test_what_the_agent_sees_by_hand() -> None:
    env = cogtcp.gym.Congestion(SHORT)
    env._rate, env._segments = 8e6, 16.0

    def look(**given: float) -> tuple[list[float], float]:
        seen, reward = env._look(view(), view(time_s=0.6, **given))  # type: ignore[arg-type]
        return [round(float(each), 6) for each in seen], reward

    # Nothing happened: no queue, no rate, 16 segments (log2 is 4), none in flight, no loss, no timeout.
    assert look() == ([0.0, -1.0, 0.0, -1.0, 0.0, 0.0], 0.0)
    # In 0.1 s the link carries 100 kB: half of it arrived; 8 of 16 segments are in flight; the queue is half
    # of the round-trip time; 2 of 10 segments were retransmitted.
    seen, reward = look(delivered=50_000, in_flight=8_000, srtt_s=0.15, sent=30, retransmitted=2, timeouts=3)
    assert seen == [0.5, 0.0, 0.0, 0.0, 0.2, 3.0]
    assert reward == pytest.approx(0.5 - 0.1 * 0.5 - 0.5 * 0.2)
    # Cut off: a queue of four round-trip times, twice the window in flight.
    seen, _ = look(srtt_s=1.0, in_flight=64_000, timeouts=9, delivered=900_000)
    assert seen == [4.0, 4.0, 0.0, 3.0, 0.0, 4.0]
    assert look(min_rtt_s=0.0)[0][0] == 0.0
    assert look(srtt_s=0.05)[0][0] == 0.0, "never below the least"
    assert env._look(view(), view(delivered=50_000))[0][1] == -1.0, "no time has passed"  # type: ignore[arg-type]


def test_an_action_doubles_or_halves_the_window_within_its_bounds() -> None:
    env = cogtcp.gym.Congestion(SHORT)
    env.reset(seed=1)
    found = []
    for action in (1.0, 0.5, -1.0, 7.0, -9.0):
        env.step(np.array([action], np.float32))
        found.append(env._segments)
    assert found == pytest.approx([20, 20 * 2**0.5, 10 * 2**0.5, 20 * 2**0.5, 10 * 2**0.5])
    for action, end in ((1.0, 4096.0), (-1.0, 1.0)):
        env.reset(seed=1)
        env._segments = end
        env.step(np.array([action], np.float32))
        assert env._segments == end


def test_the_narrowest_link_is_that_of_the_scenario() -> None:
    assert cogtcp.gym.congestion._narrowest(
        SHORT.set("topology.single_hop.link.rate", "3 Mbit/s")
    ) == pytest.approx(3e6, rel=1e-3)


def report(**given: float) -> SimpleNamespace:
    """Return an agent's view of a CR user after a second, on a channel of 1 Mbit/s."""
    told: dict[str, float] = {
        "time_s": 1.0, "reported": 0, "busy_share": 0.0, "rate_bps": 1e6, "acked": 0, "exchanges": 10,
        "failed_exchanges": 0, "handoffs": 2, "timeouts": 1, "sensing_time_s": 0.01,
        "transmission_time_s": 1.0,
    }  # fmt: skip
    return SimpleNamespace(**{**told, **given})


def test_what_the_agent_of_sensing_sees_by_hand() -> None:
    env = cogtcp.gym.Sensing(SENSED, sensing_times=(0.001, 0.1), transmission_times=(0.1, 10.0))

    def look(**given: float) -> list[float]:
        return [round(float(each), 6) for each in env._look(report(), report(**given))]  # type: ignore[arg-type]

    # Nothing happened; both times are in the middle of their ranges, by ratio.
    assert look(time_s=2.0) == [-1, -1, 0, -1, 0, 0, 0, 0, 0]
    # In 1 s the channel carries 125 kB: half of it was acknowledged; 5 of 20 exchanges failed.
    found = look(
        time_s=2.0, reported=1, busy_share=0.75, acked=62_500, exchanges=30, failed_exchanges=5, handoffs=3,
        timeouts=4, sensing_time_s=0.1, transmission_time_s=0.1,
    )  # fmt: skip
    assert found == [1, 0.5, 0, 0, 0.25, 1, 3, 1, -1]
    assert look()[3] == -1, "no time has passed"
    assert look(time_s=2.0, timeouts=99, acked=10**6)[3::3] == [4, 4], "cut off"


def test_actions_are_times_by_ratio() -> None:
    env = cogtcp.gym.Sensing(SENSED, sensing_times=(0.001, 0.1), transmission_times=(0.1, 10.0))
    assert env.action_for(sensing_time=0.01, transmission_time=10.0) == pytest.approx([0.0, 1.0])
    assert env.action_for(sensing_time=0.001, transmission_time=1.0) == pytest.approx([-1.0, 0.0])
    env.reset(seed=1)
    for action, sensing, transmission in (((0.0, -1.0), 0.01, 0.1), ((-9.0, 9.0), 0.001, 10.0)):
        _, _, _, _, info = env.step(np.array(action, np.float32))
        assert info["sensing_time_s"] == pytest.approx(sensing, rel=1e-6)
        assert info["transmission_time_s"] == pytest.approx(transmission, rel=1e-6)
