"""The kernels that were built: a folder each, with the program, its configuration and a manifest."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cogtcp._errors import NoKernelPlaneError, UsageError
from cogtcp._names import meant

if TYPE_CHECKING:
    from cogtcp.model.scenario import Scenario

#: What a kernel may be called.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")
#: From this version on Linux tunes the receive window by other rules.
_NEW_WINDOW = (6, 16)
_MANIFEST, _PROGRAM, _CONFIG, _USED = "kernel.json", "linux", "config", "used"


@dataclass(frozen=True)
class Kernel:
    """A kernel for virtual time.

    Attributes:
        name: Its name, that of its folder.
        release: Version of Linux.
        hz: Ticks a second.
        source: Where its sources came from: a package with its version, or a folder.
        source_hash: SHA-256 of the package, or of all files of the folder that are built from.
        config_hash: SHA-256 of its configuration.
        edits: Changes of ours that its tree took.
        edits_hash: SHA-256 of the script that makes them.
        compiler: The C compiler.
        program_hash: SHA-256 of the program.
        size: Size of the program, bytes.
        cpu_s: What building took, s of CPU.
        wall_s: Likewise s of wall time.
        disk: Disk that building took at most, bytes.
        built: When, UTC.
    """

    name: str
    release: str
    hz: int
    source: str
    source_hash: str
    config_hash: str
    edits: list[str]
    edits_hash: str
    compiler: str
    program_hash: str
    size: int
    cpu_s: float
    wall_s: float
    disk: int
    built: str

    @property
    def folder(self) -> Path:
        """Where it is."""
        return folder() / self.name

    @property
    def program(self) -> Path:
        """The kernel itself, which is a program."""
        return self.folder / _PROGRAM

    @property
    def identity(self) -> dict[str, str]:
        """What equal bytes of results hang on."""
        return {
            "release": self.release,
            "hz": str(self.hz),
            "program": self.program_hash[:16],
            "config": self.config_hash[:16],
            "edits": self.edits_hash[:16],
            "compiler": self.compiler,
        }

    def modelled(self, scenario: Scenario) -> Scenario:
        """Return the scenario for the simulator: see `modelled`."""
        return modelled(scenario, self.release, self.hz)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {**asdict(self), "folder": str(self.folder)}

    def write(self) -> None:
        """Write its manifest."""
        (self.folder / _MANIFEST).write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")


def modelled(scenario: Scenario, release: str, hz: int = 1000) -> Scenario:
    """Return the scenario for the simulator: Linux as in virtual time, its ticks and its receive window.

    The presets have the HZ of Debian's kernels, 250, and `window_tuning` the rules of Linux 6.16.
    """
    flows = scenario.to_dict().get("flow", [])
    if not any("linux" in str(flow["transport"]) for flow in flows):
        return scenario
    changed = scenario.set("tcp.timer_tick", f"{1000 // hz} ms").set("tcp.timer_phase", "0 s")
    found = re.match(r"(\d+)\.(\d+)", release)
    version = (int(found[1]), int(found[2])) if found else _NEW_WINDOW
    return changed.set("tcp.window_margin", value=True) if version < _NEW_WINDOW else changed


def folder() -> Path:
    """Return the folder of all kernels: `COGTCP_KERNELS`, or cogtcp's in the user's cache."""
    if given := os.environ.get("COGTCP_KERNELS"):
        return Path(given).absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "cogtcp" / "kernels"


def kernels() -> list[Kernel]:
    """Return all that were built, by name."""
    found = []
    if folder().is_dir():
        for manifest in sorted(folder().glob(f"*/{_MANIFEST}")):
            if (manifest.parent / _PROGRAM).is_file() and not manifest.parent.name.startswith("."):
                found.append(_read(manifest))
    return found


def _read(manifest: Path) -> Kernel:
    try:
        said = json.loads(manifest.read_text(encoding="utf-8"))
        known = {field.name for field in fields(Kernel)}
        return Kernel(**{**{name: said[name] for name in known}, "name": manifest.parent.name})
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{manifest}: cannot be read ({error}); remove the folder and build the kernel again: make kernel"
        ) from None


def used() -> str | None:
    """Return the name of the kernel that is used where none is named; None: there is none."""
    names = [kernel.name for kernel in kernels()]
    file = folder() / _USED
    chosen = file.read_text(encoding="utf-8").strip() if file.is_file() else ""
    return chosen if chosen in names else next(iter(names), None)


def find(name: str | None = None) -> Kernel:
    """Return a kernel by its name, or the kernel in use where none is named.

    Raises:
        NoKernelPlaneError: None is built.
        UsageError: None has this name.
    """
    known = {kernel.name: kernel for kernel in kernels()}
    if not known:
        raise NoKernelPlaneError(
            f"no kernel for virtual time is built ({folder()}); build one: make kernel, in the tree of "
            "cogtcp's sources, or: cogtcp kernel build"
        )
    chosen = name or used() or ""
    if chosen not in known:
        guess = meant(chosen, list(known))
        hint = f"{guess}; " if guess else ""
        raise UsageError(f'no kernel is called "{chosen}"; {hint}built: {", ".join(known)}')
    return known[chosen]


def use(name: str) -> Kernel:
    """Use this kernel where none is named."""
    kernel = find(name)
    (folder() / _USED).write_text(f"{name}\n", encoding="utf-8")
    return kernel


def remove(name: str) -> Kernel:
    """Remove a kernel; return what it was."""
    kernel = find(name)
    shutil.rmtree(kernel.folder)
    return kernel
