"""Would the Rust tests notice a slip? Test a random sample of small changes, all of them in one build.

    benches/mutants/rust_mutants.py run --seed HEX [--count N] [--after N] [--order HEX] [--only TEXT]
        [--seconds S] [--minutes M]
    benches/mutants/rust_mutants.py try FILE:LINE ...
    benches/mutants/rust_mutants.py clean

A mutant drops a condition (it holds always, or never), moves a bound (< and <=; a min, max or clamp is left
out), skips a statement or changes a literal. `run` draws a sample of the crates that mutants.toml names, by a
hash of the seed and of what each mutant changes. It writes the sample into a copy of the sources, each mutant
behind a question that is answered at run time, and builds all tests once: 200 mutants are one build, where a
tool that builds each mutant links the tests 200 times. Each test runs by itself, which shows the mutants that
it reaches; then these tests are asked about each mutant. The order of the mutants is random, so `--minutes`
may cut the run short; `--after` leaves out the first ones, which somebody has seen, and `--order` draws
another order of the others, for a fresh sample of the same build. `try` takes every mutant on a line
(crates/link/src/link.rs:216).

What it cannot see: constants and `const fn`, which are not evaluated at run time, and what macros hold.
"""

import argparse
import hashlib
import json
import sys
import time
import tomllib
from collections.abc import Iterable
from math import inf
from typing import Any

import rust_tests
import tree
from outcome import EQUIVALENT, Mutant, summary
from sites import HERE, OUTPUT, ROOT, Site, rank, rust_sites


def main() -> int:
    """Run the verb that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("run", help="draw a sample and test it")
    run.add_argument("--seed", required=True, help="of the draw: the first digits of a commit")
    run.add_argument("--count", type=int, default=200, help="mutants (default: 200)")
    run.add_argument("--after", type=int, default=0, help="leave out so many of the seed's order")
    run.add_argument("--order", help="draws the order (default: the seed)")
    run.add_argument("--only", default="", help="only mutants whose name contains this")
    run.add_argument(
        "--seconds", type=float, default=40.0, help="processor time of the tests of a mutant (default: 40)"
    )
    run.add_argument("--minutes", type=float, default=inf, help="begin no mutant after this time")
    attempt = verbs.add_parser("try", help="test the mutants of some lines")
    attempt.add_argument("places", nargs="+", metavar="FILE:LINE")
    verbs.add_parser("clean", help="remove the copy and its build")
    arguments = parser.parse_args()
    if arguments.verb == "clean":
        tree.clean()
        return 0
    config = tomllib.loads((HERE / "mutants.toml").read_text())
    known = rust_sites(config["crates"], config["left_out"])
    if arguments.verb == "try":
        wanted = [site for site in known.values() if f"{site.file}:{site.line}" in arguments.places]
        return _test(tree.viable(wanted, config["crates"]), config)
    ends = time.monotonic() + 60 * arguments.minutes
    sample = _draw(config["crates"], known, arguments.seed, arguments.count)
    order = arguments.order or arguments.seed
    numbers = sorted(
        range(arguments.after, len(sample)), key=lambda number: rank(f"{order} order", sample[number].name)
    )
    return _test(sample, config, numbers, arguments.only, arguments.seconds, ends)


def _draw(crates: list[str], known: dict[str, Site], seed: str, count: int) -> list[Site]:
    """Return a sample of mutants that compile, in random order.

    A crate's share goes by the square root of its mutants.
    """
    by_crate = {crate: [site for site in known.values() if site.crate == crate] for crate in crates}
    quota = _shares({crate: len(sites) for crate, sites in by_crate.items()}, count)
    drawn: list[Site] = []
    for crate, number in quota.items():
        ranked = sorted(by_crate[crate], key=lambda site: rank(seed, site.name))
        # Some do not compile.
        drawn += ranked[: number + number // 2 + 4]
    viable = _viable(drawn, crates)
    print(f"{len(drawn) - len(viable)} of {len(drawn)} do not compile and are left out", flush=True)
    sample = [
        site
        for crate, number in quota.items()
        for site in [site for site in viable if site.crate == crate][:number]
    ]
    sample.sort(key=lambda site: rank(f"{seed} order", site.name))
    tree.write(sample, crates)
    return sample


def _viable(drawn: list[Site], crates: list[str]) -> list[Site]:
    """Return those that compile. What is known of the same draw from the same sources is not asked again."""
    digest = hashlib.sha256(repr(drawn).encode())
    for path in sorted((ROOT / "crates").rglob("*.rs")):
        digest.update(path.read_bytes())
    kept, stamp = OUTPUT / "viable.json", digest.hexdigest()
    known = json.loads(kept.read_text()) if kept.exists() else {}
    if known.get("stamp") != stamp:
        known = {"stamp": stamp, "names": [site.name for site in tree.viable(drawn, crates)]}
        kept.write_text(json.dumps(known))
    return [site for site in drawn if site.name in known["names"]]


def _shares(numbers: dict[str, int], size: int) -> dict[str, int]:
    """Share `size` by the square roots of `numbers`; what is left over goes to the largest remainders."""
    total = sum(number**0.5 for number in numbers.values())
    exact = {crate: size * number**0.5 / total for crate, number in numbers.items()}
    shares = {crate: int(share) for crate, share in exact.items()}
    by_remainder = sorted(exact, key=lambda crate: shares[crate] - exact[crate])
    for crate in by_remainder[: size - sum(shares.values())]:
        shares[crate] += 1
    return shares


def _test(
    sites: list[Site],
    config: dict[str, Any],
    numbers: Iterable[int] | None = None,
    only: str = "",
    seconds: float = inf,
    ends: float = inf,
) -> int:
    """Build the tests of the copy, which has the mutants of `sites`, and test those of some numbers."""
    # The emulator's tests run in real time.
    excluded = ["--exclude=cogtcp-binding", "--exclude=cogtcp-emulator"]
    by_number = rust_tests.reached(rust_tests.build(["--workspace", *excluded, "--lib", "--tests"]))
    outcomes: dict[Mutant, str] = {}
    chosen = range(len(sites)) if numbers is None else list(numbers)
    for number in chosen:
        site = sites[number]
        if only not in site.name:
            continue
        if time.monotonic() > ends:
            print(f"the time is over: {len(outcomes)} of {len(chosen)} were tested")
            break
        tests, by = by_number.get(number, []), None
        if site.name not in config[EQUIVALENT]:
            by = rust_tests.notices(number, site.crate, tests, seconds)
            change = site.name.partition(": ")[2]
            why = f"({by})" if by else f"(reached by {len(tests)} tests)"
            print(f"{'killed' if by else 'alive':<8} {site.file}:{site.line}: {change} {why}", flush=True)
        outcomes[Mutant(site.name, site.crate, site.file)] = by or "alive"
    return summary(outcomes, config)


if __name__ == "__main__":
    sys.exit(main())
