"""Simulator and kernel side by side: the page of `compare --plane sim,kernel` and of `agree`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from cogtcp.kernel.emulation.agreement import HEADINGS, TOLERANCE, cells
from cogtcp.model import provenance
from cogtcp.model.metrics import BY_NAME
from cogtcp.showing.figure.compared import around_zero
from cogtcp.showing.figure.model import Drawing, Rule
from cogtcp.showing.report import page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.kernel.emulation.agreement import Agreement, Line

# What is drawn: differences of counts that are mostly zero are read off the table.
_DRAWN = ("goodput_bps", "rtt_mean_s")


def planes_report(agreement: Agreement, *, command: str | None = None) -> str:
    """Return the page of an agreement: differences, all numbers, and the first seed over time."""
    from cogtcp.showing.figure.series import Series
    from cogtcp.showing.report import over_time

    lines = agreement.lines()
    several = len({line.scenario for line in lines}) > 1
    names = {
        (line.scenario, line.transport): f"{line.scenario}, {line.transport}" if several else line.transport
        for line in lines
    }
    drawn = {}
    for case, (simulated, emulated) in [] if several else agreement.shown.items():
        drawn[f"{names[case]}: simulator"] = Series.of(simulated)
        drawn[f"{names[case]}: kernel"] = Series.of(emulated)
    figures = [
        (BY_NAME[measure].title, differences([line for line in lines if line.measure == measure], names))
        for measure in _DRAWN
    ]
    scenarios = {case[0]: result.scenario.to_toml() for case, (result, _) in agreement.shown.items()}
    cells_of = [[line.scenario, line.transport, *cells(line)] for line in lines]
    return page.render(
        "planes.html.j2",
        title=", ".join(dict.fromkeys(line.scenario for line in lines)),
        answer=agreement.answer,
        kernel=agreement.kernel,
        interrupted=agreement.interrupted,
        runs=len(agreement.pairs),
        left_out=agreement.left_out(),
        why_left_out=agreement.why_left_out,
        tolerance=f"{TOLERANCE * 100:.0f} %",
        figures=figures,
        table=page.as_table([(heading, "") for heading in HEADINGS], cells_of, 3),
        time=over_time(drawn) if drawn else None,
        seed=agreement.pairs[0].seed if agreement.pairs else 0,
        origin=page.origin(
            command,
            {"version": provenance.version(), "commit": provenance.commit()},
            Kernel=f"Linux {agreement.kernel}",
            Seeds=", ".join(map(str, dict.fromkeys(pair.seed for pair in agreement.pairs))),
        ),
        scenario="\n".join(scenarios.values()),
    )


def differences(lines: Sequence[Line], names: dict[tuple[str, str], str]) -> Drawing:
    """Return the relative differences of a metric with their intervals, and where 5 % end."""
    intervals = [line.difference for line in lines]
    percent = [(100 * each.low, 100 * each.mean, 100 * each.high) for each in intervals]
    title = BY_NAME[lines[0].measure].title if lines else ""
    labels = [names[line.scenario, line.transport] for line in lines]
    texts = [f"{mean:+.1f} %" if math.isfinite(mean) else "" for _, mean, _ in percent]
    said = "; ".join(f"{label} {text}" for label, text in zip(labels, texts, strict=True) if text)
    label = f"{title}: kernel less simulator"
    panel = around_zero(labels, percent, texts, label, "%", least=120 * TOLERANCE)
    panel.add(Rule(-100 * TOLERANCE, upright=True), Rule(100 * TOLERANCE, upright=True))
    return Drawing(f"{title}, kernel less simulator: {said}", [[panel]], width=760)
