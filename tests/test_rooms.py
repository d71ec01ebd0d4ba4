"""CONTRIBUTING.md's table of imports and ARCHITECTURE.md's list of rooms agree with every Cargo.toml."""

from __future__ import annotations

import re
import tomllib

import pytest

from conftest import ROOT


def imports() -> dict[str, set[str]]:
    """Return which of our crates each crate imports on any system, imports of its tests left out."""
    result = {}
    for manifest in ROOT.glob("crates/*/Cargo.toml"):
        toml = tomllib.loads(manifest.read_text())
        tables = [toml, *toml.get("target", {}).values()]
        names = [name for table in tables for name in table.get("dependencies", {})]
        ours = {name.removeprefix("cogtcp-") for name in names if name.startswith("cogtcp-")}
        result[manifest.parent.name] = ours
    return result


def stated(text: str) -> dict[str, set[str]]:
    """Return what the table of `text` says that each crate imports."""
    result: dict[str, set[str]] = {}
    for crate, cell in re.findall(r"^\| `crates/([\w-]+)` \|.*\| *([^|]*?) *\|$", text, re.MULTILINE):
        assert crate not in result, f"{crate} has two rows"
        # Words beside the names say what an import is for.
        names = set(re.findall(r"[\w-]+", cell)) & imports().keys()
        assert names <= result.keys(), f"{crate}: not above it: {', '.join(sorted(names - result.keys()))}"
        if cell.startswith("all of the above"):
            names = result.keys() - names
        elif not names:
            assert cell == "nothing of ours", f"{crate}: {cell or 'an empty cell'}"
        result[crate] = names
    return result


def test_the_table_of_imports_is_that_of_the_manifests() -> None:
    table, crates = stated((ROOT / "CONTRIBUTING.md").read_text()), imports()
    assert sorted(table) == sorted(crates), "a row for each folder of crates/, and no other"
    for crate, ours in crates.items():
        wrong = f"missing {sorted(ours - table[crate])}, too many {sorted(table[crate] - ours)}"
        assert table[crate] == ours, f"CONTRIBUTING.md, row of crates/{crate}: {wrong}"


def test_rows_are_read_as_a_reader_reads_them() -> None:
    text = (
        "| `crates/units` | first | nothing of ours |\n| `crates/link` | second, a thing | units |\n"
        "| `crates/traffic` | third | all of the above but link |\n"
        "| `crates/web` | last | all of the above |\n"
    )
    expected = {"units": set(), "link": {"units"}, "traffic": {"units"}, "web": {"units", "link", "traffic"}}
    assert stated(text) == expected
    for cell in ("", "none", "web"):
        with pytest.raises(AssertionError):
            stated(f"| `crates/units` | first | {cell} |\n")


def test_rooms_import_only_rooms_below_them() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    rooms = text[text.index("## The rooms") :].split("```")[1]
    line = {
        room: number
        for number, words in enumerate(rooms.splitlines())
        for room in re.findall(r"crates/([\w-]+)/", words)
    }
    crates = imports()
    assert sorted(line) == sorted(crates), "ARCHITECTURE.md, the rooms: every folder of crates/, and no other"
    for crate, ours in crates.items():
        above = [other for other in ours if line[other] <= line[crate]]
        assert not above, f"crates/{crate} imports {above}, which ARCHITECTURE.md does not have below it"
