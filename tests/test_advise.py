"""Advice: who wins a race and how often wrongly, what would change the answer, and what is refused."""

import json
import math
import os
import re
import signal
import statistics
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import cogtcp
from cogtcp import Scenario, UsageError, advise
from cogtcp.cli import main
from cogtcp.deciding.advising import inputs, telling
from cogtcp.deciding.advising.around import Probe, fields
from cogtcp.deciding.advising.confirming import Confirmation
from cogtcp.deciding.advising.inputs import Inputs
from cogtcp.deciding.advising.telling import pretty
from cogtcp.deciding.advising.wanted import Wanted
from cogtcp.model.metrics import BY_NAME
from cogtcp.model.scenario import DOUBT
from cogtcp.model.statistics import Interval
from conftest import PATIENCE, ROOT, SMALL


def test_the_advice_is_the_best_of_a_full_comparison() -> None:
    scenario = Scenario.from_toml(SMALL)
    transports = ["newreno", "sack", "linux-cubic", "linux-bbr"]
    advice = advise(scenario, transports=transports, budget="200 runs")
    compared = cogtcp.compare(scenario, transports, seeds=30)
    best = max(transports, key=lambda name: compared.interval(name, "goodput_bps").mean)
    assert advice.winner is not None
    assert advice.winner.name == best
    assert advice.decided
    # The same runs: a race is a comparison that stops early.
    first = [row["goodput_bps"] for row in advice.records[best].values() if not isinstance(row, str)][:5]
    assert first == [o.metrics["goodput_bps"] for o in compared.finished(best)][:5]
    gain = advice.gain(advice.today)
    assert gain.low <= gain.mean <= gain.high
    assert advice.text.startswith(f"Run {best}: goodput ")


def test_with_a_budget_of_runs_the_answer_depends_on_nothing_else() -> None:
    scenario = Scenario.from_toml(SMALL)
    one, other = (
        advise(scenario, transports=["newreno", "sack", "vegas"], budget="150 runs", jobs=jobs).to_dict()
        for jobs in (1, 1)
    )
    assert one == other


def test_an_undecided_race_says_between_what_and_what_would_decide() -> None:
    scenario = Scenario.from_toml(SMALL)
    advice = advise(scenario, transports=["newreno", "sack", "linux-bbr", "bbr"], budget="12 runs")
    assert advice.head == "undecided"
    assert advice.winner is None
    assert advice.leader is not None
    found = advice.to_dict()
    assert found["winner"] is None
    assert not found["decided"]
    assert len(found["between"]) > 1
    assert advice.text.startswith("Undecided between ")
    assert "Run " not in advice.text
    more = re.search(
        r"About ([\d,]+) more runs decide: --budget (\d+)runs|About .* in some .*: --budget \d+", advice.text
    )
    assert more is not None, advice.text
    enough = advise(scenario, transports=["newreno", "sack", "linux-bbr", "bbr"], budget="400 runs")
    assert enough.decided


def test_a_scenario_that_does_not_reproduce_its_capture_has_no_winner(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    why = "it delivers 9.1 Mbit/s, the capture 4.2 Mbit/s"
    text = small.read_text()
    small.write_text(text.replace("A short run with everything in it", f"Fitted. {DOUBT}{why}."))
    options = ["--transport", "newreno,linux-bbr", "--budget", "30runs", "--out", str(tmp_path / "out")]
    assert main(["advise", str(small), *options]) == 2
    said = capsys.readouterr().err
    assert f"{DOUBT}{why}" in said
    assert "no winner" in said
    assert not (tmp_path / "out").exists()
    assert main(["advise", str(small), *options, "--anyway"]) == 0
    assert f"{DOUBT}{why}." in " ".join(capsys.readouterr().out.split())
    assert why in (tmp_path / "out" / "report.html").read_text()


def test_what_is_best_today_is_kept() -> None:
    scenario = Scenario.from_toml(SMALL).with_transport("linux-bbr")
    advice = advise(scenario, transports=["newreno", "sack", "linux-bbr"], budget="100 runs")
    assert advice.head == "keep"
    assert advice.winner is advice.today
    assert advice.text.startswith("Keep linux-bbr: goodput ")
    assert "nothing tried is better by more than 2 %" in advice.text
    for candidate in advice.ranked()[1:]:
        assert advice.gain(advice.today, candidate).high <= advice.margin


def test_the_interval_in_the_text_is_the_one_that_decided() -> None:
    advice = advise(Scenario.from_toml(SMALL), transports=["newreno", "sack", "linux-bbr"], budget="100 runs")
    assert advice.head == "run"
    gain = advice.gain(advice.today)
    assert gain.low > advice.margin, "better than today's by more than the margin, with its whole interval"
    assert f"{gain.mean * 100:.0f} % better" in advice.text
    for candidate in advice.ranked()[1:]:
        assert advice.gain(candidate).low >= -advice.margin


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("3856000.0 bit/s", "3.86 Mbit/s"),
        ("10 Mbit/s", "10 Mbit/s"),
        ("0.0123456 s", "12.3 ms"),
        ("150 packets", "150 packets"),
        ("0.00125", "0.00125"),
        ("1234567 B", "1.23 MB"),
        ("off", "off"),
    ],
)
def test_values_are_rounded_and_have_a_unit(text: str, shown: str) -> None:
    assert pretty(text) == shown


def test_an_input_that_decides_is_named_with_its_value() -> None:
    # Vegas has the shorter delay; with much loss its goodput falls behind, and the order turns.
    text = SMALL[: SMALL.index("[[radio]]")] + SMALL[SMALL.index("[[flow]]") :]
    scenario = Scenario.from_toml(text)
    loss, delay = "topology.single_hop.link.loss", "topology.single_hop.link.delay"
    advice = advise(
        scenario,
        "utility:1",
        transports=["linux-cubic", "vegas"],
        uncertain={loss: "0.00001..0.03", delay: "20 ms..20.5 ms"},
        budget="300 runs",
    )
    assert advice.leader is not None
    assert advice.leader.name == "vegas"
    assert [turn.path for turn in advice.turns] == [loss], "the delay decides nothing"
    (turn,) = advice.turns
    assert (turn.wins, turn.side) == ("linux-cubic", "above")
    assert f"above {pretty(turn.at)} linux-cubic wins. Measure link.loss next." in advice.text

    def ahead(value: str) -> float:
        """Return by how much linux-cubic is ahead with that loss."""
        utility = {
            name: statistics.fmean(
                advice.wanted.measure(
                    cogtcp.run(scenario.set_text(loss, value).with_transport(name), seed, "summary")
                )["utility"]
                for seed in range(scenario.seed, scenario.seed + 8)
            )
            for name in ("linux-cubic", "vegas")
        }
        return utility["linux-cubic"] - utility["vegas"]

    assert ahead(turn.at) > 0 > ahead("0.0001")


def test_inputs_that_are_uncertain_are_drawn_by_seed(tmp_path: Path) -> None:
    scenario = Scenario.from_toml(SMALL)
    link = "topology.single_hop.link"
    ranges = {f"{link}.delay": "10 ms..40 ms", f"{link}.queue": "20 packets..60 packets"}
    drawn = [Inputs(scenario, ranges).draw(seed) for seed in range(200)]
    delays = [float(dict(each)[f"{link}.delay"].removesuffix(" s")) for each in drawn]
    assert 0.01 <= min(delays) < 0.012
    assert 0.038 < max(delays) <= 0.04
    assert statistics.fmean(delays) == pytest.approx(0.025, rel=0.1)
    alone = Inputs(scenario, {f"{link}.delay": "10 ms..40 ms"}).draw(7)
    assert alone[0] in drawn[7], "a further input leaves the others' draws as they are"
    advice = advise(scenario, transports=["sack", "linux-bbr"], uncertain=ranges, budget="120 runs")
    assert 0 <= advice.regret < 1
    assert "knowing them would gain" in advice.text
    file = tmp_path / "mine.toml"
    file.write_text(SMALL)
    (tmp_path / "mine.ranges.toml").write_text(f'"{link}.delay" = "10 ms..40 ms"\n')
    assert inputs.beside(file) == {f"{link}.delay": "10 ms..40 ms"}
    (tmp_path / "mine.ranges.toml").write_text(f'"{link}.delay" = 3\n')
    with pytest.raises(UsageError, match="write the range as a text"):
        inputs.beside(file)


def test_constraints_and_further_fields() -> None:
    scenario = Scenario.from_toml(SMALL)
    queue = "topology.single_hop.link.queue"
    free = advise(
        scenario, transports=["linux-cubic"], over={queue: "10 packets,400 packets"}, budget="120 runs"
    )
    bound = advise(
        scenario,
        transports=["linux-cubic"],
        over={queue: "10 packets,400 packets"},
        constraints=["delay<=60 ms"],
        budget="120 runs",
    )
    assert free.winner is not None
    assert free.winner.changes == ((queue, "400 packets"),)
    assert bound.winner is not None
    assert bound.winner.changes == ((queue, "10 packets"),)
    assert bound.race is not None
    assert bound.race.left["linux-cubic, queue 400 packets"].why == "breaks"
    nothing = advise(scenario, transports=["sack"], constraints=["delay<=1 ms"], budget="60 runs")
    assert nothing.winner is None
    assert nothing.text == "No candidate satisfies RTT, mean at most 1.0 ms."


def test_ranges_are_searched_and_measured_on_fresh_seeds() -> None:
    hop = Scenario.from_file(ROOT / "scenarios" / "cr-single-hop.toml").set("run.duration", "10 s")
    field = "radio.0.cr.sensing_time"
    advice = advise(hop, transports=["sack"], over={field: "20 ms..1 s"}, budget="300 runs")
    tuned = [candidate for candidate in advice.candidates if candidate.changes]
    assert tuned
    assert advice.earlier is not None
    assert all(candidate.changes[0][0] == field for candidate in tuned)
    assert min(advice.records[tuned[0].name]) >= hop.seed + 200, "no seed of the search"


def test_what_would_change_the_answer() -> None:
    # Without silences a small window is enough; with a long RTT it is not: there the order turns.
    base = Scenario.from_toml(SMALL)
    advice = advise(base, transports=["newreno", "sack", "linux-bbr"], budget="700 runs")
    looked = {probe.path for probe in advice.probes}
    assert "topology.single_hop.link.delay" in looked
    assert "radio.0.sensing.on" in looked
    assert {path for path, _ in fields(base)} >= looked
    for probe in advice.probes:
        if probe.wins:
            # It is true where it is said: the rival is ahead there.
            assert advice.winner is not None
            changed = base.set_text(probe.path, probe.at)
            values = {
                name: statistics.fmean(
                    cogtcp.run(changed.with_transport(name), seed, "summary").metrics["goodput_bps"]
                    for seed in range(base.seed, base.seed + 8)
                )
                for name in (probe.wins, advice.winner.name)
            }
            assert values[probe.wins] > values[advice.winner.name]


def test_a_call_is_an_objective_and_a_limit() -> None:
    call = """
[[udp]]
name = "call"
from = "sender"
to = "receiver"
pattern = { constant = "64 kbit/s" }
"""
    text = SMALL[: SMALL.index("[[radio]]")] + SMALL[SMALL.index("[[flow]]") :] + call
    scenario = Scenario.from_toml(text).set("topology.single_hop.link.queue", "200 packets")
    advice = advise(
        scenario, "call.delay_p95", transports=["vegas", "newreno", "linux-cubic"], budget="120 runs"
    )
    assert advice.head == "run"
    assert advice.winner is not None
    assert advice.winner.name == "vegas", "which keeps the queue short"
    limited = advise(
        scenario,
        transports=["vegas", "newreno", "linux-cubic"],
        constraints=["call.delay_p95<=60 ms"],
        budget="200 runs",
    )
    assert limited.winner is not None
    assert limited.winner.name == "vegas"
    assert limited.race is not None
    assert limited.race.left["linux-cubic"].why == "breaks"
    assert "at most 60.0 ms: kept, " in limited.text


def test_objectives() -> None:
    scenario = Scenario.from_toml(SMALL)
    measured = Wanted.of("utility:2").measure(cogtcp.run(scenario, trace="summary"))
    expected = math.log2(measured["goodput_bps"]) - 2 * math.log2(measured["rtt_mean_s"])
    assert measured["utility"] == pytest.approx(expected)
    wanted = Wanted.of("completion:4MB")
    whole = wanted.measure(cogtcp.run(wanted.prepared(scenario), trace="summary"))["transfer_s"]
    short = wanted.prepared(scenario).set("run.duration", "2 s")
    cut = cogtcp.run(short, trace="summary")
    assert math.isnan(cut.metrics["completion_s"])
    delivered = cut.rows("flows")[0]["delivered_bytes"]
    assert wanted.measure(cut)["transfer_s"] == pytest.approx(2 * 4e6 / delivered)
    assert whole > 2
    two = scenario.set("flow.0.count", 2)
    run = cogtcp.run(two, trace="summary")
    worst = Wanted.of("worst-flow").measure(run)["worst_flow_bps"]
    assert worst == min(row["goodput_bps"] for row in run.rows("flows"))


def test_sizes_have_the_units_of_scenarios() -> None:
    from cogtcp.deciding.advising.wanted import Wanted

    assert Wanted.of("completion:10MiB").size == 10 * 2**20
    assert Wanted.of("completion:1.5kB").size == 1500
    for wrong in ("completion:10iB", "completion:10kiB", "completion:10"):
        with pytest.raises(UsageError, match="write the size of the transfer"):
            Wanted.of(wrong)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"objective": "goodness"}, "unknown metric"),
        ({"objective": "goodness"}, "call.delay_p95; or utility:W, completion:SIZE, stalls, worst-flow"),
        ({"objective": "utility:x"}, "utility:0.5"),
        ({"objective": "completion:ten"}, "completion:10MB"),
        ({"objective": "stalls"}, "no flow is a video"),
        ({"objective": "call.delay_p95"}, 'no flow, stream or application "call"'),
        ({"constraints": ["call.delay_p95<=150 ms"]}, 'no flow, stream or application "call"'),
        ({"margin": 0}, "between 0 and 1"),
        ({"budget": "soon"}, "60 s"),
        ({"over": {"topology.single_hop.link.delay": "1 ms..2 ms"},
          "uncertain": {"topology.single_hop.link.delay": "1 ms..2 ms"}}, "in both --over and --uncertain"),
        ({"over": {"run.seed": ",".join(map(str, range(40)))}}, "more than 200 candidates"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(options: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        advise(Scenario.from_toml(SMALL), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("verb", "option", "value"),
    [
        ("advise", "--budget", "5"),
        ("advise", "--for", "x"),
        ("advise", "--margin", "200 %"),
        ("advise", "--constraint", "x"),
        ("tune", "--objective", "x"),
        ("tune", "--constraint", "x"),
    ],
)
def test_errors_name_the_option(
    small: Path, capsys: pytest.CaptureFixture[str], verb: str, option: str, value: str
) -> None:
    assert main([verb, str(small), option, value]) == 2
    assert capsys.readouterr().err.startswith(f"cogtcp: {option} {value.replace('200 %', '2')}: ")


def test_the_command(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    options = ["--transport", "sack,linux-bbr", "--budget", "60runs", "--out", str(out)]
    assert main(["advise", str(small), *options, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["winner"]["name"] == "linux-bbr"
    assert {path.name for path in out.iterdir()} >= {
        "advice.json",
        "report.html",
        "best.toml",
        "runs.parquet",
        "runs",
    }
    assert Scenario.from_file(out / "best.toml").to_dict()["flow"][0]["transport"] == "linux-bbr"
    page = (out / "report.html").read_text()
    assert "Run linux-bbr" in page
    assert "What would change the answer" in page
    assert main(["advise", str(small), *options]) == 0
    assert "Run linux-bbr" in capsys.readouterr().out
    assert main(["advise", str(small), *options, "--constraint", "delay<=1 ms", "--force"]) == 1
    assert main(["advise", str(small), "--margin", "x"]) == 2


def test_an_interruption_keeps_what_was_finished(small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-m", "cogtcp", "advise", str(small), "--budget", "10min", "--margin", "0.01%"]
    command += ["--transport", "linux-bbr,bbr", "--set", "run.duration=60 s", "--out", str(out)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    runs = out / "runs"
    import time

    until = time.monotonic() + 60
    while time.monotonic() < until:
        kept = sum(len(path.read_text().splitlines()) for path in runs.glob("[!.]*")) if runs.is_dir() else 0
        if kept > 40:
            break
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "repeat the command to go on" in errors
    assert (out / "advice.json").is_file()


def test_a_confirmation_compares_runs_of_the_same_seeds_alone() -> None:
    values = {"a": {1: 8e6, 2: 9e6}, "b": {2: 9.5e6}}
    found = Confirmation(("a", "b"), values, {"a": 8e6, "b": 7e6}, {}, BY_NAME["goodput_bps"])
    assert found.common == [2], "a run that fell behind has no pair"
    assert found.confirms(1) is False
    assert found.confirms(-1) is True
    assert found.text == "On the kernel's TCP (1 run each): a 9.000 Mbit/s, b 9.500 Mbit/s."
    nothing = Confirmation(("a", "b"), {"a": {1: 8e6}}, {}, {}, BY_NAME["goodput_bps"])
    assert nothing.confirms(1) is None
    assert "too busy" in nothing.text


def test_counts_and_times_are_rounded_up_as_people_read_them() -> None:
    assert [telling._rounded(runs) for runs in (0, 7, 99, 101, 119, 1234)] == [0, 7, 99, 110, 120, 1300]
    assert [telling._lasts(seconds) for seconds in (0.2, 99.5, 100, 121, 5399, 5400, 9000)] == [
        "1 s", "100 s", "2 min", "3 min", "90 min", "1.5 h", "2.5 h",
    ]  # fmt: skip
    # Some room: 30 % and five seconds.
    assert [telling._budget(seconds) for seconds in (0, 10, 73, 74, 4149, 4160)] == [
        "10s", "20s", "100s", "2m", "90m", "2h",
    ]  # fmt: skip


def asked(*, additive: bool = False, margin: float = 0.02) -> Any:
    return SimpleNamespace(
        wanted=SimpleNamespace(additive=additive, margin=lambda share: share), margin=margin
    )


def test_gains_are_said_with_their_sign_and_their_ends() -> None:
    number = telling._number
    # From 20 % on without a decimal place.
    assert [number(asked(), value) for value in (0.0512, 0.199, 0.2, -0.3)] == [
        "5.1 %",
        "19.9 %",
        "20 %",
        "-30 %",
    ]
    assert number(asked(), 0.05, sign=True) == "+5.0 %"
    assert [number(asked(additive=True), value, sign=True) for value in (0.5, -0.25)] == ["+0.50", "-0.25"]
    ends = telling._ends
    assert ends(asked(), Interval(0.05, 0.02, 0.08, 9)) == " (95 %: 2.0 to 8.0 %)"
    assert ends(asked(additive=True), Interval(0.05, 0.02, 0.08, 9)) == " (95 %: 0.02 to 0.08)"
    assert ends(asked(), Interval(0.05, 0.02, math.inf, 9)) == " (95 %: at least 2.0 %)"
    assert ends(asked(), Interval(0.05, -math.inf, 0.08, 9)) == " (95 %: at most 8.0 %)"
    assert ends(asked(), Interval(0.05, -math.inf, math.inf, 9)) == " (no bound yet)"
    assert ends(asked(), Interval(0.05, 0.05, 0.05, 1)) == ""
    better = telling._better
    assert better(asked(), Interval(0.05, 0.02, 0.08, 9)) == "5.0 % better (95 %: 2.0 to 8.0 %)"
    assert better(asked(), Interval(-0.05, -0.08, -0.02, 9)) == "5.0 % worse (95 %: 2.0 to 8.0 %)"
    assert telling._margin(asked()) == "2 %"
    assert telling._margin(asked(additive=True, margin=0.5)) == "0.50 (50 % of goodput)"


def probe(path: str, wins: str = "", factor: float = 1.0, chosen: bool = True, **looked: Interval) -> Any:
    known = {float(name.removeprefix("x")): gain for name, gain in looked.items()}
    return Probe(
        path, "10 Mbit/s", chosen, wins=wins, at="20 Mbit/s" if wins else "", factor=factor, looked=known
    )


def test_fields_that_turn_the_answer_are_named_from_the_nearest_on() -> None:
    small, gain = Interval(0.0, -0.01, 0.01, 9), Interval(0.1, 0.05, 0.15, 9)
    advice = asked()
    advice.probes = []
    assert telling._changes(advice) == ""
    advice.probes = [
        probe("a.link.rate", "bbr", 8.0),
        probe("b.link.delay", "reno", 0.25),
        probe("c.link.queue", x2=small),
    ]
    assert telling._changes(advice) == (
        "What would change the answer: reno wins below 20 Mbit/s of link.delay (now 10 Mbit/s) "
        "and bbr wins above 20 Mbit/s of link.rate (now 10 Mbit/s)."
    )
    advice.probes = [probe("a.link.rate", **{"x2": small, "x0.25": small}), probe("b.link.delay", x2=small)]
    assert telling._changes(advice) == (
        "No single field changes the answer between 1/2 and 2 times its value (2 fields)."
    )
    assert telling._not_worth(advice) == "Not worth tuning: link.rate and link.delay."
    advice.probes = [probe("a.link.rate", x2=small, x4=gain), probe("b.link.delay", chosen=False, x2=gain)]
    assert telling._not_worth(advice) == (
        "Worth tuning: link.rate (4 times 10 Mbit/s is 10.0 % better (95 %: 5.0 to 15.0 %))."
    )
    assert telling.is_flat(probe("a", x2=Interval(0.01, 0.0, 0.02, 9)), advice)
    assert not telling.is_flat(probe("a", x2=Interval(0.01, 0.0, 0.021, 9)), advice)
    assert not telling.is_flat(probe("a"), advice)
