"""What the command does first: make Ctrl-C quiet while the rest of the package loads.

Imported before anything else by the package. In any other process than the command `cogtcp` it does nothing.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False  # the module of that name takes time to load, in which Ctrl-C is not quiet yet
if TYPE_CHECKING:
    from typing import NoReturn

INTERRUPTED = 130  # what a shell reports for a process that SIGINT ended


def _is_command() -> bool:
    """Whether this process is `cogtcp ...` or `python -m cogtcp ...`."""
    name = sys.argv[0] if sys.argv else ""
    if name == "-m":  # as long as the package of `python -m` is being loaded
        return sys.orig_argv[sys.orig_argv.index("-m") + 1 :][:1] == ["cogtcp"]
    return os.path.splitext(os.path.basename(name))[0] == "cogtcp"  # noqa: PTH119, PTH122


def _quit(signum: int, frame: object) -> NoReturn:
    # Nothing was begun that would have to be ended.
    os._exit(INTERRUPTED)


def take_over() -> None:
    """Let Ctrl-C raise `KeyboardInterrupt` again: from here on somebody handles it."""
    if signal.getsignal(signal.SIGINT) is _quit:
        signal.signal(signal.SIGINT, signal.default_int_handler)


# A shell starts what it puts into the background with SIGINT ignored: that stays.
if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, _quit)
