"""Linux's Multipath TCP beside ours: the same paths, uncoupled subflows of CUBIC."""

from __future__ import annotations

import sys

import pytest

from cogtcp import Scenario, ScenarioError, run
from cogtcp.kernel.emulation import check, emulate
from conftest import side_by_side
from test_emulation import as_in_time, on_kernel
from test_virtual import in_virtual_time

IN_VIRTUAL_TIME = True

#: Rate, delay one way, queue and silence of two paths.
PATHS = {
    "equal": (("5 Mbit/s", "20 ms", 40, ""), ("5 Mbit/s", "20 ms", 40, "")),
    "rates": (("8 Mbit/s", "20 ms", 60, ""), ("2 Mbit/s", "20 ms", 30, "")),
    "delays": (("6 Mbit/s", "10 ms", 40, ""), ("4 Mbit/s", "60 ms", 60, "")),
    "bonded": (("8 Mbit/s", "20 ms", 60, "500 ms"), ("2 Mbit/s", "30 ms", 30, "")),
}


def text(name: str, transport: str = "mptcp-linux-cubic") -> str:
    links, radios = [], []
    for number, (rate, delay, queue, silent) in enumerate(PATHS[name]):
        links += [
            f'{{ name = "in-{number}", from = "a", to = "r{number}", rate = "1 Gbit/s", delay = "1 us" }}',
            f'{{ name = "path-{number}", from = "r{number}", to = "b", rate = "{rate}", delay = "{delay}", '
            f'queue = "{queue} packets", reverse_queue = "1000 packets" }}',
        ]
        if silent:
            radios.append(
                f'[[radio]]\nname = "radio"\nlinks = ["path-{number}"]\nsilence = "drop"\n'
                f'sensing = {{ off = "{silent}", on = "4.5 s" }}'
            )
    return f"""
name = "multipath"
run = {{ duration = "20 s", warmup = "5 s" }}
tcp = {{ segment_size = "1400 B", delayed_ack = "linux" }}
[topology.graph]
nodes = ["a", "r0", "r1", "b"]
links = [{", ".join(links)}]
{"".join(radios)}
[[flow]]
name = "flow"
from = "a"
to = "b"
transport = "{transport}"
paths = ["path-0", "path-1"]
"""


@on_kernel
@pytest.mark.parametrize("name", PATHS)
@side_by_side
def test_linux_delivers_what_ours_delivers_uncoupled(name: str) -> None:
    scenario = Scenario.from_toml(text(name))
    emulated, simulated = emulate(scenario), run(scenario)
    (flow,), (expected,) = emulated.rows("flows"), simulated.rows("flows")
    shares, wanted = ([row["share"] for row in result.rows("subflows")] for result in (emulated, simulated))
    assert [row["link"] for row in emulated.rows("subflows")] == ["path-0", "path-1"]
    assert sum(shares) == pytest.approx(1)
    # Both paths carry data, and so the goodput is above what either could carry.
    assert min(shares) > 0.05
    with as_in_time(emulated):
        assert flow["goodput_bps"] == pytest.approx(expected["goodput_bps"], rel=0.1)
        assert shares == pytest.approx(wanted, abs=0.1)
        assert flow["efficiency"] == pytest.approx(expected["efficiency"], rel=0.1)


@on_kernel
@side_by_side
def test_a_transport_of_one_path_uses_the_first() -> None:
    scenario = Scenario.from_toml(text("delays", "linux-cubic").replace('["path-0", "path-1"]', '["path-1"]'))
    result = emulate(scenario.set("run.duration", "6 s").set("run.warmup", "2 s"))
    (flow,) = result.rows("flows")
    assert flow["bottleneck"] == "path-1"
    with as_in_time(result):
        assert flow["rtt_min_s"] > 0.12
        assert 3e6 < flow["goodput_bps"] < 4e6


@pytest.mark.parametrize(
    ("transport", "words"),
    [
        ("mptcp", 'coupled by "lia"'),
        ("mptcp-olia", 'coupled by "olia"'),
        ("mptcp-c2-author", "the kernel"),
    ],
)
def test_what_linux_has_not_is_one_clear_error(transport: str, words: str) -> None:
    with pytest.raises(ScenarioError, match=words):
        check(Scenario.from_toml(text("equal", transport)))


def test_another_scheduler_and_a_second_flow_are_refused() -> None:
    settings = {"mptcp": {"control": "linux-cubic", "coupling": "uncoupled", "scheduler": "redundant"}}
    with pytest.raises(ScenarioError, match="another scheduler"):
        check(Scenario.from_toml(text("equal")).set("flow.0.transport", settings))
    second = text("equal").partition("[[flow]]")[2].replace('name = "flow"', 'name = "second"')
    with pytest.raises(ScenarioError, match='"second" of Multipath TCP ends at a host with another one'):
        check(Scenario.from_toml(f"{text('equal')}\n[[flow]]{second}"))


#: A program of Multipath TCP at either end: it downloads, as over `bonded`.
SERVER = """\
import os, socket
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("0.0.0.0", 5000))
listener.listen()
stream, _ = listener.accept()
stream.sendall(bytes(4_000_000))
stream.close()
"""
CLIENT = """\
import os, socket, time
while True:
    stream = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
    try:
        stream.connect((os.environ["COGTCP_PEER"], 5000))
        break
    except ConnectionRefusedError:
        time.sleep(0.1)
size = 0
while data := stream.recv(65536):
    size += len(data)
assert size == 4_000_000
"""


@pytest.mark.parametrize(
    "clock", [pytest.param(False, marks=on_kernel), pytest.param(True, marks=in_virtual_time)]
)
def test_programs_of_multipath_tcp_get_both_paths(clock: bool) -> None:
    scenario = Scenario.from_toml(text("equal"))
    result = emulate(
        scenario,
        command=[sys.executable, "-c", CLIENT],
        peer=[sys.executable, "-c", SERVER],
        duration_s=20,
        virtual=clock,
        quiet=True,
    )
    assert result.exit_code == 0
    # 4 MB from b to a: with one path the other would carry nothing.
    carried = {
        row["link"]: row["carried_bytes"] for row in result.rows("links") if row["direction"] == "reverse"
    }
    assert min(carried["path-0"], carried["path-1"]) > 500_000, carried
