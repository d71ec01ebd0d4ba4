"""Logs of ping and fping, told apart by their lines and not by their language.

Formats, by published source or output:

- iputils (ping/ping_common.c of 20221126 and of master in February 2026, po/*.po for its languages):
  `64 bytes from HOST: icmp_seq=1 ttl=64 time=40.2 ms`, with `-D` a Unix time in brackets before it, with `-O`
  `no answer yet for icmp_seq=2`. Requests are numbered from 1. The summary has the numbers of requests and of
  replies, and the length of the run, in this order in every language.
- busybox (networking/ping.c): `seq=0` in place of `icmp_seq=1`; `N packets transmitted, N packets received`.
- BSD and macOS (their ping.c): numbered from 0; macOS prints `Request timeout for icmp_seq 1`.
- Windows: `Reply from HOST: bytes=32 time=40ms TTL=54`, a line without a round-trip time for each lost
  request, and `Packets: Sent = 4, Received = 3, Lost = 1`.
- fping 5.1 (src/fping.c): `HOST : [0], 64 bytes, 40.1 ms (...)` and `HOST : [1], timed out (...)`; with `-C`
  also `HOST : 40.1 40.2 - 40.3`.

`ping | ts` puts a time of any format before each line (ts of moreutils).
"""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime

from cogtcp._errors import UsageError
from cogtcp.data.fitting.estimate import median, quantile
from cogtcp.data.fitting.probes import Counts, Probe, Probes, Timing

#: `key=12.3`, as in the lines of replies; some languages put a space before the sign.
_PAIR = re.compile(r"([^\s=<:,(]+) ?[=<](\d+(?:[.,]\d+)?)")
#: The key of the sequence number: Czech translates it, busybox shortens it.
_NUMBER = re.compile(r"\b(?:icmp_seq|seq|pořadí) ?[= ](\d+)")
#: Keys that are no round-trip time.
_HOPS = {"ttl", "hlim"}
_WINDOWS_REPLY = re.compile(r"[=<](\d+) ?ms\b(?! ?,)", re.IGNORECASE)
_WINDOWS_SUMMARY = re.compile(r"= (\d+),[^=]+= (\d+),[^=]+= (\d+)\s+\(\d+ ?%")
_FPING = re.compile(r"(\S+) +: \[(\d+)\], (?:(\d+) bytes, ([\d.]+) ms|timed out)")
_FPING_LIST = re.compile(r"^(\S+) +:((?: (?:[\d.]+|-))+)\s*$", re.MULTILINE)
_FPING_SUMMARY = re.compile(r"xmt/rcv/%loss = (\d+)/(\d+)/")
_STATISTICS = re.compile(r"^--+ .* --+\s*$")
_RTTS = re.compile(r"= ([\d.,]+)/[\d.,]+/[\d.,]+")
#: The length of the run, as the last number of the summary of iputils.
_LENGTH = re.compile(r"(\d+) ?(?:ms|мс|ミリ秒|毫秒|მწმ|mts)\s*$")
#: Unix time or seconds with a fraction, date with time, or time of day, at the beginning of a line.
_STAMP = re.compile(
    r"^\s*\[?(?:(?P<unix>\d{9,10}(?:\.\d+)?|\d+\.\d+)"
    r"|(?:(?P<date>\d{4}-\d\d-\d\d)[ T]|[A-Z][a-z]{2} +\d+ )?(?P<clock>\d\d:\d\d:\d\d(?:\.\d+)?)"
    r"(?:Z|[+-]\d\d:?\d\d)?)\]?\s+"
)
#: A sequence number of ping starts again at 0 after this.
_TURN = 65536
#: Times of requests that drift by less than this are stamps of the lines themselves, s.
_STAMP_S = 0.02
_HALF_DAY_S = 43_200
#: Interval of all programs without an option, s.
_USUAL = 1.0
#: Requests that many intervals apart were not sent for a while: the program or the machine was stopped.
_PAUSE = 5


@dataclass
class _Read:
    """What the lines of a log say.

    Attributes:
        replies: Round-trip time and time of the reply (NaN without), by the number of the request.
        asked: Numbers of requests that a line names as not answered.
        first: Number of the first request; None if the log may begin later.
        step: Resolution of round-trip times, s.
        sent: Requests by the summary, -1 without.
        received: Replies by the summary, -1 without.
        lasted: Length of the run by the summary, s.
        least: Least round-trip time by the summary, s.
    """

    replies: dict[int, tuple[float, float]] = field(default_factory=dict)
    asked: set[int] = field(default_factory=set)
    first: int | None = None
    step: float = 1e-6
    sent: int = -1
    received: int = -1
    lasted: float = math.nan
    least: float = math.nan
    notes: list[str] = field(default_factory=list)


def is_ping(text: str) -> bool:
    """Return whether a text is what ping or fping prints."""
    # A log that was cut at its beginning has lines of replies alone.
    head = text[:8000]
    if re.match(r"\s*PING \S", head) or _is_fping(text):
        return True
    if _WINDOWS_SUMMARY.search(text) or re.search(r"[=<]\d+ ?ms TTL=\d", head):
        return True
    return any(_reply(line) is not None for line in head.splitlines())


def _is_fping(text: str) -> bool:
    if _FPING.search(text) or _FPING_SUMMARY.search(text):
        return True
    # With -C -q a line for each host, and nothing else.
    lines = [line for line in text.splitlines() if line.strip()]
    return bool(lines) and all(_FPING_LIST.match(line) for line in lines)


def read(text: str, file: str) -> Probes | Counts:
    """Return the requests of a log, or the numbers of its summary if it has no line for each of them.

    Raises:
        UsageError: No request was answered, or the log has several hosts.
    """
    if _is_fping(text):
        found = _fping(text, file)
    elif _NUMBER.search(text) is None and (
        _WINDOWS_SUMMARY.search(text) or re.search(r"[=<]\d+ ?ms TTL=\d", text)
    ):
        found = _windows(text)
    else:
        found = _unix(text)
    if not found.replies:
        if found.received > 0 and not math.isnan(found.least):
            return Counts(found.sent, found.received, found.least, found.step)
        if found.received == 0 or found.asked:
            count = max(found.sent, len(found.asked))
            raise UsageError(
                f"{file}: none of {count} requests was answered, so nothing shows the link; "
                "give a log with replies"
            )
        raise UsageError(f"{file}: no line of the ping log is a reply; give all that ping printed")
    if found.received > len(found.replies) and not math.isnan(found.least):
        found.notes.append(
            f"{file}: the summary counts {found.received} replies, {len(found.replies)} lines are here: "
            "only the summary is used"
        )
        return Counts(found.sent, found.received, found.least, found.step)
    return _requests(found, file)


def _reply(line: str) -> tuple[int, float, float] | None:
    """Return number, round-trip time and resolution of a line that is a reply of a Unix ping."""
    number = _NUMBER.search(line)
    if number is None:
        return None
    pairs = [(k, v) for k, v in _PAIR.findall(line[number.end() :]) if k.lower() not in _HOPS]
    if not pairs:
        return None
    shown = pairs[-1][1].replace(",", ".")
    digits = len(shown.partition(".")[2])
    return int(number[1]), float(shown) / 1000, 10.0**-digits / 1000


def _unix(text: str) -> _Read:
    found = _Read()
    turn, last, header = 0, None, ""
    statistics = False
    stamp = _Clock()
    for whole in text.splitlines():
        time, line = stamp.split(whole)
        if line.startswith("PING "):
            header = header or line
        elif _STATISTICS.match(line):
            statistics = True
        elif statistics and found.sent < 0 and line.strip():
            numbers = re.findall(r"\d+", line)
            if len(numbers) >= 2:
                found.sent, found.received = int(numbers[0]), int(numbers[1])
            if (length := _LENGTH.search(line)) is not None:
                found.lasted = int(length[1]) / 1000
        elif statistics and (rtts := _RTTS.search(line)) is not None:
            found.least = float(rtts[1].replace(",", ".")) / 1000
        elif (number := _NUMBER.search(line)) is not None:
            seq = int(number[1])
            # A step far back is a wrap; one a little back is a reply that was late.
            if last is not None and seq < last - _TURN // 2:
                turn += _TURN
            last = seq
            reply = _reply(line)
            if reply is None:
                found.asked.add(seq + turn)
                continue
            found.step = max(found.step, reply[2])
            # A second reply to one request (DUP!) says nothing new.
            found.replies.setdefault(seq + turn, (reply[1], time))
    seen = found.replies.keys() | found.asked
    if header and seen:
        # BSD, macOS and busybox end the address with a colon and count from 0.
        found.first = 0 if 0 in seen or "): " in header else 1
    elif not header and seen and found.sent >= 0:
        found.first = 0 if 0 in seen else None
    return found


def _windows(text: str) -> _Read:
    found = _Read(step=1e-3)
    if (summary := _WINDOWS_SUMMARY.search(text)) is not None:
        found.sent, found.received = int(summary[1]), int(summary[2])
    body = [line for line in text.split("\n") if line.strip()]
    # Before the replies one line that ends with a colon, after them the indented statistics under another.
    starts = [n for n, line in enumerate(body) if re.search(r"[:：]\s*$", line) and not line[0].isspace()]
    begin = starts[0] + 1 if starts else 0
    for number, line in enumerate(itertools.takewhile(lambda each: not _ends(each), body[begin:])):
        reply = _WINDOWS_REPLY.search(line)
        if reply is None:
            found.asked.add(number)
            continue
        # `<1ms`: half of the resolution.
        below = line[reply.start()] == "<"
        found.replies[number] = (0.0005 if below else int(reply[1]) / 1000, math.nan)
    found.first = 0
    # What a gateway answers ("unreachable") counts as received in the summary, and is no reply of the host.
    found.received = min(found.received, len(found.replies))
    return found


def _ends(line: str) -> bool:
    return line[0].isspace() or re.search(r"[:：]\s*$", line) is not None


def _fping(text: str, file: str) -> _Read:
    found = _Read(step=1e-5, first=0)
    hosts: set[str] = set()
    stamp = _Clock()
    for whole in text.splitlines():
        time, line = stamp.split(whole)
        if (match := _FPING.match(line)) is not None:
            hosts.add(match[1])
            number = int(match[2])
            if match[4] is None:
                found.asked.add(number)
            else:
                found.step = max(found.step, 10.0 ** -len(match[4].partition(".")[2]) / 1000)
                found.replies.setdefault(number, (float(match[4]) / 1000, time))
        elif (summary := _FPING_SUMMARY.search(line)) is not None:
            found.sent, found.received = int(summary[1]), int(summary[2])
            hosts.add(line.split()[0])
            if (rtts := _RTTS.search(line.partition("min/")[2])) is not None:
                found.least = float(rtts[1]) / 1000
    if not found.replies and (listed := _FPING_LIST.search(text)) is not None:
        hosts.add(listed[1])
        for number, value in enumerate(listed[2].split()):
            if value == "-":
                found.asked.add(number)
            else:
                found.replies[number] = (float(value) / 1000, math.nan)
    if len(hosts) > 1:
        raise UsageError(f"{file}: fping asked {len(hosts)} hosts; give a log of one")
    return found


@dataclass
class _Clock:
    """Times before lines, on one axis.

    Attributes:
        last: The last time of day, s.
        days: Seconds of the days that are over, where lines have a time of day alone.
    """

    last: float = -math.inf
    days: float = 0.0

    def split(self, line: str) -> tuple[float, str]:
        """Return the time before a line, NaN without one, and the rest."""
        match = _STAMP.match(line)
        if match is None:
            return math.nan, line
        rest = line[match.end() :]
        if match["unix"]:
            return float(match["unix"]), rest
        hours, minutes, seconds = match["clock"].split(":")
        time = 3600 * int(hours) + 60 * int(minutes) + float(seconds)
        if match["date"]:
            day = datetime.fromisoformat(match["date"]).replace(tzinfo=UTC)
            return day.timestamp() + time, rest
        # Half a day back is midnight; a little back is a line that was late.
        if time < self.last - _HALF_DAY_S:
            self.days += 2 * _HALF_DAY_S
        self.last = time
        return self.days + time, rest


def _requests(found: _Read, file: str) -> Probes:
    seen = sorted(found.replies.keys() | found.asked)
    first = seen[0] if found.first is None else min(found.first, seen[0])
    end = seen[-1] + 1
    if found.sent >= 0 and found.first is not None:
        # The summary counts what no line names: requests without a reply after the last one.
        end = max(end, first + found.sent)
    stamped = sorted((n, time - rtt) for n, (rtt, time) in found.replies.items() if not math.isnan(time))
    interval, timing = _interval(stamped, found, end - first)
    sent = _times(stamped, interval, first, end, found.notes, file)
    if timing == "assumed":
        found.notes.append(
            f"{file} has no times: requests {interval:g} s apart are assumed (ping -D writes them)"
        )
    requests = [
        Probe(sent[number - first], found.replies.get(number, (math.nan, 0.0))[0])
        for number in range(first, end)
    ]
    if len(requests) > 1 and requests[-1].lost and not requests[-2].lost:
        # The last request alone: ping may have been stopped before its reply came.
        requests.pop()
    return Probes(requests, interval, found.step, timing, notes=found.notes)


def _interval(stamped: list[tuple[int, float]], found: _Read, count: int) -> tuple[float, Timing]:
    """Return the usual time between requests, and what shows it."""
    steps = [(b - a) / (m - n) for (n, a), (m, b) in itertools.pairwise(stamped) if b > a]
    if len(steps) > 1 or (steps and len(stamped) == 2):
        # Pairs far apart average the delays of single lines; the median ignores a clock that was set.
        half = len(stamped) // 2
        far = [(b - a) / (m - n) for (n, a), (m, b) in zip(stamped, stamped[half:], strict=False) if m > n]
        return median(far or steps), "stamped"
    if not math.isnan(found.lasted) and count > 1 and found.lasted > 0:
        return found.lasted / (count - 1), "summary"
    return _USUAL, "assumed"


def _times(
    stamped: list[tuple[int, float]], interval: float, first: int, end: int, notes: list[str], file: str
) -> list[float]:
    """Return when each request was sent, from 0.

    Requests leave at a fixed interval, so the stamps of replies are readings of one line. A step of this line
    is a clock that was set, or a program that was stopped; it is closed.
    """
    shift = 0.0
    offsets: list[tuple[int, float]] = []
    steps = 0
    for place, (number, time) in enumerate(stamped):
        if place:
            before, at = stamped[place - 1]
            odd = (time - at) - (number - before) * interval
            if abs(odd) > max(_PAUSE * interval, 1.0):
                shift -= odd
                steps += 1
        offsets.append((number, time + shift - (number - first) * interval))
    if steps:
        notes.append(f"{file}: the times of requests jump {steps} times; the jumps are closed")
    drifts = [abs(b - a) for (_, a), (_, b) in itertools.pairwise(offsets)]
    # Stamps of a whole second, or of lines that a pipe held back, are worse than the line.
    fine = quantile(drifts, 0.9) < max(interval / 2, _STAMP_S) if drifts else bool(offsets)
    if offsets and not fine:
        notes.append(
            f"{file}: the times of lines are coarse or late; requests are taken {interval:.4g} s apart"
        )
    own = dict(offsets) if fine else {}
    offset = offsets[0][1] if fine else 0.0
    times = []
    for number in range(first, end):
        # A lost request has the offset of the last reply before it.
        offset = own.get(number, offset)
        times.append((number - first) * interval + offset)
    return [time - times[0] for time in times]
