"""Write the tables of docs/agreement-drawn.md from docs/agreement-drawn.json, or check them (`--check`).

generate_drawn_agreement.py FILE     take the runs of this agreement.json first; simulate what differs
                                     with other seeds (needs the kernel that ran: its ticks)
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from cogtcp import run
from cogtcp.kernel.emulation.agreement import Agreement
from cogtcp.kernel.emulation.pairs import MEASURES
from cogtcp.kernel.emulation.shares import exceptions, page
from cogtcp.kernel.emulation.virtual import find
from cogtcp.kernel.validation.families.wide import drawn_wide, kind_of

DOCS = Path(__file__).resolve().parent
PAGE, DATA = DOCS / "agreement-drawn.md", DOCS / "agreement-drawn.json"
BEGIN, END = "<!-- drawn: written by docs/generate_drawn_agreement.py -->\n", "<!-- end of drawn -->\n"
#: Seeds of the simulations beside those that differ.
SEEDS = range(1, 13)


def main() -> int:
    """Take, write or check."""
    files = [Path(name) for name in sys.argv[1:] if not name.startswith("--")]
    document = json.loads((files[0] if files else DATA).read_text("utf-8"))
    document.pop("lines", None)
    agreement = Agreement.from_dict(document)
    if files:
        document["others"] = others(agreement)
    seed = next(iter({pair.seed for pair in agreement.pairs}), 0)
    about = f"{len(agreement.pairs)} scenarios of seed {seed:08x}; Linux {agreement.kernel}.\n\n"
    text = PAGE.read_text("utf-8")
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    tables = page(agreement.pairs, lambda pair: kind_of(pair.scenario), document.get("others", {}))
    written = head + BEGIN + about + tables + END + tail
    if "--check" in sys.argv:
        if written != text:
            print("docs/agreement-drawn.md is not what agreement-drawn.json says")
        return int(written != text)
    PAGE.write_text(written, "utf-8")
    DATA.write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    return 0


def others(agreement: Agreement) -> dict[str, dict[str, list[float]]]:
    """Simulate the scenarios that differ with other seeds; return least and greatest metrics by scenario."""
    kernel = find()
    found = {}
    for pair, _ in exceptions(agreement.pairs):
        number = int(pair.scenario.rpartition("-")[2])
        scenario = kernel.modelled(drawn_wide(pair.seed, number)[-1])
        metrics = [run(scenario, seed).metrics for seed in SEEDS]
        values = {name: [each[name] for each in metrics] for name in MEASURES}
        found[pair.scenario] = {name: [min(of), max(of)] for name, of in values.items()}
    return found


if __name__ == "__main__":
    sys.exit(main())
