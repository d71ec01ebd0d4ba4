"""Fits: what is recovered of links that the simulator made, and what odd input comes to."""

import itertools
import json
import math
import random
import struct
from pathlib import Path

import pytest

import cogtcp
from cogtcp import Scenario, UsageError, fit
from cogtcp.cli import main
from cogtcp.data.fitting import connections, packets
from cogtcp.data.fitting.capacity import fit_rates
from cogtcp.data.fitting.connections import Connection, Sent
from cogtcp.data.fitting.estimate import Estimate
from cogtcp.data.fitting.laws import fit_laws
from cogtcp.data.fitting.link import fit_link
from cogtcp.data.fitting.losses import fit_losses
from cogtcp.data.fitting.silences import Gap, characterise
from conftest import ROOT

LINK = """\
name = "true"
[run]
duration = "24 s"
seed = {seed}
[tcp]
segment_size = "1448 B"
[topology.single_hop]
link = {{ rate = "{rate}", delay = "{delay}", queue = "{queue} packets", loss = {loss}, reverse_loss = 0 }}
{radio}
[[flow]]
from = "sender"
to = "receiver"
transport = "linux-cubic"
"""
RADIO = """\
[[radio]]
name = "radio"
links = ["link"]
silence = "{silence}"
sensing = {{ off = "{off}", on = {on} }}
"""


def captured(folder: Path, radio: str = "", node: str = "sender", **link: object) -> Path:
    """Write the capture of a simulated transfer."""
    values = {"rate": "6 Mbit/s", "delay": "30 ms", "queue": 60, "loss": 0.0, "seed": 3, **link}
    result = cogtcp.run(Scenario.from_toml(LINK.format(radio=radio, **values)), trace="packets")
    file = folder / "some.pcapng"
    result.write_pcap(file, link="link", node=node)
    return file


@pytest.mark.parametrize("silence", ["hold", "drop"])
def test_what_a_link_is_comes_back(silence: str, tmp_path: Path) -> None:
    file = captured(tmp_path, RADIO.format(silence=silence, off="50 ms", on='"1.7 s"'))
    found = fit(file)
    link = found.link
    assert link is not None
    assert link.delay.value == pytest.approx(0.03, rel=0.02)
    assert link.capacity.value == pytest.approx(6e6, rel=0.05)
    assert link.queue.value == pytest.approx(60, rel=0.1)
    assert link.silences is not None
    assert link.silences.mode == silence
    assert link.silences.period == pytest.approx(1.75, rel=0.005)
    assert link.silences.length == pytest.approx(0.05, rel=0.1)
    assert found.scenario.to_dict()["radio"][0]["silence"] == silence
    assert cogtcp.run(found.scenario, trace="summary").metrics["goodput_bps"] > 1e6
    assert found.held is not None
    goodput = next(each for each in found.held.compared if each.name == "goodput")
    assert goodput.simulated == pytest.approx(goodput.measured, rel=0.15), "on what no estimate has seen"
    assert found.doubt == "", found.held.compared


def test_silences_at_random_have_a_law_and_no_timetable(tmp_path: Path) -> None:
    radio = RADIO.format(silence="hold", off="80 ms", on='{ exponential = "600 ms" }')
    found = fit(captured(tmp_path, radio), held_out=0)
    assert found.link is not None
    silences = found.link.silences
    assert silences is not None
    assert math.isnan(silences.period)
    assert silences.fixed
    assert silences.length == pytest.approx(0.08, rel=0.05)
    sensing = found.scenario.to_dict()["radio"][0]["sensing"]
    assert "exponential" in sensing["on"]


def test_a_clear_link_has_no_silence_and_losses_are_counted(tmp_path: Path) -> None:
    found = fit(captured(tmp_path, loss=0.002), held_out=0)
    assert found.link is not None
    assert found.link.silences is None
    assert "radio" not in found.scenario.to_dict()
    assert found.link.loss.low < 0.002 < found.link.loss.high
    assert {estimate.name for estimate in found.unknown} >= {"silence"}
    assert "no silence was seen" in found.text


def test_losses_in_runs_are_told_from_single_ones(tmp_path: Path) -> None:
    single = fit(captured(tmp_path, loss=0.003), held_out=0)
    assert single.link is not None
    assert single.link.loss_law is None or single.link.loss_law.name == "bernoulli"
    assert "loss_run" not in single.toml
    # Some 15 runs a seed, geometric with mean 5 (deviation 4.5): the mean of six seeds is off by 0.5.
    lengths = []
    for seed in range(1, 7):
        runs = fit(captured(tmp_path, loss="0.01, loss_run = 5", seed=seed), held_out=0)
        assert runs.link is not None
        assert runs.link.loss_law is not None
        assert runs.link.loss_law.name == "gilbert-elliott"
        assert runs.link.run.low < runs.link.run.value < runs.link.run.high
        lengths.append(runs.link.run.value)
    assert sum(lengths) / len(lengths) == pytest.approx(5, abs=1.2)
    assert runs.link is not None
    link = runs.scenario.to_dict()["topology"]["single_hop"]["link"]
    assert link["loss_run"] == pytest.approx(runs.link.run.value, rel=0.001)
    assert cogtcp.run(runs.scenario.set("run.duration", "5 s"), trace="summary").metrics["goodput_bps"] > 0


def test_the_law_of_losses_is_that_of_the_chain() -> None:
    # Two stretches, by hand: after an arrival 5 losses in 25 steps, after a loss 5 arrivals in 15.
    stretch = [False] * 5 + ([True] * 3 + [False] * 5) * 5
    found = fit_losses([stretch[:20], stretch[20:]])
    assert found is not None
    whole = fit_losses([stretch])
    assert whole is not None
    assert (whole.into, whole.back) == (pytest.approx(5 / 29), pytest.approx(5 / 15))
    # AIC by the definition: 2 k - 2 log likelihood, one parameter against two, over the same 44 steps.
    single = 15 * math.log(15 / 44) + 29 * math.log(29 / 44)
    chain = 5 * math.log(5 / 29) + 24 * math.log(24 / 29) + 5 * math.log(5 / 15) + 10 * math.log(10 / 15)
    assert whole.gain == pytest.approx((2 - 2 * single) - (4 - 2 * chain))
    assert whole.name == "gilbert-elliott"
    assert fit_losses([[False] * 100 + [True]]) is None


def test_a_capacity_over_time_has_a_law() -> None:
    chance = random.Random(4)

    def rate(level: float) -> float:
        return level * math.exp(chance.gauss(0, 0.02))

    assert fit_rates([rate(6e6) for _ in range(30)])[0].name == "constant"
    steps = fit_rates([rate(6e6 if n < 13 else 3e6) for n in range(30)])[0]
    assert steps.name == "steps"
    assert steps.starts == (0, 13)
    state, states = 0, []
    for _ in range(80):
        state = 1 - state if chance.random() < 0.3 else state
        states.append(state)
    markov = fit_rates([rate((3e6, 6e6)[each]) for each in states])[0]
    assert markov.name == "markov"
    assert markov.levels == (pytest.approx(3e6, rel=0.02), pytest.approx(6e6, rel=0.02))
    moved = sum(a != b for a, b in itertools.pairwise(states)) / 79
    assert 0.5 * (markov.moves[0][1] + markov.moves[1][0]) == pytest.approx(moved, rel=0.35)
    assert fit_rates([rate(6e6 * math.exp(chance.gauss(0, 0.5))) for _ in range(30)])[0].name == "trace"


def test_a_capacity_in_steps_is_replayed(tmp_path: Path) -> None:
    (tmp_path / "true.csv").write_text("time_s,rate_bps\n0,8000000\n11,4000000\n24,0\n")
    text = LINK.format(rate="8 Mbit/s", delay="20 ms", queue=60, loss=0.0, radio="", seed=3)
    text = text.replace('delay = "20 ms"', f'delay = "20 ms", trace = "{tmp_path / "true.csv"}"')
    result = cogtcp.run(Scenario.from_toml(text), trace="packets")
    file = tmp_path / "steps.pcapng"
    result.write_pcap(file, link="link", node="sender")
    found = fit(file, held_out=0)
    assert found.link is not None
    assert found.link.rate_law is not None
    assert found.link.rate_law.name == "steps"
    assert found.link.rate_law.levels == (pytest.approx(8e6, rel=0.05), pytest.approx(4e6, rel=0.05))
    files = found.write(tmp_path / "mine.toml")
    assert files[-1].name == "mine.rates.csv"
    again = Scenario.from_file(tmp_path / "mine.toml").set("run.duration", "24 s")
    assert cogtcp.run(again, trace="summary").metrics["goodput_bps"] == pytest.approx(
        result.metrics["goodput_bps"], rel=0.1
    )


def test_pings_late_in_a_capture_show_the_same_silences() -> None:
    # Ten pings a second; the link is silent for a second of every five. Other packets began the capture.
    found = []
    for start in (0.0, 600.0):
        sent = [Sent(start + n / 10, 0, 0, 84) for n in range(300)]
        for ping in sent:
            if (ping.time - start) % 5 < 4:
                ping.answered, ping.fresh = ping.time + 0.02, True
        answers = [ping.answered for ping in sent if not ping.lost]
        silences = fit_link([Connection("sender", sent, answers, ack_bytes=84, mss=0, probes=True)]).silences
        assert silences is not None
        assert silences.mode == "drop"
        found.append(silences.period)
    assert found == pytest.approx([5, 5], abs=0.05)


def test_silences_show_that_probes_alone_do_not() -> None:
    """A queue of 0.3 s in front of a gate that holds: packets that nobody probed tell of its silences.

    A packet leaves every 10 ms, a probe is sent every 20 ms and waits in the queue too; the round trip
    without a queue takes 20 ms, each second packet is acknowledged.
    """
    chance = random.Random(8)
    starts, time = [], 1.0
    while time < 28:
        starts.append(time)
        time += 0.4 + chance.expovariate(1)
    sending = sorted(
        [(0.01 * n, 1500) for n in range(2700)] + [(0.02 * n + 0.003, 84) for n in range(1350)],
    )
    at, data, pings, waiting = 0.3, [], [], []
    for sent, size in sending:
        at = max(at, sent) + size * 8 / 1.3e6
        for start in starts:
            if start <= at < start + 0.15:
                at = start + 0.15 + size * 8 / 1.3e6
        if size == 84:
            pings.append(Sent(sent, 0, 0, size, False, None, at + 0.02, True))
            continue
        packet = Sent(sent, len(data) * 1448, (len(data) + 1) * 1448, size)
        data.append(packet)
        waiting.append(packet)
        if len(waiting) == 2:
            for each in waiting:
                each.answered = at + 0.02
            packet.fresh, waiting = True, []
    answers = sorted({sent.answered for sent in data if not sent.lost})
    tcp = Connection("sender", data, answers, handshake_s=0.02, same_clock=True)
    probes = Connection(
        "sender", pings, [p.answered for p in pings], ack_bytes=84, mss=0, probes=True, same_clock=True
    )
    found = fit_link([tcp, probes]).silences
    assert found is not None
    assert found.mode == "hold"
    within = [start for start in starts if start < sending[-1][0]]
    seen = [s for s in within if any(abs(gap.start - s) < 0.03 for gap in found.gaps)]
    assert len(seen) == len(within)


def test_a_silence_that_only_probes_met_is_one() -> None:
    full = [Gap(t, t + 0.1, False, t + 0.01, t + 0.09, 30, 5) for t in (1.0, 2.7, 3.1, 6.2, 7.9)]
    # The sender still waits for its timer: only probes were sent. And chance lost two packets elsewhere.
    quiet, chance = Gap(3.4, 3.5, False, 3.41, 3.49, 4, 4), Gap(5.0, 5.04, False, 5.01, 5.02, 2, 0)
    found = characterise(sorted([*full, quiet, chance], key=lambda gap: gap.start), 0.002)
    assert found is not None
    assert math.isnan(found.period)
    assert quiet in found.gaps
    assert chance not in found.gaps
    # A full queue loses the probes of a silence that holds: its length shows what it is.
    held = [Gap(t, t + 0.1, True) for t in (1.0, 2.7, 3.1, 6.2, 7.9)]
    odd, rest = Gap(4.5, 4.6, False, 4.51, 4.59, 12, 9), Gap(8.0, 8.03, True)
    found = characterise(sorted([*held, odd, rest], key=lambda gap: gap.start), 0.002)
    assert found is not None
    assert found.mode == "hold"
    assert odd in found.gaps
    assert rest not in found.gaps
    assert found.length == pytest.approx(0.1, abs=0.002)


def test_a_receiver_tells_less_and_says_so(tmp_path: Path) -> None:
    file = captured(tmp_path, RADIO.format(silence="hold", off="90 ms", on='"1.5 s"'), node="receiver")
    found = fit(file)
    assert found.link is not None
    assert found.link.capacity.value == pytest.approx(6e6, rel=0.05)
    assert found.link.delay.value == pytest.approx(0.03, rel=0.03)
    assert found.link.silences is not None
    assert found.link.silences.mode == "hold"
    assert found.link.silences.period == pytest.approx(1.59, rel=0.01)
    assert {"queue", "loss"} <= {estimate.name for estimate in found.unknown}


def test_ranges_are_read_by_advise(tmp_path: Path) -> None:
    found = fit(captured(tmp_path, RADIO.format(silence="drop", off="60 ms", on='"1.7 s"')), held_out=0)
    files = found.write(tmp_path / "mine.toml")
    assert [file.name for file in files] == ["mine.toml", "mine.ranges.toml", "mine.html"]
    from cogtcp.deciding.advising import inputs

    assert inputs.beside(tmp_path / "mine.toml") == found.ranges
    assert found.ranges
    advice = cogtcp.advise(
        found.scenario.set("run.duration", "5 s"),
        transports=["sack", "linux-cubic"],
        uncertain=found.ranges,
        budget="30 runs",
    )
    assert advice.winner is not None


# What is odd in a capture.


def rewritten(file: Path, change: str) -> bytes:
    """Return a capture of the simulator as pcap with something done to its packets."""
    frames = list(packets.frames(file))
    link = frames[0][1]
    out = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 96, 1 if change == "ethernet" else link)]
    for number, (time, _, data, length) in enumerate(frames):
        if change == "jump" and number > len(frames) // 2:
            time -= 3_000_000_000
        if change == "one way" and data[9] == 6 and data[12:16] != frames[0][2][12:16]:
            continue
        if change == "ethernet":
            data, length = bytes(12) + b"\x08\x00" + data, length + 14
        seconds, rest = divmod(time, 1_000_000_000)
        data = data[:96]
        out.append(struct.pack("<IIII", seconds, rest // 1000, len(data), length) + data)
    return b"".join(out)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return captured(tmp_path_factory.mktemp("plain"))


def test_other_formats_say_the_same(plain: Path, tmp_path: Path) -> None:
    first = fit(plain, held_out=0).link
    for change in ("pcap", "ethernet"):
        file = tmp_path / f"{change}.pcap"
        file.write_bytes(rewritten(plain, change))
        other = fit(file, held_out=0).link
        assert first is not None
        assert other is not None
        assert other.delay.value == pytest.approx(first.delay.value, abs=2e-6)
        assert other.capacity.value == pytest.approx(first.capacity.value, rel=1e-3)


def test_a_truncated_capture_is_read_up_to_there(plain: Path, tmp_path: Path) -> None:
    for name, content in (("a.pcapng", plain.read_bytes()), ("b.pcap", rewritten(plain, "pcap"))):
        file = tmp_path / name
        file.write_bytes(content[: len(content) * 2 // 3])
        found = fit(file, held_out=0)
        assert any("cut off" in note for note in found.notes)
        assert found.link is not None
        assert found.link.delay.value == pytest.approx(0.03, rel=0.02)


def test_a_clock_that_jumps_is_told_and_mended(plain: Path, tmp_path: Path) -> None:
    file = tmp_path / "jump.pcap"
    file.write_bytes(rewritten(plain, "jump"))
    found = fit(file, held_out=0)
    assert any("clock of the capture steps once" in note for note in found.notes)
    assert found.link is not None
    assert found.link.capacity.value == pytest.approx(6e6, rel=0.05)


def test_a_clock_that_jumps_moves_pings_and_packets_alike(tmp_path: Path) -> None:
    # In turn a segment and a ping, one a millisecond; half-way the clock is set back by an hour.
    out = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)]
    for n in range(200):
        protocol, rest = (6, bytes(12) + b"\x50" + bytes(7)) if n % 2 == 0 else (1, b"\x08" + bytes(19))
        data = struct.pack(">BBHIBBHII", 0x45, 0, 40, 0, 64, protocol, 0, 0x0A000001, 0x0A000002) + rest
        seconds, micros = 5000 - (3600 if n >= 100 else 0), 1000 * n
        out.append(struct.pack("<IIII", seconds, micros, len(data), len(data)) + data)
    file = tmp_path / "jump.pcap"
    file.write_bytes(b"".join(out))
    found = packets.read(file)
    times = [each.time for pair in zip(found.packets, found.echoes, strict=True) for each in pair]
    assert times == sorted(times)
    assert times[-1] < 0.2


def test_one_direction_leaves_the_delay_unknown(plain: Path, tmp_path: Path) -> None:
    file = tmp_path / "one.pcap"
    file.write_bytes(rewritten(plain, "one way"))
    found = fit(file)
    assert any("only one direction" in note for note in found.notes)
    assert "delay" in {estimate.name for estimate in found.unknown}
    assert "the scenario has 25 ms" in found.text


def made(
    time: float, seq: int, payload: int, *, back: bool = False, ack: int = 0, six: bool = False
) -> bytes:
    """Return a pcap record of a TCP packet over IPv4 or IPv6, captured by its headers."""
    ports = (5201, 40000) if back else (40000, 5201)
    tcp = struct.pack(">HHIIBBHHH", *ports, seq, ack, 5 << 4, 0x10, 1000, 0, 0)
    if six:
        ends = (bytes(15) + b"\x01", bytes(15) + b"\x02")
        head = struct.pack(">IHBB", 6 << 28, 20 + payload, 6, 64) + b"".join(ends[::-1] if back else ends)
    else:
        ends = (b"\x0a\x00\x00\x01", b"\x0a\x00\x00\x02")
        head = struct.pack(">BBHHHBBH", 0x45, 0, 40 + payload, 0, 0, 64, 6, 0) + b"".join(
            ends[::-1] if back else ends
        )
    data = head + tcp
    micro = round(time * 1e6)
    return struct.pack("<IIII", micro // 1_000_000, micro % 1_000_000, len(data), len(data) + payload) + data


HEAD = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 96, 101)


@pytest.mark.parametrize("six", [False, True])
def test_merged_segments_count_as_many_over_ipv4_and_ipv6(six: bool, tmp_path: Path) -> None:
    # 10 Mbit/s, 20 ms each way; the sender's card was given ten segments at a time.
    records, size = [], 14480
    for number in range(100):
        sent = number * (size + 400) * 8 / 10e6
        records.append((sent, made(sent, number * size, size, six=six)))
        # The answer to the last of the ten, as they go one by one over the link.
        records.append(
            (sent + 0.04 + 0.0119, made(sent + 0.0519, 0, 0, back=True, ack=(number + 1) * size, six=six))
        )
    for number in range(100, 140):  # some that were not merged show the size of a segment
        sent = 1.5 + number * 0.0012
        seq = 100 * size + (number - 100) * 1448
        records.append((sent, made(sent, seq, 1448, six=six)))
    end = 100 * size + 40 * 1448
    records.append((1.8, made(1.8, 0, 0, back=True, ack=end, six=six)))
    file = tmp_path / "merged.pcap"
    file.write_bytes(HEAD + b"".join(data for _, data in sorted(records)))
    (found, *_) = connections.connections(packets.read(file).packets)
    assert any("merged by the host" in note for note in found.notes)
    assert found.mss == 1448
    assert found.packets == 100 * 10 + 40
    link = fit_link([found])
    # Each burst has left the link before the next one comes: the sender sets the pace, and nothing waits.
    bound = link.capacity.bound
    assert bound is not None
    assert bound.at_least == pytest.approx(10e6, rel=0.25)
    assert bound.at_least < 10e6


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("empty.pcap", b"", "is empty"),
        ("short.pcap", b"\xd4\xc3\xb2\xa1\x02", "no TCP, but"),
        ("none.pcap", HEAD, "no TCP, but no packets"),
        ("noise", bytes(range(256)) * 3, "neither a capture nor a text"),
        ("some.json", b"{", "is not JSON"),
        ("some.json", b"{}", "is not JSON of iperf3, irtt or SigMF"),
        ("a.sigmf-meta", b'{"global": {}, "annotations": []}', "has no times"),
        (
            "b.sigmf-meta",
            b'{"global": {"core:sample_rate": 5}, "annotations": []}',
            "annotate the busy times",
        ),
        ("c.sigmf-meta", b'{"global": {"core:sample_rate": 5}, "annotations": [{}]}', "annotation 1"),
        ("failed.json", b'{"intervals": [], "end": {}, "error": "refused"}', "iperf3 failed: refused"),
        ("ping.txt", b"PING 10.0.0.2 56(84) bytes of data.\n", "no line of the ping log is a reply"),
        ("few.pcap", HEAD + made(0, 0, 100), "a longer transfer"),
        ("spans.csv", b"on_s,off_s\n1,x\n", "spans.csv:2"),
        ("x.toml", b'name = "x"\n', "x.toml: unknown kind of file; give pcap"),
        ("late.trace", b"1\nx\n", "is not a time"),
    ],
)
def test_bad_input_has_one_clear_message(
    name: str, content: bytes, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    assert main(["fit", str(file), "--out", str(tmp_path / "out.toml")]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert "Traceback" not in error
    assert not (tmp_path / "out.toml").exists()


def test_no_tcp_is_said_with_what_there_is(tmp_path: Path) -> None:
    udp = bytearray(made(0, 0, 10))
    udp[16 + 9] = 17
    file = tmp_path / "udp.pcap"
    file.write_bytes(HEAD + bytes(udp) * 3)
    with pytest.raises(UsageError, match="no TCP, but 3 of UDP"):
        fit(file)


# Logs, traces and occupancy.


def test_a_ping_log_tells_delay_and_silences(tmp_path: Path) -> None:
    lines = ["PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data."]
    for number in range(2000):
        sent = 1000 + number * 0.01
        if sent % 1.5 < 0.12:
            continue  # lost in a silence
        rtt = 0.05 + 0.001 * random.Random(number).random()
        lines.append(
            f"[{sent + rtt:.6f}] 64 bytes from 10.0.0.2: icmp_seq={number + 1} ttl=64 "
            f"time={rtt * 1000:.3f} ms"
        )
    file = tmp_path / "rtt.log"
    file.write_text("\n".join(lines))
    found = fit(file)
    by_name = {estimate.name: estimate for estimate in found.estimates}
    assert by_name["delay"].value == pytest.approx(0.025, rel=0.02)
    assert by_name["period"].value == pytest.approx(1.5, rel=0.01)
    (radio,) = found.scenario.to_dict()["radio"]
    assert radio["silence"] == "drop"
    assert "capacity" in {estimate.name for estimate in found.unknown}


def test_irtt_and_iperf3(tmp_path: Path) -> None:
    trips = [
        {
            "lost": "false",
            "timestamps": {"client": {"send": {"wall": 1_700_000_000_000_000_000 + n * 20_000_000}}},
            "delay": {"rtt": 40_000_000 + n % 7 * 1000},
        }
        for n in range(300)
    ]
    file = tmp_path / "irtt.json"
    file.write_text(json.dumps({"config": {"length": 60}, "round_trips": trips}))
    log = tmp_path / "iperf.json"
    sums = [{"sum": {"start": n, "end": n + 1, "bits_per_second": 9.5e6 + 1e4 * (n % 3)}} for n in range(10)]
    end = {"streams": [{"sender": {"min_rtt": 41000}}], "sum_received": {"bits_per_second": 9.4e6}}
    log.write_text(json.dumps({"intervals": sums, "end": end}))
    both = fit([file, log])
    by_name = {estimate.name: estimate for estimate in both.estimates}
    assert by_name["delay"].value == pytest.approx(0.02, rel=0.02)
    # What arrived, with headers; one sampled round-trip time shows no queue.
    bound = by_name["capacity"].bound
    assert bound is not None
    assert bound.at_least == pytest.approx(9.4e6 * 1500 / 1448)
    alone = fit(log)
    assert alone.scenario.to_dict()["topology"]["single_hop"]["link"]["delay"] == "20.5 ms"


def test_a_trace_is_replayed(tmp_path: Path) -> None:
    file = tmp_path / "down.trace"
    file.write_text("\n".join(str(n) for n in range(1, 1000)))
    found = fit(file)
    assert found.capacity == pytest.approx(12e6, rel=0.01)
    assert found.scenario.to_dict()["topology"]["single_hop"]["link"]["trace"] == str(file)
    assert cogtcp.run(found.scenario.set("run.duration", "3 s"), trace="summary").metrics["goodput_bps"] > 5e6


def test_occupancy_becomes_primary_users(tmp_path: Path) -> None:
    chance = random.Random(1)
    time, rows = 0.0, ["time,band,busy"]
    for _ in range(300):
        rows.append(f"{time:.6f},1,1")
        time += chance.gammavariate(4, 0.25)
        rows.append(f"{time:.6f},1,0")
        time += chance.expovariate(0.5)
    file = tmp_path / "band.csv"
    file.write_text("\n".join(rows) + "\n")
    found = fit(file)
    (channel,) = found.channels
    assert channel.on_laws[0].name == "gamma"
    assert channel.on_laws[0].mean == pytest.approx(1, rel=0.1)
    assert {law.name for law in channel.off_laws[:2]} & {"exponential"}
    laws = found.scenario.to_dict()["spectrum"]["pu"]["laws"]
    assert "gamma" in laws["on"]
    spans = tmp_path / "spans.csv"
    spans.write_text(
        "on_s,off_s\n" + "".join(f"{chance.expovariate(2)},{chance.expovariate(1)}\n" for _ in range(99))
    )
    both = fit(spans)
    pu = both.scenario.to_dict()["spectrum"]["pu"]
    assert "laws" in pu or "exponential" in pu
    (channel,) = both.channels
    if {channel.on_laws[0].name, channel.off_laws[0].name} == {"exponential"}:
        assert f"alpha {1 / channel.on_laws[0].mean:.4g} /s" in both.text
        assert channel.rates in both.toml
    else:
        assert channel.rates == ""


def test_annotations_of_sigmf_become_occupancy(tmp_path: Path) -> None:
    # Two bands with exponential times; bursts of the first are annotated with edges that differ a little, and
    # one of them in two halves.
    chance = random.Random(2)
    notes: list[dict[str, object]] = []
    for low, mean_on, mean_off in ((3.55e9, 0.2, 0.6), (3.57e9, 0.5, 0.5)):
        time = 0.1
        for number in range(200):
            length = chance.expovariate(1 / mean_on)
            parts = [(time, length)] if number else [(time, length / 2), (time + length / 2, length / 2)]
            for start, lasts in parts:
                note: dict[str, object] = {
                    "core:sample_start": round(start * 1e6),
                    "core:sample_count": max(1, round(lasts * 1e6)),
                    "core:freq_lower_edge": low + chance.uniform(0, 1e5),
                    "core:freq_upper_edge": low + 1e7,
                }
                notes.append(note)
            time += length + chance.expovariate(1 / mean_off)
    notes.sort(key=lambda note: str(note["core:sample_start"]))  # in no order of time
    notes.append({"core:sample_start": 5, "core:label": "a moment, without a length"})
    meta = {
        "global": {"core:datatype": "ci16_le", "core:sample_rate": 1e6, "core:version": "1.2.0"},
        "captures": [{"core:sample_start": 0, "core:frequency": 3.56e9}],
        "annotations": notes,
    }
    file = tmp_path / "cbrs.sigmf-meta"
    file.write_text(json.dumps(meta))
    found = fit(file)
    assert [channel.band for channel in found.channels] == [1, 2]
    first, second = found.channels
    assert len(first.on) == pytest.approx(200, abs=2)
    assert sum(first.on) / len(first.on) == pytest.approx(0.2, rel=0.2)
    assert sum(second.off) / len(second.off) == pytest.approx(0.5, rel=0.2)
    assert any("channel 1 is 3550" in note for note in found.notes)
    # The occupancy lies beside the scenario, which reads it there.
    (tmp_path / "out").mkdir()
    files = found.write(tmp_path / "out" / "mine.toml")
    assert [each.name for each in files][-1] == "mine.occupancy.csv"
    again = Scenario.from_file(tmp_path / "out" / "mine.toml")
    assert cogtcp.run(again.set("run.duration", "5 s"), trace="summary").metrics["goodput_bps"] > 0


@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("exponential", lambda chance: chance.expovariate(0.5)),
        ("gamma", lambda chance: chance.gammavariate(4, 0.5)),
        ("weibull", lambda chance: chance.weibullvariate(2, 2.5)),
        ("log-normal", lambda chance: chance.lognormvariate(0, 0.8)),
        ("hyper-exponential", lambda chance: chance.expovariate(5 if chance.random() < 0.6 else 0.3)),
    ],
)
def test_each_law_is_found_where_it_is_true(name: str, draw) -> None:  # type: ignore[no-untyped-def]
    chance = random.Random(3)
    spans = [draw(chance) for _ in range(500)]
    found = fit_laws(spans)
    best = found[0].aic
    # A law that has another as a special case is at most two worse by one more parameter.
    assert name in {law.name for law in found if law.aic <= best + 2}
    assert found[0].mean == pytest.approx(sum(spans) / 500, rel=0.1)
    assert [law.aic for law in found] == sorted(law.aic for law in found)


def test_likelihoods_are_those_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    spans = [random.Random(n).gammavariate(2, 0.7) for n in range(200)]
    by_name = {law.name: law for law in fit_laws(spans)}
    gamma, weibull, normal = by_name["gamma"], by_name["weibull"], by_name["log-normal"]
    expected = {
        "gamma": stats.gamma.logpdf(spans, gamma.parameters["shape"], scale=gamma.parameters["scale"]).sum(),
        "weibull": stats.weibull_min.logpdf(
            spans, weibull.parameters["shape"], scale=weibull.parameters["scale"]
        ).sum(),
        "log-normal": stats.lognorm.logpdf(
            spans, normal.parameters["sigma"], scale=normal.parameters["median"]
        ).sum(),
        "exponential": stats.expon.logpdf(spans, scale=sum(spans) / 200).sum(),
    }
    for name, value in expected.items():
        assert by_name[name].likelihood == pytest.approx(value, rel=1e-6)
    shape, _, scale = stats.gamma.fit(spans, floc=0)
    assert gamma.parameters["shape"] == pytest.approx(shape, rel=1e-3)
    assert gamma.parameters["scale"] == pytest.approx(scale, rel=1e-3)


def test_gaps_off_the_timetable_are_no_silences() -> None:
    gaps = [Gap(n * 2.0, n * 2.0 + 0.1, True) for n in range(10)]
    stray = [Gap(3.3, 3.55, False, 3.31, 3.32, 2), Gap(11.9, 12.4 - 0.05, False, 11.9, 11.9, 2)]
    found = characterise(sorted([*gaps, *stray], key=lambda gap: gap.start), 0.001)
    assert found is not None
    assert found.period == pytest.approx(2.0, abs=1e-6)
    assert found.mode == "hold"
    assert found.length == pytest.approx(0.1)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = captured(tmp_path, RADIO.format(silence="hold", off="70 ms", on='"1.2 s"'))
    out = tmp_path / "link.toml"
    assert main(["fit", str(file), "--out", str(out), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["estimates"]["period"]["value"] == pytest.approx(1.27, rel=0.01)
    assert "# period:" in out.read_text()
    page = (tmp_path / "link.html").read_text()
    assert "Measured beside simulated" in page
    assert main(["check", str(out)]) == 0
    capsys.readouterr()
    assert main(["fit", str(file), "--out", str(out)]) == 1, "it exists"
    assert main(["fit", str(file), "--out", str(out), "--force"]) == 0
    assert "next: cogtcp advise" in capsys.readouterr().out
    assert main(["fit", str(tmp_path / "nothing"), "--out", str(tmp_path / "x.toml")]) == 2


@pytest.mark.parametrize("name", ["cbrs-like", "lte-like"])
def test_shipped_captures(name: str) -> None:
    folder = ROOT / "examples" / "captures"
    file = folder / f"{name}.pcap"
    assert file.stat().st_size < 1_000_000
    true = Scenario.from_file(folder / f"{name}.toml").to_dict()
    link, radio = true["topology"]["single_hop"]["link"], true["radio"][0]
    found = fit(file, held_out=0).link
    assert found is not None
    assert found.silences is not None
    assert found.silences.mode == radio["silence"]
    assert found.delay.value == pytest.approx(float(link["delay"].split()[0]) / 1000, rel=0.02)
    assert found.silences.length == pytest.approx(float(radio["sensing"]["off"].split()[0]) / 1000, rel=0.05)
    if name == "lte-like":
        assert len(found.rates) >= 8, "the rate is another one after each silence"
        assert (
            1.9e6 < min(rate for _, _, rate in found.rates) < max(rate for _, _, rate in found.rates) < 4.1e6
        )
    else:
        assert found.capacity.value == pytest.approx(2.4e6, rel=0.02)


def test_an_interval_stands_behind_the_unit_and_begins_at_zero_for_a_share_of_zero() -> None:
    said = Estimate("loss", 0.0, 1.084e-19, 0.001291, "share", "0 of 2972 packets lost").describe()
    assert said == "0 % (0 to 0.1291)"
    assert Estimate("delay", 0.018, 0.0178, 0.0185, "s", "").describe() == "18 ms (17.8 to 18.5)"
