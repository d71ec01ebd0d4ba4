"""Fits of logs: what ping, fping, irtt and iperf3 say, in the formats in which they say it.

`data/cases` has logs whose truth is by construction; `data/logs` what the programs wrote on the kernel plane
over 10 Mbit/s with 18 ms each way, ping and irtt with silences of 1.5 s every 5 s that drop.
"""

from __future__ import annotations

import json
import math
import random
import re
from typing import TYPE_CHECKING

import pytest

import cogtcp
from cogtcp import UsageError, fit
from cogtcp.data.fitting import iperf3, irtt, logs, pings, probing, throughput
from cogtcp.data.fitting.iperf3 import Transfer
from cogtcp.data.fitting.probes import Counts, Probe, Probes
from cogtcp.data.fitting.probing import ProbeFit, of_probes
from cogtcp.data.fitting.quantity import Bounded, Measured, Unknown, describe
from cogtcp.model.statistics import share_interval
from conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

CASES = ROOT / "tests" / "data" / "cases"
REAL = ROOT / "tests" / "data" / "logs"


def pinged(name: str, text: str) -> Probes:
    found = pings.read(text, name)
    assert isinstance(found, Probes)
    return found


def of_file(file: Path) -> tuple[Probes, ProbeFit]:
    found = pinged(file.name, file.read_text())
    return found, of_probes(found)


def transferred(file: Path) -> Transfer:
    return iperf3.read(json.loads(file.read_text()), file.name)


# ping: the summary counts, and a run of lost requests is one outage.


def test_requests_after_the_last_reply_are_lost() -> None:
    log, said = of_file(CASES / "ping-outage-at-the-end.log")
    assert (len(log.requests), log.lost) == (60, 20)
    # Requests 41 to 60 every 0.2 s: silent from the first to the last, and nobody knows how much longer.
    assert isinstance(said.silence, Bounded)
    assert said.silence.at_least == pytest.approx(3.8, abs=0.01)
    assert said.silence.at_most is None
    assert isinstance(said.loss, Measured)
    assert said.loss.value == 0
    found = fit(CASES / "ping-outage-at-the-end.log")
    assert found.sources[0][1] == "60 requests, 20 without a reply"
    (radio,) = found.scenario.to_dict()["radio"]
    assert radio["silence"] == "drop"
    assert found.ranges["radio.0.sensing.off"].startswith("3799")


def test_one_outage_is_one_silence_and_no_loss() -> None:
    _, said = of_file(CASES / "ping-one-outage.log")
    assert isinstance(said.silence, Measured)
    # Between requests 20 and 41 lie 4.2 s, between 21 and 40 3.8 s.
    assert said.silence.low == pytest.approx(3.8, abs=0.01)
    assert said.silence.high == pytest.approx(4.2, abs=0.01)
    assert isinstance(said.loss, Measured)
    assert 0 <= said.loss.low <= said.loss.value == 0 < said.loss.high < 0.1
    # One event in 8 s: Garwood's interval of a count of one is 0.0253 to 5.572.
    assert isinstance(said.open, Measured)
    assert said.open.low == pytest.approx(8 / 5.572, rel=0.01)
    assert said.open.high == pytest.approx(8 / 0.0253, rel=0.01)
    found = fit(CASES / "ping-one-outage.log")
    assert found.scenario.to_dict()["radio"][0]["sensing"]["off"].startswith("4")
    assert cogtcp.run(found.scenario.set("run.duration", "5 s"), trace="summary").metrics["goodput_bps"] > 0


def test_ping_through_ts_has_its_round_trips() -> None:
    log, said = of_file(CASES / "ping-through-ts.log")
    assert (len(log.requests), log.lost, log.timing) == (60, 0, "stamped")
    assert log.interval == pytest.approx(0.2, rel=0.001)
    assert isinstance(said.delay, Measured)
    assert said.delay.value == pytest.approx(0.02, rel=0.01)
    assert isinstance(said.silence, Bounded)
    assert said.silence.at_most == pytest.approx(0.2, rel=0.001)


#: Logs of four requests, of which the third was lost, 40 ms; as the programs write them.
UNIX = {
    "iputils": "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n"
    "64 bytes from 192.0.2.1: icmp_seq=1 ttl=54 time=40.1 ms\n"
    "64 bytes from 192.0.2.1: icmp_seq=2 ttl=54 time=40.2 ms\n"
    "64 bytes from 192.0.2.1: icmp_seq=4 ttl=54 time=40.4 ms\n\n"
    "--- 192.0.2.1 ping statistics ---\n4 packets transmitted, 3 received, 25% packet loss, time 603ms\n"
    "rtt min/avg/max/mdev = 40.100/40.233/40.400/0.124 ms\n",
    "iputils with names, -O, an error, a reply twice": "PING a.test (192.0.2.1) 56(84) bytes of data.\n"
    "64 bytes from a.test (192.0.2.1): icmp_seq=1 ttl=54 time=40.1 ms\n"
    "64 bytes from a.test (192.0.2.1): icmp_seq=1 ttl=54 time=44.1 ms (DUP!)\n"
    "64 bytes from a.test (192.0.2.1): icmp_seq=2 ttl=54 time=40.2 ms\n"
    "no answer yet for icmp_seq=3\n"
    "From 192.0.2.9 icmp_seq=3 Destination Host Unreachable\n"
    "64 bytes from a.test (192.0.2.1): icmp_seq=4 ttl=54 time=40.4 ms\n\n"
    "--- a.test ping statistics ---\n"
    "4 packets transmitted, 3 received, +1 duplicates, +1 errors, 25% packet loss, time 603ms\n",
    "iputils in German": "PING 192.0.2.1 (192.0.2.1) 56(84) Bytes an Daten.\n"
    "64 Bytes von 192.0.2.1: icmp_seq=1 ttl=54 Zeit=40.1 ms\n"
    "64 Bytes von 192.0.2.1: icmp_seq=2 ttl=54 Zeit=40.2 ms\n"
    "noch keine Antwort für icmp_seq=3\n"
    "64 Bytes von 192.0.2.1: icmp_seq=4 ttl=54 Zeit=40.4 ms\n\n"
    "--- 192.0.2.1 ping-Statistiken ---\n4 Pakete übertragen, 3 empfangen, 25% Paketverlust, Zeit 603 ms\n",
    "iputils in French": "PING 192.0.2.1 (192.0.2.1) 56(84) octets de données.\n"
    "64 octets de 192.0.2.1 : icmp_seq=1 ttl=54 temps=40.1 ms\n"
    "64 octets de 192.0.2.1 : icmp_seq=2 ttl=54 temps=40.2 ms\n"
    "64 octets de 192.0.2.1 : icmp_seq=4 ttl=54 temps=40.4 ms\n\n"
    "--- statistiques ping 192.0.2.1 ---\n4 paquets transmis, 3 reçus, 25 % paquets perdus, temps 603 ms\n"
    "rtt min/moy/max/mdev = 40,100/40,233/40,400/0,124 ms\n",
    "iputils in Japanese": "PING 192.0.2.1 (192.0.2.1) 56(84) バイトのデータ\n"
    "64 バイト応答 送信元 192.0.2.1: icmp_seq=1 ttl=54 時間=40.1ミリ秒\n"
    "64 バイト応答 送信元 192.0.2.1: icmp_seq=2 ttl=54 時間=40.2ミリ秒\n"
    "icmp_seq=3 が未応答です\n"
    "64 バイト応答 送信元 192.0.2.1: icmp_seq=4 ttl=54 時間=40.4ミリ秒\n\n"
    "--- 192.0.2.1 ping 統計 ---\n送信パケット数 4, 受信パケット数 3, パケット損失 25%, 時間 603ミリ秒\n",
    "iputils in Czech": "PING 192.0.2.1 (192.0.2.1) 56(84) bajtů dat.\n"
    "64 bajtů od 192.0.2.1: pořadí=1 TTL=54 čas=40.1 ms\n"
    "64 bajtů od 192.0.2.1: pořadí=2 TTL=54 čas=40.2 ms\n"
    "64 bajtů od 192.0.2.1: pořadí=4 TTL=54 čas=40.4 ms\n\n"
    "--- 192.0.2.1 statistiky ping ---\n4 paketů odesláno, 3 přijato, 25% ztráta, čas 603 ms\n",
    "busybox": "PING 192.0.2.1 (192.0.2.1): 56 data bytes\n"
    "64 bytes from 192.0.2.1: seq=0 ttl=54 time=40.100 ms\n"
    "64 bytes from 192.0.2.1: seq=1 ttl=54 time=40.200 ms\n"
    "64 bytes from 192.0.2.1: seq=3 ttl=54 time=40.400 ms\n\n"
    "--- 192.0.2.1 ping statistics ---\n4 packets transmitted, 3 packets received, 25% packet loss\n"
    "round-trip min/avg/max = 40.100/40.233/40.400 ms\n",
    "macOS": "PING 192.0.2.1 (192.0.2.1): 56 data bytes\n"
    "64 bytes from 192.0.2.1: icmp_seq=0 ttl=54 time=40.100 ms\n"
    "64 bytes from 192.0.2.1: icmp_seq=1 ttl=54 time=40.200 ms\n"
    "Request timeout for icmp_seq 2\n"
    "64 bytes from 192.0.2.1: icmp_seq=3 ttl=54 time=40.400 ms\n\n"
    "--- 192.0.2.1 ping statistics ---\n4 packets transmitted, 3 packets received, 25.0% packet loss\n"
    "round-trip min/avg/max/stddev = 40.100/40.233/40.400/0.124 ms\n",
    "Windows": "\r\nPinging 192.0.2.1 with 32 bytes of data:\r\n"
    "Reply from 192.0.2.1: bytes=32 time=40ms TTL=54\r\nReply from 192.0.2.1: bytes=32 time=40ms TTL=54\r\n"
    "Request timed out.\r\nReply from 192.0.2.1: bytes=32 time=40ms TTL=54\r\n\r\n"
    "Ping statistics for 192.0.2.1:\r\n    Packets: Sent = 4, Received = 3, Lost = 1 (25% loss),\r\n"
    "Approximate round trip times in milli-seconds:\r\n"
    "    Minimum = 40ms, Maximum = 40ms, Average = 40ms\r\n",
    "Windows in German": "\r\nPing wird ausgeführt für 192.0.2.1 mit 32 Bytes Daten:\r\n"
    "Antwort von 192.0.2.1: Bytes=32 Zeit=40ms TTL=54\r\nAntwort von 192.0.2.1: Bytes=32 Zeit=40ms TTL=54\r\n"
    "Zeitüberschreitung der Anforderung.\r\nAntwort von 192.0.2.1: Bytes=32 Zeit=40ms TTL=54\r\n\r\n"
    "Ping-Statistik für 192.0.2.1:\r\n    Pakete: Gesendet = 4, Empfangen = 3, Verloren = 1\r\n"
    "    (25% Verlust),\r\nCa. Zeitangaben in Millisek.:\r\n"
    "    Minimum = 40ms, Maximum = 40ms, Mittelwert = 40ms\r\n",
    "Windows in French": "\r\nEnvoi d’une requête 'Ping'  192.0.2.1 avec 32 octets de données :\r\n"
    "Réponse de 192.0.2.1 : octets=32 temps=40 ms TTL=54\r\n"
    "Réponse de 192.0.2.1 : octets=32 temps=40 ms TTL=54\r\nDélai d’attente de la demande dépassé.\r\n"
    "Réponse de 192.0.2.1 : octets=32 temps=40 ms TTL=54\r\n\r\n"
    "Statistiques Ping pour 192.0.2.1:\r\n    Paquets : envoyés = 4, reçus = 3, perdus = 1 (perte 25%),\r\n"
    "Durée approximative des boucles en millisecondes :\r\n"
    "    Minimum = 40ms, Maximum = 40ms, Moyenne = 40ms\r\n",
    "fping": "192.0.2.1 : [0], 64 bytes, 40.1 ms (40.1 avg, 0% loss)\n"
    "192.0.2.1 : [1], 64 bytes, 40.2 ms (40.1 avg, 0% loss)\n"
    "192.0.2.1 : [2], timed out (40.1 avg, 33% loss)\n"
    "192.0.2.1 : [3], 64 bytes, 40.4 ms (40.2 avg, 25% loss)\n\n"
    "192.0.2.1 : xmt/rcv/%loss = 4/3/25%, min/avg/max = 40.1/40.2/40.4\n",
    "fping -C -q": "192.0.2.1 : 40.1 40.2 - 40.4\n",
}


@pytest.mark.parametrize("name", UNIX)
def test_programs_and_languages_say_the_same(name: str) -> None:
    log = pinged(name, UNIX[name])
    assert [probe.lost for probe in log.requests] == [False, False, True, False]
    assert log.rtts[0] == pytest.approx(0.0401, abs=0.0002)
    # iputils writes how long it ran: three intervals.
    expected = 0.201 if name.startswith("iputils") else 1.0
    assert log.interval == pytest.approx(expected, rel=1e-6)
    assert (log.timing == "assumed") is (expected == 1.0)


@pytest.mark.parametrize("encoding", ["cp850", "utf-16", "utf-8-sig"])
def test_texts_of_windows_are_read_in_their_encodings(encoding: str, tmp_path: Path) -> None:
    file = tmp_path / "ping.txt"
    file.write_bytes(UNIX["Windows in German"].encode(encoding))
    found = fit(file)
    assert found.sources[0][1] == "4 requests, 1 without a reply"


@pytest.mark.parametrize(
    "stamp",
    [
        "1700000000.240812 ",
        "[1700000000.24] ",
        "2023-11-14T22:13:20.240812 ",
        "Nov 14 22:13:20.24 ",
        "22:13:20.24 ",
    ],
)
def test_times_before_lines_may_have_any_usual_form(stamp: str) -> None:
    lines = ["PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data."]
    for number in range(5):
        at = stamp.replace("20.24", f"{20 + number}.24").replace("1700000000", f"{1700000000 + number}")
        lines.append(f"{at}64 bytes from 192.0.2.1: icmp_seq={number + 1} ttl=54 time=40.2 ms")
    log = pinged("ts.log", "\n".join(lines))
    assert log.timing == "stamped"
    assert log.interval == pytest.approx(1.0, rel=1e-6)


def test_a_day_ends_within_a_log_and_a_clock_that_is_set_is_closed() -> None:
    lines = ["PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data."]
    for number in range(20):
        at = (86_395 + number + (100 if number > 15 else 0)) % 86_400
        clock = f"{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}.00"
        lines.append(f"{clock} 64 bytes from 192.0.2.1: icmp_seq={number + 1} ttl=54 time=40.2 ms")
    log = pinged("ts.log", "\n".join(lines))
    assert log.requests[-1].time == pytest.approx(19, abs=0.01)
    assert any("jump" in note for note in log.notes)
    assert of_probes(log).silences is None


def test_what_ping_wrote_over_the_kernel_plane() -> None:
    for name, sent, lost in (("ping-O.log", 60, 14), ("ping-plain.log", 60, 14)):
        log, said = of_file(REAL / name)
        assert (len(log.requests), log.lost) == (sent, lost)
        assert isinstance(said.delay, Measured)
        assert said.delay.value == pytest.approx(0.018, rel=0.01)
        assert isinstance(said.silence, Measured)
        assert said.silence.low < 1.5 < said.silence.high, describe(said.silence)
    quiet = pings.read((REAL / "ping-q.log").read_text(), "ping-q.log")
    assert quiet == Counts(60, 42, 0.036285, 1e-6)
    found = fit(REAL / "ping-q.log")
    assert found.scenario.to_dict()["topology"]["single_hop"]["link"]["delay"].startswith("18.1")
    local = pinged("fping", (REAL / "fping-c.log").read_text())
    assert (len(local.requests), local.lost, local.timing) == (6, 0, "stamped")
    assert local.interval == pytest.approx(0.1, rel=0.01)


def test_independent_losses_are_no_silences_and_a_run_is_one() -> None:
    chance = random.Random(5)
    lost = [chance.random() < 0.1 for _ in range(600)]
    plain = Probes([Probe(n * 0.1, math.nan if gone else 0.04) for n, gone in enumerate(lost)], 0.1, 1e-4)
    said = of_probes(plain)
    assert said.silences is None
    assert isinstance(said.loss, Measured)
    assert said.loss.low < 0.1 < said.loss.high
    lost[300:330] = [True] * 30
    outage = Probes([Probe(n * 0.1, math.nan if gone else 0.04) for n, gone in enumerate(lost)], 0.1, 1e-4)
    said = of_probes(outage)
    assert said.silences is not None
    assert len(said.silences.gaps) == 1
    assert isinstance(said.silence, Measured)
    assert said.silence.low <= 3.0 <= said.silence.high
    assert isinstance(said.loss, Measured)
    assert said.loss.low < 0.1 < said.loss.high


def test_requests_that_were_all_answered_at_once_were_held() -> None:
    # Silent from 2.03 to 2.55 s: requests 21 to 25 (every 0.1 s) wait for its end.
    requests = [Probe(n * 0.1, 0.04 + (2.55 - n * 0.1 if 2.03 <= n * 0.1 < 2.55 else 0.0)) for n in range(60)]
    said = of_probes(Probes(requests, 0.1, 1e-4))
    assert said.silences is not None
    assert said.silences.mode == "hold"
    assert isinstance(said.silence, Measured)
    assert said.silence.low <= 0.52 <= said.silence.high
    # A queue that fills and drains is no silence: answers follow each other.
    queue = [Probe(n * 0.1, 0.04 + max(0.0, 0.4 - 0.05 * abs(n - 30))) for n in range(60)]
    assert of_probes(Probes(queue, 0.1, 1e-4)).silences is None


def test_the_interval_of_the_delay_covers_it() -> None:
    # Half of the least of a sample of exponential waits above a floor of 30 ms.
    covered = 0
    for seed in range(400):
        chance = random.Random(seed)
        rtts = [0.06 + chance.expovariate(1 / 0.004) for _ in range(30)]
        said = probing.of_probes(Probes([Probe(n * 1.0, rtt) for n, rtt in enumerate(rtts)], 1.0, 1e-6)).delay
        assert isinstance(said, Measured)
        covered += said.low <= 0.03 <= said.high
    # 95 % of 400, with four standard errors.
    assert 362 <= covered <= 400


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n\n--- 192.0.2.1 ping statistics ---\n"
         "5 packets transmitted, 0 received, 100% packet loss, time 812ms\n", "none of 5 requests was"),
        ("PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n"
         "From 192.0.2.9 icmp_seq=1 Destination Host Unreachable\n", "none of 1 requests was answered"),
        ("PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n", "no line of the ping log is a reply"),
        ("a : [0], 64 bytes, 1.0 ms (1.0 avg, 0% loss)\nb : [0], 64 bytes, 1.0 ms (1.0 avg, 0% loss)\n",
         "fping asked 2 hosts"),
        ("[ ID] Interval           Transfer     Bitrate\n", "the text of iperf"),
        ("traceroute to 192.0.2.1 (192.0.2.1), 30 hops max\n", "a traceroute"),
        ('{"intervals": [], "end": {}}\n{"intervals": [], "end": {}}\n', "several JSON documents"),
        ('{"round_trips": []}', "no round trips; give the file"),
        ('{"round_trips": [], "stats": {"packets_sent": 7}}', "statistics of 7 packets"),
        ('{"round_trips": [{"lost": "true"}]}', "none of 1 requests of irtt was answered"),
        ('{"event":"start","data":{}}\nx\n{"event":"end","data":{}}\n', ":2: is no event"),
        ('{"event":"error","data":"the server is busy"}\n', "iperf3 failed: the server is busy"),
    ],
)  # fmt: skip
def test_a_message_names_what_was_checked(text: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "some.log"
    file.write_text(text)
    with pytest.raises(UsageError, match=re.escape(says)) as caught:
        fit(file)
    assert "-q" not in str(caught.value)


# irtt


def test_irtt_by_its_monotonic_clock_with_an_outage() -> None:
    data = json.loads((REAL / "irtt.json").read_text())
    log = irtt.read(data, "irtt.json")
    assert (len(log.requests), log.lost, log.lost_up, log.lost_down) == (40, 8, 8, 0)
    said = of_probes(log)
    assert isinstance(said.delay, Measured)
    assert said.delay.value == pytest.approx(0.018, rel=0.02)
    assert isinstance(said.silence, Bounded)
    assert said.silence.at_least == pytest.approx(0.7, abs=0.01)
    # The wall clock is set by an hour half-way: the monotonic one does not know.
    for trip in data["round_trips"][20:]:
        trip["timestamps"]["client"]["send"]["wall"] += 3_600_000_000_000
    again = irtt.read(data, "irtt.json")
    assert [probe.time for probe in again.requests] == [probe.time for probe in log.requests]
    for trip in data["round_trips"]:
        trip["timestamps"]["client"]["send"].pop("wall")
    assert irtt.read(data, "irtt.json").interval == pytest.approx(0.1, rel=0.01)


# iperf3


def test_received_totals_count_and_not_what_filled_the_send_buffer() -> None:
    said = throughput.capacity(transferred(CASES / "iperf3-tcp.json"))
    assert isinstance(said, Measured)
    # 9.55 Mbit/s of 1448 of 1500 bytes; the truth is 10 Mbit/s.
    assert said.value == pytest.approx(9.55e6 * 1500 / 1448, rel=1e-6)
    assert said.low < 10e6 < said.high
    delay = throughput.delay([transferred(CASES / "iperf3-tcp.json")])
    assert delay == Bounded("s", delay.how, at_most=0.0775 / 2)  # type: ignore[union-attr]


def test_plain_data_says_which_kind_a_value_is() -> None:
    kinds = {
        name: each["kind"] for name, each in fit(CASES / "iperf3-tcp.json").to_dict()["estimates"].items()
    }
    assert (kinds["capacity"], kinds["delay"], kinds["queue"]) == ("measured", "bounded", "unknown")
    text = fit(CASES / "iperf3-tcp.json").text
    assert "delay: at most 38.75 ms." in text
    assert "capacity: 9.893 Mbit/s (9.893 to 10.42)." in text


def test_datagrams_that_arrived_count_and_the_loss_is_no_loss_of_the_link() -> None:
    test = transferred(CASES / "iperf3-udp.json")
    assert test.udp
    said, loss = throughput.capacity(test), throughput.loss(test)
    assert isinstance(said, Measured)
    # 9.72 Mbit/s of 1448 of 1476 bytes; it took 8.1 s to arrive and 8 s to send. The truth is 10.
    assert said.value == said.low == pytest.approx(9.72e6 * 1476 / 1448, rel=1e-6)
    assert said.high == pytest.approx(said.value * 8.1 / 8, rel=1e-6)
    assert said.high > 10e6
    assert isinstance(loss, Bounded)
    assert loss.at_most == pytest.approx(0.604, abs=0.01)
    link = fit(CASES / "iperf3-udp.json").scenario.to_dict()["topology"]["single_hop"]["link"]
    assert link["rate"] == "9907.956 kbit/s"
    assert link["loss"] == 0
    # A few percent may be the link's own.
    test.lost = test.packets // 50
    assert isinstance(throughput.capacity(test), Bounded)


def test_a_full_queue_lets_as_many_datagrams_pass_in_each_second() -> None:
    said = throughput.capacity(transferred(REAL / "iperf3-udp-server.json"))
    assert isinstance(said, Measured)
    assert said.value == pytest.approx(10e6, rel=0.005)
    # Independent losses of the same share: a binomial number arrives.
    chance = random.Random(1)
    counts = [(sum(chance.random() < 0.6 for _ in range(2158)), 2158) for _ in range(9)]
    assert not throughput.steady(counts)
    assert throughput.steady([(1311 + n % 3, 2158) for n in range(6)])
    assert not throughput.steady([(1311, 2158)] * 4), "too few"


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("bidir", Measured, "show a queue"),
        ("omit", Bounded, "show no queue"),
        ("p4", Bounded, "show no queue"),
        ("window", Bounded, "the receive window of 39.1 kB limits"),
        ("paced", Bounded, "was told to keep to this rate"),
        ("reverse", Bounded, "no round-trip times"),
    ],
)
def test_a_rate_is_the_capacity_only_where_a_queue_stood(name: str, kind: type, says: str) -> None:
    test = transferred(REAL / f"iperf3-{name}.json")
    said = throughput.capacity(test)
    assert isinstance(said, kind), describe(said)
    assert not isinstance(said, Unknown)
    assert says in said.how
    if isinstance(said, Measured):
        assert said.low <= 10e6 <= said.high
    else:
        assert isinstance(said, Bounded)
        assert said.at_least is not None
        assert said.at_least <= 10.01e6
    if name == "omit":
        assert len(test.rates) == 6, "without the seconds that -O left out"
    if name == "p4":
        assert test.streams == 4
        assert fit(REAL / "iperf3-p4.json").scenario.to_dict()["flow"][0]["count"] == 4


def test_pings_beside_iperf3_are_the_floor_of_its_round_trips() -> None:
    test = transferred(REAL / "iperf3-p4.json")
    assert isinstance(throughput.capacity(test, floor=0.0363), Measured)
    both = fit([REAL / "iperf3-p4.json", REAL / "ping-plain.log"])
    by_name = {estimate.name: estimate for estimate in both.estimates}
    assert by_name["capacity"].bound is None
    assert by_name["capacity"].low < 10e6 < by_name["capacity"].high
    assert by_name["delay"].value == pytest.approx(0.018, rel=0.01)
    # A sender that paces itself has round-trip times of its own bursts.
    paced = transferred(REAL / "iperf3-paced.json")
    assert isinstance(throughput.capacity(paced, floor=0.0363), Bounded)


def test_both_directions_and_the_round_trip_of_a_handshake() -> None:
    test = transferred(REAL / "iperf3-bidir.json")
    assert test.back is not None
    assert test.back.received == pytest.approx(8.75e6, rel=0.001)
    # The socket that only receives has measured its handshake: 36.2 ms of 36.
    said = throughput.delay([test])
    assert isinstance(said, Bounded)
    assert said.at_most == pytest.approx(0.0181, abs=0.0001)
    assert "reverse capacity" in {estimate.name for estimate in fit(REAL / "iperf3-bidir.json").estimates}


def test_a_window_goes_into_the_scenario() -> None:
    found = fit(REAL / "iperf3-window.json").scenario
    assert found.to_dict()["tcp"]["receive_buffer"] == "39.096 kB"
    # With the window the flow delivers what it did, although the bound of the rate is no limit any more.
    wide = found.set("topology.single_hop.link.rate", "100 Mbit/s").set("run.duration", "6 s")
    goodput = cogtcp.run(wide, trace="summary").metrics["goodput_bps"]
    assert goodput == pytest.approx(7.41e6, rel=0.1)


def test_a_stream_of_events_is_the_same_test(tmp_path: Path) -> None:
    data = json.loads((REAL / "iperf3-p4.json").read_text())
    events = [
        ("start", data["start"]),
        *(("interval", each) for each in data["intervals"]),
        ("end", data["end"]),
    ]
    text = "\n".join(json.dumps({"event": kind, "data": each}) for kind, each in events)
    found = logs.text_log(text, "stream")
    assert found == transferred(REAL / "iperf3-p4.json")
    # Stopped in the middle of a line: what the sender wrote is a bound.
    file = tmp_path / "stopped.json"
    file.write_text(text[: text.index('{"event": "end"') + 9])
    stopped = logs.text_log(file.read_text(), "stopped")
    assert isinstance(stopped, Transfer)
    said = throughput.capacity(stopped)
    assert isinstance(said, Bounded)
    assert "what the sender wrote" in said.how


def test_the_interval_of_a_poisson_count_is_garwoods() -> None:
    """Garwood 1936, as half of quantiles of chi-square: none, one, ten events."""
    for count, low, high in ((0, 0.0, 3.6889), (1, 0.02532, 5.5716), (10, 4.7954, 18.3904)):
        assert probing.poisson_interval(count) == pytest.approx((low, high), rel=1e-4)


def requests(fates: str, *, every: float = 1.0, rtt: float = 0.04) -> Probes:
    """Return requests, `.` answered and `x` lost."""
    return Probes(
        [Probe(n * every, math.nan if fate == "x" else rtt + 1e-4 * (n % 7)) for n, fate in enumerate(fates)],
        every,
        1e-4,
    )


def test_a_run_of_lost_requests_has_a_silence_between_its_neighbours() -> None:
    """Requests 50 to 69 of 200, a second apart: lost for 19 s at least and for 21 s at most."""
    said = of_probes(requests("." * 50 + "x" * 20 + "." * 130))
    assert said.silence == Measured(20.0, 19.0, 21.0, "s", "1 silence: 20 requests in a row were lost")
    assert isinstance(said.open, Measured)
    # One in the other 180 s: by the interval of one event.
    assert said.open.value == pytest.approx(180.0)
    assert (said.open.low, said.open.high) == pytest.approx((180 / 5.5716, 180 / 0.02532), rel=1e-3)
    assert isinstance(said.loss, Measured)
    assert (said.loss.value, said.loss.low) == (0.0, 0.0)
    assert "of 180 requests outside silences" in said.loss.how


def test_two_silences_have_the_mean_of_their_lengths_and_the_range_of_both() -> None:
    said = of_probes(requests("." * 50 + "x" * 20 + "." * 60 + "x" * 10 + "." * 60))
    assert isinstance(said.silence, Measured)
    assert (said.silence.value, said.silence.low, said.silence.high) == (15.0, 9.0, 21.0)
    assert said.silence.how == "2 silences: 30 requests were lost in them"
    assert said.silences is not None
    assert (said.silences.mode, said.silences.sure) == ("drop", 1.0)


def test_a_silence_at_the_end_of_a_log_has_no_greatest_length() -> None:
    said = of_probes(requests("." * 50 + "x" * 20))
    assert said.silence == Bounded(
        "s", "1 silence: 20 requests in a row were lost, to an end of the log", at_least=19.0
    )
    said = of_probes(requests("x" * 20 + "." * 50))
    assert isinstance(said.silence, Bounded)
    assert said.silence.at_least == 19.0


def test_without_a_silence_the_longest_that_chance_explains_is_a_bound() -> None:
    said = of_probes(requests("." * 100))
    assert said.silence == Bounded("s", "requests were 1 s apart; none was lost", at_most=1.0)
    said = of_probes(requests(("." * 9 + "x") * 20, every=0.5))
    assert isinstance(said.silence, Bounded)
    assert said.silence.at_most == 1.0, "between the two neighbours of a lost one"
    assert "independent losses explain runs of up to 1" in said.silence.how
    assert isinstance(said.loss, Measured)
    assert said.loss.value == pytest.approx(0.1)


def test_runs_of_losses_are_the_events_of_their_interval() -> None:
    """Ten runs of two in 400: the interval of 10 of 400, twice as wide."""
    said = of_probes(requests(("." * 38 + "xx") * 10)).loss
    low, high = share_interval(10, 400)
    assert isinstance(said, Measured)
    assert (said.value, said.low, said.high) == pytest.approx((0.05, 2 * low, 2 * high))


def test_the_delay_is_half_of_the_least_round_trip_time() -> None:
    """Least values of 40.0 and 40.1 ms: the floor lies within 19 times their distance below."""
    log = Probes([Probe(n * 1.0, 0.040 + 0.0001 * (n > 0) + 0.01 * (n > 1)) for n in range(9)], 1.0, 2e-4)
    said = of_probes(log).delay
    assert isinstance(said, Measured)
    assert (said.value, said.low, said.high) == pytest.approx((0.02, (0.0381 - 2e-4) / 2, 0.0201))
    assert "of 9 replies" in said.how
    summary = probing.of_counts(Counts(10, 8, 0.04, 1e-3))
    assert isinstance(summary.delay, Bounded)
    assert summary.delay.at_most == pytest.approx(0.0205)
    assert isinstance(summary.loss, Measured)
    assert summary.loss.value == pytest.approx(0.2)
    low, high = share_interval(2, 10)
    assert (summary.loss.low, summary.loss.high) == pytest.approx((low, high))


def test_three_requests_answered_at_once_were_held() -> None:
    def held(waiting: int) -> ProbeFit:
        """Return the fit of requests 20 and later, held until 30 ms after the last of them was sent."""
        end = (20 + waiting) * 0.1 - 0.07
        rtts = [0.04 + (end - n * 0.1 if 20 <= n < 20 + waiting else 0.0) for n in range(60)]
        return of_probes(Probes([Probe(n * 0.1, rtt) for n, rtt in enumerate(rtts)], 0.1, 1e-4))

    assert held(3).silences is None, "the last one waited for less than half of an interval: as usual"
    found = held(4).silence
    assert isinstance(found, Measured)
    assert (found.value, found.low, found.high) == pytest.approx((0.38, 0.33, 0.43))
    assert found.how == "1 silence: requests waited for its end"
