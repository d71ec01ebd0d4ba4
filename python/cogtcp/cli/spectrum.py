"""The verbs about the spectrum alone: pu and sensing."""

from __future__ import annotations

import json
import math
import re
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp._errors import UsageError
from cogtcp._units import FREQUENCY, LENGTH, LEVEL, POWER, RATIO, TIME
from cogtcp.cli import arguments
from cogtcp.cli.quantities import area, numbers, quantity
from cogtcp.data.spectrum import LAWS, PuActivity, Sensing, sensing, sensing_time

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from cogtcp.data.spectrum import Detector, PrimaryUser

FORMATS = ("pu-log", "map", "csv")
DETECTORS = ("map", "neyman-pearson", "simplified", "fixed", "perfect", "as-released")
_WIDTH = 64
#: ON shares of a cell of the timeline, from nothing to all.
_SHADES = " ░▒▓█"


def add_pu(parser: argparse.ArgumentParser) -> None:
    """Add the verbs below `pu` to its parser."""
    verb = partial(arguments.add_verb, arguments.verbs(parser))

    laws = ", ".join(f"{name}:{','.join(values).replace(' in s', '')}" for name, values in LAWS.items())
    new = verb("generate", generate, "draw the ON and OFF times of primary users")
    new.add_argument("file", metavar="FILE", help="the file to write; - for standard output")
    new.add_argument("--released", action="store_true", help="use the generator of the released ns-2 code")
    new.add_argument(
        "--trace",
        metavar="LOG",
        help="draw this log's PUs again: empirical (default) or markov times",
    )
    new.add_argument(
        "--model",
        choices=("empirical", "markov"),
        metavar="NAME",
        help="draw this log's PUs again: empirical (default) or markov times",
    )
    new.add_argument(
        "--users",
        type=int,
        metavar="N",
        help="numbers of PUs (default: 5; released: 10) and bands (default: as PUs)",
    )
    new.add_argument(
        "--bands",
        type=int,
        metavar="N",
        help="numbers of PUs (default: 5; released: 10) and bands (default: as PUs)",
    )
    new.add_argument(
        "--duration", type=quantity(TIME), metavar="S", help="length in s (default: 200; released: 205)"
    )
    new.add_argument(
        "--alpha",
        type=float,
        metavar="A",
        help="1/s: mean ON time 1/A, OFF time 1/B (default: 0.5, 0.5; released 0.1)",
    )
    new.add_argument(
        "--beta",
        type=float,
        metavar="B",
        help="1/s: mean ON time 1/A, OFF time 1/B (default: 0.5, 0.5; released 0.1)",
    )
    new.add_argument("--on", metavar="LAW", help=f"laws instead of rates, in s: {laws}")
    new.add_argument("--off", metavar="LAW", help=f"laws instead of rates, in s: {laws}")
    new.add_argument("--start", choices=("off", "on", "stationary"), help="state at time zero (default: off)")
    new.add_argument("--area", metavar="WxH", help="spread PUs over this area in m (default: all at 0, 0)")
    new.add_argument(
        "--power",
        type=quantity(POWER),
        metavar="W",
        help="power in W (default: 0.2818), or range in m, of each PU",
    )
    new.add_argument(
        "--range",
        type=quantity(LENGTH),
        metavar="M",
        help="power in W (default: 0.2818), or range in m, of each PU",
    )
    new.add_argument(
        "--channels", type=int, metavar="N", help="channels, with the control channel (released)"
    )
    new.add_argument("--seed", type=int, default=1, metavar="N", help="seed of every draw (default: 1)")
    _format_arguments(new, "--format", "of the file (default: pu-log; map with --range, --released)")
    new.add_argument("--force", action="store_true", help="replace the file if it exists")

    show = verb("show", show_users, "show primary users: shares, times, a timeline")
    _reading_arguments(show)
    show.add_argument("--window", metavar="A,B", help="draw the timeline of these times in s only")
    show.add_argument("--plot", metavar="FILE", help="draw the timeline into this file, .svg or .html")
    show.add_argument("--force", action="store_true", help="replace the plot if it exists")

    convert = verb("convert", convert_log, "convert a log of primary users")
    _reading_arguments(convert)
    convert.add_argument("out", metavar="OUT", help="the file to write; - for standard output")
    _format_arguments(convert, "--to", "of OUT")
    convert.add_argument("--force", action="store_true", help="replace OUT if it exists")


def _reading_arguments(parser: argparse.ArgumentParser) -> None:
    # argparse takes "-95dBm" for an option: negative numbers have no unit there.
    parser._negative_number_matcher = re.compile(r"^-[0-9.]+\s*(dBm)?$")
    parser.add_argument("file", metavar="FILE", help="a PU-log, a map.txt or a CSV of occupancy")
    parser.add_argument(
        "--from", dest="from_format", choices=FORMATS, help="format of FILE (default: detected)"
    )
    parser.add_argument(
        "--threshold",
        type=quantity(LEVEL),
        metavar="DBM",
        help="for powers in dBm: a band becomes busy at this power",
    )
    parser.add_argument(
        "--hysteresis",
        type=quantity(RATIO),
        default=0.0,
        metavar="DB",
        help="a busy band becomes idle this far below the threshold (default: 0)",
    )
    parser.add_argument(
        "--minimum",
        type=quantity(TIME),
        default=0.0,
        metavar="S",
        help="fill shorter idle times, then drop shorter busy times (default: 0)",
    )


def _read(args: argparse.Namespace) -> PuActivity:
    activity = PuActivity.from_file(
        args.file,
        args.from_format,
        threshold=args.threshold,
        hysteresis=args.hysteresis,
        minimum=args.minimum,
    )
    if activity.spacing is not None:
        print(
            f"cogtcp: note: {args.file} has a sample every {_seconds(activity.spacing)}: "
            "shorter visits of primary users are missing",
            file=sys.stderr,
        )
    return activity


def _format_arguments(parser: argparse.ArgumentParser, option: str, text: str) -> None:
    parser.add_argument(
        option, dest="format", choices=FORMATS, required=option == "--to", help=f"format {text}"
    )
    parser.add_argument(
        "--sensitivity",
        type=quantity(POWER),
        metavar="W",
        help="least power heard, W (converts ranges and powers)",
    )
    parser.add_argument(
        "--attenuation",
        type=float,
        default=2.0,
        metavar="A",
        help="exponent of the distance (default: 2)",
    )


def add_sensing(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `sensing` to its parser."""
    parser.add_argument(
        "--detector",
        choices=DETECTORS,
        action="append",
        metavar="NAME",
        help=f"{', '.join(DETECTORS)} (may be repeated; default: map)",
    )
    parser.add_argument(
        "--times",
        default="0.025,0.05,0.1,0.2,0.3,0.5,1",
        metavar="S,...",
        help="sensing times in s (default: 0.025,0.05,0.1,0.2,0.3,0.5,1)",
    )
    parser.add_argument(
        "--snr",
        default="-25,-22,-20,-15",
        metavar="DB,...",
        help="signal-to-noise ratios in dB (default: -25,-22,-20,-15; write --snr=-20)",
    )
    parser.add_argument(
        "--bandwidth",
        type=quantity(FREQUENCY),
        default=1e6,
        metavar="HZ",
        help="bandwidth of a channel (default: 1e6)",
    )
    parser.add_argument(
        "--p-on", type=float, default=0.5, metavar="P", help="P(PU is ON), for map (default: 0.5)"
    )
    parser.add_argument(
        "--sampling-rate",
        type=quantity(FREQUENCY),
        default=2e6,
        metavar="HZ",
        help="for neyman-pearson (default: 2e6)",
    )
    parser.add_argument(
        "--false-alarm",
        type=float,
        metavar="P",
        help="P_f' of neyman-pearson and fixed (default: the target's)",
    )
    parser.add_argument(
        "--detection", type=float, default=0.9, metavar="P", help="P_d' of fixed (default: 0.9)"
    )
    parser.add_argument(
        "--sensors", type=int, default=1, metavar="N", help="sensors that cooperate (default: 1)"
    )
    parser.add_argument(
        "--fusion",
        choices=("or", "and", "majority"),
        default="or",
        help="rule that combines the sensors (default: or)",
    )
    parser.add_argument(
        "--target", default="0.95,0.05", metavar="PD,PF", help="errors to find t_s for (default: 0.95,0.05)"
    )
    parser.add_argument("--plot", metavar="FILE", help="draw the probabilities into this file, .svg or .html")
    parser.add_argument("--force", action="store_true", help="replace the plot if it exists")


def generate(args: argparse.Namespace) -> int:
    """Draw primary users and write them."""
    given: dict[str, Any] = {
        name: getattr(args, name)
        for name in ("users", "bands", "duration", "alpha", "beta", "start", "power", "range", "channels")
        if getattr(args, name) is not None
    }
    if args.trace is not None:
        return _redraw(args, given)
    if args.model is not None:
        raise UsageError("--model: only with --trace")
    of_one = ("bands", "on", "off", "start", "area", "power") if args.released else ("channels",)
    for name in of_one:
        if getattr(args, name) is not None:
            other = "not with --released" if args.released else "only with --released"
            raise UsageError(f"--{name}: {other}")
    for law, rate in (("on", "alpha"), ("off", "beta")):
        text = getattr(args, law)
        if text is not None:
            if rate in given:
                raise UsageError(f"--{law} {text}: takes the place of --{rate}; give one of them")
            given[law] = _law(text, law)
    if args.area is not None:
        given["area"] = area(args.area)
    if args.released:
        users = PuActivity.generate_released(**given, seed=args.seed)
    else:
        users = PuActivity.generate(**given, seed=args.seed)
    format = args.format or ("map" if args.released or args.range is not None else "pu-log")
    return _write(args, users, format, args.file)


def _redraw(args: argparse.Namespace, given: dict[str, Any]) -> int:
    """Draw the primary users of a log again and write them."""
    duration = given.pop("duration", None)
    given |= {name: True for name in ("on", "off", "area", "released") if getattr(args, name)}
    for name in given:
        raise UsageError(f"--{name}: not with --trace, which defines the PUs")
    source = PuActivity.from_file(args.trace)
    users = source.redraw(model=args.model or "empirical", duration=duration, seed=args.seed)
    kinds = {"csv" if math.isinf(value) else kind for kind, value in (user.reach for user in users.users)}
    # The first by the alphabet: csv if any user is heard everywhere, and map only if all have a range.
    format = args.format or {"csv": "csv", "range": "map"}.get(min(kinds, default="power"), "pu-log")
    return _write(args, users, format, args.file)


def convert_log(args: argparse.Namespace) -> int:
    """Read one format and write another."""
    return _write(args, _read(args), args.format, args.out)


def show_users(args: argparse.Namespace) -> int:
    """Print the statistics of primary users and their timeline."""
    activity = _read(args)
    start, end = _window(args.window, activity.end)
    if args.plot:
        _write_plot(args, lambda: _draw_timeline(activity, start, end, args))
    keys = (
        *("number", "band", "position", "reach", "arrivals", "duty_cycle"),
        *("mean_on", "mean_off", "variation_on", "variation_off"),
    )
    if args.json:
        described = [{key: _plain(getattr(user, key)) for key in keys} for user in activity.users]
        print(json.dumps({"file": args.file, "end_s": activity.end, "users": described, "plot": args.plot}))
        return 0
    print(f"{args.file}: {_count(activity)}, {activity.end:g} s\n")
    print(
        f"{'PU':>5} {'band':>5} {'reach':>10} {'ON times':>9} {'ON share':>9} {'mean ON':>9} {'mean OFF':>9}"
        f" {'CV ON':>6} {'CV OFF':>6}"
    )
    for user in activity.users:
        kind, value = user.reach
        reach = "everywhere" if math.isinf(value) else f"{value:g} {'W' if kind == 'power' else 'm'}"
        print(
            f"{user.number:>5} {user.band:>5} {reach:>10} {user.arrivals:>9} {user.duty_cycle:>9.1%} "
            f"{_seconds(user.mean_on):>9} {_seconds(user.mean_off):>9}"
            f" {_ratio(user.variation_on):>6} {_ratio(user.variation_off):>6}"
        )
    print("CV: standard deviation over mean; 1 for exponential times")
    if end > start:
        print(f"\nON from {start:g} s to {end:g} s, {(end - start) / _WIDTH:.3g} s a mark")
        shades = _SHADES if (sys.stdout.encoding or "").lower().startswith("utf") else " .:*#"
        for user in activity.users:
            print(f"{user.number:>5} |{''.join(_cells(user, start, end, shades))}|")
    else:
        print("\nno primary user is ever ON")
    if args.plot:
        print(f"\nplot: {args.plot}")
    return 0


def show_sensing(args: argparse.Namespace) -> int:
    """Print P_d' and P_f' against the sensing time and the SNR, and the sensing time for a target."""
    times, ratios = numbers(args.times, "--times", TIME), numbers(args.snr, "--snr", RATIO)
    target = numbers(args.target, "--target", {"": 1.0})
    if len(target) != 2:
        raise UsageError(f"--target {args.target}: write two probabilities, as in --target 0.95,0.05")
    common: dict[str, Any] = {
        "bandwidth": args.bandwidth,
        "p_on": args.p_on,
        "sampling_rate": args.sampling_rate,
        "false_alarm": target[1] if args.false_alarm is None else args.false_alarm,
        "detection": args.detection,
        "sensors": args.sensors,
        "fusion": args.fusion,
    }
    detectors: list[Detector] = list(dict.fromkeys(args.detector or ["map"]))
    results = {
        (name, snr): (
            sensing(times, snr_db=snr, detector=name, **common),
            sensing_time(target[0], target[1], snr_db=snr, detector=name, **common),
        )
        for name in detectors
        for snr in ratios
    }
    if args.plot:
        _write_plot(args, lambda: _draw_sensing(times, detectors, ratios, common, args))
    if args.json:
        rows = [
            {
                "detector": name,
                "snr_db": snr,
                "sensing_time_s": _plain(shortest),
                "points": [
                    {"sensing_time_s": p.sensing_time, "detection": p.detection, "false_alarm": p.false_alarm}
                    for p in points
                ],
            }
            for (name, snr), (points, shortest) in results.items()
        ]
        named = {"detection": target[0], "false_alarm": target[1]}
        print(json.dumps({"target": named, "sensing": rows, "plot": args.plot}))
        return 0
    for name in detectors:
        _print_sensing(name, times, ratios, {snr: results[name, snr] for snr in ratios}, target)
    if args.plot:
        print(f"plot: {args.plot}")
    return 0


def _print_sensing(
    name: str,
    times: Sequence[float],
    ratios: Sequence[float],
    results: dict[float, tuple[list[Sensing], float]],
    target: Sequence[float],
) -> None:
    print(f"{name}: P_d' and P_f' (given the PU's state) by sensing time and SNR")
    print(f"{'t_s':>10}" + "".join(f"{f'{snr:g} dB':>16}" for snr in ratios))
    for index, t_s in enumerate(times):
        cells = [results[snr][0][index] for snr in ratios]
        print(f"{f'{t_s:g} s':>10}" + "".join(f"{c.detection:>9.4f}{c.false_alarm:>7.4f}" for c in cells))
    shortest = "".join(f"{_seconds(results[snr][1]):>16}" for snr in ratios)
    print(f"{'shortest':>10}{shortest}   for P_d' >= {target[0]:g} and P_f' <= {target[1]:g}\n")


def _write(args: argparse.Namespace, users: PuActivity, format: Any, out: str) -> int:
    text = users.to_text(format, sensitivity=args.sensitivity, attenuation=args.attenuation)
    if out == "-":
        if args.json:
            raise UsageError("--json: standard output holds the log already; name a file")
        sys.stdout.write(text)
        return 0
    _write_file(out, text, args.force)
    if args.json:
        print(json.dumps({"file": out, "format": format, "users": len(users.users), "end_s": users.end}))
    else:
        print(f"wrote {out}: {_count(users)}, {users.end:g} s; now: cogtcp pu show {out}")
    return 0


def _write_file(path: str, text: str, force: bool) -> None:
    from cogtcp.model.output import write_file

    write_file(arguments.new_file(path, force), text)


def _write_plot(args: argparse.Namespace, draw: Callable[[], str]) -> None:
    arguments.plot_name(args.plot)
    # Before the drawing, which may take long.
    arguments.new_file(args.plot, args.force)
    _write_file(args.plot, draw(), True)


def _draw_timeline(activity: PuActivity, start: float, end: float, args: argparse.Namespace) -> str:
    from cogtcp.showing.report.alone import alone
    from cogtcp.showing.report.spectrum import activity_figure, activity_page

    name = Path(args.file).name
    if Path(args.plot).suffix == ".html":
        return activity_page(activity, start, end, name, arguments.command_line())
    return alone(activity_figure(activity, start, end, name))


def _draw_sensing(
    times: Sequence[float],
    detectors: Sequence[Detector],
    ratios: Sequence[float],
    common: dict[str, Any],
    args: argparse.Namespace,
) -> str:
    from cogtcp.showing.report.alone import alone
    from cogtcp.showing.report.spectrum import sensing_figure, sensing_page

    if Path(args.plot).suffix == ".html":
        return sensing_page(times, detectors, ratios, common, arguments.command_line())
    return alone(sensing_figure(times, detectors, ratios, common))


def _cells(user: PrimaryUser, start: float, end: float, shades: str) -> list[str]:
    """Return one mark per cell of the window: how much of it the PU is ON."""
    # Any ON time shows, and only a full cell is full.
    top = len(shades) - 1
    return [
        shades[0 if share <= 0 else min(max(math.ceil(share * top - 1e-9), 1), top)]
        for share in user.shares(start, end, _WIDTH)
    ]


def _window(text: str | None, end: float) -> tuple[float, float]:
    if text is None:
        return 0.0, end
    values = numbers(text, "--window", TIME)
    if len(values) != 2 or not 0 <= values[0] < values[1]:
        raise UsageError(f"--window {text}: write two times in s, the earlier first, as in --window 10,20")
    if values[0] >= end:
        raise UsageError(f"--window {text}: the activity ends at {end:g} s")
    return values[0], values[1]


def _law(text: str, option: str) -> tuple[str, list[float]]:
    name, _, values = text.partition(":")
    if name in LAWS and not values:
        raise UsageError(f"--{option} {text}: write {name}:{','.join(LAWS[name]).replace(' in s', '')}, in s")
    return name, numbers(values, f"--{option} {name}:", {**TIME, "": 1.0}) if values else []


def _count(activity: PuActivity) -> str:
    count = len(activity.users)
    return f"{count} primary user{'s' if count != 1 else ''}"


def _ratio(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.2f}"


def _seconds(value: float) -> str:
    return "never" if math.isinf(value) else "-" if math.isnan(value) else f"{value:.4g} s"


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: no NaN, no infinity."""
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
