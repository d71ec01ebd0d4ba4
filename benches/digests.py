"""Record what every shipped scenario, study base and packet script gives, and compare with it later.

A change of structure keeps results: record before, compare after.

    .venv/bin/python benches/digests.py record FILE [--seeds N] [--studies]
    .venv/bin/python benches/digests.py compare FILE [--jobs N]

`record` runs the shipped scenarios and the base scenarios of the studies with a full trace, and plays the
packet scripts on the model (`--studies`: also the quick size of every study). It writes the digest of each
run's stream of events and a hash of the values of each column; of a script, a hash of its verdict and
packets. `compare` runs the same again and names what differs: events, values, columns that went or came. It
exits with 1 where events or values differ or a run went; columns that came or went are listed only.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypedDict

import cogtcp
from cogtcp import Result, Scenario
from cogtcp._core import Cancel
from cogtcp.kernel.packets import play, scripts
from cogtcp.running.runner import case
from cogtcp.studies import list_studies, reproduce

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = ROOT / "scenarios"
BASES = ROOT / "studies"
SCRIPTS = ROOT / "tests" / "packets"


class Entry(TypedDict):
    """What one run gave; `columns` holds a hash for each `table.column` (of a script: none)."""

    digest: str
    events: int
    columns: dict[str, str]


def main() -> int:
    """Run the verb that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    record = verbs.add_parser("record", help="write what the runs give")
    record.add_argument("file", type=Path)
    record.add_argument("--seeds", type=int, default=3, help="seeds of each scenario (default: 3)")
    record.add_argument("--studies", action="store_true", help="also the quick size of every study (minutes)")
    compare = verbs.add_parser("compare", help="run the same again and tell what differs")
    compare.add_argument("file", type=Path)
    for verb in record, compare:
        verb.add_argument("--jobs", type=int, default=2, help="runs at once (default: 2)")
    arguments = parser.parse_args()
    if arguments.verb == "record":
        recorded = {"seeds": arguments.seeds, "studies": arguments.studies}
        recorded["runs"] = dict(_all(arguments.seeds, arguments.studies, arguments.jobs))
        arguments.file.write_text(json.dumps(recorded, indent=1) + "\n")
        print(f"recorded {len(recorded['runs'])} runs")
        return 0
    before = json.loads(arguments.file.read_text())
    return _report(before["runs"], dict(_all(before["seeds"], before["studies"], arguments.jobs)))


def _all(seeds: int, studies: bool, at_once: int) -> Iterator[tuple[str, Entry]]:
    shipped = [(path.stem, path) for path in sorted(SCENARIOS.glob("*.toml"))]
    bases = [(f"{path.parts[-3]}/{path.stem}", path) for path in sorted(BASES.glob("*/scenarios/*.toml"))]
    jobs = [(name, path, seed) for name, path in shipped + bases for seed in range(1, seeds + 1)]
    # The engine lets go of Python's lock.
    with ThreadPoolExecutor(at_once) as pool:
        yield from pool.map(lambda job: _scenario(*job), jobs)
    yield from _scripts()
    if studies:
        yield from _studies()


def _scenario(name: str, path: Path, seed: int) -> tuple[str, Entry]:
    result = cogtcp.run(Scenario.from_file(path), seed=seed, trace="full")
    return f"{name}, seed {seed}", _entry(result)


def _scripts() -> Iterator[tuple[str, Entry]]:
    """Play every packet script on the model: its verdict, and each call and packet with its time."""
    for outcome in play(scripts([SCRIPTS]), "sim"):
        # Not the whole outcome: a field that it gains is no other result.
        told = outcome.to_dict()
        digest = _hash([(key, told[key]) for key in ("verdict", "mismatch", "trace")])
        yield f"script {Path(outcome.file).name}", Entry(digest=digest, events=len(outcome.trace), columns={})


def _studies() -> Iterator[tuple[str, Entry]]:
    """Run every study small: each of its runs is named by its scenario, as text, and its seed."""
    found: dict[str, Entry] = {}
    plain_run = cogtcp.run

    def noting(scenario: Scenario, seed: int, trace: cogtcp.Trace, cancel: Cancel | None = None) -> Result:
        result = plain_run(scenario, seed, trace, cancel=cancel)
        text = hashlib.blake2b(scenario.to_toml().encode(), digest_size=8).hexdigest()
        found[f"{study.name}, {scenario.name} ({text}), seed {seed}, {trace}"] = _entry(result)
        return result

    vars(case)["run"] = noting
    for study in list_studies():
        reproduce(study.name, quick=True)
    vars(case)["run"] = plain_run
    yield from sorted(found.items())


def _entry(result: Result) -> Entry:
    tables = {
        f"{name}.{column}": _hash(values.to_pylist())
        for name, table in result.tables().items()
        for column, values in zip(table.column_names, table.columns, strict=True)
    }
    return {"digest": result.digest, "events": int(result._core.engine_events), "columns": tables}


def _hash(values: Sequence[object]) -> str:
    return hashlib.blake2b(repr(values).encode(), digest_size=8).hexdigest()


def _report(before: dict[str, Entry], after: dict[str, Entry]) -> int:
    wrong = 0
    came: set[str] = set()
    went: set[str] = set()
    for name, old in before.items():
        new = after.get(name)
        if new is None:
            print(f"{name}: no such run any more")
            wrong += 1
            continue
        if old["digest"] != new["digest"]:
            print(f"{name}: other events ({old['events']} then, {new['events']} now)")
            wrong += 1
        columns, others = old["columns"], new["columns"]
        came |= others.keys() - columns.keys()
        went |= columns.keys() - others.keys()
        if changed := sorted(key for key in columns.keys() & others.keys() if columns[key] != others[key]):
            print(f"{name}: other values in {', '.join(changed)}")
            wrong += 1
    for what, names in ("came", came), ("went", went), ("new run", after.keys() - before.keys()):
        if names:
            print(f"{what}: {', '.join(sorted(names))}")
    print(f"{len(before)} runs: " + (f"{wrong} differences" if wrong else "the same events and values"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
