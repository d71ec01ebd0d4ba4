"""Compare a family again without the rule in which its peer departs, and count what is within 5 %.

    .venv/bin/python benches/peer_rules.py SEED FAMILY [--cases N] [--runs N]

    copa      a Copa that knows the round-trip time of an empty queue, doubles v a round trip later, and has
              five times as many packets in the same queue (copa_known_base.py)
    dualpi2   the loss at which SACK, measured under that random loss without a queue, reaches the window, and
              drops in place of marks (random-loss-in-small-windows)
    loss      the full model with the share of losses that end in a timeout here (pftk-losses-in-bursts)
    tfrc      ns-2 with t_RTO = 4 R: three ticks of 4/3 of the round-trip time without a queue (ns2-tfrc-rto)
    westwood  the rate changed by less than one part in the product: the path holds whole packets
              (westwood-whole-windows)

Draws the cases of `cogtcp validate SEED --family FAMILY`. Prints each case, and both shares within 5 %.
"""

from __future__ import annotations

import argparse
import math
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp.kernel.validation.families import FAMILIES, family
from cogtcp.kernel.validation.families.closed_forms import _SEGMENT, _one_flow
from cogtcp.kernel.validation.families.one_flow import (
    PACKET,
    PAYLOAD,
    Link,
    goodput_bps,
    saturated,
    utilisation,
    waited_s,
)
from cogtcp.kernel.validation.running import draw, seeds_of
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Values = dict[str, float]
    Drawn = Mapping[str, Any]


#: Bytes of an ACK.
_ACK = 40


def copa(_scripts: Path, drawn: Drawn, seed: int) -> tuple[Values, Values]:
    """Tell Copa the base round-trip time; the same queue in time has five times as many packets."""
    fine = {**drawn, "rate": 5 * drawn["rate"], "delta": drawn["delta"] / 5}
    base = drawn["rtt"] + 8 * (PACKET + _ACK) / fine["rate"]
    measured = max(5, 100 * drawn["rtt"])
    data = {
        "name": "copa",
        "run": {"duration": f"{30 + measured} s", "warmup": "30 s"},
        "tcp": {
            "delayed_ack": "off",
            "segment_size": f"{PAYLOAD} B",
            "receive_buffer": "1 GiB",
            "parameters": {"delta": fine["delta"], "base": base},
        },
        "topology": {
            "single_hop": {
                "link": {
                    "rate": f"{fine['rate']:.0f} bit/s",
                    "delay": f"{drawn['rtt'] / 2 * 1e3:g} ms",
                    "queue": "1000000 packets",
                }
            }
        },
        "flow": [{"from": "sender", "to": "receiver", "transport": "copa_known_base:Copa"}],
    }
    result = run(Scenario.from_dict(data, allow_python=True), seed, "summary")
    link = Link(fine["rate"], drawn["rtt"])
    ours = {"utilisation": utilisation(result, link), "wait_s": waited_s(result)}
    return BY_NAME["copa"].theirs(drawn, seed), ours


def _of_scripts(name: str, scripts: Path, drawn: Drawn, seed: int) -> tuple[Values, Values]:
    before = family.NS2_SCRIPTS
    family.NS2_SCRIPTS = scripts
    try:
        return BY_NAME[name].theirs(drawn, seed), BY_NAME[name].ours(drawn, seed)
    finally:
        family.NS2_SCRIPTS = before


def dualpi2(_scripts: Path, drawn: Drawn, seed: int) -> tuple[Values, Values]:
    """Measure the response of SACK to random loss in place of the closed form; nothing is marked."""
    theirs = BY_NAME["dualpi2"].theirs(drawn, seed)
    rtt, share = drawn["rtt"] + theirs["wait_s"], theirs["dropped"]
    window = drawn["rate"] * rtt / 8 / PACKET / drawn["flows"]
    for _ in range(3):
        link = Link(1e11, rtt, more={"loss": f"{share * 100:.6g} %", "reverse_loss": "0 %"})
        cycle = rtt / share / window
        result = saturated("sack", link, warm_up=20 * cycle, measured=4000 * cycle, seed=seed)
        # The window that is reached goes with 1 / sqrt(p).
        share *= (goodput_bps(result) * rtt / 8 / PAYLOAD / window) ** 2
    return {**theirs, "dropped": share}, BY_NAME["dualpi2"].ours({**drawn, "ecn": "off"}, seed)


def loss(_scripts: Path, drawn: Drawn, seed: int) -> tuple[Values, Values]:
    """Evaluate the full model with our share of timeouts among the losses."""
    link = {"loss": f"{drawn['loss'] * 100:g} %", "reverse_loss": "0 %"}
    data = _one_flow(drawn["delay"], 600, seed, "reno", link)
    data["tcp"]["limited_transmit"] = False
    result = run(Scenario.from_dict(data), seed=seed, trace="summary")
    (flow,) = result.rows("tcp_flows")
    share = flow["rtos"] / (flow["rtos"] + flow["fast_retransmits"])
    p, rtt = drawn["loss"], 2 * drawn["delay"]
    # Equations 13, 15 and 28 to 32 with b = 1: packets and time of a loss event, and its timeouts of 1 s.
    rounds = 0.5 + math.sqrt(2 * (1 - p) / (3 * p) + 0.25)
    repeated = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    packets = (1 - p) / p + 2 * rounds + share / (1 - p)
    seconds = rtt * (rounds + 1) + share * repeated / (1 - p)
    theirs = {"goodput_bps": 8 * _SEGMENT * packets / seconds * (1 - p)}
    return theirs, {"goodput_bps": float(result.metrics["goodput_bps"])}


def tfrc(scripts: Path, drawn: Drawn, seed: int) -> tuple[Values, Values]:
    """Run ns-2 with ticks of 4/3 R: a sample is one, its variance half of one, the timeout three."""
    # The access link has 1 ms and 100 Mbit/s; a packet is 1053 B.
    rtt = 2 * (drawn["delay"] + 0.001) + 8 * 1053 * (1 / drawn["rate"] + 1e-8)
    text = (family.NS2_SCRIPTS / "tfrc.tcl").read_text("utf-8")
    (scripts / "tfrc.tcl").write_text(f"Agent/TFRC set tcp_tick_ {4 * rtt / 3:.6f}\n{text}", "utf-8")
    return _of_scripts("tfrc", scripts, drawn, seed)


def westwood(_scripts: Path, drawn: Drawn, seed: int) -> tuple[Values, Values]:
    """Round the product of rate and round-trip time to whole packets, and a hundredth above."""
    product = Link(drawn["rate"], drawn["rtt"]).product
    whole = {**drawn, "rate": drawn["rate"] * (round(product) + 0.01) / product}
    return BY_NAME["westwood"].theirs(whole, seed), BY_NAME["westwood"].ours(whole, seed)


BY_NAME = {each.name: each for each in FAMILIES}
RULES: dict[str, Callable[[Path, Drawn, int], tuple[Values, Values]]] = {
    "copa": copa,
    "dualpi2": dualpi2,
    "loss": loss,
    "tfrc": tfrc,
    "westwood": westwood,
}


def main() -> int:
    """Compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("seed", type=int)
    parser.add_argument("family", choices=RULES)
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    judge = BY_NAME[args.family]
    ratios: dict[tuple[str, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        scripts = Path(folder) / "ns2"
        shutil.copytree(family.NS2_SCRIPTS, scripts)
        for number in range(1, args.cases + 1):
            case = draw(args.seed, judge, number)
            seeds = seeds_of(args.seed, case, args.runs if judge.is_random else 1)
            asis = [(judge.theirs(case.drawn, seed), judge.ours(case.drawn, seed)) for seed in seeds]
            same = [RULES[args.family](scripts, case.drawn, seed) for seed in seeds]
            words = []
            for measure in judge.bands:
                for rule, values in (("as it is", asis), ("removed", same)):
                    theirs, ours = (
                        statistics.fmean(pair[side][measure] for pair in values) for side in (0, 1)
                    )
                    ratio = ours / theirs if theirs else math.inf
                    ratios.setdefault((measure, rule), []).append(ratio)
                    words.append(f"{ratio:.3f}")
            print(f"{number}: {case.told}: {' '.join(words)}", flush=True)
    for (measure, rule), found in ratios.items():
        near = sum(abs(ratio - 1) <= 0.05 for ratio in found)
        spread = f"{min(found):.3f} to {max(found):.3f}"
        print(f"{measure}, departure {rule}: {near} of {len(found)} within 5 %, {spread}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
