"""Every transport on the shipped scenarios: `make transports-table` writes docs/transports-table.md.

Runs are kept in a cache (`--cache FILE`), one JSON text a line, so that a survey can go on. Seeds are
the outer loop: with `--seconds N` the table is made of the seeds that are whole by then.
"""

from __future__ import annotations

import argparse
import copy
import datetime
import json
import statistics
import time
from pathlib import Path
from typing import Any

import cogtcp
from cogtcp import Scenario, ScenarioError, budget
from cogtcp.statistics import mean_interval

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "transports-table.md"
TRANSPORTS = ("sack", "cubic", "bbr", "westwood", "vegas", "c2", "compound", "quic", "quic-newreno", "tfrc")
#: Scenarios whose runs take most of a second: they would take as long as all others together.
LEFT_OUT = {"train-journey", "tvws", "wifi-dfs", "dumbbell-bench"}
#: Where the bottleneck's time goes, in words; delivered data are not listed.
PLACES = {state.column: state.said for state in budget.STATES if state.name != "delivered"}
#: Two flows on one bottleneck of 10 Mbit/s and 40 ms, which holds 34 packets of 1,500 B.
PAIRS = (
    ("cubic", "cubic"), ("quic", "cubic"), ("quic-cubic", "cubic"), ("quic-quinn-newreno", "sack"),
    ("quic-newreno", "sack"), ("tfrc", "cubic"), ("tfrc", "sack"),
)  # fmt: skip
BOTTLENECK = """
name = "shares"
run = {{ duration = "60 s", warmup = "10 s" }}
[topology.single_hop]
link = {{ rate = "10 Mbit/s", delay = "20 ms", queue = "{queue} packets" }}
[[flow]]
from = "sender"
to = "receiver"
transport = "{first}"
start_jitter = "1 s"
[[flow]]
from = "sender"
to = "receiver"
transport = "{second}"
start_jitter = "1 s"
"""


def scenarios() -> dict[str, dict[str, Any]]:
    """Return the shipped scenarios by name."""
    found = {}
    for file in sorted((ROOT / "scenarios").glob("*.toml")):
        if file.stem not in LEFT_OUT:
            found[file.stem] = Scenario.from_file(file)
    return found


def measure(scenario: Scenario, transport: str, seed: int) -> dict[str, Any] | None:
    """Return the measurements of one run; None if the scenario cannot have the transport."""
    flows = len(scenario.to_dict()["flow"])
    alone = scenario
    for number in range(flows):
        alone = alone.set(f"flow.{number}.transport", transport)
    try:
        result = cogtcp.run(alone, seed)
    except ScenarioError:
        return None
    rows, metrics = result.rows("flows"), result.metrics
    bottleneck = next(iter(result.rows("budget")), {})
    spent = {name: bottleneck[name] for name in PLACES if name in bottleneck}
    where = max(spent, key=lambda name: spent[name]) if spent else ""
    sent = sum(row["sent_segments"] for row in rows)
    return {
        "goodput": metrics["goodput_bps"] / 1e6,
        "delay": 1e3 * metrics["queuing_delay_mean_s"],
        "loss": 100 * metrics["drops"] / sent if sent else float("nan"),
        "pu": 100 * metrics.get("pu_interfered_share", float("nan")),
        "where": where,
        "share": beside(scenario, transport, seed),
    }


def beside(scenario: Scenario, transport: str, seed: int) -> float:
    """Return the share in per cent that the first flow gets beside a flow of CUBIC between the same ends."""
    data = copy.deepcopy(scenario.to_dict())
    first = {**data["flow"][0], "transport": transport, "name": "first", "count": 1}
    data["flow"] = [first, {**first, "transport": "cubic", "name": "second"}]
    try:
        file = Scenario.from_dict(data)
        goodputs = [row["goodput_bps"] for row in cogtcp.run(file, seed).rows("flows")]
    except (ScenarioError, cogtcp.UsageError):
        return float("nan")
    return 100 * goodputs[0] / sum(goodputs) if sum(goodputs) > 0 else float("nan")


def survey(cache: Path, seeds: int, seconds: float) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Return the measurements of all whole seeds, by scenario and transport."""
    known: dict[tuple[str, str, int], Any] = {}
    if cache.exists():
        for line in cache.read_text().splitlines():
            scenario, transport, seed, found = json.loads(line)
            known[scenario, transport, seed] = found
    # Without time for a run the table lists the scenarios in the cache.
    named = dict.fromkeys(name for name, _, _ in known)
    shipped: dict[str, Any] = scenarios() if seconds > 0 else named
    until = time.monotonic() + seconds
    whole = 0
    with cache.open("a") as journal:
        for seed in range(1, seeds + 1):
            for name, scenario in shipped.items():
                for transport in TRANSPORTS:
                    if (name, transport, seed) in known:
                        continue
                    if time.monotonic() > until:
                        break
                    found = measure(scenario, transport, seed)
                    known[name, transport, seed] = found
                    journal.write(json.dumps([name, transport, seed, found]) + "\n")
                    journal.flush()
            if all((name, transport, seed) in known for name in shipped for transport in TRANSPORTS):
                whole = seed
    return {
        (name, transport): [known[name, transport, seed] for seed in range(1, whole + 1)]
        for name in shipped
        for transport in TRANSPORTS
    }


def shares() -> str:
    """Return the table of two flows on one bottleneck: the share of the first in per cent, ten seeds."""
    lines = [
        "| first | second | queue of 1/2 BDP | 1 BDP | 4 BDP |",
        "|---|---|---|---|---|",
    ]
    for first, second in PAIRS:
        cells = []
        for queue in (17, 34, 136):
            found = []
            for seed in range(1, 11):
                text = BOTTLENECK.format(queue=queue, first=first, second=second)
                goodputs = [
                    row["goodput_bps"] for row in cogtcp.run(Scenario.from_toml(text), seed).rows("flows")
                ]
                found.append(100 * goodputs[0] / sum(goodputs))
            cells.append(interval(found, 1))
        lines.append(f"| `{first}` | `{second}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def interval(values: list[float], digits: int) -> str:
    """Return a mean with its 95 % interval, or a dash where a value is missing."""
    values = [value for value in values if value is not None and value == value]
    if not values:
        return "-"
    found = mean_interval(values)
    if found.n < 3:
        return f"{found.mean:.{digits}f}"
    return f"{found.mean:.{digits}f} ± {found.half_width:.{digits}f}"


def table(found: dict[tuple[str, str], list[dict[str, Any]]]) -> str:
    """Return the table in Markdown."""
    lines = [
        "| scenario | transport | goodput, Mbit/s | queuing delay, ms | dropped, % | share beside CUBIC, % "
        "| PUs disturbed, % | most time lost to |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for (scenario, transport), runs in found.items():
        if not runs or any(run is None for run in runs):
            lines.append(f"| `{scenario}` | `{transport}` | - | - | - | - | - | cannot run it |")
            continue
        cells = [
            interval([run[name] for run in runs], digits)
            for name, digits in (("goodput", 3), ("delay", 0), ("loss", 2), ("share", 0), ("pu", 2))
        ]
        where = statistics.mode([run["where"] for run in runs])
        lines.append(f"| `{scenario}` | `{transport}` | {' | '.join(cells)} | {PLACES.get(where, '-')} |")
    return "\n".join(lines)


def main() -> None:
    """Run what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument(
        "--seconds", type=float, default=1e9, help="make the table after so long, from whole seeds"
    )
    parser.add_argument("--cache", type=Path, default=ROOT / "results" / "transports-table.jsonl")
    args = parser.parse_args()
    args.cache.parent.mkdir(parents=True, exist_ok=True)
    found = survey(args.cache, args.seeds, args.seconds)
    seeds = len(next(iter(found.values())))
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    made = f"{today}, {seeds} seeds, means with 95 % intervals:\n\n{table(found)}"
    text = PAGE.read_text()
    for place, table_of in (("transports", made), ("shares", shares())):
        begin, end = f"<!-- {place} -->", f"<!-- end of {place} -->"
        head, rest = text.split(begin)
        text = f"{head}{begin}\n\n{table_of}\n\n{end}{rest.split(end)[1]}"
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
