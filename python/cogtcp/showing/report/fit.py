"""The page of a fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cogtcp.data.fitting.checking import SEEDS
from cogtcp.data.fitting.quantity import text as shown
from cogtcp.showing.report import page
from cogtcp.showing.report.evidence import evidence
from cogtcp.showing.report.tables import Table

if TYPE_CHECKING:
    from cogtcp.data.fitting.result import Fit


def fit_report(fit: Fit, *, command: str | None = None) -> str:
    """Return the page of a fit."""
    return page.render(
        "fit.html.j2",
        name=fit.name,
        answer=_answer(fit),
        doubt=fit.doubt,
        unsure=fit.unsure if fit.held is not None else "",
        evidence=evidence(fit.link) if fit.link is not None else [],
        sources=fit.sources,
        notes=fit.notes,
        estimates=Table(
            [("Parameter", ""), ("Estimate (95 %)", ""), ("How", "")],
            [[e.name, e.describe(), e.how] for e in fit.estimates if e.known or e.bound is not None],
        ),
        unknown=[(e.name, e.how) for e in fit.unknown if e.bound is None],
        channels=_channels(fit),
        held=_held(fit),
        held_s=f"{fit.held.lasted_s:.1f}" if fit.held is not None else "",
        inside=fit.held is not None and fit.held.inside,
        seeds=SEEDS,
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
    bounded = [e for e in fit.unknown if e.bound is not None and e.name in names]
    said += [f"{e.name} {e.describe()}" for e in bounded]
    missing = [e.name for e in fit.unknown if e.bound is None]
    text = f"{'; '.join(said) or 'Primary users alone'}."
    return text[0].upper() + text[1:] + (f" Not in the data: {', '.join(missing)}." if missing else "")


def _held(fit: Fit) -> Table | None:
    if fit.held is None:
        return None
    rows = []
    for each in fit.held.compared:
        allowed = f"{shown(each.unit, each.low)} to {shown(each.unit, each.high)}"
        name = each.name[0].upper() + each.name[1:]
        rows.append(
            [
                name, shown(each.unit, each.measured), shown(each.unit, each.simulated), allowed,
                "yes" if each.holds else "no",
            ]
        )  # fmt: skip
    return Table([("", ""), ("Measured", ""), ("Simulated", ""), ("Allowed", ""), ("Reproduced", "")], rows)


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
