"""Packet scripts: on the model always, on the kernel of this machine where it allows."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from cogtcp import NoKernelPlaneError, ScenarioError, UsageError
from cogtcp.kernel import packets
from cogtcp.kernel.emulation.leftovers import find
from cogtcp.kernel.validation.departures import departures
from conftest import ROOT, Command, TooBusy
from kernel_needs import soon

sys.path[:0] = [str(ROOT / "docs")]

import generate_rfc9293  # noqa: E402

SCRIPTS = sorted((ROOT / "tests/packets").glob("*.pkt"))
# On the kernel they take a control that root has loaded: tests/test_kernel_c2.py.
OF_C2 = sorted((ROOT / "tests/packets_c2").glob("*.pkt"))
OF_RFC_9293 = sorted((ROOT / "tests/rfc9293").rglob("*.pkt"))
OF_DRILL = sorted((ROOT / "tests/packetdrill").glob("*.pkt"))
HANDSHAKE = ROOT / "tests/packets/handshake.pkt"


def test_there_are_scripts_of_what_the_protocol_does() -> None:
    assert len(SCRIPTS) >= 20
    names = " ".join(path.stem for path in SCRIPTS)
    for part in (
        "handshake",
        "rto-backoff",
        "fast-retransmit",
        "sack",
        "zero-window",
        "f-rto",
        "limited",
        "ecn",
    ):
        assert part in names


@pytest.mark.parametrize("path", [*SCRIPTS, *OF_C2, *OF_DRILL], ids=lambda path: path.stem)
def test_the_model_does_what_the_script_says(path: Path) -> None:
    (outcome,) = packets.play([path])
    assert outcome.verdict == "agrees", outcome.explain()
    assert outcome.trace


def test_the_kernel_does_what_the_scripts_say() -> None:
    try:
        outcomes = packets.play([ROOT / "tests/packets", ROOT / "tests/packetdrill"], "kernel")
    except NoKernelPlaneError as error:
        pytest.skip(f"no kernel plane here: {error}")
    assert [Path(outcome.file) for outcome in outcomes] == [*SCRIPTS, *OF_DRILL]
    assert not [outcome.explain() for outcome in outcomes if outcome.verdict == "differs"]
    # Others test on this machine too, and clear up.
    assert soon(lambda: find() == [])
    # A script differs only if the runner was never 5 ms late in the try that differs, a fortieth of the least
    # timer; the kernel's packets have 1.5 s. One whose runner was late in every try shows nothing.
    late = [outcome for outcome in outcomes if outcome.verdict == "late"]
    if late:
        raise TooBusy(f"the machine is too busy for {len(late)} of {len(outcomes)} scripts")


def test_a_difference_is_shown_at_its_step(command: Command, tmp_path: Path) -> None:
    """The script expects 400 bytes where 500 were written: both planes differ there, and alike."""
    text = HANDSHAKE.read_text()
    wrong = text.replace("> P. 1:501(500) ack 1", "> P. 1:401(400) ack 1")
    assert wrong != text
    (tmp_path / "wrong.pkt").write_text(wrong)
    line = 1 + wrong[: wrong.index("1:401")].count("\n")
    done = command("packets", "wrong.pkt")
    assert done.code == 1
    assert f"wrong.pkt:{line}: sim: another range of bytes, at 0.060000 s" in done.out
    assert re.search(
        r"expected  \+0 > P\. 1:401\(400\) ack 1 .*\n  got       > P?\. 1:501\(500\) ack 1", done.out
    )
    try:
        (outcome,) = packets.play([tmp_path / "wrong.pkt"], "kernel")
    except NoKernelPlaneError as error:
        pytest.skip(f"no kernel plane here: {error}")
    assert outcome.verdict in ("differs", "late")
    assert outcome.mismatch is not None
    if outcome.verdict == "differs":
        assert (outcome.mismatch.line, outcome.mismatch.what) == (line, "another range of bytes")
        assert outcome.mismatch.time_s > 0.06


@pytest.mark.parametrize(
    ("change", "says"),
    [
        # A second too early, and one too late, by the script.
        (("+1 > S 0:0", "+2 > S 0:0"), "before its time"),
        (("+1 > S 0:0", "+0.5 > S 0:0"), "no packet came within 0.5 s"),
        (("+0.05 < S.", "+10 < S."), "a packet came before this step"),
        (("cwnd == 1 ", "cwnd == 2 "), "tcpi_snd_cwnd 1"),
        # What was never sent is acknowledged: it answers with an ACK (RFC 9293 section 3.10.7.4).
        (("< . 1:1(0) ack 1001", "< . 1:1(0) ack 3001"), "another range of bytes"),
    ],
)
def test_a_model_that_did_otherwise_is_found(tmp_path: Path, change: tuple[str, str], says: str) -> None:
    text = (ROOT / "tests/packets/syn-backoff.pkt").read_text()
    assert change[0] in text
    (tmp_path / "changed.pkt").write_text(text.replace(*change, 1))
    (outcome,) = packets.play([tmp_path / "changed.pkt"])
    assert outcome.verdict == "differs"
    assert says in outcome.explain()


@pytest.mark.parametrize(
    ("script", "change", "says"),
    [
        ("recovery-of-a-listener", ("tcpi_sacked == 3", "tcpi_sacked == 2"), "tcpi_sacked 3"),
        ("recovery-of-a-listener", ("threshold = 7", "threshold = 5"), "tcpi_snd_ssthresh 7"),
        ("recovery-of-a-listener", ("+0~+.03 >", "+.1 >"), "before its time"),
        ("timestamps", ("TS val 750 ecr 9000", "TS val 950 ecr 9000"), "a timestamp -0.2"),
        ("timestamps", ("TS val 750 ecr 9000", "TS val 750 ecr 8999"), "echo of a timestamp"),
        ("blocking-calls", ("+.01...0.05 read", "+.01...0.03 read"), "has not returned in time"),
        ("blocking-calls", ("[300]", "[299]"), "it returned 300"),
        ("ecn", ("[ect0] P.", "[ce] P."), "ECN bits"),
        ("close-and-reset", ("> R. 1:1(0)", "> F. 1:1(0)"), "another flags"),
        ("shutdown-and-times", ("-1 EPIPE", "-1 ETIMEDOUT"), "EPIPE"),
        ("unreachable", ("[113]", "[111]"), "it returned 113"),
    ],
)
def test_what_a_script_says_is_compared(
    tmp_path: Path, script: str, change: tuple[str, str], says: str
) -> None:
    text = (ROOT / f"tests/packetdrill/{script}.pkt").read_text()
    assert change[0] in text
    (tmp_path / "changed.pkt").write_text(text.replace(*change, 1))
    (outcome,) = packets.play([tmp_path / "changed.pkt"])
    assert outcome.verdict == "differs"
    assert says in outcome.explain()


def test_what_no_plane_has_is_refused_by_name(command: Command, tmp_path: Path) -> None:
    text = (ROOT / "tests/packetdrill/unreachable.pkt").read_text()
    (tmp_path / "suite").mkdir()
    (tmp_path / "suite/beyond.pkt").write_text(text + "+0 epoll_create(1) = 5\n")
    (tmp_path / "suite/sound.pkt").write_text(text)
    (tmp_path / "suite/wrong.pkt").write_text(text + "+0 write(3, ..., x) = 5\n")
    done = command("packets", "suite", "--json")
    assert done.code == 2
    assert "beyond.pkt:9: out of scope: epoll" in done.err
    assert [each["verdict"] for each in done.json()["scripts"]] == ["beyond", "agrees", "error"]


def test_json_has_everything(command: Command) -> None:
    done = command("packets", str(HANDSHAKE), "--json")
    assert (done.code, done.err) == (0, "")
    (shown,) = done.json()["scripts"]
    assert (shown["plane"], shown["verdict"], shown["mismatch"]) == ("sim", "agrees", None)
    assert any(text.startswith("+0 connect(3") for time, text in shown["trace"] if time == 0)
    traced = command("packets", str(HANDSHAKE), "--trace")
    assert "1 of 1 agree (sim)" in traced.out
    assert "0.060000  > P. 1:501(500) ack 1" in traced.out


def test_bad_input_is_told_with_its_place(command: Command, tmp_path: Path) -> None:
    (tmp_path / "bad.pkt").write_text(
        HANDSHAKE.read_text().replace("%{ assert tcpi_snd_cwnd == 10 }%", "dance")
    )
    done = command("packets", "bad.pkt")
    assert done.code == 2
    assert re.search(r"bad\.pkt:\d+: write a packet, a call or an assertion after the time", done.err)
    (tmp_path / "setting.pkt").write_text(HANDSHAKE.read_text().replace("tcp.timestamps", "tcp.timestmaps"))
    done = command("packets", "setting.pkt", "bad.pkt", str(HANDSHAKE), "--json")
    assert done.code == 2
    faulty, other, sound = json.loads(done.out)["scripts"]
    assert "timestamps" in faulty["error"]
    # One that has an error keeps no other from being played.
    assert [each["verdict"] for each in (faulty, other, sound)] == ["error", "error", "agrees"]
    assert sound["error"] is None
    for words, says in (
        (("none.pkt",), "none.pkt: cannot be read: No such file"),
        ((str(tmp_path / "empty"),), "there are no scripts"),
        ((str(HANDSHAKE), "--plane", "moon"), "the planes are sim and kernel"),
    ):
        (tmp_path / "empty").mkdir(exist_ok=True)
        done = command("packets", *words)
        assert (done.code, says in done.err) == (2, True), done.err
    with pytest.raises(ScenarioError):
        packets.check([tmp_path / "bad.pkt"])
    with pytest.raises(UsageError):
        packets.play([HANDSHAKE], "moon")


def test_a_transport_that_the_kernel_lacks_is_refused(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("the plane needs Linux")
    (tmp_path / "copa.pkt").write_text(HANDSHAKE.read_text().replace("linux-reno", "copa"))
    (tmp_path / "bad.pkt").write_text(
        HANDSHAKE.read_text().replace("%{ assert tcpi_snd_cwnd == 10 }%", "dance")
    )
    try:
        outcomes = packets.play([tmp_path / "bad.pkt", tmp_path / "copa.pkt", HANDSHAKE], "kernel")
    except NoKernelPlaneError as error:
        pytest.skip(f"no kernel plane here: {error}")
    bad, copa, sound = outcomes
    assert (bad.verdict, copa.verdict) == ("error", "error")
    assert "after the time" in str(bad.error)
    assert re.search(r'no transport "copa"|cannot be', str(copa.error))
    assert sound.verdict in ("agrees", "late")


def test_scripts_play_on_virtual_ethernet() -> None:
    """Full segments of the peer with timestamps are larger than the headers alone leave room for."""
    scripts = [ROOT / "tests/packets" / f"{name}.pkt" for name in ("paws", "handshake")]
    try:
        outcomes = packets.play(scripts, "kernel", device="veth")
    except NoKernelPlaneError as error:
        pytest.skip(f"no kernel plane here: {error}")
    for outcome in outcomes:
        assert outcome.verdict in ("agrees", "late"), outcome.explain() or outcome.error


def test_the_page_lists_every_difference() -> None:
    page = (ROOT / "docs/packet-scripts.md").read_text()
    documented = [*SCRIPTS, *OF_C2, *OF_DRILL]
    for path, (_, differences) in zip(documented, packets.check(documented), strict=True):
        for _, reason in differences:
            assert f"| `{path.stem}` | {reason} |" in page


def test_each_sentence_of_rfc_9293_has_a_script_or_a_departure() -> None:
    rows = generate_rfc9293.sentences()
    known = {entry.id for entry in departures()}
    dialogues = "".join(path.read_text() for path in (ROOT / "crates/transport/tests/dialogue").glob("*.rs"))
    for row in rows:
        assert row.scripts or row.departure, row
        assert not row.departure or row.departure in known, row
        assert all((ROOT / f"tests/{script}.pkt").is_file() for script in row.scripts), row
        assert all(f"fn {test}(" in dialogues for test in row.tests), row
    named = {f"tests/{script}.pkt" for row in rows for script in row.scripts}
    assert {str(path.relative_to(ROOT)) for path in OF_RFC_9293} <= named
    assert generate_rfc9293.PAGE.read_text() == generate_rfc9293.page(), "make reference"


def test_the_model_agrees_with_the_scripts_of_rfc_9293() -> None:
    for outcome in packets.play(OF_RFC_9293):
        assert outcome.verdict == "agrees", outcome.explain()
