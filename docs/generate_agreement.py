"""Write the tables of docs/agreement.md from docs/agreement.json, or check that they are those (`--check`).

    generate_agreement.py FILE...            add the runs of these agreement.json (of `cogtcp agree`) first
    generate_agreement.py --simulate         make the simulations again, the kernel's runs stay what they were

What was measured stays: a run takes the place of one of the same scenario, transport and seed alone, and one
that fell behind its clock not of one that did not. After a change of the model the second form tells how far
the planes are apart now; the first makes the simulations again too, so that all are of one model.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path

from cogtcp import Scenario, run
from cogtcp.kernel.emulation.agreement import MEASURES, Agreement, Line, Pair
from cogtcp.kernel.emulation.virtual.kernels import modelled

ROOT = Path(__file__).resolve().parents[1]
PAGE, DATA = ROOT / "docs" / "agreement.md", ROOT / "docs" / "agreement.json"
BEGIN, END = "<!-- agreement: written by docs/generate_agreement.py -->\n", "<!-- end of agreement -->\n"
#: How long the runs are that the page tells of.
DURATION = "20 s"


def main() -> int:
    """Take, simulate, write or check."""
    arguments = sys.argv[1:]
    files = [Path(name) for name in arguments if not name.startswith("--")]
    agreement = Agreement.from_dict(json.loads(DATA.read_text("utf-8"))) if DATA.exists() else Agreement()
    for file in files:
        more = Agreement.from_dict(json.loads(file.read_text("utf-8")))
        if agreement.pairs and more.kernel != agreement.kernel:
            print(
                f"{file} is of Linux {more.kernel}, the page of {agreement.kernel}: measure each case again, "
                f"and take {DATA} away first",
                file=sys.stderr,
            )
            return 2
        agreement = joined(agreement, more)
    if files or "--simulate" in arguments:
        agreement.pairs = [simulated(pair, agreement.kernel) for pair in agreement.pairs]
    text = PAGE.read_text("utf-8")
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    page = head + BEGIN + tables(agreement) + END + tail
    if "--check" in arguments:
        if page != text:
            print("docs/agreement.md is not what agreement.json says; docs/generate_agreement.py writes it")
        return int(page != text)
    PAGE.write_text(page, "utf-8")
    document = agreement.to_dict()
    document.pop("lines")
    DATA.write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    return 0


def joined(old: Agreement, new: Agreement) -> Agreement:
    """Return the runs of both, a newer one in the place of an older, unless it is no evidence and that is."""
    runs = {(pair.scenario, pair.transport, pair.seed): pair for pair in old.pairs}
    for pair in new.pairs:
        key = (pair.scenario, pair.transport, pair.seed)
        if not pair.doubt or key not in runs or runs[key].doubt:
            runs[key] = pair
    order = list(dict.fromkeys(key[:2] for key in runs))
    return Agreement(
        sorted(runs.values(), key=lambda pair: (order.index((pair.scenario, pair.transport)), pair.seed)),
        old.kernel or new.kernel,
    )


def simulated(pair: Pair, kernel: str) -> Pair:
    """Return the pair with its simulation made again, beside this release of Linux."""
    file = ROOT / "tests" / "agreement" / f"{pair.scenario.removeprefix('agree-')}.toml"
    scenario = Scenario.from_file(file).with_transport(pair.transport).set("run.duration", DURATION)
    scenario = modelled(scenario, kernel) if kernel.endswith("virtual time") else scenario
    metrics = run(scenario, pair.seed, "summary").metrics
    return dataclasses.replace(pair, simulated={name: metrics[name] for name in MEASURES})


def tables(agreement: Agreement) -> str:
    """Return what stands on the page: how many agree, then every number."""
    left_out = len(agreement.left_out())
    behind = f"{'run' if left_out == 1 else 'runs'} {agreement.why_left_out}"
    counts = [line.difference.n for line in agreement.lines()]
    seeds = f"{min(counts)} to {max(counts)}" if min(counts) < max(counts) else str(max(counts))
    lines = agreement.lines()
    head = (
        f"Linux {agreement.kernel}; {len(agreement.pairs)} runs of {DURATION} on each plane (the first 2 s "
        f"are warm-up), {seeds} seeds of each case{f'; {left_out} {behind}' if left_out else ''}.\n\n"
        f"{agreement.answer}\n\n"
    )
    return head + _matrix(lines) + "\n### Every number\n\n" + agreement.to_markdown()


def _matrix(lines: list[Line]) -> str:
    """Return a row for each scenario and transport: how far apart goodput and RTT are."""
    by_case: dict[tuple[str, str], dict[str, Line]] = {}
    for line in lines:
        by_case.setdefault((line.scenario, line.transport), {})[line.measure] = line
    rows = ["| scenario | transport | goodput | | mean RTT | |", "|---|---|---|---|---|---|"]
    for (scenario, transport), measures in by_case.items():
        cells = []
        for measure in ("goodput_bps", "rtt_mean_s"):
            line = measures[measure]
            cells += [f"{100 * line.difference.mean:+.1f} %", line.verdict]
        rows.append(f"| {scenario} | `{transport}` | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.exit(main())
