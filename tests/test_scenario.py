"""Scenarios as Python objects."""

import json
import pickle
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogtcp import CogtcpError, Scenario, ScenarioError, _core
from conftest import ROOT, SMALL

SHIPPED = sorted((ROOT / "scenarios").glob("*.toml"))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_scenario_can_be_run(path: Path) -> None:
    scenario = Scenario.from_file(path)
    scenario.check()
    assert scenario.warnings() == []


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_scenarios_round_trip(path: Path) -> None:
    scenario = Scenario.from_file(path)
    assert Scenario.from_toml(scenario.to_toml()) == scenario
    assert Scenario.from_dict(scenario.to_dict()) == scenario
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    assert len({scenario, Scenario.from_file(path)}) == 1


def test_the_hash_is_of_what_a_scenario_says_not_of_how(scenario: Scenario) -> None:
    rewritten = Scenario.from_toml("# a comment\n" + SMALL.replace("20 s", "20000 ms"))
    assert rewritten.hash == scenario.hash
    assert scenario.set("run.seed", 8).hash != scenario.hash


def test_the_hash_follows_the_files_that_a_scenario_names(tmp_path: Path) -> None:
    text = (ROOT / "scenarios/cr-single-hop.toml").read_text()
    text = re.sub(r"(?m)^pu = .*$", 'pu = { pu_log = "pu.log" }', text)
    file, log = tmp_path / "cr.toml", tmp_path / "pu.log"
    file.write_text(text)
    log.write_text("<1, 0, 0, 1, 0.2>\n<1, 1, 300>\n")
    before = Scenario.from_file(file)
    first = before.hash
    assert Scenario.from_file(file).hash == first
    log.write_text("<1, 0, 0, 1, 0.2>\n<1, 2, 300>\n")
    assert before.hash != first
    log.unlink()
    assert before.hash not in ("", first)
    with pytest.raises(ScenarioError, match=r"pu\.log.: no such file"):
        before.check()


def test_setting_a_field_gives_another_scenario(scenario: Scenario) -> None:
    changed = (
        scenario.set("run.duration", "10 s")
        .set("flow.*.transport", "sack")
        .set("radio.radio.sensing", {"off": "50 ms", "on": {"exponential": "2 s"}})
        .set("radio.0.links", ["link"])
        .set("topology.single_hop.link.loss", 0)
        .set("description", 'say "hello"\n\\ and é')
    )
    data = changed.to_dict()
    assert data["run"]["duration"] == "10 s"
    assert data["flow"][0]["transport"] == "sack"
    assert data["radio"][0]["sensing"]["on"] == {"exponential": "2 s"}
    assert changed.description == 'say "hello"\n\\ and é'
    assert scenario == Scenario.from_toml(SMALL)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_can_be_a_description(text: str) -> None:
    scenario = Scenario.from_toml(SMALL).set("description", text)
    assert scenario.description == text
    assert Scenario.from_toml(scenario.to_toml()) == scenario


def test_errors_say_where_and_what_would_be_right() -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(SMALL.replace("5 Mbit/s", "-5 Mbit/s"), file="mine.toml")
    error = caught.value
    line = SMALL[: SMALL.index("5 Mbit/s")].count("\n") + 1
    assert (error.file, error.line, error.field) == ("mine.toml", line, "topology.single_hop.link.rate")
    assert error.column is not None
    assert error.remedy
    assert str(error).startswith(f"mine.toml:{line}:{error.column}: ")
    assert error.message in str(error)
    assert isinstance(error, CogtcpError | ValueError)


def test_several_errors_come_together() -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario.from_toml(SMALL).set("flow.0.to", "nobody").set("flow.0.from", "noone").check()
    fields = {caught.value.field, *(error.field for error in caught.value.more)}
    assert fields == {"flow.0.to", "flow.0.from"}
    assert len(str(caught.value).splitlines()) == 2


@pytest.mark.parametrize("data", [{"name": float("nan")}, {"name": object()}, {"name": "x"}, {}])
def test_dictionaries_that_are_no_scenario_are_refused(data: dict[str, object]) -> None:
    with pytest.raises(ScenarioError):
        Scenario.from_dict(data)


@given(st.binary(max_size=300))
def test_no_file_brings_the_reader_down(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.mktemp("noise") / "noise.toml"
    path.write_bytes(data)
    with pytest.raises(ScenarioError):
        Scenario.from_file(path).check()


def test_starters_can_be_run() -> None:
    for kind, _ in _core.starters():
        scenario = Scenario.from_toml(_core.starter(kind))
        scenario.check()
        assert scenario.warnings() == []
    with pytest.raises(ScenarioError):
        _core.starter("no-such-kind")


def test_the_schema_names_the_fields() -> None:
    schema = json.loads(_core.schema())
    assert set(schema["properties"]) >= {"name", "run", "topology", "radio", "flow"}


def test_the_stub_names_what_the_core_has() -> None:
    stub = (ROOT / "python/cogtcp/_core.pyi").read_text()
    stubbed = set(re.findall(r"^(?:class|def) (\w+)|^(\w+): (?:str|int)", stub, re.MULTILINE))
    names = {name for pair in stubbed for name in pair if name}
    assert names == {name for name in dir(_core) if not name.startswith("_")}
