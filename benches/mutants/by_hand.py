"""Would the tests notice if a rule were broken? Break the rules of by_hand.toml, one at a time.

    benches/mutants/by_hand.py [CRATE ...] [--only TEXT ...]

mutants.py draws a sample of what a tool can change; this is a list of rules that somebody chose (NAV, EIFS,
capture, sequence numbers, precursors, rings, hellos, ...), each with the smallest change that breaks it. Each
must be noticed by the tests of its own crate: exits with 1 if one is not, or if its text no longer stands
in the code exactly once.
"""

import argparse
import sys
import tomllib
from pathlib import Path

from mutants import HERE, _command, _copy, _test

#: Arguments of one `cargo test` after another, each only if those before noticed nothing: the quick first.
STAGES = [["--lib"], ["--tests"]]
#: Tests that run longer have noticed.
TIMEOUT_S = 300


def main() -> int:
    """Test the mutants of each crate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("crates", nargs="*", help="default: every crate of by_hand.toml")
    parser.add_argument("--only", action="append", help="only rules that contain this (or one of several)")
    arguments = parser.parse_args()
    config = tomllib.loads((HERE / "by_hand.toml").read_text())
    unknown = set(arguments.crates) - set(config)
    if unknown:
        parser.error(f"not in by_hand.toml: {', '.join(sorted(unknown))}")
    tree = _copy()
    results = [
        _run(tree, crate, config[crate], arguments.only or [""]) for crate in arguments.crates or config
    ]
    return 0 if all(results) else 1


def _run(tree: Path, crate: str, mutants: list[dict[str, str]], only: list[str]) -> bool:
    wanted = [
        mutant for mutant in mutants if any(text in mutant["rule"] for text in only) and "same" not in mutant
    ]
    test = ["cargo", "test", "--quiet", f"--package=cogtcp-{crate}"]
    stages = [[*test, *stage] for stage in STAGES]
    if any(_command(stage, tree, 3600) != 0 for stage in stages):
        print(f"{crate}: the tests fail without any mutant")
        return False
    outcomes: dict[str, int] = {}
    for mutant in wanted:
        outcome = _outcome(tree, crate, mutant, stages)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
        print(f"{outcome:<8} {crate}/{mutant['file']}: {mutant['rule']}", flush=True)
    print(f"{crate}: {outcomes.get('killed', 0)} of {len(wanted)} killed, {len(mutants)} in the list")
    return outcomes.get("killed", 0) == len(wanted)


def _outcome(tree: Path, crate: str, mutant: dict[str, str], stages: list[list[str]]) -> str:
    path = Path("crates") / crate / "src" / mutant["file"]
    source = (tree / path).read_text()
    if source.count(mutant["old"]) != 1:
        return "gone"
    (tree / path).write_text(source.replace(mutant["old"], mutant["new"]))
    try:
        return _test(tree, stages, TIMEOUT_S)
    finally:
        (tree / path).write_text(source)


if __name__ == "__main__":
    sys.exit(main())
