"""What probes say of a link: delay, loss and silences.

A probe is sent whatever the link does, so its fate alone shows silences: requests in a row that were lost, or
that were all answered at once. Probes do not fill the link; they say nothing of capacity and queue.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cogtcp.data.fitting.quantity import Bounded, Measured, Quantity, Unknown
from cogtcp.data.fitting.silences import Gap, Mode, Silences, characterise
from cogtcp.model.statistics import share_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.data.fitting.probes import Counts, Probe, Probes

#: Chance with which independent losses may make a run of lost requests that is called an outage.
_CHANCE = 0.01
#: Requests answered at once that make a silence which holds: two may be chance.
_TOGETHER = 3
#: Silences from which on their times may have a law or a timetable.
_MANY = 3
#: 1 - 1 / 0.05, see `_least`.
_ENDPOINT = 19


@dataclass
class ProbeFit:
    """What probes say.

    Attributes:
        delay: One way, s.
        loss: Share of requests lost outside silences.
        silence: Length of a silence, s.
        open: Mean time from one silence to the next, s.
        silences: The silences; None without.
    """

    delay: Quantity
    loss: Quantity
    silence: Quantity
    open: Quantity
    silences: Silences | None


def of_counts(counts: Counts) -> ProbeFit:
    """Return what the summary of a log says that has no line for each request."""
    lost = counts.sent - counts.received
    reason = "the log has a summary alone; without ping's -q it shows each request"
    return ProbeFit(
        _least([counts.least_rtt], counts.step),
        _share(lost, lost, counts.sent, "requests, those in silences included,"),
        Unknown(reason),
        Unknown(reason),
        None,
    )


def of_probes(probes: Probes) -> ProbeFit:
    """Return what the requests of a log say of the link."""
    requests = probes.requests
    rtts = probes.rtts
    delay = _least(rtts, probes.step)
    base = min(rtts)
    gaps = _gaps(requests, probes.interval, base)
    inside = sum(gap.lost for gap in gaps)
    runs = sum(1 for lost, here in _runs(requests) if lost and not _within(here[0].time, gaps))
    outside = len(requests) - inside
    rest = "outside silences" if gaps else ""
    loss = _share(probes.lost - inside, runs, outside, f"requests {rest}".strip())
    if not gaps:
        alone = max((len(here) for lost, here in _runs(requests) if lost), default=0)
        most = (alone + 1) * probes.interval
        apart = f"requests were {probes.interval:.3g} s apart"
        why = f"independent losses explain runs of up to {alone}" if alone else "none was lost"
        how = f"{apart}; {why}"
        return ProbeFit(delay, loss, Bounded("s", how, at_most=most), Unknown("no silence was seen"), None)
    silences = characterise(gaps, probes.interval / 2) if len(gaps) >= _MANY else None
    lengths = [_length(gap, probes.interval, requests) for gap in gaps]
    if silences is None:
        silences = _few(gaps, lengths)
        silence = _one(lengths, silences)
    else:
        how = f"{len(silences.gaps)} silences; a length is known to the time between two requests"
        silence = Measured(silences.length, silences.low, silences.high, "s", how)
    lasted = requests[-1].time - requests[0].time + probes.interval
    return ProbeFit(delay, loss, silence, _open(lasted - sum(v for _, v, _ in lengths), len(gaps)), silences)


def _least(rtts: Sequence[float], step: float) -> Quantity:
    """Return half of the least round-trip time.

    The least of a sample lies above the floor. The floor is within `_ENDPOINT` times the distance of the two
    least values below it, with 95 % confidence (Robson and Whitlock, "Estimation of a truncation point",
    Biometrika 51, 1964).
    """
    ordered = sorted(rtts)
    both = "both directions are assumed equal"
    if len(ordered) < 2:
        how = f"half of the least round-trip time, from a summary; {both}"
        return Bounded("s", how, at_most=(ordered[0] + step) / 2)
    least, second = ordered[:2]
    # Ties are a matter of the resolution.
    low = max(least - _ENDPOINT * (second - least), 0.0) - step
    how = f"half of the least round-trip time of {len(ordered)} replies; {both}"
    return Measured(least / 2, max(low, 0.0) / 2, (least + step) / 2, "s", how)


def _share(lost: int, runs: int, sent: int, what: str) -> Quantity:
    if sent < 1:
        return Unknown("every request was in a silence")
    # Runs are the independent events.
    low, high = share_interval(runs, sent)
    scale = lost / runs if runs else 1.0
    return Measured(
        lost / sent,
        min(low * scale, lost / sent),
        min(1.0, max(high * scale, lost / sent)),
        "share",
        f"{lost} of {sent} {what} were lost, in either direction",
    )


def _runs(requests: Sequence[Probe]) -> list[tuple[bool, list[Probe]]]:
    """Return stretches of lost and of answered requests."""
    return [(lost, list(group)) for lost, group in itertools.groupby(requests, key=lambda each: each.lost)]


def _longest_by_chance(requests: Sequence[Probe]) -> int:
    """Return the length from which on a run of lost requests is an outage.

    The losses in shorter runs give an upper bound p of the chance of independent losses. A run of n requests
    somewhere in all of them then has at most the probability N p^n.
    """
    runs = [len(here) for lost, here in _runs(requests) if lost]
    for length in range(1, max(runs, default=0) + 1):
        short = sum(run for run in runs if run < length)
        sent = len(requests) - sum(run for run in runs if run >= length)
        chance = share_interval(short, sent)[1] if sent else 1.0
        if len(requests) * chance**length < _CHANCE:
            return length
    return len(requests) + 1


def _gaps(requests: Sequence[Probe], interval: float, base: float) -> list[Gap]:
    """Return the silences that requests show: those that lost them, and those that held them."""
    shortest = _longest_by_chance(requests)
    found: list[Gap] = []
    stretches = _runs(requests)
    for place, (lost, here) in enumerate(stretches):
        if lost and len(here) >= shortest:
            # The link let a request pass half of the round-trip time after it was sent.
            start = stretches[place - 1][1][-1].time if place else here[0].time
            end = stretches[place + 1][1][0].time if place + 1 < len(stretches) else here[-1].time
            first, last = here[0].time, here[-1].time
            found.append(Gap(start, end, False, first, last, len(here), len(here)))
        elif not lost:
            found += _held(here, interval, base)
    return sorted(found, key=lambda gap: gap.start)


def _held(requests: Sequence[Probe], interval: float, base: float) -> list[Gap]:
    """Return silences that held requests: their round-trip times fall by the time between the requests."""
    found = []
    place = 1
    while place < len(requests):
        end = requests[place].time + requests[place].rtt
        stop = place
        # All of them were answered at once, much later than usual.
        while (
            stop < len(requests)
            and requests[stop].rtt > base + interval / 2
            and abs(requests[stop].time + requests[stop].rtt - end) < interval / 2
        ):
            stop += 1
        before = requests[place - 1]
        if stop - place >= _TOGETHER and before.rtt < base + interval / 2:
            found.append(Gap(before.time, end - base, True))
        place = max(stop, place + 1)
    return found


def _within(time: float, gaps: Sequence[Gap]) -> bool:
    return any(gap.start <= time <= gap.end for gap in gaps)


def _length(gap: Gap, interval: float, requests: Sequence[Probe]) -> tuple[float, float, float]:
    """Return the least length of a silence, the likely one and the greatest; infinite at the log's ends."""
    if gap.held:
        # It began between the request that passed and the first that waited.
        most = gap.end - gap.start
        return max(0.0, most - interval), max(0.0, most - interval / 2), most
    least = gap.last_lost - gap.first_lost
    if gap.end <= gap.last_lost or gap.start >= gap.first_lost:
        return least, least + interval, math.inf
    return least, (least + gap.most) / 2, gap.most


def _few(gaps: Sequence[Gap], lengths: Sequence[tuple[float, float, float]]) -> Silences:
    """Return silences that are too few for a timetable or a law."""
    held = sum(gap.held for gap in gaps)
    mode: Mode = "hold" if 2 * held > len(gaps) else "drop"
    share = (held if mode == "hold" else len(gaps) - held) / len(gaps)
    middle = sum(value for _, value, _ in lengths) / len(lengths)
    low, high = min(each[0] for each in lengths), max(each[2] for each in lengths)
    return Silences(mode, share, tuple(gaps), length=middle, low=low, high=high, fixed=True)


def _one(lengths: Sequence[tuple[float, float, float]], silences: Silences) -> Quantity:
    count = len(lengths)
    lost = sum(gap.lost for gap in silences.gaps)
    did = (
        f"{lost} requests in a row were lost" if count == 1 and lost else f"{lost} requests were lost in them"
    )
    did = did if silences.mode == "drop" else "requests waited for its end"
    what = f"{count} silence{'s' if count > 1 else ''}: {did}"
    if math.isinf(silences.high):
        return Bounded("s", f"{what}, to an end of the log", at_least=silences.low)
    return Measured(silences.length, silences.low, silences.high, "s", what)


def _open(time: float, count: int) -> Quantity:
    """Return the mean time between silences, by the exact interval of a Poisson count."""
    if time <= 0:
        return Unknown("the link was silent all the time")
    low, high = poisson_interval(count)
    how = f"{count} silence{'s' if count > 1 else ''} in {time:.4g} s without"
    return Measured(time / count, time / high, time / low, "s", how)


def poisson_interval(count: int) -> tuple[float, float]:
    """Return the exact 95 % interval of the mean of a Poisson count (Garwood, Biometrika 28, 1936)."""

    def below(mean: float, most: int) -> float:
        """Return the probability of at most `most` events."""
        term = total = math.exp(-mean)
        for number in range(1, most + 1):
            term *= mean / number
            total += term
        return total

    def solve(most: int, wanted: float) -> float:
        low, high = 0.0, 20.0 + 4 * (count + 1)
        for _ in range(100):
            middle = (low + high) / 2
            low, high = (middle, high) if below(middle, most) > wanted else (low, middle)
        return (low + high) / 2

    return (solve(count - 1, 0.975) if count else 0.0), solve(count, 0.025)
