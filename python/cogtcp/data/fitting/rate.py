"""The capacity: measured where packets waited, else a bound; constant, or a trace where it varies fast."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cogtcp.data.fitting.backlog import (
    LEAST_WINDOWS,
    WINDOW,
    Batches,
    Delivery,
    Stretch,
    at_least,
    batches,
    block_bootstrap,
    queued,
    windows,
)
from cogtcp.data.fitting.estimate import median, quantile
from cogtcp.data.fitting.quantity import Bounded, Measured, Quantity, Unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Width of the bins of the logarithm in which rates are counted: 2 %, finer than any interval.
BIN = 0.02
#: Rates this near to the usual one are the link's, a share.
NEAR = 0.10
#: Stretches farther from the usual rate than so many median deviations are others, but at least this share.
_NEAR_DEVIATIONS, _NEAR_LEAST = 5.0, 0.02
#: Share of the stretches near the usual rate from which on the rate counts as constant.
CONSTANT = 0.55
#: What no capture shows, a share of the rate: shapers round their rates, and clocks of hosts differ.
FLOOR = 0.005
#: A gap longer than so many of the usual ones around it is a silence or a pause, not the link's pace; around
#: it: so many on each side; and at least s, the lateness of a host's timer (4 ms with 250 Hz).
_PAUSE, _AROUND, _LEAST_PAUSE_S = 4, 5, 0.004
#: Deliveries that follow each other in less than this share of the usual time were released together.
_RELEASED = 0.25
#: Deliveries of a stretch that are tried, the most first: a short capture has no long stretches.
_COUNTS = (WINDOW, 4, 3)
#: Stretches with batches need more deliveries: a batch more or less at an end is then 5 % of it.
_BATCH_WINDOW = 20
#: Neighbouring stretches whose rates differ less have one rate, a share: twice the error of a stretch.
_SAME = 0.15
#: Share of the stretches that may have a lower rate than the rate that gaps are compared with.
_LOW = 0.1
#: Rates of a trace below this share of the highest are the least that is written; a link of 0 is a silence.
_LEAST_RATE = 0.02
#: Trains that begin a transfer, by which a receiver without timestamps sees the pace: packets, and how many.
_TRAIN, _TRAINS = 4, 3
#: Packets that follow each other faster, s, are handed up by one interrupt: their pace is the host's.
_HOST_PACE_S = 2e-5
#: Trains are apart by this share of the round-trip time; within one, packets by less than so many paces: a
#: lost packet leaves a hole of two.
_BETWEEN, _IN_TRAIN = 0.25, 2.5
#: After a release this share of the distances is not above the link's pace.
_PACED = 0.7
#: Round-trip time where the data show none, s; and the rate of the scenario, bit/s.
_ROUND_S, _DEFAULT = 0.1, 10e6
#: The beginning of a transfer in which trains are looked for, packets: slow start with a window below 64.
_BEGINNING = 150
#: The span for a bound, s and in round trips: shorter ones see bursts. At most a third of the transfer.
_SPAN_S, _SPAN_ROUNDS = 0.25, 2.0


@dataclass
class RateFit:
    """What deliveries say of the rate.

    Attributes:
        capacity: Measured, or at least what was delivered.
        rate: Rate to compute with, bit/s: the estimate, or the bound.
        low_rate: A rate that the link rarely falls below, bit/s.
        backlog: Share of the bytes that waited in front of the link.
        constant: Share of the stretches near the usual rate.
        trace: Rates over time where a constant does not predict: (start, end, bit/s), by the capture's clock.
        batches: How deliveries come in batches, if they do.
        stretches: Stretches with a backlog.
        deliveries: All deliveries.
        waited: Which of them waited.
        most: The most that was delivered within a round trip, bit/s.
    """

    capacity: Quantity
    rate: float
    low_rate: float
    backlog: float
    constant: float = 1.0
    trace: list[tuple[float, float, float]] = field(default_factory=list)
    batches: Batches | None = None
    stretches: list[Stretch] = field(default_factory=list)
    deliveries: list[Delivery] = field(default_factory=list)
    waited: list[bool] = field(default_factory=list)
    most: float = 0.0


def measure(
    found: Sequence[Delivery],
    times: Sequence[float],
    base: float,
    packet_bytes: int,
    *,
    tick: float,
    timed: bool,
) -> RateFit:
    """Return the capacity that deliveries show.

    Args:
        found: Deliveries, in time order.
        times: Arrival of each packet or acknowledgement, s.
        base: Round-trip time without queue, s; NaN if unknown.
        packet_bytes: Usual size of a packet.
        tick: Resolution of waits, s.
        timed: Whether waits are known.
    """
    lasted = max(found[-1].time - found[0].time, 1e-9) if found else 0.0
    total = sum(each.size for each in found)
    round_trip = base if base == base else _ROUND_S
    span = min(max(_SPAN_ROUNDS * round_trip, _SPAN_S), max(lasted / 3, round_trip))
    most = at_least(found, span, packet_bytes) if len(found) > 1 else 0.0
    if len(found) < 2 or lasted <= 1e-6:
        return RateFit(Unknown("too few packets"), _DEFAULT, _DEFAULT, 0.0)
    in_batches = batches(times, round_trip, lasted / max(1, len(times)), receiver=tick > 0)
    if in_batches is not None:
        found = _collapse(found, in_batches.spacing / 2)
        most = at_least(found, max(span, 10 * in_batches.spacing), packet_bytes)
    waited = _released(found, queued(found, tick)) if timed else _in_trains(found, round_trip)
    stretches: list[Stretch] = []
    count = WINDOW
    for count in _COUNTS if in_batches is None else (_BATCH_WINDOW,):
        stretches = _paced(found, windows(found, waited, count), count)
        if len(stretches) >= LEAST_WINDOWS:
            break
    share = sum(each.size for each, flag in zip(found, waited, strict=True) if flag) / max(1, total)
    why = _why_not(share, timed)
    result = RateFit(
        Bounded("bit/s", why, at_least=most) if most > 0 else Unknown(why),
        max(most, 1e3), max(most, 1e3), share,
        batches=in_batches, stretches=stretches, deliveries=list(found), waited=waited, most=most,
    )  # fmt: skip
    if len(stretches) < LEAST_WINDOWS:
        return result
    rates = [each.rate for each in stretches]
    usual = _mode(stretches)
    near = [each for each in stretches if abs(each.rate / usual - 1) <= NEAR]
    apart = _NEAR_DEVIATIONS * median([abs(each.rate / usual - 1) for each in near])
    result.constant = sum(each.end - each.start for each in near) / math.fsum(
        each.end - each.start for each in stretches
    )
    if result.constant < CONSTANT and len(stretches) >= 3 * LEAST_WINDOWS:
        return _varies(result, found, waited, count)
    # Frames that the capture lost make stretches slower: they are told by how near the others are together.
    near = [each for each in near if abs(each.rate / usual - 1) <= max(_NEAR_LEAST, apart)]
    low, high = block_bootstrap(near)
    value = math.fsum(each.size for each in near) * 8 / math.fsum(each.end - each.start for each in near)
    if math.isnan(low):
        low = high = value
    half = max(FLOOR, _edge(near, in_batches)) * value
    result.rate, result.low_rate = value, min(quantile(rates, 0.05), value)
    how = (
        f"{len(near)} stretches of {count} deliveries that waited for each other "
        f"({share * 100:.0f} % of the bytes waited), at the most frequent rate"
    )
    result.capacity = Measured(value, min(low, value - half), max(high, value + half), "bit/s", how)
    return result


def _why_not(share: float, timed: bool) -> str:
    if not timed:
        return "without timestamps a receiver sees no backlog, and no trains of packets began the transfer"
    return f"no backlog was proved ({share * 100:.0f} % of the bytes waited): the link may carry more"


def _edge(stretches: Sequence[Stretch], in_batches: Batches | None) -> float:
    """Return the error that the ends of stretches leave in their mean, a share."""
    total = math.fsum(each.end - each.start for each in stretches)
    # A batch more or less at either end of each run of stretches.
    runs = 1 + sum(after.start > before.end + 1e-9 for before, after in itertools.pairwise(stretches))
    return in_batches.spacing * math.sqrt(runs) / total if in_batches is not None else 0.0


def _collapse(found: Sequence[Delivery], within: float) -> list[Delivery]:
    """Return batches as deliveries."""
    result: list[Delivery] = []
    for each in found:
        if result and each.time - result[-1].time < within:
            last = result[-1]
            wait = (
                last.wait
                if math.isnan(each.wait)
                else max(each.wait, 0.0 if math.isnan(last.wait) else last.wait)
            )
            result[-1] = Delivery(last.time, last.size + each.size, wait, each.sent)
        else:
            result.append(each)
    return result


def _paced(found: Sequence[Delivery], stretches: Sequence[Stretch], count: int) -> list[Stretch]:
    """Return the stretches without a gap far longer than usual: in a gap the link was silent."""
    paused = late_ones([each.time for each in found])
    by_start = {each.time: number for number, each in enumerate(found)}
    result = []
    for each in stretches:
        place = by_start[each.start]
        if not any(number in paused for number in range(place + 1, place + count + 1)):
            result.append(each)
    return result


def late_ones(times: Sequence[float]) -> set[int]:
    """Return which of some times come far later than the ones around them: after a silence or a pause.

    A rate that falls makes the times that follow as late, so the neighbours on both sides count.
    """
    gaps = [after - before for before, after in itertools.pairwise(times)]
    result = set()
    for number, gap in enumerate(gaps):
        if gap < _LEAST_PAUSE_S:
            continue
        before, after = gaps[max(0, number - _AROUND) : number], gaps[number + 1 : number + 1 + _AROUND]
        usual = max(median(before) if before else 0.0, median(after) if after else 0.0)
        if gap > _PAUSE * usual:
            result.add(number + 1)
    return result


def _released(found: Sequence[Delivery], waited: Sequence[bool]) -> list[bool]:
    """Return which deliveries waited, without those that a silence held on their way back.

    A gate that holds acknowledgements too releases them at once: their distances are none of the link's.
    """
    result = list(waited)
    times = [each.time for each in found]
    for start in late_ones(times):
        around = [b - a for a, b in itertools.pairwise(times[start : start + 8 * _AROUND])]
        # Later ones come at the link's pace again.
        usual = quantile(around, _PACED)
        place = start
        result[start] = False
        while place + 1 < len(times) and times[place + 1] - times[place] < _RELEASED * usual:
            place += 1
            result[place] = False
    return result


def _mode(stretches: Sequence[Stretch]) -> float:
    weights: dict[int, float] = {}
    for each in stretches:
        # Bins of the logarithm: equally wide in relation to the rate.
        place = math.floor(math.log(max(each.rate, 1.0)) / BIN)
        weights[place] = weights.get(place, 0.0) + each.size
    # With its neighbours: the edge of a bin may cut the peak in two.
    top = max(weights, key=lambda b: sum(weights.get(b + step, 0.0) for step in (-2, -1, 0, 1, 2)))
    near = [each for each in stretches if abs(each.rate / math.exp((top + 0.5) * BIN) - 1) <= NEAR]
    return median([each.rate for each in near]) if near else math.exp((top + 0.5) * BIN)


def _in_trains(found: Sequence[Delivery], base: float) -> list[bool]:
    """Return which deliveries at a receiver without timestamps follow each other at the pace of trains.

    A sender that begins sends trains, one each round trip: within a train the link sets the pace. Later
    deliveries at this pace waited too.
    """
    spacing = [after.time - before.time for before, after in itertools.pairwise(found)]
    begin = spacing[:_BEGINNING]
    if len(begin) < _TRAIN * _TRAINS:
        return [False] * len(found)
    pause = _BETWEEN * base
    trains: list[list[float]] = [[]]
    for gap in begin:
        if gap > pause:
            trains.append([])
        else:
            trains[-1].append(gap)
    paces = [median(train) for train in trains if len(train) >= _TRAIN - 1]
    # One train without an end is a steady flow, of an application as well as of a link.
    if len(paces) < _TRAINS:
        return [False] * len(found)
    pace = median(paces)
    agree = sum(abs(each / pace - 1) <= NEAR for each in paces)
    if agree < _TRAINS or pace < _HOST_PACE_S:
        return [False] * len(found)
    return [False, *(gap < _IN_TRAIN * pace for gap in spacing)]


def _varies(result: RateFit, found: Sequence[Delivery], waited: Sequence[bool], count: int) -> RateFit:
    """Fill in a rate that no constant describes: a trace with steps as long as the data need."""
    short = max(3, count // 2)
    pieces = _merged(_paced(found, windows(found, waited, short), short))
    result.trace = [(each.start, each.end, each.rate) for each in pieces]
    total = math.fsum(each.end - each.start for each in pieces)
    value = math.fsum(each.size for each in pieces) * 8 / total
    low, high = block_bootstrap(pieces)
    rates = sorted(each.rate for each in pieces)
    low, high = (value, value) if math.isnan(low) else (low, high)
    result.rate, result.low_rate = value, max(quantile(rates, _LOW), _LEAST_RATE * rates[-1])
    how = (
        f"varies: {quantile(rates, 0.05) * 1e-6:.3g} to {quantile(rates, 0.95) * 1e-6:.3g} Mbit/s over "
        f"{len(pieces)} stretches with a backlog; the mean while packets waited, and a trace"
    )
    result.capacity = Measured(
        value, min(low, value * (1 - FLOOR)), max(high, value * (1 + FLOOR)), "bit/s", how
    )
    return result


def _merged(pieces: Sequence[Stretch]) -> list[Stretch]:
    """Return stretches of which neighbours with one rate are joined: a step is as long as the data need."""
    result: list[Stretch] = []
    for each in pieces:
        last = result[-1] if result else None
        if last and each.start <= last.end + 1e-9 and abs(math.log(each.rate / last.rate)) < _SAME:
            result[-1] = Stretch(last.start, each.end, last.size + each.size)
        else:
            result.append(each)
    return result
