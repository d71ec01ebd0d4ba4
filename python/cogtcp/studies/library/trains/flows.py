"""Fig. 6: the number of flows; and what freezing is worth to other stacks than NewReno."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cogtcp.studies import Context, Figure, Measured, Table, claim, verdicts

from .measuring import Runs, measure, sentences
from .settings import CLIENTS, FLOWS, REPORTED, STACKS, UNSAID, Setting

if TYPE_CHECKING:
    from cogtcp.studies.verdicts import Finding

OUTAGES = (
    Setting(name="handovers and tunnels, lost"),
    Setting(name="handovers and tunnels, held", silence="hold"),
    Setting(name="sensing of 0.3 s, lost", sensing_s=0.3),
)
"""What the other stacks meet."""


@claim("trains-f6")
def freeze_pays_at_every_number_of_flows(study: Context) -> Measured:
    """Above, paired by seed, at every number of flows."""
    numbers = FLOWS[::2] if study.quick else FLOWS
    settings = [Setting(), *UNSAID]
    grid = {s: [replace(s, clients=n) for n in numbers] for s in settings}
    outages = OUTAGES[:1] if study.quick else OUTAGES
    stacks = [stack.over(outage) for outage in outages for stack in STACKS]
    points = [p for row in grid.values() for p in row] + stacks
    runs = Runs(study, [s for p in points for s in (p, p.plain)], measure)
    gains = {
        s: [runs.gain(p, where=f"{p.clients} flow{'s' if p.clients > 1 else ''}") for p in row]
        for s, row in grid.items()
    }
    found = {s: verdicts.combine([gain.verdict for gain in row]) for s, row in gains.items()}
    base = settings[0]
    least = min(gains[base], key=lambda gain: gain.estimate)
    own = [p for p in stacks if p.silence == "drop" and p.sensing_s is None]
    return Measured(
        verdict=verdicts.over_range(list(found.values())),
        measured=(
            "efficiency with triggers / without: "
            + ", ".join(
                f"{gain.where} {runs.mean(p, 'efficiency'):.3f} / {runs.mean(p.plain, 'efficiency'):.3f}"
                for gain, p in zip(gains[base], grid[base], strict=True)
            )
            + f"; least gain, at {least.where}: {least.statement}"
        ),
        ci=(least.low, least.high),
        test=(
            f"One-sided paired t-test (5 %) at each of {len(numbers)} numbers of flows; at the base and at "
            f"{len(UNSAID)} values of what the paper leaves unsaid."
        ),
        why=_why(runs, grid, gains, found),
        figures=[
            Figure(
                id="fig6",
                title="Efficiency over the number of flows",
                x_label="flows",
                y_label="efficiency",
                y_range=(0.7, 1.02),
                curves=[
                    runs.curve("triggers and Freeze", numbers, grid[base], "efficiency"),
                    runs.curve("NewReno", numbers, [p.plain for p in grid[base]], "efficiency"),
                ],
                caption="Outages of handovers and tunnels.",
                paper=sentences(study, "fig6"),
            )
        ],
        tables=[
            Table(
                title="Gain in efficiency by number of flows",
                header=["setting", *(str(n) for n in numbers), "verdict"],
                rows=[
                    [s.name, *(f"{gain.estimate:+.3f} ({gain.verdict})" for gain in gains[s]), found[s]]
                    for s in settings
                ],
            ),
            *(_stacks(runs, outage) for outage in outages),
        ],
        facts=_facts(runs, gains[base], own),
        settings={s.name: verdict for s, verdict in found.items()},
    )


def _why(
    runs: Runs,
    grid: dict[Setting, list[Setting]],
    gains: dict[Setting, list[Finding]],
    found: dict[Setting, verdicts.Verdict],
) -> str:
    base = next(iter(grid))
    pays = [gain.where for gain in gains[base] if gain.verdict == "holds"]
    text = (
        f"At the base the gain is shown with {', '.join(pays) or 'no number of flows'}. Per outage, with / "
        "without: "
    )
    text += ", ".join(
        f"{gain.where} {runs.mean(p, 'timeouts'):.1f} / {runs.mean(p.plain, 'timeouts'):.1f} timeouts and "
        f"{runs.mean(p, 'queue_drops'):.0f} / {runs.mean(p.plain, 'queue_drops'):.0f} drops at the queue"
        for gain, p in zip(gains[base], grid[base], strict=True)
        if p.clients in (1, 10) or p in (grid[base][0], grid[base][-1])
    )
    one = grid[base][0]
    if gains[base][0].verdict != "holds" and runs.mean(one, "queue_drops") > runs.mean(
        one.plain, "queue_drops"
    ):
        text += (
            ". One source alone that resumes at its old window overflows the queue and loses again what it "
            "had "
            "kept; of many, each sends a small burst"
        )
    hold = list(grid)[1]
    if found[hold] != "holds":
        last = grid[hold][-1]
        text += (
            ". Where packets wait instead of being lost, NewReno alone uses "
            f"{runs.mean(last.plain, 'efficiency'):.3f} "
            f"of the link with {last.clients} flows, in spite of {runs.mean(last.plain, 'timeouts'):.1f} "
            "timeouts an "
            "outage: what waits at Node B is there when the link comes back, where a freeze has let it drain"
        )
    text += ". " + "; ".join(f"{s.name} {found[s]}" for s in list(grid)[1:]) + "."
    return text


def _stacks(runs: Runs, outage: Setting) -> Table:
    """Show what each stack does without connection managers, and what managers add."""
    rows = []
    for stack in STACKS:
        point = stack.over(outage)
        gain = runs.gain(point, "useful")
        rows.append(
            [
                stack.name,
                runs.text(point.plain, "useful"),
                runs.text(point, "useful"),
                f"{gain.estimate:+.3f} ({_mark(gain)})",
                f"{runs.mean(point.plain, 'efficiency'):.3f} / {runs.mean(point, 'efficiency'):.3f}",
                f"{runs.mean(point.plain, 'timeouts'):.1f} / {runs.mean(point, 'timeouts'):.1f}",
                f"{runs.mean(point.plain, 'retransmitted'):.1%} / {runs.mean(point, 'retransmitted'):.1%}",
                f"{runs.mean(point.plain, 'fairness'):.3f} / {runs.mean(point, 'fairness'):.3f}",
            ]
        )
    return Table(
        title=f"Other stacks: {outage.name}",
        header=[
            "stack",
            "use without managers",
            "use with",
            "gain",
            "efficiency (paper's)",
            "timeouts an outage",
            "retransmitted",
            "fairness",
        ],
        rows=rows,
        caption=(
            f"{CLIENTS} flows. Use: payload delivered over the capacity available; the paper's efficiency "
            "counts "
            "duplicates and headers too. Pairs: without / with managers. "
            f"{REPORTED}: its managers send reports and freeze nothing. gain: one-sided paired t-test (5 %)."
        ),
    )


def _mark(gain: Finding) -> str:
    return {"holds": "above", "differs": "below", "unclear": "not shown"}[gain.verdict]


def _facts(runs: Runs, gains: list[Finding], stacks: list[Setting]) -> dict[str, object]:
    newreno = stacks[0]
    rivals = {p.name: runs.mean(p if p.name == REPORTED else p.plain, "useful") for p in stacks}
    frozen = {p.name: runs.mean(p, "useful") for p in stacks if p.name != REPORTED}
    above = [
        p.name
        for p in stacks[1:]
        if verdicts.greater(
            runs.values(p if p.name == REPORTED else p.plain, "useful"), runs.values(newreno, "useful")
        ).verdict
        == "holds"
    ]
    return {
        "pays": [gain.where for gain in gains if gain.verdict == "holds"],
        "unshown": [gain.where for gain in gains if gain.verdict != "holds"],
        "gain": max(gain.estimate for gain in gains),
        "rivals": rivals,
        "frozen": frozen,
        "above_frozen_newreno": above,
    }
