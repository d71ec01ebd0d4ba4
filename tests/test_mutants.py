"""What the mutants' tools draw from is there; the switch stands where a mutant does."""

import importlib
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = ROOT / "benches" / "mutants"
CONFIG = tomllib.loads((TOOLS / "mutants.toml").read_text())


def test_mutants_are_drawn_of_every_crate_that_computes() -> None:
    """Each crate of the workspace is drawn from, or is left out for a reason."""
    crates = {path.parent.name for path in ROOT.glob("crates/*/Cargo.toml")}
    left_out = {name for name in CONFIG["left_out"] if "/" not in name}
    assert crates == set(CONFIG["crates"]) | left_out
    assert not set(CONFIG["crates"]) & left_out
    for path in set(CONFIG["left_out"]) - left_out:
        assert list((ROOT / "crates").glob(f"{path}*")), path


def test_each_start_of_a_path_and_of_a_test_exists() -> None:
    package = ROOT / "python" / "cogtcp"
    for start in [*CONFIG["python"]["drawn"]["rooms"], *CONFIG["python"]["drawn"]["without"]]:
        assert (package / start).exists(), start
    for start in CONFIG["python"]["left_out"]:
        file, _, test = start.partition("::")
        assert [path for path in (ROOT / "tests").glob(f"{file}*") if test in path.read_text()], start


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import a tool, and forget it afterwards."""
    monkeypatch.syspath_prepend(str(TOOLS))
    yield importlib.import_module
    for name in ("sites", "tree", "outcome"):
        sys.modules.pop(name, None)


def test_mutants_are_switched_within_each_other_and_found_by_place(tools: Any) -> None:
    """`a < b` in a condition: the bound is within the condition, and an error there is the bound's."""
    sites = tools("sites")
    source = b"if a < b { f(); }"
    condition = sites.Site("c", "x", "x.rs", 1, 3, 8, ("(ON || (", (3, 8, True), "))"))
    bound = sites.Site("b", "x", "x.rs", 1, 3, 8, ("(if ON { a <= b } else { ", (3, 8, True), " })"))
    text = sites.switched(source, [(0, condition), (1, bound)])
    assert text == (
        b"if /*<0*/(::cogtcp_mutant::on(0) || ("
        b"/*<1*/(if ::cogtcp_mutant::on(1) { a <= b } else { a < b })/*1>*/"
        b"))/*0>*/ { f(); }"
    )
    at = text.index(b"a <= b")
    assert sites.numbers_at(text, at, at + 6) == [1]
    at = text.index(b"on(0)")
    assert sites.numbers_at(text, at, at + 5) == [0]
    assert sites.numbers_at(text, 0, len(text)) == [0, 1]


@pytest.mark.parametrize(
    ("killed", "alive", "equivalent", "code"), [(90, 10, 0, 0), (89, 11, 0, 1), (95, 0, 5, 0), (94, 0, 6, 1)]
)
def test_a_sample_is_judged(
    tools: Any, capsys: pytest.CaptureFixture[str], killed: int, alive: int, equivalent: int, code: int
) -> None:
    outcome = tools("outcome")
    of = {"killed": killed, "alive": alive, "same": equivalent}
    outcomes = {
        outcome.Mutant(f"{kind}{number}", "link", "link.rs"): "alive" if kind != "killed" else "by a test"
        for kind, count in of.items()
        for number in range(count)
    }
    config = {"least_killed": 0.9, "most_equivalent": 0.05, "equivalent": {f"same{n}": "" for n in range(6)}}
    assert outcome.summary(outcomes, config) == code
    assert f"killed: {killed} of {killed + alive}" in capsys.readouterr().out


def test_wilson_by_hand(tools: Any) -> None:
    """9 of 10: (0.9 + 1.92 / 10 -+ 1.96 sqrt(0.009 + 0.0096)) / 1.384."""
    low, high = tools("outcome").wilson(9, 10)
    assert low == pytest.approx(0.5958, abs=1e-3)
    assert high == pytest.approx(0.9821, abs=1e-3)
