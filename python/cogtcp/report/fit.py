"""The page of a fit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cogtcp.metrics import BY_NAME
from cogtcp.report import page
from cogtcp.report.tables import Table

if TYPE_CHECKING:
    from cogtcp.fitting.result import Fit

_ROWS = {
    "goodput_bps": ("goodput_bps", "Goodput"),
    "rtt_mean_s": ("rtt_mean_s", "RTT, mean"),
    "rtt_p95_s": ("rtt_p95_s", "RTT, 95 % quantile"),
    "resent": ("retransmitted", "Retransmitted"),
}


def fit_report(fit: Fit, *, command: str | None = None) -> str:
    """Return the page of a fit."""
    return page.render(
        "fit.html.j2",
        name=fit.name,
        answer=_answer(fit),
        sources=fit.sources,
        notes=fit.notes,
        estimates=Table(
            [("Parameter", ""), ("Estimate (95 %)", ""), ("How", "")],
            [[e.name, e.describe(), e.how] for e in fit.known],
        ),
        unknown=[(e.name, e.how) for e in fit.unknown],
        channels=_channels(fit),
        held=_held(fit),
        held_s=f"{fit.held.lasted_s:.1f}" if fit.held is not None else "",
        transport=fit.transport,
        ranges=list(fit.ranges.items()),
        origin=page.origin(command),
        scenario=fit.toml,
    )


def _answer(fit: Fit) -> str:
    names = {"delay", "capacity", "silence", "period", "open"}
    said = [f"{e.name} {e.describe()}" for e in fit.known if e.name in names]
    if fit.link is not None and fit.link.silences is not None:
        said.append(f"silences {fit.link.silences.mode} packets")
    missing = [e.name for e in fit.unknown]
    text = f"{'; '.join(said) or 'Primary users alone'}."
    return text[0].upper() + text[1:] + (f" Not in the data: {', '.join(missing)}." if missing else "")


def _held(fit: Fit) -> Table | None:
    if fit.held is None:
        return None
    rows = []
    for name, interval in fit.held.simulated.items():
        metric_name, title = _ROWS[name]
        metric = BY_NAME[metric_name]
        measured = float(getattr(fit.held, name))
        apart = 100 * (interval.mean / measured - 1) if measured else math.nan
        difference = f"{apart:+.1f}" if math.isfinite(apart) else "–"
        rows.append(
            [f"{title}, {metric.unit}", metric.text(measured), metric.with_half_width(interval), difference]
        )
    return Table([("", ""), ("Measured", ""), ("Simulated", ""), ("Difference", "%")], rows)


def _channels(fit: Fit) -> Table:
    rows = []
    for channel in fit.channels:
        for kind, spans, found in (
            ("ON", channel.on, channel.on_laws),
            ("OFF", channel.off, channel.off_laws),
        ):
            best = found[0].describe() if found else "too few"
            others = ", ".join(f"{law.name} +{law.aic - found[0].aic:.1f}" for law in found[1:])
            rows.append([f"{channel.band}, {kind}", str(len(spans)), best, others])
    return Table([("Channel", ""), ("Whole times", ""), ("Best law", ""), ("Others, AIC above it", "")], rows)
