"""Compare the window of C2 in the kernel with the simulator's over time: the table of docs/kernel-c2.md.

It takes root and what is loaded, which for the preset c2-author is `cogtcp c2 load --rules author`.

    .venv/bin/cogtcp c2 load && .venv/bin/python benches/c2_agreement.py c2 10
"""

from __future__ import annotations

import itertools
import statistics
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from over_time import difference, resampled, total

from cogtcp import Scenario, run
from cogtcp.kernel.emulation import emulate

SCENARIOS = Path(__file__).resolve().parents[1] / "tests/agreement_c2"
#: How many run at a time.
MOST = 4
HEADINGS = (
    "",
    "flow",
    "runs",
    "simulator and kernel, %",
    "kernel and kernel, %",
    "last: simulator",
    "kernel",
)


def main(transport: str, seeds: int) -> None:
    """Print a line for each scenario and flow."""
    print(f"| {' | '.join(HEADINGS)} |\n{'|---' * len(HEADINGS)}|")
    for file in (SCENARIOS / f"{name}.toml" for name in ("alone", "hold", "drop", "second")):
        scenario = Scenario.from_file(file).with_transport(transport)
        simulated = run(scenario, 1)
        with ThreadPoolExecutor(MOST) as pool:
            every = pool.map(partial(emulate, scenario, announce=False), range(1, seeds + 1))
            emulated = [result for result in every if result.is_evidence]
        flows = simulated.flows["flow"].to_pylist()
        for those in ([flow] for flow in flows) if len(flows) == 1 else ([flows[0]], [flows[1]], flows):
            expected, *measured = (
                total(resampled(result, flow) for flow in those) for result in (simulated, *emulated)
            )
            flow = " and ".join(those)
            apart = [100 * difference(series, expected) for series in measured]
            floor = [100 * difference(one, other) for one, other in itertools.permutations(measured, 2)]
            last = [series[max(series)] for series in measured]
            cells = (
                scenario.description,
                flow,
                len(apart),
                f"{statistics.mean(apart):.1f} ({min(apart):.1f} to {max(apart):.1f})",
                f"{statistics.mean(floor):.1f}",
                f"{expected[max(expected)]:.1f}",
                f"{statistics.median(last):.0f} ({min(last):.0f} to {max(last):.0f})",
            )
            print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
