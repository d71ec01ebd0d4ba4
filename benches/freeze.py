"""What a warning costs that is early, late or wrong: Freeze-TCP on both planes.

    .venv/bin/python benches/freeze.py [--runs N] [--transport linux-cubic]

Prints tables of what it costs. The scenario is `freeze`: a download at 10 Mbit/s meets an outage of
2 s, of which its client is warned `tu_advance` round-trip times ahead. Each setting is run with the
outage at several places of the congestion control's cycle, on the simulator and on this machine's
kernel; a run that fell behind its clock is made again, and left out when it does so each time.
Takes 12 s a run. On a busy machine: `chrt -r 20 .venv/bin/python benches/freeze.py`.
"""

import argparse
import statistics
from typing import TYPE_CHECKING

from cogtcp import Result, Scenario, run
from cogtcp._shipped import shipped
from cogtcp.kernel.emulation import emulate

if TYPE_CHECKING:
    from collections.abc import Callable

# The outage lasts from BEGIN, later by PHASE with each run, for LENGTH.
BEGIN, PHASE, LENGTH = 6.0, 0.37, 2.0
# What is counted: from before the earliest warning to 3 s after the outage.
BEFORE, AFTER = 2.0, 3.0
# How often a run is made that fell behind its clock.
TRIES = 3
LAST = ("RTOs", "sent again", "runs")
ADVANCES = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 4.0, 8.0)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--runs", type=int, default=3, metavar="N", help="runs of each setting and plane (default: 3)"
    )
    parser.add_argument("--transport", default="linux-cubic")
    args = parser.parse_args()
    base = Scenario.from_file(shipped()["freeze"]).with_transport(args.transport)
    head(
        "TU_advance / RTT_TCP",
        "ahead, ms",
        "plane",
        "data after, ms",
        "3 s after, Mbit/s",
        "all 7 s, MB",
        *LAST,
    )
    unwarned = base.set_text("train.connection_manager", "false")
    tell("none", unwarned, args.runs)
    for advance in ADVANCES:
        tell(f"{advance:g}", base.set_text("train.tu_advance", str(advance)), args.runs)
    tell("2, no restart after idle", base.set_text("tcp.restart_after_idle", "false"), args.runs)
    # The outage comes when all is over; it is there to say how long a false one lasts.
    clear = base.set_text("radio.0.sensing.start", "11.9 s")
    wrong = '{ itinerary = { missed = "100 %", false_interval = "3 s" } }'
    print("\nNo outage comes:\n")
    head("alarms", "plane", "frozen, s", "goodput, Mbit/s", *LAST)
    tell_alarms("none", clear.set_text("train.connection_manager", "false"), args.runs)
    tell_alarms("false ones", clear.set_text("train.prediction", wrong), args.runs)


def head(*columns: str) -> None:
    """Print the head of a table."""
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|", flush=True)


def runs(scenario: Scenario, count: int, moves: bool) -> list[tuple[str, list[tuple[float, Result]]]]:
    """Return the runs on each plane, with when their outage begins; of the kernel those that kept up."""
    planes: list[tuple[str, Callable[[Scenario, int], Result]]] = [
        ("simulator", run),
        ("kernel", lambda it, seed: emulate(it, seed=seed)),
    ]
    found = []
    for plane, play in planes:
        kept = []
        for number in range(count):
            begin = BEGIN + PHASE * number
            placed = scenario.set_text("radio.0.sensing.start", f"{begin:g} s") if moves else scenario
            for _ in range(TRIES):
                result = play(placed, number + 1)
                if getattr(result, "is_evidence", True):
                    kept.append((begin, result))
                    break
        found.append((plane, kept))
    return found


def tell(name: str, scenario: Scenario, count: int) -> None:
    """Print a row for each plane: a setting, and what came of the outage."""
    for plane, kept in runs(scenario, count, moves=True):
        rows = [measure(begin, result) for begin, result in kept]
        shown = " | ".join(show([row[at] for row in rows]) for at in range(6))
        ahead, rest = shown.split(" | ", 1)
        print(f"| {name} | {ahead} | {plane} | {rest} | {len(rows)} |", flush=True)


def measure(begin: float, result: Result) -> tuple[float, ...]:
    """Return warning and first data after in ms, goodput after, bytes in all, timeouts, retransmissions."""
    end = begin + LENGTH
    series = [(row["time_s"], row["goodput_bps"]) for row in result.flow_series.to_pylist()]
    step = series[1][0] - series[0][0]

    def delivered(first: float, last: float) -> float:
        return sum(rate * step / 8 for time, rate in series if first < time <= last)

    came = next((time for time, rate in series if time > end + 0.001 and rate > 0), float("nan"))
    leads = [row["down_lead_s"] for row in result.predictions.to_pylist() if row["down_lead_s"] is not None]
    flow = result.flows.to_pylist()[0]
    return (
        leads[0] * 1e3 if leads else float("nan"),
        (came - end) * 1e3,
        delivered(end, end + AFTER) * 8 / AFTER / 1e6,
        delivered(begin - BEFORE, end + AFTER) / 1e6,
        flow["rtos"],
        flow["retransmitted_segments"],
    )


def tell_alarms(name: str, scenario: Scenario, count: int) -> None:
    """Print a row for each plane: what false alarms cost."""
    for plane, kept in runs(scenario, count, moves=False):
        rows = []
        for _, result in kept:
            flow, train = result.flows.to_pylist()[0], result.train_flows.to_pylist()[0]
            rows.append(
                (train["frozen_s"], flow["goodput_bps"] / 1e6, flow["rtos"], flow["retransmitted_segments"])
            )
        shown = " | ".join(show([row[at] for row in rows]) for at in range(4))
        print(f"| {name} | {plane} | {shown} | {len(rows)} |", flush=True)


def show(values: list[float]) -> str:
    """Return mean, and the range where there is one."""
    if not values:
        return "-"
    mean, least, most = statistics.mean(values), min(values), max(values)
    digits = 0 if abs(mean) >= 20 else 1 if abs(mean) >= 10 else 2
    if f"{least:.{digits}f}" == f"{most:.{digits}f}":
        return f"{mean:.{digits}f}"
    return f"{mean:.{digits}f} ({least:.{digits}f} to {most:.{digits}f})"


if __name__ == "__main__":
    main()
