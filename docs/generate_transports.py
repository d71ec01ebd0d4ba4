"""Every transport on every shipped scenario and the base of every study: `make transports-table`.

The outcome is docs/transports-table.md. Finished runs are kept in a folder (`--out`), so that a survey can go
on. Seeds are the outer loop: with `--seconds N` each row is made of the seeds that are whole by then. The
engine is part of a run's key: after a change of the engine all runs are made again.
"""

from __future__ import annotations

import argparse
import datetime
import functools
import statistics
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from measured_transports import PLACES, goodputs, measure

from cogtcp import Scenario, ScenarioError
from cogtcp.model.statistics import holm, mean_interval, p_value, ratio_interval
from cogtcp.running.runner import Case, Runner
from cogtcp.studies import list_studies, stacks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from measured_transports import Record

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "transports-table.md"
TRANSPORTS = (
    "sack", "cubic", "bbr", "westwood", "vegas", "c2", "compound", "copa", "ledbat-plus-plus", "quic",
    "quic-newreno", "tfrc", "tfrc-cr", "tp-crahn", "atp",
)  # fmt: skip
#: The transport that the others are compared with.
BASELINE = "cubic"
#: Transports for scenarios that name several paths.
MULTIPATH = ("mptcp", "mptcp-sack")
#: Scenarios whose runs take longest: their seeds come after all seeds of the others.
LONG = ("cbrs", "leo", "leo-trace", "tvws", "wifi-dfs", "train-journey")
#: Two flows on one bottleneck of 10 Mbit/s and 40 ms, which holds 34 packets of 1,500 B.
PAIRS = (
    ("cubic", "cubic"), ("sack", "sack"), ("bbr", "cubic"), ("copa", "cubic"), ("ledbat-plus-plus", "cubic"),
    ("quic", "cubic"), ("quic-cubic", "cubic"), ("quic-quinn-newreno", "sack"), ("quic-newreno", "sack"),
    ("tfrc", "cubic"), ("tfrc", "sack"), ("mptcp", "sack"), ("mptcp-olia", "sack"), ("mptcp-balia", "sack"),
    ("mptcp-sack", "sack"),
)  # fmt: skip
QUEUES = {17: "1/2 BDP", 34: "1 BDP", 136: "4 BDP"}
#: A flow starves with less than this share of what both have.
STARVED = 0.1
#: Smaller differences, in per cent, count as none.
LEAST_SAID = 0.05
# Multipath TCP has two subflows, which meet at the bottleneck: a path by each of two routers before it.
BOTTLENECK = """
name = "shares"
run = {{ duration = "60 s", warmup = "10 s" }}
[topology.graph]
nodes = ["s", "a", "b", "r", "d"]
links = [
  {{ name = "to-a", from = "s", to = "a", rate = "1 Gbit/s", delay = "1 us" }},
  {{ name = "a", from = "a", to = "r", rate = "1 Gbit/s", delay = "1 us" }},
  {{ name = "to-b", from = "s", to = "b", rate = "1 Gbit/s", delay = "1 us" }},
  {{ name = "b", from = "b", to = "r", rate = "1 Gbit/s", delay = "1 us" }},
  {{ name = "both", from = "r", to = "d", rate = "10 Mbit/s", delay = "20 ms", queue = "{queue} packets" }},
]
[[flow]]
from = "s"
to = "d"
transport = "{first}"
paths = {paths}
start_jitter = "1 s"
[[flow]]
from = "s"
to = "d"
transport = "{second}"
start_jitter = "1 s"
"""

Label: TypeAlias = "tuple[str, str, int, str]"


@dataclass(frozen=True)
class Row:
    """A scenario of the table: a shipped one, or the base of a study.

    Attributes:
        name: What the table calls it.
        shipped: The scenario; None for a study.
        base: Returns a study's scenario of a seed.
    """

    name: str
    shipped: Scenario | None = None
    base: Callable[[int], Scenario] | None = None

    @property
    def is_long(self) -> bool:
        """Whether its seeds come last."""
        return self.name in LONG

    def with_all(self, transport: str, seed: int) -> Scenario:
        """Return the scenario whose flows have one transport. Raises `ScenarioError`."""
        if self.base is not None:
            return stacks.put_on(self.base(seed), transport)
        assert self.shipped is not None  # noqa: S101 - a row has one or the other
        return self.shipped.with_transport(transport)

    def beside(self, transport: str, seed: int) -> Scenario:
        """Return the scenario with one flow of the transport and one of CUBIC between the same ends."""
        data = self.with_all(transport, seed).to_dict()
        flow = next(flow for flow in data["flow"] if not flow.get("fixed"))
        first = {**flow, "name": "first", "count": 1, "fixed": False}
        data["flow"] = [first, {**first, "transport": BASELINE, "name": "second"}]
        return Scenario.from_dict(data)

    def transports(self) -> tuple[str, ...]:
        """Return the transports that are measured here."""
        flows = [] if self.shipped is None else self.shipped.to_dict()["flow"]
        return TRANSPORTS + (MULTIPATH if any(len(flow.get("paths", [])) > 1 for flow in flows) else ())


def rows() -> list[Row]:
    """Return the rows of the table: the shipped scenarios, then the studies."""
    files = sorted((ROOT / "scenarios").glob("*.toml"), key=lambda file: file.stem)
    shipped = [Row(file.stem, Scenario.from_file(file)) for file in files]
    studies = [
        Row(f"study {study.name}", base=functools.cache(functools.partial(stacks.base_scenario, study)))
        for study in list_studies()
    ]
    return [*shipped, *studies]


def pair(first: str, second: str, queue: int) -> Scenario:
    """Return the scenario of two flows on one bottleneck."""
    paths = '["a", "b"]' if first.startswith("mptcp") else "[]"
    return Scenario.from_toml(BOTTLENECK.format(queue=queue, first=first, second=second, paths=paths))


class Survey:
    """What is known of each run, by row, transport, seed and kind of run."""

    def __init__(self, seeds: int) -> None:
        self.rows = rows()
        self.seeds = seeds
        self.records: dict[Label, Record | str] = {}
        """What a run measured, or why there is none."""

    def cases(self) -> Iterator[Case]:
        """Yield the cases; what cannot be a scenario is noted instead."""
        for seed in range(1, self.seeds + 1):
            for first, second in PAIRS:
                for queue in QUEUES:
                    label = (f"{first} {second}", str(queue), seed, "pair")
                    yield Case(pair(first, second, queue), seed, goodputs, label=label)
        for is_long in (False, True):
            for seed in range(1, self.seeds + 1):
                for row in self.rows:
                    if row.is_long == is_long:
                        yield from self._of_row(row, seed)

    def _of_row(self, row: Row, seed: int) -> Iterator[Case]:
        for transport in row.transports():
            for kind, make, reads in (("alone", row.with_all, measure), ("beside", row.beside, goodputs)):
                label = (row.name, transport, seed, kind)
                try:
                    yield Case(make(transport, seed), seed, reads, label=label)
                except ScenarioError as error:
                    self.records[label] = str(error)

    def run(self, folder: Path, seconds: float, time_limit: float, jobs: int | None) -> None:
        """Make what is missing."""
        until = time.monotonic() + seconds
        runner = Runner(folder, jobs, time_limit=time_limit)
        cases = list(self.cases())
        stream = runner.stream(cases)
        for count, (case, outcome) in enumerate(stream, 1):
            name, transport, seed, kind = case.label
            self.records[name, transport, seed, kind] = outcome.error or outcome.record  # type: ignore[index]
            if count % 500 == 0 or count == len(cases):
                print(f"{count} of {len(cases)} runs", file=sys.stderr, flush=True)
            if not outcome.known and time.monotonic() > until:
                break
        stream.close()

    def whole(self, row: Row) -> int:
        """Return how many seeds of a row are whole, from the first on."""
        labels = [
            (row.name, transport, kind) for transport in row.transports() for kind in ("alone", "beside")
        ]
        for seed in range(1, self.seeds + 1):
            if any((name, transport, seed, kind) not in self.records for name, transport, kind in labels):
                return seed - 1
        return self.seeds

    def found(self, row: Row, transport: str, kind: str) -> list[Record]:
        """Return the records of all whole seeds; a run without a record has an empty one."""
        found = [self.records[row.name, transport, seed, kind] for seed in range(1, self.whole(row) + 1)]
        return [{} if isinstance(record, str) else record for record in found]

    def beside(self, row: Row, transport: str) -> list[float]:
        """Return the shares beside CUBIC in per cent, one a whole seed; NaN for a run without a record."""
        return [run.get("share", float("nan")) for run in self.found(row, transport, "beside")]

    def why_not(self, row: Row, transport: str) -> str:
        """Return why the transport has no numbers in a row, in a few words."""
        records = [self.records[row.name, transport, seed, "alone"] for seed in range(1, self.whole(row) + 1)]
        errors = [record for record in records if isinstance(record, str)]
        slow = sum("time limit" in error for error in errors)
        if slow:
            return f"{slow} of {len(records)} runs took too long"
        return "cannot run it" if errors else ""


def shares(survey: Survey) -> str:
    """Return the table of two flows on one bottleneck: shares, goodput, and who starves."""
    head = " | ".join(f"queue of {said}" for said in QUEUES.values())
    lines = [
        f"| first | second | finding | {head} | goodput at 1 BDP, first | second |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for first, second in PAIRS:
        found = {}
        for queue in QUEUES:
            labels = [(f"{first} {second}", str(queue), seed, "pair") for seed in range(1, survey.seeds + 1)]
            # With `--seconds` a survey may end within the pairs.
            known = [survey.records.get(label) for label in labels]
            found[queue] = [record for record in known if isinstance(record, dict)]
        cells = [interval([record["share"] for record in found[queue]], 1) for queue in QUEUES]
        cells += [interval([record[which] for record in found[34]], 2) for which in ("first", "second")]
        said = finding(first, second, {queue: [run["share"] for run in found[queue]] for queue in QUEUES})
        lines.append(f"| `{first}` | `{second}` | {said} | {' | '.join(cells)} |")
    return "\n".join(lines)


def finding(first: str, second: str, by_queue: dict[int, list[float]]) -> str:
    """Return who takes more and who starves, as far as 95 % intervals tell.

    Args:
        first: The transport of the first flow.
        second: The transport of the second flow.
        by_queue: Shares of the first in per cent, one a seed, by the length of the queue.
    """
    told: dict[str, list[str]] = defaultdict(list)
    for queue, values in by_queue.items():
        found = mean_interval(values)
        more = f"`{first}`" if found.mean > 50 else f"`{second}`"
        less = f"`{second}`" if found.mean > 50 else f"`{first}`"
        if first == second:
            more, less = "one flow", "one flow"
        if found.low > 100 * (1 - STARVED) or found.high < 100 * STARVED:
            told[f"{less} starves"].append(QUEUES[queue])
        elif found.excludes(50):
            told[f"{more} takes more"].append(QUEUES[queue])
        elif found.n >= 2:
            told["no difference shown"].append(QUEUES[queue])
    return "; ".join(
        said if len(at) == len(by_queue) else f"{said} at {' and '.join(at)}" for said, at in told.items()
    )


def interval(values: Sequence[float], digits: int) -> str:
    """Return a mean with its 95 % interval, or a dash without any value. NaN is left out."""
    found = mean_interval(values)
    if not found.n:
        return "-"
    if found.n < 3:
        return f"{found.mean:.{digits}f}"
    return f"{found.mean:.{digits}f} ± {found.half_width:.{digits}f}"


def table(survey: Survey) -> str:
    """Return the table of all transports in Markdown."""
    lines = [
        "| scenario | transport | goodput, Mbit/s | queuing delay, ms | dropped, % | share beside CUBIC, % "
        "| PUs disturbed, % | most time lost to |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in survey.rows:
        for transport in row.transports() if survey.whole(row) else ():
            why = survey.why_not(row, transport)
            if why:
                lines.append(f"| `{row.name}` | `{transport}` | - | - | - | - | - | {why} |")
                continue
            runs = survey.found(row, transport, "alone")
            cells = [
                interval([run[name] for run in runs], digits)
                for name, digits in (("goodput", 3), ("delay", 0), ("loss", 2))
            ]
            cells += [interval(survey.beside(row, transport), 0), interval([run["pu"] for run in runs], 2)]
            where = PLACES.get(statistics.mode([run["where"] for run in runs]), "-")
            lines.append(f"| `{row.name}` | `{transport}` | {' | '.join(cells)} | {where} |")
    return "\n".join(lines)


def against_baseline(survey: Survey, row: Row) -> dict[str, float]:
    """Return by how much each transport delivers more than CUBIC, in per cent, where that is shown.

    Runs are paired by seed. All of a scenario's findings hold at once with 95 % confidence (Holm). NaN: not
    shown. Transports that cannot run are left out.
    """
    goodput = {
        transport: [run["goodput"] for run in survey.found(row, transport, "alone")]
        for transport in row.transports()
        if not survey.why_not(row, transport)
    }
    base = goodput.pop(BASELINE, [])
    if sum(base) <= 0 or len(base) < 2:
        return {}
    tests = [p_value([a - b for a, b in zip(values, base, strict=True)]) for values in goodput.values()]
    return {
        transport: 100 * (ratio_interval(goodput[transport], base).mean - 1) if is_shown else float("nan")
        for transport, is_shown in zip(goodput, holm(tests), strict=True)
    }


def findings(survey: Survey) -> str:
    """Return what intervals allow to say: of each scenario, then of each transport."""
    lines = [
        "| scenario | seeds | delivers more than CUBIC | less | no difference shown | cannot run |",
        "|---|---|---|---|---|---|",
    ]
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for row in survey.rows:
        seeds = survey.whole(row)
        shown = against_baseline(survey, row)
        groups: dict[str, list[str]] = defaultdict(list)
        for transport, percent in sorted(
            shown.items(), key=lambda item: -item[1] if item[1] == item[1] else 0
        ):
            said = f"{percent:+.{0 if abs(percent) >= 10 else 1}f}"
            group = "more" if percent >= LEAST_SAID else "less" if percent <= -LEAST_SAID else "same"
            counts[transport][group] += 1
            groups[group].append(f"`{transport}`" + (f" {said} %" if group != "same" else ""))
        groups["less"].reverse()
        if seeds:
            groups["none"] = [f"`{name}`" for name in row.transports() if survey.why_not(row, name)]
        for transport in row.transports() if seeds else ():
            found = mean_interval(survey.beside(row, transport))
            if found.n >= 2:
                counts[transport]["starves"] += found.low > 100 * (1 - STARVED)
                counts[transport]["starved"] += found.high < 100 * STARVED
        cells = [", ".join(groups[group]) or "-" for group in ("more", "less", "same", "none")]
        lines.append(f"| `{row.name}` | {seeds} | {' | '.join(cells)} |")
    lines += [
        "",
        "In how many of these scenarios a transport delivers more than CUBIC, and starves beside it (under "
        f"{100 * STARVED:.0f} % of both):",
        "",
        "| transport | more | less | no difference shown | CUBIC starves | it starves |",
        "|---|---|---|---|---|---|",
    ]
    for transport, of in counts.items():
        if transport != BASELINE:
            cells = [str(of[group]) for group in ("more", "less", "same", "starves", "starved")]
            lines.append(f"| `{transport}` | {' | '.join(cells)} |")
    return "\n".join(lines)


def write(survey: Survey, page: Path) -> None:
    """Write the tables into the page."""
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    made = f"{today}, means with 95 % intervals:\n\n{table(survey)}"
    text = page.read_text()
    for place, written in (("transports", made), ("shares", shares(survey)), ("findings", findings(survey))):
        begin, end = f"<!-- {place} -->", f"<!-- end of {place} -->"
        head, rest = text.split(begin)
        text = f"{head}{begin}\n\n{written}\n\n{end}{rest.split(end)[1]}"
    page.write_text(text)


def main() -> None:
    """Run what is missing, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument(
        "--seconds", type=float, default=1e9, help="write the page after so long, from whole seeds"
    )
    parser.add_argument("--time-limit", type=float, default=30.0, help="give up a run after so many seconds")
    parser.add_argument("--jobs", type=int, help="runs at a time (default: one per processor)")
    parser.add_argument(
        "--out", type=Path, default=ROOT / "results" / "transports-table", help="finished runs"
    )
    parser.add_argument("--page", type=Path, default=PAGE, help="the page that is written")
    args = parser.parse_args()
    survey = Survey(args.seeds)
    survey.run(args.out, args.seconds, args.time_limit, args.jobs)
    write(survey, args.page)


if __name__ == "__main__":
    main()
