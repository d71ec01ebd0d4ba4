"""Fits every public capture of some folders, and compares with Wireshark: no crash, the end, the delay.

    git clone --depth 1 https://github.com/zeek/zeek
    python benches/fit_public.py zeek --out results/fit-public.json

Captures are those in test folders of zeek, tcpdump and nDPI. The reference is tshark's: both legs of the
handshake (`tcp.analysis.initial_rtt`) and round-trip times of data (`tcp.analysis.ack_rtt`), of the
connection with the most packets. Only counts and names are written.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import cogtcp
from cogtcp._errors import CogtcpError

_SUFFIXES = (".pcap", ".pcapng", ".cap", ".trace", ".dmp", ".gz", ".zst")
#: A leg of the handshake is that of the near host if it takes at most this share of the other.
_NEAR = 0.25
#: What the delay may miss beside Wireshark's range: a share, and s.
_SHARE, _SECONDS = 0.1, 0.001


def handshake(file: Path) -> dict[str, Any] | None:
    """Return what Wireshark says of the connection with the most data; None without its whole handshake."""
    names = ("tcp.stream", "frame.time_relative", "tcp.flags.syn", "tcp.flags.ack", "tcp.len", "tcp.srcport")
    fields = [
        word for name in (*names, "ip.src", "ipv6.src", "tcp.analysis.ack_rtt") for word in ("-e", name)
    ]
    done = subprocess.run(  # noqa: S603
        ["tshark", "-n", "-r", str(file), "-Y", "tcp", "-T", "fields", "-E", "occurrence=l", *fields],  # noqa: S607
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    streams: dict[str, list[list[str]]] = {}
    for line in done.stdout.splitlines():
        row = line.split("\t")
        if len(row) == 9 and row[0]:
            streams.setdefault(row[0], []).append(row)
    if not streams:
        return None
    rows = max(streams.values(), key=lambda rows: sum(row[4] not in ("", "0") for row in rows))
    true = ("1", "True")
    syn = next((r for r in rows if r[2] in true and r[3] not in true), None)
    answer = next((r for r in rows if r[2] in true and r[3] in true), None)
    if syn is None or answer is None or rows.index(answer) < rows.index(syn):
        return None
    opener = (syn[6], syn[7], syn[5])
    last = next((r for r in rows[rows.index(answer) + 1 :] if (r[6], r[7], r[5]) == opener), None)
    if last is None:
        return None
    second, third = float(answer[1]) - float(syn[1]), float(last[1]) - float(answer[1])
    sent: dict[bool, int] = {True: 0, False: 0}
    for r in rows:
        sent[(r[6], r[7], r[5]) == opener] += int(r[4] or 0)
    opener_sends = sent[True] >= sent[False]
    trips = [
        float(r[8])
        for r in rows
        if r[8] and ((r[6], r[7], r[5]) == opener) != opener_sends and float(r[8]) > 0
    ]
    side = None
    if min(second, third) <= _NEAR * max(second, third):
        side = "sender" if (second > third) == opener_sends else "receiver"
    return {"side": side, "trip": second + third, "least": min([*trips, second + third])}


def judge(file: Path) -> dict[str, Any]:
    """Fit a capture and compare."""
    begun = time.process_time()
    row: dict[str, Any] = {"name": file.name}
    try:
        found = cogtcp.fit(file, held_out=0)
        row["estimates"] = {each.name: type(each.quantity).__name__ for each in found.estimates}
    except CogtcpError as error:
        return {**row, "refused": str(error).replace(str(file), "FILE")[:200]}
    except Exception as error:  # the crash is the result
        return {**row, "crash": repr(error)[:300]}
    row["cpu_s"] = time.process_time() - begun
    link = found.link
    if link is None:
        return {**row, "refused": "no link"}
    if not link.flows or any("QUIC" in what for _, what in found.sources):
        return {**row, "what": "QUIC" if link.flows else "probes", "delay_ms": link.delay.value * 1e3}
    row["what"] = "TCP"
    told = handshake(file)
    if told is None:
        return row
    row["handshake"] = True
    if told["side"] is not None:
        row["side"] = link.side == told["side"]
    low = told["least"] / 2 * (1 - _SHARE) - _SECONDS
    high = told["trip"] / 2 * (1 + _SHARE) + _SECONDS
    # A capture at the receiver sees round-trip times of data only through timestamps: Wireshark does not.
    if link.side == "receiver":
        low = 0.0
    row["delay"] = link.delay.known and low <= link.delay.value <= high
    if not row["delay"] or not row.get("side", True):
        row["seen"] = {
            "side": link.side, "wireshark": told, "delay": link.delay.value, "evidence": link.evidence,
        }  # fmt: skip
    return row


def main() -> None:
    """Judge all captures of folders."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=Path("results/fit-public.json"))
    args = parser.parse_args()
    files = sorted(f for folder in args.folders for f in folder.rglob("*") if f.suffix in _SUFFIXES)
    rows = []
    for file in files:
        rows.append({"folder": file.parent.name, **judge(file)})
        if "crash" in rows[-1]:
            print(file, rows[-1]["crash"], file=sys.stderr)
    shaken = [row for row in rows if row.get("handshake")]
    counts = {
        "captures": len(rows),
        "crashes": sum("crash" in row for row in rows),
        "refused": sum("refused" in row for row in rows),
        "fitted": dict(Counter(row["what"] for row in rows if "what" in row)),
        "with a handshake": len(shaken),
        "end right": f"{sum(row.get('side', False) for row in shaken)} of {sum('side' in r for r in shaken)}",
        "delay right": f"{sum(row['delay'] for row in shaken)} of {len(shaken)}",
        "capacity measured": sum(
            row["estimates"].get("capacity") == "Measured" for row in rows if row.get("what") == "TCP"
        ),
    }
    print(json.dumps(counts, indent=1))
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(json.dumps({"counts": counts, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
