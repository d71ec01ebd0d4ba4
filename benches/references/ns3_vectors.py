"""ns-3's response vectors: the TCP headers that the sender of a test handed to IP, with their times.

`src/test/ns3tcp/response-vectors/*.pcap` of an ns-3 tree; the set-ups are those that
ns3tcp-loss-test-suite.cc and ns3tcp-state-test-suite.cc beside them describe.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path as File  # noqa: TC003 - not only for types in the other modules
from typing import Any

import cogtcp

FIN, SYN, ACK = 1, 2, 16


@dataclass(frozen=True)
class Header:
    """A segment as the sender hands it to IP. Numbers count from the SYN of either side."""

    time: float
    kind: str
    seq: int
    length: int
    ack: int

    def __str__(self) -> str:
        return f"{self.kind} {self.seq}+{self.length} ack {self.ack}"


@dataclass(frozen=True)
class Test:
    """A test: name of its file, the control, and our scenario."""

    name: str
    control: str
    scenario: str

    def vectors(self, tree: File) -> File:
        """Return the file in an ns-3 tree."""
        return tree / "src/test/ns3tcp/response-vectors" / f"ns3tcp-{self.name}-response-vectors.pcap"


def read(path: File) -> list[Header]:
    """Read a file of response vectors: pcap records of bare TCP segments."""
    data = path.read_bytes()
    order = "<" if data[:4] == b"\xd4\xc3\xb2\xa1" else ">"
    offset, headers = 24, []
    isn, peer = 0, None
    while offset + 16 <= len(data):
        seconds, micros, kept, whole = struct.unpack_from(order + "IIII", data, offset)
        segment = data[offset + 16 : offset + 16 + kept]
        offset += 16 + kept
        _, _, seq, ack, flags = struct.unpack_from(">HHIIH", segment)
        if flags & SYN:
            isn = seq
        if flags & ACK and peer is None:
            peer = ack - 1
        length = whole - 4 * (flags >> 12)
        headers.append(
            Header(
                seconds + micros / 1e6,
                _kind(flags),
                (seq - isn) % 2**32,
                length,
                (ack - (peer or 0)) % 2**32 if flags & ACK else 0,
            )
        )
    return headers


def _kind(flags: int) -> str:
    # PSH says nothing here: ns-3 never sets it.
    return "".join(name for bit, name in ((SYN, "S"), (FIN, "F"), (ACK, ".")) if flags & bit)


def run(test: Test) -> tuple[list[Header], Any]:
    """Simulate: what our sender hands to its first link, and the result."""
    result = cogtcp.run(cogtcp.Scenario.from_toml(test.scenario), trace="packets")
    headers = []
    for row in result.packets.to_pylist():
        if row["event"] == "queued" and row["source"] == "sender" and row["link"] == "first":
            kind = row["flags"].replace("P", "")
            kind = "".join(letter for letter in "SF." if letter in kind)
            ack = row["ack"] if "." in kind else 0
            headers.append(Header(row["time_s"], kind, row["seq"], row["payload_bytes"], ack))
    return headers, result


#: PPP adds two bytes to each packet in ns-3. With the rates scaled so a full segment takes as long as there.
def _rate(rate: int) -> str:
    return f"{round(rate * 1040 / 1042)} bit/s"


def _scenario(
    transport: str, first: str, second: str, size: int, queue: str, tcp: str, duration: str = "100 s"
) -> str:
    return f"""
name = "reference"
[run]
duration = "{duration}"
[topology.graph]
nodes = ["s1", "r1", "k1"]
links = [
  {{ name = "first", from = "s1", to = "r1", queue = "{queue}", {first} }},
  {{ name = "second", from = "r1", to = "k1", queue = "{queue}", {second} }},
]
[[flow]]
from = "s1"
to = "k1"
transport = "{transport}"
traffic = {{ size = "{size} B" }}
tcp = {{ segment_size = "1000 B", delayed_ack = "off", recovery = "newreno", min_rto = "1 s", {tcp} }}
"""


def _loss() -> list[Test]:
    """ns3tcp-loss: 200 kB, up to four segments of a window lost, NewReno without SACK."""
    tests = []
    for control, transport in (("NewReno", "newreno"), ("WestwoodPlus", "westwood-tustin")):
        for case in range(5):
            drops = f", drops = {list(range(17, 17 + case))}" if case else ""
            first = f'rate = "{_rate(8_000_000)}", delay = "100 us"'
            second = f'rate = "{_rate(800_000)}", delay = "100 ms"{drops}'
            tcp = 'initial_window = "1 segment", limited_transmit = true'
            if control == "NewReno":
                tcp += ", parameters = { byte_counting = false, whole_segments = true }"
            scenario = _scenario(transport, first, second, 200_000, "100 packets", tcp)
            tests.append(Test(f"loss-{control}{case}", transport, scenario))
    return tests


def _state() -> list[Test]:
    """ns3tcp-state: handshakes and ends of connections with packets lost.

    Left out: 5 and 7, which close later than they write. Case 6 loses the ACK of the FIN, which a FIN of its
    own follows there; our receiver's FIN acknowledges, so nothing is lost.
    """
    cases: dict[int, tuple[int, str, str]] = {
        0: (1000, "", ""),
        1: (100_000, "", ""),
        2: (1000, "drops = [1]", ""),
        3: (2000, "", "reverse_drops = [1]"),
        4: (2000, "drops = [2]", ""),
        6: (5000, "", ""),
        8: (5000, "", "reverse_drops = [7]"),
    }
    tests = []
    for case, (size, first_drops, second_drops) in cases.items():
        rate = f'rate = "{_rate(1_000_000)}", delay = "100 us"'
        first = ", ".join(filter(None, (rate, first_drops)))
        second = ", ".join(filter(None, (rate, second_drops)))
        tcp = 'initial_window = "1 segment", initial_rto = "3 s"'
        scenario = _scenario("newreno", first, second, size, "1000 packets", tcp, "1000 s")
        tests.append(Test(f"state{case}", "newreno", scenario))
    return tests


TESTS = [*_loss(), *_state()]
