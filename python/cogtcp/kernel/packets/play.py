"""Playing packet scripts on either plane."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from cogtcp import _core
from cogtcp._errors import ScenarioError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Where scripts can run: on the model's endpoints, on this machine's kernel.
PLANES = ("sim", "kernel", "virtual")
#: How scripts are named in folders.
SUFFIX = ".pkt"
# Each takes some descriptors of the process that plays them, which has 1024 as a rule.
_AT_ONCE = 40


@dataclass(frozen=True)
class Mismatch:
    """The first step of a script that differs.

    Attributes:
        line: Its line in the script, from 1.
        time_s: When, since the start of the script.
        what: In what.
        expected: The step as it stands in the script.
        got: What came; empty if nothing did.
    """

    line: int
    time_s: float
    what: str
    expected: str
    got: str


@dataclass(frozen=True)
class Outcome:
    """The outcome of a script on a plane.

    Attributes:
        file: The script.
        about: What it is about.
        plane: `"sim"`, `"kernel"` or `"virtual"`.
        verdict: `"agrees"`: the plane did what the script says; `"differs"`; `"late"`: it differed while
            the runner itself was behind its times, in every try, so that nothing follows; `"beyond"`:
            the script asks for what no plane has; or `"error"`: it could not be played.
        took_s: How long it took, by the plane's clock.
        lateness_s: How much later than due the runner was, at most.
        mismatch: The first step that differs; None if none does.
        trace: All that happened: time in s, and the call or the packet (`<` to the end, `>` from it).
        error: Why it could not be played; None if it was.
    """

    file: str
    about: str
    plane: Literal["sim", "kernel", "virtual"]
    verdict: Literal["agrees", "differs", "late", "beyond", "error"]
    took_s: float
    lateness_s: float
    mismatch: Mismatch | None
    trace: list[tuple[float, str]]
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return asdict(self)

    def explain(self) -> str:
        """Say what differs, with all packets up to there; empty if nothing does."""
        if self.mismatch is None:
            return ""
        found = self.mismatch
        lines = [
            f"{self.file}:{found.line}: {self.plane}: {found.what}, at {found.time_s:.6f} s",
            f"  expected  {found.expected}",
            f"  got       {found.got or 'nothing'}",
            "  up to there:",
            *(f"    {time:10.6f}  {text}" for time, text in self.trace),
        ]
        return "\n".join(lines)


def scripts(paths: Sequence[str | Path]) -> list[Path]:
    """Return the scripts that `paths` name: files, and what lies below folders as `*.pkt`, in order.

    Raises:
        UsageError: A folder has none.
    """
    found: list[Path] = []
    for each in map(Path, paths):
        inside = sorted(each.rglob(f"*{SUFFIX}")) if each.is_dir() else [each]
        if not inside:
            raise UsageError(f"{each}: there are no scripts (*{SUFFIX}) below this folder")
        found += inside
    return found


def check(paths: Sequence[str | Path]) -> list[tuple[str, list[tuple[int, str]]]]:
    """Read scripts; return of each what it is about, and in what the planes differ by it: line and reason.

    Raises:
        ScenarioError: A script has an error.
        UsageError: A file cannot be read.
    """
    return _core.check_packet_scripts([_read(path) for path in scripts(paths)])


def play(paths: Sequence[str | Path], plane: str = "sim", *, device: str = "any") -> list[Outcome]:
    """Play scripts on a plane. The kernel's run at the same time and take as long as the longest.

    A script that cannot be read, or that the plane cannot play, keeps no other from being played.

    Args:
        paths: Scripts, and folders of them.
        plane: `"sim"`: the model's endpoints under a clock made by hand. `"kernel"`: the TCP of this
            machine's Linux, each end in a network namespace with a device of its own. `"virtual"`: the same
            on a Linux in virtual time, `"virtual:NAME"` on the one of this name.
        device: `"tun"`, `"veth"` (virtual Ethernet), or `"any"`: the former, and the latter where
            /dev/net/tun cannot be opened.

    Raises:
        UsageError: A file cannot be read, or the plane is unknown.
        NoKernelPlaneError: This machine has none; the message says what is missing.
    """
    texts = [_read(path) for path in scripts(paths)]
    if plane == "sim":
        return [_outcome(_on_model(text)) for text in texts]
    where, _, name = plane.partition(":")
    if where not in ("kernel", "virtual") or (name and where == "kernel"):
        raise UsageError(f'unknown plane "{plane}"; scripts run on {" and ".join(PLANES)}')
    from cogtcp.kernel.emulation import virtual_kernel
    from cogtcp.kernel.packets.launch import on_kernel

    kernel = virtual_kernel(name or True) if where == "virtual" else None
    # Before the kernel is asked: one script that cannot be read would end all that are played with it.
    faults = [_fault(text) for text in texts]
    sound = [text for text, fault in zip(texts, faults, strict=True) if fault is None]
    played: list[dict[str, Any]] = []
    for start in range(0, len(sound), _AT_ONCE):
        played += on_kernel(sound[start : start + _AT_ONCE], device, kernel)
    order = iter(played)
    outcomes = [_outcome(next(order)) if fault is None else fault for fault in faults]
    return [replace(outcome, plane="virtual") for outcome in outcomes] if kernel else outcomes


def _on_model(text: tuple[str, str]) -> dict[str, Any]:
    try:
        return _core.play_packet_scripts([text], None)[0]
    except ScenarioError as error:
        return asdict(_faulty(text, "sim", error))


def _fault(text: tuple[str, str]) -> Outcome | None:
    try:
        _core.check_packet_scripts([text])
    except ScenarioError as error:
        return _faulty(text, "kernel", error)
    return None


def _faulty(text: tuple[str, str], plane: Literal["sim", "kernel"], error: ScenarioError) -> Outcome:
    beyond = _core.packet_script_beyond(*text)
    verdict: Literal["beyond", "error"] = "error" if beyond is None else "beyond"
    return Outcome(text[0], "", plane, verdict, 0.0, 0.0, None, [], beyond or str(error))


def _outcome(given: dict[str, Any]) -> Outcome:
    found = given["mismatch"]
    trace = [(time, text) for time, text in given["trace"]]
    return Outcome(**{**given, "mismatch": None if found is None else Mismatch(**found), "trace": trace})


def _read(path: Path) -> tuple[str, str]:
    try:
        return os.fspath(path), path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise UsageError(f"{path}: cannot be read: {reason}") from None
