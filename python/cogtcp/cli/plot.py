"""The verb `plot`: a figure for paper, of saved results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from cogtcp import _parquet
from cogtcp._errors import UsageError

if TYPE_CHECKING:
    import argparse

_WIDTHS = {"column": 3.5, "page": 7.16}
_KINDS = (
    "timeline",
    "cdf",
    "bars",
    "box",
    "line",
    "heatmap",
    "delay-throughput",
    "map",
)


def add_plot(parser: argparse.ArgumentParser) -> None:
    """Add the options of `plot` to its parser."""
    parser.add_argument("directory", metavar="DIR", help="a folder of results of run, compare, sweep or tune")
    parser.add_argument("--kind", required=True, metavar="KIND", help=f"one of {', '.join(_KINDS)}")
    parser.add_argument("--out", required=True, metavar="FILE", help="the figure: .pdf, .svg or .png")
    parser.add_argument(
        "--metric",
        metavar="NAME",
        help="the metric (default: goodput_bps; for cdf: rtt, goodput or cwnd)",
    )
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="AXIS=VALUE",
        help='fix an axis of a sweep: --where "link_loss=0.1 %%" (may be repeated)',
    )
    parser.add_argument("--span", metavar="A,B", help="timeline: from A to B seconds (default: all)")
    parser.add_argument(
        "--at",
        type=float,
        metavar="S",
        help="map: time in s (default: when the most flows have a path)",
    )
    parser.add_argument("--xlabel", metavar="TEXT", help="labels of the axes")
    parser.add_argument("--ylabel", metavar="TEXT", help="labels of the axes")
    parser.add_argument(
        "--width", default="column", metavar="W", help="column (3.5 in, default), page (7.16 in), or inches"
    )
    parser.add_argument("--height", type=float, metavar="H", help="inches (default: by kind)")
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")


def plot(args: argparse.Namespace) -> int:
    """Draw a figure of saved results into a file."""
    from cogtcp.showing.plot import draw, save

    span, where, width = _span(args.span), dict(map(_choice, args.where)), _width(args.width)
    with _parquet.of_folders(Path(args.directory)):
        figure = draw(
            args.directory,
            args.kind,
            metric=args.metric,
            span=span,
            where=where,
            at=args.at,
            x_label=args.xlabel,
            y_label=args.ylabel,
            width=width,
            height=args.height,
        )
    path = save(figure, args.out, force=args.force)
    print(json.dumps({"kind": args.kind, "plot": str(path)}) if args.json else f"plot: {path}")
    return 0


def _span(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        start, end = (float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(f"--span {text}: write two times in s, as in --span 10,20") from None
    return start, end


def _width(text: str) -> float:
    try:
        return _WIDTHS.get(text) or float(text)
    except ValueError:
        raise UsageError(f"--width {text}: write column, page, or a number of inches") from None


def _choice(text: str) -> tuple[str, str]:
    name, separator, value = (part.strip() for part in text.partition("="))
    if not separator or not name or not value:
        raise UsageError(f"--where {text}: write AXIS=VALUE, as in --where transport=sack")
    return name, value
