"""Would the tests of the Python package notice? The same as mutants.py, for the files that judge results.

    benches/mutants/python_mutants.py draw [--each N]
    benches/mutants/python_mutants.py run [--only TEXT]

cosmic-ray (`pip install cosmic-ray`, and run this with that Python) makes the mutants. `draw` takes N of each
file, by a hash of the seed and of the mutant, and writes python.txt: a line for each, with file, operator,
occurrence and what it changes. `run` tests them in a copy of the sources, by the tests named here, and exits
with 1 if the share killed of a file is below the threshold. What the code has lost does not count. The tests
must pass on the sources as they are, or nothing is run: a test that fails anyway would kill every mutant.
"""

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from cosmic_ray.ast import get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SAMPLE = HERE / "python.txt"
SEED = 9
THRESHOLD = 0.85

#: Files, and the tests that should notice.
FILES = {
    "model/metrics/metric.py": ["test_metrics.py"],
    "model/metrics/run.py": ["test_metrics.py"],
    "model/metrics/subjects.py": ["test_metrics_of_subjects.py"],
    "model/statistics.py": ["test_statistics.py"],
    "studies/verdicts.py": ["test_studies_verdicts.py", "test_studies_statements.py", "test_levels.py"],
    "running/compare.py": ["test_compare.py", "test_newcomers.py"],
}

#: Mutants that no test can tell from the code, and why: file, line's text after the change.
EQUIVALENT: dict[tuple[str, str], str] = {
    (
        "running/compare.py",
        "if len(set(chosen)) != len(chosen):",
    ): "a set is never larger than what it is made of",
}

# Whoever writes a bit operator by a slip sees it at once; the last takes names as arguments.
_LEFT_OUT = re.compile(r"Bit|Shift|RemoveDecorator|core/Variable")


def main() -> int:
    """Run the verb that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    draw = verbs.add_parser("draw", help="write the sample")
    draw.add_argument("--each", type=int, default=15, help="mutants of each file (default: 15)")
    run = verbs.add_parser("run", help="test the sample")
    run.add_argument("--only", default="", help="only lines that contain this")
    arguments = parser.parse_args()
    return _draw(arguments.each) if arguments.verb == "draw" else _run(arguments.only)


def _changed(source: str, operator: str, occurrence: int) -> tuple[str, str]:
    """Return the mutant, and the first line that it changes; empty if there is no such occurrence."""
    mutant = mutate_code(source, get_operator(operator)(), occurrence)
    if not mutant:
        return "", ""
    pairs = zip(source.splitlines(), mutant.splitlines(), strict=False)
    return mutant, next((after.strip() for before, after in pairs if before != after), "")


def _draw(each: int) -> int:
    lines = []
    for file in FILES:
        path = ROOT / "python/cogtcp" / file
        source = path.read_text()
        tree = get_ast(source)
        found = []
        for operator in operator_names():
            if _LEFT_OUT.search(operator):
                continue
            made = get_operator(operator)()
            count = sum(1 for node in _nodes(tree) for _ in made.mutation_positions(node))
            found += [(operator, occurrence) for occurrence in range(count)]
        by_hash = sorted(found, key=lambda it: hashlib.sha256(f"{SEED} {file} {it}".encode()).digest())
        drawn = []
        for operator, occurrence in by_hash:
            mutant, text = _changed(source, operator, occurrence)
            if len(drawn) < each and _compiles(mutant):
                drawn.append(f"{file}\t{operator}\t{occurrence}\t{text}")
        lines += drawn
    SAMPLE.write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} mutants in {SAMPLE}")
    return 0


def _compiles(source: str) -> bool:
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True


def _nodes(node: object) -> list[object]:
    return [node, *(deeper for child in getattr(node, "children", []) for deeper in _nodes(child))]


def _run(only: str) -> int:
    tested: Counter[str] = Counter()
    killed: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        shutil.copytree(ROOT / "python", copy / "python")
        for path in ROOT.iterdir():
            if path.name not in ("python", ".git"):
                (copy / path.name).symlink_to(path)
        limits: dict[str, float] = {}
        for line in SAMPLE.read_text().splitlines():
            file, operator, occurrence, text = line.split("\t")
            if only not in line or (file, text) in EQUIVALENT:
                continue
            target = copy / "python/cogtcp" / file
            source = (ROOT / "python/cogtcp" / file).read_text()
            mutant, now = _changed(source, operator, int(occurrence))
            if now != text:
                print(f"gone    {line}")
                continue
            if file not in limits:
                begin = time.monotonic()
                if _notice(copy, FILES[file], 600):
                    sys.exit(f"{' '.join(FILES[file])} fail on the sources as they are; nothing was run")
                limits[file] = 60 + 5 * (time.monotonic() - begin)
            target.write_text(mutant)
            noticed = _notice(copy, FILES[file], limits[file])
            target.write_text(source)
            tested[file] += 1
            killed[file] += noticed
            print(f"{'killed ' if noticed else 'MISSED '} {line}", flush=True)
    for file, count in tested.items():
        print(f"{file}: {killed[file]} of {count} killed ({killed[file] / count:.0%})")
    return 0 if all(killed[file] >= THRESHOLD * count for file, count in tested.items()) else 1


def _notice(copy: Path, tests: list[str], limit: float) -> bool:
    """Whether some test fails, or does not end within `limit` seconds."""
    python = ROOT / ".venv/bin/python"
    environment = {**os.environ, "PYTHONPATH": str(copy / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [str(python), "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    command += [str(copy / "tests" / name) for name in tests]
    try:
        done = subprocess.run(
            command, cwd=copy, env=environment, capture_output=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


if __name__ == "__main__":
    sys.exit(main())
