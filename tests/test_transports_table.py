"""The table of all transports: what it runs, what it says of intervals, and what it keeps."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from cogtcp import Scenario, budget
from cogtcp.studies import list_studies, stacks

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "docs"))

import generate_transports as made  # noqa: E402


def test_the_table_knows_every_state() -> None:
    assert ["delivered_s", *made.PLACES] == [state.column for state in budget.STATES]
    page = (ROOT / "docs/transports-table.md").read_text().partition("<!-- transports -->")[2]
    rows = re.findall(r"^\| `.*\| ([^|]+) \|$", page, re.MULTILINE)
    assert len(rows) > 100
    assert {row for row in rows if row != "-" and not re.search("cannot|too long", row)} <= set(
        made.PLACES.values()
    )


def test_each_shipped_scenario_and_each_study_has_a_row() -> None:
    names = [row.name for row in made.rows()]
    assert names[:-6] == sorted(path.stem for path in (ROOT / "scenarios").glob("*.toml"))
    assert names[-6:] == [f"study {study.name}" for study in list_studies()]
    of_paths = [row.name for row in made.rows() if "mptcp" in row.transports()]
    assert of_paths == ["bonded"]


@pytest.mark.parametrize("study", list_studies(), ids=lambda study: study.name)
def test_the_base_of_a_study_takes_any_transport(study: stacks.Study) -> None:
    scenario = stacks.base_scenario(study, 3)
    first, other = (stacks.put_on(scenario, name).to_dict() for name in ("cubic", "tfrc"))
    assert {flow["transport"] for flow in other["flow"] if not flow.get("fixed")} == {"tfrc"}
    # The radios and the network stay the study's.
    assert {key for key in first if first[key] != other[key]} == {"flow"}
    assert first["topology"] == scenario.to_dict()["topology"]


@pytest.mark.parametrize(
    ("by_queue", "words"),
    [
        ({17: [60, 61, 62], 34: [60, 61, 62], 136: [60, 61, 62]}, "`a` takes more"),
        (
            {17: [60, 61, 62], 34: [30, 50, 70], 136: [38, 39, 40]},
            "`a` takes more at 1/2 BDP; no difference shown at 1 BDP; `b` takes more at 4 BDP",
        ),
        (
            {17: [4, 5, 6], 34: [94, 95, 96], 136: [49, 50, 51]},
            "`a` starves at 1/2 BDP; `b` starves at 1 BDP; no difference shown at 4 BDP",
        ),
        ({17: [60], 34: [], 136: [40]}, ""),
    ],
)
def test_a_finding_says_what_intervals_show(by_queue: dict[int, list[float]], words: str) -> None:
    assert made.finding("a", "b", by_queue) == words


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a survey of three transports in two scenarios."""
    shipped = {name: Scenario.from_file(ROOT / f"scenarios/{name}.toml") for name in ("graph", "sensed-link")}
    monkeypatch.setattr(made, "rows", lambda: [made.Row(name, file) for name, file in shipped.items()])
    monkeypatch.setattr(made, "TRANSPORTS", ("cubic", "bbr", "tfrc"))
    monkeypatch.setattr(made, "PAIRS", (("mptcp-sack", "sack"),))


@pytest.mark.usefixtures("small")
def test_a_survey_goes_on_and_says_what_cannot_run(tmp_path: Path) -> None:
    survey = made.Survey(8)
    survey.run(tmp_path / "runs", 1e9, 60.0, 1)
    text = made.table(survey)
    assert "| `graph` | `tfrc` | - | - | - | - | - | cannot run it |" in text
    assert re.search(r"^\| `sensed-link` \| `bbr` \| \d\.\d{3} ± ", text, re.MULTILINE)
    said = made.findings(survey)
    assert re.search(r"^\| `sensed-link` \| 8 \| `bbr` \+\d+ % ", said, re.MULTILINE)
    assert "| `tfrc` |" in said.partition("`graph`")[2].partition("\n")[0]
    shares = made.shares(survey)
    assert re.search(r"\| `mptcp-sack` \| `sack` \| .*takes more", shares)

    # With the runs of another time nothing is made again: no run could end in so short a time.
    again = made.Survey(8)
    again.run(tmp_path / "runs", 0.0, 1e-9, 1)
    assert (made.table(again), made.findings(again), made.shares(again)) == (text, said, shares)
    page = tmp_path / "page.md"
    page.write_text(
        "".join(f"<!-- {it} -->x<!-- end of {it} -->" for it in ("shares", "findings", "transports"))
    )
    made.write(again, page)
    assert text in page.read_text()
    assert shares in page.read_text()


@pytest.mark.usefixtures("small")
def test_a_slow_run_is_given_up_and_told(tmp_path: Path) -> None:
    survey = made.Survey(1)
    survey.run(tmp_path / "runs", 1e9, 1e-9, 1)
    assert "1 of 1 runs took too long" in made.table(survey)
