"""Write the tables of parameters on the pages of models: `make reference`. A test finds a page out of date.

A page has `<!-- parameters: HEADING -->` where the table goes. HEADING is that of a table in
docs/scenario/, which is generated from the types, without backticks; `HEADING: NAME NAME` takes only these
rows, and `congestion NAME` the parameters of a congestion control.
"""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parent
REFERENCE = DOCS / "scenario"

_BLOCK = re.compile(r"(<!-- parameters: (.*?) -->\n).*?(<!-- end of parameters -->)", re.DOTALL)


def pages() -> dict[Path, str]:
    """Return the pages that have such tables, as they should be."""
    # Links between the pages of the reference lead to them from anywhere: "](#x)" becomes "](PAGE.md#x)".
    reference = "\n".join(
        re.sub(r"\]\(#", f"]({page.name}#", page.read_text(encoding="utf-8"))
        for page in sorted(REFERENCE.glob("*.md"))
    )
    texts = {page: page.read_text(encoding="utf-8") for page in sorted(DOCS.rglob("*.md"))}
    return {page: _filled(text, page, reference) for page, text in texts.items() if _BLOCK.search(text)}


def _filled(text: str, page: Path, reference: str) -> str:
    up = "../" * (len(page.relative_to(DOCS).parts) - 1)

    def fill(block: re.Match[str]) -> str:
        wanted = block[2]
        find = _control if wanted.startswith("congestion ") else _section
        table = re.sub(r"\]\((\w+\.md#)", rf"]({up}scenario/\1", find(reference, wanted))
        return f"{block[1]}\n{table}\n\n{block[3]}"

    return _BLOCK.sub(fill, text)


def _section(reference: str, wanted: str) -> str:
    heading, _, names = wanted.partition(": ")
    for section in re.split(r"^#{2,3} ", reference, flags=re.MULTILINE):
        first, _, body = section.partition("\n")
        if first.replace("`", "") == heading:
            head, under, *rows = [line for line in body.splitlines() if line.startswith("|")]
            if names:
                rows = [next(r for r in rows if r.startswith(f"| `{name}` |")) for name in names.split()]
            return "\n".join([head, under, *rows])
    raise LookupError(f"docs/scenario: no table {heading!r}")


def _control(reference: str, wanted: str) -> str:
    start = f"| `{wanted.removeprefix('congestion ')}` | `"
    rows = [line for line in reference.splitlines() if line.startswith(start)]
    # Transports, which may have the same name, are in a table of fewer columns.
    rows = [f"| `{row.removeprefix(start)}" for row in rows if row.count(" | ") >= 5]
    if not rows:
        raise LookupError(f"docs/scenario: no parameters of {wanted!r}")
    return "\n".join(["| parameter | unit | default | allowed | meaning |", "|---|---|---|---|---|", *rows])


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
