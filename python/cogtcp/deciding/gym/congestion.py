"""An agent that sets the congestion window of a flow once a round-trip time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces

from cogtcp import _core
from cogtcp._errors import UsageError
from cogtcp.deciding.gym._runs import draw_run_seed, flow_of, scenario_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cogtcp.model.scenario import Scenario

#: What the agent sees, each scaled to a range of about 1 and cut off at -4 and 4.
SEEN = (
    "queuing: srtt / min_rtt - 1",
    "rate: delivered since the last decision over what the narrowest link carries, 2 x - 1",
    "window: log2 of its segments / 4 - 1",
    "flight: in flight over the window, 2 x - 1",
    "loss: share of segments sent since then that are retransmissions",
    "timeouts since then",
)
_MOST = 4.0
#: An action of 1 doubles the window, one of -1 halves it.
_LEAST_SEGMENTS, _MOST_SEGMENTS = 1.0, 4096.0
_FIRST_SEGMENTS = 10.0
#: Seconds between decisions before there is a round-trip time, and the shortest and longest.
_FIRST_SPAN, _SHORTEST, _LONGEST = 0.1, 0.01, 1.0


class Congestion(gymnasium.Env["NDArray[np.float32]", "NDArray[np.float32]"]):
    """Steers the congestion window of one flow of a scenario, all else as the scenario says.

    A step is one smoothed round-trip time (10 ms to 1 s; 0.1 s until there is one). The action, -1 to 1,
    multiplies the window by 2 to its power, from the next acknowledgement on. Loss recovery is the
    transport's and retransmits lost data. The window is the agent's alone, through losses and timeouts too.

    The observation is `SEEN`. The reward of a step is the delivered share of the capacity of the scenario's
    narrowest link, less two prices. These are `delay_price` times `srtt / min_rtt - 1` (at most 4), and
    `loss_price` times the retransmitted share. An episode is truncated at the end of the run and never
    terminates; `info` has the time and the goodput so far.

    Args:
        scenario: A scenario, its file, or the name of a shipped one.
        flow: Number of the flow, from 0.
        delay_price: What queuing costs.
        loss_price: What losses cost.

    Each `reset` draws a seed of the run from the environment's generator: `reset(seed=7)` repeats it. No
    thread is behind an environment, so `SyncVectorEnv` holds as many as memory does.
    """

    def __init__(
        self,
        scenario: Scenario | str = "sensed-link",
        *,
        flow: int = 0,
        delay_price: float = 0.1,
        loss_price: float = 0.5,
    ) -> None:
        self.scenario = scenario_of(scenario)
        self.flow = flow_of(self.scenario, flow)
        self.delay_price, self.loss_price = delay_price, loss_price
        self._rate = _narrowest(self.scenario)
        self.action_space = spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.observation_space = spaces.Box(-_MOST, _MOST, (len(SEEN),), np.float32)
        self._episode: _core.CongestionEpisode | None = None
        self._segments = _FIRST_SEGMENTS
        self._before: _core.CongestionView | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin a run. `options["run_seed"]` sets its seed, to compare with another control on the same."""
        super().reset(seed=seed)
        run_seed = draw_run_seed(self.np_random, options)
        self._episode = _core.CongestionEpisode(self.scenario._core, run_seed, self.flow)
        self._segments = _FIRST_SEGMENTS
        self._before = self._episode.view()
        observation, _ = self._look(self._before, self._before)
        return observation, {"time_s": 0.0, "goodput_bps": 0.0, "run_seed": run_seed}

    def step(
        self, action: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Set the window and go on for a round-trip time."""
        if self._episode is None or self._before is None:
            raise UsageError("call reset() before step()")
        before = self._before
        factor = 2.0 ** float(np.clip(np.asarray(action).reshape(-1)[0], -1, 1))
        self._segments = min(_MOST_SEGMENTS, max(_LEAST_SEGMENTS, self._segments * factor))
        span = min(_LONGEST, max(_SHORTEST, before.srtt_s or _FIRST_SPAN))
        now = self._episode.go_on(round(self._segments * before.mss), span)
        self._before = now
        observation, reward = self._look(before, now)
        info = {
            "time_s": now.time_s,
            "goodput_bps": now.delivered * 8 / now.time_s if now.time_s > 0 else 0.0,
        }
        return observation, reward, False, now.is_over, info

    def _look(
        self, before: _core.CongestionView, now: _core.CongestionView
    ) -> tuple[NDArray[np.float32], float]:
        span = now.time_s - before.time_s
        queuing = min(_MOST, max(0.0, now.srtt_s / now.min_rtt_s - 1)) if now.min_rtt_s > 0 else 0.0
        share = (now.delivered - before.delivered) * 8 / (span * self._rate) if span > 0 else 0.0
        loss = (now.retransmitted - before.retransmitted) / max(1, now.sent - before.sent)
        values = [
            queuing,
            2 * share - 1,
            math.log2(self._segments) / 4 - 1,
            2 * min(2.0, now.in_flight / (self._segments * now.mss)) - 1,
            loss,
            now.timeouts - before.timeouts,
        ]
        reward = min(_MOST, share) - self.delay_price * queuing - self.loss_price * loss
        return np.clip(np.array(values, np.float32), -_MOST, _MOST), float(reward)


def _narrowest(scenario: Scenario) -> float:
    """Return the rate of the narrowest bottleneck of its flows, in bit/s, silences apart."""
    from cogtcp.model.result import run

    # One second is enough: the routes decide the bottleneck, and rates without silences need no warm-up.
    short = run(scenario.set("run.duration", "1 s").set("run.warmup", "0 s"), trace="summary")
    ways = {(row["bottleneck"], row["bottleneck_direction"]) for row in short.rows("flows")}
    rates = [
        row["channel_bytes"] * 8 for row in short.rows("links") if (row["link"], row["direction"]) in ways
    ]
    # Something above zero: the reward divides by it.
    return min((rate for rate in rates if rate > 0), default=1.0)
