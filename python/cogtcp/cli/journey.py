"""The verb `journey show`: a line, its stations and outages, and a picture of the level."""

from __future__ import annotations

import json
import math
import sys
from typing import TYPE_CHECKING, Any

from cogtcp._errors import UsageError
from cogtcp.cli import arguments
from cogtcp.data.journey import Line, Travel, summarise
from cogtcp.model.result import plain

if TYPE_CHECKING:
    import argparse

_WIDTH = 72
_HEIGHT = 12
_MOST_SEEDS = 1000
_DEPTH = 15.0  # dB below the threshold that are drawn


def add_journey(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `journey` to its parser."""
    text = "show a line: stations, tunnels, outages, signal levels"
    show = arguments.add_verb(arguments.verbs(parser), "show", show_journey, text)
    show.add_argument("file", metavar="MAP", help="the map file")
    show.add_argument("--seed", type=int, default=1, metavar="N", help="the journey shown (default: 1)")
    show.add_argument(
        "--seeds", type=int, default=20, metavar="N", help="journeys of the statistics (default: 20)"
    )
    show.add_argument(
        "--radio", default="cr", metavar="NAME", help="the radio's name in the scenario (default: cr)"
    )
    show.add_argument(
        "--plot", metavar="FILE", help="draw level, speed and outages into this file, .svg or .html"
    )
    show.add_argument("--force", action="store_true", help="replace the plot if it exists")


def show_journey(args: argparse.Namespace) -> int:
    """Print a line, one journey on it and the statistics of several."""
    if not 1 <= args.seeds <= _MOST_SEEDS:
        raise UsageError(f"--seeds {args.seeds}: write 1 to {_MOST_SEEDS}")
    line = Line.from_file(args.file)
    travel = line.travel(args.seed, args.radio)
    several = [line.travel(args.seed + i, args.radio) for i in range(args.seeds)]
    if args.plot:
        _plot(args, line, travel, several)
    if args.json:
        print(json.dumps(plain(_describe(args, line, travel, several))))
        return 0
    _print_line(line, travel)
    print(f"\nLevel, dBm (threshold {line.threshold:.0f}), outages below it; seed {travel.seed}")
    print("\n".join(_picture(line, travel)))
    silent = sum(t.silent / t.duration for t in several) / len(several)
    print(f"\nOutages of {len(several)} journeys: {silent:.1%} of the travel time")
    print(f"{'cause':>10} {'a journey':>10} {'mean':>9} {'longest':>9}")
    for part in summarise(several):
        print(f"{part.cause:>10} {part.per_journey:>10.1f} {part.mean:>7.2f} s {part.longest:>7.2f} s")
    if args.plot:
        print(f"\nplot: {args.plot}")
    return 0


def _print_line(line: Line, travel: Travel) -> None:
    print(f"{line.name}: {line.description or 'a line'}")
    print(
        f"{line.length / 1000:g} km, {len(line.base_stations)} base stations, {len(line.tunnels)} tunnels, "
        f"{travel.duration / 60:.1f} min\n"
    )
    print(f"{'km':>8}  {'':24} {'arrival':>9} {'departure':>10}")
    rows: list[tuple[float, str]] = []
    for call in travel.calls:
        if call.station.stops:
            leaves = f"{call.departure:>8.0f} s" if math.isfinite(call.departure) else ""
            times = f"{call.arrival:>7.0f} s {leaves}"
        else:
            times = f"{call.arrival:>7.0f} s     passes"
        rows.append((call.station.at, f"{call.station.name:24} {times}"))
    rows += [(start, f"  tunnel {name}, {end - start:g} m") for name, start, end in line.tunnels]
    rows += [(at, "  border") for at in line.borders]
    for at, text in sorted(rows):
        print(f"{at / 1000:>8.1f}  {text.rstrip()}")


def _picture(line: Line, travel: Travel) -> list[str]:
    """Return the mean level of each column of time as rows of marks, and a row with the outages."""
    utf = (sys.stdout.encoding or "").lower().startswith("utf")
    full, edge = ("█", "▔") if utf else ("#", "-")
    end = travel.times[-1] or 1.0
    columns: list[list[float]] = [[] for _ in range(_WIDTH)]
    for time, level in zip(travel.times, travel.levels, strict=True):
        if not math.isnan(level):
            columns[min(int(time / end * _WIDTH), _WIDTH - 1)].append(level)
    means = [sum(levels) / len(levels) if levels else math.nan for levels in columns]
    known = [level for level in means if not math.isnan(level)]
    # How far below the threshold a level lies says nothing more.
    low, high = line.threshold - _DEPTH, max([*known, line.threshold]) + 1
    step = (high - low) / _HEIGHT
    rows = []
    for number in range(_HEIGHT, 0, -1):
        floor = low + (number - 1) * step
        marks = "".join(full if level >= floor else " " for level in means)
        if floor <= line.threshold < floor + step:
            marks = "".join(mark if mark != " " else edge for mark in marks)
        rows.append(f"{floor:>7.0f} |{marks}|")
    letters = [" "] * _WIDTH
    for outage in travel.outages:
        first = min(int(outage.start / end * _WIDTH), _WIDTH - 1)
        last = min(int(min(outage.end, end) / end * _WIDTH), _WIDTH - 1)
        for column in range(first, last + 1):
            letters[column] = outage.cause[0]
    rows.append(f"{'':>7} |{''.join(letters)}|  c coverage, t tunnel, h handoff, b border")
    rows.append(f"{'':>7}  0 s{f'{end:.0f} s':>{_WIDTH - 3}}")
    return rows


def _describe(args: argparse.Namespace, line: Line, travel: Travel, several: list[Travel]) -> dict[str, Any]:
    return {
        "file": args.file,
        "name": line.name,
        "description": line.description,
        "length_m": line.length,
        "threshold_dbm": line.threshold,
        "base_stations": [{"name": name, "at_m": at} for name, at in line.base_stations],
        "tunnels": [{"name": n, "from_m": start, "to_m": end} for n, start, end in line.tunnels],
        "borders_m": line.borders,
        "seed": travel.seed,
        "duration_s": travel.duration,
        "stations": [
            {
                "name": call.station.name,
                "at_m": call.station.at,
                "stops": call.station.stops,
                "arrival_s": call.arrival,
                "departure_s": call.departure,
            }
            for call in travel.calls
        ],
        "outages": [
            {"start_s": o.start, "end_s": o.end, "cause": o.cause, "at_m": o.at} for o in travel.outages
        ],
        "journeys": len(several),
        "causes": [
            {"cause": p.cause, "per_journey": p.per_journey, "mean_s": p.mean, "longest_s": p.longest}
            for p in summarise(several)
        ],
        "plot": args.plot,
    }


def _plot(args: argparse.Namespace, line: Line, travel: Travel, several: list[Travel]) -> None:
    from cogtcp.model.output import write_file
    from cogtcp.showing.report.alone import alone
    from cogtcp.showing.report.journey import journey_figure, journey_page

    arguments.plot_name(args.plot)
    path = arguments.new_file(args.plot, args.force)
    if path.suffix == ".html":
        write_file(path, journey_page(line, travel, several, arguments.command_line()))
    else:
        write_file(path, alone(journey_figure(line, travel)))
