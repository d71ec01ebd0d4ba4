"""Grids of ad hoc stations: saturated rows and columns, and NewReno over routes that AODV finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.data.mobility import Mobility
from cogtcp.kernel.validation.families.family import Family, three_digits
from cogtcp.kernel.validation.families.movement import replayed, replayed_in_ns2
from cogtcp.kernel.validation.families.stations import InNs3, Stations

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from cogtcp.kernel.validation.families.stations import Paths, Places


class Grid(Stations):
    """Rows and columns whose first station always has packets; they cross at relays."""

    name = "grid"
    script = "strings.tcl"

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the side, the spacing, which rows and columns carry packets, and whether stations send RTS."""
        side = stream.randint(3, 5)
        return {
            "side": side,
            # Neighbours decode each other (250 m), across a square they do not: 177 m times the root of two.
            "spacing": three_digits(stream.uniform(190, 245)),
            "lines": sorted(stream.sample(range(2 * side), stream.randint(1, 4))),
            "rts": stream.choice(["on", "off"]),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        side = drawn["side"]
        rows = sum(line < side for line in drawn["lines"])
        lines = f"{rows} rows and {len(drawn['lines']) - rows} columns"
        return f"{side} x {side} at {drawn['spacing']:g} m, {lines}, RTS {drawn['rts']}"

    def places(self, drawn: Mapping[str, Any]) -> tuple[Places, Paths]:
        """Put them row by row; the first lines are rows, from left to right, then columns."""
        side = drawn["side"]
        paths = [
            tuple(side * line + place if line < side else side * place + line - side for place in range(side))
            for line in drawn["lines"]
        ]
        return _standing(drawn).positions(0), paths


class Ns3Grid(InNs3, Grid):
    """Grids beside ns-3."""

    name = "ns3-grid"


class GridTcp(Family):
    """NewReno between any two stations of a grid, with AODV."""

    name = "grid-tcp"
    peer = "ns-2"
    bands: ClassVar = {"goodput_bps": 0.1}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the side, the spacing and the ends of flows."""
        side = stream.randint(3, 5)
        ends = [stream.sample(range(side * side), 2) for _ in range(stream.randint(1, 4))]
        return {"side": side, "spacing": three_digits(stream.uniform(190, 245)), "ends": ends}

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        side, ends = drawn["side"], ", ".join(f"{a} to {b}" for a, b in drawn["ends"])
        return f"{side} x {side} at {drawn['spacing']:g} m, {ends}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run `mobile.tcl` with stations that stand."""
        return replayed_in_ns2(_setdest(drawn), drawn["side"] ** 2, _flows(drawn), seed)

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run the grid here under the profile `ns2`."""
        return replayed(_setdest(drawn), drawn["side"] ** 2, _flows(drawn), seed)


def _standing(drawn: Mapping[str, Any]) -> Mobility:
    side = drawn["side"]
    return Mobility.static(side * side, "grid", columns=side, spacing=drawn["spacing"])


def _setdest(drawn: Mapping[str, Any]) -> str:
    return _standing(drawn).to_text("setdest")


def _flows(drawn: Mapping[str, Any]) -> list[tuple[int, int, float]]:
    return [(a, b, 1 + 0.5 * number) for number, (a, b) in enumerate(drawn["ends"])]
