"""The tests of the Python package in the copy: which of them reach a mutant, and whether one notices it."""

import hashlib
import json
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass

from sites import HERE, OUTPUT, ROOT
from tree import TREE, environment, failed

CACHE = OUTPUT / "python-tests.json"
PYTHON = ROOT / ".venv" / "bin" / "python"
#: Tests of a mutant are run until they took this by themselves, the quickest first.
MOST_S = 60.0


@dataclass(frozen=True)
class Test:
    """A Python test by pytest's name for it."""

    name: str
    seconds: float


def reached(files: list[str]) -> dict[int, list[Test]]:
    """Build the extension, run the tests of `files`, and return who reaches a mutant, quick ones first."""
    command = ["cargo", "build", "--package=cogtcp-binding", "--lib", "--profile=test", "--quiet"]
    subprocess.run(command, cwd=TREE, env=environment(), check=True)
    library = OUTPUT / "switched-build" / "debug" / "lib_core.so"
    extension = TREE / "python" / "cogtcp" / "_core.abi3.so"
    if not extension.exists() or extension.read_bytes() != library.read_bytes():
        extension.unlink(missing_ok=True)
        extension.write_bytes(library.read_bytes())
    sources = hashlib.sha256(extension.read_bytes())
    for source in sorted((TREE / "python").rglob("*.py")):
        sources.update(source.read_bytes())
    known = json.loads(CACHE.read_text()) if CACHE.exists() else {}
    by_number: dict[int, list[Test]] = defaultdict(list)
    kept = {}
    for file in files:
        stamp = hashlib.sha256(sources.digest() + (TREE / "tests" / file).read_bytes()).hexdigest()
        told = known.get(file)
        if told is None or told["stamp"] != stamp:
            told = {"stamp": stamp, "tests": _record(file)}
        kept[file] = told
        CACHE.write_text(json.dumps(known | kept))
        for name, (seconds, found) in told["tests"].items():
            for number in found:
                by_number[number].append(Test(name, seconds))
    for tests in by_number.values():
        tests.sort(key=lambda test: test.seconds)
    return by_number


def notices(number: int, tests: list[Test]) -> str | None:
    """Run the tests with mutant `number` on until one fails; return how many they were."""
    chosen, seconds = [], 0.0
    for test in tests:
        seconds += test.seconds
        if chosen and seconds > MOST_S:
            break
        chosen.append(test.name)
    if not chosen:
        return None
    command = [*_pytest(), "--exitfirst", *chosen]
    env = environment(COGTCP_MUTANT=str(number))
    why, _ = failed(command, TREE, env, 60 + 10 * seconds)
    return None if why is None else f"pytest: one of {len(chosen)} {why}"


def _pytest() -> list[str]:
    return [str(PYTHON), "-m", "pytest", "-q", "-p", "no:cacheprovider"]


def _record(file: str) -> dict[str, list[object]]:
    """Run the tests of a file; return seconds and mutants reached of each that passes."""
    told = OUTPUT / "reached.json"
    told.unlink(missing_ok=True)
    env = environment(COGTCP_MUTANTS_REACHED=str(OUTPUT / "reached.txt"), COGTCP_MUTANTS_TOLD=str(told))
    env["PYTHONPATH"] += f":{HERE}"
    command = [*_pytest(), "-p", "reached_plugin", f"tests/{file}"]
    why, _ = failed(command, TREE, env, 1800)
    tests = json.loads(told.read_text()) if told.exists() else {}
    passed = {name: [seconds, found] for name, (seconds, found, ok) in tests.items() if ok}
    print(f"{file}: {len(passed)} of {len(tests)} tests serve", file=sys.stderr, flush=True)
    if why is not None and not tests:
        print(f"{file}: left out, as pytest {why}", file=sys.stderr, flush=True)
    return passed
