"""Write the tables of docs/agreement-drawn.md from docs/agreement-drawn.json, or check them (`--check`).

generate_drawn_agreement.py FILE     take the runs of this agreement.json first; simulate what differs
                                     with other seeds
generate_drawn_agreement.py --means FILE     take the means over seeds of this agreement.json
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from cogtcp import run
from cogtcp.kernel.emulation.agreement import Agreement
from cogtcp.kernel.emulation.pairs import MEASURES
from cogtcp.kernel.emulation.shares import HEADINGS, averaged, exceptions, page, shares
from cogtcp.kernel.emulation.virtual.kernels import modelled
from cogtcp.kernel.validation.families.wide import drawn_wide, kind_of

DOCS = Path(__file__).resolve().parent
PAGE, DATA = DOCS / "agreement-drawn.md", DOCS / "agreement-drawn.json"
BEGIN, END = "<!-- drawn: written by docs/generate_drawn_agreement.py -->\n", "<!-- end of drawn -->\n"
#: Seeds of the simulations beside those that differ.
SEEDS = range(1, 13)


def main() -> int:
    """Take, write or check."""
    files = [Path(name) for name in sys.argv[1:] if not name.startswith("--")]
    before = json.loads(DATA.read_text("utf-8"))
    given = json.loads(files[0].read_text("utf-8")) if files else before
    is_new = bool(files) and "--means" not in sys.argv
    if is_new:
        document = {**given, "means": before.get("means", [])}
    elif files:
        document = {**before, "means": means(given)}
    else:
        document = dict(before)
    document.pop("lines", None)
    agreement = Agreement.from_dict(document)
    if is_new:
        document["others"] = others(agreement, before.get("others", {}), _values(before))
    seed = next(iter({pair.seed for pair in agreement.pairs}), 0)
    about = f"{len(agreement.pairs)} scenarios of seed {seed:08x}; Linux {agreement.kernel}.\n\n"
    text = PAGE.read_text("utf-8")
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    tables = page(agreement.pairs, lambda pair: kind_of(pair.scenario), document.get("others", {}))
    written = head + BEGIN + about + tables + _of_means(document) + END + tail
    if "--check" in sys.argv:
        if written != text:
            print("docs/agreement-drawn.md is not what agreement-drawn.json says")
        return int(written != text)
    PAGE.write_text(written, "utf-8")
    DATA.write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    return 0


def means(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the means over seeds of the scenarios of which all seeds have run, and how many those are."""
    runs = Agreement.from_dict(document).pairs
    seeds = len({pair.seed for pair in runs})
    counts = Counter(pair.scenario for pair in runs)
    whole = [pair for pair in runs if counts[pair.scenario] == seeds]
    return [{"seeds": seeds, **vars(pair)} for pair in averaged(whole)]


def _of_means(document: dict[str, Any]) -> str:
    """Return the table of the means, with that of single seeds of the same scenarios."""
    if not (kept := document.get("means")):
        return ""
    seeds = kept[0]["seeds"]
    runs = [{name: value for name, value in each.items() if name != "seeds"} for each in kept]
    pairs = Agreement.from_dict({"runs": runs, "kernel": ""}).pairs
    names = {pair.scenario for pair in pairs}
    alone = [pair for pair in Agreement.from_dict(document).pairs if pair.scenario in names]
    rows = []
    for title, of in (("one seed", alone), (f"mean of {seeds} seeds", pairs)):
        share = shares(of, lambda pair: kind_of(pair.scenario))[-1]
        rows += [[title, *share.cells()[1:]], share.intervals()]
    table = [["", *HEADINGS[1:]], ["---"] * len(HEADINGS), *rows]
    lines = "".join(f"| {' | '.join(row)} |\n" for row in table)
    return f"\nThe first {len(pairs)} scenarios, also with {seeds} seeds each:\n\n{lines}"


def _values(document: dict[str, Any]) -> dict[str, dict[str, float]]:
    return {each["scenario"]: each["simulated"] for each in document["runs"]}


def others(
    agreement: Agreement,
    known: dict[str, dict[str, list[float]]],
    values: dict[str, dict[str, float]],
) -> dict[str, dict[str, list[float]]]:
    """Simulate the scenarios that differ with other seeds; return least and greatest metrics by scenario.

    What is `known` is taken where the simulation had the same values then.
    """
    found = {}
    for pair, _ in exceptions(agreement.pairs):
        if pair.scenario in known and values[pair.scenario] == pair.simulated:
            found[pair.scenario] = known[pair.scenario]
            continue
        number = int(pair.scenario.rpartition("-")[2])
        scenario = modelled(drawn_wide(pair.seed, number)[-1], agreement.kernel)
        metrics = [run(scenario, seed).metrics for seed in SEEDS]
        seen = {name: [each[name] for each in metrics] for name in MEASURES}
        found[pair.scenario] = {name: [min(of), max(of)] for name, of in seen.items()}
    return found


if __name__ == "__main__":
    sys.exit(main())
