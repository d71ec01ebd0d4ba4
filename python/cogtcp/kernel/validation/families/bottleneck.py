"""One bottleneck that several senders share, as `drawn.tcl` and `tfrc.tcl` build it in ns-2."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Mapping


def starts(drawn: Mapping[str, Any], seed: int) -> list[float]:
    """Draw when the flows start, in s, alike on both sides."""
    stream = random.Random(f"starts/{seed}")  # noqa: S311 - a documented draw, no secret
    return [round(stream.uniform(0.0, 2.0), 3) for _ in range(drawn["flows"])]


def scenario(
    drawn: Mapping[str, Any], seed: int, seconds: float, transport: str, tcp: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a scenario: senders s0, s1 ... behind links of their own, r1, the bottleneck, k1.

    Args:
        drawn: `rate` in bit/s, `delay` in s, `queue` in packets, `loss` as a share, and `flows`.
        seed: Of the run, and of the flows' starts.
        seconds: How long the run is, s.
        transport: Of every flow.
        tcp: The scenario's `[tcp]`.
    """
    begin = starts(drawn, seed)
    # Nothing is lost here: the bottleneck's own queue and its chance loss are what is compared.
    access = {"to": "r1", "rate": "100 Mbit/s", "delay": "1 ms", "queue": "10000 packets"}
    senders = [f"s{number}" for number in range(len(begin))]
    bottleneck = {
        "name": "bottleneck",
        "from": "r1",
        "to": "k1",
        "rate": f"{drawn['rate']:.0f} bit/s",
        "delay": f"{drawn['delay'] * 1e3:g} ms",
        "queue": f"{drawn['queue']} packets",
        "reverse_queue": "10000 packets",
        "loss": f"{drawn['loss'] * 100:g} %",
        "reverse_loss": "0 %",
    }
    links = [
        *({"name": f"a{number}", "from": name, **access} for number, name in enumerate(senders)),
        bottleneck,
    ]
    return {
        "name": "drawn",
        "run": {"duration": f"{seconds} s", "seed": seed},
        "tcp": dict(tcp),
        "topology": {"graph": {"nodes": [*senders, "r1", "k1"], "links": links}},
        "flow": [
            {"from": name, "to": "k1", "transport": transport, "start": f"{start} s"}
            for name, start in zip(senders, begin, strict=True)
        ],
    }


def goodput_bps(data: Mapping[str, Any], seconds: float) -> float:
    """Run the scenario; return the goodput of its flows together, in bit/s."""
    table = run(Scenario.from_dict(data), trace="summary").flows
    delivered: list[int] = table.column("delivered_bytes").to_pylist()
    return 8 * sum(delivered) / seconds


def path_in_words(drawn: Mapping[str, Any]) -> tuple[str, str]:
    """Return rate and delay, then loss and flows, in words."""
    flows = "1 flow" if drawn["flows"] == 1 else f"{drawn['flows']} flows"
    return (
        f"{drawn['rate'] / 1e6:g} Mbit/s, {drawn['delay'] * 1e3:g} ms, queue {drawn['queue']}",
        f"loss {drawn['loss']:.1%}, {flows}",
    )
