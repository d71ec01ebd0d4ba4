"""Write the judgement of docs/fitting.md from docs/fit-truth.json, or check it (`--check`).

generate_fit_truth.py FOLDER                take what `benches/fit_truth.py judge` wrote there first
    --earlier                               and keep the last judgement beside it
generate_fit_truth.py --public FILE         take what `benches/fit_public.py` wrote
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
PAGE, DATA = DOCS / "fitting.md", DOCS / "fit-truth.json"
BEGIN, END = "<!-- truth: written by docs/generate_fit_truth.py -->\n", "<!-- end of truth -->\n"
_VERDICTS = ("right", "near", "bounded", "unknown", "wrong")
_PATHS = {
    "kernel": "kernel's tbf, fq_codel, pie, netem",
    "ns-3": "ns-3",
    "relay": "relay in Python",
    "plane": "kernel plane",
}
_SHARES = {
    "end right": "end of the capture right",
    "hold or drop right": "hold or drop right, where silences were found",
    "capacity measured, of links with a backlog": "capacity measured, where fit saw a backlog",
    "claims to know": "claims to know another transport's goodput",
    "of these, another transport's goodput within 10 %": "of these within 10 %",
    "of the others, within 10 %": "of the others within 10 %",
}
_PUBLIC = {
    "captures": "files",
    "crashes": "crashes",
    "refused": "refused, most of them without TCP",
    "with a handshake": "TCP transfers of 30 packets with a handshake",
    "end right": "end as Wireshark's round-trip times say, where they tell it",
    "delay right": "delay within Wireshark's range",
}


def table(counts: dict[str, dict[str, int]], kind: str, names: dict[str, str]) -> str:
    """Return the verdicts of one kind of rows."""
    lines = [f"| {kind} | {' | '.join(_VERDICTS)} |", "|---" * (len(_VERDICTS) + 1) + "|"]
    for name, shown in names.items():
        row = counts.get(name)
        if row:
            lines.append(f"| {shown} | {' | '.join(str(row[verdict]) for verdict in _VERDICTS)} |")
    return "\n".join(lines) + "\n"


def block(data: dict[str, Any]) -> str:
    """Return the generated part of the page."""
    truth, counts = data["truth"], data["truth"]["table"]
    quantities = {key: key[9:] for key in counts if key.startswith("quantity ")} | {"all": "all"}
    paths = {
        f"path {path}": f"{shown}, {truth['links'].get(path, 0)} links" for path, shown in _PATHS.items()
    }
    kinds = {key: key[5:] for key in sorted(counts) if key.startswith("kind ")}
    columns = {f"seed {truth['seed']:08x}": _shares(truth)}
    if earlier := data.get("earlier"):
        said = f"seed {earlier['seed']:08x}, {earlier['judged']} links, before the last changes"
        columns[said] = _shares(earlier)
    about = f"{truth['judged']} links of seed {truth['seed']:08x}; Linux {truth['kernel']} in virtual time.\n"
    tables = [
        table(counts, "quantity", quantities),
        table(counts, "made by", paths),
        table(counts, "kind of link", kinds),
        _columns("what", columns),
    ]
    if public := data.get("public"):
        rows = [(_PUBLIC[key], str(public[key])) for key in _PUBLIC]
        tables.append(_pairs("public captures", "count", rows))
    return "\n".join([about, *tables])


def _shares(truth: dict[str, Any]) -> dict[str, str]:
    """Return the counts of a judgement by what they count."""
    counts = truth["table"]["all"]
    total, wrong = sum(counts.values()), counts["wrong"]
    covers = [tuple(map(int, said.split(" of "))) for said in truth["intervals that cover"].values()]
    right, of = (sum(each) for each in zip(*covers, strict=True))
    found = {
        "wrong": f"{wrong} of {total} ({100 * wrong / total:.1f} %)",
        "95 % intervals that cover the truth": f"{right} of {of} ({100 * right / of:.0f} %)",
    }
    for name, said in truth["intervals that cover"].items():
        found[f"95 % interval of the {name} covers the truth"] = said
    found |= {shown: truth[key] for key, shown in _SHARES.items()}
    half = truth["median half interval of capacity"]
    return found | {"median half interval of the capacity": f"{100 * half:.1f} %"}


def _columns(head: str, columns: dict[str, dict[str, str]]) -> str:
    """Return a table of several judgements, by what they count."""
    names = dict.fromkeys(name for column in columns.values() for name in column)
    lines = [f"| {head} | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for name in names:
        row = " | ".join(column.get(name, "\u2013") for column in columns.values())
        lines.append(f"| {name} | {row} |")
    return "\n".join(lines) + "\n"


def _pairs(one: str, other: str, rows: list[tuple[str, str]]) -> str:
    return "\n".join([f"| {one} | {other} |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows)]) + "\n"


def _taken(folder: Path, kernel: str) -> dict[str, Any]:
    judged = json.loads((folder / "judged.json").read_text("utf-8"))
    rows = judged.pop("rows")
    first = json.loads((folder / f"{rows[0]['name']}.json").read_text("utf-8"))
    return {**judged, "links": Counter(row["path"] for row in rows), "seed": first["seed"], "kernel": kernel}


def main() -> int:
    """Take, write or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--earlier", action="store_true", help="keep the last judgement beside the new one")
    parser.add_argument("--public", type=Path)
    parser.add_argument("--kernel", default="")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    data = json.loads(DATA.read_text("utf-8")) if DATA.exists() else {}
    if args.folder and args.earlier:
        data["earlier"] = data["truth"]
    if args.folder:
        data["truth"] = _taken(args.folder, args.kernel)
    if args.public:
        data["public"] = json.loads(args.public.read_text("utf-8"))["counts"]
    text = PAGE.read_text("utf-8")
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    written = head + BEGIN + block(data) + END + tail
    if args.check:
        if written != text:
            print("docs/fitting.md is not what fit-truth.json says")
        return int(written != text)
    PAGE.write_text(written, "utf-8")
    DATA.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
