"""The verbs of `mobility`: generate and show."""

from __future__ import annotations

import json
import math
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp._errors import UsageError
from cogtcp._units import LENGTH, SPEED, TIME
from cogtcp.cli import arguments
from cogtcp.cli.quantities import area, numbers, quantity
from cogtcp.data.mobility import Mobility
from cogtcp.model.result import plain

if TYPE_CHECKING:
    import argparse

    from cogtcp.data.mobility import Connectivity, Format, Node

FORMATS = ("setdest", "csv")
#: Instants at which connectivity is looked at.
_LOOKS = 200
_MOST_ROWS = 30
_WIDTH, _HEIGHT = 64, 20


def add_mobility(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `mobility` to its parser."""
    verb = partial(arguments.add_verb, arguments.verbs(parser))

    new = verb("generate", generate, "draw node movement: random waypoint, or static nodes")
    new.add_argument("file", metavar="FILE", help="the file to write; - for standard output")
    new.add_argument("--nodes", type=int, default=25, metavar="N", help="number of nodes (default: 25)")
    new.add_argument("--area", metavar="WxH", help="width and height in m (default: 1000x1000)")
    new.add_argument("--duration", type=quantity(TIME), metavar="S", help="how long, in s (default: 200)")
    new.add_argument("--speed", metavar="MIN,MAX", help="speeds in m/s: each trip draws one (default: 2.5,4)")
    new.add_argument(
        "--pause", metavar="S[,S]", help="pause after each trip in s, or shortest and longest (default: 3)"
    )
    new.add_argument(
        "--start",
        choices=("stationary", "naive"),
        help="stationary (default) needs no warm-up; naive as in ns-2's setdest",
    )
    new.add_argument(
        "--placement",
        choices=("grid", "chain", "uniform"),
        help="standing nodes instead of random waypoint",
    )
    new.add_argument(
        "--spacing",
        type=quantity(LENGTH),
        metavar="M",
        help="between neighbours of a grid or chain (default: 200)",
    )
    new.add_argument(
        "--columns", type=int, metavar="N", help="nodes in a row of the grid (default: a square)"
    )
    new.add_argument("--seed", type=int, default=1, metavar="N", help="seed of every draw (default: 1)")
    new.add_argument(
        "--format", choices=FORMATS, help="format of the file (default: csv if named .csv, otherwise setdest)"
    )
    new.add_argument("--force", action="store_true", help="replace the file if it exists")

    show = verb("show", show_mobility, "show a file of movement: nodes, paths, neighbours")
    show.add_argument("file", metavar="FILE", help="a file of setdest, or a CSV")
    show.add_argument(
        "--from", dest="from_format", choices=FORMATS, help="format of FILE (default: detected)"
    )
    show.add_argument(
        "--range", type=quantity(LENGTH), metavar="M", help="also list nodes within this distance"
    )
    show.add_argument("--window", metavar="A,B", help="look at these times in s only")
    show.add_argument("--plot", metavar="SVG", help="draw the paths into this file")
    show.add_argument("--force", action="store_true", help="replace the plot if it exists")


def generate(args: argparse.Namespace) -> int:
    """Draw paths and write them."""
    moves = _standing(args) if args.placement else _moving(args)
    format: Format = args.format or ("csv" if Path(args.file).suffix == ".csv" else "setdest")
    text = moves.to_text(format)
    if args.file == "-":
        if args.json:
            raise UsageError("--json: standard output holds the paths already; name a file")
        sys.stdout.write(text)
        return 0
    from cogtcp.model.output import write_file

    write_file(arguments.new_file(args.file, args.force), text)
    if args.json:
        print(json.dumps({"file": args.file, "format": format, "nodes": len(moves), "end_s": moves.end}))
    else:
        print(f"wrote {args.file}: {_nodes(moves)}, {moves.end:g} s; now: cogtcp mobility show {args.file}")
    return 0


def _standing(args: argparse.Namespace) -> Mobility:
    for name in ("duration", "speed", "pause", "start"):
        if getattr(args, name) is not None:
            raise UsageError(f"--{name}: not with --placement, whose nodes do not move")
    wrong = ("spacing", "columns") if args.placement == "uniform" else ("area",)
    for name in (*wrong, *(("columns",) if args.placement == "chain" else ())):
        if getattr(args, name) is not None:
            raise UsageError(f"--{name}: not with --placement {args.placement}")
    given = {name: getattr(args, name) for name in ("spacing", "columns") if getattr(args, name) is not None}
    if args.area is not None:
        given["area"] = area(args.area)
    return Mobility.static(args.nodes, args.placement, **given, seed=args.seed)


def _moving(args: argparse.Namespace) -> Mobility:
    for name in ("spacing", "columns"):
        if getattr(args, name) is not None:
            raise UsageError(f"--{name}: only with --placement")
    given: dict[str, Any] = {
        name: getattr(args, name) for name in ("duration", "start") if getattr(args, name) is not None
    }
    if args.area is not None:
        given["area"] = area(args.area)
    if args.speed is not None:
        given["speed"] = _pair(args.speed, "--speed", SPEED)
    if args.pause is not None:
        given["pause"] = _pair(args.pause, "--pause", TIME)
    return Mobility.random_waypoint(args.nodes, **given, seed=args.seed)


def _pair(text: str, option: str, units: dict[str, float]) -> tuple[float, float]:
    values = numbers(text, option, units)
    if len(values) > 2:
        raise UsageError(f"{option} {text}: write one number, or the least and the greatest")
    return values[0], values[-1]


def show_mobility(args: argparse.Namespace) -> int:
    """Print what nodes do, and who is near whom."""
    moves = Mobility.from_file(args.file, args.from_format)
    start, end = _window(args.window, moves.end)
    nodes = moves.nodes()
    contacts: list[Connectivity] = []
    if args.range is not None:
        looks = _LOOKS if end > start else 0
        times = [start + (end - start) * look / max(looks, 1) for look in range(looks + 1)]
        contacts = moves.connectivity(args.range, times)
    if args.plot:
        _plot(args, moves, start, end, contacts)
    if args.json:
        print(json.dumps(plain(_describe(args, moves, nodes, contacts))))
        return 0
    print(f"{args.file}: {_nodes(moves)}, {moves.end:g} s")
    _print_nodes(nodes)
    print(f"\nPlaces at {start:g} s, north upwards")
    print("\n".join(_map(moves.positions(start))))
    if contacts:
        means = _means(contacts)
        print(f"\nWithin {args.range:g} m, mean of {len(contacts)} instants from {start:g} s to {end:g} s:")
        print(f"  {means['neighbors']:.2f} neighbours a node, {means['alone']:.2f} nodes without any,")
        print(f"  {means['largest']:.1%} of the nodes in the largest connected part")
    if args.plot:
        print(f"\nplot: {args.plot}")
    return 0


def _print_nodes(nodes: list[Node]) -> None:
    if not nodes:
        return
    count = len(nodes)
    way = sum(node.way for node in nodes) / count
    print(f"mean path {way:.1f} m, mean speed {_mean([n.mean_speed for n in nodes]):.3g} m/s with pauses\n")
    print(
        f"{'node':>5} {'from, m':>18} {'to, m':>18} {'way, m':>9} {'paused, s':>10} {'mean':>8} "
        f"{'max, m/s':>9}"
    )
    for node in nodes[:_MOST_ROWS]:
        print(
            f"{node.number:>5} {_place(node.begin):>18} {_place(node.end):>18} {node.way:>9.1f} "
            f"{node.paused:>10.1f} {_number(node.mean_speed):>8} {node.max_speed:>9.3g}"
        )
    if count > _MOST_ROWS:
        print(f"{'...':>5} {count - _MOST_ROWS} more; --json has all")


def _map(places: list[tuple[float, float]]) -> list[str]:
    """Return places as rows of marks: the number of a node, or * for several."""
    if not places:
        return []
    xs, ys = [x for x, _ in places], [y for _, y in places]
    low_x, low_y = min(xs), min(ys)
    # One scale for both axes. Nodes that are all in one place span nothing.
    span = max(max(xs) - low_x, max(ys) - low_y, 1e-9)
    rows = [[" "] * _WIDTH for _ in range(_HEIGHT)]
    for number, (x, y) in enumerate(places):
        column = min(int((x - low_x) / span * _WIDTH), _WIDTH - 1)
        # Rows are printed from the north: y grows upwards.
        row = _HEIGHT - 1 - min(int((y - low_y) / span * _HEIGHT), _HEIGHT - 1)
        mark = str(number)
        # A number that would run into another mark, or over the edge, becomes a star.
        room = rows[row][column : column + len(mark)]
        if len(room) == len(mark) and set(room) == {" "}:
            rows[row][column : column + len(mark)] = mark
        else:
            rows[row][column] = "*"
    # An area wider than high leaves rows in the north empty.
    while len(rows) > 1 and not "".join(rows[0]).strip():
        rows.pop(0)
    framed = [f"{'':>6}|{''.join(row)}|" for row in rows]
    return [
        *framed,
        f"{'':>6} {low_x:<10g}{low_x + span:>{_WIDTH - 10}g}",
        f"{'':>6} * several nodes; from {low_y:g} m in the south",
    ]


def _describe(
    args: argparse.Namespace, moves: Mobility, nodes: list[Node], contacts: list[Connectivity]
) -> dict[str, Any]:
    return {
        "file": args.file,
        "nodes": len(moves),
        "end_s": moves.end,
        "each": [
            {
                "node": node.number,
                "begin_m": node.begin,
                "end_m": node.end,
                "way_m": node.way,
                "paused_s": node.paused,
                "mean_speed_mps": node.mean_speed,
                "max_speed_mps": node.max_speed,
            }
            for node in nodes
        ],
        "range_m": args.range,
        "connectivity": _means(contacts) if contacts else None,
        "plot": args.plot,
    }


def _means(contacts: list[Connectivity]) -> dict[str, float]:
    return {
        "neighbors": _mean([contact.degree for contact in contacts]),
        "alone": _mean([float(contact.alone) for contact in contacts]),
        "largest": _mean([contact.largest for contact in contacts]),
    }


def _plot(
    args: argparse.Namespace, moves: Mobility, start: float, end: float, contacts: list[Connectivity]
) -> None:
    from cogtcp.model.output import write_file
    from cogtcp.showing.report.alone import alone
    from cogtcp.showing.report.mobility import mobility_figure

    path = Path(args.plot)
    if path.suffix != ".svg":
        raise UsageError(f"--plot {args.plot}: a plot is an SVG file; name it {path.stem}.svg")
    figure = mobility_figure(moves, start, end, Path(args.file).name, contacts)
    write_file(arguments.new_file(args.plot, args.force), alone(figure))


def _window(text: str | None, end: float) -> tuple[float, float]:
    if text is None:
        return 0.0, end
    values = numbers(text, "--window", TIME)
    if len(values) != 2 or not 0 <= values[0] <= values[1]:
        raise UsageError(f"--window {text}: write two times in s, the earlier first, as in --window 10,20")
    return values[0], values[1]


def _nodes(moves: Mobility) -> str:
    return f"{len(moves)} node{'s' if len(moves) != 1 else ''}"


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def _place(place: tuple[float, float]) -> str:
    return f"{place[0]:.1f}, {place[1]:.1f}"


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3g}"
