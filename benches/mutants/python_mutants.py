"""Would the tests of the Python package notice a slip? Test a random sample of small changes.

    benches/mutants/python_mutants.py --seed HEX [--count N] [--only TEXT] [--seconds S] [--minutes M]
        [--list]

cosmic-ray makes the mutants; `make mutants` installs it and coverage beside the project. The sample is drawn
by a hash of the seed, of the operator and of the file, from the files that `[python]` of mutants.toml names.
Each test file runs once in a copy of the package, and coverage notes the lines of each test, also in the
processes that it starts: 20 minutes, kept until the package or the file changes. Then each mutant is written
into the copy, and the tests that run its line are asked, the quick ones first, all in one process. A mutant
that no test notices is printed as alive; the last lines count by room.

Outcomes are kept in target/mutants/python: another run goes on, and asks again only of what was alive.
"""

import argparse
import ast
import compileall
import functools
import hashlib
import json
import math
import os
import shutil
import sys
import time
import tomllib
import warnings
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from py_compile import PycInvalidationMode
from typing import Any

from cosmic_ray.ast import get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from coverage import CoverageData
from coverage.exceptions import CoverageException
from outcome import EQUIVALENT, Mutant, summary
from tree import failed

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
#: Operators that are left out: nobody slips so, and the last needs arguments.
LEFT_OUT = ("Bit", "Shift", "RemoveDecorator", "core/Variable")
#: Processor time in which the lines of a test file are noted; later tests of it are not asked.
NOTING_S = 240.0
#: Processor time that pytest and the imports may take; tests take at most so many times what they did.
START_S, LIMIT = 20.0, 2.0
#: Longer than the tests of a mutant ever take, also beside other work.
PATIENCE_S = 400.0
OUTPUT = ROOT / "target" / "mutants" / "python"
#: The package as it is, whose lines are noted, and with a mutant.
COPY, MUTATED = OUTPUT / "copy", OUTPUT / "mutated"


def main() -> int:
    """Draw and test the sample."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seed", required=True, help="of the draw: the first digits of a commit")
    parser.add_argument("--count", type=int, default=60, help="mutants (default: 60)")
    parser.add_argument("--only", default="", help="only mutants whose name contains this")
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="processor time of a mutant's tests (default: 20)"
    )
    parser.add_argument("--minutes", type=float, default=math.inf, help="begin no mutant after this time")
    parser.add_argument("--list", action="store_true", help="show the sample, and test nothing")
    arguments = parser.parse_args()
    config = tomllib.loads((HERE / "mutants.toml").read_text())
    outcomes: dict[Mutant, str] = {}
    ends = time.monotonic() + 60 * arguments.minutes
    sample = _draw(arguments.seed, arguments.count, **config["python"]["drawn"])
    if arguments.list:
        print("\n".join(mutant.name for mutant, _ in sample))
        return 0
    _copy(COPY)
    _copy(MUTATED)
    journal = OUTPUT / f"{arguments.seed}.json"
    killed: dict[str, str] = json.loads(journal.read_text()) if journal.exists() else {}
    for mutant, text in sample:
        if arguments.only not in mutant.name:
            continue
        if time.monotonic() > ends:
            print(f"the time is over: {len(outcomes)} of {arguments.count} were tested")
            break
        by, asked = killed.get(mutant.name), 0
        if by is None and mutant.name not in config[EQUIVALENT]:
            tests, seconds = _reaching(mutant, config["python"]["left_out"], arguments.seconds)
            by, asked = _notices(mutant, text, tests, START_S + LIMIT * seconds), len(tests)
            if by:
                killed[mutant.name] = by
                journal.write_text(json.dumps(killed, indent=1))
        outcomes[mutant] = by or "alive"
        print(f"{'killed' if by else 'alive':<8} {mutant.name} ({by or f'{asked} tests'})", flush=True)
    return summary(outcomes, config)


def _draw(seed: str, count: int, rooms: list[str], without: list[str]) -> list[tuple[Mutant, str]]:
    """Return `count` mutants that compile, with the text of their file."""
    found = []
    for path in sorted((ROOT / "python/cogtcp").rglob("*.py")):
        file = str(path.relative_to(ROOT))
        inside = file.removeprefix("python/cogtcp/")
        if inside.startswith(tuple(rooms)) and not inside.startswith(tuple(without)):
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
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            compile(source, "mutant", "exec")
        except (SyntaxError, SyntaxWarning):
            return False
    return True


def _copy(folder: Path) -> None:
    """Copy the package; everything else is a link."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(ROOT / "python", folder / "python", ignore=shutil.ignore_patterns("__pycache__"))
    # By its hash: a mutant may have the size and the second of the file that was compiled.
    compileall.compile_dir(folder / "python", quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
    for path in ROOT.iterdir():
        if path.name not in ("python", ".git", "target"):
            (folder / path.name).symlink_to(path)


def _reaching(mutant: Mutant, left_out: Iterable[str], most: float) -> tuple[list[str], float]:
    """Return the tests that run the mutant's line, the quick ones first, of at most so many s, and the sum.

    Then come the others of their files: what a fixture runs counts to the first test that asks for it.
    Of a line that is run on import, the tests that run a function of the file.
    """
    source = (ROOT / mutant.file).read_text()
    inner = _inner(source)
    lines = set(_statement(source, int(mutant.name.split(":")[1])))
    if not lines & inner:
        lines = inner
    reach: list[tuple[bool, float, str]] = []
    for path in sorted((ROOT / "tests").glob("test_*.py")):
        if path.name.startswith(tuple(left_out)):
            continue
        folder = _noted(path.name, left_out)
        data = CoverageData(str(folder / "lines"))
        data.read()
        by_line = data.contexts_by_lineno(str(COPY / mutant.file))
        contexts = {context for line in lines for context in by_line.get(line, [])}
        told = [json.loads(line) for line in (folder / "tests").read_text().splitlines()]
        if contexts or not inner:
            reach += [(t["id"] not in contexts, t["seconds"], t["id"]) for t in told if t["passed"]]
    asked: list[str] = []
    total = 0.0
    for _, seconds, test in sorted(reach):
        if asked and total + seconds > most:
            break
        total += seconds
        asked.append(test)
    # A file's tests in a row share what its fixtures make.
    first = {test.partition("::")[0]: number for number, test in reversed(list(enumerate(asked)))}
    return sorted(asked, key=lambda test: first[test.partition("::")[0]]), total


def _inner(source: str) -> set[int]:
    """Return the lines within functions."""
    inner: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            inner.update(range(node.body[0].lineno, (node.end_lineno or node.lineno) + 1))
    return inner


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


def _noted(test: str, left_out: Iterable[str]) -> Path:
    """Return the folder with the lines of each test of a file but some, noted unless they are known."""
    stamp = _package().copy()
    stamp.update((ROOT / "tests" / test).read_bytes())
    folder = OUTPUT / "reach" / test
    known = folder / "stamp"
    if not known.exists() or known.read_text() != stamp.hexdigest():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "tests").touch()
        more = {"COGTCP_REACH": str(folder), "COGTCP_REACH_OF": str(COPY / "python" / "cogtcp")}
        arguments = [
            "-p",
            "python_reach",
            f"tests/{test}",
            *(f"--deselect=tests/{each}" for each in left_out),
        ]
        why, seconds = _run(COPY, arguments, NOTING_S, more)
        number = len((folder / "tests").read_text().splitlines())
        print(f"{test}: {number} tests, {seconds:.0f} s{f', {why}' if why else ''}", flush=True)
        _merge(folder)
        known.write_text(stamp.hexdigest())
    return folder


@functools.cache
def _package() -> Any:
    """Return the hash of the package's files."""
    stamp = hashlib.sha256()
    for path in sorted((ROOT / "python").rglob("*.py")):
        stamp.update(path.read_bytes())
    return stamp


def _merge(folder: Path) -> None:
    """Put together what the processes of a test file noted."""
    data = CoverageData(str(folder / "lines"))
    data.read()
    for path in folder.glob("children.*"):
        with suppress(CoverageException):  # of a process that was killed
            child = CoverageData(str(path))
            child.read()
            data.update(child)
        path.unlink()


def _notices(mutant: Mutant, text: str, asked: list[str], most: float) -> str | None:
    """Write the mutant, and run tests until one fails; return which (`None`: all passed)."""
    target = MUTATED / mutant.file
    source = target.read_text()
    while asked:
        target.write_text(text)
        why, _ = _run(MUTATED, ["-x", *asked], most, {})
        target.write_text(source)
        if why is None:
            return None
        noted = MUTATED / "cache/v/cache/lastfailed"
        failing = next(iter(json.loads(noted.read_text())), "") if noted.exists() else ""
        # It may fail without the mutant, as those do that depend on the test before.
        alone = [failing] if failing else asked
        passes = _run(MUTATED, ["-x", *alone], most, {})[0] is None
        target.write_text(text)
        fails = passes and (not failing or _run(MUTATED, ["-x", *alone], most, {})[0] is not None)
        target.write_text(source)
        if fails:
            return failing or why
        print(f"left out: {failing or 'all tests'} for {mutant.name}", flush=True)
        asked = [test for test in asked if test != failing] if failing else []
    return None


def _run(copy: Path, arguments: list[str], seconds: float, more: dict[str, str]) -> tuple[str | None, float]:
    # The plugin needs coverage; what else lies beside it may be of other versions than ours.
    paths = [copy / "python", *([ROOT / ".venv/mutants", HERE] if more else [])]
    environment = os.environ | {"PYTHONPATH": ":".join(map(str, paths))} | more
    shutil.rmtree(copy / "cache", ignore_errors=True)
    command = [str(ROOT / ".venv/bin/python"), "-m", "pytest", "-q", "-n", "0"]
    command += ["-o", f"cache_dir={copy / 'cache'}", f"--basetemp={copy / 'base'}", *arguments]
    return failed(command, copy, environment, seconds, None if more else PATIENCE_S)


if __name__ == "__main__":
    sys.exit(main())
