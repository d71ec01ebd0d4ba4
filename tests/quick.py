"""Run the tests that a change touches, and then others, for less than a minute: `make quick`.

Rust: the unit tests of each crate with a changed file (`cargo test --lib`). Python: changed test files, then
test files that name a changed module, then all others, until the time is over. Tests that took long the last
time are left out. Python's tests run on the extension as it was built last.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: Seconds for everything. A test or a compilation that is under way may take a little more.
BUDGET = 50.0
#: Seconds that Python's tests have in any case.
LEAST = 15.0


def changed() -> list[str]:
    """Return the files that differ from the last commit; in a clean tree, from main or the commit before."""
    head = _git("diff", "--name-only", "HEAD") + _git("ls-files", "--others", "--exclude-standard")
    if head:
        return head
    return _git("diff", "--name-only", "main...HEAD") or _git("diff", "--name-only", "HEAD~1")


def crates(files: list[str]) -> list[str]:
    """Return the crates with a changed Rust file."""
    found = {match[1] for path in files if (match := re.match(r"crates/([^/]+)/.*\.rs$", path))}
    return sorted(name for name in found if (ROOT / "crates" / name / "Cargo.toml").exists())


def python_tests(files: list[str], tests: dict[str, str]) -> list[str]:
    """Return the test files (`tests` has their texts), first those that `files` touch."""
    modules = set()
    for path in files:
        if match := re.match(r"python/(cogtcp/.*)\.py$", path):
            name = match[1].removesuffix("/__init__").replace("/", ".")
            modules |= {name, name.rpartition(".")[0]} - {"cogtcp", ""}
    named = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in sorted(modules))) if modules else None

    def rank(item: tuple[str, str]) -> int:
        path, text = item
        if path in files:
            return 0
        return 1 if named and named.search(text) else 2

    return [path for path, _ in sorted(tests.items(), key=lambda item: (rank(item), len(item[1])))]


def main() -> int:
    """Run them; return the exit code of the first that fails."""
    began = time.monotonic()
    files = changed()
    for name in crates(files):
        left = BUDGET - LEAST - (time.monotonic() - began)
        command = ["cargo", "test", "--quiet", "--locked", "-p", f"cogtcp-{name}", "--lib"]
        print(" ".join(command), flush=True)
        try:
            code = subprocess.run(command, cwd=ROOT, timeout=max(left, 1.0), check=False).returncode
        except subprocess.TimeoutExpired:
            print(f"out of time: run cargo test -p cogtcp-{name} yourself", flush=True)
            continue
        if code:
            return code
    tests = {
        str(path.relative_to(ROOT)): path.read_text() for path in sorted((ROOT / "tests").glob("test_*.py"))
    }
    left = max(LEAST, BUDGET - (time.monotonic() - began))
    command = [sys.executable, "-m", "pytest", "-q", "--quick", f"{left:.0f}", *python_tests(files, tests)]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607
    return done.stdout.split() if done.returncode == 0 else []


if __name__ == "__main__":
    sys.exit(main())
