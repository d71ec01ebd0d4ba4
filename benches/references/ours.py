"""Our run of a set-up: a scenario over two links, and the data packets that enter the second."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sequences import Sent

import cogtcp


@dataclass(frozen=True)
class Flow:
    """One connection of a set-up."""

    transport: str
    source: str = "s1"
    start: float = 1.0
    tcp: dict[str, Any] = field(default_factory=dict)
    size: int | None = None


@dataclass(frozen=True)
class Path:
    """Senders s1, s2 ... to a router r1, and from there a bottleneck to the receiver k1."""

    access_rate: str = "8 Mbit/s"
    #: Delay of the access link of each sender.
    access_delay: tuple[str, ...] = ("0 ms",)
    rate: str = "800 kbit/s"
    delay: str = "100 ms"
    #: Packets that wait, the one in transmission not counted: ns-2's queue-limit less one.
    queue: int = 7
    #: Packets of the first sender lost before the bottleneck's queue, and ACKs to it, by their number from 1.
    drops: tuple[int, ...] = ()
    ack_drops: tuple[int, ...] = ()


def run(path: Path, flows: list[Flow], duration: float, segment: int = 1000) -> tuple[list[list[Sent]], Any]:
    """Simulate; return the data packets of each flow as they enter the bottleneck, and the result."""
    scenario = cogtcp.Scenario.from_toml(text(path, flows, duration, segment))
    result = cogtcp.run(scenario, trace="packets")
    return [packets_of(result, f"f{number + 1}", segment) for number in range(len(flows))], result


def text(path: Path, flows: list[Flow], duration: float, segment: int) -> str:
    """Write the scenario."""
    senders = [f"s{number + 1}" for number in range(len(path.access_delay))]
    lines = ['name = "reference"', "[run]", f'duration = "{duration} s"', "[topology.graph]"]
    nodes = ", ".join(f'"{node}"' for node in [*senders, "r1", "k1"])
    lines += [f"nodes = [{nodes}]", "links = ["]
    for number, (sender, delay) in enumerate(zip(senders, path.access_delay, strict=True)):
        drops = ""
        if number == 0 and path.drops:
            drops += f", drops = {list(path.drops)}"
        if number == 0 and path.ack_drops:
            drops += f", reverse_drops = {list(path.ack_drops)}"
        lines.append(
            f'  {{ name = "{sender}", from = "{sender}", to = "r1", rate = "{path.access_rate}", '
            f'delay = "{delay}", queue = "10000 packets"{drops} }},'
        )
    lines.append(
        f'  {{ name = "bottleneck", from = "r1", to = "k1", rate = "{path.rate}", delay = "{path.delay}", '
        f'queue = "{path.queue} packets" }},'
    )
    lines.append("]")
    for flow in flows:
        lines += ["[[flow]]", f'from = "{flow.source}"', 'to = "k1"', f'transport = "{flow.transport}"']
        lines += [f'start = "{flow.start} s"']
        if flow.size is not None:
            lines.append(f'traffic = {{ size = "{flow.size} B" }}')
        settings = {"segment_size": f"{segment} B", **flow.tcp}
        lines.append(f"tcp = {{ {', '.join(f'{key} = {_toml(value)}' for key, value in settings.items())} }}")
    return "\n".join(lines) + "\n"


def packets_of(result: Any, flow: str, segment: int, link: str = "bottleneck") -> list[Sent]:
    """Find the data packets of a flow that were offered to a link, dropped at its full queue or not."""
    found = []
    for row in result.packets.to_pylist():
        offered = row["event"] == "queued" or row["cause"] == "queue"
        at = row["link"] == link and row["direction"] == "forward" and row["flow"] == flow
        if offered and at and row["payload_bytes"] > 0:
            found.append(Sent(row["time_s"], (row["seq"] - 1) // segment + 1))
    return found


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
    return f'"{value}"' if isinstance(value, str) else str(value)
