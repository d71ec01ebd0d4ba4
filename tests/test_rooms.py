"""The rooms hold to their arrows: tables and lists agree with every Cargo.toml, and every import is used."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path


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


def unused(folder: Path) -> list[str]:
    """Return the dependencies in the manifest of `folder` that its sources do not name."""
    toml = tomllib.loads((folder / "Cargo.toml").read_text())
    places = ["src", "tests", "examples", "benches"]
    benches = {(folder / target["path"]).parent for target in toml.get("bench", []) if "path" in target}
    # With the modules beside them.
    elsewhere = [file for bench in sorted(benches) for file in sorted(bench.glob("*.rs"))]
    result = []
    for kind, where in (("dependencies", places[:1]), ("dev-dependencies", places)):
        files = [file for place in where for file in sorted((folder / place).rglob("*.rs"))]
        text = "".join(file.read_text() for file in (files + elsewhere if len(where) > 1 else files))
        names = [name for table in [toml, *toml.get("target", {}).values()] for name in table.get(kind, {})]
        result += [name for name in names if not re.search(rf"\b{name.replace('-', '_')}\b", text)]
    return result


def test_every_dependency_is_used(tmp_path: Path) -> None:
    left = {folder.name: names for folder in sorted((ROOT / "crates").iterdir()) if (names := unused(folder))}
    assert left == {}, "dependencies that no source names"
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "lib.rs").write_text("use used_crate::Thing;\n")
    manifest = "[dependencies]\nused-crate = '1'\nidle = '1'\n[dev-dependencies]\nidle-too = '1'\n"
    (tmp_path / "Cargo.toml").write_text(manifest)
    assert unused(tmp_path) == ["idle", "idle-too"]


def test_the_event_loop_names_no_part() -> None:
    source = ROOT / "crates" / "simulator" / "src"
    text = (source / "parts.rs").read_text()
    table = text[text.index("const PARTS") : text.index("];", text.index("const PARTS"))]
    parts = re.findall(r"(\w+)::build", table)
    assert len(parts) >= 4
    flow = ROOT / "crates/hosts/src/flow.rs"
    loop = [source / "simulation.rs", *(source / "simulation").glob("*.rs"), flow]
    for file in loop:
        named = [part for part in parts if re.search(rf"\b{part}\b", file.read_text())]
        assert not named, f"{file.name} names {named}"
    # A hook that one part alone needs is no hook.
    trait = text[text.index("trait Part:") : text.index("\n}", text.index("trait Part:"))]
    implementers = [file.read_text() for file in source.rglob("*.rs") if "impl Part for" in file.read_text()]
    for hook in re.findall(r"^    fn (\w+)", trait, re.MULTILINE):
        users = sum(re.search(rf"^    fn {hook}\(", body, re.MULTILINE) is not None for body in implementers)
        assert users >= 2, f"{hook} has {users} implementers"
