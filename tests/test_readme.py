"""What the README states in numbers is so."""

import re

import pytest

from cogtcp import Scenario, compare
from cogtcp.studies import list_studies
from conftest import ROOT

README = (ROOT / "README.md").read_text()


def rows(heading: str) -> list[list[str]]:
    """Return the cells of the table whose heading begins so."""
    lines = README.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith(heading))
    table = []
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").split("|")])
    return table


def test_the_table_of_studies() -> None:
    table = {re.sub(r"[\[`].*?([a-z0-9]+)`.*", r"\1", row[0]): row for row in rows("| `cogtcp reproduce` |")}
    assert set(table) == {study.name for study in list_studies()}
    numbers = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"]
    assert f"{numbers[len(table)].capitalize()} papers so far" in README
    for study in list_studies():
        name, _, claims, everywhere, base = table[study.name]
        assert f"studies/library/{study.name}/README.md" in name
        assert int(claims) == len(study.claims), study.name
        counts = [[int(count) for count in cell.split(",")] for cell in (everywhere, base)]
        assert all(sum(pair) <= len(study.claims) for pair in counts), study.name
        # What comes out alike over all that a paper leaves unsaid comes out so with the base.
        assert all(least <= most for least, most in zip(*counts, strict=True)), study.name


def test_what_sensing_costs() -> None:
    text = " ".join(README.split())
    assert "closed for 2 % of the time (0.1 s of each 5.1 s)" in text
    assert "TCP delivers between a fifth (Reno) and a third (SACK) of what it could" in text
    scenario = Scenario.from_file(ROOT / "scenarios/sensed-link.toml")
    sensing = scenario.to_dict()["radio"][0]["sensing"]
    off, on = (float(re.sub(" m?s$", "", sensing[key])) for key in ("off", "on"))
    off /= 1000
    assert (off, on, round(off / (off + on), 3)) == (0.1, 5.0, 0.02)
    transports = ["tahoe", "reno", "newreno", "sack"]
    compared = compare(scenario, transports, seeds=4)
    shares = {name: compared.interval(name, "efficiency").mean for name in transports}
    assert (min(shares, key=shares.__getitem__), max(shares, key=shares.__getitem__)) == ("reno", "sack")
    assert shares["reno"] == pytest.approx(1 / 5, abs=0.03)
    assert shares["sack"] == pytest.approx(1 / 3, abs=0.05)
    # The picture is of ten seeds, whose means are near to those of four.
    picture = (ROOT / "docs/images/sensed-link.svg").read_text()
    for name in transports:
        drawn = re.search(rf"\b{name} ([0-9.]+) Mbit/s", picture)
        assert drawn is not None
        mean = compared.interval(name, "goodput_bps").mean
        assert float(drawn[1]) * 1e6 == pytest.approx(mean, rel=0.15), name
