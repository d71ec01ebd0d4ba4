"""SECURITY.md names every verb, and the numbers in it are those of the programs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from conftest import ROOT

if TYPE_CHECKING:
    from conftest import Command

PAGE = (ROOT / "SECURITY.md").read_text()


def test_every_verb_has_a_row(command: Command) -> None:
    verbs = re.findall(r"^    (\w+)", command("--help").out, re.MULTILINE)
    rows = re.findall(r"^\| (`.*?) \|", PAGE.partition("## Verb by verb")[2], re.MULTILINE)
    named = re.findall(r"`(\w+)`", " ".join(rows))
    assert sorted(named) == sorted(verbs)


def test_its_numbers_are_those_of_the_programs(command: Command) -> None:
    said = " ".join(command("freeze", "load", "--help").out.split())
    for option, value in (("--longest", "60"), ("--freshness", "2")):
        assert f"`{option}` ({value} s)" in PAGE
        assert re.search(rf"{option} S .*?\(default: {value}\)", said)
    # The daemon's own defaults, and its limit on a flood.
    program = (ROOT / "bpf/freeze/cogtcp-freeze.c").read_text()
    assert "#define LONGEST 60000000000ULL\n#define FRESHNESS 2000000000ULL\n" in program
    assert "#define OBEYED_PER_S 20\n" in (ROOT / "bpf/freeze/guard.h").read_text()
    assert "up to 20 a second" in PAGE
