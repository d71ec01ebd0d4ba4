"""Building a kernel for virtual time, from Debian's package of sources or a tree of the user's.

Nothing of Linux is kept but the program: the tree is unpacked into a folder beside the kernels, changed by
`edits`, built, and removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cogtcp._errors import RunError, UsageError
from cogtcp.kernel.emulation.marked import end
from cogtcp.kernel.emulation.virtual import edits, kernels
from cogtcp.kernel.emulation.virtual.kernels import NAME, Kernel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: Versions of Debian's package, the preferred first.
VERSIONS = ("6.12", "6.1")
#: What building needs, and the package that has it.
_TOOLS = {
    "gcc": "gcc libc6-dev",
    "make": "make",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "xz": "xz-utils",
    "perl": "perl",
}
_FRAGMENT = Path(__file__).with_name("kernel.config")
#: What no build needs: kconfig reads its files, and nothing of it is compiled.
_LEFT_OUT = (
    *(f"*/{folder}/*.[chS]" for folder in ("drivers/gpu", "drivers/media", "drivers/infiniband", "sound")),
    *(f"*/drivers/{folder}/*.[ch]" for folder in ("net/ethernet", "net/wireless", "scsi", "staging", "iio")),
    *(
        f"*/{folder}/*.[chS]"
        for folder in ("arch/arm", "arch/arm64", "arch/mips", "arch/powerpc", "arch/s390")
    ),
    *("*/Documentation/*.rst", "*/Documentation/*.yaml", "*.dts", "*.dtsi"),
    *("*/tools/testing/*", "*/tools/perf/*", "*/.git", "*.o", "*.cmd"),
)
#: The variable by which programs of a build are known: its value is the folder.
MARK = "COGTCP_BUILD"
#: Disk that building takes, with some room.
_DISK = 1_000_000_000


@dataclass(frozen=True)
class _Source:
    """Where a tree comes from: an archive, or a folder of the user's."""

    title: str
    archive: Path | None = None
    package: Path | None = None
    tree: Path | None = None

    def content_hash(self) -> str:
        content = hashlib.sha256()
        if self.tree is None:
            content.update(self.title.encode())
            return content.hexdigest()
        return _tree_hash(self.tree)


def build(
    *,
    source: str | Path | None = None,
    version: str | None = None,
    name: str | None = None,
    hz: int = 1000,
    jobs: int | None = None,
    force: bool = False,
    told: Callable[[str], None] = lambda _: None,
) -> tuple[Kernel, bool]:
    """Build a kernel, unless the same is there; return it, and whether it was built now.

    Args:
        source: A tree of Linux, which stays as it is; by default Debian's package is used.
        version: Version of that package, "6.12" or "6.1".
        name: What to call it; by default after its version, or after the folder of `source`.
        hz: Ticks a second, to which the kernel's timers are rounded: 1000, 250 (as Debian's kernels) or 100.
        jobs: Processes of the compiler; by default as many as there are processors.
        force: Build although the same is there.
        told: Called with what is being done.

    Raises:
        UsageError: The arguments make no sense, or the tree is none of Linux.
        RunError: Something is missing, or the build failed.
    """
    if hz not in (100, 250, 1000):
        raise UsageError(f"a kernel of {hz} Hz is not known; use 1000, 250 or 100")
    if name is not None and not NAME.fullmatch(name):
        raise UsageError(f'"{name}" cannot be a name; use letters, digits and . _ + -')
    if source is not None and version is not None:
        raise UsageError("name a tree or a version of Debian's package, not both")
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        raise RunError("Linux in virtual time needs Linux on x86-64")
    tree = None if source is None else _checked(Path(source))
    _find_tools(told)
    kernels.folder().mkdir(parents=True, exist_ok=True)
    end_leftovers()
    before = shutil.disk_usage(kernels.folder()).free
    if before < _DISK:
        raise RunError(
            f"building takes {_DISK / 1e9:.1f} GB of disk for some minutes, and {kernels.folder()} has "
            f"{before / 1e9:.1f}; COGTCP_KERNELS names another folder"
        )
    with _building() as folder:
        found = _find(folder, tree, version, told)
        chosen = name or _name(found, hz)
        known = {kernel.name: kernel for kernel in kernels.kernels()}.get(chosen)
        edits_hash = _file_hash(Path(edits.__file__), edits.RANDOM, _FRAGMENT)
        wanted = (hz, found.content_hash(), edits_hash)
        if known and not force and (known.hz, known.source_hash, known.edits_hash) == wanted:
            return known, False
        made = _make(folder, found, chosen, hz, jobs or os.cpu_count() or 1, edits_hash, told)
    after = shutil.disk_usage(kernels.folder()).free
    free = f"{before / 1e9:.2f} GB free before, {after / 1e9:.2f} after"
    told(f"disk: {free}; {made.disk / 1e9:.2f} GB used meanwhile")
    return made, True


def _make(
    folder: Path, source: _Source, name: str, hz: int, jobs: int, edits_hash: str, told: Callable[[str], None]
) -> Kernel:
    begun = time.monotonic()
    spent = _children_s()
    tree = folder / "tree"
    tree.mkdir()
    told(f"unpacking {source.title}")
    _unpack(source, tree)
    release = _release(tree)
    applied = edits.apply(tree, hz)
    told(f"Linux {release}, {hz} Hz: applied {', '.join(applied)}; configuring")
    log = folder / "build.log"
    _configure(tree, log, jobs)
    told(f"compiling with {jobs} processes (7 to 9 minutes of CPU); log: {log}")
    _call(["make", "ARCH=um", f"-j{jobs}", "linux"], tree, log)
    ready = folder / "ready"
    ready.mkdir()
    program = ready / "linux"
    shutil.copy2(tree / "linux", program)
    _call(["strip", str(program)], tree, log)
    shutil.copy2(tree / ".config", ready / "config")
    disk = _size(folder)
    compiler = re.search(r'CONFIG_CC_VERSION_TEXT="(.*)"', (ready / "config").read_text())
    kernel = Kernel(
        name=name,
        release=release,
        hz=hz,
        source=source.title,
        source_hash=source.content_hash(),
        config_hash=_file_hash(ready / "config"),
        edits=applied,
        edits_hash=edits_hash,
        compiler=compiler[1] if compiler else "unknown",
        program_hash=_file_hash(program),
        size=program.stat().st_size,
        cpu_s=round(_children_s() - spent, 1),
        wall_s=round(time.monotonic() - begun, 1),
        disk=disk,
        built=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    shutil.rmtree(kernel.folder, ignore_errors=True)
    ready.rename(kernel.folder)
    kernel.write()
    return kernel


def _configure(tree: Path, log: Path, jobs: int) -> None:
    _call(["make", "ARCH=um", f"-j{jobs}", "tinyconfig"], tree, log)
    _call(["scripts/kconfig/merge_config.sh", "-m", ".config", str(_FRAGMENT)], tree, log)
    _call(["make", "ARCH=um", f"-j{jobs}", "olddefconfig"], tree, log)
    made = (tree / ".config").read_text().splitlines()
    needed = (
        "CONFIG_UML_TIME_TRAVEL_SUPPORT=y",
        "CONFIG_HOSTFS=y",
        "CONFIG_TUN=y",
        "CONFIG_HIGH_RES_TIMERS=y",
    )
    lacking = [option.partition("=")[0] for option in needed if option not in made]
    if lacking:
        raise RunError(f"this tree of Linux has no {', '.join(lacking)}; use Linux 6.1 or newer")


def _name(source: _Source, hz: int) -> str:
    if source.tree is not None:
        name = re.sub(r"[^A-Za-z0-9._+-]+", "-", source.tree.resolve().name).strip(".-_+") or "linux"
    else:
        version = re.search(r"linux-source-([\d.]+)", source.title)
        name = f"linux-{version[1] if version else 'unknown'}"
    return name[:56] if hz == 1000 else f"{name[:56]}-hz{hz}"


def _checked(tree: Path) -> Path:
    """Return a folder if it is a tree of Linux that can run in virtual time."""
    if not tree.is_dir():
        raise UsageError(f"{tree}: no such folder; name a tree of Linux's sources")
    if not (tree / "Kbuild").is_file() or not (tree / "arch/um/Kconfig").is_file():
        raise UsageError(f"{tree}: this is no tree of Linux's sources (it has no arch/um/Kconfig)")
    if "UML_TIME_TRAVEL_SUPPORT" not in (tree / "arch/um/Kconfig").read_text(errors="replace"):
        raise UsageError(
            f"{tree}: Linux {_release(tree)} has no time travel (UML_TIME_TRAVEL_SUPPORT); use 6.1 or newer"
        )
    return tree


def _release(tree: Path) -> str:
    text = (tree / "Makefile").read_text(errors="replace")
    found = [
        re.search(rf"^{name} *= *(\S*)$", text, re.MULTILINE)
        for name in ("VERSION", "PATCHLEVEL", "SUBLEVEL")
    ]
    extra = re.search(r"^EXTRAVERSION *= *(\S*)$", text, re.MULTILINE)
    return ".".join(match[1] if match else "?" for match in found) + (extra[1] if extra else "")


def _find(folder: Path, tree: Path | None, version: str | None, told: Callable[[str], None]) -> _Source:
    if tree is not None:
        return _Source(str(tree.resolve()), tree=tree)
    for wanted in VERSIONS if version is None else (version,):
        package = f"linux-source-{wanted}"
        archive = Path(f"/usr/src/{package}.tar.xz")
        if archive.is_file():
            return _Source(f"{package} {_installed(package)}", archive=archive)
        if shutil.which("apt-get"):
            told(f"asking apt for {package}")
            # Neither root nor an installation: the package is unpacked here.
            done = subprocess.run(  # noqa: S603
                ["apt-get", "download", "-qq", package],  # noqa: S607
                cwd=folder,
                env={**os.environ, MARK: str(folder)},
                capture_output=True,
                text=True,
                check=False,
            )
            found = sorted(folder.glob(f"{package}_*.deb"))
            if done.returncode == 0 and found:
                return _Source(f"{package} {found[0].name.split('_')[1]}", package=found[0])
    raise RunError(
        f"no sources of Linux: apt offers no linux-source-{version or ' or linux-source-'.join(VERSIONS)} "
        "(apt-get update? Debian 12 or 13 has them); or name a tree: make kernel KERNEL=/path/to/linux"
    )


def _installed(package: str) -> str:
    query = ["dpkg-query", "-W", "-f", "${Version}", package]
    done = subprocess.run(query, capture_output=True, text=True, check=False)  # noqa: S603
    return done.stdout.strip() or "of unknown version"


def _unpack(source: _Source, tree: Path) -> None:
    excludes = [f"--exclude={pattern}" for pattern in _LEFT_OUT]
    if source.tree is not None:
        pack = [
            "tar",
            "-C",
            str(source.tree),
            *(each.replace("=*/", "=./") for each in excludes),
            "-cf",
            "-",
            ".",
        ]
        _piped(tree.parent, [pack], ["tar", "-xf", "-", "-C", str(tree)])
        return
    take = ["tar", "-x", "--strip-components=1", "-C", str(tree), *excludes]
    if source.archive is not None:
        _piped(tree.parent, [["xz", "-dc", str(source.archive)]], take)
        return
    inner = re.sub(r" .*", "", source.title)
    unpack = [
        ["dpkg-deb", "--fsys-tarfile", str(source.package)],
        ["tar", "-x", "--to-stdout", f"./usr/src/{inner}.tar.xz"],
        ["xz", "-dc"],
    ]
    _piped(tree.parent, unpack, take)
    if source.package is not None:
        source.package.unlink()


def _piped(folder: Path, first: Sequence[list[str]], last: list[str]) -> None:
    """Run programs of the build in a folder, each with the output of the one before."""
    running: list[subprocess.Popen[bytes]] = []
    before = None
    for words in (*first, last):
        output = None if words is last else subprocess.PIPE
        marked = {**os.environ, MARK: str(folder)}
        process = subprocess.Popen(words, stdin=before, stdout=output, env=marked)  # noqa: S603
        if before is not None:
            before.close()
        before = process.stdout
        running.append(process)
    codes = [process.wait() for process in running]
    for words, code in zip((*first, last), codes, strict=True):
        if code:
            raise RunError(
                f"the sources cannot be unpacked: {words[0]} ended with code {code} (is the disk full?)"
            )


def _find_tools(told: Callable[[str], None]) -> None:
    """Find what building needs; as root install it, else name it."""
    missing = [package for tool, package in _TOOLS.items() if not shutil.which(tool)]
    if not missing:
        return
    words = " ".join(missing).split()
    if os.geteuid() == 0 and shutil.which("apt-get"):
        told(f"installing {' '.join(words)}")
        options = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *words]
        if subprocess.run(options, check=False, stdout=subprocess.DEVNULL).returncode == 0:  # noqa: S603
            return
    raise RunError(f"building a kernel needs {' '.join(words)}; on Debian: apt install {' '.join(words)}")


def _call(words: list[str], tree: Path, log: Path) -> None:
    """Run a program in the tree; its output goes to the log."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    # The same tree and compiler: the same program.
    environment |= {
        "LC_ALL": "C",
        "KBUILD_BUILD_TIMESTAMP": "2026-01-01",
        "KBUILD_BUILD_USER": "cogtcp",
        "KBUILD_BUILD_HOST": "cogtcp",
        MARK: str(tree.parent),
    }
    with log.open("ab") as output:
        done = subprocess.run(words, cwd=tree, stdout=output, stderr=output, env=environment, check=False)  # noqa: S603
    if done.returncode:
        said = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
        errors = [line for line in said if re.search(r"error|No space left|cannot find", line)]
        kept = kernels.folder() / "build.log"
        shutil.copy2(log, kept)
        raise RunError(
            f"the kernel cannot be built: {(errors or said)[-1].strip() if said else words[0]}; log: {kept}"
        )


@contextlib.contextmanager
def _building() -> Iterator[Path]:
    """Make a folder to build in, removed with the block; by its process the next build knows it."""
    folder = Path(tempfile.mkdtemp(prefix=f".build-{os.getpid()}-", dir=kernels.folder()))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def end_leftovers() -> list[Path]:
    """Remove what killed builds left, folders and programs that go on there; return the folders."""
    found = [
        folder
        for folder in sorted(kernels.folder().glob(".build-*"))
        if not Path("/proc", folder.name.split("-")[1]).exists()
    ]
    for folder in found:
        end(f"{MARK}={folder}")
        shutil.rmtree(folder, ignore_errors=True)
    return found


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _size(folder: Path) -> int:
    du = ["du", "-sk", str(folder)]
    done = subprocess.run(du, capture_output=True, text=True, check=False)  # noqa: S603
    return int(done.stdout.split()[0]) * 1024


def _file_hash(*files: Path) -> str:
    content = hashlib.sha256()
    for file in files:
        content.update(file.read_bytes())
    return content.hexdigest()


def _tree_hash(tree: Path) -> str:
    """Hash what is built from: the sources of the network, of the core and of user-mode Linux."""
    content = hashlib.sha256()
    for part in (
        "Makefile",
        "arch/um",
        "arch/x86/um",
        "include",
        "kernel",
        "net",
        "drivers/net",
        "lib",
        "mm",
        "fs",
    ):
        top = tree / part
        for file in [top] if top.is_file() else sorted(top.rglob("*.[chS]")):
            if file.is_file():
                content.update(str(file.relative_to(tree)).encode())
                content.update(file.read_bytes())
    return content.hexdigest()
