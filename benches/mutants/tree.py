"""A copy of the sources with mutants in it, and the commands that are run there."""

import json
import math
import os
import resource
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

from sites import HERE, OUTPUT, ROOT, Site, numbers_at, switched

TREE = OUTPUT / "switched"
#: Bytes of address space: a mutant that never ends may also take more and more memory.
MEMORY = 8 << 30


def environment(**more: str) -> dict[str, str]:
    """Return the environment of builds and tests in the copy."""
    build = {
        "CARGO_TARGET_DIR": str(OUTPUT / "switched-build"),
        "CARGO_PROFILE_TEST_DEBUG": "0",
        "CARGO_PROFILE_DEV_DEBUG": "0",
        "CARGO_INCREMENTAL": "0",
    }
    return os.environ | build | more


def write(sites: list[Site], crates: list[str]) -> None:
    """Write the copy: the mutant at index n of `sites` is number n."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    files = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    by_file: dict[str, list[tuple[int, Site]]] = {}
    for number, site in enumerate(sites):
        by_file.setdefault(site.file, []).append((number, site))
    wanted = set()
    for name in filter(None, files):
        source, copy = ROOT / name, TREE / name
        if source.is_symlink():
            if not copy.is_symlink():
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.symlink_to(source.readlink())
        elif source.is_file():
            content = source.read_bytes()
            if name in by_file:
                content = switched(content, by_file[name])
            elif name in {f"crates/{crate}/Cargo.toml" for crate in crates}:
                content = content.replace(
                    b"\n[dependencies]\n", b'\n[dependencies]\ncogtcp-mutant = { path = "../mutant" }\n'
                )
            _put(copy, content)
        wanted.add(copy)
    for name in ("Cargo.toml", "src/lib.rs"):
        content = (HERE / "switch" / name).read_bytes().replace(b"\n[workspace]\n", b"")
        _put(TREE / "crates" / "mutant" / name, content)
    for old in TREE.glob("crates/*/**/*"):
        if old.is_file() and old not in wanted and not old.is_relative_to(TREE / "crates" / "mutant"):
            old.unlink()


def _put(copy: Path, content: bytes) -> None:
    # What stays as it is is not built again.
    if not copy.is_file() or copy.read_bytes() != content:
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(content)


def viable(sites: list[Site], crates: list[str]) -> list[Site]:
    """Write the copy without the mutants that do not compile; return those that do."""
    while True:
        write(sites, crates)
        command = ["cargo", "check", "--workspace", "--lib", "--keep-going", "--message-format=json"]
        # No mutants are drawn of these, and no crate needs them.
        command += ["--exclude=cogtcp-binding", "--exclude=cogtcp-emulator"]
        done = subprocess.run(command, cwd=TREE, env=environment(), capture_output=True, text=True)
        if done.returncode == 0:
            return sites
        wrong: set[int] = set()
        messages = []
        for line in done.stdout.splitlines():
            message = json.loads(line)
            if message["reason"] != "compiler-message" or message["message"]["level"] != "error":
                continue
            messages.append(message["message"]["rendered"])
            spans = message["message"]["spans"]
            # A statement that is skipped may leave a variable without a value: used elsewhere.
            for chosen in (True, False):
                at = [
                    number
                    for span in spans
                    if span["is_primary"] == chosen
                    for number in numbers_at(
                        (TREE / span["file_name"]).read_bytes(), span["byte_start"], span["byte_end"]
                    )
                ]
                wrong.update(at)
                if at:
                    break
            else:
                wrong.update(_between(spans))
        if not wrong:
            raise SystemExit(
                "\n".join(["the sources do not compile, whatever mutant", *messages, done.stderr])
            )
        sites = [site for number, site in enumerate(sites) if number not in wrong]


def _between(spans: list[dict[str, Any]]) -> list[int]:
    """Return the mutants between the places that a compiler's message names: a lock that is not dropped."""
    found: list[int] = []
    for name in sorted({span["file_name"] for span in spans}):
        own = [span for span in spans if span["file_name"] == name]
        start = min(span["byte_start"] for span in own)
        end = max(span["byte_end"] for span in own)
        found += numbers_at((TREE / name).read_bytes(), start, end)
    return found


def failed(
    command: list[str], cwd: Path, env: dict[str, str], seconds: float, patience: float | None = None
) -> tuple[str | None, float]:
    """Run a test; return why it failed (`None`: it passed), and the processor time that it took.

    A test that takes more than `seconds` of processor time has failed: load on the machine makes none fail.
    One that waits is ended after `patience` seconds.
    """

    def bounded() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), math.ceil(seconds) + 5))

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=bounded,
    ) as process:
        try:
            code = process.wait(patience or 300 + 30 * seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            code = -signal.SIGXCPU
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    ended = code in (-signal.SIGXCPU, -signal.SIGKILL)
    return (None if code == 0 else "does not end" if ended else "fails"), spent


def clean() -> None:
    """Remove the copy and what was built of it."""
    for folder in (TREE, OUTPUT / "switched-build"):
        shutil.rmtree(folder, ignore_errors=True)
