"""What the README states in numbers is so."""

import re
import subprocess
import sys

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
    table = {re.sub(r"[\[`].*?([a-z0-9-]+)`.*", r"\1", row[0]): row for row in rows("| study |")}
    assert set(table) == {study.name for study in list_studies()}
    for study in list_studies():
        name, question, answer, decides = table[study.name]
        assert f"studies/library/{study.name}/README.md" in name
        assert question == study.question
        assert decides
        count = sum(not row.ours for row in study.claims)
        assert re.search(rf"\d+ of {count} claims can be reproduced; \d+ holds?", answer), study.name


def test_verdicts_are_written_from_what_is_kept() -> None:
    """`docs/generate_verdicts.py` needs no runs, so that the pages are as the kept searches at any time."""
    script = ROOT / "docs/generate_verdicts.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_findings_are_what_the_kept_data_say() -> None:
    """Each finding has a condition on the data; the page has at most 700 words, its commands included."""
    script = ROOT / "docs/generate_findings.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    page = (ROOT / "docs/findings.md").read_text()
    assert len(page.split()) <= 700
    # Each has its figure and the command that measures it.
    source = re.compile(r"\((\[.*\]\(.*\)|.*); `cogtcp reproduce .*`\)\.$")
    for line in page.splitlines():
        assert not line.startswith("- ") or source.search(line), line


@pytest.mark.parametrize(
    "page", ["README.md", "docs/verdicts.md", "docs/adding-a-study.md", "docs/findings.md"]
)
def test_verdicts_have_the_words_that_are_defined(page: str) -> None:
    text = (ROOT / page).read_text()
    for gone in ("unclear", "somewhere", "undecided"):
        assert not re.search(rf"\b{gone}\b", text), (page, gone)


def test_the_page_of_verdicts_has_every_claim() -> None:
    page = (ROOT / "docs/verdicts.md").read_text()
    for study in list_studies():
        for row in study.claims:
            ours = " (ours)" if row.ours else ""
            assert f"| {row.id}{ours} | {row.claim} |" in page, row.id


def test_rules_of_thumb_are_those_of_the_atlas() -> None:
    rules = README.partition("## Rules of thumb")[2].partition("\n## ")[0]
    atlas = (ROOT / "docs/atlas.md").read_text()
    counts = re.findall(r"\b(\d+) of (?:the )?(\d+) links", rules)
    assert len(counts) == 3
    for some, of in counts:
        assert f"{some} of {of})" in atlas
    (runs,) = re.findall(r"([\d,]+) runs", rules)
    assert f"{runs} runs" in atlas


def test_what_sensing_costs() -> None:
    text = " ".join(README.split())
    assert "closed for 2 % of the time (0.1 s of each 5.1 s)" in text
    assert "Linux's BBR delivers 91 % of what the link could carry, CUBIC 61 %, Reno 44 %." in text
    assert "SACK with RFC defaults delivers 36 %." in text
    scenario = Scenario.from_file(ROOT / "scenarios/sensed-link.toml")
    sensing = scenario.to_dict()["radio"][0]["sensing"]
    off, on = (float(re.sub(" m?s$", "", sensing[key])) for key in ("off", "on"))
    off /= 1000
    assert (off, on, round(off / (off + on), 3)) == (0.1, 5.0, 0.02)
    transports = ["linux-bbr", "linux-cubic", "linux-reno", "sack"]
    compared = compare(scenario, transports, seeds=10)
    shares = {name: compared.interval(name, "efficiency").mean for name in transports}
    for name, share in zip(transports, (0.91, 0.61, 0.44, 0.36), strict=True):
        assert shares[name] == pytest.approx(share, abs=0.006), name
    # The picture has the numbers that `make demo` prints: docs/images/draw.py sensed-link draws it again.
    picture = (ROOT / "docs/images/sensed-link.svg").read_text()
    for name in transports:
        drawn = re.search(rf"\b{name} ([0-9.]+) Mbit/s", picture)
        assert drawn is not None
        mean = compared.interval(name, "goodput_bps").mean
        assert drawn[1] == f"{mean / 1e6:.3f}", name
