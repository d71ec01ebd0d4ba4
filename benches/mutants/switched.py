"""Would the tests notice a slip? Test a sample of fine-grained mutants, all of them in one build.

    benches/mutants/switched.py draw
    benches/mutants/switched.py run [--only TEXT] [--missed] [--no-python]
    benches/mutants/switched.py try FILE:LINE ...
    benches/mutants/switched.py clean

A mutant drops a condition (it holds always, or never), moves a bound (< and <=; a min, max or clamp is
left out), skips a statement or changes a literal. `draw` takes a sample of the crates that switched.toml
names, by a hash of its seed and of what each mutant changes, leaves out what does not compile, and writes
switched.txt: the sample is committed. It names a mutant by its file, function and change, so that it
survives changes elsewhere.

`run` writes the whole sample into a copy of the sources, each mutant behind a question that is answered at
run time, and builds the tests once. Each test then runs by itself, which shows the mutants that it reaches.
After that each mutant runs with the tests that reach it: Rust tests first, and those of the Python package
if no Rust test notices. Exits with 1 if fewer are killed than switched.toml wants. Mutants that the code has
lost, and those that switched.toml calls equivalent, do not count. watched.txt holds mutants that nobody
noticed once: all of them must be killed; they do not count as drawn. `--missed` takes the mutants that the
run before left alive. `try` takes every mutant on a line (crates/link/src/link.rs:216) in place of the
sample.

What it cannot see: constants and `const fn`, which are not evaluated at run time, and what macros hold.
"""

import argparse
import json
import sys
import tomllib
from collections import Counter
from typing import Any

import python_tests
import rust_tests
import tree
from sites import HERE, OUTPUT, Site, python_package_sites, rank, rust_sites

SAMPLE = HERE / "switched.txt"
WATCHED = HERE / "watched.txt"
RESULTS = OUTPUT / "switched.json"


def main() -> int:
    """Run the verb that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("draw", help="write the sample")
    run = verbs.add_parser("run", help="test the sample")
    run.add_argument("--only", default="", help="only mutants whose name contains this")
    run.add_argument("--missed", action="store_true", help="only mutants that the run before left alive")
    attempt = verbs.add_parser("try", help="test the mutants of some lines")
    attempt.add_argument("places", nargs="+", metavar="FILE:LINE")
    for verb in (run, attempt):
        verb.add_argument("--no-python", action="store_true", help="without the tests of the Python package")
    verbs.add_parser("clean", help="remove the copy and its build")
    arguments = parser.parse_args()
    config = tomllib.loads((HERE / "switched.toml").read_text())
    if arguments.verb == "clean":
        tree.clean()
        return 0
    known = rust_sites(config["crates"]) | python_package_sites(config.get("python", {}).get("files", []))
    if arguments.verb == "draw":
        return _draw(config, known)
    if arguments.verb == "try":
        return _try(arguments, config, known)
    return _run(arguments, config, known)


def _draw(config: dict[str, Any], known: dict[str, Site]) -> int:
    by_crate: dict[str, list[Site]] = {}
    for site in known.values():
        by_crate.setdefault(site.crate, []).append(site)
    quota = _shares({crate: len(by_crate[crate]) for crate in config["crates"]}, config["size"])
    if "python" in by_crate:
        quota["python"] = config["python"]["size"]
    drawn: list[Site] = []
    for crate, number in quota.items():
        ranked = sorted(by_crate[crate], key=lambda site: rank(config["seed"], site.name))
        # Some will not compile.
        drawn += ranked[: number + number // 2 + 4]
    viable = tree.viable(drawn, config["crates"])
    sample = []
    for crate, number in quota.items():
        sample += sorted(site.name for site in [site for site in viable if site.crate == crate][:number])
        print(f"{crate}: {number} of {len(by_crate[crate])}")
    print(f"{len(drawn) - len(viable)} of {len(drawn)} did not compile and were left out")
    SAMPLE.write_text("".join(f"{name}\n" for name in sample))
    return 0


def _shares(numbers: dict[str, int], size: int) -> dict[str, int]:
    """Share `size` by the square roots of `numbers`; what is left over goes to the largest remainders."""
    total = sum(number**0.5 for number in numbers.values())
    exact = {crate: size * number**0.5 / total for crate, number in numbers.items()}
    shares = {crate: int(share) for crate, share in exact.items()}
    by_remainder = sorted(exact, key=lambda crate: shares[crate] - exact[crate])
    for crate in by_remainder[: size - sum(shares.values())]:
        shares[crate] += 1
    return shares


def _try(arguments: argparse.Namespace, config: dict[str, Any], known: dict[str, Site]) -> int:
    places = set(arguments.places)
    wanted = [site for site in known.values() if f"{site.file}:{site.line}" in places]
    outcomes = _test(wanted, config, not arguments.no_python)
    return 0 if all(outcome.startswith("killed") for outcome in outcomes.values()) else 1


def _run(arguments: argparse.Namespace, config: dict[str, Any], known: dict[str, Site]) -> int:
    sample, watched = SAMPLE.read_text().splitlines(), WATCHED.read_text().splitlines()
    equivalent = config["equivalent"]
    drawn, sample = set(sample), list(dict.fromkeys(sample + watched))
    if stray := set(equivalent) - set(sample):
        print(f"called equivalent but not in the sample: {sorted(stray)}")
        return 1
    before = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    # The whole sample is built, whichever part is tested: so that a build serves the next run too.
    everyone = [known[name] for name in sample if name in known]
    wanted = {
        name
        for name in sample
        if name not in equivalent
        and arguments.only in name
        and not (arguments.missed and before.get(name, "").startswith("killed"))
    }
    outcomes = {name: before[name] for name in sample if name in before and name not in wanted}
    outcomes |= _test(everyone, config, not arguments.no_python, wanted)
    RESULTS.write_text(json.dumps(outcomes, indent=1))
    killed, alive = Counter[str](), Counter[str]()
    for name, outcome in outcomes.items():
        if name in known and name not in equivalent:
            row = known[name].crate if name in drawn else "watched"
            (killed if outcome.startswith("killed") else alive)[row] += 1
    unnoticed = alive["watched"]
    print(f"{'watched':<14} {killed.pop('watched', 0):>3} killed, {alive.pop('watched', 0)} alive")
    for crate in sorted(killed | alive, key=[*config["crates"], "python"].index):
        print(f"{crate:<14} {killed[crate]:>3} of {killed[crate] + alive[crate]:>3} killed")
    tested = killed.total() + alive.total()
    share = killed.total() / max(tested, 1)
    gone = [name for name in sample if name not in known]
    least = config["threshold"]
    print(f"{'all':<14} {killed.total():>3} of {tested:>3} killed: {share:.1%}, {least:.0%} wanted")
    print(f"{len(equivalent)} are equivalent, {len(gone)} are gone")
    for name in gone:
        print(f"gone     {name}")
    return 0 if share >= least and not unnoticed else 1


def _test(
    sites: list[Site], config: dict[str, Any], with_python: bool, wanted: set[str] | None = None
) -> dict[str, str]:
    """Build the tests with all mutants of `sites`, and test those that are `wanted` (default: all)."""
    compiled = tree.viable(sites, config["crates"])
    outcomes = {}
    for site in sites:
        if site not in compiled:
            print(f"unviable {site.name}", flush=True)
    by_number = rust_tests.reached(rust_tests.build())
    alive = []
    for number, site in enumerate(compiled):
        if wanted is not None and site.name not in wanted:
            continue
        tests = by_number.get(number, [])
        by = rust_tests.notices(number, site.crate, tests)
        if by is not None:
            outcomes[site.name] = _say(site, f"killed by {by}")
        elif with_python:
            alive.append(number)
        else:
            outcomes[site.name] = _say(site, f"alive, reached by {len(tests)} tests")
    if alive:
        by_python = python_tests.reached(config["python"]["tests"])
        for number in alive:
            site, tests = compiled[number], by_python.get(number, [])
            by = python_tests.notices(number, tests)
            reach = f"{len(by_number.get(number, []))} Rust tests and {len(tests)} Python tests"
            outcomes[site.name] = _say(site, f"killed by {by}" if by else f"alive, reached by {reach}")
    return outcomes


def _say(site: Site, outcome: str) -> str:
    verb, _, rest = outcome.partition(" ") if outcome.startswith("killed") else outcome.partition(", ")
    print(f"{verb:<8} {site.file}:{site.line}: {site.name.partition(': ')[2]} ({rest})", flush=True)
    return outcome


if __name__ == "__main__":
    sys.exit(main())
