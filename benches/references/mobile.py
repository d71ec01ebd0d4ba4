"""Mobile nodes with AODV and TCP, ours under the rules of ns-2 beside ns-2 itself, movement by movement.

    python benches/references/mobile.py [--nodes 25] [--flows 8] [--seconds 100] [--movements 5] [--seeds 2]
    python benches/references/mobile.py --strings 8 [--seeds 5]

ns-2 (Debian's package `ns2`) must be on the PATH. Both replay the same setdest file; its seeds differ
in backoffs and jitter alone. `--strings`: one flow over rows of 1 to so many hops of 200 m that stand still.
Prints a table in Markdown with packets acknowledged, the quartiles of the times in which routes were found,
processor time, and the ratio of packets with its standard error; nothing passes or fails.
"""

from __future__ import annotations

import argparse
import math
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, quantiles, stdev

import cogtcp

HERE = Path(__file__).parent
#: Where the scripts for ns-2 are.
SCRIPTS = HERE.parents[1] / "python/cogtcp/kernel/validation/ns2"
REQUEST = re.compile(r"^([sr]) (\S+) _(\d+)_ RTR .*\[0x2 \d+ \d+ \[(\d+) \d+\] \[(\d+) \d+\]\] \(REQUEST\)")
REPLY = re.compile(r"^r (\S+) _(\d+)_ RTR .*\[0x4 \d+ \[(\d+) \d+\] \S+\] \(REPLY\)")


@dataclass
class Outcome:
    """What one run came to."""

    packets: list[int]
    timeouts: int
    searches: list[float]
    cpu_s: float


@dataclass(frozen=True)
class Network:
    """Nodes that move by a file, and flows: from, to, and the start in seconds."""

    nodes: int
    side: float
    seconds: int
    movement: Path
    flows: list[tuple[int, int, float]]

    @property
    def pairs(self) -> set[tuple[str, str]]:
        """Who seeks whom where an end of a flow seeks the other."""
        return {pair for a, b, _ in self.flows for pair in ((str(a), str(b)), (str(b), str(a)))}


def theirs(network: Network, seed: int, folder: Path, *, with_trace: bool) -> Outcome:
    """Run ns-2."""
    trace = folder / "router.tr"
    flows = " ".join(f"{{{a} {b} {start}}}" for a, b, start in network.flows)
    command = ["ns", str(SCRIPTS / "mobile.tcl"), str(seed), str(network.seconds), str(network.movement)]
    command += [str(network.nodes), str(network.side), str(network.side), flows]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(  # noqa: S603
        [*command, *([str(trace)] if with_trace else [])], capture_output=True, text=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    lines = [line.split() for line in run.stdout.splitlines() if line.startswith("flow")]
    return Outcome(
        [int(words[1]) for words in lines],
        sum(int(words[2]) for words in lines),
        _searches(trace, network.pairs) if with_trace else [],
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
    )


def _searches(trace: Path, pairs: set[tuple[str, str]]) -> list[float]:
    """Read the searches of ns-2: from the first request to the first message that brings the source a route.

    As `took_s` of the table `searches`: a route comes with a reply, or with a request of the node that is
    sought, whatever it was sent for. After a search that failed nothing is sent for 10 s (MAX_RREQ_TIMEOUT);
    a request after that is the first of another search. Only those of a flow's ends count: a relay that mends
    a route (local_rt_repair) hears its neighbours reply at once and refuses that: its own entry is as new.
    """
    begun: dict[tuple[str, str], tuple[float, float]] = {}
    took = []
    with trace.open() as lines:
        for line in lines:
            if found := REQUEST.match(line):
                event, time, node, wanted, source = found.groups()
                at = float(time)
                if event == "s" and node == source:
                    start, last = begun.get((node, wanted), (at, at))
                    begun[node, wanted] = (start if at < last + 10 else at, at)
                ended = (node, source) if event == "r" else None
            elif found := REPLY.match(line):
                time, node, wanted = found.groups()
                at, ended = float(time), (node, wanted)
            else:
                continue
            if ended in pairs and (begin := begun.pop(ended, None)) is not None:
                took.append(at - begin[0])
    return took


def ours(network: Network, seed: int) -> Outcome:
    """Run the same here."""
    scenario = cogtcp.Scenario.from_dict(
        {
            "name": "mobile",
            "routing": "aodv",
            "run": {"duration": f"{network.seconds} s", "seed": seed},
            # TCPSink of ns-2 acknowledges every packet.
            "tcp": {"segment_size": "1000 B", "max_window": "20 segments", "delayed_ack": "off"},
            "area": {"width": f"{network.side} m", "height": f"{network.side} m"},
            "topology": {"ad_hoc": {"nodes": network.nodes, "mobility": {"trace": str(network.movement)}}},
            "mac": {"profile": "ns2", "rate": "2 Mbit/s"},
            "flow": [
                {"from": f"n{a}", "to": f"n{b}", "transport": "ns2", "start": f"{round(start * 1e3)} ms"}
                for a, b, start in network.flows
            ],
        }
    )
    before = time.process_time()
    result = cogtcp.run(scenario, seed=seed, trace="summary")
    spent = time.process_time() - before
    flows = result.flows.to_pylist()
    searches = result.table("searches").to_pylist()
    return Outcome(
        [flow["delivered_bytes"] // 1000 for flow in flows],
        sum(flow["rtos"] for flow in flows),
        [
            search["took_s"]
            for search in searches
            if not math.isnan(search["took_s"])
            and (search["node"].removeprefix("n"), search["destination"].removeprefix("n")) in network.pairs
        ],
        spent,
    )


def _network(arguments: argparse.Namespace, number: int, folder: Path) -> Network:
    side = round(1000 * math.sqrt(arguments.nodes / 25))
    movement = folder / f"movement-{number}.tcl"
    moving = ["--placement", "uniform"] if arguments.still else ["--speed", "2.5,4", "--pause", "3"]
    command = [sys.executable, "-m", "cogtcp", "mobility", "generate", str(movement), "--seed", str(number)]
    command += ["--nodes", str(arguments.nodes), "--area", f"{side}x{side}"]
    command += ["--duration", str(arguments.seconds + 1), *moving]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603
    stream = random.Random(f"mobile/{number}")  # noqa: S311 - a documented draw, no secret
    ends = [stream.sample(range(arguments.nodes), 2) for _ in range(arguments.flows)]
    flows = [(a, b, 1 + 0.5 * index % 10) for index, (a, b) in enumerate(ends)]
    return Network(arguments.nodes, side, arguments.seconds, movement, flows)


def _string(hops: int, seconds: int, folder: Path) -> Network:
    movement = folder / f"string-{hops}.tcl"
    places = [f"$node_({n}) set X_ {200.0 * n}\n$node_({n}) set Y_ 0.0\n" for n in range(hops + 1)]
    movement.write_text("".join(f"{place}$node_({n}) set Z_ 0.0\n" for n, place in enumerate(places)))
    return Network(hops + 1, 200 * hops, seconds, movement, [(0, hops, 1.0)])


def _row(name: str, left: list[Outcome], right: list[Outcome], ratio: tuple[float, float]) -> str:
    cells = []
    for runs in (left, right):
        totals = [sum(run.packets) for run in runs]
        spread = f" ± {stdev(totals):.0f}" if len(totals) > 1 else ""
        searches = [took for run in runs for took in run.searches]
        quarters = ", ".join(f"{1e3 * took:.0f}" for took in quantiles(searches)) if len(searches) > 1 else ""
        quarters += f" of {len(searches)}" if quarters else ""
        cells += [f"{fmean(totals):.0f}{spread}", f"{fmean(run.timeouts for run in runs):.0f}", quarters]
        cells.append(f"{fmean(run.cpu_s for run in runs):.2f} s")
    pairs = [f"{a} / {b}" for a, b in zip(cells[:4], cells[4:], strict=True)]
    return f"| {name} | " + " | ".join(pairs) + f" | {ratio[0]:.3f} ± {ratio[1]:.3f} |"


def _ratio(left: list[Outcome], right: list[Outcome]) -> tuple[float, float]:
    """Divide the packets here by those of ns-2; with the standard error over the seeds."""
    means, errors = [], []
    for runs in (left, right):
        totals = [sum(run.packets) for run in runs]
        means.append(max(fmean(totals), 1))
        errors.append(stdev(totals) / math.sqrt(len(totals)) / means[-1] if len(totals) > 1 else math.nan)
    ratio = means[1] / means[0]
    return ratio, ratio * math.hypot(*errors)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="mobile nodes with AODV and TCP beside ns-2")
    parser.add_argument("--nodes", type=int, default=25)
    parser.add_argument("--flows", type=int, default=8)
    parser.add_argument("--seconds", type=int, default=100)
    parser.add_argument("--movements", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--strings", type=int, help="rows of up to so many hops, in place of movements")
    parser.add_argument("--still", action="store_true", help="nodes that stand where they begin")
    parser.add_argument("--no-trace", action="store_true", help="no route discovery times of ns-2: faster")
    arguments = parser.parse_args()
    what = "hops" if arguments.strings else "movement"
    print(f"| {what} | packets: ns-2 / ours | timeouts | routes found in [ms] | processor time | ratio |")
    print("|---|---|---|---|---|---|")
    ratios: list[tuple[float, float]] = []
    every: tuple[list[Outcome], list[Outcome]] = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number in range(1, (arguments.strings or arguments.movements) + 1):
            if arguments.strings:
                network = _string(number, arguments.seconds, folder)
            else:
                network = _network(arguments, number, folder)
            seeds = range(1, arguments.seeds + 1)
            left = [theirs(network, seed, folder, with_trace=not arguments.no_trace) for seed in seeds]
            right = [ours(network, seed) for seed in seeds]
            every[0].extend(left)
            every[1].extend(right)
            ratios.append(_ratio(left, right))
            print(_row(str(number), left, right, ratios[-1]), flush=True)
    if not arguments.strings and len(ratios) > 1:
        # Movements differ more than seeds: the error is that of the mean over movements.
        found = [ratio for ratio, _ in ratios]
        print(_row("all", *every, (fmean(found), stdev(found) / math.sqrt(len(found)))))


if __name__ == "__main__":
    main()
