"""A scenario can name any file of its user's; none of another kind gets into an error, and so into results.

Runs that fail keep their errors, and reports, tables and journals are published.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from cogtcp import Scenario, ScenarioError, _core
from cogtcp.running.sweeping import dataset, plan
from conftest import ROOT, SMALL, Command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _of_sweep(scenario: Scenario, file: str) -> Scenario:
    """Return the scenario of a sweep that names this file as its own."""
    sweep = Path(file).with_name("sweep.toml")
    sweep.write_text(f"scenario = {json.dumps(file)}\nseeds = 1\n")
    return plan.read(sweep).scenario


#: The key of a sweep file, which the schema of scenarios does not have.
OF_SWEEP = "Sweep.scenario"
#: Keys whose value is a file: a scenario that has one, and how the key is set.
KEYS: dict[str, tuple[str, Callable[[Scenario, str], Scenario]]] = {
    "Link.trace": ("sensed-link", lambda s, file: s.set("topology.single_hop.link.trace", file)),
    "Link.reverse_trace": (
        "sensed-link", lambda s, file: s.set("topology.single_hop.link.reverse_trace", file)
    ),
    "NamedLink.trace": ("graph", lambda s, file: s.set("topology.graph.links.0.trace", file)),
    "NamedLink.reverse_trace": ("graph", lambda s, file: s.set("topology.graph.links.0.reverse_trace", file)),
    "Journey.map": ("train-journey", lambda s, file: s.set("radio.0.journey.map", file)),
    "Channels.ch_log": ("cr-single-hop", lambda s, file: s.set("spectrum.channels", {"ch_log": file})),
    "Channels.released": ("cr-single-hop", lambda s, file: s.set("spectrum.channels", {"released": file})),
    "Users.pu_log": ("cr-single-hop", lambda s, file: s.set("spectrum.pu", {"pu_log": file})),
    "Users.map": ("cr-single-hop", lambda s, file: s.set("spectrum.pu", {"map": file})),
    "Users.occupancy": ("cr-single-hop", lambda s, file: s.set("spectrum.pu", {"occupancy": file})),
    "MeasuredUsers.file": (
        "cr-single-hop", lambda s, file: s.set("spectrum.pu", {"measured": {"file": file}})
    ),
    "TraceOfUsers.file": (
        "cr-single-hop",
        lambda s, file: s.set("spectrum.pu", {"trace": {"file": file, "model": "markov"}}),
    ),
    "MobilityModel.trace": (
        "adhoc-mobile", lambda s, file: s.set("topology.ad_hoc.mobility", {"trace": file})
    ),
    OF_SWEEP: ("sensed-link", _of_sweep),
}  # fmt: skip
#: Files that no simulation should quote; `hunter` is in each word that must stay where it is.
PRIVATE = {
    "passwd": "hunter2:x:0:0:hunter:/root:/bin/hunter\n",
    "after comments": "# <file system>\n\n# more\nhunter2 hunter3 0 0\n",
    "env": "HUNTER_KEY=hunter2\nOTHER=hunter3\n",
    "key": "-----BEGIN hunter2 KEY-----\nhunterhunter\n-----END hunter2 KEY-----\n",
    "toml": 'hunter2 = "hunter"\n[hunter3]\ntoken = "hunter"\n',
    "another map": 'name = 3\nhunter2 = "hunter"\n',
    "broken toml": "password = hunter2 hunter\n",
    "json": '{"password": "hunter2"}\n',
    "csv": "hunter2,hunter,hunter3\n1,hunter,2\n",
    "one word": "hunter2",
    "markdown": "hunter2\n=======\n\nhunter\n",
}


def _of_schema(node: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield `Table.key` of each text of the schema that its description calls a file."""
    if isinstance(node, dict):
        text = node.get("description", "")
        kinds = node.get("type", ())
        if (
            isinstance(text, str)
            and "file" in text.lower()
            and "string" in kinds
            and path[-2] == "properties"
        ):
            yield f"{path[-3]}.{path[-1]}"
        for key, value in node.items():
            yield from _of_schema(value, (*path, key))
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from _of_schema(value, (*path, str(number)))


def _variants(name: str) -> set[str]:
    """Return the keys of a choice of the schema whose value is a text: all of them are files."""
    choices = json.loads(_core.schema())["$defs"][name]["oneOf"]
    found = (choice.get("properties", {}) for choice in choices)
    return {key for keys in found for key, value in keys.items() if value.get("type") == "string"}


def test_all_keys_that_take_files_are_here() -> None:
    plain = {key for key in _of_schema(json.loads(_core.schema())) if "." in key}
    choices = {f"Channels.{key}" for key in _variants("Channels")} | {
        f"Users.{key}" for key in _variants("Users")
    }
    choices |= {f"MobilityModel.{key}" for key in _variants("Mobility")}
    known = {name for name in KEYS if name.partition(".")[0] in ("Channels", "Users", "MobilityModel")}
    assert choices == known
    assert {key for key in plain if key.partition(".")[0] not in ("Channels", "Users", "Mobility")} == {
        *KEYS
    } - known - {OF_SWEEP}
    # Every file is read by one function, and these are the places that call it.
    source = ROOT / "crates/scenario/src"
    texts = {str(path.relative_to(source)): path.read_text() for path in source.rglob("*.rs")}
    assert {name: n for name, text in texts.items() if (n := text.count("read_beside("))} == {
        "files.rs": 1, "resolve/network.rs": 1, "resolve/cognitive/spectrum.rs": 1, "resolve/journey.rs": 1,
        "resolve/adhoc/nodes.rs": 1,
    }  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("kind", PRIVATE)
@pytest.mark.parametrize("suffix", ["", ".csv"])
def test_no_word_of_another_file_is_in_the_error(tmp_path: Path, key: str, kind: str, suffix: str) -> None:
    file = tmp_path / f"private{suffix}"
    file.write_text(PRIVATE[kind])
    name, change = KEYS[key]
    with pytest.raises(ScenarioError) as caught:
        change(Scenario.shipped(name), str(file)).check()
    said = f"{caught.value} {caught.value.excerpt} {caught.value.to_dict()}"
    assert "private" in said, "it names the file"
    assert "hunter" not in said.lower()


def test_a_file_of_the_right_kind_is_quoted_at_the_word_that_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "link.trace"
    file.write_text("1\n2\n3x and more\n")
    with pytest.raises(ScenarioError, match=r'link\.trace:3: "3x" is not a time'):
        KEYS["Link.trace"][1](Scenario.shipped("sensed-link"), str(file)).check()


def test_a_scenario_that_a_sweep_names_is_quoted_where_it_is_one(tmp_path: Path) -> None:
    file = tmp_path / "base.toml"
    for text, says in (
        (SMALL.replace('"20 s"', '"20 q"'), r'base\.toml:\d+:\d+: run\.duration: "20 q" is not a duration'),
        (SMALL.replace('"20 s"', "20 s"), r"base\.toml:\d+:\d+: cannot be read as a scenario; see why"),
        (None, "no such file"),
    ):  # fmt: skip
        file.unlink(missing_ok=True)
        if text is not None:
            file.write_text(text)
        with pytest.raises(ScenarioError, match=says) as caught:
            _of_sweep(Scenario.shipped("sensed-link"), str(file))
        assert "\n" not in str(caught.value)


def test_nothing_of_it_is_in_the_results_of_a_sweep(command: Command, tmp_path: Path) -> None:
    (tmp_path / "private").write_text(PRIVATE["passwd"])
    (tmp_path / "good.trace").write_text("1\n2\n")
    text = SMALL.replace('duration = "20 s"', 'duration = "1 s"')
    (tmp_path / "base.toml").write_text(text[: text.index("[[radio]]")] + text[text.index("[[flow]]") :])
    (tmp_path / "sweep.toml").write_text(
        'scenario = "base.toml"\nseeds = 1\n[[axis]]\npath = "topology.single_hop.link.trace"\n'
        'values = ["good.trace", "private"]\n'
    )
    done = command("sweep", "sweep.toml", "--out", "out")
    assert done.code == 1, done
    assert "private:1" in done.err
    errors = [row["error"] for row in dataset.load(tmp_path / "out", "runs").to_pylist()]
    assert sum(error is not None for error in errors) == 1
    said = done.out + done.err + str(errors)
    for path in (tmp_path / "out").rglob("*"):
        if path.suffix == ".parquet":
            said += str(pq.read_table(path).to_pylist())
        elif path.is_file():
            said += path.read_text()
    assert "hunter" not in said
