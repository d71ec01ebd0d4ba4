"""Logs of iperf3: its JSON (`--json`), and the lines of `--json-stream`.

Read as versions 3.1 to 3.21 write them (src/iperf_api.c). The numbers of a sender are what the program wrote
into its socket. What arrived is in `sum_received`, and in the intervals of a receiving side: with `-R`, in a
server's log, and in the second direction of `--bidir`.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass, field
from typing import Any

from cogtcp._errors import UsageError

#: Headers of IPv4 and TCP with timestamps, of IPv4 and TCP, of IPv4 and UDP.
_TCP, _PLAIN_TCP, _UDP = 52, 40, 28
#: Payload of a packet where the log does not have it.
_USUAL = 1448
_ETHERNET = 1500
#: A line of the text of a UDP server: datagrams lost and sent in an interval.
_LOST = re.compile(
    r"([\d.]+)- *([\d.]+) +sec +.*? (\d+)/(\d+) \(.*?\)(?! *\(omitted)(?! +(?:sender|receiver))"
)


#: Lines of an interval differ from the first by less than this share.
_SAME_SECOND = 0.02


@dataclass
class Transfer:
    """One direction of a test.

    Attributes:
        udp: Whether it sent datagrams at a rate of its own.
        received: Payload that arrived per second, bit/s; NaN if the log does not say.
        sent: Payload that the program sent per second, bit/s; NaN if the log does not say.
        rates: Payload per second of the intervals, bit/s, without omitted seconds.
        arrived: Whether `rates` are of the receiving side.
        payload: Bytes of a packet without headers.
        headers: Bytes of its headers from IP on.
        streams: Number of parallel streams.
        packets: Datagrams that were sent, 0 without.
        lost: Datagrams that were lost.
        counts: Datagrams lost and sent in each interval of the receiving side.
        second: Length of these intervals, s.
        rtts: Round-trip times as the kernel smoothed them, s.
        idle_rtt: Round-trip time before data flowed, s; NaN if the log does not say.
        window: Largest receive window of all streams together, bytes; NaN if the log does not say.
        span: How long data arrived, s; 0 if the log does not say.
        sent_span: How long the sender sent, s; 0 if the log does not say.
        limit: Rate to which the sender was told to keep, bit/s; 0 without.
        back: The other direction of `--bidir`.
    """

    udp: bool
    received: float = math.nan
    sent: float = math.nan
    rates: list[float] = field(default_factory=list)
    arrived: bool = False
    payload: int = _USUAL
    headers: int = _TCP
    streams: int = 1
    packets: int = 0
    lost: int = 0
    counts: list[tuple[int, int]] = field(default_factory=list)
    second: float = 1.0
    rtts: list[float] = field(default_factory=list)
    idle_rtt: float = math.nan
    window: float = math.nan
    span: float = 0.0
    sent_span: float = 0.0
    limit: float = 0.0
    back: Transfer | None = None

    @property
    def scale(self) -> float:
        """Bytes on the link for each byte of payload."""
        return (self.payload + self.headers) / self.payload


def is_stream(text: str) -> bool:
    """Return whether a text is what `iperf3 --json-stream` prints: an event on each line."""
    return re.match(r'\s*\{\s*"event"\s*:', text) is not None


def joined(text: str, file: str) -> dict[str, Any]:
    """Return the document of a stream of events.

    Raises:
        UsageError: A line is no event.
    """
    found: dict[str, Any] = {"start": {}, "intervals": [], "end": {}}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
            kind, data = event["event"], event.get("data", {})
        except (json.JSONDecodeError, KeyError, TypeError):
            if found["intervals"] and number == len(text.splitlines()):
                break  # the test was stopped within a line
            raise UsageError(
                f"{file}:{number}: is no event of iperf3 --json-stream; give its whole output"
            ) from None
        if kind == "interval":
            found["intervals"].append(data)
        elif kind == "error":
            found["error"] = data
        elif kind in ("start", "end"):
            found[kind] = data
    return found


def read(data: dict[str, Any], file: str) -> Transfer:
    """Return what a test transferred.

    Raises:
        UsageError: The test failed, or transferred nothing.
    """
    if data.get("error"):
        raise UsageError(f"{file}: iperf3 failed: {data['error']}; give the log of a completed test")
    try:
        found = _direction(data, "")
        if any("sum_bidir_reverse" in interval for interval in data["intervals"]):
            found.back = _direction(data, "_bidir_reverse")
    except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as fault:
        raise UsageError(
            f"{file}: is not what iperf3 writes: {fault}; give the output of iperf3 --json"
        ) from None
    if not found.rates and math.isnan(found.received):
        raise UsageError(f"{file}: the iperf3 log has neither intervals nor totals; give a completed test")
    return found


def _direction(data: dict[str, Any], suffix: str) -> Transfer:
    start = data.get("start") or {}
    test = start.get("test_start") or {}
    end = data.get("end") or {}
    found = Transfer(udp=_is_udp(test, data))
    found.streams = int(test.get("num_streams") or 1)
    found.limit = float(test.get("target_bitrate") or start.get("target_bitrate") or 0) * found.streams
    found.payload, found.headers = _sizes(found.udp, start, test, data)
    for interval in data["intervals"]:
        total = interval.get("sum" + suffix) or {}
        # Seconds that iperf3 was told to leave out (`-O`).
        if total.get("omitted") or "bits_per_second" not in total:
            continue
        # A rest of the last second is no interval.
        if found.rates and float(total.get("seconds", 1)) < 0.5 * _length(data, suffix):
            continue
        found.rates.append(float(total["bits_per_second"]))
        found.arrived = total.get("sender") is False
        if not found.arrived:
            found.sent_span += float(total.get("seconds") or 0)
        if found.arrived and "lost_packets" in total:
            found.counts.append((int(total["lost_packets"]), int(total["packets"])))
            found.second = float(total["seconds"])
        for stream in interval.get("streams") or []:
            if stream.get("rtt") and bool(stream.get("sender", True)) is not bool(suffix):
                found.rtts.append(float(stream["rtt"]) / 1e6)
    _totals(found, end, suffix)
    text = data.get("server_output_text")
    if isinstance(text, str) and found.udp and not found.counts:
        lines = [(float(b) - float(a), int(lost), int(sent)) for a, b, lost, sent in _LOST.findall(text)]
        # The first line has the length of all but the last ones, a part of a second and the total.
        whole = [line for line in lines if abs(line[0] - lines[0][0]) < _SAME_SECOND * lines[0][0]]
        found.counts = [(lost, sent) for _, lost, sent in whole]
        found.second = whole[0][0] if whole else 1.0
    ends: list[float] = []
    windows: list[float] = []
    for stream in end.get("streams") or []:
        sender = stream.get("sender") or {}
        ours = bool(sender.get("sender", True)) is not bool(suffix)
        if sender.get("min_rtt") and ours and not found.arrived:
            ends += [float(sender[key]) / 1e6 for key in ("min_rtt", "max_rtt") if key in sender]
            if sender.get("max_snd_wnd"):
                windows.append(float(sender["max_snd_wnd"]))
        elif sender.get("min_rtt") and sender.get("sender") is False:
            # A socket that only received has measured the handshake alone.
            found.idle_rtt = float(sender["min_rtt"]) / 1e6
    if windows:
        found.window = sum(windows)
    # Only the least and the greatest, where intervals have none.
    found.rtts = found.rtts or ends
    return found


def _is_udp(test: dict[str, Any], data: dict[str, Any]) -> bool:
    """Return whether a test sent datagrams: only then they are counted."""
    if str(test.get("protocol", "")).upper() == "UDP" or "lost_percent" in (
        (data.get("end") or {}).get("sum") or {}
    ):
        return True
    return any("packets" in (interval.get("sum") or {}) for interval in data["intervals"])


def _length(data: dict[str, Any], suffix: str) -> float:
    first = data["intervals"][0].get("sum" + suffix) or {}
    return float(first.get("seconds", 1))


def _sizes(udp: bool, start: dict[str, Any], test: dict[str, Any], data: dict[str, Any]) -> tuple[int, int]:
    """Return payload and headers of a packet."""
    if udp:
        size = int(test.get("blksize") or 0)
        for interval in data["intervals"]:
            total = interval.get("sum") or {}
            if not size and total.get("packets"):
                size = round(total["bytes"] / total["packets"])
        return size or _USUAL, _UDP
    payload = int(start.get("tcp_mss_default") or _USUAL)
    return payload, _TCP if payload + _TCP <= _ETHERNET or payload > _ETHERNET else _PLAIN_TCP


def _totals(found: Transfer, end: dict[str, Any], suffix: str) -> None:
    arrived, sent = end.get("sum_received" + suffix) or {}, end.get("sum_sent" + suffix) or {}
    both = end.get("sum" + suffix) or {}
    if arrived.get("bits_per_second"):
        found.received = float(arrived["bits_per_second"])
        found.span = float(arrived.get("seconds") or 0)
    if sent.get("bits_per_second"):
        found.sent = float(sent["bits_per_second"])
    if not found.udp:
        return
    counted = arrived if "lost_packets" in arrived or "lost_percent" in arrived else both
    found.packets = int(both.get("packets") or counted.get("packets") or 0)
    if "lost_packets" in both or "lost_packets" in counted:
        found.lost = int(both.get("lost_packets", counted.get("lost_packets", 0)))
    elif "lost_percent" in counted:
        found.lost = round(found.packets * float(counted["lost_percent"]) / 100)
    if math.isnan(found.sent) and both.get("bits_per_second"):
        found.sent = float(both["bits_per_second"])
    # Before 3.11 the total of datagrams is what was sent.
    if math.isnan(found.received) and found.packets and not math.isnan(found.sent):
        found.received = found.sent * (1 - found.lost / found.packets)
