"""SigMF: the annotations of a recording as occupancy of channels.

The file `.sigmf-meta` is JSON (SigMF 1.2.5, https://sigmf.org, sigmf-schema.json): `annotations` mark
stretches of samples, and mostly the band in which something was sent. Indices of samples are absolute: they
include `core:offset`. The samples are not read; the size of `.sigmf-data` tells how many there are.
"""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from cogtcp._errors import CogtcpError, UsageError
from cogtcp._spans import merged

if TYPE_CHECKING:
    from pathlib import Path

#: Bands that overlap by this share of the narrower one are one channel.
_OVERLAP = 0.5
#: A segment this much later than its samples say has a gap before it, s: dates have milliseconds.
_GAP_S = 0.01


@dataclass
class Recording:
    """What annotations say of the channels.

    Attributes:
        csv: Occupancy as CSV (time, band, busy), time 0 at the first sample.
        cuts: Times at which samples are missing, s: what lasts across one is not whole.
        notes: What the channels are, and what the recording lacks.
    """

    csv: str
    cuts: tuple[float, ...] = ()
    notes: list[str] = field(default_factory=list)


def is_meta(data: Any) -> bool:
    """Return whether a JSON value is SigMF metadata."""
    return isinstance(data, dict) and isinstance(data.get("global"), dict) and "annotations" in data


def occupancy(data: dict[str, Any], file: Path) -> Recording:
    """Return the occupancy that annotations mark; see `_read`.

    Raises:
        UsageError: It is not what SigMF describes.
    """
    try:
        return _read(data, file)
    except CogtcpError:
        raise
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as fault:
        raise UsageError(f"{file}: is not SigMF: {fault}; give a whole .sigmf-meta file") from None


def _read(data: dict[str, Any], file: Path) -> Recording:
    """Return the occupancy that annotations mark.

    Annotations of bands that overlap are one channel; those without a band are all in one. An annotation
    without a count lasts to the end of the recording, if `.sigmf-data` or other marks show the end.

    Args:
        data: The metadata.
        file: Its file.

    Raises:
        UsageError: The sample rate is missing, an annotation begins before the first sample, or none marks a
            stretch.
    """
    rate = data["global"].get("core:sample_rate")
    if not isinstance(rate, int | float) or not rate > 0:
        raise UsageError(f'{file}: SigMF without core:sample_rate has no times; add the rate to "global"')
    first = _first(data, file)
    marks = _marks(data, file, first)
    count = _count(data, file)
    # The last index that the metadata name: the recording is at least so long.
    known = max([each.start for each in marks] + [each.end for each in marks if each.end < math.inf] + [0.0])
    end = count if count is not None else max(known, *(start for start, _, _ in _segments(data, first)), 0.0)
    found = Recording("", notes=[])
    bands: list[tuple[float, float]] = []
    spans: list[tuple[float, float, int]] = []
    remarks = open_ = 0
    for mark in marks:
        stop = mark.end
        if math.isinf(stop):
            if not math.isfinite(mark.band[0]) and not math.isfinite(mark.band[1]):
                # Neither a length nor a band: it says nothing of a channel.
                remarks += 1
                continue
            stop = end
            open_ += 1
        if not stop > mark.start:
            continue
        place = next((k for k, band in enumerate(bands) if _same(band, mark.band)), len(bands))
        if place == len(bands):
            bands.append(mark.band)
        spans.append((mark.start / rate, stop / rate, place))
    if not spans:
        raise UsageError(
            f"{file}: no annotation of the SigMF recording has a length; annotate the busy times with "
            "core:sample_count"
        )
    if remarks:
        found.notes.append(
            f"{file.name}: {remarks} annotations have neither a length nor a band; they are left out"
        )
    if open_ and count is None:
        found.notes.append(
            f"{file.name}: {open_} annotations have no core:sample_count, and without {file.stem}.sigmf-data "
            f"the end of the recording is unknown; the last mark at {end / rate:.6g} s is taken for it"
        )
    found.cuts = _cuts(data, first, rate)
    if found.cuts:
        found.notes.append(
            f"{file.name}: samples are missing at {len(found.cuts)} places; times across them are left out"
        )
    found.csv = _csv(bands, spans, end / rate, file, found.notes)
    return found


@dataclass(frozen=True)
class _Mark:
    """An annotation: first sample and end from the beginning of the recording, and its band in Hz."""

    start: float
    end: float
    band: tuple[float, float]


def _first(data: dict[str, Any], file: Path) -> float:
    """Return the index of the first sample."""
    offset = data["global"].get("core:offset", 0)
    if not isinstance(offset, int | float) or offset < 0:
        raise UsageError(f"{file}: core:offset is {offset!r}; write the index of the first sample")
    return float(offset)


def _marks(data: dict[str, Any], file: Path, first: float) -> list[_Mark]:
    found = []
    for number, note in enumerate(data["annotations"], start=1):
        try:
            start, count = (
                float(note["core:sample_start"]) - first,
                float(note.get("core:sample_count", math.inf)),
            )
            low = float(note.get("core:freq_lower_edge", -math.inf))
            high = float(note.get("core:freq_upper_edge", math.inf))
        except (AttributeError, KeyError, TypeError, ValueError):
            raise UsageError(
                f"{file}: annotation {number} has no core:sample_start; write its first sample"
            ) from None
        if start < 0:
            raise UsageError(
                f"{file}: annotation {number} begins {-start:.0f} samples before core:offset; indices of "
                "SigMF include the offset"
            )
        found.append(_Mark(start, start + count, (low, high)))
    return found


def _count(data: dict[str, Any], file: Path) -> float | None:
    """Return the number of samples by the size of the data file; None without it.

    `core:datatype` names the type of a sample: `cf32_le` is complex, two floats of 32 bits.
    """
    datatype = re.match(r"([cr])[fiu](8|16|32|64)", str(data["global"].get("core:datatype", "")))
    samples = file.with_suffix(".sigmf-data")
    if datatype is None or not samples.is_file():
        return None
    size = int(datatype[2]) // 8 * (2 if datatype[1] == "c" else 1)
    return samples.stat().st_size / size / max(1, int(data["global"].get("core:num_channels") or 1))


def _segments(data: dict[str, Any], first: float) -> list[tuple[float, float, float]]:
    """Return the first sample of each capture, its index in the original stream, and its time in s."""
    found = []
    for each in data.get("captures") or []:
        if not isinstance(each, dict):
            continue
        start = float(each.get("core:sample_start", first))
        at = math.nan
        if isinstance(each.get("core:datetime"), str):
            try:
                at = datetime.fromisoformat(each["core:datetime"].replace("Z", "+00:00")).timestamp()
            except ValueError:
                at = math.nan
        found.append((start - first, float(each.get("core:global_index", start)), at))
    return sorted(found)


def _cuts(data: dict[str, Any], first: float, rate: float) -> tuple[float, ...]:
    """Return where samples are missing between captures, by their stream or by their clock."""
    found = []
    segments = _segments(data, first)
    for (start, index, at), (later, other, time) in itertools.pairwise(segments):
        lost = (other - index) - (later - start)
        late = (time - at) - (later - start) / rate
        if lost > 0 or late > _GAP_S:
            found.append(later / rate)
    return tuple(found)


def _csv(
    bands: list[tuple[float, float]],
    spans: list[tuple[float, float, int]],
    end: float,
    file: Path,
    notes: list[str],
) -> str:
    order = sorted(range(len(bands)), key=lambda k: bands[k])
    rows: list[tuple[float, int, int]] = []
    for channel, place in enumerate(order, start=1):
        busy = merged([(start, stop) for start, stop, k in spans if k == place])
        if busy[0][0] > 0:
            rows.append((0.0, channel, 0))
        for start, stop in busy:
            rows += [(start, channel, 1), (stop, channel, 0)]
        low, high = bands[place]
        if math.isfinite(low + high):
            notes.append(f"{file.name}: channel {channel} is {low * 1e-6:.6g} to {high * 1e-6:.6g} MHz")
    rows.sort()
    # A last row that changes nothing says how long the channels were watched.
    if rows[-1][0] < end:
        rows.append((end, 1, 0))
    lines = [f"{time:.9f},{channel},{busy}" for time, channel, busy in rows]
    return "\n".join(["time,band,busy", *lines, ""])


def _same(one: tuple[float, float], other: tuple[float, float]) -> bool:
    # Without both edges there is no width to compare.
    if math.inf in (one[1], other[1]) or -math.inf in (one[0], other[0]):
        return one == other
    both = min(one[1], other[1]) - max(one[0], other[0])
    return both >= _OVERLAP * min(one[1] - one[0], other[1] - other[0])
