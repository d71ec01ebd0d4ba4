"""What notebooks show, and the notebooks that come along."""

import json
from pathlib import Path
from typing import Any

import pytest

from cogtcp import Scenario, compare, run, tune
from cogtcp.model import headline
from conftest import PATIENCE, ROOT, SMALL
from test_report import Page

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("kind", ["scenario", "result", "comparison", "tuning"])
def test_objects_show_themselves(kind: str) -> None:
    scenario = Scenario.from_toml(SMALL).set("description", "<b>bold</b>")
    hop = Scenario.from_file(ROOT / "scenarios" / "cr-single-hop.toml").set("run.duration", "5 s")
    made: dict[str, Any] = {
        "scenario": lambda: (scenario, "small"),
        "result": lambda: (found := run(scenario), headline.of_run(found)),
        "comparison": lambda: (
            found := compare(scenario, ["reno", "sack"], seeds=2),
            headline.of_comparison(found),
        ),
        "tuning": lambda: (found := tune(hop, trials=2, seeds=1, fresh_seeds=2), headline.of_tuning(found)),
    }
    shown, answer = made[kind]()
    html = shown._repr_html_()
    parsed = Page(html)
    assert answer in " ".join(parsed.text.split())
    assert not {"script", "b"} & (set(parsed.tags) - ({"b"} if kind == "scenario" else set()))
    assert "<b>bold" not in html
    assert len(html) < 300_000
    assert ("svg" in parsed.tags) == (kind != "scenario")
    assert ":root" not in html  # the notebook's own colours stay
    assert "@media" not in html


def test_a_run_without_series_shows_its_numbers() -> None:
    html = run(Scenario.from_toml(SMALL), trace="summary")._repr_html_()
    assert "Goodput" in html
    # Where the capacity went needs no series.
    assert html.count("<svg role") == 1


def test_a_flow_without_a_name_is_shown() -> None:
    nameless = SMALL.replace('name = "flow"\n', "")
    assert nameless != SMALL
    assert "f1 (newreno)" in Scenario.from_toml(nameless)._repr_html_()


def test_there_are_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == [
        "first-steps",
        "link-to-decision",
        "sensing-time",
        "your-own-control",
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_holds_what_a_forge_can_show_of_it(
    path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    raw = json.loads(path.read_text(encoding="utf-8"))
    kept = [output for cell in raw["cells"] for output in cell.get("outputs", [])]
    pictures = [output["data"]["image/png"] for output in kept if "image/png" in output.get("data", {})]
    assert pictures, "a forge shows figures that are stored: make notebooks"
    assert path.stat().st_size < 250_000
    assert not any("text/html" in output.get("data", {}) for output in kept)
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    client = nbclient.NotebookClient(
        notebook, timeout=PATIENCE, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    )
    client.execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    texts = ["".join(output["text"]) for output in kept if output["output_type"] == "stream"]
    printed = [output["text"] for output in shown if output["output_type"] == "stream"]
    # A busy machine may hand over what one cell prints in several pieces.
    assert "".join(texts) == "".join(printed), "the notebook holds what it once printed: make notebooks"
    assert len(pictures) == sum("image/png" in output.get("data", {}) for output in shown)
    assert any("text/html" in output.get("data", {}) for output in shown)
    assert any("image/png" in output.get("data", {}) for output in shown)
    assert not any(output["output_type"] == "stream" and output["name"] == "stderr" for output in shown)
