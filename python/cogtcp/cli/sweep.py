"""The verbs sweep, query, results and merge."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp import _parquet
from cogtcp._errors import UsageError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from cogtcp.running.runner import Launcher
    from cogtcp.running.sweeping.result import Sweep

#: Rows that `sweep` and `query` print.
_MOST_ROWS, _MOST_ANSWERS = 40, 200
#: Width of an answer that does not go to a terminal.
_PIPE = 200


def add_sweep(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `sweep`."""
    from cogtcp.cli import arguments

    parser.add_argument("file", metavar="SWEEP", help="the sweep, a TOML file (docs/sweeps.md)")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help='change a field of the base scenario: --set run.duration="20 s" (may be repeated)',
    )
    parser.add_argument("--seeds", type=int, metavar="N", help="number of seeds (default: the file's)")
    parser.add_argument("--jobs", type=int, metavar="N", help="runs at a time (default: one per processor)")
    parser.add_argument(
        "--ray", metavar="ADDRESS", help="run on Ray: auto, local, or a cluster's address (extra `ray`)"
    )
    parser.add_argument(
        "--plane",
        default="sim",
        metavar="PLANE",
        help="sim, or virtual[:NAME]: Linux in virtual time (cogtcp kernel list)",
    )
    parser.add_argument("--dry-run", action="store_true", help="only print the cost: runs, core time, bytes")
    parser.add_argument(
        "--precision",
        metavar="P",
        help="add seeds until half the interval of goodput is at most P (5%%) of the mean",
    )
    parser.add_argument(
        "--max-seeds", type=int, default=200, metavar="N", help="bound of --precision (default: 200)"
    )
    arguments.add_quantiles(parser)
    parser.add_argument("--retry-failed", action="store_true", help="repeat failed runs")
    parser.add_argument(
        "--store", metavar="URI", help="also keep the data set in s3://bucket/folder, or a folder"
    )
    parser.add_argument(
        "--allow-python",
        action="store_true",
        help="run congestion controls (module:Class) that the files name: only for files that you trust",
    )


def sweep(args: argparse.Namespace) -> int:
    """Run a sweep, save, and show the result."""
    import cogtcp
    from cogtcp.cli import arguments, progress
    from cogtcp.running.runner.plane import plane_of
    from cogtcp.running.sweeping import plan

    arguments.positive(args.jobs, "--jobs")
    arguments.positive(args.seeds, "--seeds")
    # Before the file is read: that tries its first run.
    arguments.look_here(["any"] if args.allow_python else sorted(arguments.typed_controls(args)))
    plane = plane_of(args.plane)
    made = plan.read(
        args.file,
        allow_python=args.allow_python,
        changes=arguments.changes(args.set),
        seeds=args.seeds,
        plane=plane,
    )
    # Runs of two planes, or of two kernels, are two folders.
    name = f"{Path(args.file).stem}-sweep{'' if plane is None else '-' + plane.name.replace(':', '-')}"
    out = Path(args.out) if args.out is not None else Path("results") / name
    if args.dry_run:
        return _dry_run(args, made, out)
    options: dict[str, Any] = {
        "out": out,
        "force": args.force,
        "jobs": args.jobs,
        "retry": args.retry_failed,
        "launcher": _launcher(args),
        "command": arguments.command_line(),
        "store": args.store,
        "quantiles": arguments.quantiles(args.quantiles),
    }
    if args.precision is not None:
        options |= {"precision": _share(args.precision), "max_seeds": args.max_seeds}
    try:
        with progress.shown() as listener:
            found = cogtcp.sweep(made, progress=listener, **options)
    except KeyboardInterrupt:
        print(f"cogtcp: interrupted; repeat the command to go on in {out}", file=sys.stderr)
        return 130
    for path in found.damaged:
        print(f"cogtcp: {path} was damaged; its runs were made again", file=sys.stderr)
    for row in found.failures[:3]:
        print(f"cogtcp: {row['transport']}, seed {row['seed']} failed: {row['error']}", file=sys.stderr)
    if args.json:
        print(json.dumps({**found.to_dict(), "out": str(out), "report": str(out / "report.html")}))
    else:
        print(f"{found.progress.describe()}\n")
        _show(found)
        print(f"\n{found.answer}\n\nreport: {out / 'report.html'}")
    if found.interrupted:
        print(f"cogtcp: interrupted; repeat the command to go on in {out}", file=sys.stderr)
        return 130
    return 1 if found.failures else 0


def _show(found: Sweep) -> None:
    """Print a row for each point and transport."""
    from cogtcp.cli import show
    from cogtcp.showing.report.sweep import rows_in_words

    table = rows_in_words(found, _MOST_ROWS)
    if not table.rows:
        return
    headings = ["\n".join(filter(None, [*name.split(", "), unit])) for name, unit in table.headings]
    title = f"{found.plan.scenario.name}: mean over the seeds ± half of the 95 % interval"
    show.print_table(title, headings, table.rows, left=1 + len(found.axes))
    if table.left_out:
        print(f"{table.left_out:,} more rows are in {found.folder / 'summary.parquet'} (cogtcp query)")


def _launcher(args: argparse.Namespace) -> Launcher | None:
    if args.ray is None:
        return None
    from cogtcp.running.runner.on_ray import OnRay

    return OnRay(args.ray)


def _share(text: str) -> float:
    try:
        value = float(text.rstrip("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        # Refused below, in the same words.
        value = 0.0
    if not 0 < value < 1:
        raise UsageError(f"--precision {text}: write a share between 0 and 1, as in 5% or 0.05")
    return value


def _dry_run(args: argparse.Namespace, plan: Any, out: Path) -> int:
    from cogtcp.running.sweeping.budget import budget

    found = budget(plan, args.jobs, out)
    if args.json:
        print(json.dumps(found.to_dict()))
    else:
        print(found.describe())
    return 0


def results(args: argparse.Namespace) -> int:
    """Say what is in a folder of results."""
    from cogtcp.running.sweeping.folders import describe

    with _parquet.of_folders(Path(args.folder)):
        found = describe(Path(args.folder))
    if args.json:
        print(json.dumps(found.document))
    else:
        print(found.text)
    return 0


def query(args: argparse.Namespace) -> int:
    """Answer a question in SQL."""
    from cogtcp.running.sweeping.query import query as ask

    with _parquet.of_folders(Path(args.folder)):
        table = ask(Path(args.folder), args.sql)
    if args.json:
        from cogtcp.model.result import plain

        rows = plain(table.to_pylist())
        # SQL gives dates and decimals too, which JSON has no form for.
        print(json.dumps({"columns": table.column_names, "rows": rows}, default=str))
    elif args.csv:
        import pyarrow.csv

        pyarrow.csv.write_csv(table, sys.stdout.buffer)
    else:
        _print(table)
    return 0


def _print(table: Any) -> None:
    """Print rows as a table, or record by record where the table is wider than the terminal."""
    from rich.console import Console

    rows = [[_cell(value) for value in row.values()] for row in table.slice(0, _MOST_ANSWERS).to_pylist()]
    names = table.column_names
    console = Console(width=None if sys.stdout.isatty() else _PIPE)
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    # Three spaces for each column, as `rich` sets them.
    if sum(widths) + 3 * len(widths) <= console.width:
        _print_table(console, names, rows)
    else:
        print("\n".join(_records(names, rows, console.width)))
    if table.num_rows > len(rows):
        print(f"... {table.num_rows - len(rows)} more rows; --csv and --json print all")


def _cell(value: Any) -> str:
    text = "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
    # A line break or an escape sequence in a result would take the terminal apart.
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _print_table(console: Any, names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in names:
        shown.add_column(Text(name), no_wrap=True)
    for row in rows:
        shown.add_row(*map(Text, row))
    console.print(shown)


def _records(names: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Yield the lines of rows as records, one column a line, like the expanded display of psql."""
    import textwrap

    left = max(map(len, names))
    for number, row in enumerate(rows, start=1):
        head = f"-[ record {number} ]"
        yield head + "-" * max(0, min(width, left + 20) - len(head))
        for name, cell in zip(names, row, strict=True):
            # An empty cell has a line, too; a long one goes on below itself.
            for line, text in enumerate(textwrap.wrap(cell, max(20, width - left - 3)) or [""]):
                yield f"{'' if line else name:<{left}} | {text}".rstrip()


def merge(args: argparse.Namespace) -> int:
    """Put several folders together."""
    from cogtcp.cli import arguments
    from cogtcp.running.sweeping.merge import merge as put_together

    folders = [Path(folder) for folder in args.folders]
    out = Path(args.out) if args.out is not None else Path("results") / "merged"
    answer = put_together(folders, out, force=args.force, command=arguments.command_line())
    if args.json:
        print(json.dumps({"out": str(out), "report": str(out / "report.html"), "answer": answer}))
    else:
        print(f"{answer}\n\nreport: {out / 'report.html'}")
    return 0
