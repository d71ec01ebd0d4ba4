"""The first packet in which the simulator and the kernel differ: captures of both planes, side by side.

Means over seeds say that two planes differ, and not where. Here a flow's packets are read off at its sender,
on both planes, in the order in which they leave and arrive there. The first that is another one is where the
planes part; what follows is consequence.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp import _core
from cogtcp._errors import UsageError
from cogtcp.data.fitting.packets import views
from cogtcp.model.capture import blocks, find_point
from cogtcp.model.result import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from cogtcp.kernel.emulation.result import Emulation
    from cogtcp.model.capture import Point
    from cogtcp.model.result import Result
    from cogtcp.model.scenario import Scenario

_FLAGS = "FSRP.UEWA"
#: The ports by which a capture tells flows: the simulator counts the senders', the kernel the receivers'.
_FIRST_DYNAMIC, _FIRST_LISTENING = 49152, 5001


@dataclass(frozen=True)
class Seen:
    """A packet of TCP as the sender's host sees it.

    Attributes:
        time_s: When.
        is_sent: Whether the sender sent it; else the receiver did.
        flags: As tcpdump has them.
        start: Relative sequence number; the SYN has 0.
        length: Payload, bytes.
        ack: Relative acknowledgement number.
        sack: SACK blocks, relative.
    """

    time_s: float
    is_sent: bool
    flags: str
    start: int
    length: int
    ack: int
    sack: tuple[tuple[int, int], ...]

    @property
    def what(self) -> tuple[Any, ...]:
        """What is compared: not when, and not PSH, which is a hint; of ACKs no sequence number."""
        flags = self.flags.replace("P", "")
        return (flags, self.start, self.length) if self.is_sent else (flags, self.ack, self.sack)

    def __str__(self) -> str:
        """Show it in a line."""
        blocks = "".join(f" sack {start}:{end}" for start, end in self.sack)
        arrow = ">" if self.is_sent else "<"
        span = f"{self.start}:{self.start + self.length}"
        return f"{self.time_s:11.6f} {arrow} {self.flags} {span} ack {self.ack}{blocks}"


@dataclass(frozen=True)
class Difference:
    """Where two planes part.

    Attributes:
        simulated: The sender's packets in the simulator, in order.
        emulated: Those on the kernel.
        at: Index of the first that differs, of each plane; None: as far as both go none does.
        sent: Whether it is one that the sender sent.
        doubt: Why the kernel's run is no evidence; empty: it is.
    """

    simulated: list[Seen]
    emulated: list[Seen]
    at: tuple[int, int] | None
    sent: bool
    doubt: str

    def explain(self, before: int = 12, after: int = 4) -> str:
        """Say where the planes part, with the packets around it."""
        if self.at is None:
            return f"no packet differs: {min(len(self.simulated), len(self.emulated))} on each plane"
        number = self._number()
        who = "sent by the sender" if self.sent else "from the receiver"
        lines = [f"packet {number} {who} is the first that differs"]
        for name, packets, at in (
            ("simulator", self.simulated, self.at[0]),
            ("kernel", self.emulated, self.at[1]),
        ):
            lines.append(f"  {name}")
            first, last = max(0, at - before), min(len(packets), at + after + 1)
            for index in range(first, last):
                lines.append(f"  {'*' if index == at else ' '} {packets[index]}")
            if at >= len(packets):
                lines.append("  * nothing")
        return "\n".join(lines)

    def _number(self) -> int:
        """Return how many packets of that direction had gone, this one included."""
        before = self.simulated[: self.at[0]] if self.at else []
        return 1 + sum(packet.is_sent == self.sent for packet in before)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        shown: dict[str, Any] | None = None
        if self.at is not None:
            sides = (("simulator", self.simulated, self.at[0]), ("kernel", self.emulated, self.at[1]))
            shown = {
                name: str(packets[at]).strip() if at < len(packets) else None for name, packets, at in sides
            }
            shown |= {"number": self._number(), "sent": self.sent}
        counts = {"simulator": len(self.simulated), "kernel": len(self.emulated)}
        return {"packets": counts, "first_difference": shown, "doubt": self.doubt}


def compare(simulated: list[Seen], emulated: list[Seen], doubt: str = "") -> Difference:
    """Return where two lists of packets part, each direction in its own order: ACKs cross segments."""
    found: list[tuple[float, tuple[int, int], bool]] = []
    for sent in (True, False):
        ours = [index for index, packet in enumerate(simulated) if packet.is_sent == sent]
        theirs = [index for index, packet in enumerate(emulated) if packet.is_sent == sent]
        for one, other in zip(ours, theirs, strict=False):
            if simulated[one].what != emulated[other].what:
                earlier = min(simulated[one].time_s, emulated[other].time_s)
                found.append((earlier, (one, other), sent))
                break
    if not found:
        return Difference(simulated, emulated, None, True, doubt)
    # The earlier of the two: the other may follow from it.
    _, at, sent = min(found)
    return Difference(simulated, emulated, at, sent, doubt)


def first_difference(
    scenario: Scenario,
    seed: int,
    *,
    flow: int = 0,
    tries: int = 2,
    emulated: Callable[..., Emulation] | None = None,
) -> tuple[Difference, dict[str, bytes]]:
    """Run a scenario on both planes; return where a flow's packets part, and the capture of each plane.

    Args:
        scenario: What to run; its flows go over links.
        seed: The seed of both planes.
        flow: Number of the flow, from 0.
        tries: How often the kernel's run is made that is no evidence.
        emulated: Makes a run on the kernel plane; by default `cogtcp.emulation.emulate`.

    Raises:
        UsageError: An ad hoc network has no link at the sender.
        ScenarioError: The scenario cannot be emulated.
        RunError: A run failed, or this machine has no kernel plane.
    """
    from cogtcp.kernel.emulation import journal
    from cogtcp.kernel.emulation.launch import check, emulate

    check(scenario)
    if not scenario._core.links():
        raise UsageError(f"{scenario.name}: an ad hoc network has no link at which packets are compared")
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(max(1, tries)):
            file = Path(folder) / "packets.journal"
            real = (emulated or emulate)(scenario, seed, journal=file, captures=True, announce=False)
            if real.is_evidence:
                break
        simulation = run(real.kernel.modelled(scenario) if real.kernel else scenario, seed, "packets")
        point = _at_sender(scenario, simulation, flow)
        pieces = b"".join(journal.capture(file, real, point))
    ours = b"".join(blocks(simulation, point))
    mine = read(ours, lambda ports: max(ports) - _FIRST_DYNAMIC == flow)
    theirs = read(pieces, lambda ports: min(ports) - _FIRST_LISTENING == flow)
    return compare(mine, theirs, real.doubt), {"simulator": ours, "kernel": pieces}


def _at_sender(scenario: Scenario, simulation: Result, flow: int) -> Point:
    rows = simulation.rows("flows")
    if not 0 <= flow < len(rows):
        raise UsageError(f"{scenario.name}: unknown flow {flow}; its flows are 0 to {len(rows) - 1}")
    sender = str(rows[flow]["from"])
    for link, first, second in scenario._core.links():
        if sender in (first, second):
            return find_point(scenario, link, sender)
    raise UsageError(f"{scenario.name}: no link leads to {sender}")


def read(capture: bytes, is_of_flow: Callable[[tuple[int, int]], bool]) -> list[Seen]:
    """Return the packets of a flow's TCP from a capture (pcapng, raw IPv4), numbers relative to the SYNs'."""
    # The reader takes a file.
    with tempfile.NamedTemporaryFile(suffix=".pcapng") as file:
        file.write(capture)
        file.flush()
        # A copy of a packet is a difference too.
        captured = _core.read_captures([file.name], sys.maxsize, copies=True)
    rows = views(captured["packets"])
    of_flow = {number for number, ports in enumerate(captured["ports"]) if is_of_flow(ports)}
    sacks: dict[int, list[tuple[int, int]]] = {}
    for row, start, end in zip(rows["sack_row"], rows["sack_low"], rows["sack_high"], strict=True):
        sacks.setdefault(row, []).append((start, end))
    columns = (rows[name] for name in ("connection", "forward", "time", "flags", "seq", "ack", "payload"))
    found: list[Seen] = []
    own: dict[bool, int] = {}
    for row, (connection, forward, time_ns, bits, seq, ack, length) in enumerate(zip(*columns, strict=True)):
        if connection not in of_flow:
            continue
        flags = "".join(letter for bit, letter in enumerate(_FLAGS) if bits >> bit & 1)
        # The sender opens the connection: its first packet is the sender's SYN.
        is_sent = bool(forward)
        if "S" in flags:
            own.setdefault(is_sent, seq)
        mine, peers = own.get(is_sent, seq), own.get(not is_sent, ack)
        sack = tuple(((start - peers) % 2**32, (end - peers) % 2**32) for start, end in sacks.get(row, ()))
        acked = (ack - peers) % 2**32 if "." in flags else 0
        found.append(Seen(time_ns / 1e9, is_sent, flags, (seq - mine) % 2**32, length, acked, sack))
    return found
