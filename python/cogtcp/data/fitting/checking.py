"""The check that decides: the scenario is simulated over the held-out part, and both are measured alike.

The simulation's packets are written as a capture, at the same end as the user's, and read as the user's was.
So goodput, round-trip times, retransmissions and pauses have one definition.
"""

from __future__ import annotations

import itertools
import math
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp.data.fitting.estimate import quantile
from cogtcp.model.statistics import t_quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.data.fitting.connections import Connection, Side
    from cogtcp.model.scenario import Scenario

#: Seeds over which the held-out part is simulated, and the longest warm-up before it, s: shorter ones would
#: shift when a deterministic sender fills the queue.
SEEDS, WARMUP_S = 5, 30.0
#: The longest part that is simulated, s: packets of all seeds are kept in memory.
LONGEST_S = 30.0
#: What a reproduction may miss beside the spread of the seeds. Goodput: emulators calibrated to real paths
#: miss 17 % on average (Yan and others 2018). Round-trip times: the same, and what hosts add, s.
#: Retransmissions: a factor, and what chance makes, as a share of the packets. Pauses: a share of the time.
_GOODPUT, _RTT, _RTT_S, _RESENT, _RESENT_SHARE, _PAUSED = 0.15, 0.2, 0.003, 2.0, 0.002, 0.05
#: Nothing delivered for so long is a pause, s, and so many round trips: recovery takes one or two.
_PAUSE_S, _PAUSE_ROUNDS = 0.1, 3.0


@dataclass(frozen=True, slots=True)
class Seen:
    """What a part of a capture shows.

    Attributes:
        goodput_bps: New payload per second.
        rtt_p10_s: 10 % quantile of the round-trip times; NaN at a receiver.
        rtt_p50_s: Median.
        rtt_p93_s: 93 % quantile.
        rtt_p95_s: 95 % quantile.
        rtt_p97_s: 97 % quantile.
        resent: Share of the packets that were retransmitted.
        episodes: How often retransmissions came, a round trip apart.
        paused: Share of the time in pauses.
        longest_s: The longest pause, s.
    """

    goodput_bps: float
    rtt_p10_s: float
    rtt_p50_s: float
    rtt_p93_s: float
    rtt_p95_s: float
    rtt_p97_s: float
    resent: float
    paused: float
    longest_s: float
    episodes: int = 0


def seen(connections: Sequence[Connection], start: float, end: float, base: float) -> Seen:
    """Return what a part of a capture shows, from `start` to `end` s."""
    tcp = [connection for connection in connections if not connection.probes]
    part = [sent for c in tcp for sent in c.data if start <= sent.time <= end]
    rtts = [sent.answered - sent.time for sent in part if sent.fresh and tcp[0].side == "sender"]
    new = sum(sent.end - sent.seq for sent in part if not sent.resent)
    delivered = sorted(
        {sent.answered for c in tcp for sent in c.data if not sent.lost and start <= sent.answered <= end}
    )
    limit = max(_PAUSE_S, _PAUSE_ROUNDS * base if base == base else 0.0)
    gaps = [b - a for a, b in itertools.pairwise([start, *delivered, end]) if b - a > limit]
    lasted = max(end - start, 1e-9)
    return Seen(
        new * 8 / lasted,
        quantile(rtts, 0.1),
        quantile(rtts, 0.5),
        quantile(rtts, 0.93),
        quantile(rtts, 0.95),
        quantile(rtts, 0.97),
        sum(sent.resent for sent in part) / max(1, len(part)),
        math.fsum(gaps) / lasted,
        max(gaps, default=0.0),
        _episodes([sent.time for sent in part if sent.resent], rtts, base),
    )


def _episodes(times: Sequence[float], rtts: Sequence[float], base: float) -> int:
    """Return how often retransmissions came: those within two round trips belong together."""
    apart = 2 * (quantile(rtts, 0.5) if rtts else base if base == base else _PAUSE_S)
    return sum(after - before > apart for before, after in itertools.pairwise([-math.inf, *times]))


@dataclass(frozen=True, slots=True)
class Compared:
    """One quantity, measured and simulated.

    Attributes:
        name: The quantity.
        unit: Its unit.
        measured: In the capture.
        simulated: Mean of the simulations.
        low: What a capture of the scenario may show at least.
        high: At most.
    """

    name: str
    unit: str
    measured: float
    simulated: float
    low: float
    high: float

    @property
    def holds(self) -> bool:
        """Whether the measured value lies within the interval."""
        return self.low <= self.measured <= self.high

    @property
    def says(self) -> str:
        """How the simulation differs, as in `86 % fewer retransmissions`."""
        more = self.simulated > self.measured
        if self.name == "pauses":
            return (
                f"{self.simulated * 100:.0f} % of the time in pauses in place of {self.measured * 100:.0f} %"
            )
        if self.measured <= 0:
            return f"{self.name} that the capture does not have"
        apart = abs(self.simulated / self.measured - 1) * 100
        words = {"retransmissions": ("more", "fewer"), "goodput": ("more", "less")}
        word = words.get(self.name, ("higher", "lower"))[0 if more else 1]
        return f"{apart:.0f} % {word} {self.name}"


@dataclass
class Held:
    """The part of a capture that no estimate has seen, and the scenario of the part before it.

    Attributes:
        scenario: Scenario of the part before.
        after_s: Where the part begins, s after the first data.
        lasted_s: Its length.
        side: End at which the capture was taken.
        base: Round-trip time without queue, s.
        measured: What the part shows.
        inside: Whether the part was fitted too: the capture is too short to hold a part back.
        spread: How far the goodput of one more run may lie from the mean of the runs, a share (95 %).
    """

    scenario: Scenario
    after_s: float
    lasted_s: float
    side: Side
    base: float
    measured: Seen
    inside: bool = False
    compared: list[Compared] = field(default_factory=list)
    spread: float = 0.0

    def run(self) -> None:
        """Simulate the part with several seeds and compare."""
        runs = [self._simulated(seed) for seed in range(1, 1 + SEEDS)]
        rtt = self.side == "sender"
        rows = [
            ("goodput", "bit/s", "goodput_bps", _GOODPUT, 0.0),
            *(
                [
                    ("median RTT", "s", "rtt_p50_s", _RTT, _RTT_S),
                    ("95 % quantile of the RTT", "s", "rtt_p95_s", _RTT, _RTT_S),
                ]
                if rtt
                else []
            ),
            ("retransmissions", "share", "resent", 0.0, _RESENT_SHARE),
            ("pauses", "share", "paused", 0.0, _PAUSED),
        ]
        self.spread = _one_more([each.goodput_bps for each in runs]) / max(
            math.fsum(each.goodput_bps for each in runs) / len(runs), 1.0
        )
        self.compared = []
        for name, unit, key, share, extra in rows:
            values = [getattr(each, key) for each in runs]
            values = [value for value in values if not math.isnan(value)]
            measured = getattr(self.measured, key)
            if len(values) < 2 or math.isnan(measured):
                continue
            if name == "retransmissions":
                extra += _chance(runs)
            found = _compare(name, unit, measured, values, share, extra)
            if key == "rtt_p95_s":
                # Silences make two kinds of round trips; one silence more or less moves the quantile by 2 %.
                low = min(each.rtt_p93_s for each in runs) * (1 - share) - extra
                high = max(each.rtt_p97_s for each in runs) * (1 + share) + extra
                found = replace(found, low=min(found.low, max(0.0, low)), high=max(found.high, high))
            self.compared.append(found)

    def _simulated(self, seed: int) -> Seen:
        from cogtcp.data.fitting import connections, packets
        from cogtcp.model.result import run

        warmup = min(self.after_s, WARMUP_S)
        lasted = min(self.lasted_s, LONGEST_S)
        scenario = self.scenario.set("run.duration", f"{warmup + lasted:.6f} s")
        result = run(scenario, seed, "packets")
        with tempfile.TemporaryDirectory(prefix="cogtcp-fit-") as folder:
            file = Path(folder) / "simulated.pcapng"
            result.write_pcap(file, link="link", node=self.side)
            found = connections.connections(packets.read(file).packets, side=self.side)
        if not found:
            nan = math.nan
            return Seen(0.0, nan, nan, nan, nan, nan, 0.0, 1.0, lasted)
        # The first packet is the SYN: the scenario's clock begins there.
        return seen(found, warmup, warmup + lasted, self.base)

    @property
    def doubt(self) -> str:
        """What the scenario does not reproduce; empty if it reproduces all."""
        wrong = [each for each in self.compared if not each.holds]
        return ", ".join(each.says for each in wrong)

    def to_dict(self) -> dict[str, Any]:
        """Return measured beside simulated as plain data."""
        return {
            "after_s": self.after_s,
            "lasted_s": self.lasted_s,
            "seen_by_the_fit": self.inside,
            "reproduces": not self.doubt,
            **{
                each.name: {
                    "measured": each.measured,
                    "simulated": [each.simulated, each.low, each.high],
                    "holds": each.holds,
                }
                for each in self.compared
            },
        }


def _compare(
    name: str, unit: str, measured: float, values: Sequence[float], share: float, extra: float
) -> Compared:
    """Return a quantity with the interval of one more run of the scenario."""
    mean = math.fsum(values) / len(values)
    half = _one_more(values) + share * mean + extra
    low, high = max(0.0, mean - half), mean + half
    if name == "retransmissions":
        low, high = min(low, mean / _RESENT - extra), max(high, mean * _RESENT + extra)
    return Compared(name, unit, measured, mean, max(0.0, low), high)


def _chance(runs: Sequence[Seen]) -> float:
    """Return what chance makes of the share of retransmissions: a full queue more or less, and Poisson's law.

    A queue that overflows drops many packets at once: the episodes are the independent events.
    """
    episodes = math.fsum(each.episodes for each in runs) / len(runs)
    if not episodes:
        return 0.0
    each = math.fsum(run.resent for run in runs) / len(runs) / episodes
    return each * (1 + 1.96 * math.sqrt(episodes))


def _one_more(values: Sequence[float]) -> float:
    """Return half of the 95 % prediction interval of one more run."""
    count = len(values)
    mean = math.fsum(values) / count
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
    return float(t_quantile(0.975, count - 1) * deviation * math.sqrt(1 + 1 / count))


def reproduces(path: str | Path) -> str:
    """Return why a scenario file does not reproduce its capture; empty if nothing is known against it.

    Raises:
        ScenarioError: The file is no scenario.
    """
    from cogtcp.model.scenario import Scenario

    return Scenario.from_file(path).doubt
