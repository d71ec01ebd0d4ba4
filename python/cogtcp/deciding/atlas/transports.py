"""The transports of the atlas."""

from __future__ import annotations

#: One of each kind that a host of today may run: `advise` races them, the atlas says which of them wins.
CANDIDATES = (
    "newreno", "sack", "linux-reno", "cubic-hystart", "linux-cubic", "vegas", "westwood", "compound", "c2",
    "bbr", "linux-bbr", "quic",
)  # fmt: skip
#: Surveyed for comparison: TCPs of before SACK, a transport whose losses stay lost, CUBIC, and a CUBIC that
#: ignores losses around silences.
OTHERS = ("tahoe", "reno", "tfrc", "cubic", "satcp")
#: All transports of the survey.
SURVEYED = (*CANDIDATES, *OTHERS)
