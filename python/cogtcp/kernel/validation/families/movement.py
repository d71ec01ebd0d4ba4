"""Mobile nodes with AODV and TCP, beside ns-2: both replay the same setdest file."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.data.mobility import Mobility
from cogtcp.kernel.validation.families.family import Family, ns2
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SECONDS, _SIDE = 100, 1000


class Movement(Family):
    """Nodes by random waypoint on a square kilometre, with NewReno flows between them."""

    name = "movement"
    peer = "ns-2"
    # Runs of one movement differ by a tenth; backoffs of the two sides are drawn apart.
    bands: ClassVar = {"goodput_bps": 0.15}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw nodes, flows and the movement."""
        return {
            "nodes": stream.randint(15, 30),
            "flows": stream.randint(2, 8),
            # The slowest trip is at 1 m/s: some room is left above it.
            "speed": max(1.5, round(stream.uniform(1, 10), 1)),
            "movement": stream.randrange(1, 10**6),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        return f"{drawn['nodes']} nodes at up to {drawn['speed']:g} m/s, {drawn['flows']} flows"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run `mobile.tcl`."""
        return replayed_in_ns2(_movement(drawn), drawn["nodes"], _flows(drawn), seed)

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run the same here."""
        return replayed(_movement(drawn), drawn["nodes"], _flows(drawn), seed)


def replayed_in_ns2(
    movement: str, nodes: int, flows: Sequence[tuple[int, int, float]], seed: int
) -> dict[str, float]:
    """Run `mobile.tcl` over the text of a setdest file. A flow has a sender, a receiver and a start in s."""
    words = " ".join(f"{{{a} {b} {start}}}" for a, b, start in flows)
    with tempfile.TemporaryDirectory() as folder:
        rows = ns2("mobile.tcl", seed, _SECONDS, _file(movement, folder), nodes, _SIDE, _SIDE, words)
    return {"goodput_bps": 8000 * sum(int(row[1]) for row in rows if row[:1] == ["flow"]) / _SECONDS}


def replayed(
    movement: str, nodes: int, flows: Sequence[tuple[int, int, float]], seed: int
) -> dict[str, float]:
    """Run the flows over the setdest file here, under the profile `ns2`."""
    with tempfile.TemporaryDirectory() as folder:
        data = {
            "name": "movement",
            "routing": "aodv",
            "run": {"duration": f"{_SECONDS} s", "seed": seed},
            # TCPSink of ns-2 acknowledges every packet.
            "tcp": {"segment_size": "1000 B", "max_window": "20 segments", "delayed_ack": "off"},
            "area": {"width": f"{_SIDE} m", "height": f"{_SIDE} m"},
            "topology": {"ad_hoc": {"nodes": nodes, "mobility": {"trace": str(_file(movement, folder))}}},
            "mac": {"profile": "ns2", "rate": "2 Mbit/s"},
            "flow": [
                {"from": f"n{a}", "to": f"n{b}", "transport": "ns2", "start": f"{round(start * 1e3)} ms"}
                for a, b, start in flows
            ],
        }
        rows = run(Scenario.from_dict(data), seed=seed, trace="summary").flows
    return {"goodput_bps": 8 * sum(rows.column("delivered_bytes").to_pylist()) / _SECONDS}


def _flows(drawn: Mapping[str, Any]) -> list[tuple[int, int, float]]:
    stream = random.Random(f"flows/{drawn['movement']}")  # noqa: S311 - a documented draw, no secret
    ends = [stream.sample(range(drawn["nodes"]), 2) for _ in range(drawn["flows"])]
    return [(a, b, 1 + 0.5 * number) for number, (a, b) in enumerate(ends)]


def _movement(drawn: Mapping[str, Any]) -> str:
    moves = Mobility.random_waypoint(
        drawn["nodes"],
        area=(_SIDE, _SIDE),
        speed=(1.0, drawn["speed"]),
        pause=(3.0, 3.0),
        duration=_SECONDS + 1,
        seed=drawn["movement"],
    )
    return moves.to_text("setdest")


def _file(movement: str, folder: str) -> Path:
    file = Path(folder) / "movement.tcl"
    file.write_text(movement)
    return file
