"""What logs add to a fit: estimates of probes and of iperf3, and the silences that probes show."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from cogtcp.data.fitting import laws, probing, throughput
from cogtcp.data.fitting.estimate import Estimate, unknown
from cogtcp.data.fitting.iperf3 import Transfer
from cogtcp.data.fitting.probes import Counts

if TYPE_CHECKING:
    from pathlib import Path

    from cogtcp.data.fitting.logs import Log
    from cogtcp.data.fitting.probing import ProbeFit
    from cogtcp.data.fitting.result import Fit

#: Bytes of a probe from IP on, as ping and irtt send it without options.
_PROBE_BYTES = 84
_NONE = "the scenario has none"


#: Probes whose delay is below this share of the capture's show that the capture never saw an empty queue.
_SMALLER = 0.9


def add(file: Path, log: Log, fit: Fit) -> None:
    """Take what a log says into a fit."""
    if isinstance(log, Transfer):
        kind = "UDP" if log.udp else "TCP"
        ways = " both ways" if log.back is not None else ""
        count = f"{log.streams} stream{'s' if log.streams > 1 else ''}"
        fit.sources.append((file.name, f"iperf3 over {kind}{ways}, {count}, {len(log.rates)} intervals"))
        fit.tests.append(log)
        return
    if isinstance(log, Counts):
        fit.sources.append((file.name, f"summary of {log.sent} requests, {log.received} answered"))
        fit.probed.append(probing.of_counts(log))
        return
    fit.notes += log.notes
    way = ""
    if log.lost_up is not None and log.lost:
        way = f" ({log.lost_up} on the way there, {log.lost_down} on the way back)"
    fit.sources.append((file.name, f"{len(log.requests)} requests, {log.lost} without a reply{way}"))
    fit.probed.append(probing.of_probes(log))


def merge(fit: Fit, probes: ProbeFit) -> None:
    """Take the values that a capture lacks from probes with a clock of their own."""
    link = fit.link
    if link is None:
        return
    delay = Estimate.of("delay", probes.delay)
    if not link.delay.known:
        link.delay = delay
    elif delay.known and delay.value < link.delay.value * _SMALLER:
        fit.notes.append(f"probes had a smaller delay ({delay.describe()}): theirs is taken")
        link.delay = delay
    if link.silences is None:
        link.silences = probes.silences


def silent(fit: Fit) -> ProbeFit | None:
    """Return the probes whose silences a fit without a capture has."""
    if fit.link is not None:
        return None
    return next((each for each in fit.probed if each.silences is not None), None)


def estimates(fit: Fit, delay_s: float) -> list[Estimate]:
    """Return what a fit without a capture knows of its link; `delay_s` is the delay that it assumes."""
    how = "not visible in the data"
    found = [
        unknown("delay", "s", f"{how}; {delay_s * 1000:g} ms is assumed"),
        unknown("capacity", "bit/s", f"{how}; the scenario has 10 Mbit/s"),
        unknown("queue", "packets", f"{how}; the scenario has one BDP"),
        unknown("loss", "share", f"{how}; {_NONE}"),
    ]
    if not fit.probed:
        return [*found, unknown("silence", "s", f"{how}; {_NONE}")]
    delays = [Estimate.of("delay", each.delay) for each in fit.probed]
    # A measured one before a bound, and the smallest: the others queued.
    put(found, min(delays, key=lambda each: (not each.known, each.value if each.known else _end(each))))
    put(found, unknown("capacity", "bit/s", "probes do not fill the link; the scenario has 10 Mbit/s"))
    ours = silent(fit) or fit.probed[0]
    put(found, Estimate.of("loss", ours.loss, _NONE))
    silences = ours.silences
    found.append(Estimate.of("silence", ours.silence, "" if silences is not None else _NONE))
    if silences is None:
        return found
    if math.isnan(silences.period):
        found.append(Estimate.of("open", ours.open))
    else:
        half = silences.period_error
        how = f"line through the beginnings of {silences.on_grid} silences"
        ends = (silences.period - half, silences.period + half)
        found.append(Estimate("period", silences.period, *ends, "s", how))
    share = silences.sure
    how = f"{share * 100:.0f} % of the silences {'held' if silences.mode == 'hold' else 'lost'} packets"
    return [*found, Estimate(f"silences {silences.mode}", share, math.nan, math.nan, "share", how)]


def _end(estimate: Estimate) -> float:
    bound = estimate.bound
    return bound.at_most if bound is not None and bound.at_most is not None else math.inf


def add_tests(fit: Fit, found: list[Estimate], delay_s: float) -> None:
    """Add what transfers of iperf3 say to what nothing else says; `delay_s` is the delay that is assumed."""
    if not fit.tests:
        return
    delay = _named(found, "delay")
    if not delay.known and delay.bound is None:
        delay = Estimate.of("delay", throughput.delay(fit.tests), f"{delay_s * 1000:g} ms is assumed")
        put(found, delay)
    floor = 2 * delay.value if delay.known else math.nan
    told = [Estimate.of("capacity", throughput.capacity(test, floor)) for test in fit.tests]
    # A measured one before a bound; of bounds the highest says most.
    best = max(told, key=lambda each: (each.known, each.value if each.known else _least(each)))
    if not _named(found, "capacity").known:
        put(found, best)
    capacity = _named(found, "capacity")
    rate = capacity.value if capacity.known else _least(capacity)
    if fit.link is None and fit.probed and delay.known and rate > 0:
        put(found, _without_transmission(delay, rate))
    back = [test.back for test in fit.tests if test.back is not None]
    if back:
        most = max(back, key=lambda test: test.received)
        put(found, Estimate.of("reverse capacity", throughput.capacity(most, floor)))
    if not _named(found, "loss").known:
        said = throughput.loss(next((test for test in fit.tests if test.udp), fit.tests[0]))
        put(found, Estimate.of("loss", said, _NONE))


def _least(estimate: Estimate) -> float:
    return estimate.bound.at_least or 0.0 if estimate.bound is not None else 0.0


def _named(found: list[Estimate], name: str) -> Estimate:
    return next(estimate for estimate in found if estimate.name == name)


def _without_transmission(delay: Estimate, rate: float) -> Estimate:
    """Return the delay that probes show without the time that their own bits take on the link."""
    took = min(_PROBE_BYTES * 8 / rate, delay.value)
    how = f"{delay.how}; the transmission of a probe is taken off"
    return replace(delay, value=delay.value - took, low=max(0.0, delay.low - took), how=how)


def put(found: list[Estimate], estimate: Estimate) -> None:
    """Put an estimate in the place of one with its name, or at the end."""
    for place, other in enumerate(found):
        if other.name == estimate.name:
            found[place] = estimate
            return
    found.append(estimate)


def streams(fit: Fit) -> int:
    """Return how many flows the tests of iperf3 had, at least 1."""
    return max([1, *(test.streams for test in fit.tests)])


def window(fit: Fit) -> list[str]:
    """Return the lines of the receive window, if it limited a test of iperf3."""
    limited = [test.window for test in fit.tests if throughput.limited_by_window(test)]
    if not limited or fit.link is not None:
        return []
    return [
        "# The receive window limited the transfer.",
        "[tcp]",
        f'receive_buffer = "{round(max(limited))} B"',
        "",
    ]


def radio(fit: Fit, by_name: dict[str, Estimate]) -> list[str]:
    """Return the radio of the silences that probes show; nothing without."""
    said = silent(fit)
    if said is None or said.silences is None:
        return []
    silences = said.silences
    names = ("silence", "period", "open", f"silences {silences.mode}")
    lines = [f"# {e.name}: {e.describe()}. {e.how}" for name in names if (e := by_name.get(name)) is not None]
    off = f'"{_ns(silences.length)}"'
    usual = by_name.get("open")
    if not math.isnan(silences.period):
        on = f'"{_ns(max(silences.period - silences.length, 1e-6))}"'
    else:
        best = laws.fit_laws(silences.opens)
        if best and best[0].name != "exponential":
            lines.append(f"# Times between silences: {best[0].describe()} by AIC. Radios have no such law.")
        on = f'{{ exponential = "{_ns(usual.value if usual is not None and usual.known else 1.0)}" }}'
    if not silences.fixed:
        off = f'{{ exponential = "{_ns(math.fsum(silences.lengths) / len(silences.lengths))}" }}'
    lines += ["[[radio]]", 'name = "radio"', 'links = ["link"]', f'silence = "{silences.mode}"']
    return [*lines, f"sensing = {{ off = {off}, on = {on} }}"]


def _ns(seconds: float) -> str:
    return f"{max(1, round(seconds * 1e9))} ns"
