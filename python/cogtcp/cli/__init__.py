"""The command line: `cogtcp VERB`.

Exit codes: 0 done; 1 a run failed or results could not be written; 2 bad input; 130 interrupted (what was
finished of a comparison is written); 143 terminated.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from cogtcp._start import INTERRUPTED, take_over

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    _open_standard_streams()
    # Arrow's own allocators keep memory for every thread that ever had any. Before Arrow is loaded.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    from cogtcp._errors import CogtcpError, RunError, UsageError

    args = argparse.Namespace(json=False)
    try:
        signal.signal(signal.SIGTERM, _terminate)
        try:
            parser = _parser()
            # Not before: modules that load make classes by `exec`, and once a `KeyboardInterrupt` leaves one,
            # Python ends the process by the signal, whatever the exit code.
            take_over()
            if "_ARGCOMPLETE" in os.environ:
                from cogtcp.cli.complete import complete

                complete(parser)
            args = parser.parse_args(argv, args)
            code: int = args.verb(args)
        finally:
            sys.stdout.flush()
        return code
    except CogtcpError as error:
        return _fail(args, error)
    except UnicodeEncodeError as error:
        # A command line is bytes; Python stands in a lone surrogate for a byte that is no UTF-8.
        return _fail(args, UsageError(f"{error.object!a} is not UTF-8 text; write it as UTF-8"))
    except MemoryError:
        return _fail(
            args, RunError("there is not enough memory; write a longer run.sample_interval, or a shorter run")
        )
    except KeyboardInterrupt:
        return _interrupted()
    except OSError as error:
        # What verbs read and write they report themselves: this is standard output.
        _give_up_standard_output()
        if not isinstance(error, BrokenPipeError):  # the reader of a pipe has gone, and knows it
            print(f"cogtcp: standard output cannot be written: {error.strerror or error}", file=sys.stderr)
        return 1


def _open_standard_streams() -> None:
    """Put the null device where a standard stream is closed: the next file opened would take its place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
    # As long as the process: nobody closes standard streams.
    sys.stdin = sys.stdin or open(0, encoding="utf-8")  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8")  # noqa: SIM115


def _give_up_standard_output() -> None:
    """Keep the interpreter from failing again when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupted() -> int:
    print("cogtcp: interrupted", file=sys.stderr)
    return INTERRUPTED


def _terminate(signum: int, frame: object) -> NoReturn:
    raise SystemExit(128 + signum)


def _fail(args: argparse.Namespace, error: Exception) -> int:
    from cogtcp._errors import CogtcpError, ScenarioError, UsageError

    said = error.explain() if isinstance(error, CogtcpError) else error
    print(f"cogtcp: {said}", file=sys.stderr)
    if args.json:
        described = error.to_dict() if isinstance(error, ScenarioError) else {"message": str(error)}
        try:
            print(json.dumps({"error": described}), flush=True)
        except OSError:
            _give_up_standard_output()
    return 2 if isinstance(error, ScenarioError | UsageError) else 1


def _parser() -> argparse.ArgumentParser:
    from cogtcp.cli import (
        advise,
        agree,
        arguments,
        emulate,
        fit,
        journey,
        kernel_c2,
        kernel_freeze,
        lab,
        link_trace,
        mobility,
        packets,
        plot,
        spectrum,
        sweep,
        tune,
        validate,
    )

    parser = _Parser(
        prog="cogtcp",
        description="What does a transport protocol deliver over spectrum that comes and goes?",
    )
    parser.add_argument("--version", action=_Version, help="print the version")
    verbs = arguments.verbs(parser)
    parser.set_defaults(verb=_first_steps)
    verb = partial(arguments.add_verb, verbs)
    group = partial(arguments.add_group, verbs)

    run = verb("run", _run, "simulate a scenario once")
    _scenario_arguments(run)
    run.add_argument(
        "--seed", type=int, metavar="N", help="seed of every random draw (default: the scenario's)"
    )
    run.add_argument(
        "--packets",
        action="store_true",
        help="also write every packet, or frame of an ad hoc network (Parquet)",
    )
    run.add_argument(
        "--pcap",
        action="append",
        default=[],
        metavar="LINK[@NODE]",
        help="also write what NODE (default: the first end) sees, as pcapng; air: frames",
    )
    run.add_argument("--qlog", action="store_true", help="also write the logs of QUIC's ends, as qlog")
    _output_arguments(run)

    real = verb("emulate", _emulate, "run a scenario, or any program, on this machine's Linux TCP")
    _scenario_arguments(real, optional=True)
    emulate.add_emulate(real)
    _output_arguments(real)

    both = verb("agree", _agree, "compare simulator and kernel on scenarios")
    agree.add_agree(both)
    _output_arguments(both)

    judged = verb("validate", _validate, "compare drawn cases with ns-2, ns-3, Linux and theory")
    validate.add_validate(judged)
    _output_arguments(judged)

    scripts = verb("packets", _packets, "test the model's TCP and Linux's packet by packet")
    packets.add_packets(scripts)

    compare = verb("compare", _compare, "simulate transports over the same seeds")
    _scenario_arguments(compare)
    compare.add_argument(
        "--transport",
        action="append",
        required=True,
        metavar="A,B,...",
        help="presets (cogtcp transports), or module:Class; the first is the baseline",
    )
    compare.add_argument("--seeds", type=int, default=10, metavar="N", help="number of seeds (default: 10)")
    compare.add_argument("--seed", type=int, metavar="N", help="the first seed (default: the scenario's)")
    compare.add_argument("--jobs", type=int, metavar="N", help="runs at a time (default: one per processor)")
    compare.add_argument(
        "--time-limit", type=float, metavar="S", help="stop a run after S seconds; it has failed"
    )
    compare.add_argument(
        "--plane",
        default="sim",
        metavar="A,B",
        help="sim (default), or sim,kernel: also on this machine's Linux, in real time",
    )
    arguments.add_quantiles(compare)
    _output_arguments(compare)

    best = verb("tune", _tune, "find the best parameters of a scenario")
    _scenario_arguments(best)
    tune.add_tune(best)
    _output_arguments(best)

    fitted = verb("fit", _fit, "make a scenario from measurements of a link or of its spectrum")
    fit.add_fit(fitted)

    what_to_run = verb(
        "advise", _advise, "say which transport to run over a scenario's link, and how sure that is"
    )
    _scenario_arguments(what_to_run)
    advise.add_advise(what_to_run)
    _output_arguments(what_to_run)

    figure = verb("plot", _plot, "draw a figure of saved results for a paper (PDF, SVG, PNG)")
    plot.add_plot(figure)

    many = verb("sweep", _sweep, "simulate over values of fields, transports and seeds")
    sweep.add_sweep(many)
    _output_arguments(many)

    what = verb("results", _results, "describe a folder of results")
    what.add_argument("folder", metavar="DIR", help="a folder that a command wrote")

    ask = verb("query", _query, "ask a question in SQL about results (needs DuckDB)")
    ask.add_argument("folder", metavar="DIR", help="a folder that a command wrote")
    ask.add_argument("sql", metavar="SQL", help="the query; each table is a view")
    ask.add_argument("--csv", action="store_true", help="print the answer as CSV")

    both = verb("merge", _merge, "combine sweeps and comparisons in one data set and one page")
    both.add_argument("folders", nargs="+", metavar="DIR", help="folders of sweeps, comparisons or runs")
    _output_arguments(both)

    desk = verb("lab", _lab, "serve a page whose sliders change a scenario")
    lab.add_lab(desk)

    check = verb("check", _check, "check a scenario without running it")
    _scenario_arguments(check)
    check.add_argument(
        "--migrate",
        action="store_true",
        help="print the file in the present version of the format, with its comments",
    )
    check.add_argument("--in-place", action="store_true", help="with --migrate: write it back to FILE")

    new = verb("new", _new, "write a commented scenario to start from")
    new.add_argument("file", nargs="?", metavar="FILE", help="the file to write (default: KIND.toml)")
    new.add_argument("--kind", metavar="KIND", help="which one: --list shows them")
    new.add_argument("--list", action="store_true", help="list the kinds")
    new.add_argument("--force", action="store_true", help="replace the file if it exists")

    schema = verb("schema", _schema, "print the JSON Schema of scenario files")
    schema.add_argument(
        "--results", action="store_true", help="list the tables and columns of results instead"
    )

    verb("transports", _transports, "list the transport presets")

    reproduce = verb("reproduce", _reproduce, "measure what a paper claims")
    reproduce.add_argument("study", nargs="?", metavar="STUDY", help="the study, as --list names it")
    reproduce.add_argument("--list", action="store_true", help="list the studies")
    reproduce.add_argument(
        "--claim",
        dest="only",
        metavar="ID",
        action="append",
        help="only this claim (may be repeated)",
    )
    reproduce.add_argument(
        "--at",
        default="base",
        metavar="SETTING",
        help="base (default), best (the reading that reproduces a claim best), nearest (to the paper's "
        "numbers), or NAME=VALUE,...",
    )
    reproduce.add_argument("--seeds", type=int, metavar="N", help="number of seeds (default: the study's)")
    reproduce.add_argument("--quick", action="store_true", help="fewer seeds, shorter runs: a first look")
    reproduce.add_argument(
        "--search",
        action="store_true",
        help="search the settings that the paper leaves unsaid, and keep the results",
    )
    reproduce.add_argument(
        "--stacks",
        action="store_true",
        help="run twelve of today's stacks in the study, and keep their ranks",
    )
    reproduce.add_argument(
        "--settings",
        type=int,
        metavar="N",
        help="settings of the random design of --search (0: keep the design)",
    )
    reproduce.add_argument(
        "--trials",
        type=int,
        metavar="N",
        help="settings of the guided search for each claim (default: 80; 0: none)",
    )
    reproduce.add_argument(
        "--jobs", type=int, metavar="N", help="runs at a time (default: one per processor)"
    )
    reproduce.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="run --search and --stacks on Ray: auto, local, or the address of a cluster (extra ray)",
    )
    _output_arguments(reproduce)

    spectrum.add_pu(group("pu", "generate, show and convert logs of primary users"))
    journey.add_journey(group("journey", "show the line of a map: stations, outages, levels"))
    mobility.add_mobility(group("mobility", "generate and show node movement"))
    link_trace.add_trace(group("trace", "show, convert, export and generate link traces"))

    kernel_c2.add_c2(group("c2", "TCP C2 in this machine's kernel"))
    kernel_freeze.add_freeze(
        group("freeze", "Freeze-TCP: hold this machine's TCP sources through announced outages")
    )

    sensing = verb("sensing", spectrum.show_sensing, "print P_d and P_f against sensing time and SNR")
    spectrum.add_sensing(sensing)

    verb("version", _version, "print the version")
    return parser


class _Version(argparse.Action):
    """Print the version when it is asked for, and not look for the commit before."""

    def __init__(self, option_strings: Sequence[str], dest: str, **options: Any) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, **options)

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, *given: object
    ) -> NoReturn:
        parser.exit(_version(namespace))


class _Parser(argparse.ArgumentParser):
    """Suggests the nearest name where one is wrong: a verb, a choice, an option."""

    #: Whether what follows `--` is the command line of a program, in `command`.
    takes_command = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; a verb reports by itself what it does not know, with its own options in mind."""
        command: list[str] = []
        if self.takes_command and args and "--" in args:
            place = args.index("--")
            args, command = args[:place], args[place + 1 :]
        found, unknown = super().parse_known_args(args, namespace)
        if self.takes_command:
            found.command = command
        if unknown and not any(isinstance(action, argparse._SubParsersAction) for action in self._actions):
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return found, unknown

    def format_help(self) -> str:
        """Return the help: one line an option, and examples."""
        from cogtcp.cli import help

        return help.text(self)

    def format_usage(self) -> str:
        """Return the usage in one line."""
        from cogtcp.cli import help

        return help.usage(self)

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, with what was probably meant, and end with exit code 2."""
        choice = re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message)
        option = re.match(r"unrecognized arguments: (--[^ =]+)", message)
        given, known = "", []
        if choice:
            given, known = choice[1], re.findall(r"[^', ]+", choice[2])
        elif option:
            # What another verb has is no slip of the pen: it has no place here.
            given, known = option[1], sorted(self._option_string_actions)
        from cogtcp._names import meant

        super().error("; ".join(filter(None, [message, meant(given, known)])))


def _scenario_arguments(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
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


def _output_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out", metavar="DIR", help="folder of the results (default: one in results/, by content)"
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="write to DIR although it holds other files (which are kept in DIR.old-1)",
    )


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


# Each verb's code is loaded when it is called: pyarrow and rich take longer to load than a small run takes.


def _run(args: argparse.Namespace) -> int:
    from cogtcp.cli import simulate

    return simulate.run(args)


def _emulate(args: argparse.Namespace) -> int:
    from cogtcp.cli import emulate

    return emulate.emulate(args)


def _validate(args: argparse.Namespace) -> int:
    from cogtcp.cli import validate

    return validate.validate(args)


def _agree(args: argparse.Namespace) -> int:
    from cogtcp.cli import agree

    return agree.agree(args)


def _packets(args: argparse.Namespace) -> int:
    from cogtcp.cli import packets

    return packets.packets(args)


def _compare(args: argparse.Namespace) -> int:
    from cogtcp.cli import simulate

    return simulate.compare(args)


def _tune(args: argparse.Namespace) -> int:
    from cogtcp.cli import tune

    return tune.tune(args)


def _fit(args: argparse.Namespace) -> int:
    from cogtcp.cli import fit

    return fit.fit(args)


def _advise(args: argparse.Namespace) -> int:
    from cogtcp.cli import advise

    return advise.advise(args)


def _plot(args: argparse.Namespace) -> int:
    from cogtcp.cli import plot

    return plot.plot(args)


def _sweep(args: argparse.Namespace) -> int:
    from cogtcp.cli import sweep

    return sweep.sweep(args)


def _results(args: argparse.Namespace) -> int:
    from cogtcp.cli import sweep

    return sweep.results(args)


def _query(args: argparse.Namespace) -> int:
    from cogtcp.cli import sweep

    return sweep.query(args)


def _merge(args: argparse.Namespace) -> int:
    from cogtcp.cli import sweep

    return sweep.merge(args)


def _lab(args: argparse.Namespace) -> int:
    from cogtcp.cli import lab

    return lab.lab(args)


def _check(args: argparse.Namespace) -> int:
    from cogtcp.cli import inform

    return inform.check(args)


def _new(args: argparse.Namespace) -> int:
    from cogtcp.cli import inform

    return inform.new(args)


def _schema(args: argparse.Namespace) -> int:
    from cogtcp.cli import inform

    return inform.schema(args)


def _transports(args: argparse.Namespace) -> int:
    from cogtcp.cli import inform

    return inform.transports(args)


def _version(args: argparse.Namespace) -> int:
    from cogtcp.cli import inform

    return inform.version(args)


def _reproduce(args: argparse.Namespace) -> int:
    from cogtcp.cli.reproduce import command

    return command(args)
