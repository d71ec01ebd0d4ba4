"""The verbs that simulate nothing: check, new, metrics, schema, transports, version."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from cogtcp import _core
from cogtcp._errors import UsageError
from cogtcp._names import pick
from cogtcp._shipped import locate, shipped
from cogtcp.cli import arguments
from cogtcp.model import provenance
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import argparse


def check(args: argparse.Namespace) -> int:
    """Say whether a scenario can be simulated, and what looks unmeant in it; or bring its file up to date."""
    if args.in_place and not args.migrate:
        raise UsageError("--in-place writes what --migrate brought up to date; give --migrate too")
    if args.migrate:
        return _migrate(args)
    scenario = arguments.scenario(args)
    scenario.check()
    warnings = scenario.warnings()
    for warning in warnings:
        print(f"cogtcp: warning: {warning}", file=sys.stderr)
    if args.json:
        described = {"file": args.file, "name": scenario.name, "sha256": scenario.hash, "warnings": warnings}
        print(json.dumps({"ok": True, **described}))
    else:
        print(f"{args.file}: {scenario.name} can be run")
    return 0


def _migrate(args: argparse.Namespace) -> int:
    if args.set:
        raise UsageError("--migrate changes only the format of the file; leave --set out")
    arguments.scenario(args)  # says what is wrong with the file, as every verb does
    before = locate(args.file).read_bytes().decode()  # its ends of lines are kept
    after = _core.migrate(before, args.file)
    if args.in_place and after != before:
        from cogtcp.model.output import write_bytes

        write_bytes(args.file, after.encode())
    if args.json:
        print(json.dumps({"file": args.file, "changed": after != before, "text": after}))
    elif not args.in_place:
        sys.stdout.write(after)
    else:
        print(f"{args.file}: {'brought up to date' if after != before else 'was up to date'}")
    return 0


def new(args: argparse.Namespace) -> int:
    """Write a starter scenario."""
    kinds = dict(_core.starters())
    if args.list:
        _list_starters(args, kinds)
        return 0
    kind = pick(args.kind or next(iter(kinds)), kinds, "starter")
    if args.file and args.out and args.file != args.out:
        raise UsageError(f"{args.file} and --out {args.out} are two files; give one")
    name = args.out or args.file or f"{kind}.toml"
    if Path(name).suffix != ".toml":
        raise UsageError(f"{name}: a scenario is a TOML file; name it {Path(name).stem or kind}.toml")
    path = arguments.new_file(name, args.force)
    from cogtcp.model.output import write_file

    write_file(path, _core.starter(kind))
    if args.json:
        print(json.dumps({"file": str(path), "kind": kind}))
    else:
        print(f"wrote {path}; now: cogtcp run {path}")
    return 0


def _list_starters(args: argparse.Namespace, kinds: dict[str, str]) -> None:
    files = {name: Scenario.from_file(path).description for name, path in shipped().items()}
    lists = {"kinds": kinds, "shipped": files}
    if args.json:
        print(json.dumps({key: _entries(entries) for key, entries in lists.items()}))
        return
    print("To start from (cogtcp new --kind KIND):")
    _print(kinds)
    print("\nShipped with cogtcp (cogtcp run NAME, and every other verb that takes a scenario):")
    _print(files)


def schema(args: argparse.Namespace) -> int:
    """Print the schema of scenarios, or of results."""
    if not args.results:
        print(_core.schema())
        return 0
    from cogtcp.model.tables import comparison_tables

    tables = [*_core.columns(), *comparison_tables()]
    if args.json:
        keys = ("name", "type", "unit", "meaning")
        described = {
            name: {
                "meaning": meaning,
                "columns": [dict(zip(keys, column, strict=True)) for column in columns],
            }
            for name, meaning, columns in tables
        }
        print(json.dumps(described))
        return 0
    for name, meaning, columns in tables:
        print(f"{name}: {meaning}")
        for column, kind, unit, text in columns:
            print(f"  {column} ({', '.join(filter(None, (kind, unit)))}): {text}")
        print()
    return 0


def metrics(args: argparse.Namespace) -> int:
    """List the metrics that a scenario offers: of its flows, streams and applications, then of the run."""
    from cogtcp.model.metrics import listed, subjects
    from cogtcp.model.tables import base_unit

    scenario = arguments.scenario(args)
    scenario.check()
    kinds = {subject.name: subject.kind for subject in subjects(scenario)}
    better = {1: "more", -1: "less", 0: ""}
    entries = [
        {
            "name": metric.name,
            "subject": metric.subject,
            "kind": kinds.get(metric.subject, ""),
            "unit": base_unit(metric),
            "better": better[metric.better],
            "noticed": metric.noticed,
            "meaning": metric.meaning,
        }
        for metric in listed(scenario)
    ]
    if args.json:
        print(json.dumps({"scenario": scenario.name, "metrics": entries}))
        return 0
    width = max(len(str(entry["name"])) for entry in entries)
    headings = {True: "What users notice", False: "Of the run, and of each flow and stream"}
    for noticed, heading in headings.items():
        rows = [entry for entry in entries if entry["noticed"] is noticed]
        if not rows:
            continue
        print(f"{heading}:\n")
        for entry in rows:
            is_better = f"{entry['better']} is better" if entry["better"] else ""
            about = ", ".join(filter(None, (str(entry["unit"]), is_better)))
            print(f"  {entry['name']:{width}}  {entry['meaning']}" + (f" [{about}]" if about else ""))
        print()
    print("Use a name in: tune --objective, advise --for and --constraint, plot --metric, query.")
    return 0


def transports(args: argparse.Namespace) -> int:
    """List the transport presets."""
    _list(args, dict(_core.transports()), "transports")
    return 0


def version(args: argparse.Namespace) -> int:
    """Print the version, the commit where one is known, and what this installation can do."""
    import platform
    from dataclasses import asdict

    from cogtcp.cli.features import features

    found = features()
    system = f"{platform.system()} {platform.machine()}"
    if args.json:
        known = {
            "version": provenance.version(),
            "commit": provenance.commit(),
            "python": platform.python_version(),
            "system": system,
            "features": [asdict(feature) for feature in found],
        }
        print(json.dumps(known))
        return 0
    short_version(args)
    print(f"Python {platform.python_version()} on {system}\n")
    width = max(len(feature.name) for feature in found)
    for feature in found:
        print(f"{feature.name:{width}}  {'yes' if feature.available else 'no':3}  {feature.detail}")
    return 0


def short_version(args: argparse.Namespace) -> int:
    """Print the version and the commit in one line."""
    commit = provenance.commit()
    print(f"cogtcp {provenance.version()}" + (f" ({commit})" if commit else ""))
    return 0


def _list(args: argparse.Namespace, entries: dict[str, str], key: str) -> None:
    if args.json:
        print(json.dumps({key: _entries(entries)}))
    else:
        _print(entries)


def _entries(entries: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "summary": text} for name, text in entries.items()]


def _print(entries: dict[str, str]) -> None:
    width = max(map(len, entries), default=0)
    for name, text in entries.items():
        print(f"{name:{width}}  {text}")
