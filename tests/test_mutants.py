"""The lists of mutants name code that is there, and Python files compile with mutants in them."""

import importlib
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
LISTS = ROOT / "benches" / "mutants"


def _rules() -> Iterator[tuple[str, dict[str, str]]]:
    for crate, rules in tomllib.loads((LISTS / "by_hand.toml").read_text()).items():
        for rule in rules:
            yield crate, rule


def test_the_text_of_each_rule_stands_in_its_file_once() -> None:
    gone = []
    for crate, rule in _rules():
        source = ROOT / "crates" / crate / "src" / rule["file"]
        count = source.read_text().count(rule["old"]) if source.exists() else 0
        if count != 1:
            gone.append(f"{crate}/{rule['file']}: {rule['rule']}: {count} times")
    assert not gone, "by_hand.toml: mend the text of these rules, or take them out: " + "; ".join(gone)


def test_each_rule_is_listed_once_and_changes_something() -> None:
    names = [(crate, rule["rule"]) for crate, rule in _rules()]
    assert sorted(set(names)) == sorted(names)
    assert all(rule["old"] != rule["new"] for _, rule in _rules())


def test_mutants_of_samples_are_in_files_that_exist() -> None:
    """A file that was moved takes its mutants out of the sample: draw it again."""
    for sample in ("switched.txt", "watched.txt"):
        lines = (LISTS / sample).read_text().splitlines()
        assert len(set(lines)) == len(lines)
        names = {line.split(": ")[0] for line in lines}
        gone = [
            name
            for name in sorted(names)
            if not (ROOT / (name if name.startswith("python/") else f"crates/{name}")).exists()
        ]
        assert not gone, f"{sample}: {gone}"


def test_mutants_are_drawn_of_every_crate_that_computes() -> None:
    """Each crate of the workspace is drawn from, or is left out for a reason."""
    config = tomllib.loads((LISTS / "switched.toml").read_text())
    crates = {path.parent.name for path in ROOT.glob("crates/*/Cargo.toml")}
    assert crates == set(config["crates"]) | set(config["left_out"])
    assert not set(config["crates"]) & set(config["left_out"])


def test_python_files_compile_with_all_their_mutants(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(LISTS))
    sites: Any = importlib.import_module("sites")
    tree: Any = importlib.import_module("tree")
    config = tomllib.loads((LISTS / "switched.toml").read_text())
    known = sites.python_package_sites(config["python"]["files"])
    kinds = {name.split(": ")[-1].split("`")[-1].split()[0] for name in known}
    assert {"holds", "is", "with", "without"} <= kinds
    for file in sorted({site.file for site in known.values()}):
        inside = [(number, site) for number, site in enumerate(known.values()) if site.file == file]
        text = sites.switched((ROOT / file).read_bytes(), inside, tree.PYTHON)
        compile(text, file, "exec")
        assert text.count(b"cogtcp_mutant") == len(inside)
    for name in ("sites", "tree", "python_sites"):
        monkeypatch.delitem(sys.modules, name)
