"""Write docs/departures.md of departures.toml: `make reference`. A test finds the page out of date."""

from __future__ import annotations

from pathlib import Path

from cogtcp.kernel.validation.departures import AREAS, PEERS, WHOSE, Departure, departures

PAGE = Path(__file__).parent / "departures.md"

_HEAD = """\
# Known departures

Where cogtcp and those it is compared with are known to differ, with the cause. `cogtcp validate`
([validation](validation.md)) names an entry beside each case that it explains. This page is written by
`docs/generate_departures.py` of [departures.toml](../python/cogtcp/kernel/validation/departures.toml)
(`make reference`); it is not typed.
"""


def page() -> str:
    """Return the page as it should be."""
    entries = departures()
    unknown = [entry for entry in entries if entry.is_unknown]
    parts = [_HEAD]
    said = f"{len(entries)} departures; of {len(unknown)} no cause is known yet: "
    parts.append(said + ", ".join(f"[{entry.id}](#{entry.id})" for entry in unknown) + ".\n")
    parts.append(_summary(entries))
    for peer in PEERS:
        own = [entry for entry in entries if entry.peer == peer]
        if own:
            parts.append(f"## {_TITLES[peer]}\n")
            parts += [_entry(entry) for entry in own]
    return "\n".join(parts)


_TITLES = {
    "ns-2": "ns-2.35",
    "ns-3": "ns-3",
    "Linux": "Linux 6.18",
    "RFC": "RFCs and papers",
    "theory": "Closed forms",
}


def _summary(entries: tuple[Departure, ...]) -> str:
    rows = ["| peer | " + " | ".join(AREAS) + " | no cause known |", "|---" * (len(AREAS) + 2) + "|"]
    for peer in PEERS:
        own = [entry for entry in entries if entry.peer == peer]
        counts = [sum(entry.area == area for entry in own) for area in AREAS]
        cells = [str(count or "") for count in [*counts, sum(entry.is_unknown for entry in own)]]
        rows.append(f"| {_TITLES[peer]} | {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _entry(entry: Departure) -> str:
    undo = f"`{entry.undo}`" if entry.undo else "none"
    rows = [
        f"| {entry.area} | {WHOSE[entry.whose]} |",
        "|---|---|",
        f"| here | {entry.here} |",
        f"| {_TITLES[entry.peer]} | {entry.there} |",
        f"| source | {entry.source or 'not found'} |",
        f"| setting that undoes it | {undo} |",
        f"| effect | {entry.effect} |",
        f"| more | [{entry.page.partition('#')[0]}]({entry.page}) |",
    ]
    return f"### {entry.id}\n\n" + "\n".join(rows) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
