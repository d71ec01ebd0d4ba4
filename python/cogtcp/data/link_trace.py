"""Link traces: what a link can carry over time, to replay here and in test beds (`docs/link-traces.md`).

Two kinds of file. A mahimahi trace has a line for each packet of 1,500 bytes that may leave: the millisecond
at which it may. A CSV has rates, each from its time to the next. Both repeat at their end.

>>> from cogtcp.link_trace import LinkTrace
>>> LinkTrace.from_text("1").mean_bps  # a packet every millisecond
12000000.0
"""

from __future__ import annotations

import bisect
import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cogtcp import _core, _files
from cogtcp._errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cogtcp.model.scenario import Scenario

#: Bytes that one line of a mahimahi trace stands for.
OPPORTUNITY = 1500
HEADER = "time_s,rate_bps"

Kind = Literal["opportunities", "rates"]
#: What of a link is exported: the rate that it offers while open, or what it carried in the run.
Carries = Literal["available", "carried"]

_LONGEST_S = 3600.0


@dataclass(frozen=True, slots=True)
class LinkTrace:
    """What a link can carry over time.

    Attributes:
        kind: `opportunities` (mahimahi) or `rates` (CSV).
        times: Opportunities in seconds, or when rates begin; the last ends the period.
        rates: In bit/s, one for each time, the last without meaning; empty for opportunities.
    """

    kind: Kind
    times: tuple[float, ...]
    rates: tuple[float, ...] = ()

    @classmethod
    def from_text(cls, text: str, *, file: str = "<text>") -> LinkTrace:
        """Read a trace; its first line tells which kind it is.

        Raises:
            ScenarioError: It is neither, with the line and what would be right.
        """
        opportunities, steps = _core.read_link_trace(text, file)
        if opportunities is not None:
            return cls("opportunities", tuple(time / 1000 for time in opportunities))
        steps = steps or []
        return cls("rates", tuple(t / 1e9 for t, _ in steps), tuple(float(rate) for _, rate in steps))

    @classmethod
    def from_file(cls, path: str | Path) -> LinkTrace:
        """Read a trace file, as `from_text`."""
        return cls.from_text(_files.read_text(path, "a link trace"), file=str(path))

    @property
    def period_s(self) -> float:
        """The period after which the trace repeats."""
        return self.times[-1]

    @property
    def bits(self) -> float:
        """What it carries in a period."""
        if self.kind == "opportunities":
            return len(self.times) * OPPORTUNITY * 8.0
        spans = zip(self.rates, self.times, self.times[1:], strict=False)
        return math.fsum(rate * (end - start) for rate, start, end in spans)

    @property
    def mean_bps(self) -> float:
        """Its mean rate."""
        return self.bits / self.period_s

    def binned(self, width: float = 0.1) -> list[tuple[float, float]]:
        """Return the mean rate of each `width` seconds: pairs of its beginning and bit/s."""
        if not width > 0 or self.period_s / width > 10_000_000:
            raise UsageError(
                f"bins of {width} s are out of range; take a width above 0 s, and at most 10^7 of them"
            )
        # A quotient that rounding lifts above a whole number must not make another bin.
        count = max(1, math.ceil(self.period_s / width - 1e-9))
        sums = [0.0] * count
        if self.kind == "opportunities":
            for time in self.times:
                # One at the end of a bin is what the bin could carry.
                sums[min(count - 1, max(0, math.ceil(time / width - 1e-9) - 1))] += OPPORTUNITY * 8.0
        else:
            for rate, start, end in zip(self.rates, self.times, self.times[1:], strict=False):
                # A step that begins with a bin is in that bin, also where the quotient is rounded down.
                first = min(count - 1, int(start / width + 1e-9))
                for number in range(first, count):
                    left, right = max(start, number * width), min(end, (number + 1) * width)
                    if left >= end:
                        break
                    sums[number] += rate * max(0.0, right - left)
        return [
            (number * width, total / (min(width, self.period_s - number * width)))
            for number, total in enumerate(sums)
        ]

    def to_opportunities(self) -> LinkTrace:
        """Return it as a mahimahi trace: an opportunity whenever the next 1,500 bytes are full."""
        if self.kind == "opportunities":
            return self
        end = max(1, round(self.period_s * 1000))
        times: list[float] = []
        sent, step, total = 0, 0, 0.0
        for millisecond in range(1, end + 1):
            at, until = (millisecond - 1) / 1000, millisecond / 1000
            # Times are rounded: without the tolerance a rest of 1e-16 s would be a step of its own.
            while at < until - 1e-12:
                while step + 2 < len(self.times) and self.times[step + 1] <= at + 1e-12:
                    step += 1
                stop = min(until, self.times[step + 1]) if step + 1 < len(self.times) else until
                # A step that rounding leaves at or behind `at` must not hold this loop for ever.
                stop = stop if stop > at + 1e-12 else until
                total += self.rates[step] * (stop - at)
                at = stop
            # A rounding error of the sum must not delay an opportunity by a millisecond.
            while (sent + 1) * OPPORTUNITY * 8 <= total + 1e-6:
                sent += 1
                times.append(until)
        # The last line is when the trace repeats: at the price of one more opportunity.
        if not times or times[-1] < end / 1000:
            times.append(end / 1000)
        return LinkTrace("opportunities", tuple(times))

    def to_rates(self, width: float = 0.1) -> LinkTrace:
        """Return it as rates: of opportunities the mean of each `width` seconds."""
        if self.kind == "rates":
            return self
        steps = self.binned(width)
        return _of_steps(steps, self.period_s)

    def to_text(self) -> str:
        """Return the file."""
        if self.kind == "opportunities":
            return "".join(f"{round(time * 1000)}\n" for time in self.times)
        rows = zip(self.times, self.rates, strict=True)
        return f"{HEADER}\n" + "".join(f"{time:.9f},{rate:.0f}\n" for time, rate in rows)

    def save(self, path: str | Path) -> Path:
        """Write the file, whole or not at all."""
        from cogtcp.model.output import write_file

        return write_file(path, self.to_text())


def export(
    scenario: Scenario,
    link: str,
    *,
    direction: Literal["forward", "reverse"] = "forward",
    seed: int | None = None,
    what: Carries | None = None,
) -> LinkTrace:
    """Return what a link of a scenario can carry over time, as rates by the millisecond.

    The scenario is run once. `available` is the rate of the link's channel while it is open, 0 while its
    radio is silent. A trace cannot express that a silence destroys packets (`silence = "drop"`): a testbed
    holds them. `carried` is what the link carried in the run, under 802.11 what its MAC let through. It is
    the default under 802.11; use a flow that always has data.

    Raises:
        UsageError: There is no such link, or the run is longer than an hour.
        ScenarioError: The scenario cannot be simulated.
    """
    from cogtcp.model.result import run

    # A millisecond tells the names of the links, before the whole run is paid for.
    links = run(scenario.set("run.duration", "1 ms").set("run.warmup", "0 s"), seed, "summary").rows("links")
    names = list(dict.fromkeys(row["link"] for row in links))
    if link not in names:
        raise UsageError(f"unknown link {link!r}; the scenario has {', '.join(names[:20])}")
    result = run(scenario.set("run.sample_interval", "1 ms"), seed, "series")
    if result.duration_s > _LONGEST_S:
        raise UsageError(
            f"a run of {result.duration_s:g} s makes too long a trace; take at most {_LONGEST_S:g} s"
        )
    row = next(row for row in result.rows("links") if (row["link"], row["direction"]) == (link, direction))
    column = {"available": "rate_bps", "carried": "throughput_bps"}[
        what or ("carried" if row["attempts"] else "available")
    ]
    sampled = result.each("link_series", ["time_s", "link", "direction", column])
    # A sample stands for the millisecond before it.
    steps = [(time - 0.001, rate) for time, name, way, rate in sampled if (name, way) == (link, direction)]
    return _of_steps([(max(0.0, round(time, 3)), rate) for time, rate in steps], result.duration_s)


def generate_lte(duration_s: float = 60.0, seed: int = 1) -> LinkTrace:
    """Draw a mahimahi trace of an LTE-like link: a rate that wanders, and fades in which nothing leaves.

    The model of Winstein, Sivaraman and Balakrishnan, "Stochastic Forecasts Achieve High Throughput and Low
    Delay over Cellular Networks", NSDI 2013, section 3.1. Packets leave as a Poisson process. Its rate is a
    Brownian motion of 200 packets/s per square root of a second, between 0 and 1000 packets/s. At 0 there is
    an outage, which ends with a rate of 1 per second. The constants are from their program (`receiver.hh` of
    Sprout: BROWNIAN_MOTION_RATE 200, OUTAGE_ESCAPE_RATE 1, MAX_ARRIVAL_RATE 1000, TICK_LENGTH 20 ms).
    Departures, since the model infers a rate and this draws one. The rate is reflected at 1000 (theirs is cut
    off there). It begins at 500 (theirs: any rate alike) and leaves an outage at 20.
    """
    _check(duration_s)
    draw = random.Random(f"lte/{seed}").random  # noqa: S311
    tick = 0.02  # TICK_LENGTH of their program
    rate, at, dark_until = 500.0, 0.0, 0.0
    times: list[float] = []
    while at < duration_s:
        if at >= dark_until:
            if rate <= 0:
                rate = 20.0  # the outage is over
            rate += 200 * math.sqrt(tick) * _normal(draw)
            rate = 2000 - rate if rate > 1000 else rate
            if rate <= 0:
                # `random()` may be 0 and is never 1: the logarithm is finite.
                rate, dark_until = 0.0, at - math.log(1 - draw())
            else:
                # A Poisson process has no memory: each tick may start it over, at its own rate.
                moment = at - math.log(1 - draw()) / rate
                while moment < min(at + tick, duration_s):
                    times.append(math.ceil(moment * 1000) / 1000)
                    moment -= math.log(1 - draw()) / rate
        at += tick
    # The last line is the period, which is what was asked for.
    if not times or times[-1] < duration_s:
        times.append(math.ceil(duration_s * 1000) / 1000)
    return LinkTrace("opportunities", tuple(times))


def generate_leo(duration_s: float = 60.0, seed: int = 1) -> LinkTrace:
    """Draw the rates of a link to low-orbit satellites: another satellite every 15 s.

    Starlink gives each terminal another satellite every 15 s; delay and rate change, and the handoff loses
    packets. See Huston, "A Transport Protocol's View of Starlink", APNIC 2024; Garcia, Sundberg and
    Brunstrom, "A Detailed Characterization of Starlink One-way Delay", LEO-NET 2025. The numbers are our
    choice. Each satellite has a mean of 50 to 150 Mbit/s, around which the rate varies by 15 % every half
    second. A handoff takes 50 to 150 ms, in which nothing leaves.
    """
    _check(duration_s)
    draw = random.Random(f"leo/{seed}").random  # noqa: S311
    steps: list[tuple[float, float]] = []
    begin = 0.0
    while begin < duration_s:
        at, end = begin, min(begin + 15, duration_s)
        mean = 50e6 + 100e6 * draw()
        if begin > 0:
            steps.append((at, 0.0))
            at += 0.05 + 0.1 * draw()
        while at < end:
            # A normal law has no lower end; a rate has.
            steps.append((at, max(5e6, mean * (1 + 0.15 * _normal(draw)))))
            # Whole half seconds, not half a second from here: a handoff does not move the later steps.
            at = (math.floor(at / 0.5 + 1e-9) + 1) * 0.5
        begin += 15
    return _of_steps([(time, rate) for time, rate in steps if time < duration_s], duration_s)


def _of_steps(steps: list[tuple[float, float]], end: float) -> LinkTrace:
    """Return rates of pairs of time and bit/s; equal ones that follow each other are put together."""
    times: list[float] = []
    rates: list[float] = []
    for time, rate in steps:
        if time < end and (not rates or rate != rates[-1]):
            times.append(time)
            rates.append(float(round(rate)))
    return LinkTrace("rates", (*times, end), (*rates, 0.0))


def _normal(draw: Callable[[], float]) -> float:
    """Return a standard normal number (Box and Muller), of nothing but what Python keeps the same."""
    return math.sqrt(-2 * math.log(1 - draw())) * math.cos(2 * math.pi * draw())


def _check(duration_s: float) -> None:
    if not 0.001 <= duration_s <= _LONGEST_S:
        raise UsageError(f"a trace of {duration_s:g} s is out of range; take 1 ms to {_LONGEST_S:g} s")


def share_without(trace: LinkTrace, width: float = 0.1) -> float:
    """Return the share of bins of `width` seconds in which nothing leaves."""
    bins = trace.binned(width)
    return sum(1 for _, rate in bins if rate == 0) / len(bins)


def quantile(trace: LinkTrace, share: float, width: float = 0.1) -> float:
    """Return the rate that a share of the bins of `width` seconds does not exceed."""
    ordered = sorted(rate for _, rate in trace.binned(width))
    return ordered[min(len(ordered) - 1, bisect.bisect_left(range(len(ordered)), share * len(ordered)))]
