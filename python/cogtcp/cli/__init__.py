"""The command line: `cogtcp VERB`.

Exit codes: 0 done; 1 a run failed or results could not be written; 2 bad input; 130 interrupted (what was
finished of a comparison is written); 143 terminated.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

from cogtcp._start import INTERRUPTED, take_over
from cogtcp.cli import terminal

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    _open_standard_streams()
    with terminal.guarded():
        return _run(argv)


def _run(argv: Sequence[str] | None) -> int:
    # Arrow's own allocators keep memory for every thread that ever had any. Before Arrow is loaded.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    from cogtcp._errors import CogtcpError, RunError, UsageError
    from cogtcp.cli import verbs

    args = argparse.Namespace(json=False)
    try:
        signal.signal(signal.SIGTERM, _terminate)
        try:
            parser = verbs.parser()
            if "_ARGCOMPLETE" in os.environ:
                from cogtcp.cli.complete import complete

                complete(parser)
            args = parser.parse_args(argv, args)
            # Not before: modules that load make classes by `exec`, and once a `KeyboardInterrupt` leaves one,
            # Python ends the process by the signal, whatever the exit code.
            take_over()
            code: int = args.verb(args)
        finally:
            sys.stdout.flush()
        return code
    except CogtcpError as error:
        return _fail(args, error)
    except UnicodeEncodeError as error:
        # A command line is bytes; Python stands in a lone surrogate for a byte that is no UTF-8.
        return _fail(args, UsageError(f"{error.object!a} is not UTF-8 text; write it as UTF-8"))
    except MemoryError:
        return _fail(
            args, RunError("there is not enough memory; write a longer run.sample_interval, or a shorter run")
        )
    except KeyboardInterrupt:
        return _interrupted()
    except OSError as error:
        # Arrow's have no number: a file that it reads is damaged, wherever a verb did not expect it.
        if error.errno is None and not isinstance(error, BrokenPipeError):
            return _fail(args, RunError(f"a file cannot be read: {error}"))
        # What verbs read and write they report themselves: this is standard output.
        _give_up_standard_output()
        if not isinstance(error, BrokenPipeError):  # the reader of a pipe has gone, and knows it
            print(f"cogtcp: standard output cannot be written: {error.strerror or error}", file=sys.stderr)
        return 1


def _open_standard_streams() -> None:
    """Put the null device where a standard stream is closed: the next file opened would take its place."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, which is this one
    # As long as the process: nobody closes standard streams.
    sys.stdin = sys.stdin or open(0, encoding="utf-8")  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", encoding="utf-8")  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", encoding="utf-8")  # noqa: SIM115


def _give_up_standard_output() -> None:
    """Keep the interpreter from failing again when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _interrupted() -> int:
    print("cogtcp: interrupted", file=sys.stderr)
    return INTERRUPTED


def _terminate(signum: int, frame: object) -> NoReturn:
    # By an exception, so that folders of unfinished results are removed on the way out.
    raise SystemExit(128 + signum)


def _fail(args: argparse.Namespace, error: Exception) -> int:
    from cogtcp._errors import CogtcpError, ScenarioError, UsageError

    said = error.explain() if isinstance(error, CogtcpError) else error
    print(f"cogtcp: {said}", file=sys.stderr)
    if args.json:
        described = error.to_dict() if isinstance(error, ScenarioError) else {"message": str(error)}
        try:
            print(json.dumps({"error": described}), flush=True)
        except OSError:
            _give_up_standard_output()
    return 2 if isinstance(error, ScenarioError | UsageError) else 1
