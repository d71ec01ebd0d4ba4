"""Compare a family again without the rule in which its peer departs, and count what is within 5 %.

    .venv/bin/python benches/peer_rules.py SEED FAMILY [--cases N] [--runs N]

    cycles    ns-2 with clock ticks of 0.1 ms, not 10 ms (departure ns2-rto-in-ticks)
    loss      the full model with the share of losses that end in a timeout here (pftk-losses-in-bursts)
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
from cogtcp.kernel.validation.families.one_flow import Link
from cogtcp.kernel.validation.running import draw, seeds_of
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Values = dict[str, float]
    Drawn = Mapping[str, Any]


def cycles(scripts: Path, drawn: Drawn, seed: int) -> tuple[Values, Values]:
    """Run ns-2 with finer ticks."""
    before = family.NS2_SCRIPTS
    family.NS2_SCRIPTS = scripts
    try:
        return BY_NAME["cycles"].theirs(drawn, seed), BY_NAME["cycles"].ours(drawn, seed)
    finally:
        family.NS2_SCRIPTS = before


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


def westwood(_scripts: Path, drawn: Drawn, seed: int) -> tuple[Values, Values]:
    """Round the product of rate and round-trip time to whole packets, and a hundredth above."""
    product = Link(drawn["rate"], drawn["rtt"]).product
    whole = {**drawn, "rate": drawn["rate"] * (round(product) + 0.01) / product}
    return BY_NAME["westwood"].theirs(whole, seed), BY_NAME["westwood"].ours(whole, seed)


BY_NAME = {each.name: each for each in FAMILIES}
RULES: dict[str, Callable[[Path, Drawn, int], tuple[Values, Values]]] = {
    "cycles": cycles,
    "loss": loss,
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
        drawn_tcl = scripts / "drawn.tcl"
        drawn_tcl.write_text("Agent/TCP set tcpTick_ 0.0001\n" + drawn_tcl.read_text("utf-8"), "utf-8")
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
