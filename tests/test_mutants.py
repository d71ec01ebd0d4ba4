"""The lists of mutants name code that is there."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

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
