"""Congestion controls written in Python: usable wherever a name is, checked alike, and harmless."""

from __future__ import annotations

import re
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest

import cogtcp
from cogtcp import ConformanceError, RunError, Scenario, ScenarioError, UsageError
from conftest import ROOT, SMALL, Command

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EXAMPLE = "my_control:Patient"

# RFC 5681 with byte counting, as the built-in "sack" transport has it.
RENO = """
class Reno:
    def __init__(self):
        self.acked = 0

    def ssthresh(self, now, tcp):
        self.acked = 0
        return max(tcp.flight_size // 2, 2 * tcp.mss)

    def cong_avoid(self, now, tcp, ack):
        acked = ack.acked
        if tcp.in_slow_start:
            grown = min(acked, tcp.mss)
            tcp.cwnd += grown
            return
        self.acked += acked
        if self.acked >= tcp.cwnd:
            self.acked -= tcp.cwnd
            tcp.cwnd += tcp.mss
"""


@pytest.fixture(autouse=True)
def _examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    """Write a module and return its name, each time a new one."""
    monkeypatch.syspath_prepend(str(tmp_path))
    count = iter(range(100))

    def module(text: str) -> str:
        name = f"control_{tmp_path.name.replace('-', '_')}_{next(count)}"
        (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
        return name

    return module


def test_the_example_conforms_and_runs(scenario: Scenario) -> None:
    cogtcp.check_congestion_control(EXAMPLE)
    result = cogtcp.run(scenario.with_transport(EXAMPLE, allow_python=True), seed=3)
    assert result.flows.column("transport").to_pylist() == [EXAMPLE]
    assert result.flows.column("goodput_bps")[0].as_py() > 1e6
    again = cogtcp.run(scenario.with_transport(EXAMPLE, allow_python=True), seed=3)
    assert result.digest == again.digest


def test_python_gives_what_rust_gives(scenario: Scenario, write: Callable[[str], str]) -> None:
    """The same rules in both languages: the same run, event for event."""
    python = cogtcp.run(scenario.with_transport(f"{write(RENO)}:Reno", allow_python=True))
    rust = cogtcp.run(scenario.with_transport("sack"))
    ours, theirs = (run.flows.drop_columns(["transport", "congestion"]).to_pylist() for run in (python, rust))
    assert str(ours) == str(theirs)  # as text, since NaN differs from itself
    assert python.digest == rust.digest


def test_a_comparison_takes_both(scenario: Scenario) -> None:
    comparison = cogtcp.compare(scenario, ["sack", EXAMPLE], seeds=2, allow_python=True)
    assert comparison.failures == []
    assert comparison.interval(EXAMPLE, "goodput_bps").mean > 0


def test_parameters_reach_the_constructor() -> None:
    flow = f'transport = "{EXAMPLE}"\ntcp = {{ parameters = {{ increase = 3, grace = 0 }} }}'
    eager = Scenario.from_toml(SMALL.replace('transport = "newreno"', flow), allow_python=True)
    plain = Scenario.from_toml(SMALL).with_transport(EXAMPLE, allow_python=True)
    assert cogtcp.run(eager).digest != cogtcp.run(plain).digest
    wrong = Scenario.from_toml(
        SMALL.replace('transport = "newreno"', flow.replace("grace", "grase")), allow_python=True
    )
    with pytest.raises(ScenarioError, match="unexpected keyword argument 'grase'"):
        wrong.check()


def test_a_control_under_another_recovery() -> None:
    flow = f'transport = "newreno"\ntcp = {{ congestion = "{EXAMPLE}" }}'
    scenario = Scenario.from_toml(SMALL.replace('transport = "newreno"', flow), allow_python=True)
    assert cogtcp.run(scenario).flows.column("transport").to_pylist() == ["newreno"]


def test_the_command_line_finds_it_in_the_current_folder(
    command: Command, small: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text(RENO)
    done = command("compare", small, "--transport", "sack,mine:Reno", "--seeds", 1, "--json")
    assert done.code == 0, done.err
    digests = {run["transport"]: run["digest"] for run in done.json()["runs"]}
    assert set(digests) == {"sack", "mine:Reno"}
    missing = command("run", small, "--set", "flow.0.transport=nowhere:Reno")
    assert missing.code == 2
    assert 'module "nowhere" not found' in missing.err
    nameless = command("run", small, "--set", "flow.0.transport=mine:Rino")
    assert nameless.code == 2
    assert "its classes: Reno" in nameless.err


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("tcp.cwnd = 1 / 0", r"cong_avoid: ZeroDivisionError: division by zero \(.*, line 7\)"),
        ("tcp.cwnd = 'wide'", "cong_avoid: TypeError: cwnd must be a number of bytes, not str"),
        ("tcp.cwnd = float('nan')", "cong_avoid: ValueError: cwnd must be a number of bytes"),
        ("tcp.cwnd = -1", "cong_avoid: ValueError: cwnd must be a number of bytes"),
        ("tcp.mss = 1", "cong_avoid: AttributeError"),
        ("ack.acked = 1", "cong_avoid: AttributeError"),
        ("tcp.pacing_rate = 0", "cong_avoid: ValueError: pacing_rate must be None or"),
        ("raise SystemExit('enough')", "cong_avoid: SystemExit: enough"),
    ],
)
def test_what_a_hook_raises_ends_the_run(
    scenario: Scenario, write: Callable[[str], str], body: str, what: str
) -> None:
    name = write(f"""
        class Broken:
            def ssthresh(self, now, tcp):
                return 2 * tcp.mss

            def cong_avoid(self, now, tcp, ack):
                {body}
    """)
    with pytest.raises(RunError, match=rf"{name}:Broken\.{what}"):
        cogtcp.run(scenario.with_transport(f"{name}:Broken", allow_python=True))
    comparison = cogtcp.compare(scenario, ["sack", f"{name}:Broken"], seeds=1, allow_python=True)
    assert [outcome.transport for outcome in comparison.failures] == [f"{name}:Broken"]
    with pytest.raises(ConformanceError, match="cong_avoid"):
        cogtcp.check_congestion_control(f"{name}:Broken", seeds=2)


def test_what_is_no_control_is_refused(scenario: Scenario, write: Callable[[str], str]) -> None:
    name = write("class Half:\n    def ssthresh(self, now, tcp):\n        return 2\nvalue = 3\n")
    with pytest.raises(ScenarioError, match='no method "cong_avoid"'):
        scenario.with_transport(f"{name}:Half", allow_python=True).check()
    with pytest.raises(UsageError, match='no method "cong_avoid"'):
        cogtcp.check_congestion_control(f"{name}:Half")
    with pytest.raises(ScenarioError, match="is not a class"):
        scenario.with_transport(f"{name}:value", allow_python=True).check()
    with pytest.raises(ScenarioError, match="cannot be imported: ZeroDivisionError"):
        scenario.with_transport(f"{write('1 / 0')}:Half", allow_python=True).check()
    with pytest.raises(ScenarioError, match="module:Class"):
        scenario.with_transport("my_control.py:")


class Floorless(cogtcp.CongestionControl):
    """Its threshold may be below two segments."""

    def ssthresh(self, now: float, tcp: cogtcp.TcpState) -> float:
        return tcp.flight_size / 2

    def cong_avoid(self, now: float, tcp: cogtcp.TcpState, ack: cogtcp.AckSample) -> None:
        tcp.cwnd += ack.acked


class Watcher(Floorless):
    """Calls every hook there is, and checks the kinds of what it is given."""

    seen: set[str]

    def __init__(self) -> None:
        Watcher.seen = set()

    def init(self, now: float, tcp: cogtcp.TcpState) -> None:
        assert tcp.ca_state == "open"
        assert tcp.mss == 1460
        self.seen.add("init")

    def ssthresh(self, now: float, tcp: cogtcp.TcpState) -> float:
        self.seen.add("ssthresh")
        return max(super().ssthresh(now, tcp), 2 * tcp.mss)

    def pkts_acked(self, now: float, tcp: cogtcp.TcpState, ack: cogtcp.AckSample) -> None:
        assert ack.rtt is None or 0 < ack.rtt < 10
        assert ack.rate.rate is None or ack.rate.interval > 0
        assert tcp.min_rtt <= tcp.latest_rtt
        self.seen.add("pkts_acked")

    def set_state(self, now: float, tcp: cogtcp.TcpState, state: str) -> None:
        assert {state, tcp.ca_state} <= {"open", "disorder", "cwr", "recovery", "loss"}
        self.seen.add(state)

    def cwnd_event(self, now: float, tcp: cogtcp.TcpState, event: str) -> None:
        self.seen.add(f"event {event}")

    def cong_control(self, now: float, tcp: cogtcp.TcpState, ack: cogtcp.AckSample) -> bool:
        tcp.pacing_rate = 4e6
        return False

    def observe(self, tcp: cogtcp.TcpState) -> dict[str, float]:
        return {"seen": len(self.seen), "window_segments": tcp.cwnd / tcp.mss}

    def on_packet_sent(self, now: float, tcp: cogtcp.TcpState, packet: cogtcp.PacketInfo) -> None:
        assert 0 < packet.bytes <= 1460
        assert tcp.pacing_rate in (None, 4_000_000)
        self.seen.add("retransmission" if packet.retransmission else "transmission")

    def on_link_event(self, now: float, tcp: cogtcp.TcpState, event: cogtcp.LinkEvent) -> None:
        assert event.until is None or event.until > now
        self.seen.add(event.kind)

    def syn_option(self) -> int | None:
        self.seen.add("syn_option")
        return 7

    def on_syn_ack_option(self, now: float, tcp: cogtcp.TcpState, value: int | None) -> None:
        self.seen.add(f"option {value}")


def test_every_hook_is_called(scenario: Scenario) -> None:
    sys.modules.setdefault("test_control", sys.modules[__name__])
    result = cogtcp.run(scenario.with_transport(Watcher))
    shown = result.control_series.to_pylist()
    windows = [row["value"] for row in shown if row["variable"] == "window_segments"]
    assert windows == pytest.approx(result.flow_series.column("cwnd_segments").to_pylist())
    assert {row["variable"] for row in shown} == {"seen", "window_segments"}
    assert Watcher.seen >= {
        "init",
        "ssthresh",
        "pkts_acked",
        "open",
        "loss",
        "event loss",
        "event tx_start",
        "transmission",
        "retransmission",
        "sensing_start",
        "sensing_end",
        "syn_option",
    }


def test_the_conformance_suite_finds_faults() -> None:
    with pytest.raises(ConformanceError) as caught:
        cogtcp.check_congestion_control(Floorless)
    assert caught.value.check == "floor"
    with pytest.raises(UsageError, match="is not a class"):
        cogtcp.check_congestion_control(3)  # type: ignore[arg-type]


def test_every_hook_of_the_trait_is_a_method() -> None:
    hooks = set()
    for file, name in (
        ("congestion.rs", "CongestionControl"),
        ("congestion/extension.rs", "ControlExtension"),
    ):
        source = (ROOT / "crates/transport/src" / file).read_text()
        trait = source.split(f"pub trait {name}", 1)[1].split("\n}\n", 1)[0]
        hooks |= set(re.findall(r"^    fn (\w+)\(", trait, re.MULTILINE))
    # A name is an attribute; the receiver of a control with a SYN option counts flows, as C2's does;
    # controls in Python always have delivery rates, never send ECT(1), hear of ECN-Echo alone, and have the
    # socket's usual memory, and grow where cwnd limits the flow. One class has both hooks.
    hooks -= {"name", "extension", "receiver_hook", "uses_delivery_rate", "uses_l4s", "counts_marks"}
    hooks -= {"buffered_windows", "looks_at_the_limit"}
    # Rust only: a control in Python counts an ACK in pkts_acked.
    hooks -= {"in_ack_event", "counts_acks_first"}
    methods = {name for name in vars(cogtcp.CongestionControl) if not name.startswith("_")}
    assert len(hooks) > 15
    assert methods == hooks


def test_the_suite_plays_every_hook(write: Callable[[str], str]) -> None:
    """The conformance suite plays every hook, so a binding that forgets one shows here."""
    module = write(
        """
        import cogtcp

        called = set()

        class Listens(cogtcp.CongestionControl):
            def ssthresh(self, now, tcp):
                called.add("ssthresh")
                return max(tcp.flight_size // 2, 2 * tcp.mss)

            def cong_avoid(self, now, tcp, ack):
                called.add("cong_avoid")
                tcp.cwnd += ack.acked * tcp.mss // tcp.cwnd

        def listen(name, answer):
            def hook(self, *arguments):
                called.add(name)
                return answer(*arguments)
            setattr(Listens, name, hook)

        for name in ("init", "pkts_acked", "set_state", "cwnd_event", "on_packet_sent", "on_link_event",
                     "on_ack_option", "on_syn_ack_option"):
            listen(name, lambda *arguments: None)
        for name in ("dup_ack_retransmit", "cong_control", "owns_cwnd", "on_unreachable"):
            listen(name, lambda *arguments: False)
        listen("undo_cwnd", lambda now, tcp: max(tcp.cwnd, tcp.prior_cwnd))
        listen("observe", lambda tcp: {})
        listen("syn_option", lambda: 7)
        """
    )
    cogtcp.check_congestion_control(f"{module}:Listens")
    methods = {name for name in vars(cogtcp.CongestionControl) if not name.startswith("_")}
    assert sys.modules[module].called == methods
