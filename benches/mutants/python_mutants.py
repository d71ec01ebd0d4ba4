"""Would the tests of the Python package notice a slip? Test a random sample of small changes.

    benches/mutants/python_mutants.py --seed HEX [--count N] [--only TEXT] [--seconds S] [--minutes M]
        [--list]

cosmic-ray makes the mutants; `make mutants` installs it and coverage beside the project. The sample is drawn
by a hash of the seed, of the operator and of the file, from all files that `[python.tests]` of mutants.toml
covers. The test files named there, those of the longest prefix, run once in a copy of the package, and
coverage notes the lines of each test. Then each mutant is written into the copy and tested by the tests that
run its line, the quick ones first, all in one process. A mutant that no test notices is printed as alive; the
last lines count by room.

Processes that a test starts count to it. If no test is seen to run a line, all tests of its files are asked.
"""

import argparse
import ast
import functools
import hashlib
import json
import math
import os
import shutil
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

from cosmic_ray.ast import get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from coverage import CoverageData
from outcome import EQUIVALENT, Mutant, summary
from tree import failed

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
#: Operators that are left out: nobody slips so, and the last needs arguments.
LEFT_OUT = ("Bit", "Shift", "RemoveDecorator", "core/Variable")
#: Processor time in which the lines of a test file are noted; later tests of it are not asked.
NOTING_S = 240.0
#: Processor time that pytest and the imports may take.
START_S = 30.0
OUTPUT = ROOT / "target" / "mutants" / "python"
COPY = OUTPUT / "copy"


def main() -> int:
    """Draw and test the sample."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", required=True, help="of the draw: the first digits of a commit")
    parser.add_argument("--count", type=int, default=60, help="mutants (default: 60)")
    parser.add_argument("--only", default="", help="only mutants whose name contains this")
    parser.add_argument(
        "--seconds", type=float, default=15.0, help="processor time of a mutant's tests (default: 15)"
    )
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no mutant after this time")
    parser.add_argument("--list", action="store_true", help="show the sample, and test nothing")
    arguments = parser.parse_args()
    config = tomllib.loads((HERE / "mutants.toml").read_text())
    tests = config["python"]["tests"]
    outcomes: dict[Mutant, str] = {}
    ends = time.monotonic() + 60 * arguments.minutes
    sample = _draw(arguments.seed, arguments.count, tests)
    if arguments.list:
        print("\n".join(mutant.name for mutant, _ in sample))
        return 0
    _copy()
    for mutant, text in sample:
        if arguments.only not in mutant.name:
            continue
        if time.monotonic() > ends:
            print(f"the time is over: {len(outcomes)} of {arguments.count} were tested")
            break
        by, asked = None, []
        if mutant.name not in config[EQUIVALENT]:
            asked = _reaching(mutant, _tests_of(mutant.file, tests), arguments.seconds)
            by = _notices(mutant, text, asked) if asked else None
        outcomes[mutant] = by or "alive"
        print(
            f"{'killed' if by else 'alive':<8} {mutant.name} ({by or 'asked'}: {len(asked)} tests)",
            flush=True,
        )
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


def _copy() -> None:
    """Copy the package; everything else is a link."""
    shutil.rmtree(COPY, ignore_errors=True)
    shutil.copytree(ROOT / "python", COPY / "python", ignore=shutil.ignore_patterns("__pycache__"))
    for path in ROOT.iterdir():
        if path.name not in ("python", ".git", "target"):
            (COPY / path.name).symlink_to(path)


def _reaching(mutant: Mutant, files: list[str], most: float) -> list[str]:
    """Return the tests that run the mutant's line, the quick ones first, as far as `most` seconds suffice.

    If no test runs it, another process does: all tests are returned.
    """
    lines = _statement((ROOT / mutant.file).read_text(), int(mutant.name.split(":")[1]))
    found: list[tuple[float, str]] = []
    others: list[tuple[float, str]] = []
    for file in files:
        folder = _noted(file)
        contexts = set()
        for name in (folder / "lines", *folder.glob("children.*")):
            data = CoverageData(str(name))
            data.read()
            by_line = data.contexts_by_lineno(str(COPY / mutant.file))
            contexts |= {context for line in lines for context in by_line.get(line, [])}
        told = [json.loads(line) for line in (folder / "tests").read_text().splitlines()]
        for test in filter(lambda test: test["passed"], told):
            # A line without a context is run on import.
            reaches = test["id"] in contexts or "" in contexts
            (found if reaches else others).append((test["seconds"], test["id"]))
    asked: list[str] = []
    for seconds, test in sorted(found or others):
        most -= seconds
        if most < 0 and asked:
            break
        asked.append(test)
    return asked


def _statement(source: str, line: int) -> range:
    """Return the lines of the statement at `line`; of one that holds others, those before them."""
    least = range(line, line + 1)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or line):
            body = getattr(node, "body", None)
            end = body[0].lineno if isinstance(body, list) and body else (node.end_lineno or line) + 1
            if node.lineno <= line < max(end, node.lineno + 1) and not isinstance(node, ast.ClassDef):
                least = range(node.lineno, max(end, node.lineno + 1))
    return least


def _noted(test: str) -> Path:
    """Return the folder with the lines of each test of a file, noted unless they are known."""
    stamp = hashlib.sha256()
    for path in [*sorted((ROOT / "python").rglob("*.py")), ROOT / "tests" / test]:
        stamp.update(path.read_bytes())
    folder = OUTPUT / "reach" / test
    known = folder / "stamp"
    if not known.exists() or known.read_text() != stamp.hexdigest():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "tests").touch()
        more = {"COGTCP_REACH": str(folder), "COGTCP_REACH_OF": str(COPY / "python" / "cogtcp")}
        why, seconds = _run(["-p", "python_reach", f"tests/{test}"], NOTING_S, more)
        number = len((folder / "tests").read_text().splitlines())
        print(f"{test}: {number} tests, {seconds:.0f} s{f', {why}' if why else ''}", flush=True)
        known.write_text(stamp.hexdigest())
    return folder


def _notices(mutant: Mutant, text: str, tests: list[str]) -> str | None:
    """Write the mutant, and run tests until one fails; return how they ended (`None`: all passed)."""
    target = COPY / mutant.file
    source = target.read_text()
    target.write_text(text)
    why, _ = _run(["-x", *tests], START_S + 60.0, {})
    target.write_text(source)
    if why is None or _passes(tuple(tests)):
        return why
    print(f"left out: tests of {mutant.name} fail without it", flush=True)
    return None


@functools.cache
def _passes(tests: tuple[str, ...]) -> bool:
    """Return whether the tests pass without a mutant, in this order and without the others of their files."""
    return _run(["-x", *tests], START_S + 60.0, {})[0] is None


def _run(arguments: list[str], seconds: float, more: dict[str, str]) -> tuple[str | None, float]:
    # The plugin needs coverage; what else lies beside it may be of other versions than ours.
    paths = [COPY / "python", *([ROOT / ".venv/mutants", HERE] if more else [])]
    environment = (
        os.environ | {"PYTHONPATH": ":".join(map(str, paths)), "PYTHONDONTWRITEBYTECODE": "1"} | more
    )
    command = [str(ROOT / ".venv/bin/python"), "-m", "pytest", "-q", "-n", "0"]
    command += ["-o", f"cache_dir={OUTPUT / 'cache'}", f"--basetemp={OUTPUT / 'base'}"]
    return failed([*command, *arguments], COPY, environment, seconds)


if __name__ == "__main__":
    sys.exit(main())
