"""Logs of primary users and sensing, from Python and from the command line."""

import math
import random
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cogtcp import ScenarioError, UsageError
from cogtcp.data.spectrum import LAWS, ChannelTable, Format, PuActivity, sensing, sensing_time
from conftest import Command, files


def test_generated_times_follow_alpha_and_beta() -> None:
    activity = PuActivity.generate(users=20, duration=5000, alpha=2, beta=0.5, seed=3)
    assert [user.band for user in activity.users] == list(range(1, 21))
    on = [d - a for user in activity.users for a, d in user.on]
    # 40,000 exponential times: the standard error of the mean is half a percent.
    assert math.isclose(sum(on) / len(on), 0.5, rel_tol=0.025)
    assert math.isclose(sum(user.duty_cycle for user in activity.users) / 20, 0.2, rel_tol=0.025)
    assert math.isclose(sum(user.mean_off for user in activity.users) / 20, 2, rel_tol=0.025)
    again = PuActivity.generate(users=21, duration=5000, alpha=2, beta=0.5, seed=3)
    assert again.users[:20] == activity.users


@pytest.mark.parametrize(
    ("law", "mean"),
    [
        (("exponential", [0.5]), 0.5),
        (("deterministic", [0.5]), 0.5),
        (("log-normal", [0.5, 0.5]), 0.5 * math.exp(0.125)),
        (("gamma", [2, 0.25]), 0.5),
        (("pareto", [0.5, 3.0]), 0.75),
    ],
)
def test_every_law_of_on_times(law: tuple[str, list[float]], mean: float) -> None:
    activity = PuActivity.generate(users=1, duration=20000, on=law, off=("deterministic", [0.5]))
    assert math.isclose(activity.users[0].mean_on, mean, rel_tol=0.05)
    deviation = {"exponential": 1, "deterministic": 0, "gamma": 1 / math.sqrt(2)}.get(law[0])
    if deviation is not None:
        # The last ON time may be cut.
        assert math.isclose(activity.users[0].variation_on, deviation, rel_tol=0.05, abs_tol=0.01)
    assert law[0] in LAWS


@pytest.mark.parametrize("format", ["pu-log", "map", "csv"])
def test_what_is_generated_shown_and_converted_stays_the_same(
    command: Command, tmp_path: Path, format: str
) -> None:
    made = command("pu", "generate", "a.log", "--duration", 50, "--area", "1000x500", "--seed", 4)
    assert (made.code, made.err) == (0, "")
    there = command("pu", "convert", "a.log", "b", "--to", format, "--sensitivity", 1e-6)
    assert (there.code, there.err) == (0, "")
    first, second = PuActivity.from_file(tmp_path / "a.log"), PuActivity.from_file(tmp_path / "b")
    assert [(user.band, user.on) for user in first.users] == [(user.band, user.on) for user in second.users]
    if format == "csv":
        return
    back = command("pu", "convert", "b", "-", "--to", "pu-log", "--sensitivity", 1e-6)
    assert (back.code, back.err) == (0, "")
    again = PuActivity.from_text(back.out, "pu-log")
    assert [user.position for user in again.users] == [user.position for user in first.users]
    assert all(math.isclose(user.reach[1], 0.2818, rel_tol=1e-9) for user in again.users)


def test_released_generator_writes_a_map(command: Command, tmp_path: Path) -> None:
    assert command("pu", "generate", "map.txt", "--released", "--seed", 2).code == 0
    activity = PuActivity.from_file(tmp_path / "map.txt")
    assert len(activity.users) == 10
    assert {user.reach for user in activity.users} == {("range", 500.0)}
    assert all(2 <= user.band <= 11 for user in activity.users)
    api = PuActivity.generate_released(seed=2)
    assert [user.on for user in api.users] == [user.on for user in activity.users]


@pytest.mark.parametrize("model", ["empirical", "markov"])
def test_a_log_is_drawn_anew_by_a_model_of_it(command: Command, tmp_path: Path, model: str) -> None:
    laws = ["--on", "gamma:4,0.25", "--off", "deterministic:2"]
    assert command("pu", "generate", "a.log", "--users", 2, "--duration", 5000, *laws).code == 0
    made = command(
        "pu", "generate", "b.log", "--trace", "a.log", "--model", model, "--duration", 9000, "--seed", 7
    )
    assert (made.code, made.err) == (0, "")
    first, second = PuActivity.from_file(tmp_path / "a.log"), PuActivity.from_file(tmp_path / "b.log")
    assert [user.position for user in second.users] == [user.position for user in first.users]
    for user in second.users:
        # 3,000 cycles of mean 3 s: five standard errors of an exponential mean are 9 %.
        assert math.isclose(user.mean_on, 1, rel_tol=0.09)
        assert math.isclose(user.mean_off, 2, rel_tol=0.09)
    if model == "empirical":
        spans = [d - a for user in first.users for a, d in user.on]
        # The first and the last may be cut.
        drawn = [d - a for user in second.users for a, d in user.on[1:200]]
        assert all(min(abs(span - other) for other in spans) < 1e-6 for span in drawn)
    refused = command("pu", "generate", "c.log", "--trace", "a.log", "--alpha", 1)
    assert (refused.code, refused.out) == (2, "")
    assert "--alpha: not with --trace" in refused.err
    (tmp_path / "short.csv").write_text("time,band,busy\n0,1,1\n9,1,0\n")
    refused = command("pu", "generate", "c.log", "--trace", "short.csv")
    assert (refused.code, refused.out) == (2, "")
    assert "PU 1: the trace has no whole ON or OFF time" in refused.err


def test_channels_are_read_and_written() -> None:
    table = ChannelTable.alternating(3, per_band=2, rate=1e6, m=1.0)
    assert [(channel.band, channel.rate) for channel in table.channels[:3]] == [
        (1, 1_500_000),
        (1, 500_000),
        (2, 1_500_000),
    ]
    again = ChannelTable.from_text(table.to_text("ch-log"), "ch-log")
    assert [channel.rate for channel in again.channels] == [channel.rate for channel in table.channels]
    noisy = ChannelTable.from_text("interval 0.5\n<1, 1, 1000000, 1e-12, 2e-12>\n", "ch-log")
    assert (noisy.noise_interval, noisy.channels[0].noise) == (0.5, (1e-12, 2e-12))
    released = ChannelTable.from_text("0 1000 0\n1 2000000 0.25\n", "released")
    assert [(channel.reserved, channel.error_rate) for channel in released.channels] == [
        (True, 0),
        (False, 0.25),
    ]
    assert released.to_text("released").splitlines()[1] == "1 2000000 0.25"
    with pytest.raises(ScenarioError, match=r"ch\.log:1: 3 fields"):
        ChannelTable.from_text("1 1 1000", "ch-log", file="ch.log")
    with pytest.raises(ScenarioError, match="0 to 2"):
        ChannelTable.alternating(5, m=2)
    with pytest.raises(UsageError, match="rate is 0"):
        ChannelTable.alternating(5, rate=0)


def test_bytes_of_any_kind_are_refused_or_read(tmp_path: Path) -> None:
    """Damaged logs and random bytes, as files: an answer, never another exception."""
    draw = random.Random(5)
    whole = PuActivity.generate(users=2, duration=20, seed=1, range=500)
    texts = [whole.to_text("map"), whole.to_text("csv"), whole.to_text("pu-log", sensitivity=1e-6)]
    read, refused = 0, []
    for case in range(400):
        data = bytearray(texts[case % 3].encode())
        if case % 4 == 3:
            data = bytearray(draw.randbytes(draw.randrange(80)))
        for _ in range(draw.randrange(3) if data else 0):
            data[draw.randrange(len(data))] = draw.choice([draw.randrange(256), *b"0123456789.,-#\n "])
        file = tmp_path / "log"
        file.write_bytes(data)
        try:
            activity = PuActivity.from_file(file)
        except ScenarioError as error:
            refused.append(str(error))
            continue
        read += 1
        again = PuActivity.from_text(activity.to_text("csv"), "csv")
        assert again.end <= activity.end
    assert read > 50
    assert len(refused) > 50
    assert all(str(file) in message for message in refused)


def test_show_prints_shares_and_a_timeline(command: Command, tmp_path: Path) -> None:
    (tmp_path / "pu.log").write_text("<1, 0, 0, 1, 0.1>\n<2, 5, 0, 2, 0.1>\n<1, 0, 25>\n<1, 75, 100>\n")
    done = command("pu", "show", "pu.log", "--plot", "t.svg")
    assert (done.code, done.err) == (0, "")
    row = next(line for line in done.out.splitlines() if line.startswith("    1     1"))
    assert row.split() == ["1", "1", "0.1", "W", "2", "50.0%", "25", "s", "50", "s", "0.00", "-"]
    assert f"    1 |{'█' * 16}{' ' * 32}{'█' * 16}|" in done.out
    assert f"    2 |{' ' * 64}|" in done.out
    drawing = ElementTree.fromstring((tmp_path / "t.svg").read_text())  # noqa: S314 (our own file)
    assert drawing.tag == "{http://www.w3.org/2000/svg}svg"
    assert "var(" not in (tmp_path / "t.svg").read_text()
    shown = command("pu", "show", "pu.log", "--json").json()
    assert shown["end_s"] == 100
    assert shown["users"][0]["duty_cycle"] == 0.5
    assert shown["users"][1]["mean_on"] is None


def test_a_timeline_too_dense_to_draw_is_drawn_by_shares(command: Command, tmp_path: Path) -> None:
    laws = ["--on", "deterministic:0.5", "--off", "deterministic:1.5"]
    assert command("pu", "generate", "a.log", "--users", 1, "--duration", 20_000, *laws).code == 0
    done = command("pu", "show", "a.log", "--plot", "t.svg")
    assert (done.code, done.err) == (0, "")
    drawing = (tmp_path / "t.svg").read_text()
    assert len(drawing) < 200_000
    assert "heights are shares of 50 s each" in drawing


@pytest.mark.parametrize("first", ["pu-log", "map", "csv"])
@pytest.mark.parametrize("second", ["pu-log", "map", "csv"])
def test_every_format_converts_to_every_other(first: Format, second: Format) -> None:
    """ON times pass through two formats unchanged; of a PU heard everywhere no number can say how far."""
    made = PuActivity.generate(users=3, duration=40, seed=9)
    through = PuActivity.from_text(made.to_text(first, sensitivity=1e-6), first)
    if first == "csv" and second != "csv":
        with pytest.raises(ScenarioError, match="heard everywhere"):
            through.to_text(second, sensitivity=1e-6)
        return
    last = PuActivity.from_text(through.to_text(second, sensitivity=1e-6), second)
    assert [(user.band, user.on) for user in last.users] == [(user.band, user.on) for user in made.users]
    if "csv" not in (first, second):
        assert all(
            math.dist(a.position, b.position) == 0 for a, b in zip(made.users, last.users, strict=True)
        )


def test_a_spectrum_analyzers_sweeps_become_busy_times(command: Command, tmp_path: Path) -> None:
    """A threshold in dBm reads powers; what the file cannot show is said once; errors have lines."""
    rows = [f"{row / 10:g},-101,{-90 if row % 20 < 10 else -96}\n" for row in range(100)]
    (tmp_path / "sweeps.csv").write_text("time,2412,2437\n" + "".join(rows))
    plain = ("pu", "convert", "sweeps.csv", "busy.csv", "--to", "csv", "--force")
    done = command(*plain, "--threshold", "-95dBm")
    assert done.code == 0
    assert done.err.count("a sample every 0.1 s") == 1
    first, second = PuActivity.from_file(tmp_path / "busy.csv").users
    assert first.on == ()
    assert second.on[:2] == ((0.0, 1.0), (2.0, 3.0))
    assert command(*plain, "--threshold", "-95 dBm", "--hysteresis", "2dB").code == 0
    assert len(PuActivity.from_file(tmp_path / "busy.csv").users[1].on) == 1
    assert command(*plain, "--threshold", "-95", "--minimum", "1500ms").code == 0
    # Idle times of 1 s are filled: one busy time is left.
    assert len(PuActivity.from_file(tmp_path / "busy.csv").users[1].on) == 1
    for options, text, reason in [
        ((), None, 'sweeps.csv:2: busy is "-101"; expected 1 or 0; powers need a threshold'),
        (("--threshold", "-95dBm"), "time,1\n0,-90\n1,x\n", "sweeps.csv:3: the power is"),
        (("--hysteresis", "3dB"), None, "give threshold too"),
        (("--threshold", "-95dBm", "--from", "pu-log"), None, "for a CSV of occupancy"),
    ]:
        if text is not None:
            (tmp_path / "sweeps.csv").write_text(text)
        done = command(*plain, *options)
        assert (done.code, reason in done.err) == (2, True), done.err
        (tmp_path / "sweeps.csv").write_text("time,2412,2437\n" + "".join(rows))


def test_quantities_may_carry_units(command: Command, tmp_path: Path) -> None:
    units = ["--duration", "2 min", "--power", "200 mW", "--area", "1 kmx500 m", "--on", "gamma:2,500 ms"]
    assert command("pu", "generate", "a.log", *units).code == 0
    bare = ["--duration", 120, "--power", 0.2, "--area", "1000x500", "--on", "gamma:2,0.5"]
    assert command("pu", "generate", "b.log", *bare).code == 0
    assert (tmp_path / "a.log").read_text() == (tmp_path / "b.log").read_text()
    bare = command("sensing", "--times", "0.1", "--snr=-20", "--bandwidth", "1e6", "--json").json()
    assert (
        command("sensing", "--times", "100 ms", "--snr=-20 dB", "--bandwidth", "1 MHz", "--json").json()
        == bare
    )


def test_logs_in_which_nobody_is_on(command: Command, tmp_path: Path) -> None:
    (tmp_path / "quiet.log").write_text("<1, 0, 0, 1, 0.1>\n")
    done = command("pu", "show", "quiet.log", "--plot", "q.svg")
    assert (done.code, done.err) == (0, "")
    assert "1 primary user, 0 s" in done.out
    assert "no primary user is ever ON" in done.out
    anew = command("pu", "generate", "x", "--trace", "quiet.log")
    assert anew.code == 2
    assert "no primary user is ever ON; take a log" in anew.err
    (tmp_path / "pu.log").write_text("<1, 0, 0, 1, 0.1>\n<1, 1, 2>\n")
    assert "the activity ends at 2 s" in command("pu", "show", "pu.log", "--window", "5,9").err


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("<1, 0, 0, 1, 0.1>\n<1, 5, 2>\n", 2, "must depart after it arrives"),
        ("<1, 0, 0, 1, 0.1>\n<1, 0, x>\n", 2, 'departure_time is "x"'),
        ("1\n1 0 0 0 0 0.5 0.5 500\n1\n5\n", 4, "the file ends here"),
        ("time,band,busy\n0,1,1\n1,1,7\n", 3, 'busy is "7"'),
        ("", 1, "the file is empty"),
    ],
)
def test_bad_lines_are_named(command: Command, tmp_path: Path, text: str, line: int, reason: str) -> None:
    (tmp_path / "bad.log").write_text(text)
    done = command("pu", "convert", "bad.log", "out.csv", "--to", "csv", "--json")
    assert done.code == 2
    assert done.err.startswith(f"cogtcp: bad.log:{line}: ")
    assert reason in done.err
    assert done.json()["error"]["line"] == line
    assert files(tmp_path) == ["bad.log"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["generate", "x", "--alpha", "0"], "alpha is 0; it must be above zero"),
        (["generate", "x", "--users", "0"], "users is 0"),
        (["generate", "x", "--on", "weibull:1"], "unknown law 'weibull'"),
        (["generate", "x", "--on", "gamma:1"], "the law gamma has 2 parameters"),
        (["generate", "x", "--on", "gamma:1,2", "--alpha", "1"], "takes the place of --alpha"),
        (["generate", "x", "--on", "pareto:1,0.5"], "above 1 (the mean is infinite"),
        (["generate", "x", "--released", "--power", "1"], "--power: not with --released"),
        (["generate", "x", "--format", "map"], "PU 1 reaches by power"),
        (["generate", "x", "--duration", "1e300"], "ON times, and 2e+07 is the most"),
        (
            ["generate", "x", "--duration", "200 q"],
            'write a number in s, as 20, or a number and a unit, as "20 ms"',
        ),
        (["generate", "x", "--on", "exponential"], "write exponential:mean, in s"),
        (["generate", "x", "--area", "axb"], "--area axb: write width and height"),
        (["generate", "x", "--model", "markov"], "--model: only with --trace"),
        (["show", "missing"], "missing: cannot be read: No such file"),
        (["show", "."], ".: cannot be read: Is a directory"),
    ],
)
def test_what_makes_no_sense_is_refused(
    command: Command, tmp_path: Path, arguments: list[str], reason: str
) -> None:
    done = command("pu", *arguments)
    assert (done.code, done.out) == (2, "")
    assert reason in done.err
    # The one line, but for what argparse says of how to call it.
    assert [line for line in done.err.splitlines() if "cogtcp" in line][-1] == done.err.splitlines()[-1]
    assert files(tmp_path) == []


def test_files_are_not_replaced_unasked(command: Command, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine")
    done = command("pu", "generate", "a")
    assert done.code == 1
    assert "exists already" in done.err
    assert (tmp_path / "a").read_text() == "mine"
    assert command("pu", "generate", "a", "--force").code == 0


def test_sensing_follows_theory() -> None:
    # Lee and Akyildiz at W = 1 MHz, P_on = 0.5, -20 dB: both errors are 5 % after 0.109 s.
    at = sensing([0.109], snr_db=-20)[0]
    assert math.isclose(at.false_alarm, 0.05, abs_tol=0.001)
    assert math.isclose(at.detection, 0.95, abs_tol=0.001)
    assert math.isclose(sensing_time(0.95, 0.05, snr_db=-20), 0.109, abs_tol=0.001)
    # Liang et al.: 66,350 samples for P_d 0.9 at P_f 0.1 and -20 dB.
    needed = sensing_time(0.9, 0.1, snr_db=-20, detector="neyman-pearson", sampling_rate=1e6)
    assert math.isclose(needed, 0.06635, abs_tol=1e-5)
    assert sensing_time(0.95, 0.05, detector="as-released") == math.inf
    one, three = sensing([0.05]), sensing([0.05], sensors=3, fusion="majority")
    p = one[0].detection
    assert math.isclose(three[0].detection, 3 * p**2 - 2 * p**3)


def test_sensing_prints_and_plots(command: Command, tmp_path: Path) -> None:
    done = command("sensing", "--snr=-20,-15", "--times", "0.1,0.2", "--detector", "map", "--plot", "p.svg")
    assert (done.code, done.err) == (0, "")
    assert "shortest" in done.out
    ElementTree.fromstring((tmp_path / "p.svg").read_text())  # noqa: S314 (our own file)
    found = command("sensing", "--detector", "as-released", "--snr=-20", "--times", "0.1", "--json").json()
    assert found["sensing"][0]["sensing_time_s"] is None
    assert found["sensing"][0]["points"] == [{"sensing_time_s": 0.1, "detection": 0.9, "false_alarm": 0.0}]


def test_sensing_refuses_nonsense(command: Command) -> None:
    for arguments, reason in [
        (["--times", "0"], "sensing_time is 0"),
        (["--times", "1e-12"], "must be 1e-9 to 1e6 s"),
        (["--times", "5 m"], "--times 5 m: write numbers"),
        (["--bandwidth", "1 dB"], "write a number in Hz"),
        (["--snr", "loud"], "--snr loud: write numbers"),
        (["--p-on", "2"], "p_on: 2 is out of range"),
        (["--target", "0.9"], "write two probabilities"),
    ]:
        done = command("sensing", *arguments)
        assert (done.code, done.out) == (2, "")
        assert reason in done.err


def test_api_refuses_nonsense() -> None:
    with pytest.raises(UsageError, match="unknown detector 'ear'"):
        sensing([0.1], detector="ear")  # type: ignore[arg-type]
    with pytest.raises(ScenarioError, match=r"a\.csv:3: band 1"):
        PuActivity.from_text("time,band,busy\n2,1,1\n1,1,0\n", "csv", file="a.csv")


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [
        ("hysteresis", (0.0, 100.0), (-0.5, 100.5)),
        ("minimum", (0.0, 3600.0), (-0.5, 3600.5)),
        ("threshold", (-300.0, 100.0), (-300.5, 100.5)),
    ],
)
def test_a_bound_of_a_threshold_is_within_its_range(
    name: str, inside: tuple[float, float], outside: tuple[float, float]
) -> None:
    text = "time,band,dbm\n0,1,-90\n1,1,-60\n2,1,-90\n"
    for value in inside:
        PuActivity.from_text(text, "csv", **{"threshold": -70.0, name: value})  # type: ignore[arg-type]
    low, high = inside
    for value in outside:
        with pytest.raises(UsageError, match=rf"{name} is {value:g}; write {low:g} to {high:g}"):
            PuActivity.from_text(text, "csv", **{"threshold": -70.0, name: value})  # type: ignore[arg-type]
