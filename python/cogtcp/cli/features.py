"""What this installation can do: its extras, where a scenario can run, the engine of the lab's page."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from importlib import metadata, resources
from pathlib import Path

from cogtcp._errors import CogtcpError

_REQUIRED = re.compile(r"([\w.-]+).*; *extra *== *['\"]([\w-]+)['\"]")


@dataclass(frozen=True)
class Feature:
    """A part that an installation may lack.

    Attributes:
        name: Its name; of an extra, the extra's.
        available: Whether it is there.
        detail: What was found; where it is missing, how to get it.
    """

    name: str
    available: bool
    detail: str


def features() -> list[Feature]:
    """Return all features, the extras first. Nothing is loaded or started."""
    return [*_extras(), _kernel_plane(), _virtual_time(), _page_engine()]


def _extras() -> list[Feature]:
    packages: dict[str, list[str]] = {}
    for required in metadata.requires("cogtcp") or ():
        if found := _REQUIRED.match(required):
            packages.setdefault(found[2], []).append(found[1])
    return [_extra(name, sorted(packages[name])) for name in sorted(packages)]


def _extra(name: str, packages: list[str]) -> Feature:
    found = []
    for package in packages:
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:
            return Feature(name, False, f"pip install 'cogtcp[{name}]'")
    return Feature(name, True, ", ".join(found))


def _kernel_plane() -> Feature:
    name = "kernel plane"
    if not sys.platform.startswith("linux"):
        return Feature(name, False, "needs Linux")
    try:
        with Path("/dev/net/tun").open("r+b", buffering=0):
            return Feature(name, True, "cogtcp emulate")
    except OSError as error:
        return Feature(name, False, f"/dev/net/tun cannot be opened: {error.strerror}")


def _virtual_time() -> Feature:
    from cogtcp.kernel.emulation.virtual.kernels import kernels

    name = "virtual time"
    try:
        found = ", ".join(kernel.name for kernel in kernels())
    except CogtcpError as error:
        return Feature(name, False, str(error))
    return Feature(name, bool(found), found or "cogtcp kernel build")


def _page_engine() -> Feature:
    is_there = resources.files("cogtcp.lab").joinpath("page", "cogtcp.wasm").is_file()  # lab.site is heavy
    return Feature("page engine", is_there, "WebAssembly" if is_there else "make web; cogtcp lab needs none")
