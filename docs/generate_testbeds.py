"""Write the tables of docs/testbeds.md: figures of others, and ours beside them. `make testbeds`."""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from cogtcp import Scenario, run
from cogtcp.model.statistics import mean_interval

DOCS = Path(__file__).parent
PAGE = DOCS / "testbeds.md"
SEEDS = 10
_MARK = "<!-- figures: {name}, written by docs/generate_testbeds.py -->"


@dataclass(frozen=True)
class Testbed:
    """A published measurement, and the runs that stand beside it.

    Attributes:
        name: The scenario, in docs/testbeds.
        measured: By transport what was measured, as its author states it.
        delays: One-way delays of the link, where the author names none.
    """

    name: str
    measured: dict[str, str]
    delays: tuple[str, ...]


TESTBEDS = (
    Testbed(
        "starlink-uplink",
        {"linux-cubic": "5 to 6 Mbit/s", "linux-bbr": "25 to 30 Mbit/s"},
        ("15 ms", "20 ms", "30 ms"),
    ),
    Testbed(
        "starlink-downlink",
        {"linux-cubic": "around 20 Mbit/s", "linux-bbr": "120 to 150 Mbit/s"},
        ("15 ms", "20 ms", "30 ms"),
    ),
    Testbed("netem-of-the-road", {"linux-cubic": "188.5 Mbit/s"}, ("36 ms",)),
)


def table(testbed: Testbed, seeds: int) -> str:
    """Return measured and simulated goodput, a row for each transport."""
    heads = [f"ours, {delay} one way" for delay in testbed.delays]
    lines = [f"| transport | measured | {' | '.join(heads)} |", "|---|---|" + "---|" * len(heads)]
    file = DOCS / "testbeds" / f"{testbed.name}.toml"
    for transport, measured in testbed.measured.items():
        cells = []
        for delay in testbed.delays:
            scenario = Scenario.from_file(file).with_transport(transport)
            scenario = scenario.set("topology.single_hop.link.delay", delay)
            rates = [
                run(scenario, seed, "summary").metrics["goodput_bps"] / 1e6 for seed in range(1, seeds + 1)
            ]
            mean = mean_interval(rates)
            cells.append(f"{mean.mean:.1f} Mbit/s ({mean.low:.1f} to {mean.high:.1f})")
        lines.append(f"| `{transport}` | {measured} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def page(text: str, seeds: int) -> str:
    """Return the page with its tables made again."""
    for testbed in TESTBEDS:
        mark = _MARK.format(name=testbed.name)
        written = f"{mark}\n{table(testbed, seeds)}"
        text, count = re.subn(re.escape(mark) + r"\n(?:\|.*\n)*", lambda _, new=written: new, text)
        if count != 1:
            raise SystemExit(f"{PAGE.name}: a line {mark} is to say where the table goes")
    return text


def main() -> int:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"runs of each cell (default: {SEEDS})")
    args = parser.parse_args()
    PAGE.write_text(page(PAGE.read_text("utf-8"), args.seeds), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
