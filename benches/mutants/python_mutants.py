"""Would the tests of the Python package notice a slip? Test a random sample of small changes.

    benches/mutants/python_mutants.py --seed HEX [--count N] [--only TEXT] [--minutes M] [--list]

cosmic-ray makes the mutants; `make mutants` installs it beside the project. The sample is drawn by a hash of
the seed, of the operator and of the file, from all files that `[python.tests]` of mutants.toml covers. Each
mutant is written into a copy of the package and tested by the test files named there, those of the longest
prefix. A mutant that no test notices is printed as alive; the last lines count by room.
"""

import argparse
import functools
import hashlib
import math
import os
import shutil
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any

from cosmic_ray.ast import get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from outcome import EQUIVALENT, Mutant, summary
from tree import failed

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
#: Operators that are left out: nobody slips so, and the last needs arguments.
LEFT_OUT = ("Bit", "Shift", "RemoveDecorator", "core/Variable")
#: Processor time of the tests of one mutant: a test that has not ended has noticed it.
MOST_S = 300.0


def main() -> int:
    """Draw and test the sample."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", required=True, help="of the draw: the first digits of a commit")
    parser.add_argument("--count", type=int, default=60, help="mutants (default: 60)")
    parser.add_argument("--only", default="", help="only mutants whose name contains this")
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no mutant after this time")
    parser.add_argument("--list", action="store_true", help="show the sample, and test nothing")
    arguments = parser.parse_args()
    config = tomllib.loads((HERE / "mutants.toml").read_text())
    tests = config["python"]["tests"]
    outcomes: dict[Mutant, str] = {}
    ends = time.monotonic() + 60 * arguments.minutes
    with tempfile.TemporaryDirectory() as folder:
        copy = _copy(Path(folder))
        for mutant, text in _draw(arguments.seed, arguments.count, tests):
            if arguments.list or arguments.only not in mutant.name:
                print(mutant.name)
                continue
            if time.monotonic() > ends:
                print(f"the time is over: {len(outcomes)} of {arguments.count} were tested")
                break
            by = None
            if mutant.name not in config[EQUIVALENT]:
                asked = [test for test in _tests_of(mutant.file, tests) if _passes(copy, test)]
                target = copy / mutant.file
                source = target.read_text()
                target.write_text(text)
                by = _notices(copy, asked)
                target.write_text(source)
            outcomes[mutant] = by or "alive"
            print(f"{'killed' if by else 'alive':<8} {mutant.name} {by or ''}", flush=True)
    return summary(outcomes, config)


def _draw(seed: str, count: int, tests: dict[str, list[str]]) -> list[tuple[Mutant, str]]:
    """Return `count` mutants that compile, with the text of their file."""
    found = []
    for path in sorted((ROOT / "python/cogtcp").rglob("*.py")):
        file = str(path.relative_to(ROOT))
        if _tests_of(file, tests):
            tree = get_ast(path.read_text())
            found += [(file, *place) for place in _places(tree)]
    found.sort(key=lambda place: hashlib.sha256(f"{seed} {place}".encode()).digest())
    drawn = []
    for file, operator, occurrence in found:
        source = (ROOT / file).read_text()
        text = mutate_code(source, get_operator(operator)(), occurrence)
        changed = [
            (number, after)
            for number, (before, after) in enumerate(
                zip(source.splitlines(), (text or "").splitlines(), strict=False), 1
            )
            if before != after
        ]
        if text and changed and _compiles(text):
            line, after = changed[0]
            room = "/".join(file.split("/")[2:-1]) or "package"
            name = f"{file}:{line}: {operator.removeprefix('core/')}: {after.strip()}"
            drawn.append((Mutant(name, room, file), text))
        if len(drawn) == count:
            break
    return drawn


def _places(tree: Any) -> list[tuple[str, int]]:
    nodes = _nodes(tree)
    places = []
    for name in operator_names():
        if not any(part in name for part in LEFT_OUT):
            operator = get_operator(name)()
            number = sum(1 for node in nodes for _ in operator.mutation_positions(node))
            places += [(name, occurrence) for occurrence in range(number)]
    return places


def _nodes(node: Any) -> list[Any]:
    return [node, *(deeper for child in getattr(node, "children", []) for deeper in _nodes(child))]


def _compiles(source: str) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def _tests_of(file: str, tests: dict[str, list[str]]) -> list[str]:
    """Return the test files of the longest prefix of `file`; none: it is left out."""
    prefixes = [prefix for prefix in tests if file.removeprefix("python/cogtcp/").startswith(prefix)]
    return tests[max(prefixes, key=len)] if prefixes else []


def _copy(folder: Path) -> Path:
    """Copy the package; everything else is a link."""
    shutil.copytree(ROOT / "python", folder / "python")
    for path in ROOT.iterdir():
        if path.name not in ("python", ".git"):
            (folder / path.name).symlink_to(path)
    return folder


@functools.cache
def _passes(copy: Path, test: str) -> bool:
    """Return whether a test file passes without any mutant: one that fails would notice them all."""
    why, seconds = _run(copy, test)
    print(f"{test}: {why or 'passes'}, {seconds:.0f} s", flush=True)
    return why is None


def _notices(copy: Path, tests: list[str]) -> str | None:
    """Run the test files, one after the other, until one fails; return which."""
    for test in tests:
        why, _ = _run(copy, test)
        if why is not None:
            return f"({test} {why})"
    return None


def _run(copy: Path, test: str) -> tuple[str | None, float]:
    environment = os.environ | {"PYTHONPATH": str(copy / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(ROOT / ".venv/bin/python"), "-m", "pytest", "-q", "-x", "-n", "0"]
    command += [
        "-o",
        f"cache_dir={copy / 'cache'}",
        f"--basetemp={copy / 'base'}",
        str(copy / "tests" / test),
    ]
    return failed(command, copy, environment, MOST_S)


if __name__ == "__main__":
    sys.exit(main())
