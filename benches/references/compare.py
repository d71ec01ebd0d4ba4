"""Compares our TCP packet by packet with ns-2's and ns-3's, where a reference is at hand.

    python benches/references/compare.py --ns2 TREE --ns3 TREE --live

`--ns2`: a source tree of ns-2 with its reference outputs (tcl/test). `--ns3`: one of ns-3 with its response
vectors (src/test/ns3tcp). `--live` runs ns-2 itself (`ns` on the PATH) for set-ups of our own.
docs/references.md says what came of it.
"""

from __future__ import annotations

import argparse
import sys
from difflib import SequenceMatcher
from pathlib import Path

import ns2_live
import ns2_outputs
import ns3_vectors
import ours
from sequences import Agreement, compare

HEADER = (
    f"{'test':<28} {'control':<10} {'packets':>7} {'same':>7} {'prefix':>6} "
    f"{'first difference':<26} {'max dt':>9} {'sent':>11} {'retransmitted':>13} {'RTOs':>6}"
)


def line(name: str, control: str, agreement: Agreement, rtos: tuple[int | None, int]) -> str:
    """Format one row of the table; pairs are reference / ours."""
    first = "none"
    if agreement.first is not None:
        time, theirs, mine = agreement.first
        first = f"{time:.3f} s: {theirs} / {mine}"
    expected = "?" if rtos[0] is None else str(rtos[0])
    return (
        f"{name:<28} {control:<10} {agreement.compared:>7} {agreement.share:>7.1%} {agreement.prefix:>6} "
        f"{first:<26} {agreement.time_difference * 1e3:>6.2f} ms "
        f"{agreement.sent[0]:>5}/{agreement.sent[1]:<5} "
        f"{agreement.retransmitted[0]:>6}/{agreement.retransmitted[1]:<6} {expected:>3}/{rtos[1]}"
    )


def ns2(tree: Path, only: str) -> None:
    """Compare with ns-2's reference outputs."""
    print(f"\nReference outputs of ns-2 ({tree})\n{HEADER}")
    for test in ns2_outputs.TESTS:
        if only and only not in f"{test.suite}/{test.name}":
            continue
        if not test.output(tree).exists():
            print(f"{test.name:<28} not in the tree")
            continue
        references = ns2_outputs.read(test, tree)
        mine, result = ours.run(test.path, list(test.flows), test.until + 1.0, test.segment)
        rtos = result.flows.column("rtos").to_pylist()
        for number, (reference, own) in enumerate(zip(references, mine, strict=True)):
            name = test.name if len(mine) == 1 else f"{test.name}, flow {number + 1}"
            agreement = compare(reference, own, test.until - 0.05)
            print(line(name, test.control, agreement, (None, rtos[number])))


def live(ns: str, only: str) -> None:
    """Compare with ns-2 itself."""
    print(f"\nns-2 run live ({ns})\n{HEADER}")
    for test in ns2_live.TESTS:
        if only and only not in test.name:
            continue
        reference, timeouts = ns2_live.run(test, ns)
        mine, result = ours.run(test.path, [test.flow], test.until + 1.0, test.segment)
        rtos = result.flows.column("rtos").to_pylist()[0]
        agreement = compare(reference, mine[0], test.until - 0.05)
        print(line(test.name, test.flow.transport, agreement, (timeouts, rtos)))


def ns3(tree: Path, only: str) -> None:
    """Compare with ns-3's response vectors."""
    print(f"\nResponse vectors of ns-3 ({tree})")
    columns = f"{'segments':>8} {'same':>7} {'prefix':>6} {'max dt':>9}  first difference"
    print(f"{'test':<20} {'control':<16} {columns}")
    for test in ns3_vectors.TESTS:
        if only and only not in test.name:
            continue
        reference = ns3_vectors.read(test.vectors(tree))
        mine, _ = ns3_vectors.run(test)
        theirs, own = [str(header) for header in reference], [str(header) for header in mine]
        prefix = next(
            (i for i, pair in enumerate(zip(theirs, own, strict=False)) if pair[0] != pair[1]),
            min(len(theirs), len(own)),
        )
        blocks = SequenceMatcher(None, theirs, own, autojunk=False).get_matching_blocks()
        share = sum(block.size for block in blocks) / len(theirs)
        off = max(abs(a.time - b.time) for a, b in zip(reference[:prefix], mine, strict=False))
        first = "none"
        if prefix < max(len(theirs), len(own)):
            at = f"{reference[prefix].time:.3f} s: {theirs[prefix]}" if prefix < len(theirs) else "end"
            first = f"{at} / {own[prefix] if prefix < len(own) else 'end'}"
        print(
            f"{test.name:<20} {test.control:<16} {len(theirs):>8} {share:>7.1%} {prefix:>6} "
            f"{off * 1e3:>6.2f} ms  {first}"
        )


def main() -> int:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ns2", type=Path, metavar="TREE", help="source tree of ns-2")
    parser.add_argument("--ns3", type=Path, metavar="TREE", help="source tree of ns-3")
    parser.add_argument("--live", action="store_true", help="run ns-2 itself")
    parser.add_argument("--ns", default="ns", metavar="PATH", help="the program (default: ns on the PATH)")
    parser.add_argument("--only", default="", metavar="TEXT", help="tests whose name contains this")
    args = parser.parse_args()
    if args.ns2:
        ns2(args.ns2, args.only)
    if args.ns3:
        ns3(args.ns3, args.only)
    if args.live:
        live(args.ns, args.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
