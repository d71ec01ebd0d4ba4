"""Write the table of docs/validation.md of documents of `cogtcp validate --json`.

    generate_validation.py FILE...

Families may be in several documents, as cases depend on nothing but the seed; the document named last counts.
Other families keep their rows.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from cogtcp.kernel.validation.families import FAMILIES
from cogtcp.kernel.validation.outcome import FamilyRow, summary_cells

PAGE = Path(__file__).parent / "validation.md"
BEGIN, END = "<!-- measured: written by docs/generate_validation.py -->\n", "<!-- end of measured -->\n"


def main() -> int:
    """Write the table."""
    found: dict[str, tuple[int, list[FamilyRow]]] = {}
    for name in sys.argv[1:]:
        document = json.loads(Path(name).read_text("utf-8"))
        for family in {row["family"] for row in document["families"]}:
            rows = [FamilyRow(**row) for row in document["families"] if row["family"] == family]
            found[family] = (document["seed"], rows)
    lines = [
        "| family | seed | peer | compared | cases | median | range | within 3 % | within 5 % "
        "| beyond | unexplained |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    text = PAGE.read_text("utf-8")
    head, rest = text.split(BEGIN)
    table, tail = rest.split(END)
    absent = []
    for name in (family.name for family in FAMILIES):
        kept = [line for line in table.splitlines() if line.startswith(f"| `{name}` |")]
        seed, rows = found.get(name, (0, []))
        made = [f"| `{name}` | {seed:08x} | {' | '.join(summary_cells(row)[1:])} |" for row in rows]
        lines += made or kept
        absent += [] if made or kept else [name]
    note = f"\nNot run: {', '.join(f'`{name}`' for name in absent)}.\n" if absent else ""
    PAGE.write_text(head + BEGIN + "\n".join(lines) + "\n" + note + END + tail, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
