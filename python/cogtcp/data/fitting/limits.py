"""What limited a transfer: the receive window, the application, or the link."""

from __future__ import annotations

import bisect
import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from cogtcp.data.fitting.estimate import median, quantile

if TYPE_CHECKING:
    from cogtcp.data.fitting.connections import Connection

#: The window limits if this share of the acknowledgements leaves less than two segments of it free.
_WINDOW_SHARE = 0.4
#: What a round trip brings at a receiver whose window limits, as a share of the window: the sender leaves
#: less than a segment or two of it free, and the round-trip time has an error.
_FULL_LOW, _FULL_HIGH = 0.85, 1.15
#: The application limits if this share of the data left later than an acknowledgement allowed, by more than a
#: tenth of the round-trip time: a sender with data sends within a millisecond of the ACK.
_APPLICATION_SHARE = 0.5
_IDLE_ROUND = 0.1
#: Fewer packets do not show what limits a transfer; the first ones are the initial window (RFC 6928).
_ENOUGH, _INITIAL = 20, 10
#: A sender with data sends within this time after an acknowledgement, s.
_PROMPT_S = 0.001
#: An application's pace is steady if four of five distances lie within this share of the median: acknowledged
#: data come in bursts, whose distances differ by far more.
_STEADY = 0.5


@dataclass(frozen=True, slots=True)
class Limit:
    """What limited a transfer.

    Attributes:
        by: `link`, `window`, `application`, or `unknown`.
        value: The window, B, or the application's rate, bit/s; NaN for others.
        how: The evidence.
    """

    by: Literal["link", "window", "application", "unknown"]
    value: float
    how: str


def limited(main: Connection, *, backlog: bool, base: float) -> Limit:
    """Return what limited a connection.

    Args:
        main: The connection.
        backlog: Whether a backlog in front of the link was proved for most of the data.
        base: Round-trip time without queue, s.
    """
    if main.probes or main.one_way:
        return Limit("unknown", math.nan, "not visible")
    # At a receiver a full window and a backlog look alike: the backlog is proved.
    window = None if backlog and main.side == "receiver" else _window(main, base)
    if window is not None:
        return window
    if backlog:
        return Limit("link", math.nan, "packets waited in front of the link")
    idle = _application(main, base)
    if idle is not None:
        return idle
    return Limit("unknown", math.nan, "neither a backlog, nor a full receive window, nor an idle application")


def _window(main: Connection, base: float) -> Limit | None:
    if len(main.windows) < 10:
        return None
    if main.side == "sender":
        # Free room of the window when data leave: what was sent and not acknowledged, beside the window.
        times = [time for time, _ in main.windows]
        acked = 0
        order = sorted((sent.answered, sent.end) for sent in main.data if not sent.lost)
        place = full = count = 0
        highest = 0
        for sent in main.data:
            highest = max(highest, sent.end)
            while place < len(order) and order[place][0] <= sent.time:
                acked = max(acked, order[place][1])
                place += 1
            known = bisect.bisect_right(times, sent.time) - 1
            if known < 0:
                continue
            count += 1
            full += main.windows[known][1] - (highest - acked) < 2 * main.mss
        if count < 10 or full < _WINDOW_SHARE * count:
            return None
        value = median([window for _, window in main.windows[len(main.windows) // 2 :]])
        return Limit(
            "window", value, f"the receive window was full at {100 * full / count:.0f} % of the data packets"
        )
    # At a receiver: what arrives in a round trip is the window.
    if math.isnan(base) or base <= 0 or len(main.data) < _ENOUGH:
        return None
    lasted = main.data[-1].time - main.data[0].time
    half = [sent for sent in main.data if sent.time > main.data[0].time + lasted / 3]
    if len(half) < 10:
        return None
    rate = sum(sent.end - sent.seq for sent in half) / max(half[-1].time - half[0].time, 1e-9)
    value = median([window for _, window in main.windows[len(main.windows) // 2 :]])
    low = quantile([window for _, window in main.windows[len(main.windows) // 3 :]], 0.1)
    # A tuned buffer grows with what arrives: a window that limits stays as it is.
    if low < 0.5 * value or not _FULL_LOW <= rate * base / value <= _FULL_HIGH:
        return None
    return Limit(
        "window",
        value,
        f"each round trip brought {rate * base / 1000:.0f} kB, as much as the receive window allows",
    )


def _application(main: Connection, base: float) -> Limit | None:
    """Return the rate of an application that had less to send than TCP allowed."""
    data = [sent for sent in main.data if not sent.resent]
    if len(data) < _ENOUGH:
        return None
    lasted = data[-1].time - data[0].time
    if lasted <= 0:
        return None
    share = 0.0
    if main.side == "sender":
        late = 0
        threshold = max(_PROMPT_S, _IDLE_ROUND * base)
        for sent in data[_INITIAL:]:
            after = bisect.bisect_right(main.answers, sent.time) - 1
            late += after >= 0 and sent.time - main.answers[after] > threshold
        share = late / max(1, len(data) - _INITIAL)
    if main.side == "sender":
        if share < _APPLICATION_SHARE:
            return None
        said = f"{100 * share:.0f} % of the data left later than acknowledgements allowed"
    else:
        spacing = [after.time - before.time for before, after in itertools.pairwise(data)]
        middle = median(spacing)
        # Whoever sends as acknowledgements come sends in bursts, at least when it begins.
        steady = quantile(spacing, 0.9) < (1 + _STEADY) * middle
        steady = steady and quantile(spacing, 0.1) > (1 - _STEADY) * middle
        if not steady or any(sent.resent for sent in main.data):
            return None
        said = "the data came at a steady pace from the first packet on"
    rate = sum(sent.end - sent.seq for sent in data) * 8 / lasted
    return Limit("application", rate, f"{said}, and nothing queued")
