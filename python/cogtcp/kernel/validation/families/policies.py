"""Channel policies beside the Markov chain of channels and radio from sensing to sensing."""

from __future__ import annotations

import itertools
import math
import operator
import random
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families.family import Family, logarithmic, three_digits
from cogtcp.kernel.validation.families.spectrum_users import radio_alone
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Silence of a switch, s.
_SWITCH = 0.001
#: Sensings that are drawn of a policy that learns.
_SENSINGS = 100_000


class Occupied:
    """A primary user of exponential ON and OFF times, by its means in s."""

    def __init__(self, on: float, off: float) -> None:
        """Take the means."""
        self.on, self.off = on, off

    def busy_after(self, time: float, *, was_busy: bool) -> float:
        """Return the probability that it is ON after a time, by whether it was."""
        share = self.on / (self.on + self.off)
        memory = math.exp(-time * (1 / self.on + 1 / self.off))
        return share + (was_busy - share) * memory

    def stays_idle(self, time: float) -> float:
        """Return the probability that it stays OFF for a time."""
        return math.exp(-time / self.off)


def share_of_time(policy: str, bands: int, user: Occupied, sensing: float, transmission: float) -> float:
    """Return the share of the time in which a radio with a perfect detector transmits.

    The state before a sensing has the channel, and which channels are busy. A report comes if the primary
    user of the channel is ON at some time of the sensing. Then the radio switches and senses again; else it
    transmits first. Sticky does not switch.

    Args:
        policy: `sticky`, `round_robin` or `random`.
        bands: Channels, each with a primary user.
        user: The law of each.
        sensing: Sensing time, s.
        transmission: Transmission time, s.
    """
    switch = 0.0 if policy == "sticky" else _SWITCH
    states = list(itertools.product((False, True), repeat=bands))
    # By symmetry the radio is always on channel 0: a switch turns the channels.
    moves = {
        "sticky": [0],
        "round_robin": [1],
        "random": list(range(1, bands)),
    }[policy]
    row = {state: number for number, state in enumerate(states)}
    chain = [[0.0] * len(states) for _ in states]
    idles = [0.0 if state[0] else user.stays_idle(sensing) for state in states]
    for state, idle, after in zip(states, idles, chain, strict=True):
        for is_free in (True, False):
            left = transmission if is_free else switch
            # The sensed channel at the end of the sensing, with this outcome.
            ends = user.busy_after(sensing, was_busy=state[0])
            on, off = (0.0, idle) if is_free else (ends, 1 - ends - idle)
            own = on * user.busy_after(left, was_busy=True) + off * user.busy_after(left, was_busy=False)
            others = [user.busy_after(sensing + left, was_busy=busy) for busy in state[1:]]
            for target in states:
                odds = own if target[0] else on + off - own
                for busy, share in zip(target[1:], others, strict=True):
                    odds *= share if busy else 1 - share
                for move in [0] if is_free else moves:
                    turned = target[move:] + target[:move]
                    after[row[turned]] += odds / (1 if is_free else len(moves))
    # After 2^16 sensings the state at the first does not matter.
    for _ in range(16):
        columns = list(zip(*chain, strict=True))
        chain = [[sum(map(operator.mul, left, column)) for column in columns] for left in chain]
    free = sum(probability * idle for probability, idle in zip(chain[0], idles, strict=True))
    return free * transmission / (free * transmission + sensing + (1 - free) * switch)


def replayed_bps(
    policy: str,
    rates: Sequence[float],
    user: Occupied,
    sensing: float,
    transmission: float,
    memory: float,
    seed: int,
) -> float:
    """Return the mean rate over time of a radio that learns, by its rule on drawn states.

    Only a channel's state at its last sensing bears on its next (both laws are exponential).

    Args:
        policy: `least_busy`: least (reports + 1) / (sensings + 2); `best_rate`: the fastest without a report
            within `memory`.
        rates: Of the channels, bit/s.
        user: The law of each primary user.
        sensing: Sensing time, s.
        transmission: Transmission time, s.
        memory: How long a report counts, s.
        seed: Of the draws.
    """
    stream = random.Random(f"policies/{seed}")  # noqa: S311 - a documented draw, no secret
    count = len(rates)
    seen = [(0.0, False)] * count
    reports, looks = [0] * count, [0] * count
    reported = [-math.inf] * count
    now = carried = 0.0
    at = 0
    for _ in range(_SENSINGS):
        since, was_busy = seen[at]
        is_busy = stream.random() < user.busy_after(now - since, was_busy=was_busy)
        is_free = not is_busy and stream.random() < user.stays_idle(sensing)
        looks[at] += 1
        if is_free:
            seen[at] = (now + sensing, False)
            carried += rates[at] * transmission
            now += sensing + transmission
            continue
        # Whether it is ON at the end, knowing that it was at some time.
        ends = user.busy_after(sensing, was_busy=is_busy)
        odds = ends if is_busy else ends / (1 - user.stays_idle(sensing))
        seen[at] = (now + sensing, stream.random() < odds)
        reports[at] += 1
        now += sensing
        reported[at] = now
        others = [(at + step) % count for step in range(1, count)]
        if policy == "least_busy":
            at = min(others, key=lambda other: (reports[other] + 1) / (looks[other] + 2))
        else:
            free = [other for other in others if now - reported[other] >= memory]
            at = max(free, key=lambda other: rates[other]) if free else others[0]
        now += _SWITCH
    return carried / now


class Policies(Family):
    """Where a radio goes when a primary user is reported: the capacity that this gives its link."""

    name = "policies"
    peer = "theory"
    bands: ClassVar = {"goodput_bps": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the policy, the channels, the primary users and the radio's times.

        Which channels least busy comes to prefer is chance where they are alike: all have one rate then.
        """
        policy = stream.choice(["sticky", "round_robin", "random", "least_busy", "best_rate"])
        return {
            "policy": policy,
            "bands": stream.randint(2, 5),
            "m": 0.0 if policy == "least_busy" else round(stream.uniform(0.2, 1.5), 1),
            "on": three_digits(logarithmic(stream, 0.3, 5)),
            "off": three_digits(logarithmic(stream, 0.3, 5)),
            "sensing": three_digits(logarithmic(stream, 0.01, 0.2)),
            "transmission": three_digits(logarithmic(stream, 0.1, 1)),
            "memory": three_digits(stream.uniform(0.5, 5)),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        memory = f" ({drawn['memory']:g} s)" if drawn["policy"] == "best_rate" else ""
        users = f"{drawn['bands']} channels ON {drawn['on']:g} s, OFF {drawn['off']:g} s, M {drawn['m']:g}"
        times = f"sensing {drawn['sensing'] * 1e3:g} ms, transmitting {drawn['transmission']:g} s"
        return f"{drawn['policy'].replace('_', ' ')}{memory}, {users}; {times}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Follow the chain; all channels are alike to policies that know no rates."""
        user, times = Occupied(drawn["on"], drawn["off"]), (drawn["sensing"], drawn["transmission"])
        rates = _rates(drawn)
        if drawn["policy"] in ("least_busy", "best_rate"):
            return {"goodput_bps": replayed_bps(drawn["policy"], rates, user, *times, drawn["memory"], seed)}
        share = share_of_time(drawn["policy"], drawn["bands"], user, *times)
        # Sticky stays on the first.
        mean = rates[0] if drawn["policy"] == "sticky" else sum(rates) / len(rates)
        return {"goodput_bps": share * mean}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run the radio for four thousand cycles of a primary user."""
        policy: Any = drawn["policy"]
        if policy == "best_rate":
            policy = {"best_rate": {"memory": f"{drawn['memory']} s"}}
        laws = {
            "on": {"exponential": f"{drawn['on']} s"},
            "off": {"exponential": f"{drawn['off']} s"},
            "start": "stationary",
        }
        radio = {
            "detector": "perfect",
            "policy": policy,
            "sensing_time": f"{drawn['sensing']} s",
            "transmission_time": f"{drawn['transmission']} s",
            "switching_delay": f"{_SWITCH} s",
        }
        seconds = 4000 * (drawn["on"] + drawn["off"])
        data = radio_alone(seconds, drawn["bands"], laws, radio)
        data["spectrum"]["channels"] = {"alternating": {"rate": "1 Mbit/s", "m": drawn["m"]}}
        (row,) = (
            row
            for row in run(Scenario.from_dict(data), seed, "summary").rows("links")
            if row["direction"] == "forward"
        )
        return {"goodput_bps": 8 * row["capacity_bytes"] / seconds}


def _rates(drawn: Mapping[str, Any]) -> list[float]:
    """Return the rates of the channels: faster and slower in turn (Di Felice and others 2009, equation 5)."""
    half = drawn["m"] / 2
    return [1e6 * (1 - half if band % 2 else 1 + half) for band in range(drawn["bands"])]
