"""The changes that a tree of Linux gets before it is built, each applied only where the tree needs it.

The texts are ours. They find their place by identifiers, so that one script serves several versions and has
no line of Linux.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cogtcp._errors import RunError

if TYPE_CHECKING:
    from collections.abc import Callable

#: Bytes of a processor's floating-point state at most: with AMX over 11,000.
_STATE = 12288

#: What stands at the beginning of the function that asks the host.
RANDOM = Path(__file__).with_name("seeded_random.inc")


@dataclass(frozen=True)
class Edit:
    """A change of one file.

    Attributes:
        name: What it does, in a word.
        file: The file, relative to the tree.
        change: Returns the changed text; None: this tree does not need it, or lacks the place.
        is_needed: Whether a tree without the place cannot be used.
        after: The change without which this one is not made.
    """

    name: str
    file: str
    change: Callable[[str], str | None]
    is_needed: bool = False
    after: str | None = None


def _ticks(hz: int) -> Callable[[str], str | None]:
    """TCP's timers count ticks: user-mode Linux has 100 a second, distributions 250 or 1000."""

    def change(text: str) -> str | None:
        new, found = re.subn(r"(\bconfig HZ\s+int\s+default\s+)\d+", rf"\g<1>{hz}", text)
        return new if found == 1 else None

    return change


def _random(text: str) -> str | None:
    """Answer for the host's randomness from the run's seed: a run is a function of it."""
    new, found = re.subn(
        r"(\bos_getrandom\([^)]*\)\s*\{)\n",
        lambda match: f"{match[1]}\n{RANDOM.read_text(encoding='utf-8')}",
        text,
    )
    return new if found == 1 else None


def _command_line(text: str) -> str | None:
    """Keep the kernel's command line, which has paths of the machine, out of its random numbers."""
    new, found = re.subn(r"\n\s*_mix_pool_bytes\(command_line\b[^;]*;", "", text)
    return new if found == 1 else None


def _state_size(text: str) -> str | None:
    """Make room for the floating-point state of any processor, where its size is a constant."""
    new, found = re.subn(r"(\bHOST_FP_SIZE,\s*)\d+\b", rf"\g<1>{_STATE}", text)
    return new if found == 1 else None


def _state_length(text: str) -> str | None:
    """Give back as much floating-point state as the host gave: it refuses more than it has (EFAULT)."""
    if "have_xstate_support" not in text:
        return None
    text, declared = re.subn(
        r"^(?:\w+ )+have_xstate_support;",
        r"static unsigned long cogtcp_state_length;\n\g<0>",
        text,
        flags=re.MULTILINE,
    )
    text, given = re.subn(
        r"(\biov_len =)[^;]+(;\s*if \(\w+\(PTRACE_SETREGSET\b)", r"\1 cogtcp_state_length\2", text
    )
    text, measured = re.subn(
        r"\bhave_xstate_support = 1;", r"{ cogtcp_state_length = iov.iov_len; \g<0> }", text
    )
    return text if (declared, given, measured) == (1, 1, 1) else None


def _headroom(text: str) -> str | None:
    """Reserve room for headers as distributions do, whose kernels have wireless drivers and tunnels.

    Socket buffers are sized by it: a connection begins with 87,040 bytes to send, with less room 46,080.
    """
    text, link = re.subn(r"(\bLL_MAX_HEADER\s+)32\b", r"\g<1>128", text)
    text, tunnel = re.subn(r"(\bMAX_HEADER\s+)(LL_MAX_HEADER)\b", r"\1(48 + \2)", text)
    return text if (link, tunnel) == (1, 1) else None


#: What does nothing but move the time is charged for once it was free so often at one instant.
_FREE = """\
/* Whether a program spins: it read the clock, or was refused, so often while no event moved the time. From
 * then on each time costs. */
int cogtcp_spins(unsigned int ns)
{
	static unsigned long long at;
	static int times;

	if (time_travel_time != at)
		times = 0;
	at = time_travel_time;
	if (times < 1000) {
		times++;
		return 0;
	}
	at += ns;
	return 1;
}

"""


def _clock(text: str) -> str | None:
    """Let reading the clock cost nothing, and timers fire at their time.

    It counts 256 ns, each read costs as much, no timer is shorter than 500 ns, and all fire 1 ns late.
    """
    text, read = re.subn(
        r"(\btime_travel_ext_waiting)(\)\s*time_travel_update_time\w*\([^;]*?)\bTIMER_MULTIPLIER\b",
        r"\1 && cogtcp_spins(256)\g<2>256",
        text,
    )
    text, place = re.subn(
        r"^\w[^\n;]*\btimer_read\(", lambda match: _FREE + match[0], text, flags=re.MULTILINE
    )
    text, fired = re.subn(
        r"(\btime_travel_add_event\(&time_travel_timer_event,[^;]*\+ delta)\)", r"\1 - 1)", text
    )
    return text if (read, place, fired) == (1, 1, 1) else None


def _refusals(text: str) -> str | None:
    """Let a system call that fails cost nothing: it costs 1 us."""
    text, cost = re.subn(r"\n(\s+)(\bum_udelay\(\w+\);)", r"\n\1if (cogtcp_spins(1000))\n\1\t\2", text)
    text, place = re.subn(
        r"^\w[^\n;]*\bhandle_syscall\(",
        r"int cogtcp_spins(unsigned int ns);\n\n\g<0>",
        text,
        flags=re.MULTILINE,
    )
    return text if (cost, place) == (1, 1) else None


def _clock_unit(text: str) -> str | None:
    """Count single nanoseconds."""
    text, unit = re.subn(r"(\bTIMER_MULTIPLIER\s+)256\b", r"\g<1>1", text)
    text, least = re.subn(r"(\bTIMER_MIN_DELTA\s+)500\b", r"\g<1>1", text)
    return text if (unit, least) == (1, 1) else None


def edits(hz: int) -> list[Edit]:
    """Return all changes, for a kernel of so many ticks a second."""
    return [
        Edit("ticks", "arch/um/Kconfig", _ticks(hz), is_needed=True),
        Edit("random", "arch/um/os-Linux/util.c", _random, is_needed=True),
        Edit("command-line", "drivers/char/random.c", _command_line),
        Edit("clock", "arch/um/kernel/time.c", _clock),
        Edit("refusals", "arch/um/kernel/skas/syscall.c", _refusals, after="clock"),
        Edit("clock-unit", "arch/um/include/linux/time-internal.h", _clock_unit, after="clock"),
        Edit("headroom", "include/linux/netdevice.h", _headroom),
        Edit("state-size", "arch/x86/um/user-offsets.c", _state_size),
        Edit("state-length", "arch/x86/um/os-Linux/registers.c", _state_length),
    ]


def apply(tree: Path, hz: int) -> list[str]:
    """Change a tree in place; return the names of the changes that it took.

    Raises:
        RunError: The tree lacks a place without which it cannot be used.
    """
    applied = []
    for edit in edits(hz):
        if edit.after is not None and edit.after not in applied:
            continue
        file = tree / edit.file
        old = file.read_text(encoding="utf-8", errors="surrogateescape") if file.is_file() else ""
        new = edit.change(old)
        if new is None:
            if edit.is_needed:
                raise RunError(
                    f'{tree}: {edit.file} has no place for the change "{edit.name}"; use Linux 6.1 to 6.15'
                )
            continue
        if new != old:
            file.write_text(new, encoding="utf-8", errors="surrogateescape")
        applied.append(edit.name)
    return applied
