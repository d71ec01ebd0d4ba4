"""An agent that sets how long a CR user senses and transmits, once a cycle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from gymnasium import spaces

from cogtcp import _core
from cogtcp._errors import UsageError
from cogtcp._names import pick
from cogtcp.deciding.gym._runs import draw_run_seed, flow_of, scenario_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cogtcp.model.scenario import Scenario

#: What the agent sees: only what the two ends of the link can know, cut off at -4 and 4. "Since" is since the
#: last decision.
SEEN = (
    "report: 1 if the last sensing reported a PU, -1 if not",
    "occupancy of the channel: its share of sensings that reported a PU so far (1/2 before any), 2 x - 1",
    "recent occupancy: mean of the last reports on any channel, each with a weight of 1/8, 2 x - 1",
    "rate: bytes acknowledged since over what the channel carries in that time, 2 x - 1",
    "failures: share of the exchanges of frames since that failed",
    "handoff: 1 if the channel changed since, else 0",
    "timeouts of the flow since",
    "sensing time in use, from -1 (shortest) to 1 (longest) on a logarithmic scale",
    "transmission time in use, likewise",
)
_MOST = 4.0
_RECENT = 1 / 8
#: What an agent can choose.
TIMES = ("sensing_time", "transmission_time")


class Sensing(gymnasium.Env["NDArray[np.float32]", "NDArray[np.float32]"]):
    """Steers sensing and transmission time of one CR user of a scenario, all else as the scenario says.

    A step is one cycle: from the beginning of a sensing to the beginning of the next. The action is a number
    from -1 to 1 for each time that the agent `chooses`. It sets this sensing and the transmission after it:
    -1 is the shortest time, 1 the longest, on a logarithmic scale. P_d and P_f follow from the sensing time
    by the scenario's detector. When a PU is reported, the scenario's policy chooses the channel, and the next
    step senses there.

    The observation is `SEEN`, which has no truth in it: not whether a report was right, nor why an exchange
    failed.

    The reward of a step is in seconds. It is `goodput_weight` times the transmission time of the delivered
    bytes on the fastest channel, less `interference_weight` times the time in which frames overlapped a PU
    that is ON. Over an episode's duration the rewards are the delivered share of the fastest channel, less
    the weighted share of interfering time. Only the reward knows the true interference. An episode is
    truncated at the end of the run and never terminates. `info` has the time, the goodput so far, the seconds
    interfered, and both times in use.

    Args:
        scenario: A scenario, its file, or the name of a shipped one. It has a CR user (`[radio.cr]`).
        radio: Name of the radio; none: the first CR user. Of two ends that sense apart
            (`ends = "independent"`) the first one's sensings are the steps, and the other takes its times
            from its next phase on.
        flow: Number of the flow, from 0, whose bytes count.
        chooses: Which of `TIMES`; the other stays as the scenario says.
        sensing_times: The shortest and longest sensing time in s.
        transmission_times: The shortest and longest transmission time in s.
        goodput_weight: What delivering is worth.
        interference_weight: What interfering costs: at 10, a second on top of a PU outweighs ten of
            delivering at full rate.

    Each `reset` draws a seed of the run from the environment's generator: `reset(seed=7)` repeats it. No
    thread is behind an environment, so `SyncVectorEnv` holds as many as memory does.
    """

    def __init__(
        self,
        scenario: Scenario | str = "cr-single-hop",
        *,
        radio: str | None = None,
        flow: int = 0,
        chooses: Sequence[str] = TIMES,
        sensing_times: tuple[float, float] = (0.005, 1.0),
        transmission_times: tuple[float, float] = (0.1, 10.0),
        goodput_weight: float = 1.0,
        interference_weight: float = 10.0,
    ) -> None:
        self.scenario = scenario_of(scenario)
        self.radio = _radio(self.scenario, radio)
        self.flow = flow_of(self.scenario, flow)
        for name in chooses:
            pick(name, TIMES, "time to choose")
        if not chooses or len(set(chooses)) < len(chooses):
            raise UsageError(f"chooses: give one or both of {', '.join(TIMES)}")
        self.chooses = tuple(chooses)
        self.ranges = {
            "sensing_time": _range("sensing_times", sensing_times),
            "transmission_time": _range("transmission_times", transmission_times),
        }
        self.goodput_weight, self.interference_weight = goodput_weight, interference_weight
        self.action_space = spaces.Box(-1.0, 1.0, (len(self.chooses),), np.float32)
        self.observation_space = spaces.Box(-_MOST, _MOST, (len(SEEN),), np.float32)
        self._episode: _core.SensingEpisode | None = None
        self._before: _core.SensingView | None = None
        self._recent = 0.5

    def action_for(self, **times_s: float) -> NDArray[np.float32]:
        """Return the action for times in s: `action_for(sensing_time=0.2, transmission_time=1)`."""
        if set(times_s) != set(self.chooses):
            raise UsageError(f"give a time for each of {', '.join(self.chooses)}")
        return np.array([_position(times_s[name], self.ranges[name]) for name in self.chooses], np.float32)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin a run, up to its first sensing. `options["run_seed"]` sets its seed: the same PUs again."""
        super().reset(seed=seed)
        run_seed = draw_run_seed(self.np_random, options)
        self._episode = _core.SensingEpisode(self.scenario._core, run_seed, self.radio, self.flow)
        self._before = now = self._episode.view()
        self._recent = 0.5
        return self._look(now, now), {**self._info(now), "run_seed": run_seed}

    def step(
        self, action: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Set the times and go on to the beginning of the next sensing."""
        if self._episode is None or self._before is None:
            raise UsageError("call reset() before step()")
        before = self._before
        times = {"sensing_time": before.sensing_time_s, "transmission_time": before.transmission_time_s}
        for name, value in zip(self.chooses, np.asarray(action).reshape(-1), strict=True):
            # As np.clip, which takes longer for one number; NaN stays, and is refused.
            times[name] = _time(max(min(float(value), 1.0), -1.0), self.ranges[name])
        now = self._episode.go_on(times["sensing_time"], times["transmission_time"])
        self._before = now
        sensed, reported = now.sensings - before.sensings, now.reports - before.reports
        if sensed > 0:
            # As a rule one; a policy that stays senses more than once.
            # The mean as if each sensing had been weighed by itself with the share of all.
            kept = (1 - _RECENT) ** sensed
            self._recent = kept * self._recent + (1 - kept) * min(1.0, reported / sensed)
        delivered = (now.delivered - before.delivered) * 8 / now.fastest_bps
        interfered = now.interfered_s - before.interfered_s
        reward = self.goodput_weight * delivered - self.interference_weight * interfered
        return self._look(before, now), reward, False, now.is_over, self._info(now)

    def _look(self, before: _core.SensingView, now: _core.SensingView) -> NDArray[np.float32]:
        carried = (now.time_s - before.time_s) * now.rate_bps
        rate = (now.acked - before.acked) * 8 / carried if carried > 0 else 0.0
        exchanges = now.exchanges - before.exchanges
        values = [
            1.0 if now.reported else -1.0,
            2 * now.busy_share - 1,
            2 * self._recent - 1,
            2 * rate - 1,
            (now.failed_exchanges - before.failed_exchanges) / max(1, exchanges),
            float(now.handoffs > before.handoffs),
            now.timeouts - before.timeouts,
            _position(now.sensing_time_s, self.ranges["sensing_time"]),
            _position(now.transmission_time_s, self.ranges["transmission_time"]),
        ]
        return np.clip(np.array(values, np.float32), -_MOST, _MOST)

    @staticmethod
    def _info(now: _core.SensingView) -> dict[str, Any]:
        return {
            "time_s": now.time_s,
            "goodput_bps": now.delivered * 8 / now.time_s if now.time_s > 0 else 0.0,
            "interfered_s": now.interfered_s,
            "sensing_time_s": now.sensing_time_s,
            "transmission_time_s": now.transmission_time_s,
        }


def _radio(scenario: Scenario, name: str | None) -> str:
    steered = [each["name"] for each in scenario.to_dict().get("radio", []) if "cr" in each]
    if not steered:
        raise UsageError("the scenario has no CR user ([radio.cr]) to steer; cr-single-hop has one")
    if name is None:
        return str(steered[0])
    return pick(name, steered, "CR user")


def _range(name: str, given: tuple[float, float]) -> tuple[float, float]:
    low, high = map(float, given)
    # A day is more than any run has, and what is shorter than a microsecond is no sensing.
    if not 1e-6 <= low < high <= 86400:
        raise UsageError(f"{name}: give the shortest and the longest time in s, 1e-6 to 86400, not {given}")
    return low, high


def _time(position: float, bounds: tuple[float, float]) -> float:
    low, high = bounds
    return low * math.pow(high / low, (position + 1) / 2)


def _position(time: float, bounds: tuple[float, float]) -> float:
    low, high = bounds
    return 2 * math.log(time / low) / math.log(high / low) - 1
