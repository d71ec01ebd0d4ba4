"""The Rust tests of the copy: which of them reach a mutant, and whether one of those notices it."""

import json
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from sites import OUTPUT
from tree import TREE, environment, failed

CACHE = OUTPUT / "rust-tests.json"
#: Processor time of the tests that are run together, in one process.
BATCH_S = 0.2


@dataclass(frozen=True)
class Test:
    """A test function of a test program."""

    program: str
    folder: str
    name: str
    seconds: float


def build(selected: list[str]) -> list[tuple[str, str]]:
    """Build the test programs that cargo selects; return each with the folder that its tests run in."""
    command = ["cargo", "test", "--no-run", "--message-format=json", "--quiet", *selected]
    done = subprocess.run(command, cwd=TREE, env=environment(), stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise SystemExit("the tests do not compile with the mutants in the copy")
    programs = []
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message["reason"] == "compiler-artifact" and message["executable"] and message["profile"]["test"]:
            programs.append((message["executable"], str(Path(message["manifest_path"]).parent)))
    return sorted(programs)


def reached(programs: list[tuple[str, str]]) -> dict[int, list[Test]]:
    """Run each test by itself, and return those that reach a mutant, the quick ones first.

    What a program told is kept until it is built again.
    """
    known = json.loads(CACHE.read_text()) if CACHE.exists() else {}
    note = OUTPUT / "reached.txt"
    by_number: dict[int, list[Test]] = defaultdict(list)
    kept = {}
    for program, folder in programs:
        stamp = Path(program).stat().st_mtime_ns
        told = known.get(program)
        if told is None or told["stamp"] != stamp:
            told = {"stamp": stamp, "tests": {}}
            for name in _names(program, folder):
                note.unlink(missing_ok=True)
                env = _environment(folder, COGTCP_MUTANTS_REACHED=str(note))
                why, seconds = failed([program, "--exact", name], Path(folder), env, 600)
                found = sorted({int(line) for line in note.read_text().split()}) if note.exists() else []
                if why is not None:
                    print(f"left out: {name} of {Path(program).name} {why} without any mutant", flush=True)
                    found = []
                told["tests"][name] = [seconds, found]
        kept[program] = told
        CACHE.write_text(json.dumps(known | kept))
        for name, (seconds, found) in told["tests"].items():
            for number in found:
                by_number[number].append(Test(program, folder, name, seconds))
    return by_number


def notices(number: int, crate: str, tests: list[Test], most: float) -> str | None:
    """Run the tests with mutant `number` of `crate` on until some fail; return which.

    The tests of the crate come first, then the quick ones. Those that would take longer than `most` seconds
    of processor time in all are left out.
    """
    by_program: dict[str, list[Test]] = defaultdict(list)
    for test in sorted(tests, key=lambda test: test.seconds):
        by_program[test.program].append(test)
    batches: list[list[Test]] = []
    for of_program in by_program.values():
        cost = BATCH_S
        for test in of_program:
            if cost + test.seconds > BATCH_S:
                batches.append([])
                cost = 0.0
            batches[-1].append(test)
            cost += test.seconds

    def order(batch: list[Test]) -> tuple[bool, float]:
        return Path(batch[0].folder).name != crate, batch[-1].seconds

    spent = 0.0
    for batch in sorted(batches, key=order):
        first = batch[0]
        names = [test.name for test in batch]
        cost = sum(test.seconds for test in batch)
        spent += cost
        if spent > most:
            break
        seconds = 5 + 5 * cost
        env = _environment(first.folder, COGTCP_MUTANT=str(number))
        why, _ = failed(
            [first.program, "--exact", *names, "--test-threads=2"], Path(first.folder), env, seconds
        )
        if why is not None:
            which = names[0] if len(names) == 1 else f"one of {len(names)}"
            return f"{Path(first.program).name.rsplit('-', 1)[0]}: {which} {why}"
    return None


def _names(program: str, folder: str) -> list[str]:
    def listed(*options: str) -> list[str]:
        command = [program, "--list", "--format=terse", *options]
        env = _environment(folder)
        done = subprocess.run(command, cwd=folder, env=env, check=True, capture_output=True, text=True)
        return [line.removesuffix(": test") for line in done.stdout.splitlines() if line.endswith(": test")]

    ignored = set(listed("--ignored"))
    return [name for name in listed() if name not in ignored]


def _environment(folder: str, **more: str) -> dict[str, str]:
    return environment(CARGO_MANIFEST_DIR=folder, **more)
