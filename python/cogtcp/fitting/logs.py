"""Logs of measuring programs: ping, irtt and iperf3. Probes become packets of a connection."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cogtcp._errors import UsageError
from cogtcp.fitting.connections import Connection, Sent

if TYPE_CHECKING:
    from collections.abc import Sequence

_PING = re.compile(
    r"^(?:\[(\d+\.\d+)\] )?(\d+) bytes from .*?icmp_seq=(\d+) .*?time=([\d.]+) ms", re.MULTILINE
)
#: A sequence number of ping starts again at 0 after this.
_TURN = 65536


@dataclass
class Log:
    """What a log says.

    Attributes:
        probes: Round trips, as a connection; None if it has none.
        rates: Mean rate of stretches of a transfer: (start s, end s, bit/s).
        least_rtt_s: Least round-trip time that it tells, NaN without.
        loss: Share of datagrams that were lost, NaN without.
        jitter_s: Jitter that it tells, NaN without.
        notes: What it lacks.
    """

    probes: Connection | None = None
    rates: list[tuple[float, float, float]] = field(default_factory=list)
    least_rtt_s: float = math.nan
    loss: float = math.nan
    jitter_s: float = math.nan
    notes: list[str] = field(default_factory=list)


def is_ping(text: str) -> bool:
    """Return whether a text is what ping prints."""
    return text.startswith("PING ") or _PING.search(text[:4000]) is not None


def ping(text: str, file: str) -> Log:
    """Read what `ping` of iputils prints; with `-D` it has times.

    Raises:
        UsageError: It has no replies.
    """
    rows = [
        (int(seq), float(ms) / 1000, int(size), float(stamp) if stamp else math.nan)
        for stamp, size, seq, ms in _PING.findall(text)
    ]
    if not rows:
        raise UsageError(
            f"{file}: the ping log has no replies; run ping without -q, so that each reply has a line"
        )
    log = Log()
    numbered: dict[int, tuple[float, int, float]] = {}
    turn, last = 0, rows[0][0]
    for seq, rtt, size, stamp in rows:
        # A step far back is a wrap; one a little back is a reply that was late.
        if seq < last - _TURN // 2:
            turn += _TURN
        last = seq
        numbered.setdefault(seq + turn, (rtt, size, stamp))
    first, end = min(numbered), max(numbered)
    # `ping -D` prints the time of the reply: the request was one round trip earlier.
    stamped = sorted((seq, stamp - rtt) for seq, (rtt, _, stamp) in numbered.items() if not math.isnan(stamp))
    interval = 1.0
    if len(stamped) > 1:
        interval = (stamped[-1][1] - stamped[0][1]) / (stamped[-1][0] - stamped[0][0])
        origin = stamped[0][1] - (stamped[0][0] - first) * interval
    else:
        origin = 0.0
        log.notes.append(f"{file} has no times (ping -D): one probe a second is assumed")
    data = []
    for seq in range(first, end + 1):
        found = numbered.get(seq)
        at = (seq - first) * interval
        if found is None:
            # Lost: ping prints no line. Its size counts without the IP header.
            data.append(Sent(at, 0, 0, rows[0][2] + 20))
            continue
        rtt, size, stamp = found
        if not math.isnan(stamp):
            at = stamp - rtt - origin
        data.append(Sent(at, 0, 0, size + 20, False, None, at + rtt, True))
    log.probes = _connection(data)
    return log


def _connection(data: Sequence[Sent]) -> Connection:
    answers = sorted(sent.answered for sent in data if not sent.lost)
    return Connection("sender", list(data), answers, ack_bytes=data[0].size, mss=0, probes=True)


def parsed(text: str, file: str) -> Any:
    """Return the value of a JSON text.

    Raises:
        UsageError: The text is not JSON.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(f"{file}:{error.lineno}: is not JSON: {error.msg}; give a whole file") from None
    except RecursionError:
        raise UsageError(f"{file}: its values are nested too deeply; give a log of the program") from None


def document(data: Any, file: str) -> Log:
    """Read the JSON of `iperf3 --json` or of `irtt client -o`.

    Raises:
        UsageError: It is neither.
    """
    if isinstance(data, dict) and "round_trips" in data:
        return _irtt(data, file)
    if isinstance(data, dict) and "intervals" in data and "end" in data:
        return _iperf3(data, file)
    raise UsageError(f"{file}: is not JSON of iperf3, irtt or SigMF; give one of these")


def _irtt(data: dict[str, Any], file: str) -> Log:
    found = []
    origin = math.nan
    for trip in data["round_trips"]:
        try:
            sent = trip["timestamps"]["client"]["send"]["wall"] / 1e9
        except (KeyError, TypeError):
            continue
        origin = sent if math.isnan(origin) else origin
        rtt = (trip.get("delay") or {}).get("rtt")
        if rtt is None or str(trip.get("lost", "false")) != "false":
            rtt = math.nan
        at = sent - origin
        # 28 bytes: headers of IPv4 and UDP.
        size = int((data.get("config") or {}).get("length") or 60) + 28
        found.append(Sent(at, 0, 0, size, False, None, at + rtt / 1e9, not math.isnan(rtt)))
    if not any(not sent.lost for sent in found):
        raise UsageError(f"{file}: irtt has no round trips; run it with a server that answers")
    return Log(_connection(found))


def _iperf3(data: dict[str, Any], file: str) -> Log:
    if data.get("error"):
        raise UsageError(f"{file}: iperf3 failed: {data['error']}; give the log of a completed test")
    log = Log()
    for interval in data["intervals"]:
        total = interval.get("sum") or {}
        # Seconds that iperf3 was told to leave out (`-O`).
        if total.get("omitted") or "bits_per_second" not in total:
            continue
        log.rates.append((float(total["start"]), float(total["end"]), float(total["bits_per_second"])))
    if not log.rates:
        raise UsageError(f"{file}: iperf3 has no intervals; run it for some seconds")
    rtts = [
        stream["sender"]["min_rtt"] / 1e6
        for stream in data["end"].get("streams", [])
        if stream.get("sender", {}).get("min_rtt")
    ]
    log.least_rtt_s = min(rtts, default=math.nan)
    total = data["end"].get("sum") or {}
    if "lost_percent" in total:
        log.loss, log.jitter_s = total["lost_percent"] / 100, total.get("jitter_ms", math.nan) / 1000
    log.notes.append(f"{file}: iperf3 reports no single packets: queue, loss and silences stay unknown")
    return log
