"""Logs of measuring programs, told apart by their content: ping, fping, irtt and iperf3."""

from __future__ import annotations

import json
import re
from typing import Any

from cogtcp._errors import CogtcpError, UsageError
from cogtcp.data.fitting import iperf3, irtt, pings
from cogtcp.data.fitting.iperf3 import Transfer
from cogtcp.data.fitting.probes import Counts, Probes

Log = Probes | Counts | Transfer

#: Texts that a program writes without an option that a fit needs.
_NAMED = (
    (re.compile(r"^\[ *(?:ID|SUM|\d+)\] +[\d.]+ ?- *[\d.]+ +sec|^\[ ID\] Interval", re.MULTILINE),
     "the text of iperf", "run iperf3 with --json, whose numbers have more digits"),
    (re.compile(r"^traceroute to |^ *\d+ +\S+.* ms +\d+[.,]\d+ ms", re.MULTILINE),
     "a traceroute", "give the log of a ping"),
)  # fmt: skip


def decoded(raw: bytes) -> str | None:
    """Return the text of a file; None for what is no text.

    PowerShell writes UTF-16, and the command line of Windows its own code page: what it has beside ASCII is
    not needed.
    """
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16", errors="replace")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None if b"\0" in raw else raw.decode("latin-1")


def text_log(text: str, file: str) -> Log | None:
    """Return what a text log says; None for a text of another kind.

    Raises:
        UsageError: It is a log from which nothing can be fitted.
    """
    if iperf3.is_stream(text):
        return iperf3.read(iperf3.joined(text, file), file)
    for pattern, what, remedy in _NAMED:
        if pattern.search(text[:4000]):
            raise UsageError(f"{file}: is {what}; {remedy}")
    return pings.read(text, file) if pings.is_ping(text) else None


def parsed(text: str, file: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        UsageError: The text is not JSON.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            raise UsageError(
                f"{file}:{error.lineno}: has several JSON documents; give a file for each"
            ) from None
        raise UsageError(f"{file}:{error.lineno}: is not JSON: {error.msg}; give a whole file") from None
    except RecursionError:
        raise UsageError(f"{file}: its values are nested too deeply; give a log of the program") from None


def document(data: Any, file: str) -> Log:
    """Read the JSON of `iperf3 --json` or of `irtt client -o`.

    Raises:
        UsageError: It is neither.
    """
    if irtt.is_irtt(data):
        try:
            return irtt.read(data, file)
        except CogtcpError:
            raise
        except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as fault:
            raise UsageError(
                f"{file}: is not what irtt writes: {fault}; give the file of irtt client -o"
            ) from None
    if isinstance(data, dict) and "intervals" in data and ("end" in data or "error" in data):
        return iperf3.read(data, file)
    raise UsageError(f"{file}: is not JSON of iperf3, irtt or SigMF; give one of these")
