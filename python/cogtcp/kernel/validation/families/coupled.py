"""Multipath TCP's coupled controls over two paths, beside their fixed points."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.coupled_windows import coupled_rates
from cogtcp.kernel.validation.families.family import Family, logarithmic, three_digits
from cogtcp.kernel.validation.families.one_flow import PAYLOAD
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

#: Losses of a path in a run.
_LOSSES = 400


class Coupled(Family):
    """LIA, OLIA or BALIA takes as much as TCP would on the best of its paths (RFC 6356 section 2)."""

    name = "mptcp-total"
    peer = "theory"
    bands: ClassVar = {"ratio": 0.05}
    is_random = False
    couplings: ClassVar = ["lia", "olia", "balia"]

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw the control, and for each path how many packets there are to a loss, and its delay."""
        return {
            "coupling": stream.choice(self.couplings),
            "packets_per_loss_0": round(logarithmic(stream, 400, 4000)),
            "packets_per_loss_1": round(logarithmic(stream, 400, 4000)),
            "rtt_0": three_digits(logarithmic(stream, 0.02, 0.2)),
            "rtt_1": three_digits(logarithmic(stream, 0.02, 0.2)),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        paths = [
            f"{drawn[f'rtt_{path}'] * 1e3:g} ms with 1 loss in {drawn[f'packets_per_loss_{path}']}"
            for path in (0, 1)
        ]
        return f"{drawn['coupling']}, {' and '.join(paths)}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return one TCP."""
        return {"ratio": 1.0}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run SACK on each path, then the coupled subflows."""
        alone = max(_goodputs(drawn, "sack", [path])[0] for path in ("path-0", "path-1"))
        return {"ratio": sum(_both(drawn)) / alone}


class _Shares(Coupled):
    """The first path's share of the goodput."""

    bands: ClassVar = {"share": 0.05}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Run it."""
        goodputs = _both(drawn)
        return {"share": goodputs[0] / sum(goodputs)}


class LiaShares(_Shares):
    """LIA's subflows share as the packets between their losses: each grows alike for an acknowledged packet.

    The increase is the same on both paths where neither grows as fast as TCP would, so that p w is the same.
    """

    name = "mptcp-shares"
    couplings: ClassVar = ["lia"]

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw paths none of which is held to the growth of a TCP of its own."""
        while True:
            drawn = super().draw(stream)
            windows = [drawn[f"packets_per_loss_{path}"] for path in (0, 1)]
            rates = [windows[path] / drawn[f"rtt_{path}"] for path in (0, 1)]
            # RFC 6356 section 3: a / total < 1 / w, with the windows in proportion.
            best = max(windows[path] / drawn[f"rtt_{path}"] ** 2 for path in (0, 1))
            if best / sum(rates) ** 2 < 0.8 / max(windows):
                return drawn

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the first path's share."""
        rates = [drawn[f"packets_per_loss_{path}"] / drawn[f"rtt_{path}"] for path in (0, 1)]
        return {"share": rates[0] / sum(rates)}


class OliaShares(_Shares):
    """OLIA uses the better path, and keeps a segment on the other (Khalili and others 2012, theorem 1)."""

    name = "mptcp-olia"
    couplings: ClassVar = ["olia"]
    least_factor = 1.2

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw two paths. A TCP would be faster on the first, by the root of the least factor."""
        while True:
            drawn = super().draw(stream)
            first, second = (packets / rtt**2 for packets, rtt in _paths(drawn))
            if first > self.least_factor * second:
                return drawn

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the first path's share."""
        rates = coupled_rates(drawn["coupling"], _paths(drawn))
        return {"share": rates[0] / sum(rates)}


class BaliaShares(OliaShares):
    """BALIA's subflows share by its growth and its decrease (draft-walid-mptcp-congestion-control-04).

    On paths that are more alike the order of losses decides which is faster, and so by how much windows fall.
    """

    name = "mptcp-balia"
    couplings: ClassVar = ["balia"]
    #: The least factor between the packets for each loss over the squares of the round-trip times.
    least_factor = 1.5


def _paths(drawn: Mapping[str, Any]) -> list[tuple[float, float]]:
    """Return packets to a loss and round-trip time, s, of each path."""
    return [(drawn[f"packets_per_loss_{path}"], drawn[f"rtt_{path}"]) for path in (0, 1)]


def _both(drawn: Mapping[str, Any]) -> list[float]:
    transport = "mptcp" if drawn["coupling"] == "lia" else f"mptcp-{drawn['coupling']}"
    return _goodputs(drawn, transport, ["path-0", "path-1"])


def _goodputs(drawn: Mapping[str, Any], transport: str, paths: list[str]) -> list[float]:
    """Run a transport over paths that lose packets by their number; return the goodput of each, in bit/s."""
    fast = {"rate": "10 Gbit/s", "queue": "1000000 packets"}
    links: list[dict[str, Any]] = []
    for path in (0, 1):
        middle, every = f"middle-{path}", drawn[f"packets_per_loss_{path}"]
        delay = f"{drawn[f'rtt_{path}'] / 2 * 1e3:g} ms"
        drops = [200 + every * number for number in range(_LOSSES)]
        links.append({"name": f"in-{path}", "from": "server", "to": middle, "delay": "1 us", **fast})
        links.append(
            {
                "name": f"path-{path}",
                "from": middle,
                "to": "client",
                "delay": delay,
                "drops": drops,
                **fast,
            }
        )
    # A quarter of the losses on the path that loses soonest: subflows send less than a TCP of their own.
    cycles = [
        drawn[f"packets_per_loss_{path}"]
        * drawn[f"rtt_{path}"]
        / math.sqrt(1.5 * drawn[f"packets_per_loss_{path}"])
        for path in (0, 1)
    ]
    measured = min(_LOSSES * 0.75 * min(cycles), 100 * max(cycles))
    data = {
        "name": "coupled",
        "run": {"duration": f"{1.25 * measured:.6f} s", "warmup": f"{measured / 4:.6f} s"},
        "tcp": {"delayed_ack": "off", "segment_size": f"{PAYLOAD} B", "receive_buffer": "1 GiB"},
        "topology": {"graph": {"nodes": ["server", "middle-0", "middle-1", "client"], "links": links}},
        "flow": [{"from": "server", "to": "client", "transport": transport, "paths": paths}],
    }
    result = run(Scenario.from_dict(data), 1, "summary")
    rows = result.rows("subflows" if len(paths) > 1 else "flows")
    return [float(row["goodput_bps"]) for row in rows]
