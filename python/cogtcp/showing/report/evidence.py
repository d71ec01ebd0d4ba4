"""Small plots of what a fit rests on: round-trip times, pace of deliveries, queue, losses, pauses."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from cogtcp.showing.figure import scale
from cogtcp.showing.figure.model import Axis, Bar, Dots, Drawing, Line, Panel, Rule
from cogtcp.showing.figure.scale import Scale

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.data.fitting.link import LinkFit

#: Points of a plot; more are one dark area.
_MOST = 800
#: Bars of the losses.
_BARS = 16
#: Bars of a histogram of ten-fold steps.
_BINS = 12
_HEIGHT = 180.0


def evidence(link: LinkFit) -> list[tuple[Drawing, str]]:
    """Return the plots of a link, each with its caption."""
    found = link.rate_fit
    if found is None or len(found.deliveries) < 2:
        return []
    plots = [_waits(link), _pace(link), _queue(link), _losses(link), _pauses(link)]
    return [each for each in plots if each is not None]


def _thin(values: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    step = max(1, math.ceil(len(values) / _MOST))
    return list(values[::step])


def _waits(link: LinkFit) -> tuple[Drawing, str] | None:
    assert link.rate_fit is not None  # noqa: S101
    base = link.base if link.side == "sender" else 0.0
    points = [
        (each.time - link.started, (each.wait + base) * 1000)
        for each in link.rate_fit.deliveries
        if not math.isnan(each.wait)
    ]
    if len(points) < 2:
        return None
    points = _thin(points)
    times, values = [x for x, _ in points], [y for _, y in points]
    name = "Round-trip time" if link.side == "sender" else "Lateness"
    panel = Panel(
        Axis(scale.span(times, zero=True), "Time, s"),
        Axis(scale.span(values, zero=True), f"{name}, ms"),
        _HEIGHT,
    )
    panel.add(Dots(times, values, "accent", size=2.0, opacity=0.6))
    panel.add(Line([times[0], times[-1]], [base * 1000, base * 1000], "ink", dashes="6 4"))
    waited = 100 * link.rate_fit.backlog
    caption = (
        f"Delay and backlog: {name.lower()} of each delivery; dashed, the floor. {waited:.0f} % of the bytes "
        "were sent before the packet in front had left the link. "
        + ("So the link set the pace." if waited >= 30 else "So the sender set the pace.")
    )
    return Drawing(f"{name} over time", [[panel]]), caption


def _histogram(values: Sequence[float]) -> tuple[list[float], list[int]]:
    """Return edges and counts of bins that are equally wide in the logarithm."""
    low = math.floor(math.log10(min(values)) * _BINS)
    high = math.floor(math.log10(max(values)) * _BINS) + 1
    counts = [0] * (high - low)
    for value in values:
        counts[min(high - low - 1, math.floor(math.log10(value) * _BINS) - low)] += 1
    return [10 ** (n / _BINS) for n in range(low, high + 1)], counts


def _bars(edges: Sequence[float], counts: Sequence[int], label: str) -> Panel:
    panel = Panel(
        Axis(Scale(edges[0], edges[-1], log=True), label),
        Axis(scale.span([0.0, *map(float, counts)], zero=True), "Number"),
        _HEIGHT,
    )
    for low, high, count in zip(edges, edges[1:], counts, strict=False):
        if count:
            panel.add(Bar((low, high), (0.0, float(count)), "accent", opacity=0.7))
    return panel


def _pace(link: LinkFit) -> tuple[Drawing, str] | None:
    assert link.rate_fit is not None  # noqa: S101
    found = link.rate_fit
    gaps = [
        (after.time - before.time) * 1000 / max(1, round(after.size / link.packet_bytes))
        for before, after in itertools.pairwise(found.deliveries)
        if after.time > before.time
    ]
    if len(gaps) < 2:
        return None
    edges, counts = _histogram(gaps)
    panel = _bars(edges, counts, "Time between deliveries, ms a packet")
    pace = link.packet_bytes * 8 / found.rate * 1000
    known = link.capacity.known
    if known and edges[0] <= pace <= edges[-1]:
        panel.add(Rule(pace, "ink", "6 4", upright=True))
    caption = "Capacity: time from one delivery to the next. " + (
        f"Dashed: the pace of {link.capacity.describe()}." if known else f"{link.capacity.how}."
    )
    return Drawing("Histogram of the time between deliveries", [[panel]]), caption


def _queue(link: LinkFit) -> tuple[Drawing, str] | None:
    if len(link.met) < 2:
        return None
    kept = _thin([(time - link.started, float(count)) for time, count, lost in link.met if not lost])
    lost = [(time - link.started, float(count)) for time, count, lost in link.met if lost]
    panel = Panel(
        Axis(scale.span([time - link.started for time, _, _ in link.met], zero=True), "Time, s"),
        Axis(scale.span([float(count) for _, count, _ in link.met], zero=True), "Packets in front"),
        _HEIGHT,
    )
    panel.add(Dots([x for x, _ in kept], [y for _, y in kept], "accent", size=2.0, opacity=0.6))
    if lost:
        panel.add(Dots([x for x, _ in lost], [y for _, y in lost], "alarm", "cross"))
    caption = (
        "Queue: packets in front of the link when each packet was sent; crosses, packets that were lost. "
    )
    if link.queue.known:
        panel.add(Rule(link.queue.value, "ink", "6 4"))
        caption += f"Dashed: {link.queue.describe()}."
    else:
        caption += f"{link.queue.how[0].upper()}{link.queue.how[1:]}."
    return Drawing("Packets in front of the link over time", [[panel]]), caption


def _losses(link: LinkFit) -> tuple[Drawing, str] | None:
    if not any(lost for _, _, lost in link.met):
        return None
    most = max(count for _, count, _ in link.met)
    width = max(1, math.ceil((most + 1) / _BARS))
    sent, gone = [0] * (most // width + 1), [0] * (most // width + 1)
    for _, count, lost in link.met:
        sent[count // width] += 1
        gone[count // width] += lost
    shares = [100 * lost / max(1, count) for lost, count in zip(gone, sent, strict=True)]
    panel = Panel(
        Axis(Scale(0.0, float(width * len(sent))), "Packets in front"),
        Axis(scale.span([0.0, *shares], zero=True), "Lost, %"),
        _HEIGHT,
    )
    for n, share in enumerate(shares):
        if share:
            panel.add(Bar((width * n, width * (n + 1)), (0.0, share), "accent", opacity=0.7))
    caption = (
        "Loss: share of the packets that were lost, by the packets in front of them. A full queue loses at "
        "the right end, the link everywhere, CoDel in between. "
    )
    if link.loss.known:
        panel.add(Rule(100 * link.loss.value, "ink", "6 4"))
        caption += f"Dashed: {link.loss.describe()}."
    else:
        caption += f"{link.loss.how[0].upper()}{link.loss.how[1:]}."
    return Drawing("Losses by the queue that packets met", [[panel]]), caption


def _pauses(link: LinkFit) -> tuple[Drawing, str] | None:
    assert link.rate_fit is not None  # noqa: S101
    found = link.rate_fit.deliveries
    gaps = sorted((after.time - before.time for before, after in itertools.pairwise(found)), reverse=True)
    gaps = [gap for gap in gaps if gap > 0]
    if len(gaps) < 2:
        return None
    # Without silences the lengths of pauses fall off at least as fast as an exponential law of their mean.
    mean = math.fsum(gaps) / len(gaps)
    ranks = [(n + 1) / len(gaps) for n in range(len(gaps))]
    points = _thin([(gap * 1000, rank) for gap, rank in zip(gaps, ranks, strict=True)])
    points.reverse()
    panel = Panel(
        Axis(scale.span([x for x, _ in points], log=True), "Pause, ms"),
        Axis(Scale(0.5 / len(gaps), 1.0, log=True), "Share of longer ones"),
        _HEIGHT,
    )
    panel.add(Line([x for x, _ in points], [y for _, y in points], "accent"))
    null = [mean * 1000 * n / 20 for n in range(1, 20 * 20)]
    null = [x for x in null if math.exp(-x / mean / 1000) > 0.5 / len(gaps)]
    panel.add(Line(null, [math.exp(-x / mean / 1000) for x in null], "ink", dashes="6 4"))
    if not math.isnan(link.hidden_s) and panel.x.scale.low <= link.hidden_s * 1000 <= panel.x.scale.high:
        panel.add(Rule(link.hidden_s * 1000, "ink", upright=True))
    caption = (
        "Silences: share of the pauses that are longer; dashed, pauses without memory of the same mean; "
        "upright, the shortest silence that would show."
    )
    return Drawing("Pauses and what chance makes of them", [[panel]]), caption
