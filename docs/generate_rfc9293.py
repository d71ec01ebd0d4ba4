"""Write docs/rfc9293.md of tests/rfc9293/sentences.toml: `make reference`.

A test finds the page out of date.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/rfc9293.md"
SENTENCES = ROOT / "tests/rfc9293/sentences.toml"

_HEAD = """\
# RFC 9293, sentence by sentence

What TCP does when a segment arrives: RFC 9293, section 3.10.7. Each sentence has a
[packet script](packet-scripts.md) that the model agrees with, or a [known departure](departures.md).
{count} sentences: {shown} shown by {scripts} scripts, {apart} of these with a departure; {departures}
departures alone. Linux agrees with all scripts outside of `tests/rfc9293/sim`. This page is written from
`tests/rfc9293/sentences.toml` (`make reference`).
"""


@dataclass(frozen=True)
class Sentence:
    """A sentence of RFC 9293, shortened, and what shows that the model does it.

    Attributes:
        section: Section of the RFC.
        states: The states that it is about.
        says: What it says.
        scripts: Packet scripts, below `tests`, without `.pkt`.
        tests: Tests of `crates/transport`.
        departure: An entry of departures.toml; empty: none.
    """

    section: str
    states: str
    says: str
    scripts: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    departure: str = ""


def sentences() -> list[Sentence]:
    """Return all sentences, in the RFC's order."""
    entries = tomllib.loads(SENTENCES.read_text("utf-8"))["sentence"]
    return [
        Sentence(
            section=entry["section"],
            states=entry["states"],
            says=entry["says"],
            scripts=tuple(entry.get("scripts", ())),
            tests=tuple(entry.get("tests", ())),
            departure=entry.get("departure", ""),
        )
        for entry in entries
    ]


def page() -> str:
    """Return the page as it should be."""
    rows = sentences()
    shown = [row for row in rows if row.scripts]
    head = _HEAD.format(
        count=len(rows),
        shown=len(shown),
        scripts=len({script for row in shown for script in row.scripts}),
        apart=sum(bool(row.departure) for row in shown),
        departures=len(rows) - len(shown),
    )
    table = ["| section | state | sentence | shown by | departure |", "|---|---|---|---|---|"]
    table += [
        f"| {row.section} | {row.states} | {row.says} | {_shown(row)} | {_departure(row)} |" for row in rows
    ]
    return "\n".join([head, *table]) + "\n"


def _shown(row: Sentence) -> str:
    return ", ".join(f"`{name}`" for name in [*row.scripts, *row.tests])


def _departure(row: Sentence) -> str:
    return f"[{row.departure}](departures.md#{row.departure})" if row.departure else ""


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
