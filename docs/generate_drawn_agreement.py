"""Write the tables of docs/agreement-drawn.md from docs/agreement-drawn.json, or check them (`--check`).

generate_drawn_agreement.py FILE     take the runs of this agreement.json first
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from cogtcp.kernel.emulation.agreement import Agreement
from cogtcp.kernel.emulation.shares import page
from cogtcp.kernel.validation.families.wide import kind_of

DOCS = Path(__file__).resolve().parent
PAGE, DATA = DOCS / "agreement-drawn.md", DOCS / "agreement-drawn.json"
BEGIN, END = "<!-- drawn: written by docs/generate_drawn_agreement.py -->\n", "<!-- end of drawn -->\n"


def main() -> int:
    """Take, write or check."""
    files = [Path(name) for name in sys.argv[1:] if not name.startswith("--")]
    document = json.loads((files[0] if files else DATA).read_text("utf-8"))
    document.pop("lines", None)
    agreement = Agreement.from_dict(document)
    seed = next(iter({pair.seed for pair in agreement.pairs}), 0)
    about = f"{len(agreement.pairs)} scenarios of seed {seed:08x}; Linux {agreement.kernel}.\n\n"
    text = PAGE.read_text("utf-8")
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    tables = page(agreement.pairs, lambda pair: kind_of(pair.scenario))
    written = head + BEGIN + about + tables + END + tail
    if "--check" in sys.argv:
        if written != text:
            print("docs/agreement-drawn.md is not what agreement-drawn.json says")
        return int(written != text)
    PAGE.write_text(written, "utf-8")
    DATA.write_text(json.dumps(document, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
