"""What is wrong with a file or a setting is shown where it stands: the line, and carets under the fault."""

from pathlib import Path

import pytest

from cogtcp import Scenario, ScenarioError, UsageError, journey, mobility, spectrum
from cogtcp.data.link_trace import LinkTrace
from cogtcp.running.sweeping import plan
from cogtcp.studies import folder
from conftest import ROOT


def marked(excerpt: str) -> tuple[str, str]:
    """Return the label of the line in an excerpt, and what the carets stand under."""
    _, line, carets = excerpt.split("\n")
    assert carets.strip(" |").strip("^") == ""
    first, last = carets.index("^"), carets.rindex("^")
    return line.split("|")[0].strip(), line[first : last + 1]


def damaged(tmp_path: Path, name: str, text: str) -> str:
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def test_of_a_setting_the_value_or_the_path_is_marked() -> None:
    shipped = Scenario.shipped("sensed-link")
    with pytest.raises(ScenarioError) as of_value:
        shipped.set_text("run.duration", "5q")
    assert marked(of_value.value.excerpt) == ("set", "5q")
    assert of_value.value.explain().endswith(of_value.value.excerpt)
    with pytest.raises(ScenarioError) as of_path:
        shipped.set_text("flow.9.transport", "sack")
    assert marked(of_path.value.excerpt) == ("set", "flow.9.transport")
    # What shows only when the whole is looked at.
    with pytest.raises(ScenarioError) as later:
        shipped.set("run.warmup", "500 s").check()
    assert marked(later.value.excerpt) == ("set", '"500 s"')


@pytest.mark.parametrize(
    ("read", "text", "line", "word"),
    [
        (
            lambda file: spectrum.PuActivity.from_file(file),
            "time,band,busy\n0,1,0\n1,1,maybe\n",
            "3",
            "maybe",
        ),
        (LinkTrace.from_file, "1\n2\nx7\n", "3", "x7"),
        (mobility.Mobility.from_file, "time,node,x,y\n0,0,1,far\n", "2", "far"),
    ],
)
def test_of_a_log_the_word_is_marked(tmp_path: Path, read, text: str, line: str, word: str) -> None:
    with pytest.raises(ScenarioError) as error:
        read(damaged(tmp_path, "log.csv" if "," in text else "log.trace", text))
    assert marked(error.value.excerpt) == (line, word), error.value.excerpt
    assert f":{line}: " in str(error.value)


def test_of_a_map_the_value_is_marked(tmp_path: Path) -> None:
    text = next(iter(sorted((ROOT / "scenarios/maps").glob("*.toml")))).read_text()
    key = next(line for line in text.splitlines() if ' km/h"' in line or ' m"' in line)
    wrong = text.replace(key, key.replace(' m"', ' mm2"').replace(' km/h"', ' knots"'), 1)
    with pytest.raises(ScenarioError) as error:
        journey.Line.from_file(damaged(tmp_path, "map.toml", wrong))
    label, word = marked(error.value.excerpt)
    assert int(label) == error.value.line
    assert "mm2" in word or "knots" in word


SWEEP = """\
scenario = "{scenario}"
seeds = 2

[[axis]]
path = "run.duration"
values = ["5 s", "6 s"]
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "word"),
    [
        ("seeds = 2", "seeds = ", "2", None),
        ("seeds = 2", "seeds = 1.5", "2", "1.5"),
        ("seeds = 2", "sede = 2", "2", "2"),
        ('path = "run.duration"', 'paths = "run.duration"', "5", '"run.duration"'),
        ('values = ["5 s", "6 s"]', 'range = ["5 s", "6 s"]\nsteps = "3"', "7", '"3"'),
    ],
)
def test_of_a_sweep_file_the_value_is_marked(
    tmp_path: Path, old: str, new: str, line: str, word: str | None
) -> None:
    text = SWEEP.replace("{scenario}", str(ROOT / "scenarios/sensed-link.toml")).replace(old, new)
    file = damaged(tmp_path, "sweep.toml", text)
    with pytest.raises(UsageError) as error:
        plan.read(file)
    label, found = marked(error.value.excerpt)
    assert label == line
    assert word is None or found == word
    assert str(error.value).startswith(f"{file}:{line}:")


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("seeds = ", "seeds = 1 #", "1"),
        ("title = ", "titel = 1\ntitle = ", "1"),
        ("title = ", "title = = ", None),
    ],
)
def test_of_a_study_the_value_is_marked(tmp_path: Path, old: str, new: str, word: str | None) -> None:
    text = (ROOT / "studies/c2/study.toml").read_text()
    study = tmp_path / "c2"
    study.mkdir()
    (study / "study.toml").write_text(text.replace(old, new, 1))
    with pytest.raises(UsageError) as error:
        folder.load(study)
    _, found = marked(error.value.excerpt)
    assert word is None or found == word
    assert "study.toml:" in str(error.value)


def test_of_a_claim_the_key_is_marked(tmp_path: Path) -> None:
    text = (ROOT / "studies/c2/study.toml").read_text()
    study = tmp_path / "c2"
    study.mkdir()
    (study / "study.toml").write_text(text.replace("[[claim]]\n", "[[claim]]\nnonsense = 7\n", 1))
    with pytest.raises(UsageError) as error:
        folder.load(study)
    assert marked(error.value.excerpt)[1] == "7"
