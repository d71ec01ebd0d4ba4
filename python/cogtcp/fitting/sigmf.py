"""SigMF: the annotations of a recording as occupancy of channels.

The file `.sigmf-meta` is JSON (SigMF 1.2, https://sigmf.org): `annotations` mark stretches of samples, and
mostly the band in which something was sent. The samples themselves are not read.
"""

from __future__ import annotations

import math
from typing import Any

from cogtcp._errors import UsageError

#: Bands that overlap by this share of the narrower one are one channel.
_OVERLAP = 0.5


def is_meta(data: Any) -> bool:
    """Return whether a JSON value is SigMF metadata."""
    return isinstance(data, dict) and isinstance(data.get("global"), dict) and "annotations" in data


def occupancy(data: dict[str, Any], file: str) -> tuple[str, list[str]]:
    """Return annotations as occupancy in CSV (time, band, busy), and notes about the channels.

    Annotations of bands that overlap are one channel; those without a band are all in one.

    Raises:
        UsageError: The sample rate is missing, or no annotation marks a stretch.
    """
    rate = data["global"].get("core:sample_rate")
    if not isinstance(rate, int | float) or not rate > 0:
        raise UsageError(f'{file}: SigMF without core:sample_rate has no times; add the rate to "global"')
    bands: list[tuple[float, float]] = []
    spans: list[tuple[float, float, int]] = []
    end = _end(data, rate)
    for number, note in enumerate(data["annotations"]):
        try:
            first, count = float(note["core:sample_start"]), float(note.get("core:sample_count", math.nan))
            low = float(note.get("core:freq_lower_edge", -math.inf))
            high = float(note.get("core:freq_upper_edge", math.inf))
        except (AttributeError, KeyError, TypeError, ValueError):
            raise UsageError(
                f"{file}: annotation {number + 1} has no core:sample_start; write its first sample"
            ) from None
        # An annotation without a length marks a moment: it says nothing of how long a channel was busy.
        if not count > 0:
            continue
        place = next((k for k, band in enumerate(bands) if _same(band, (low, high))), len(bands))
        if place == len(bands):
            bands.append((low, high))
        spans.append((first / rate, (first + count) / rate, place))
        end = max(end, (first + count) / rate)
    if not spans:
        raise UsageError(
            f"{file}: no annotation of the SigMF recording has core:sample_count; annotate the busy times"
        )
    order = sorted(range(len(bands)), key=lambda k: bands[k])
    rows: list[tuple[float, int, int]] = []
    notes = []
    for channel, place in enumerate(order, start=1):
        busy = _merged([(start, stop) for start, stop, k in spans if k == place])
        if busy[0][0] > 0:
            rows.append((0.0, channel, 0))
        for start, stop in busy:
            rows += [(start, channel, 1), (stop, channel, 0)]
        low, high = bands[place]
        if math.isfinite(low + high):
            notes.append(f"{file}: channel {channel} is {low * 1e-6:.6g} to {high * 1e-6:.6g} MHz")
    rows.sort()
    # A last row that changes nothing says how long the channels were watched.
    if rows[-1][0] < end:
        rows.append((end, 1, 0))
    lines = [f"{time:.9f},{channel},{busy}" for time, channel, busy in rows]
    return "\n".join(["time,band,busy", *lines, ""]), notes


def _end(data: dict[str, Any], rate: float) -> float:
    """Return where the last capture begins, s: the recording is at least so long."""
    starts = [float(each.get("core:sample_start", 0)) for each in data.get("captures") or [] if each]
    return max(starts, default=0.0) / rate


def _same(one: tuple[float, float], other: tuple[float, float]) -> bool:
    # Without both edges there is no width to compare.
    if math.inf in (one[1], other[1]) or -math.inf in (one[0], other[0]):
        return one == other
    both = min(one[1], other[1]) - max(one[0], other[0])
    return both >= _OVERLAP * min(one[1] - one[0], other[1] - other[0])


def _merged(spans: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return spans in the order of time, those that touch or overlap as one."""
    found: list[tuple[float, float]] = []
    for start, stop in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], stop))
        else:
            found.append((start, stop))
    return found
