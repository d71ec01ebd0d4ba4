"""The programs of `make bpf`, which do what needs libbpf: where they are, and how they are run."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

from cogtcp._errors import RunError, UsageError

_PACKAGES = "clang libbpf-dev bpftool libelf-dev zlib1g-dev libssl-dev"
_SEARCHED = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def do(program: str, what: str, *words: str) -> str:
    """Run a program and return what it printed; `what` names its subject in messages."""
    # No shell, and the program is ours.
    done = subprocess.run([str(find(program, what)), *words], capture_output=True, text=True, check=False)  # noqa: S603
    check(program, done.returncode, done.stderr)
    return done.stdout


def check(program: str, code: int, said: str) -> None:
    """Raise what the program said on standard error, if it ended with another code than 0."""
    # The programs end with 2 where they were called wrongly, as cogtcp does.
    if code == 2:
        raise UsageError(said.strip())
    if code:
        raise RunError(said.strip() or f"{program} ended with code {code}")


def find(program: str, what: str) -> Path:
    """Return the path of a program.

    It is in the tree of the sources, where `make bpf` puts it, or else where somebody installed it.
    """
    built = Path(__file__).resolve().parents[3] / "target/bpf" / program
    found = built if built.exists() else shutil.which(program)
    if not found:
        _say_what_is_missing(what)
    return Path(found)


def _say_what_is_missing(what: str) -> NoReturn:
    if not sys.platform.startswith("linux"):
        raise RunError(f"{what} in the kernel needs Linux")
    missing = [tool for tool in ("clang", "bpftool") if not shutil.which(tool, path=_SEARCHED)]
    if not Path("/usr/include/bpf/libbpf.h").exists():
        missing.append("libbpf's headers")
    if not Path("/usr/include/openssl/hmac.h").exists():
        missing.append("OpenSSL's headers")
    lacking = f", which needs {' and '.join(missing)} (on Debian: apt install {_PACKAGES})" if missing else ""
    raise RunError(f"{what} for the kernel is not built; in the tree of cogtcp's sources: make bpf{lacking}")
