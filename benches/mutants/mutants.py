"""Would the tests notice? Draw a sample of small semantic changes (mutants), and test each of them.

    benches/mutants/mutants.py draw CRATE [--one-in N]
    benches/mutants/mutants.py run [CRATE ...] [--only TEXT] [--missed]

cargo-mutants (`cargo install cargo-mutants --locked`) lists the mutants of a crate. `draw` takes one in N
of each file's, at least one, by a hash of the crate's seed and of what the mutant changes, and writes
CRATE.txt: the sample is drawn once and committed. It names a mutant by its file, its change and, where that
occurs more than once, its rank there, so that it survives changes elsewhere in the file.

`run` tests the sample by the tests that mutants.toml names, in a copy of the sources, and exits with 1 if the
share killed is below the crate's threshold; with `--missed` only the mutants that the run before left alive.
Mutants that the code has lost are listed and do not count; nor do those that mutants.toml calls equivalent,
each with the reason.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OUTPUT = ROOT / "target" / "mutants"


def main() -> int:
    """Run the verb that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    draw = verbs.add_parser("draw", help="write the sample of a crate")
    draw.add_argument("crate")
    draw.add_argument("--one-in", type=int, default=75, help="of so many mutants of a file one (default: 75)")
    run = verbs.add_parser("run", help="test the sample of each crate")
    run.add_argument("crates", nargs="*", help="default: every crate of mutants.toml")
    run.add_argument("--only", default="", help="only mutants whose name contains this")
    run.add_argument("--missed", action="store_true", help="only mutants that the run before left alive")
    arguments = parser.parse_args()
    config = tomllib.loads((HERE / "mutants.toml").read_text())
    if arguments.verb == "draw":
        return _draw(arguments.crate, config[arguments.crate], arguments.one_in)
    crates = arguments.crates or list(config)
    unknown = set(crates) - set(config)
    if unknown:
        parser.error(f"not in mutants.toml: {', '.join(sorted(unknown))}")
    results = [_run(crate, config[crate], arguments) for crate in crates]
    return 0 if all(results) else 1


def _list(crate: str) -> dict[str, dict[str, Any]]:
    """List the mutants as cargo-mutants describes them, by their names without line and column."""
    command = ["cargo", "mutants", "--package", crate, "--list", "--json"]
    listed = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    seen: Counter[str] = Counter()
    mutants = {}
    for mutant in listed:
        name = re.sub(r":\d+:\d+:", ":", mutant["name"], count=1).removeprefix("crates/")
        seen[name] += 1
        mutants[name if seen[name] == 1 else f"{name} #{seen[name]}"] = mutant
    return mutants


def _draw(crate: str, settings: dict[str, Any], one_in: int) -> int:
    by_file: dict[str, list[str]] = {}
    for name in _list(crate):
        by_file.setdefault(name.split(":")[0], []).append(name)
    sample = []
    for names in by_file.values():
        rank = {name: hashlib.sha256(f"{settings['seed']} {name}".encode()).hexdigest() for name in names}
        sample += sorted(sorted(names, key=rank.__getitem__)[: -(-len(names) // one_in)])
    (HERE / f"{crate}.txt").write_text("".join(f"{name}\n" for name in sample))
    print(f"{crate}: {len(sample)} of {sum(map(len, by_file.values()))} mutants in {len(by_file)} files")
    return 0


def _run(crate: str, settings: dict[str, Any], arguments: argparse.Namespace) -> bool:
    sample = (HERE / f"{crate}.txt").read_text().splitlines()
    equivalent = settings.get("equivalent", {})
    stray = set(equivalent) - set(sample)
    if stray:
        print(f"{crate}: called equivalent but not in the sample: {sorted(stray)}")
        return False
    before = OUTPUT / f"{crate}.missed.txt"
    if arguments.missed:
        sample = [name for name in sample if name in before.read_text().splitlines()]
    known = _list(crate)
    gone = [name for name in sample if name not in known]
    wanted = [name for name in sample if name in known and name not in equivalent and arguments.only in name]
    outcomes: dict[str, list[str]] = {"killed": [], "alive": [], "unviable": []}
    tree = _copy()
    test = [
        "cargo",
        "test",
        "--quiet",
        *(f"--package={package}" for package in settings.get("test_packages", [crate])),
    ]
    # A stage is built only if those before noticed nothing: unit tests notice most, others take long to link.
    stages = [[*test, *stage] for stage in settings.get("stages", [["--lib"], ["--tests"]])]
    if any(_command(stage, tree, 3600) != 0 for stage in stages):
        print(f"{crate}: the tests fail without any mutant")
        return False
    for name in wanted:
        _patch(tree, known[name])
        try:
            outcome = _test(tree, stages, settings.get("timeout_s", 120))
        finally:
            _patch(tree, known[name], "--reverse")
        outcomes[outcome].append(name)
        print(f"{outcome:<8} {name}", flush=True)
    before.write_text("".join(f"{name}\n" for name in outcomes["alive"]))
    tested = len(outcomes["killed"]) + len(outcomes["alive"])
    share = len(outcomes["killed"]) / max(tested, 1)
    print(
        f"{crate}: {len(outcomes['killed'])} of {tested} killed: {share:.0%},"
        f" {settings['threshold']:.0%} wanted"
    )
    print(
        f"{len(equivalent)} are equivalent, {len(outcomes['unviable'])} do not compile, {len(gone)} are gone"
    )
    for name in gone:
        print(f"gone     {name}")
    return bool(share >= settings["threshold"])


def _test(tree: Path, stages: list[list[str]], seconds: float) -> str:
    for stage in stages:
        if _command([*stage, "--no-run"], tree, 3600) != 0:
            return "unviable"
        if _command(stage, tree, seconds) != 0:
            return "killed"
    return "alive"


def _copy() -> Path:
    """Copy the sources as they are beside the build, which is used again."""
    tree = OUTPUT / "tree"
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    files = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, files):
        source, copy = ROOT / name, tree / name
        if not source.is_file() or (copy.is_file() and copy.read_bytes() == source.read_bytes()):
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
    return tree


def _patch(tree: Path, mutant: dict[str, Any], *options: str) -> None:
    # The diff names the change where the name of the new file belongs.
    diff = re.sub(r"^\+\+\+ .*$", f"+++ {mutant['file']}", mutant["diff"], count=1, flags=re.MULTILINE)
    # Without the ceiling git takes the paths for those of the repository around the copy.
    environment = os.environ | {"GIT_CEILING_DIRECTORIES": str(OUTPUT)}
    command = ["git", "apply", "-p0", *options, "-"]
    subprocess.run(command, cwd=tree, env=environment, input=diff, text=True, check=True)


def _command(command: list[str], tree: Path, seconds: float) -> int | None:
    """Return the command's exit code in `tree`; `None` if it takes longer."""
    # Many builds, each of them used once.
    environment = os.environ | {"CARGO_TARGET_DIR": str(OUTPUT / "build"), "CARGO_PROFILE_TEST_DEBUG": "0"}
    environment |= {"CARGO_PROFILE_TEST_OPT_LEVEL": "1", "CARGO_INCREMENTAL": "1"}
    with subprocess.Popen(
        command,
        cwd=tree,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None


if __name__ == "__main__":
    sys.exit(main())
