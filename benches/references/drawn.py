"""Ours under the host preset `ns2` beside ns-2 itself, over drawn scenarios: goodput, not packets.

    python benches/references/drawn.py [--cases 25] [--seeds 5] [--seconds 200] [--draw 9] [--only NUMBER]

ns-2 (Debian's package `ns2`) must be on the PATH. A case draws agent, rate, delay, queue, random loss, cap on
the window, number of flows and, in four of ten, a silence that loses what is sent into it. The random losses
of both are drawn apart, so each case is the mean of some seeds, with the standard error of the ratio; starts
are the same in both.
Prints a table in Markdown and a summary; nothing passes or fails.
"""

from __future__ import annotations

import argparse
import math
import random
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median, stdev

import cogtcp
from cogtcp.model.models import jain_index

HERE = Path(__file__).parent
#: Where the scripts for ns-2 are.
SCRIPTS = HERE.parents[1] / "python/cogtcp/kernel/validation/ns2"
#: ns-2's agent and its sink, by our recovery.
AGENTS = {
    "tahoe": ("Agent/TCP", "TCPSink"),
    "reno": ("Agent/TCP/Reno", "TCPSink"),
    "newreno": ("Agent/TCP/Newreno", "TCPSink"),
    "sack": ("Agent/TCP/Sack1", "TCPSink/Sack1"),
}


@dataclass(frozen=True)
class Case:
    """A drawn scenario. Seconds, bit/s; the queue in packets, without the one in transmission."""

    recovery: str
    rate: int
    delay: float
    queue: int
    window: int
    loss: float
    flows: int
    open: float
    silent: float

    def __str__(self) -> str:
        """Return the case as cells of a table."""
        silence = f"{self.silent:g} s after {self.open:g} s" if self.silent else "-"
        return (
            f"{self.recovery} | {self.rate / 1e6:g} | {self.delay * 1e3:g} | {self.queue} | {self.window} | "
            f"{self.loss:.1%} | {self.flows} | {silence}"
        )


def draw(stream: random.Random) -> Case:
    """Draw a case."""
    silence = stream.random() < 0.4
    return Case(
        recovery=stream.choice(list(AGENTS)),
        rate=round(10 ** stream.uniform(5.7, 7.0), -4).__int__(),
        delay=round(stream.uniform(0.005, 0.15), 3),
        queue=round(10 ** stream.uniform(0.7, 2.0)),
        window=stream.choice([20, 1000]),
        loss=stream.choice([0.0, 0.001, 0.003, 0.01, 0.03]),
        flows=stream.choice([1, 2, 4]),
        open=round(stream.uniform(1.0, 10.0), 1),
        silent=round(stream.uniform(0.1, 2.0), 1) if silence else 0.0,
    )


def theirs(case: Case, seed: int, starts: list[float], seconds: float) -> tuple[list[int], int]:
    """Run ns-2; return the bytes that each flow delivered, and all timeouts."""
    agent, sink = (name.removeprefix("Agent/") for name in AGENTS[case.recovery])
    command = ["ns", str(SCRIPTS / "drawn.tcl"), str(seed), agent, sink, str(case.rate), str(case.delay)]
    command += [str(case.queue + 1), str(case.window), str(case.loss), str(case.open), str(case.silent)]
    command += [str(seconds), *map(str, starts)]
    done = subprocess.run(command, capture_output=True, check=True, text=True)  # noqa: S603 - our own script
    rows = [line.split() for line in done.stdout.splitlines() if line.startswith("flow")]
    return [1000 * max(int(row[1]), 0) for row in rows], sum(int(float(row[2])) for row in rows)


def ours(case: Case, seed: int, starts: list[float], seconds: float) -> tuple[list[int], int]:
    """Run our simulation of the same; return the same."""
    nodes = ", ".join(f'"s{number}"' for number in range(len(starts)))
    access = "\n".join(
        f'  {{ name = "a{number}", from = "s{number}", to = "r1", rate = "100 Mbit/s", delay = "1 ms", '
        'queue = "10000 packets" },'
        for number in range(len(starts))
    )
    radio = (
        f'[[radio]]\nname = "radio"\nlinks = ["bottleneck"]\nsilence = "drop"\n'
        f'sensing = {{ on = "{case.open} s", off = "{case.silent} s" }}\n'
        if case.silent
        else ""
    )
    flows = "\n".join(
        f'[[flow]]\nfrom = "s{number}"\nto = "k1"\ntransport = "ns2"\nstart = "{start} s"'
        for number, start in enumerate(starts)
    )
    text = f"""
        name = "drawn"
        [run]
        duration = "{seconds} s"
        seed = {seed}
        [tcp]
        recovery = "{case.recovery}"
        delayed_ack = "off"
        max_window = "{case.window} segments"
        initial_ssthresh = "{case.window} segments"
        receive_buffer = "100 MB"
        [topology.graph]
        nodes = [{nodes}, "r1", "k1"]
        links = [
        {access}
          {{ name = "bottleneck", from = "r1", to = "k1", rate = "{case.rate} bit/s",
             delay = "{case.delay * 1e3:g} ms",
             queue = "{case.queue} packets", reverse_queue = "10000 packets",
             loss = "{case.loss:.1%}", reverse_loss = "0 %" }},
        ]
        {radio}
        {flows}
    """
    table = cogtcp.run(cogtcp.Scenario.from_toml(text)).flows
    return table.column("delivered_bytes").to_pylist(), sum(table.column("rtos").to_pylist())


def main() -> int:
    """Print the table that was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=25)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=200.0)
    parser.add_argument("--draw", type=int, default=9, help="seed of the draw of cases (default: 9)")
    parser.add_argument("--only", type=int, help="this case alone")
    args = parser.parse_args()
    stream = random.Random(args.draw)  # noqa: S311 - no secret
    cases = [draw(stream) for _ in range(args.cases)]
    print(
        "| | recovery | Mbit/s | delay [ms] | queue | window | loss | flows | silence "
        "| ns-2 [kbit/s] | ratio | Jain | timeouts |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
    ratios: dict[bool, list[float]] = {False: [], True: []}
    for number, case in enumerate(cases, 1):
        if args.only not in (None, number):
            continue
        jobs = []
        for seed in range(1, args.seeds + 1):
            jitter = random.Random(f"{number} {seed}")  # noqa: S311 - no secret
            jobs.append(
                (case, seed, [round(jitter.uniform(0.0, 2.0), 3) for _ in range(case.flows)], args.seconds)
            )
        with ThreadPoolExecutor(2) as pool:
            reference = list(pool.map(lambda job: theirs(*job), jobs))
            mine = list(pool.map(lambda job: ours(*job), jobs))
        totals = [[sum(delivered) for delivered, _ in runs] for runs in (reference, mine)]
        errors = [
            stdev(total) / mean(total) / math.sqrt(len(total)) if len(total) > 1 else math.nan
            for total in totals
        ]
        ratio = mean(totals[1]) / mean(totals[0])
        ratios[case.silent > 0].append(ratio)
        shares = [
            mean(jain_index(delivered) if any(delivered) else math.nan for delivered, _ in runs)
            for runs in (reference, mine)
        ]
        timeouts = [mean(count for _, count in runs) for runs in (reference, mine)]
        print(
            f"| {number} | {case} | {mean(totals[0]) * 8 / args.seconds / 1e3:.0f} | "
            f"{ratio:.3f} ± {ratio * math.hypot(*errors):.3f} | {shares[0]:.2f} / {shares[1]:.2f} | "
            f"{timeouts[0]:.0f} / {timeouts[1]:.0f} |",
            flush=True,
        )
    for silent, found in ratios.items():
        if found:
            print(
                f"{'with' if silent else 'without'} silences: {len(found)} cases, "
                f"median {median(found):.3f}, {min(found):.3f} to {max(found):.3f}"
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
