"""Saturated 802.11 stations, ours under the profiles ns2 and ns3 beside ns-2 and ns-3: throughput by flow.

    cargo build --release -p cogtcp-wireless --example saturated
    python benches/references/adhoc.py [--seeds 5] [--seconds 100] [--ours target/release/examples/saturated]
    python benches/references/adhoc.py --ns3 VENV/lib/python3.11/site-packages/ns3

ns-2 (Debian's package `ns2`) must be on the PATH. `--ns3` compares with ns-3 in its place: the folder of
PyPI's package `ns3` (`pip install --no-deps ns3` into an environment of its own), against which
`stations-ns3.cc` is built (g++). Prints a table in Markdown; nothing passes or fails.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent
#: Where the scripts for ns-2 are.
SCRIPTS = HERE.parents[1] / "python/cogtcp/kernel/validation/ns2"
NS3_SOURCE = HERE.parents[1] / "python/cogtcp/kernel/validation/ns3/stations-ns3.cc"
OURS = HERE.parents[1] / "target/release/examples/saturated"
NS3_PARTS = ("wifi", "propagation", "mobility", "network", "core")


@dataclass(frozen=True)
class Case:
    """Stations at places in metres, and the paths of packets: source, relays, receiver."""

    name: str
    places: Sequence[tuple[float, float]]
    flows: Sequence[tuple[int, ...]]
    #: Whether the table shows each flow.
    by_flow: bool = True
    #: What ns-2 runs.
    script: str = "adhoc.tcl"
    #: The range of carrier sense, m.
    sense: int = 550


def cell(stations: int) -> Case:
    """Put senders on a circle of 50 m about their receiver."""
    angles = [2 * math.pi * k / stations for k in range(stations)]
    circle = [(round(50 * math.cos(a), 3), round(50 * math.sin(a), 3)) for a in angles]
    flows = [(k + 1, 0) for k in range(stations)]
    return Case(f"cell of {stations}", [(0.0, 0.0), *circle], flows, by_flow=False)


def pairs(name: str, *places: float, sense: int = 550) -> Case:
    """Put stations in a row at these metres: the first sends to the second, the third to the fourth."""
    flows = [(k, k + 1) for k in range(0, len(places), 2)]
    return Case(name, [(x, 0.0) for x in places], flows, sense=sense)


def string(hops: int) -> Case:
    """Put relays 200 m apart: next but one senses, next but two does not."""
    places = [(200.0 * k, 0.0) for k in range(hops + 1)]
    plural = "s" if hops > 1 else ""
    return Case(f"string of {hops} hop{plural}", places, [tuple(range(hops + 1))], False, "strings.tcl")


CASES = [
    *[cell(n) for n in (1, 2, 3, 5, 10, 15, 20)],
    # 600 m apart: the senders do not sense each other, each receiver senses both.
    pairs("hidden: 0 -> 200 m, 600 -> 400 m", 0, 200, 600, 400),
    # One receiver senses the other sender, the other does not.
    pairs("one-sided: 0 -> 200, 600 -> 800", 0, 200, 600, 800),
    # The senders sense each other though neither disturbs the other's receiver.
    pairs("exposed: 200 -> 0, 400 -> 600", 200, 0, 400, 600),
    # The one that hears no ACK counts its slots from its NAV, one propagation delay ahead of the other.
    pairs("exposed, sense 250 m", 200, 0, 400, 600, sense=250),
    # The senders do not hear each other; the first receiver has 8 dB of signal to interference.
    pairs("interferer at 320 m: 0 -> 200, 520 -> 720, sense 250 m", 0, 200, 520, 720, sense=250),
    pairs("three pairs, 500 m apart", 0, 200, 500, 700, 1000, 1200),
    *[string(hops) for hops in range(1, 9)],
]


def packets(command: list[str]) -> list[int]:
    """Run a command and take the figures after the word `packets` from what it prints."""
    run = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    lines = [line.split() for line in run.stdout.splitlines()]
    return [int(words[1]) for words in lines if words[:1] == ["packets"]]


def _lists(case: Case) -> tuple[Sequence[tuple[float, ...]], Sequence[tuple[int, ...]]]:
    return case.places, case.flows


def theirs(case: Case, seconds: int, rts: str, seed: int) -> list[int]:
    """Count what ns-2 delivers of each flow."""
    lists = [" ".join(f"{{{' '.join(map(str, entry))}}}" for entry in entries) for entries in _lists(case)]
    return packets(
        ["ns", str(SCRIPTS / case.script), str(seed), str(seconds), rts, "1000", *lists, str(case.sense)]
    )


def _common(case: Case, seconds: int, rts: str, seed: int) -> list[str]:
    """Write a case as the example and the program for ns-3 read it."""
    lists = [";".join(",".join(map(str, entry)) for entry in entries) for entries in _lists(case)]
    return [str(seed), str(seconds), rts, "1000", *lists, str(case.sense)]


def ours(program: Path, profile: str, case: Case, seconds: int, rts: str, seed: int) -> list[int]:
    """Count what ours delivers of each flow."""
    return packets([str(program), profile, *_common(case, seconds, rts, seed)])


def build_ns3(package: Path, folder: Path) -> Path:
    """Build the program for ns-3 against the libraries of PyPI's package."""
    libraries = package / "lib64"
    found = [next(libraries.glob(f"libns3.*-{part}.so")) for part in NS3_PARTS]
    program = folder / "stations-ns3"
    flags = [
        "-std=c++20",
        "-O1",
        f"-I{package / 'include'}",
        f"-Wl,-rpath,{libraries},-rpath-link,{libraries}",
    ]
    command = ["g++", *flags, str(NS3_SOURCE), *map(str, found), "-o", str(program)]
    subprocess.run(command, check=True)  # noqa: S603
    return program


def shown(case: Case, runs: list[list[int]], seconds: int) -> tuple[str, float]:
    """Format packets per second, mean and deviation over the runs; the mean by itself too."""
    totals = [sum(run) / seconds for run in runs]
    deviation = stdev(totals) if len(totals) > 1 else 0.0
    text = f"{mean(totals):.2f} ± {deviation:.2f}"
    if case.by_flow:
        flows = [f"{mean(column) / seconds:.1f}" for column in zip(*runs, strict=True)]
        text += f" ({' + '.join(flows)})"
    return text, mean(totals)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="802.11 stations beside ns-2 or ns-3")
    parser.add_argument("--ns3", type=Path, help="the folder of PyPI's package ns3")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=100)
    parser.add_argument("--ours", type=Path, default=OURS)
    parser.add_argument("--only", default="", help="cases whose name begins so")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = build_ns3(arguments.ns3, Path(folder)) if arguments.ns3 else None
        table(arguments, program)


def table(arguments: argparse.Namespace, ns3: Path | None) -> None:
    """Print the table, beside ns-3 if there is a program for it."""
    seconds, seeds = arguments.seconds, range(1, arguments.seeds + 1)
    name, profile = ("ns-3", "ns3") if ns3 else ("ns-2", "ns2")

    def reference_of(case: Case, rts: str, seed: int) -> list[int]:
        if ns3:
            return packets([str(ns3), *_common(case, seconds, rts, seed)])
        return theirs(case, seconds, rts, seed)

    print(f"| case | RTS | {name}, packets/s | ours | difference |\n|---|---|---|---|---|")
    for rts in ("on", "off"):
        for case in [case for case in CASES if case.name.startswith(arguments.only)]:
            with ThreadPoolExecutor(2) as pool:
                reference = list(pool.map(lambda seed: reference_of(case, rts, seed), seeds))  # noqa: B023
            mine = [ours(arguments.ours, profile, case, seconds, rts, seed) for seed in seeds]
            (left, theirs_mean), (right, ours_mean) = (
                shown(case, reference, seconds),
                shown(case, mine, seconds),
            )
            difference = 100 * (ours_mean / theirs_mean - 1)
            print(f"| {case.name} | {rts} | {left} | {right} | {difference:+.2f} % |", flush=True)


if __name__ == "__main__":
    main()
