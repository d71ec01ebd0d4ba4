"""The search over parameters: what it finds, how sure it is of it, and what it refuses."""

import html
import json
import math
import os
import pty
import re
import signal
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from cogtcp import RunError, Scenario, ScenarioError, UsageError, models, run, spectrum, tune
from cogtcp.cli import main
from cogtcp.deciding.tuning import charged, goal, search
from cogtcp.deciding.tuning.result import Tuning
from cogtcp.deciding.tuning.theory import Theory
from cogtcp.lab import controls
from cogtcp.model import headline
from cogtcp.model.metrics import METRICS
from cogtcp.model.output import is_ours
from cogtcp.model.statistics import mean_interval
from cogtcp.running import space
from cogtcp.running.runner import Journal, Outcome
from conftest import PATIENCE, ROOT, SMALL, Command, command_line, files

T_S, T_P = "radio.0.cr.sensing_time", "radio.0.cr.transmission_time"
DELAY = "topology.single_hop.link.delay"


@pytest.fixture(scope="module")
def hop() -> Scenario:
    """Return the shipped single hop, over in two milliseconds."""
    return Scenario.from_file(ROOT / "scenarios" / "cr-single-hop.toml").set("run.duration", "20 s")


@pytest.fixture(scope="module")
def found(hop: Scenario) -> Tuning:
    return tune(hop, trials=12, seeds=2, fresh_seeds=3, grid=[3, 4], constraints=["pu_interference<=50%"])


class Runs:
    """Stands in for the runner: runs whose goodput is a function of the delay and the seed."""

    def __init__(
        self, goodput: Callable[[float, int], float], **others: Callable[[float, int], float]
    ) -> None:
        self.of = {"goodput_bps": goodput, **others}
        self.seeds: list[int] = []

    def __call__(self, *_: object, **__: object) -> "Runs":
        return self

    def outcomes(self, cases: Sequence[Any]) -> list[Outcome]:
        records = []
        for case in cases:
            delay, _ = space.quantity(
                space.read(case.scenario, ("topology", "single_hop", "link", "delay"))
            ) or (0, "")
            records.append({metric.name: 1.0 for metric in METRICS})
            records[-1] |= {name: of(delay, case.seed) for name, of in self.of.items()}
            self.seeds.append(case.seed)
        return [Outcome("", json.dumps(record)) for record in records]


def pretend(monkeypatch: pytest.MonkeyPatch, runs: Runs, **asked: Any) -> Tuning:
    monkeypatch.setattr(search, "Runner", runs)
    options: dict[str, Any] = {"trials": 40, "seeds": 3, "fresh_seeds": 8, **asked}
    return tune(Scenario.from_toml(SMALL), {DELAY: "1 ms..1 s"}, **options)


def noise(delay: float, seed: int) -> float:
    """Return what looks drawn from a normal law of spread 1, the same for the same delay and seed."""
    return statistics.NormalDist().inv_cdf((hash((round(delay, 9), seed)) % 9973 + 0.5) / 9973)


# What is found.


def test_it_finds_the_maximum_of_a_known_function(monkeypatch: pytest.MonkeyPatch) -> None:
    # Highest at 50 ms, half a decade away 10 % lower.
    runs = Runs(
        lambda delay, seed: 1e6 * (1 - 0.4 * math.log10(delay / 0.05) ** 2) + 1e4 * noise(delay, seed)
    )
    result = pretend(monkeypatch, runs)
    assert result.winner is not None
    (delay,) = result.winner.point or ()
    assert 0.035 < float(delay) < 0.07
    as_it_is = next(final for final in result.finalists if final.name == "as it is")
    assert as_it_is.values == {DELAY: "20 ms"}
    assert result.standing(as_it_is) == "worse"
    # 0.4 log10(2.5)^2 = 0.0633 of 1e6.
    assert result.difference(as_it_is).low < -63_300 < result.difference(as_it_is).high
    assert min(runs.seeds) == 7


def test_it_finds_the_minimum_where_less_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(lambda delay, seed: 0.0, rtt_mean_s=lambda delay, seed: abs(math.log10(delay / 0.2)))
    result = pretend(monkeypatch, runs, objective="rtt_mean")
    assert result.winner is not None
    (delay,) = result.winner.point or ()
    assert 0.15 < float(delay) < 0.26


def test_the_winners_luck_is_not_in_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    result = pretend(monkeypatch, Runs(lambda delay, seed: 100 + noise(delay, seed)), fresh_seeds=20)
    assert result.best is not None
    assert result.winner is not None
    # Of 40 means of 3 the best is some 2 standard errors of 0.58 too high; on fresh seeds that is gone.
    assert result.interval(result.best).mean > 100.8
    interval = result.interval(result.winner)
    assert interval.low < 100 < interval.high
    assert {result.standing(final) for final in result.finalists} == {"winner", "even"}
    text, even = headline.of_tuning(result), [f for f in result.finalists if result.standing(f) == "even"]
    assert f"{'are' if len(even) > 1 else 'is'} not significantly different" in text


def test_the_three_sets_of_seeds_have_none_in_common(found: Tuning, hop: Scenario) -> None:
    sets = [found.seeds, found.runoff_seeds, found.fresh_seeds]
    assert sets == [(1, 2), (3, 4, 5), (6, 7, 8)]
    assert found.winner is not None
    scenario = found.scenario_of(found.winner)
    values = [run(scenario, seed, "summary").metrics["goodput_bps"] for seed in found.fresh_seeds]
    assert found.interval(found.winner) == mean_interval(values)
    first = found.trials[0]
    assert (first.point, found.scenario_of(first)) == ((0.2, 1.0), hop), "the scenario as it is comes first"


def test_the_transmission_time_of_a_perfect_detector_is_near_theory(hop: Scenario) -> None:
    scenario = hop.set("run.duration", "100 s").set("radio.0.cr.detector", "perfect")
    result = tune(scenario, {T_P: "50 ms..20 s"}, trials=20, seeds=3, fresh_seeds=6)
    assert result.winner is not None
    assert isinstance(result.theory, Theory)
    t_s, t_p = result.theory.best
    assert (t_s, result.theory.at_edge) == (0.2, False)
    (best,) = result.winner.point or ()
    assert t_p / 2.5 < float(best) < t_p * 2.5
    for end in ("50 ms", "20 s"):
        at_end = [run(scenario.set(T_P, end), seed, "summary") for seed in result.fresh_seeds]
        mean = statistics.fmean(each.metrics["goodput_bps"] for each in at_end)
        assert result.interval(result.winner).low > mean, end


def test_whole_numbers_and_choices(scenario: Scenario) -> None:
    vary = {"topology.single_hop.link.queue": "1 packets..6 packets", "flow.*.transport": "newreno, tahoe"}
    result = tune(scenario, vary, trials=10, seeds=1, fresh_seeds=2)
    queues = {trial.values["topology.single_hop.link.queue"] for trial in result.trials}
    assert queues <= {"1 packet", *(f"{n} packets" for n in range(2, 7))}
    assert {trial.values["flow.*.transport"] for trial in result.trials} == {"newreno", "tahoe"}
    assert result.theory == "theory covers only sensing and transmission times"


# Constraints.


def test_constraints_bound_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(lambda delay, seed: delay, drops=lambda delay, seed: 1000 * delay)
    result = pretend(monkeypatch, runs, constraints=["drops<=100"])
    assert result.winner is not None
    (delay,) = result.winner.point or ()
    assert 0.08 < float(delay) <= 0.1
    (verdict,) = result.to_dict()["winner"]["constraints"]
    assert verdict["verdict"] == "kept"
    assert any(result.interval(t, result.constraints[0].metric).mean > 100 for t in result.trials)


def test_a_constraint_that_nothing_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = Runs(lambda delay, seed: delay, drops=lambda delay, seed: 5.0)
    result = pretend(monkeypatch, runs, constraints=["drops<=1"], trials=8)
    assert (result.winner, result.best, result.finalists) == (None, None, ())
    assert (
        headline.of_tuning(result) == "None of 8 trials satisfies the constraints: Drops at most 1.0 packets."
    )
    assert "None of 8 trials" in result.report()


def test_a_constraint_that_only_the_luck_of_the_search_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    # Seeds 7 to 9 are those of the search.
    runs = Runs(lambda delay, seed: delay, drops=lambda delay, seed: 0.0 if seed < 10 else 5.0 + seed % 2)
    result = pretend(monkeypatch, runs, constraints=["drops<=1"], trials=8)
    assert result.winner is None
    assert result.breaks == list(result.constraints)
    said = headline.of_tuning(result)
    assert said.startswith("No point keeps the constraints on the fresh seeds. The nearest is ")
    assert "Drops at most 1.0 packets: broken, with 5.5 packets (95 %:" in said


def test_a_limit_is_kept_by_its_bound_and_not_by_its_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drops grow with the delay and differ by seed by 20: at the limit the mean alone keeps it."""
    runs = Runs(
        lambda delay, seed: delay, drops=lambda delay, seed: 1000 * delay + 20 * ((seed * 7919) % 41 / 20 - 1)
    )
    result = pretend(monkeypatch, runs, constraints=["drops<=100"], trials=40)
    assert result.winner is not None
    bound = result.limit(result.winner, result.constraints[0])
    assert bound.high <= 100
    assert result.keeps(result.winner) == "kept"
    # Every finalist's bound holds jointly: it is wider than the interval of one mean.
    assert bound.high > result.interval(result.winner, result.constraints[0].metric).high
    for tie in result.ties:
        assert result.keeps(tie) == "kept"


def test_a_limit_that_no_bound_keeps_is_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    # The mean is 95 wherever the search looks, with a wide spread: under the limit of 100, but not surely.
    runs = Runs(
        lambda delay, seed: delay, drops=lambda delay, seed: 95.0 + 60 * ((seed * 7919) % 41 / 20 - 1)
    )
    result = pretend(monkeypatch, runs, constraints=["drops<=100"], trials=12)
    assert result.finalists
    assert result.winner is None
    assert result.undecided
    said = headline.of_tuning(result)
    assert said.startswith("Undecided: no point is shown to keep the constraints.")
    assert "Drops at most 100.0 packets: undecided, with " in said
    assert "More --fresh-seeds may decide." in said
    assert said in result.report()


@pytest.mark.parametrize(
    ("values", "verdict"), [((1, 2, 3), "kept"), ((8, 9, 10), "broken"), ((1, 9, 5), "unclear")]
)
def test_a_constraint_is_kept_only_beyond_chance(values: Sequence[float], verdict: str) -> None:
    assert goal.constraint("drops<=6").judge(mean_interval(values)) == verdict


def test_the_map_marks_the_winner_and_what_is_not_significantly_worse(found: Tuning) -> None:
    from cogtcp.showing.figure.model import Dots
    from cogtcp.showing.report.surface import surface

    drawing = surface(found)
    dots = [mark for mark in drawing.rows[0][0].marks if isinstance(mark, Dots)]
    assert found.winner is not None
    stars = [(mark.x[0], mark.y[0]) for mark in dots if mark.shape == "star"]
    assert stars == [found.winner.point]
    ties = [(mark.x[0], mark.y[0]) for mark in dots if mark.shape == "circle" and mark.size == 7.0]
    assert sorted(ties) == sorted(tie.point for tie in found.ties if tie.point is not None)


# Sameness.


def test_the_number_of_jobs_changes_no_byte(
    hop: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    asked: dict[str, Any] = {"trials": 9, "seeds": 2, "fresh_seeds": 2, "grid": [2]}
    for name, jobs in (("a", 1), ("b", 3)):
        tune(hop, jobs=jobs, out=tmp_path / name, **asked)
    # The finished runs lie in the order in which they came.
    names = [name for name in files(tmp_path / "a") if not name.startswith("runs/")]
    assert names == [name for name in files(tmp_path / "b") if not name.startswith("runs/")]
    for name in names:
        if (tmp_path / "a" / name).is_file():
            assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    other = tune(hop, seed=99, **asked)
    first = json.loads((tmp_path / "a" / "tuning.json").read_text())
    assert [t["values"] for t in first["trials"]][1:] != [t.values for t in other.trials][1:]


def test_what_was_finished_is_not_simulated_again(
    hop: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1000000000")
    asked: dict[str, Any] = {"trials": 12, "seeds": 2, "fresh_seeds": 2}
    tune(hop, out=tmp_path / "whole", **asked)

    def stop(done: int, _: int) -> None:
        if done == 17:
            raise KeyboardInterrupt

    part = tune(hop, out=tmp_path / "out", progress=stop, **asked)
    assert part.interrupted
    # Two batches of four with two seeds each are 16 runs.
    assert (len(part.trials), part.finalists) == (8, ())
    assert "so far" in headline.of_tuning(part)
    assert "interrupted" in (tmp_path / "out" / "report.html").read_text()
    assert not (tmp_path / "out" / "best.toml").exists()
    assert is_ours(tmp_path / "out")
    kept = [outcome.key for outcome in Journal(tmp_path / "out" / "runs").outcomes()]
    assert len(kept) == len(set(kept)) >= 17
    tune(hop, out=tmp_path / "out", **asked)
    again = [outcome.key for outcome in Journal(tmp_path / "out" / "runs").outcomes()]
    assert set(kept) < set(again)
    assert len(again) == len(set(again)), "no run was made twice"
    for name in files(tmp_path / "whole"):
        if not name.startswith("runs"):
            assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "out" / name).read_bytes(), name


def test_ctrl_c_on_the_command_line(small: Path, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command_line(
            "tune", small, "--vary", f"{DELAY}=1ms..1s", "--trials", 50000, "--out", "out", "--json"
        ),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=theirs,
        text=True,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100"},
    )
    os.close(theirs)
    seen = ""
    while not re.search(r"\b([3-9]\d|\d{3,})/2\d{5}", seen):
        seen += os.read(ours, 1024).decode(errors="replace")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=PATIENCE)
    while "repeat the command" not in seen:
        seen += os.read(ours, 1024).decode(errors="replace")
    os.close(ours)
    assert process.returncode == 130
    document = json.loads(out)
    assert document["interrupted"]
    assert len(document["trials"]) >= 4
    assert is_ours(tmp_path / "out")
    assert not [name for name in files(tmp_path) if name.endswith(".tmp")]


# What fails.


def test_a_run_that_fails_is_told_and_left_out(
    scenario: Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_control.py").write_text(
        "from cogtcp import CongestionControl\n\n\n"
        "class Broken(CongestionControl):\n"
        "    def ssthresh(self, now, tcp):\n"
        "        return 2000.0\n\n"
        "    def cong_avoid(self, now, tcp, ack):\n"
        "        raise ArithmeticError('no such thing')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    vary = {"flow.0.transport": "newreno,broken_control:Broken"}
    result = tune(scenario, vary, trials=8, seeds=1, fresh_seeds=2, out=tmp_path / "out", allow_python=True)
    assert {trial.values["flow.0.transport"] for trial in result.failures} == {"broken_control:Broken"}
    assert "no such thing" in result.failures[0].error
    assert result.winner is not None
    assert result.winner.values == {"flow.0.transport": "newreno"}
    assert "no such thing" in (tmp_path / "out" / "report.html").read_text()
    broken = scenario.set("flow.0.transport", "broken_control:Broken", allow_python=True)
    with pytest.raises(RunError, match="no such thing"):
        tune(broken, {DELAY: "1 ms..2 ms"}, trials=2, seeds=1, fresh_seeds=2)


def test_points_that_the_scenario_refuses(scenario: Scenario) -> None:
    result = tune(scenario, {"run.warmup": "1 s..39 s"}, trials=12, seeds=1, fresh_seeds=2)
    refused = [trial for trial in result.trials if trial.evaluation.invalid is not None]
    assert 0 < len(refused) < 12
    assert all("warmup" in trial.error for trial in refused)
    assert result.failures == []
    assert "cannot be simulated" in result.report()
    with pytest.raises(ScenarioError, match="warmup"):
        tune(scenario, {"run.warmup": "30 s..39 s"}, trials=4, seeds=1, fresh_seeds=2)


def test_an_objective_without_a_value(scenario: Scenario) -> None:
    for asked in ({"objective": "completion"}, {"constraints": ["pu_interference<=5%"]}):
        with pytest.raises(UsageError, match="has no value with any seed"):
            tune(scenario, {DELAY: "1 ms..2 ms"}, trials=3, seeds=1, fresh_seeds=2, **asked)  # type: ignore[arg-type]


def test_a_transfer_that_does_not_end_is_no_fast_one(monkeypatch: pytest.MonkeyPatch) -> None:
    # Beyond 100 ms every second run does not end, and those that do are the fastest of all.
    ends = Runs(
        lambda delay, seed: 1.0,
        completion_s=lambda delay, seed: 10 + delay if delay < 0.1 else 1.0 if seed % 2 else math.nan,
    )
    result = pretend(monkeypatch, ends, objective="completion")
    assert result.winner is not None
    assert float((result.winner.point or (1,))[0]) < 0.1
    assert any("completion_s has no value with seed 8" in trial.error for trial in result.trials)


# What is asked for.


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (T_S, "20ms..1s", (0.02, 1.0, "s", False, True)),
        (T_S, "20 ms .. 90 ms", (0.02, 0.09, "s", False, False)),
        (T_S, "20ms..90ms:log", (0.02, 0.09, "s", False, True)),
        (T_S, "20ms..1s:linear", (0.02, 1.0, "s", False, False)),
        ("radio.cr.cr.sensing_time", "1e-3 s..1", None),
        ("topology.single_hop.link.rate", "500 kbit/s..11 Mbit/s", (5e5, 1.1e7, "bit/s", False, True)),
        ("topology.single_hop.link.queue", "5 packets..80 packets", (5.0, 80.0, "packets", True, True)),
        ("topology.single_hop.link.loss", "0 %..5 %", (0.0, 0.05, "", False, False)),
        ("radio.0.cr.detector.map.snr", "-25 dB..-15dB", (-25.0, -15.0, "dB", False, False)),
        ("spectrum.pu.exponential.alpha", "0.5..3", (0.5, 3.0, "", False, False)),
        ("spectrum.bands", "2..8", (2.0, 8.0, "", True, False)),
        ("tcp.max_window", "1 segment..40 segments", (1.0, 40.0, "segments", True, True)),
    ],
)
def test_ranges(hop: Scenario, path: str, text: str, expected: tuple[Any, ...] | None) -> None:
    if expected is None:
        with pytest.raises(ScenarioError, match="duration"):
            space.parameters(hop, {path: text})
        return
    (parameter,) = space.parameters(hop, {path: text})
    assert isinstance(parameter, space.Range)
    assert (parameter.low, parameter.high, parameter.unit, parameter.whole, parameter.log) == expected
    for share in (0, 0.1, 0.5, 0.77, 1):
        value = parameter.at(share)
        assert parameter.low <= value <= parameter.high
        taken = hop.set_text(path, parameter.text(value))
        assert space.quantity(space.read(taken, parameter.place)) == (
            pytest.approx(value, rel=1e-6),
            parameter.unit,
        )


def test_values_have_no_more_digits_than_matter(hop: Scenario) -> None:
    (parameter,) = space.parameters(hop, {T_S: "20ms..1s"})
    assert isinstance(parameter, space.Range)
    assert [parameter.text(parameter.snap(value)) for value in (0.0212345, 0.2123456, 2.0, 0.0)] == [
        "0.0212 s",
        "0.212 s",
        "1.0 s",
        "0.02 s",
    ]


def test_every_unit_has_the_size_it_has_in_scenarios(hop: Scenario) -> None:
    fields = {
        "s": (T_S, "s"),
        "bit/s": ("topology.single_hop.link.rate", "bit/s"),
        "B": ("tcp.segment_size", "B"),
        "Hz": ("radio.0.cr.detector.map.bandwidth", "Hz"),
        "W": ("radio.0.cr.transmit_power", "W"),
        "m": ("spectrum.pu.exponential.reach.range", "m"),
        "segments": ("tcp.max_window", "segments"),
        "packets": ("topology.single_hop.link.queue", "packets"),
    }
    for name, (base, size) in space.UNITS.items():
        path, unit = fields[base]
        count = 1000 / size if size < 1 else 1
        place = tuple(int(step) if step.isdigit() else step for step in path.split("."))
        one, other = (
            space.quantity(space.read(hop.set_text(path, text), place))
            for text in (f"{count:.0f} {name}", f"{count * size:.0f} {unit}")
        )
        assert one is not None
        assert other is not None
        assert one[0] == pytest.approx(other[0], rel=1e-9), name
        assert one[1] == other[1] == unit


def test_choices_keep_their_brackets(hop: Scenario) -> None:
    detectors = 'perfect, { map = { snr = "-20 dB", bandwidth = "1 MHz" } }'
    (parameter,) = space.parameters(hop, {"radio.cr.cr.detector": detectors})
    assert isinstance(parameter, space.Choice)
    assert parameter.values == ("perfect", '{ map = { snr = "-20 dB", bandwidth = "1 MHz" } }')
    assert parameter.place == ("radio", 0, "cr", "detector")


@pytest.mark.parametrize(
    ("vary", "says"),
    [
        ({}, "name what to vary"),
        ({T_S: "20 ms"}, 'write a range as "20 ms..1 s"'),
        ({T_S: ""}, "write a range"),
        ({T_S: (0.02, 1.0)}, "write a range as a text"),
        ({T_S: "20 ms...1 s"}, "unknown unit"),
        ({T_S: "20..1 s"}, "with its unit"),
        ({T_S: "20 parsec..1 s"}, "parsec"),
        ({T_S: "-1 s..1 s"}, "negative"),
        ({T_S: "1 s..20 ms"}, "the low end must be below the high one"),
        ({T_S: "1 s..1 s"}, "the low end must be below the high one"),
        ({T_S: "20 ms..1 s:cubic"}, 'unknown scale "cubic"; write :log or :linear'),
        ({"topology.single_hop.link.loss": "0 %..5 %:log"}, "both ends above zero"),
        ({"topology.single_hop.link.loss": "0 %..130 %"}, "0 to 1"),
        ({"topology.single_hop.link.queue": "5 packets..64 KiB"}, "not of one kind"),
        ({"radio.0.cr.sensing_tiem": "20 ms..1 s"}, "sensing_time"),
        ({"radio.1.cr.sensing_time": "20 ms..1 s"}, "write 0"),
        ({"radio.cr.sensing_time": "20 ms..1 s"}, "sensing_time"),
        ({"flow.*.transport": "newreno,newreon"}, "newreno"),
        ({"flow.*.transport": "sack,sack"}, "named twice"),
        ({T_S: "20 ms..1 s", "radio.cr.cr.sensing_time": "20 ms..1 s"}, "are one field"),
    ],
)
def test_what_cannot_be_varied(hop: Scenario, vary: dict[str, Any], says: str) -> None:
    with pytest.raises((UsageError, ScenarioError)) as error:
        tune(hop, vary)
    assert says in str(error.value)
    assert "\n" not in str(error.value).splitlines()[0]


def test_only_the_times_of_cr_users_need_no_name(scenario: Scenario) -> None:
    with pytest.raises(UsageError, match="name what to vary"):
        tune(scenario)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"objective": "goodputt"}, 'did you mean "goodput"?'),
        ({"objective": "handoffs"}, "write max:handoffs or min:handoffs"),
        ({"objective": "most:goodput"}, "write max:goodput or min:goodput"),
        ({"constraints": ["goodput"]}, "METRIC<=VALUE"),
        ({"constraints": ["goodput=1 Mbit/s"]}, "METRIC<=VALUE"),
        (
            {"constraints": ["goodput>=1"]},
            'it has no unit; goodput_bps is read in Mbit/s, as in "goodput_bps<=5',
        ),
        ({"constraints": ["goodput>=1 s"]}, 'unknown unit "s" for it'),
        ({"constraints": ["nothing<=5"]}, 'unknown metric "nothing"'),
        ({"constraints": ["drops<=1.2.3"]}, "is not a number"),
        ({"trials": 0}, "trials is 0"),
        ({"seeds": 0}, "seeds is 0"),
        ({"batch": 0}, "batch is 0"),
        ({"fresh_seeds": 1}, "fewer than two have no confidence interval"),
        ({"seed": -1}, "out of range"),
        ({"seed": 2**63 - 3}, "out of range"),
        ({"grid": [10, 10, 10]}, "one number for each of the 2 ranges"),
        ({"grid": [1, 5]}, "at least 2 values"),
        ({"grid": [1000]}, "10000 points at most"),
        ({"grid": [2], "vary": {"flow.0.transport": "sack,reno"}}, "one or two ranges"),
        ({"grid": [9], "vary": {"spectrum.bands": "2..8"}}, "fewer than 9 whole numbers"),
    ],
)
def test_what_cannot_be_asked(hop: Scenario, asked: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError) as error:
        tune(hop, **asked)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("text", "name", "sign", "limit"),
    [
        ("pu_interference<=5%", "pu_interfered_share", 1, 0.05),
        ("pu_interfered <= 0.05", "pu_interfered_share", 1, 0.05),
        ("goodput>=0.5 Mbit/s", "goodput_bps", -1, 5e5),
        ("goodput_bps >= 500 kbit/s", "goodput_bps", -1, 5e5),
        ("rtt-p95<=300ms", "rtt_p95_s", 1, 0.3),
        ("rtos<=3", "rtos", 1, 3.0),
    ],
)
def test_constraints_are_read_with_their_units(text: str, name: str, sign: int, limit: float) -> None:
    constraint = goal.constraint(text)
    assert (constraint.metric.name, constraint.sign) == (name, sign)
    assert constraint.limit == pytest.approx(limit)


# Theory.


def test_usable_airtime_in_its_limits() -> None:
    always: dict[str, float] = {"detection": 1.0, "false_alarm": 0.0}
    # PUs that hardly ever change: what Liang et al. have, but that a radio told of a PU loses no T_p.
    slow = models.usable_airtime(0.1, 0.9, alpha=1e-9, beta=1e-9, **always)
    assert slow == pytest.approx(0.5 * 0.9 / (0.1 + 0.5 * 0.9))
    # PUs that change at once: sensing is worth nothing, half of every transmission is free.
    fast = models.usable_airtime(0.1, 0.9, alpha=1e9, beta=1e9, **always)
    assert fast == pytest.approx(0.5 * 0.9 * 0.5 / (0.1 + 0.5 * 0.9))
    # A coin tossed in place of sensing: the share of the time the PU is OFF, and the time it takes.
    blind = models.usable_airtime(0.1, 0.9, alpha=0.5, beta=1.5, detection=0.5, false_alarm=0.5)
    assert blind == pytest.approx(0.5 * 0.9 * 0.25 / (0.1 + 0.5 * 0.9))
    for wrong in ({"alpha": 0.0}, {"detection": 1.5}, {"switching_delay_s": -1.0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            models.usable_airtime(0.1, 0.9, **{"alpha": 0.5, "beta": 0.5, **always, **wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize(("t_s", "t_p"), [(0.2, 1.0), (0.05, 4.0), (0.02, 2.0)])
def test_usable_airtime_is_that_of_the_simulated_radio(hop: Scenario, t_s: float, t_p: float) -> None:
    seconds = 2000
    scenario = (
        hop.set("run.duration", f"{seconds} s")
        .set("run.sample_interval", "100 s")
        .set(T_S, f"{t_s} s")
        .set(T_P, f"{t_p} s")
    )
    (radio,) = run(scenario, 1, "summary").radios.to_pylist()
    measured = (radio["transmitting_s"] - radio["pu_exposed_share"] * radio["pu_airtime_s"]) / seconds
    (errors,) = spectrum.sensing([t_s], snr_db=-20)
    theory = models.usable_airtime(
        t_s,
        t_p,
        detection=errors.detection,
        false_alarm=errors.false_alarm,
        alpha=0.5,
        beta=0.5,
        switching_delay_s=0.001,
    )
    # That a channel just found free is likelier to be free again the formula does not know: some per cent.
    assert measured == pytest.approx(theory, rel=0.06)


def test_theory_reads_the_scenario(hop: Scenario, found: Tuning) -> None:
    assert isinstance(found.theory, Theory)
    t_s, t_p = found.theory.best
    assert 0.03 < t_s < 0.08
    assert 0.5 < t_p < 1.2
    assert found.theory.shortest == spectrum.sensing_time(0.95, 0.05, snr_db=-20)
    assert "theory" in [name for final in found.finalists for name in final.name.split(", ")]
    assert found.theory.share == max(
        found.theory.usable(a * t_s, b * t_p) for a in (0.9, 1, 1.1) for b in (0.9, 1, 1.1)
    )


def test_theory_begins_above_zero(hop: Scenario) -> None:
    result = tune(hop, {T_S: "0 s..1 s"}, trials=2, seeds=1, fresh_seeds=2)
    assert isinstance(result.theory, Theory)
    assert result.theory.best[0] > 0


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (
            ("radio.0.cr.detector", {"table": [["0.1 s", 0.9, 0.1], ["1 s", 1.0, 0.0]]}),
            "no detector of this kind",
        ),
        (("radio.0.cr.policy", "sticky"), "change channel"),
        (("spectrum.pu", "none"), "exponential"),
    ],
)
def test_theory_says_why_it_says_nothing(hop: Scenario, change: tuple[str, Any], why: str) -> None:
    result = tune(hop.set(*change), trials=1, seeds=1, fresh_seeds=2)
    assert isinstance(result.theory, str)
    assert why in result.theory
    assert result.to_dict()["theory"] == {"why_not": result.theory}


@pytest.mark.parametrize(
    "detector",
    [
        "perfect",
        "as_released",
        {"neyman_pearson": {"false_alarm": "5 %", "sampling_rate": "2 MHz", "snr": "-20 dB"}},
        {"simplified": {"snr": "-20 dB"}},
        {"fixed": {"detection": 0.9, "false_alarm": 0.1}},
        {"map": {"snr": "-18.5 dB", "bandwidth": "2 MHz", "p_on": 0.3}},
    ],
)
def test_theory_knows_the_detectors(hop: Scenario, detector: Any) -> None:
    result = tune(hop.set("radio.0.cr.detector", detector), trials=1, seeds=1, fresh_seeds=2)
    assert isinstance(result.theory, Theory)
    assert 0.3 < result.theory.share < 1


# Report and command line.


def test_the_report(found: Tuning) -> None:
    page = found.report(command="cogtcp tune x.toml")
    # Two figures, each for a wide page and for a phone.
    assert page.count("<svg role") == 4
    assert not re.search(r'(href|src)="(?!#)', page)
    for text in (
        "Where it is best",
        "theory's optimum",
        "as it is",
        "Bonferroni",
        "Seeds",
        "PU time interfered",
    ):
        assert text in html.unescape(page), text
    assert "NaN" not in page
    assert headline.of_tuning(found) in page
    one = tune(found.scenario, {T_S: "20ms..1s"}, trials=4, seeds=1, fresh_seeds=2, grid=[3])
    assert one.report().count("<svg role") == 2


def test_the_tables_hold_it_all(found: Tuning) -> None:
    assert found.grid_shape == (3, 4)
    assert [trial.point for trial in found.grid[:4]] == [
        (0.01, found.parameters[1].at(i / 3)) for i in range(4)
    ]  # type: ignore[union-attr]
    assert found.summary.num_rows == 12 + 12
    assert found.runs.num_rows == (12 + 12) * 2 + len(found.finalists) * 3
    row = found.summary.to_pylist()[0]
    assert (row["part"], row["trial"], row[T_S], row[f"{T_S}, number"]) == ("search", 1, "200 ms", 0.2)
    assert row["mean"] == found.interval(found.trials[0]).mean
    document = found.to_dict()
    assert json.dumps(document, allow_nan=False)
    assert document["winner"] == document["finalists"][0]
    assert len(document["grid"]["points"]) == 12


def test_the_command(command: Command, tmp_path: Path) -> None:
    scenario = ROOT / "scenarios" / "cr-single-hop.toml"
    options = [
        "--set",
        "run.duration=20 s",
        "--trials",
        "6",
        "--seeds",
        "2",
        "--fresh-seeds",
        "3",
        "--grid",
        "2x3",
    ]
    done = command("tune", scenario, *options, "--vary", f"{T_S}=20ms..1s", "--vary", f"{T_P}=200ms..4s")
    assert (done.code, done.err.count("ignores interference")) == (0, 2)
    assert "Best of 6 trials: sensing_time " in done.out
    (folder,) = (tmp_path / "results").iterdir()
    assert re.fullmatch(r"cr-single-hop-tune-[0-9a-f]{8}", folder.name)
    assert {"best.toml", "report.html", "scenario.toml", "trials.parquet", "tuning.json"} <= set(
        files(folder)
    )
    again = command(
        "tune", scenario, *options, "--vary", f"{T_S}=20ms..1s", "--vary", f"{T_P}=200ms..4s", "--json"
    )
    document = again.json()
    best = Scenario.from_file(folder / "best.toml")
    assert space.read(best, ("radio", 0, "cr", "sensing_time")) == document["winner"]["values"][T_S]
    assert (
        pq.read_table(folder / "metrics.parquet").schema.metadata[b"cogtcp.objective"] == b"max:goodput_bps"
    )
    saved = json.loads((folder / "tuning.json").read_text())
    assert saved["trials"] == document["trials"]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--vary", "x"], 2, "--vary x: write PATH=LOW..HIGH"),
        (["--vary", f"{DELAY}=1ms..1s", "--vary", f"{DELAY}=2ms..1s"], 2, "named already"),
        (["--vary", f"{DELAY}=1..2"], 2, f"{DELAY}"),
        (["--vary", f"{DELAY}=1ms..1s", "--grid", "ten"], 2, "--grid ten: write the number"),
        (["--vary", f"{DELAY}=1ms..1s", "--trials", "0"], 2, "--trials 0: must be at least 1"),
        (["--vary", f"{DELAY}=1ms..1s", "--out", "small.toml"], 1, "small.toml: is a file"),
        (["--vary", f"{DELAY}=1ms..1s", "--out", "."], 1, "holds files that are not results of `tune`"),
        (["--vary", f"{DELAY}=1ms..1s", "--out", "/proc/nowhere"], 1, "results cannot be written"),
        ([], 2, "name what to vary"),
    ],
)
def test_wrong_commands(
    small: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    code: int,
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    assert main(["tune", "small.toml", *arguments]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("cogtcp: ")
    # Where a setting is wrong, it is shown with carets below the message.
    assert err.count("\n") == (4 if "set | " in err else 1)
    assert says in err
    assert files(tmp_path) == ["small.toml"]


def test_a_search_without_a_winner_fails(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    varied = [
        "--vary",
        f"{DELAY}=1ms..2ms",
        "--trials",
        "2",
        "--seeds",
        "1",
        "--constraint",
        "goodput>=1 Gbit/s",
    ]
    assert main(["tune", "small.toml", *varied]) == 1
    assert (
        "None of 2 trials satisfies the constraints: Goodput at least 1,000.000 Mbit/s."
        in capsys.readouterr().out
    )


def test_without_optuna_it_says_what_to_install(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    assert main(["tune", "small.toml"]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == (
        "",
        "cogtcp: tune needs Optuna, which is not installed; install it with: pip install 'cogtcp[tune]'\n",
    )
    assert files(tmp_path) == ["small.toml"]


def test_nothing_of_it_is_loaded_before_it_is_asked_for() -> None:
    code = "import sys, cogtcp, cogtcp.cli.tune; print({'optuna', 'matplotlib', 'rich'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_it_says_what_nothing_charges_for(command: Command, tmp_path: Path) -> None:
    """A cycle's primary users come unseen, so to sense less is free. A constraint charges a CR user."""
    short = ["--set", "run.duration=2 s", "--set", "run.warmup=0 s", "--trials", "2", "--seeds", "1"]
    short += ["--fresh-seeds", "2", "--out"]
    done = command("tune", "sensed-link", "--vary", "radio.0.sensing.off=10ms..1s", *short, "cycle")
    assert done.code == 0, done.err
    assert "radio.0.sensing.off: less sensing costs nothing" in done.err
    assert "less sensing costs nothing" in (tmp_path / "cycle" / "report.html").read_text()
    (said,) = json.loads((tmp_path / "cycle" / "tuning.json").read_text())["uncharged"]
    assert '--constraint "pu_interference<=5%"' in said
    users = ["tune", "cr-single-hop", "--vary", f"{T_S}=20ms..1s"]
    done = command(*users, *short, "users")
    assert f"{T_S}: goodput_bps ignores interference" in done.err
    done = command(*users, "--constraint", "pu_interference<=100%", *short, "protected")
    assert "ignores interference" not in done.err
    # What nobody could sense is charged for by the objective itself.
    done = command("tune", "cr-single-hop", "--vary", "flow.*.transport=newreno,sack", *short, "transports")
    assert "charge" not in done.err


def test_a_page_that_varies_a_field_knows_what_is_not_charged_for() -> None:
    """The lab takes the rules as patterns: what tune says of a field, the lab says."""
    rules = charged.describe("goodput")
    said = {
        path: [rule["said"] for rule in rules if re.search(rule["pattern"], path)]
        for path in ("radio.0.sensing.off", T_S, "radio.0.cr.channel", "flow.0.transport")
    }
    assert "never sensing is best" in said["radio.0.sensing.off"][0]
    assert said[T_S][0].startswith("goodput ignores interference")
    assert all('--constraint "pu_interference<=5%"' in said[path][0] for path in ("radio.0.sensing.off", T_S))
    assert said["radio.0.cr.channel"] == said["flow.0.transport"] == []
    assert controls.describe()["uncharged"] == rules
