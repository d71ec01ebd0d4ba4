"""Rust's tests are all built and run: one program for each crate, and none is switched off."""

from __future__ import annotations

import re
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

CRATES = sorted(path.parent for path in ROOT.glob("crates/*/Cargo.toml"))
#: Programs beside the one, and why.
BESIDE = {
    "packet_scripts.rs": "enters namespaces, so it has no threads and no harness",
}


def manifest(crate: Path) -> dict[str, Any]:
    return tomllib.loads((crate / "Cargo.toml").read_text())


def sources(crate: Path) -> str:
    return "\n".join(path.read_text() for path in sorted(crate.glob("src/**/*.rs")))


def linked(crate: Path) -> set[str]:
    """Return the programs that Cargo links: files of `tests/` and folders with a `main.rs`."""
    files = {path.stem for path in crate.glob("tests/*.rs") if path.name not in BESIDE}
    return files | {path.parent.name for path in crate.glob("tests/*/main.rs")}


def parts(crate: Path) -> set[str]:
    """Return the names of files and folders of `tests/` that hold Rust."""
    entries = [path for path in crate.glob("tests/*") if path.suffix == ".rs" or list(path.rglob("*.rs"))]
    return {path.stem for path in entries if path.name not in BESIDE}


def borrowed(crate: Path) -> set[str]:
    """Return the folders of `tests/` of which a test of another crate reads a file by its path."""
    named = rf'^#\[path = "[./]*/{crate.name}/tests/(\w+)/\w+\.rs"\]$'
    others = [path for path in ROOT.glob("crates/*/**/*.rs") if not path.is_relative_to(crate)]
    return {name for path in others for name in re.findall(named, path.read_text(), re.MULTILINE)}


def forgotten(names: set[str], program: str) -> set[str]:
    """Return which of the files and folders of `tests/` no `mod` of the program names."""
    return names - set(re.findall(r"^mod (\w+);$", program, re.MULTILINE))


@pytest.mark.parametrize("crate", CRATES, ids=lambda path: path.name)
def test_a_crate_has_one_program_of_tests_with_every_file_in_it(crate: Path) -> None:
    """Cargo links a program for each file of `tests/`, which takes longer than running them."""
    made = manifest(crate)
    if made["package"].get("autotests", True):
        programs = linked(crate)
        assert len(programs) <= 1, "make them modules of tests/all.rs, as in crates/feedback"
        assert parts(crate) - programs - borrowed(crate) == set(), "no test reads this"
        return
    assert {"name": "all"} in made["test"]
    assert forgotten(parts(crate) - {"all"}, (crate / "tests/all.rs").read_text()) == set()


def test_a_file_that_no_module_names_is_found() -> None:
    assert forgotten({"a", "b"}, "//! mod b;\n\nmod a;\n") == {"b"}


@pytest.mark.parametrize("crate", CRATES, ids=lambda path: path.name)
def test_only_tests_that_there_are_not_are_switched_off(crate: Path) -> None:
    """A crate without unit tests or examples is not built for them, which takes seconds."""
    library = manifest(crate).get("lib", {})
    text = sources(crate)
    tested = bool(re.search(r"^\s*#\[test\]", text, re.MULTILINE))
    assert library.get("test", True) == tested or crate.name == "python"
    comments = re.findall(r"(?:^\s*//[/!].*\n)+", text, re.MULTILINE)
    fences = [line.split("```")[1] for part in comments for line in part.splitlines() if "```" in line][::2]
    examples = [words for words in fences if words.strip() in ("", "rust", "no_run", "should_panic")]
    assert library.get("doctest", True) == bool(examples), examples
