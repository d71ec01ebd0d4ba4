"""What somebody meets who uses cogtcp for the first time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

import cogtcp
from cogtcp import Scenario, _core, compare
from cogtcp.cli import show
from cogtcp.model.tables import comparison_tables
from conftest import SMALL, Command

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KINDS = [kind for kind, _ in _core.starters()]


def test_starters_for_every_kind_of_radio(command: Command) -> None:
    assert {"single-hop", "cr-users", "train", "traffic", "dumbbell", "chain", "graph"} <= set(KINDS)
    listed = command("new", "--list").out
    assert all(kind in listed for kind in KINDS)


def test_shipped_scenarios_go_by_name_from_anywhere(command: Command, tmp_path: Path) -> None:
    listed = {entry["name"] for entry in command("new", "--list", "--json").json()["shipped"]}
    assert {"sensed-link", "train-journey"} <= listed  # the second names a file beside it
    assert all(f"\n{name} " in command("new", "--list").out for name in ("sensed-link", "train-journey"))
    for name in ("sensed-link", "train-journey"):
        assert command("check", name).out == f"{name}: {name} can be run\n"
    # A file of one's own goes before.
    (tmp_path / "sensed-link").write_text(SMALL)
    assert "small can be run" in command("check", "sensed-link").out
    done = command("check", "sensed-lnk")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "did you mean 'sensed-link'?" in done.err
    with pytest.raises(cogtcp.UsageError, match="did you mean 'sensed-link'"):
        Scenario.shipped("sensed-lnk")


def test_every_verb_that_takes_a_scenario_takes_a_shipped_one_by_name(
    command: Command, tmp_path: Path
) -> None:
    short = ("--set", "run.duration=1 s", "--set", "run.warmup=0 s")
    for verb in (["run"], ["compare", "--transport", "newreno", "--seeds", "1"]):
        done = command(verb[0], "sensed-link", *verb[1:], *short, "--out", str(tmp_path / verb[0]))
        assert done.code == 0, done.err
    (tmp_path / "sweep.toml").write_text('scenario = "sensed-link"\nseeds = 2\n')
    done = command("sweep", "sweep.toml", *short, "--out", str(tmp_path / "sweep"))
    assert done.code == 0, done.err
    # A sweep is no scenario, and says what to write.
    done = command("sweep", "sensed-link")
    assert (done.code, 'scenario = "sensed-link"' in done.err) == (2, True)
    pytest.importorskip("starlette")
    from cogtcp.lab.presets import presets

    assert next(iter(presets("sensed-link").values())).scenario.name == "sensed-link"
    with pytest.raises(cogtcp.UsageError, match="did you mean 'sensed-link'"):
        presets("sensed-lnk")


def test_a_wrong_name_suggests_the_nearest_in_python() -> None:
    scenario = Scenario.from_toml(SMALL)
    result, compared = cogtcp.run(scenario), compare(scenario, ["newreno", "sack"], seeds=2)
    wrong: dict[str, Callable[[], object]] = {
        "flows": lambda: result.table("flws"),
        "links": lambda: result.rows("lnks"),
        "radios": lambda: result.columns("radio"),
        "goodput_bps": lambda: list(result.each("flows", ["goodput_bp"])),
        "link": lambda: result.write_pcap("x.pcapng", "lnk"),
        "cwnd": lambda: result.plot.timeline(panels=["cwn"]),
        "sack": lambda: compared.interval("sac", "goodput_bps"),
        "efficiency": lambda: compared.interval("sack", "eficiency"),
        "fairness": lambda: compared.plot.bars("fairnes"),
        "duration": lambda: scenario.set("run.duraton", "1 s"),
        "newreno": lambda: scenario.with_transport("newreon"),
        "cubic": lambda: compare(scenario, ["cubick"]),
        "silence": lambda: cogtcp.sweep(scenario, {"radio.0.silense": ["hold"]}),
        "goodput": lambda: cogtcp.tune(scenario, objective="godput"),
        "spectrum": lambda: getattr(cogtcp, "spektrum"),  # noqa: B009
    }
    for right, call in wrong.items():
        with pytest.raises((cogtcp.CogtcpError, AttributeError), match=rf"did you mean ['\"]{right}['\"]\?"):
            call()


@pytest.mark.parametrize("kind", KINDS)
def test_a_starter_can_be_compared_at_once(kind: str) -> None:
    text = _core.starter(kind)
    scenario = Scenario.from_toml(text)
    scenario.check()
    assert scenario.warnings() == []
    assert "cogtcp transports" in text or kind in ("chain", "graph")


def test_what_is_written_first_varies_with_the_seed() -> None:
    """Or its comparison shows intervals of width zero."""
    scenario = Scenario.from_toml(_core.starter(KINDS[0])).set("run.duration", "30 s")
    assert scenario.is_random
    interval = compare(scenario, ["newreno"], seeds=3).interval("newreno", "goodput_bps")
    assert interval.half_width > 0


@pytest.fixture
def constant() -> Scenario:
    text = SMALL.replace(', loss = "0.2 %"', "").replace(
        'pu = { interarrival = "6 s", switching = "300 ms" }', ""
    )
    return Scenario.from_toml(text)


def test_where_nothing_is_random_one_seed_is_run(
    constant: Scenario, command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not constant.is_random
    digests = {cogtcp.run(constant, seed, "summary").digest for seed in (1, 2, 3)}
    assert len(digests) == 1
    compared = compare(constant, ["newreno", "sack"], seeds=10)
    assert (compared.seeds, len(compared.outcomes), compared.nothing_random) == ((7,), 2, True)
    (tmp_path / "constant.toml").write_text(constant.to_toml())
    done = command("compare", "constant.toml", "--transport", "newreno,sack")
    assert "Nothing in this scenario is random: all seeds give the same run." in done.out
    assert "±" not in done.out
    assert "confidence" not in done.out
    assert compared.to_dict()["nothing_random"] is True


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("topology.single_hop.link.loss", "0.1 %"),
        ("radio.0.pu", {"interarrival": "6 s", "switching": "300 ms"}),
        ("radio.0.sensing.on", {"exponential": "3 s"}),
        ("radio.0.channel", {"set": ["4 Mbit/s", "6 Mbit/s"]}),
    ],
)
def test_whatever_is_random_is_known(constant: Scenario, path: str, value: object) -> None:
    random = constant.set(path, value)
    assert random.is_random
    assert len({cogtcp.run(random, seed, "summary").digest for seed in (1, 2, 3)}) == 3
    assert compare(random, ["newreno"], seeds=2).seeds == (7, 8)


def test_python_controls_may_draw(constant: Scenario) -> None:
    assert constant.with_transport("my_control:Patient", allow_python=True).is_random


def test_handoffs_of_a_run_are_those_of_its_radios(tmp_path: Path) -> None:
    compared = compare(Scenario.from_toml(SMALL), ["newreno"], seeds=2)
    compared.save(tmp_path / "out")
    runs = pq.read_table(tmp_path / "out/runs.parquet").column("handoffs").to_pylist()
    radios = pq.read_table(tmp_path / "out/radios.parquet").column("handoffs").to_pylist()
    assert runs == radios
    assert sum(runs) > 0
    # Of radios whose primary users are not simulated one by one, their airtime is not known.
    assert all(math.isnan(o.metrics["pu_interfered_share"]) for o in compared.outcomes)


def test_the_schema_of_results_lists_every_table(command: Command, tmp_path: Path) -> None:
    compare(Scenario.from_toml(SMALL), ["newreno", "sack"], seeds=2).save(tmp_path / "out")
    written = {path.stem: pq.read_schema(path).names for path in (tmp_path / "out").glob("*.parquet")}
    scenario = Scenario.from_toml(SMALL)
    described = {name: [column[0] for column in columns] for name, _, columns in comparison_tables(scenario)}
    assert {name: written[name] for name in described} == described
    listed = command("schema", "--results", "--json").json()
    assert set(written) <= set(listed)
    # What the flows are called is the scenario's: one entry stands for their columns.
    general = dict.fromkeys("SUBJECT.METRIC" if "." in name else name for name in written["runs"])
    assert "flow.goodput" in written["runs"]
    assert [column["name"] for column in listed["runs"]["columns"]] == list(general)
    goodput = next(column for column in listed["runs"]["columns"] if column["name"] == "goodput_bps")
    assert goodput["unit"] == "bit/s"
    assert "paired: " in command("schema", "--results").out


def test_the_command_without_a_verb_says_how_to_begin(command: Command) -> None:
    for arguments in ([], ["pu"], ["journey"]):
        done = command(*arguments)
        # Bad usage: a script that forgot the verb must not go on.
        assert (done.code, done.out) == (2, "")
        assert ("verbs:" if arguments else "First steps") in done.err
    # What it tells can be run.
    assert command("run", "sensed-link", "--set", "run.duration=2 s", "--set", "run.warmup=0 s").code == 0
    assert "cogtcp run sensed-link" in command().err
    assert "verbs:" in command("--help").out


def test_a_wrong_claim_tells_which_claims_there_are(command: Command) -> None:
    done = command("reproduce", "c2-f9")
    assert done.code == 2
    assert "study c2 has no claim 'c2-f9'" in done.err
    assert all(claim in done.err for claim in ("c2-f3", "c2-f4a", "c2-x4"))
    assert "study mswim09-multi-hop has no claim" in command("reproduce", "mswim09-multi-hop-f3").err
    assert "known: c2, chain" in command("reproduce", "c3").err
    assert command("--version").out.startswith("cogtcp 0.")


def test_a_slip_in_a_transport_is_not_the_scenarios(command: Command, small: Path) -> None:
    done = command("compare", small, "--transport", "newreno,cubick", "--seeds", "1")
    assert done.code == 2
    assert done.err == (
        "cogtcp: --transport cubick: unknown transport; did you mean 'cubic'? "
        "`cogtcp transports` lists them\n"
    )


def test_a_scenario_is_no_log_of_primary_users(command: Command, small: Path) -> None:
    done = command("pu", "show", small)
    assert done.code == 2
    assert "a scenario, it seems" in done.err
    assert f"cogtcp check {small}" in done.err


def test_an_interrupted_comparison_says_so_in_its_table(capsys: pytest.CaptureFixture[str]) -> None:
    finished: list[int] = []

    def stop(done: int, total: int) -> None:
        finished.append(done)
        if done >= 3:
            raise KeyboardInterrupt

    compared = compare(Scenario.from_toml(SMALL), ["newreno", "sack"], seeds=4, jobs=1, progress=stop)
    assert compared.interrupted
    show.comparison(compared)
    assert "(interrupted: 3 of 8 runs)" in capsys.readouterr().out
