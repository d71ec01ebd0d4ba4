"""Silences of a link, from what passed it and what did not.

A silence shows as a gap in what passes the gate while something wanted to. What happened to the packets sent
meanwhile tells the kind: held packets arrive late, dropped ones never. Where the gate falls silent on a fixed
timetable all cycles are laid over each other: whatever passed in any of them bounds the silence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cogtcp.data.fitting.estimate import bootstrap, median, quantile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.data.fitting.connections import Sent

Mode = Literal["hold", "drop"]

#: A period needs so many silences on its grid, and this share of all that were seen.
_LEAST, _SHARE = 4, 0.6
#: From so many silences on, the rate between them has a law of its own.
LEAST_TIMED = _LEAST
#: From so many silences on one bound of each kind may be wrong.
_SPARE = 5
#: A gap with fewer losses than this share of the usual ones is no silence: chance lost a packet or two.
_FEW = 0.2
#: So many probes lost in a row are a silence, whatever else was lost: a sender may have had nothing to send.
_PROBES = 3
#: A silence that seems to be of the other kind, or is the rest of another, has a length unlike the usual one.
_UNLIKE = 0.5
#: A timetable has a silence at this share of its beginnings at least: others nobody may have sent into.
_FULL = 0.5
#: A beginning shows later or earlier the fewer packets pass: tolerances that are tried one after the other.
_LOOSER = (1, 2, 4)
#: Clocks of two hosts differ by up to 100 ppm, and timers that silences keep to are as exact; a share.
_CLOCKS = 2e-4
#: Ends of a gap are off by so many packet times: two at each end.
_ERROR = 4.0
#: Timers that silences keep to are late by up to this, s: a tick of a kernel with 250 Hz, and the host.
_TIMER_S = 0.005
#: Lengths within this share of the usual one are alike; most are alike if this share of them is.
_ALIKE, _MOSTLY = 0.25, 0.75
#: Lengths have one value if four of five lie within this share of it.
_FIXED = 0.2
#: A grid with half of its beginnings missing is the double of the true one: it gets 3/4 of the score.
_DOUBLE = 1.5
#: Silences that candidates for a period are taken from.
_MOST = 80


@dataclass(frozen=True, slots=True)
class Gap:
    """A stretch in which the link let nothing pass although something waited.

    Attributes:
        start: When the last thing passed before it, at the link, s.
        end: When the first thing passed after it.
        held: Whether packets that wanted to pass arrived late.
        first_lost: When the first packet that was lost in it would have passed; NaN without.
        last_lost: When the last one would have.
        lost: How many were lost.
        probes: How many of these were probes.
    """

    start: float
    end: float
    held: bool
    first_lost: float = math.nan
    last_lost: float = math.nan
    lost: int = 0
    probes: int = 0

    @property
    def most(self) -> float:
        """The longest that the silence can have been."""
        return self.end - self.start

    @property
    def least(self) -> float:
        """The shortest that it can have been: between two packets that were lost."""
        return self.last_lost - self.first_lost if self.lost > 1 else 0.0


@dataclass(frozen=True, slots=True)
class Silences:
    """What is known of a link's silences.

    Attributes:
        mode: What they do with packets.
        sure: Share of the silences that say so.
        gaps: The silences, in the order of time.
        period: From one to the next, s; NaN where they keep no timetable.
        period_error: Half of the 95 % interval of the period.
        length: Their length, s; of those without a timetable the median.
        low: The least that the data allow for it.
        high: The most.
        fixed: Whether all have one length.
        on_grid: Silences on the timetable.
        phase: When one of them begins, s.
    """

    mode: Mode
    sure: float
    gaps: tuple[Gap, ...]
    period: float = math.nan
    period_error: float = math.nan
    length: float = math.nan
    low: float = math.nan
    high: float = math.nan
    fixed: bool = False
    on_grid: int = 0
    phase: float = math.nan

    @property
    def lengths(self) -> list[float]:
        """The length of each, s: exact where packets are held, else the middle of the possible range."""
        if self.mode == "hold":
            return [gap.most for gap in self.gaps]
        return [(max(gap.least, 0.0) + gap.most) / 2 for gap in self.gaps]

    @property
    def opens(self) -> list[float]:
        """The times from the end of one to the beginning of the next, s."""
        return [
            after.start - before.end
            for before, after in zip(self.gaps, self.gaps[1:], strict=False)
            if after.start > before.end
        ]

    def covers(self, start: float, end: float) -> bool:
        """Whether a stretch of time overlaps a silence, also one of the timetable that no gap shows."""
        if not math.isnan(self.phase):
            # The first silence of the timetable that ends after `start`, were it as long as it can be.
            following = self.phase + math.ceil((start - self.high - self.phase) / self.period) * self.period
            if following < end:
                return True
        return any(gap.start < end and start < gap.end for gap in self.gaps)


def characterise(gaps: Sequence[Gap], spacing: float) -> Silences | None:
    """Return what gaps have in common; None where too few are silences.

    Args:
        gaps: Stretches in which nothing passed.
        spacing: Usual time from one packet to the next, s: what a bound can be off by.
    """
    if len(gaps) < 2:
        return None
    usual = median([gap.lost for gap in gaps if not gap.held])
    # `not <`: without any loss the median is no number, and nothing is left out.
    gaps = [gap for gap in gaps if gap.held or gap.probes >= _PROBES or not gap.lost < _FEW * usual]
    timetable, tolerance = None, 0.0
    for factor in _LOOSER:
        tolerance = factor * _tolerance(spacing)
        timetable = _timetable([gap.start for gap in gaps], tolerance)
        if timetable is not None:
            break
    period = phase = error = math.nan
    if timetable is not None:
        period, phase, error, _ = timetable
        # A gap off the timetable is no silence: a sender that waited for its timer.
        gaps = [
            gap
            for gap in gaps
            if abs(_off(gap.start, period, phase)) <= tolerance or _spans(gap, period, phase)
        ]
        if len(gaps) >= _LEAST:
            period, error = _sharper(gaps, period, phase, error)
    if timetable is not None:
        error = max(error, _CLOCKS * period, spacing / max(1, len(gaps)))
    held = sum(gap.held for gap in gaps)
    mode: Mode = "hold" if 2 * held >= len(gaps) else "drop"
    sure = (held if mode == "hold" else len(gaps) - held) / len(gaps)
    ours = [gap for gap in gaps if gap.held == (mode == "hold")]
    if timetable is not None:
        length, low, high, begin = _folded(ours, period, phase, mode, spacing)
        # In some cycle packets passed at every time: the timetable is a coincidence.
        if length <= 0:
            return None
        return Silences(
            mode, sure, tuple(gaps), period, error, length, low, high, True, len(gaps), phase + begin
        )
    if len(ours) < 3:
        return None
    return _loose(ours, _seen(gaps, ours, spacing), mode, sure, spacing)


def _seen(gaps: Sequence[Gap], ours: Sequence[Gap], spacing: float) -> list[Gap]:
    """Return the gaps that are silences: of the usual kind, or of the other kind and the usual length.

    A full queue loses packets that are sent into a silence that holds, and a late answer makes a silence that
    drops look like one that holds. So the kind of a single silence may be wrong. If most lengths are alike, a
    gap of less than half of the length is no silence of its own.
    """
    usual = median([gap.most for gap in ours])
    alike = [gap for gap in ours if abs(gap.most - usual) <= max(_ALIKE * usual, _ERROR * spacing)]
    if len(alike) < _MOSTLY * len(ours):
        return list(ours)
    kind = ours[0].held
    return [
        gap
        for gap in gaps
        if gap.most >= _UNLIKE * usual and (gap.held == kind or gap.most <= usual / _UNLIKE)
    ]


def _tolerance(spacing: float) -> float:
    return max(_ERROR * spacing, _TIMER_S)


def _off(time: float, period: float, phase: float) -> float:
    """Return how far a time is from the nearest beginning of the timetable."""
    return (time - phase + period / 2) % period - period / 2


def _spans(gap: Gap, period: float, phase: float) -> bool:
    """Whether a beginning of the timetable lies in the gap, with a packet lost after it."""
    following = phase + math.ceil((gap.start - phase) / period) * period
    return gap.start < following < gap.end and (gap.held or gap.lost > 0)


def _timetable(starts: Sequence[float], tolerance: float) -> tuple[float, float, float, int] | None:
    """Return period, phase, half of the period's 95 % interval, and how many keep it; None without one.

    Of the periods that most beginnings keep the longest, since they keep its fractions too.
    """
    starts = sorted(starts)[:_MOST]
    if len(starts) < _LEAST:
        return None
    candidates: set[float] = set()
    for index, start in enumerate(starts):
        for other in starts[index + 1 : index + 8]:
            # Beginnings may be missing in between: a difference may be up to four periods.
            candidates.update((other - start) / parts for parts in (1, 2, 3, 4))
    span = starts[-1] - starts[0]
    best: tuple[float, float, list[tuple[int, float]]] | None = None
    for candidate in sorted(candidates):
        # A grid that fine is kept by anything; one of less than two periods is no grid.
        if candidate < 8 * tolerance or candidate > span / 2:
            continue
        found = _keepers(starts, candidate, tolerance)
        if len(found[1]) < max(_LEAST, _SHARE * len(starts)):
            continue
        period, phase = _line(found[1])
        keepers = _on_line(starts, period, phase, tolerance)
        # Chance alone puts some on any grid.
        score = len(keepers) - 2 * len(starts) * 2 * tolerance / period
        slots = len({number for number, _ in keepers})
        whole = round(span / period) + 1
        if slots < _FULL * whole:
            continue  # beginnings that the timetable has and nobody saw
        score *= min(1.0, _DOUBLE * slots / whole)
        if len(keepers) >= _LEAST and (best is None or score > best[0] + 1e-9):
            best = (score, period, keepers)
    if best is None:
        return None
    keepers = best[2]
    period, phase = _line(keepers)
    residual = [time - phase - number * period for number, time in keepers]
    spread = math.sqrt(math.fsum(r * r for r in residual) / max(1, len(residual) - 2))
    numbers = [number for number, _ in keepers]
    middle = math.fsum(numbers) / len(numbers)
    error = 1.96 * spread / math.sqrt(math.fsum((n - middle) ** 2 for n in numbers) or 1.0)
    return period, phase, error, len(keepers)


def _sharper(gaps: Sequence[Gap], period: float, phase: float, error: float) -> tuple[float, float]:
    """Return the period by the ends of silences if these lie nearer to a line, as those that hold do."""
    points = [(round((gap.start - phase) / period), gap.end) for gap in gaps]
    if len({number for number, _ in points}) < _LEAST:
        return period, error
    slope, origin = _line(points)
    residual = [time - origin - number * slope for number, time in points]
    spread = math.sqrt(math.fsum(r * r for r in residual) / max(1, len(residual) - 2))
    middle = math.fsum(n for n, _ in points) / len(points)
    ours = 1.96 * spread / math.sqrt(math.fsum((n - middle) ** 2 for n, _ in points) or 1.0)
    return (slope, ours) if ours < error else (period, error)


def _keepers(
    starts: Sequence[float], period: float, tolerance: float
) -> tuple[float, list[tuple[int, float]]]:
    """Return the chain of beginnings that are whole periods apart, from the best one to begin with."""
    best: list[tuple[int, float]] = []
    phase = starts[0]
    # A chain that begins in the later half cannot be kept by most.
    for first in starts[: max(1, len(starts) // 2)]:
        # Step by step, so that a small error of the period does not add up.
        at, number, step = first, 0, period
        found = [(0, first)]
        for start in starts:
            if start <= at + tolerance:
                continue
            count = round((start - at) / step)
            if count >= 1 and abs(start - at - count * step) <= tolerance:
                number, at = number + count, start
                found.append((number, start))
                step = (at - first) / number
        if len(found) > len(best):
            best, phase = found, first
    return phase, best


def _line(points: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """Return slope and origin of the line through points by least squares."""
    count = len(points)
    mean_n = math.fsum(n for n, _ in points) / count
    mean_t = math.fsum(t for _, t in points) / count
    slope = math.fsum((n - mean_n) * (t - mean_t) for n, t in points) / (
        math.fsum((n - mean_n) ** 2 for n, _ in points) or 1.0
    )
    return slope, mean_t - slope * mean_n


def _on_line(
    starts: Sequence[float], period: float, phase: float, tolerance: float
) -> list[tuple[int, float]]:
    return [
        (round((start - phase) / period), start)
        for start in starts
        if abs(_off(start, period, phase)) <= tolerance
    ]


def _folded(
    gaps: Sequence[Gap], period: float, phase: float, mode: Mode, spacing: float
) -> tuple[float, float, float, float]:
    """Return length, its bounds and the beginning of silences on a timetable, from all cycles at once."""
    begins, ends, first_lost, last_lost = [], [], [], []
    for gap in gaps:
        # The grid point within the gap, or next to its beginning.
        number = round((gap.start - phase) / period)
        if gap.start + period - _tolerance(spacing) < gap.end:
            number = math.ceil((gap.start - phase) / period - 1e-9)
        grid = phase + number * period
        begins.append(gap.start - grid)
        ends.append(gap.end - grid)
        if gap.lost:
            first_lost.append(gap.first_lost - grid)
            last_lost.append(gap.last_lost - grid)
    # One gap may be wrong: of many the second is taken.
    spare = 1 if len(gaps) >= _SPARE else 0
    begin = sorted(begins)[-1 - spare]
    end = sorted(ends)[spare]
    most = end - begin
    if mode == "hold" or not first_lost:
        # Something passes right before and right after a silence that holds, in some cycle.
        return most, max(most - spacing, 0.0), most + spacing / 4, begin
    from_ = max(begin, sorted(first_lost)[min(spare, len(first_lost) - 1)])
    to = min(end, sorted(last_lost)[-1 - min(spare, len(last_lost) - 1)])
    least = min(max(to - from_, 0.0), most)
    return (least + most) / 2, max(0.0, min(least, most - spacing)), most, begin


def _loose(ours: Sequence[Gap], every: Sequence[Gap], mode: Mode, sure: float, spacing: float) -> Silences:
    """Return the silences without a timetable; `ours` gives their length."""
    gaps = [gap for gap in ours if gap in every]
    seen = tuple(every)
    if mode == "hold":
        lengths = [gap.most - spacing / 3 for gap in gaps]
        middle = median(lengths)
        spread = quantile(lengths, 0.9) - quantile(lengths, 0.1)
        fixed = spread < max(_FIXED * middle, _ERROR * spacing)
        low, high = middle - 2 * spacing, middle + 2 * spacing
        if not fixed:
            low, high = bootstrap(lengths)
            low, high = min(low, middle), max(high, middle)
        return Silences(mode, sure, seen, length=middle, low=max(low, 0.0), high=high, fixed=fixed)
    most = sorted(gap.most for gap in gaps)
    least = sorted(gap.least for gap in gaps)
    spare = 1 if len(gaps) >= _SPARE else 0
    top, bottom = most[spare], least[-1 - spare]
    # One length fits all of them if no silence is surely longer than another can be.
    fixed = bottom <= (1 + _FIXED / 2) * top + _ERROR / 2 * spacing
    if fixed:
        low, high = sorted((bottom, top))
        return Silences(mode, sure, seen, length=(low + high) / 2, low=low, high=high, fixed=True)
    lengths = [(gap.least + gap.most) / 2 for gap in gaps]
    # Both the draw of the lengths and what bounds each of them.
    low, high = bootstrap(lengths)
    low, high = min(low, median(least)), max(high, median(most))
    return Silences(mode, sure, seen, length=median(lengths), low=low, high=high, fixed=False)


#: Silences without a timetable: so many, or each of such a length, s. A host that pauses looks the same, but
#: hosts rarely pause for longer.
_LEAST_LOOSE, _OUTAGE_S = 4, 0.25
#: The chance that random losses alone make one of the gaps, at most.
_CHANCE = 0.01
#: The shortest run of losses that shows a silence by itself, packets.
LEAST_RUN = 3


def tested(
    found: Silences | None, gaps: Sequence[Gap], data: Sequence[Sent], base: float, spacing: float
) -> Silences | None:
    """Return the silences that "no silence" does not explain; None if it explains all gaps.

    The hypothesis: packets are lost by chance at the rate that is seen outside gaps, the sender waits for its
    timer, and the application pauses. A gap stands against it if packets were held, or if a run of losses
    is too long for chance.

    Args:
        found: What the gaps have in common.
        gaps: All gaps.
        data: Data packets, in time order.
        base: Round-trip time without queue, s.
        spacing: Usual time from one packet to the next, s.
    """
    sure = [gap for gap in gaps if _against_chance(gap, gaps, data)]
    if found is None:
        # One outage is one silence of its length.
        long = [gap for gap in sure if gap.most >= max(_OUTAGE_S, 2 * base)]
        return _few(long, spacing) if long else None
    ours = [gap for gap in found.gaps if gap in sure]
    # A timetable that few of its silences prove is a coincidence.
    if 2 * len(ours) < len(found.gaps):
        long = [gap for gap in sure if gap.most >= max(_OUTAGE_S, 2 * base)]
        return _few(long, spacing) if long else None
    if math.isnan(found.period):
        long = [gap for gap in ours if gap.most >= _OUTAGE_S]
        if len(ours) < _LEAST_LOOSE:
            return _few(long, spacing) if long else None
    return found


def _few(gaps: Sequence[Gap], spacing: float) -> Silences:
    """Return single outages: each with its own length, and no law."""
    held = 2 * sum(gap.held for gap in gaps) >= len(gaps)
    lengths = sorted(gap.most if gap.held else (gap.least + gap.most) / 2 for gap in gaps)
    least = min(gap.most - spacing if gap.held else gap.least for gap in gaps)
    most = max(gap.most for gap in gaps)
    return Silences(
        "hold" if held else "drop", 1.0, tuple(gaps), length=median(lengths), low=max(0.0, least), high=most,
        fixed=len(gaps) == 1,
    )  # fmt: skip


def _against_chance(gap: Gap, gaps: Sequence[Gap], data: Sequence[Sent]) -> bool:
    """Whether neither chance nor a timer explains a gap."""
    if gap.held or gap.probes >= _PROBES:
        return True
    if gap.lost < LEAST_RUN:
        return False
    lost = sum(sent.lost for sent in data) - sum(each.lost for each in gaps)
    # At least one: a share of zero would make any loss a silence.
    share = max(1, lost) / max(1, len(data))
    return float(len(data)) * share**gap.lost < _CHANCE
