"""How long a figure like f9 of the MSWiM 2009 paper takes: 2 to 8 flows, 25 mobile nodes, 10 seeds, 200 s.

Prints for each kind of node with the CRAHN model on, and for the model off, the mean goodput by the number
of flows and the time, wall and processor. The scenarios are those of `studies/mswim09-multi-hop` at its
base. Arguments: how many seeds (10), how many threads (one for each processor).
"""

from __future__ import annotations

import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import cogtcp
from cogtcp.running.runner import Runner, available_processors
from cogtcp.studies import Context, Point, find
from cogtcp.studies.code import function

FLOWS = range(2, 9)
LINES = (
    ("off", "AODV, one radio"),
    ("on", "AODV, one radio"),
    ("on", "AODV, three radios"),
    ("on", "SEARCH, one radio"),
    ("on", "SEARCH, three radios"),
)


def goodput(task: tuple[cogtcp.Scenario, int]) -> float:
    """Make one run; the goodput of all flows, kb/s."""
    scenario, seed = task
    flows = cogtcp.run(scenario, seed=seed, trace="summary").flows
    return float(sum(flows.column("goodput_bps").to_pylist())) / 1e3


def main() -> None:
    """Print the figure and the times."""
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else available_processors()
    study, _ = find("mswim09-multi-hop")
    scenario = function(study, "runs", "scenario")
    context = Context(study=study, seeds=(1,), quick=False, _runner=Runner(None, 1, None))
    base = study.space.base
    print(f"Goodput of all flows, kb/s, mean of {seeds} seeds of 200 s; {threads} threads")
    heads = "".join(f"{flows:>6}" for flows in FLOWS)
    print(f"{'model, nodes':<26}{heads}{'runs':>7}{'wall, s':>9}{'CPU, s':>8}{'a run, ms':>11}")
    runs, wall_s, cpu_s = 0, 0.0, 0.0
    for model, node in LINES:
        tasks = [
            (scenario(context, base.but(node=node), Point(model=model, flows=flows), seed), seed)
            for flows in FLOWS
            for seed in range(1, seeds + 1)
        ]
        wall, processor = time.perf_counter(), time.process_time()
        with ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(goodput, tasks))
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        means = (statistics.fmean(found[i : i + seeds]) for i in range(0, len(found), seeds))
        row = "".join(f"{mean:>6.0f}" for mean in means) + f"{len(tasks):>7}{wall:>9.1f}{processor:>8.1f}"
        print(f"{f'{model}, {node}':<26}{row}{processor / len(tasks) * 1e3:>11.0f}", flush=True)
        runs, wall_s, cpu_s = runs + len(tasks), wall_s + wall, cpu_s + processor
    print(f"{'all':<26}{'':<{6 * len(FLOWS)}}{runs:>7}{wall_s:>9.1f}{cpu_s:>8.1f}")


if __name__ == "__main__":
    main()
