"""The verbs of the command line. A verb's options and code are loaded when it is given."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from cogtcp.cli import arguments
from cogtcp.cli.parser import Parser, call

if TYPE_CHECKING:
    from collections.abc import Sequence


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    top = Parser(
        prog="cogtcp",
        description="What does a transport protocol deliver over spectrum that comes and goes?",
    )
    top.add_argument("--version", action=_Version, help="print the version")
    verbs = arguments.verbs(top)
    top.set_defaults(verb=_first_steps)
    for name, function, text, *fills in _VERBS:
        arguments.add_verb(verbs, name, partial(call, function), text).fills = fills
    for name, fill, text in _GROUPS:
        arguments.add_group(verbs, name, text).fills = [fill]
    return top


_FIRST_STEPS = """\
cogtcp: no verb given. First steps:

  cogtcp lab sensed-link --open                                  move sliders in the browser (extra `lab`)
  cogtcp run sensed-link                                         simulate a shipped scenario
  cogtcp compare sensed-link --transport linux-cubic,linux-bbr   compare two transports over ten seeds
  cogtcp new                                                     write your own scenario

All verbs: cogtcp --help. All scenarios: cogtcp new --list.
"""


def _first_steps(args: argparse.Namespace) -> int:
    """Say how to begin, to who gives no verb."""
    sys.stderr.write(_FIRST_STEPS)
    return 2


class _Version(argparse.Action):
    """Print the version when it is asked for, and not look for the commit before."""

    def __init__(self, option_strings: Sequence[str], dest: str, **options: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, **options)

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, *given: object
    ) -> NoReturn:
        parser.exit(call("inform.short_version", namespace))


def _scenario(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    parser.add_argument(
        "file",
        nargs="?" if optional else None,
        metavar="FILE",
        help="a scenario file, or the name of a shipped one (cogtcp new --list)",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="PATH=VALUE",
        help='change a field, as in --set run.duration="20 s" --set flow.0.transport=sack (may be repeated)',
    )
    parser.add_argument(
        "--allow-python",
        action="store_true",
        help="run congestion controls (module:Class) that FILE names: only for a file that you trust",
    )


def _output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", metavar="DIR", help="folder of the results (default: one in results/, by content)"
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="write to DIR although it holds other files (which are kept in DIR.old-1)",
    )


def _run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--seed", type=int, metavar="N", help="seed of every random draw (default: the scenario's)"
    )
    parser.add_argument(
        "--packets",
        action="store_true",
        help="also write every packet, or frame of an ad hoc network (Parquet)",
    )
    parser.add_argument(
        "--pcap",
        action="append",
        default=[],
        metavar="LINK[@NODE]",
        help="also capture LINK at NODE (default: its first end) as pcapng; LINK air: 802.11 frames",
    )
    parser.add_argument("--qlog", action="store_true", help="also write the logs of QUIC's ends, as qlog")


def _compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--transport",
        action="append",
        required=True,
        metavar="A,B,...",
        help="presets (cogtcp transports), or module:Class; the first is the baseline",
    )
    parser.add_argument("--seeds", type=int, default=10, metavar="N", help="number of seeds (default: 10)")
    parser.add_argument("--seed", type=int, metavar="N", help="the first seed (default: the scenario's)")
    parser.add_argument("--jobs", type=int, metavar="N", help="runs at a time (default: one per processor)")
    parser.add_argument(
        "--time-limit", type=float, metavar="S", help="stop a run after S seconds; it counts as failed"
    )
    parser.add_argument(
        "--plane",
        default="sim",
        metavar="A,B",
        help="sim (default); virtual[:NAME]: Linux in virtual time; sim,kernel and sim,virtual[:NAME]: both",
    )


def _results(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="a folder that a command wrote")


def _query(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="a folder that a command wrote")
    parser.add_argument("sql", metavar="SQL", help="the query; each table is a view")
    parser.add_argument("--csv", action="store_true", help="print the answer as CSV")


def _merge(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folders", nargs="+", metavar="DIR", help="folders of sweeps, comparisons or runs")


def _check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--migrate",
        action="store_true",
        help="print the file in the present version of the format, with its comments",
    )
    parser.add_argument("--in-place", action="store_true", help="with --migrate: write it back to FILE")


def _new(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", metavar="FILE", help="the file to write (default: KIND.toml)")
    parser.add_argument("--out", metavar="FILE", help="the same")
    parser.add_argument("--kind", metavar="KIND", help="which one: --list shows them")
    parser.add_argument("--list", action="store_true", help="list the kinds")
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")


def _schema(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--results", action="store_true", help="list the tables and columns of results instead"
    )


def _reproduce(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("study", nargs="?", metavar="STUDY", help="the study, as --list names it")
    parser.add_argument("--list", action="store_true", help="list the studies")
    parser.add_argument(
        "--claim",
        dest="only",
        metavar="ID",
        action="append",
        help="only this claim (may be repeated)",
    )
    parser.add_argument(
        "--at",
        default="base",
        metavar="SETTING",
        help="base (default), best, nearest (to the paper's numbers), joint, or NAME=VALUE,...",
    )
    parser.add_argument(
        "--joint",
        action="store_true",
        help="at the setting where most claims hold together; with --search: find it",
    )
    parser.add_argument("--seeds", type=int, metavar="N", help="number of seeds (default: the study's)")
    parser.add_argument("--quick", action="store_true", help="fewer seeds, shorter runs: a first look")
    parser.add_argument(
        "--search",
        action="store_true",
        help="search the settings that the paper leaves open, and keep the results",
    )
    parser.add_argument(
        "--stacks",
        action="store_true",
        help="run twelve of today's stacks in the study, and keep their ranks; with --joint: a figure with "
        "a Linux kernel's senders, in virtual time",
    )
    parser.add_argument(
        "--scenario",
        action="store_true",
        help="print the scenario of a claim's first point at that setting, and run nothing",
    )
    parser.add_argument(
        "--settings",
        type=int,
        metavar="N",
        help="settings of the random design of --search (0: keep the design)",
    )
    parser.add_argument(
        "--trials",
        type=int,
        metavar="N",
        help="settings of the guided search for each claim (default: 80; 0: none)",
    )
    parser.add_argument("--jobs", type=int, metavar="N", help="runs at a time (default: one per processor)")
    parser.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="run --search and --stacks on Ray: auto, local, or the address of a cluster (extra ray)",
    )


#: Verb, the function that does it, what it does, and what adds its options.
_VERBS: tuple[tuple[Any, ...], ...] = (
    ("run", "simulate.run", "simulate a scenario once", _scenario, _run, _output),
    (
        "emulate",
        "emulate.emulate",
        "run a scenario, or any program, on this machine's Linux TCP",
        partial(_scenario, optional=True),
        "emulate.add_emulate",
        _output,
    ),
    ("agree", "agree.agree", "compare simulator and kernel on scenarios", "agree.add_agree", _output),
    (
        "validate",
        "validate.validate",
        "compare random cases with ns-2, ns-3, Linux and theory",
        "validate.add_validate",
        _output,
    ),
    (
        "packets",
        "packets.packets",
        "test the model's TCP and Linux's packet by packet",
        "packets.add_packets",
    ),
    (
        "compare",
        "simulate.compare",
        "simulate transports over the same seeds",
        _scenario,
        _compare,
        arguments.add_quantiles,
        _output,
    ),
    ("tune", "tune.tune", "find the best parameters of a scenario", _scenario, "tune.add_tune", _output),
    ("fit", "fit.fit", "make a scenario from measurements of a link or of its spectrum", "fit.add_fit"),
    (
        "advise",
        "advise.advise",
        "say which transport to run over a scenario's link, and how sure that is",
        _scenario,
        "advise.add_advise",
        _output,
    ),
    ("plot", "plot.plot", "draw a figure of saved results for a paper (PDF, SVG, PNG)", "plot.add_plot"),
    (
        "sweep",
        "sweep.sweep",
        "simulate over values of fields, transports and seeds",
        "sweep.add_sweep",
        _output,
    ),
    ("results", "sweep.results", "describe a folder of results", _results),
    ("query", "sweep.query", "query results with SQL (needs DuckDB)", _query),
    (
        "merge",
        "sweep.merge",
        "combine sweeps and comparisons into one data set and one page",
        _merge,
        _output,
    ),
    ("lab", "lab.lab", "serve a page whose sliders change a scenario", "lab.add_lab"),
    ("check", "inform.check", "check a scenario without running it", _scenario, _check),
    ("new", "inform.new", "write a commented scenario to start from", _new),
    (
        "metrics",
        "inform.metrics",
        "list the metrics that a scenario offers, by flow and application",
        _scenario,
    ),
    ("schema", "inform.schema", "print the JSON Schema of scenario files", _schema),
    ("transports", "inform.transports", "list the transport presets"),
    ("reproduce", "reproduce.command", "measure what a paper claims", _reproduce, _output),
    (
        "sensing",
        "spectrum.show_sensing",
        "print P_d and P_f against sensing time and SNR",
        "spectrum.add_sensing",
    ),
    ("version", "inform.version", "print version, commit and features"),
)

#: Verbs that have verbs of their own: name, what adds these, what they do.
_GROUPS = (
    ("pu", "spectrum.add_pu", "generate, show and convert logs of primary users"),
    ("journey", "journey.add_journey", "show the line of a map: stations, outages, levels"),
    ("mobility", "mobility.add_mobility", "generate and show node movement"),
    ("trace", "link_trace.add_trace", "show, convert, export and generate link traces"),
    ("kernel", "kernel.add_kernel", "Linux in virtual time: build, list and remove kernels"),
    ("c2", "kernel_c2.add_c2", "TCP C2 in this machine's kernel"),
    (
        "freeze",
        "kernel_freeze.add_freeze",
        "Freeze-TCP: hold this machine's TCP sources through announced outages",
    ),
)
