"""Fig. 7: throughput over the sensing duration."""

from __future__ import annotations

from dataclasses import replace

from cogtcp.studies import Context, Figure, Measured, Table, claim, verdicts

from .measuring import Runs, measure, sentences
from .settings import CLIENTS, SENSING_S, UNSAID, Setting


@claim("trains-f7")
def throughput_over_sensing(study: Context) -> Measured:
    """Falling, above, and by more as sensing grows."""
    sensing = SENSING_S[1::2] if study.quick else SENSING_S
    settings = [Setting(), *UNSAID]
    grid = {s: [replace(s, sensing_s=t) for t in sensing] for s in settings}
    runs = Runs(study, [q for row in grid.values() for p in row for q in (p, p.plain)], measure)
    labels = [f"{t:g} s" for t in sensing]
    parts, gains = {}, {}
    for setting, row in grid.items():
        series = [[runs.values(p, "mbps") for p in row], [runs.values(p.plain, "mbps") for p in row]]
        falling = [verdicts.increasing(part[::-1], labels[::-1]).verdict for part in series]
        gains[setting] = [runs.gain(p, "mbps", where) for p, where in zip(row, labels, strict=True)]
        first, last = ([a - b for a, b in zip(series[0][i], series[1][i], strict=True)] for i in (0, -1))
        parts[setting] = [
            verdicts.combine(falling),
            verdicts.combine([gain.verdict for gain in gains[setting]]),
            verdicts.greater(last, first).verdict,
        ]
    found = {s: verdicts.combine(part) for s, part in parts.items()}
    base, hold = settings[0], settings[1]
    least = min(gains[base], key=lambda gain: gain.estimate)
    pays = [gain.where for gain in gains[base] if gain.verdict == "holds"]
    costs = [gain.where for gain in gains[base] if gain.verdict == "differs"]
    rtt = runs.mean(grid[base][-1], "rtt_tcp_s")
    return Measured(
        verdict=verdicts.over_range(list(found.values())),
        measured=(
            "Mbit/s with triggers / without: "
            + ", ".join(
                f"{t:g} s {runs.mean(p, 'mbps'):.2f} / {runs.mean(p.plain, 'mbps'):.2f}"
                for t, p in zip(sensing, grid[base], strict=True)
            )
        ),
        ci=(least.low, least.high),
        test=(
            f"Falls: paired trend test over {len(sensing)} durations, both curves. Above: one-sided paired "
            "t-test "
            "at each. By more: paired t-test of the gain at the longest against that at the shortest. All at "
            "5 %, "
            f"at the base and at {len(UNSAID)} values of what the paper leaves unsaid. The interval is that "
            "of the "
            "least gain [Mbit/s]."
        ),
        why=(
            f"At the base: falls {parts[base][0]}, above {parts[base][1]}, by more {parts[base][2]}. "
            "Freezing pays "
            f"at {', '.join(pays) or 'no duration'} and costs at {', '.join(costs) or 'none'}: it takes a "
            "round "
            f"trip of {rtt:.2f} s ahead of each silence, in every 2 s of transmission, whether or not the "
            "silence "
            "would have cost a timeout. Timeouts per sensing, with / without triggers: "
            + ", ".join(
                f"{t:g} s {runs.mean(p, 'timeouts'):.2f} / {runs.mean(p.plain, 'timeouts'):.2f}"
                for t, p in zip(sensing, grid[base], strict=True)
            )
            + ". Elsewhere: "
            + "; ".join(
                f"{s.name}: falls {part[0]}, above {part[1]}, by more {part[2]}"
                for s, part in list(parts.items())[1:]
            )
            + "."
        ),
        figures=[
            Figure(
                id="fig7",
                title="Throughput over the sensing duration",
                x_label="sensing duration [s]",
                y_label="goodput of all flows [Mbit/s]",
                curves=[
                    runs.curve("triggers and Freeze", sensing, grid[base], "mbps"),
                    runs.curve("NewReno", sensing, [p.plain for p in grid[base]], "mbps"),
                    runs.curve("triggers, hold", sensing, grid[hold], "mbps"),
                    runs.curve("NewReno, hold", sensing, [p.plain for p in grid[hold]], "mbps"),
                ],
                caption=f"{CLIENTS} clients; 2 s of transmission between two sensings.",
                paper=sentences(study, "fig7"),
            )
        ],
        tables=[
            Table(
                title="Gain in Mbit/s by sensing duration",
                header=["setting", *labels, "verdict"],
                rows=[
                    [s.name, *(f"{gain.estimate:+.3f} ({gain.verdict})" for gain in gains[s]), found[s]]
                    for s in settings
                ],
            )
        ],
        settings={s.name: verdict for s, verdict in found.items()},
        facts={"pays": pays, "costs": costs, "rtt": rtt, "least": least.estimate},
    )
