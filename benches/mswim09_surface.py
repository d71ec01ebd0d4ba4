"""How long the surface of Figure 2 of the MSWiM 2009 paper takes: 10 x 10 points x 10 seeds x 200 s.

Prints the surface and the time, wall and processor, for a sender that knows that its receiver senses, for one
that does not, and for the radio of the released code. Arguments: how many seeds (10), how many threads (one
for each processor).
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cogtcp
from cogtcp.running.runner import available_processors

SCENARIOS = Path(__file__).resolve().parent.parent / "studies" / "mswim09" / "scenarios"
T_S = (0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 1.0)
T_P = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0, 3.0, 4.0)


def goodput(task: tuple[cogtcp.Scenario, int]) -> float:
    """Run one point with one seed; kb/s."""
    scenario, seed = task
    return cogtcp.run(scenario, seed=seed, trace="summary").flows.column("goodput_bps")[0].as_py() / 1e3


def main() -> None:
    """Print the surface and the times."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else available_processors()
    single = cogtcp.Scenario.from_file(SCENARIOS / "single-hop.toml")
    released = cogtcp.Scenario.from_file(SCENARIOS.parents[2] / "scenarios" / "cr-as-released.toml")
    radios = {
        "sender waits": single,
        "sender does not know": single.set("radio.0.cr.ends", "independent").set(
            "radio.0.cr.while_peer_senses", "retry"
        ),
        "as released": released,
    }
    times = []
    surface: dict[tuple[float, float], float] = {}
    for name, radio in radios.items():
        points = list(itertools.product(T_S, T_P))
        made = [
            radio.set("radio.0.cr.sensing_time", f"{t_s * 1e3:g} ms").set(
                "radio.0.cr.transmission_time", f"{t_p * 1e3:g} ms"
            )
            for t_s, t_p in points
        ]
        tasks = [(scenario, seed) for scenario in made for seed in range(1, seeds + 1)]
        wall, processor = time.perf_counter(), time.process_time()
        with ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(goodput, tasks))
        times.append((name, len(tasks), time.perf_counter() - wall, time.process_time() - processor))
        if not surface:
            surface = {
                point: statistics.fmean(found[i * seeds : (i + 1) * seeds]) for i, point in enumerate(points)
            }
    print(
        f"Goodput of NewReno, kb/s, mean of {seeds} seeds of 200 s; sender waits. Down: T_p, across: t_s, s"
    )
    print("      " + "".join(f"{t_s:>7g}" for t_s in T_S))
    for t_p in reversed(T_P):
        print(f"{t_p:>6g}" + "".join(f"{surface[t_s, t_p]:>7.0f}" for t_s in T_S))
    print()
    print(f"{'radio':<22} {'runs':>6} {'threads':>8} {'wall, s':>8} {'CPU, s':>8} {'CPU per run, ms':>16}")
    for name, runs, wall_s, cpu_s in times:
        print(f"{name:<22} {runs:>6} {threads:>8} {wall_s:>8.1f} {cpu_s:>8.1f} {cpu_s / runs * 1e3:>16.1f}")


if __name__ == "__main__":
    main()
