"""The verb `emulate`: a scenario on the TCP of this machine's kernel."""

from __future__ import annotations

import contextlib
import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp._errors import UsageError
from cogtcp._units import TIME, seconds
from cogtcp.cli import arguments, progress, quantities

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping

    from cogtcp.kernel.emulation import Emulation
    from cogtcp.model.capture import Point
    from cogtcp.model.output import OutputFolder
    from cogtcp.model.scenario import Scenario

# Where an emulation records its packets before they become captures and logs.
_JOURNAL = "packets.journal"
_LOGS = {"uplink.log": "forward", "downlink.log": "reverse"}


def add_emulate(parser: argparse.ArgumentParser) -> None:
    """Add the options of `emulate`."""
    parser.add_argument(
        "--seed", type=int, metavar="N", help="seed of the link and the radio (default: the scenario's)"
    )
    parser.add_argument(
        "--duration",
        type=quantities.quantity(TIME),
        metavar="T",
        help='how long: "30 s" (default: the scenario\'s; a program runs until it ends)',
    )
    parser.add_argument(
        "--up", metavar="TRACE", help="mahimahi traces instead of the rates, forward and reverse"
    )
    parser.add_argument(
        "--down", metavar="TRACE", help="mahimahi traces instead of the rates, forward and reverse"
    )
    parser.add_argument(
        "--peer",
        metavar="CMD",
        help='a program at the other end of the link: --peer "iperf3 -s"',
    )
    parser.add_argument(
        "--ipv6", action="store_true", help="the scenario's flows use IPv6 (programs may use either version)"
    )
    parser.add_argument(
        "--device",
        choices=("any", "tun", "veth"),
        default="any",
        help="TUN, or virtual Ethernet (default: TUN if it can be opened; with --virtual, Ethernet)",
    )
    parser.add_argument(
        "--pcap",
        action="append",
        default=[],
        metavar="LINK[@NODE]",
        help="also write what NODE (default: the first end) sees, for Wireshark",
    )
    parser.add_argument(
        "--log",
        action="store_true",
        help="also write mahimahi's logs (uplink.log, downlink.log)",
    )
    parser.add_argument(
        "--no-announce",
        action="store_true",
        help="do not report radio events to TCP C2 in the kernel",
    )
    parser.add_argument(
        "--virtual",
        nargs="?",
        const="",
        metavar="NAME",
        help="on a Linux in virtual time (cogtcp kernel list): the same seed gives the same results",
    )
    parser.add_argument(
        "--clean",
        action="store_true",
        help="only remove what killed commands left: processes, results, builds",
    )
    parser.takes_command = True  # type: ignore[attr-defined]
    parser.epilog = (
        "A program after -- replaces the flows; COGTCP_ADDRESS and COGTCP_PEER have both ends' addresses."
    )


def emulate(args: argparse.Namespace) -> int:
    """Emulate once, save, and show the result."""
    if args.clean:
        return _clean(args)
    if args.file is None:
        raise UsageError("name a scenario, as in: cogtcp emulate scenarios/sensed-link.toml")
    from cogtcp.kernel import emulation
    from cogtcp.model.output import OutputFolder

    scenario = _with_traces(arguments.checked_scenario(args), args)
    command, peer = list(args.command), shlex.split(args.peer or "")
    notes = emulation.check(scenario, command=bool(command), ipv6=args.ipv6)
    for note in notes:
        print(f"cogtcp: note: {note}", file=sys.stderr)
    seed = scenario.seed if args.seed is None else args.seed
    captures = _captures(scenario, arguments.names(args.pcap))
    what = {"duration_s": args.duration, "command": command, "peer": peer, "captures": sorted(captures)}
    if args.ipv6:
        what["ipv6"] = True
    if args.no_announce:
        what["announce"] = False
    virtual: str | bool = False if args.virtual is None else args.virtual or True
    if virtual is not False:
        what["virtual"] = emulation.virtual_kernel(virtual).name
    out = arguments.output(args, scenario, "emulate", seed, *what.values())
    job: dict[str, Any] = {"verb": "emulate", "scenario": scenario.hash, "seeds": [seed], **what}
    with OutputFolder(out, job=job, force=args.force) as folder, _progress(args, scenario) as told:
        journal = folder.path / _JOURNAL if captures or args.log else None
        result = emulation.emulate(
            scenario,
            seed,
            command=command,
            peer=peer,
            duration_s=args.duration,
            journal=journal,
            captures=bool(captures),
            ipv6=args.ipv6,
            device=args.device,
            announce=not args.no_announce,
            quiet=args.json,
            virtual=virtual,
            told=told,
        )
        if journal is not None:
            _write_packets(folder, result, captures, logs=args.log)
            # It is no result, and the folder lists all that it holds.
            journal.unlink()
        result.write(folder, command=arguments.command_line())
    for note in result.notes:
        if note not in notes:
            print(f"cogtcp: note: {note}", file=sys.stderr)
    _tell(args, result, out, captures)
    return result.exit_code or 0


@contextlib.contextmanager
def _progress(args: argparse.Namespace, scenario: Scenario) -> Iterator[Callable[[float], None] | None]:
    """Show how far a run in virtual time is; where a program runs, its output shows it."""
    if args.virtual is None or args.command:
        yield None
        return
    duration = args.duration or seconds(scenario.to_dict()["run"]["duration"])
    with progress.shown("emulating", "s") as update:
        yield lambda at: update(int(min(at, duration)), int(duration))


def _tell(args: argparse.Namespace, result: Emulation, out: Path, captures: Mapping[str, Point]) -> None:
    files = [*captures, *(_LOGS if args.log else ())]
    if args.json:
        document = {
            **result.to_dict(),
            "provenance": result.provenance,
            "files": [str(out / name) for name in files],
        }
        print(json.dumps({**document, "out": str(out), "report": str(out / "report.html")}))
    else:
        from cogtcp.cli import show
        from cogtcp.model import headline

        show.result(result)
        print(f"\n{headline.of_run(result)}\n{result.about_plane}\n\nreport: {out / 'report.html'}")
        for name in files:
            print(f"packets: {out / name}")
    if not result.is_evidence:
        print(f"cogtcp: this run is no evidence: {result.doubt}", file=sys.stderr)


def _captures(scenario: Scenario, links: list[str]) -> dict[str, Point]:
    from cogtcp.model.capture import file_name, find_point

    captures: dict[str, Point] = {}
    for link in dict.fromkeys(links):
        point = find_point(scenario, link)
        if point.is_air:
            raise UsageError(
                f"{scenario.name}: an emulation records no frames over the air; capture them of a simulation"
            )
        captures[file_name(point, list(captures))] = point
    return captures


def _write_packets(
    folder: OutputFolder, result: Emulation, captures: Mapping[str, Point], *, logs: bool
) -> None:
    from cogtcp.kernel.emulation import journal

    file = folder.path / _JOURNAL
    for name, point in captures.items():
        folder.write_pieces(name, journal.capture(file, result, point))
    if logs:
        for name, direction in _LOGS.items():
            link = _bottleneck(result)
            pieces = journal.mahimahi_log(file, result, link, direction, command=arguments.command_line())
            folder.write_pieces(name, pieces)


def _bottleneck(result: Emulation) -> str:
    """Return the link that limits the first flow; where a program ran, the one that could carry least."""
    if flows := result.rows("flows"):
        return str(flows[0]["bottleneck"])
    return str(min(result.rows("links"), key=lambda row: row["capacity_bytes"])["link"])


def _with_traces(scenario: Scenario, args: argparse.Namespace) -> Scenario:
    """Return the scenario with the traces of `--up` and `--down`."""
    topology = next(iter(scenario.to_dict()["topology"]))
    for option, field in (("up", "trace"), ("down", "reverse_trace")):
        file = getattr(args, option)
        if file is None:
            continue
        if topology not in ("single_hop", "chain"):
            raise UsageError(
                f"--{option}: the topology {topology} takes a trace for each link, in the scenario"
            )
        # Relative to where one is, and not to the scenario.
        scenario = scenario.set(f"topology.{topology}.link.{field}", str(Path(file).absolute()))
    if args.up is not None or args.down is not None:
        scenario.check()
    return scenario


def _clean(args: argparse.Namespace) -> int:
    from cogtcp.kernel.emulation import leftovers
    from cogtcp.kernel.emulation.virtual import build, launch

    ended = leftovers.remove(leftovers.find())
    folders = [str(folder) for folder in launch.end_leftovers()]
    builds = [str(folder) for folder in build.end_leftovers()]
    beside = [Path(args.out).parent] if args.out is not None else []
    cleared = leftovers.remove_unfinished([Path(), Path("results"), *beside])
    unfinished = [str(each.path) for each in cleared if each.put_back is None]
    put_back = [str(each.put_back) for each in cleared if each.put_back is not None]
    if args.json:
        removed = [{"process": each.process, "name": each.name} for each in ended]
        left = {"unfinished": unfinished, "put_back": put_back, "guests": folders, "builds": builds}
        print(json.dumps({"removed": removed, **left}))
        return 0
    for folder in folders:
        print(f"removed a guest and its folder: {folder}")
    for folder in builds:
        print(f"removed the unfinished build of a kernel: {folder}")
    if not (ended or cleared or folders or builds):
        print("nothing was left behind")
    for each in ended:
        print(f"ended process {each.process}: {each.name}")
    for path in unfinished:
        print(f"removed unfinished results: {path}")
    for path in put_back:
        print(f"restored: {path}")
    return 0
