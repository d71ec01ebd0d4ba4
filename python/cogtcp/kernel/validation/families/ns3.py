"""ns-3 as PyPI has it: a program of ours built against its libraries, once for each validation."""

from __future__ import annotations

import atexit
import importlib.util
import shutil
import subprocess
import tempfile
import threading
from functools import cache
from importlib import resources
from pathlib import Path

from cogtcp.kernel.validation.families.family import NoEvidenceError

#: Our programs, with the libraries that each is linked with.
_PROGRAMS = {
    "stations-ns3": ("wifi", "propagation", "mobility", "network", "core"),
    "dumbbell-ns3": ("applications", "traffic-control", "point-to-point", "internet", "network", "core"),
    "cell-ns3": ("lte", "point-to-point", "applications", "internet", "mobility", "network", "core"),
}
_PATIENCE_S = 600
_BUILDING = threading.Lock()


def why_no_ns3() -> str | None:
    """Return why ns-3 cannot be run here; None: it can."""
    if _package() is None:
        return "the package ns3 is not installed (pip install --no-deps ns3)"
    if not shutil.which("g++"):
        return "g++ is needed to build a program for ns-3"
    return None


def run_ns3(name: str, *words: object) -> list[list[str]]:
    """Run one of our programs in ns-3 and return the words of each line that it prints."""
    # Runs begin side by side, and the first of them builds it.
    with _BUILDING:
        program = _program(name)
    try:
        done = subprocess.run(  # noqa: S603 - built of our own source
            [str(program), *map(str, words)],
            capture_output=True,
            check=True,
            text=True,
            timeout=_PATIENCE_S,
        )
    except subprocess.CalledProcessError as error:
        raise NoEvidenceError(
            f"ns-3 ended with code {error.returncode}: {error.stderr.strip()[-200:]}"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise NoEvidenceError(f"ns-3 took longer than {_PATIENCE_S} s") from error
    return [line.split() for line in done.stdout.splitlines()]


def _package() -> Path | None:
    spec = importlib.util.find_spec("ns3")
    places = [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    return next((place for place in places if (place / "lib64").is_dir()), None)


@cache
def _program(name: str) -> Path:
    package = _package()
    if package is None:
        raise NoEvidenceError("the package ns3 is not installed")
    folder = Path(tempfile.mkdtemp(prefix="cogtcp-ns3-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    libraries, program = package / "lib64", folder / name
    found = [str(next(libraries.glob(f"libns3.*-{part}.so"))) for part in _PROGRAMS[name]]
    flags = [
        "-std=c++20",
        "-O1",
        f"-I{package / 'include'}",
        f"-Wl,-rpath,{libraries},-rpath-link,{libraries}",
        # A library that ours drags along wants GTK, which no program of ours calls.
        "-Wl,--unresolved-symbols=ignore-in-shared-libs",
        # A function of ours may stand before one of the libraries.
        "-rdynamic",
    ]
    source = str(resources.files("cogtcp.kernel.validation").joinpath(f"ns3/{name}.cc"))
    compiler = shutil.which("g++") or "g++"
    done = subprocess.run(  # noqa: S603 - our own source
        [compiler, *flags, source, *found, "-o", str(program)], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise NoEvidenceError(f"the program for ns-3 cannot be built: {done.stderr.strip()[-300:]}")
    return program
