"""How late packets leave the emulated link, by rate, beside a bare timer's wake-ups in the same run.

    .venv/bin/python benches/emulator_lateness.py [--seconds 10] [--runs 3] [RATE ...]

Prints a table in Markdown; rates are Mbit/s (10, 100 and 1000 unless named). A flow of linux-cubic fills a
link of 10 ms each way. Up to 300 Mbit/s the median is to be under 100 us and the 99th percentile at most
twice the bare timer's; more is best effort. Nothing passes or fails: `cogtcp emulate` judges each run.
"""

from __future__ import annotations

import argparse
import os
import platform

from cogtcp import Scenario
from cogtcp.kernel.emulation import emulate

TEXT = """\
name = "lateness"
[run]
duration = "{seconds} s"
warmup = "1 s"
[topology.single_hop]
link = {{ rate = "{rate} Mbit/s", delay = "10 ms", queue = "{queue} packets" }}
[[flow]]
from = "sender"
to = "receiver"
transport = "linux-cubic"
"""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rates", nargs="*", type=int, default=[10, 100, 1000], metavar="RATE")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    machine = f"Linux {platform.release()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.0f}"
    print(f"{machine}, {options.seconds} s a run\n")
    print(
        "| link, Mbit/s | goodput, Mbit/s | packets | late by, us: p50 | p99 | max "
        "| bare timer: p50 | p99 | max | device drops | real-time | evidence |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for rate in options.rates:
        # One BDP at the round-trip time of 20 ms.
        scenario = Scenario.from_toml(
            TEXT.format(seconds=options.seconds, rate=rate, queue=max(20, rate * 20_000 // 12_000))
        )
        for _ in range(options.runs):
            result = emulate(scenario)
            timing = result.timing
            micros = [
                f"{timing[f'{what}_{column}_s'] * 1e6:,.0f}"
                for what in ("lateness", "floor")
                for column in ("p50", "p99", "max")
            ]
            print(
                f"| {rate} | {result.metrics['goodput_bps'] / 1e6:.1f} | {timing['departures']} | "
                f"{' | '.join(micros)} | {timing['device_drops'] + timing['refused_packets']} | "
                f"{'yes' if timing['real_time'] else 'no'} | {'yes' if result.is_evidence else 'no'} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
