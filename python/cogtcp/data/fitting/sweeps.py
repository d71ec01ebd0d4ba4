"""Sweeps of a spectrum analyser: powers of rtl_power and hackrf_sweep as occupancy of channels.

Both write lines of `date, time, Hz low, Hz high, Hz step, samples, dB, dB, ...` (rtl_power.c of rtl-sdr,
which repeats the last power; hackrf_sweep.c of hackrf-tools). A sweep has a line for each part of the span;
lines of one sweep may have times of their own.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime

from cogtcp._errors import UsageError
from cogtcp.data.fitting.estimate import median

_LINE = re.compile(r"\s*(\d{4}-\d\d-\d\d), ?(\d\d:\d\d:\d\d(?:\.\d+)?), ?\d+, ?\d+, ?[\d.]+, ?\d+, ?[-\d.ni]")
#: Neighbouring bins are one channel if both are busy in this share of the sweeps with one of them busy.
_TOGETHER = 0.5
#: Sweeps this many times further apart than usual have a pause between them.
_PAUSE = 5


@dataclass
class Sweeps:
    """What sweeps say of the channels.

    Attributes:
        csv: Occupancy as CSV (time, band, busy), time 0 at the first sweep.
        count: Number of sweeps.
        interval: Usual time between sweeps, s.
        cuts: Times at which sweeps are missing, s.
        notes: What the channels are.
    """

    csv: str
    count: int
    interval: float
    cuts: tuple[float, ...] = ()
    notes: list[str] = field(default_factory=list)


def is_sweep(text: str) -> bool:
    """Return whether a text is what rtl_power or hackrf_sweep writes."""
    return _LINE.match(text) is not None


def occupancy(text: str, file: str, threshold: float | None) -> Sweeps:
    """Return which channels were busy in which sweep.

    Args:
        text: The sweeps.
        file: Name for errors.
        threshold: Power from which on a bin is busy, in the dB of the file.

    Raises:
        UsageError: A line is wrong, the threshold is missing, or no bin reaches it.
    """
    bins, step = _powers(text, file)
    every = [power for samples in bins.values() for _, power in samples if math.isfinite(power)]
    if not every:
        raise UsageError(f"{file}: the sweeps have no powers; give what rtl_power or hackrf_sweep wrote")
    if threshold is None:
        raise UsageError(
            f"{file}: has powers of rtl_power or hackrf_sweep, {min(every):.4g} to {max(every):.4g} dB, half "
            f"below {median(every):.4g}; say from which power on a channel is busy, as in --threshold=-60dBm"
        )
    busy = {
        low: {n for n, (_, power) in enumerate(samples) if power >= threshold}
        for low, samples in bins.items()
    }
    if not any(busy.values()):
        raise UsageError(
            f"{file}: no power reaches {threshold:g} dBm, the greatest is {max(every):.4g}; "
            "give a lower threshold"
        )
    origin = min(samples[0][0] for samples in bins.values())
    clock = [at - origin for at, _ in max(bins.values(), key=len)]
    steps = [b - a for a, b in itertools.pairwise(clock) if b > a]
    interval = median(steps) if steps else 1.0
    found = Sweeps("", len(clock), interval)
    found.cuts = tuple(b for a, b in itertools.pairwise(clock) if b - a > _PAUSE * interval)
    rows: list[tuple[float, int, int]] = []
    for number, (low, high, when) in enumerate(_channels(busy, step), start=1):
        rows += [(at - origin, number, int(n in when)) for n, (at, _) in enumerate(bins[low])]
        found.notes.append(f"{file}: channel {number} is {low * 1e-6:.6g} to {high * 1e-6:.6g} MHz")
    rows.sort()
    # A state holds until the next sweep: so does the last.
    rows.append((rows[-1][0] + interval, 1, 0))
    idle = sum(not when for when in busy.values())
    if idle:
        found.notes.append(f"{file}: {idle} of {len(busy)} bins never reach {threshold:g} dBm: no channel")
    found.notes.append(f"{file}: a sweep takes {interval:.4g} s; shorter times are not seen")
    if found.cuts:
        found.notes.append(
            f"{file}: sweeps are missing at {len(found.cuts)} places; times across them are left out"
        )
    lines = [f"{at:.6f},{band},{state}" for at, band, state in rows]
    found.csv = "\n".join(["time,band,busy", *lines, ""])
    return found


def _powers(text: str, file: str) -> tuple[dict[float, list[tuple[float, float]]], float]:
    """Return time and power of each bin in each sweep, and the width of a bin in Hz."""
    bins: dict[float, list[tuple[float, float]]] = defaultdict(list)
    step = 0.0
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        fields = [each.strip() for each in line.split(",")]
        try:
            clock = datetime.fromisoformat(f"{fields[0]}T{fields[1]}").replace(tzinfo=UTC)
            low, high, step = float(fields[2]), float(fields[3]), float(fields[4])
            powers = [float(each) for each in fields[6:] if each]
            if not (step > 0 and high > low and powers):
                raise ValueError
        except (IndexError, ValueError):
            raise UsageError(
                f"{file}:{number}: is no line of rtl_power or hackrf_sweep; they write date, time, Hz low, "
                "Hz high, Hz step, samples, dB, ..."
            ) from None
        # rtl_power repeats the last power.
        for place, power in enumerate(powers[: max(1, round((high - low) / step))]):
            bins[low + place * step].append((clock.timestamp(), power))
    return dict(bins), step


def _channels(busy: dict[float, set[int]], step: float) -> list[tuple[float, float, set[int]]]:
    """Return neighbouring bins that are busy together as channels: low and high edge, and the busy sweeps."""
    found: list[tuple[float, float, set[int]]] = []
    for low in sorted(busy):
        when = busy[low]
        if not when:
            continue
        if found and abs(found[-1][1] - low) < step / 2:
            begin, _, before = found[-1]
            if len(before & when) >= _TOGETHER * len(before | when):
                found[-1] = (begin, low + step, before | when)
                continue
        found.append((low, low + step, set(when)))
    return found
