"""Windows of Multipath TCP's coupled controls over paths with a given loss, by the rules of their drafts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def coupled_rates(coupling: str, paths: Sequence[tuple[float, float]], *, cycles: int = 300) -> list[float]:
    """Return the rate of each path of Multipath TCP where each loses one packet in so many, in packets/s.

    Windows are real numbers and grow by the rules for an acknowledged packet: LIA's of RFC 6356 section 3,
    OLIA's of draft-khalili-mptcp-congestion-control-05 section 2.2, BALIA's of
    draft-walid-mptcp-congestion-control-04 section 3.1. A loss shows a round trip later and is repaired in
    another, without growth. The fixed points of the papers have constant windows; these rise and fall.

    Args:
        coupling: `lia`, `olia` or `balia`.
        paths: Packets for each loss, and the round-trip time in s.
        cycles: Losses of the path with the longest cycle.
    """
    best = max(packets / rtt**2 for packets, rtt in paths)
    # Shares of TCP's rate on the best path (Mathis et al. 1997).
    moving = [
        _Path(packets, rtt, max(2.0, math.sqrt(1.5 * best) * rtt / len(paths))) for packets, rtt in paths
    ]
    step = min(rtt for _, rtt in paths) / 4
    steps = int(cycles * max(math.sqrt(packets / 1.5) * rtt for packets, rtt in paths) / step)
    for number in range(steps):
        if number == steps // 4:
            begun = [path.sent for path in moving]
        growths = [_coupled_growth(coupling, moving, path) for path in moving]
        fastest = max(path.window / path.rtt for path in moving)
        for path, growth in zip(moving, growths, strict=True):
            # BALIA falls by min(alpha, 1.5) / 2; OLIA keeps one segment, in place of two.
            alpha = fastest / (path.window / path.rtt) if coupling == "balia" else 1.0
            least = 1.0 if coupling == "olia" else 2.0
            path.advance(number * step, step, growth, max(path.window * (1 - min(alpha, 1.5) / 2), least))
    seconds = (steps - steps // 4) * step
    return [(path.sent - before) / seconds for path, before in zip(moving, begun, strict=True)]


class _Path:
    """A path that loses one packet in so many: its window, and what it sent."""

    def __init__(self, packets: float, rtt: float, window: float) -> None:
        self.packets, self.rtt, self.window = packets, rtt, window
        self.sent, self.next_loss = 0.0, packets
        self.shows = math.inf
        self.repaired = 0.0
        #: OLIA's l_1 and l_2: packets between the last two losses, and since the last.
        self.between, self.since = packets, 0.0

    def advance(self, now: float, step: float, growth: float, lowered: float) -> None:
        """Send for a step of time, and grow or fall."""
        packets = self.window / self.rtt * step
        self.sent += packets
        self.since += packets
        if self.sent >= self.next_loss:
            self.next_loss += self.packets
            if now >= self.repaired:
                self.shows = min(self.shows, now + self.rtt)
        if now >= self.shows:
            self.window, self.shows, self.repaired = lowered, math.inf, now + self.rtt
            self.between, self.since = self.since, 0.0
        elif now >= self.repaired:
            self.window = max(1.0, self.window + growth * packets)


def _coupled_growth(coupling: str, paths: Sequence[_Path], path: _Path) -> float:
    """Return by how much an acknowledged packet lets the window grow."""
    total = sum(other.window / other.rtt for other in paths)
    if coupling == "lia":
        best = max(other.window / other.rtt**2 for other in paths)
        return min(best / total**2, 1 / path.window)
    shared = path.window / path.rtt**2 / total**2
    if coupling == "balia":
        alpha = max(other.window / other.rtt for other in paths) / (path.window / path.rtt)
        return shared * (1 + alpha) / 2 * (4 + alpha) / 5
    # OLIA: from the largest windows to the best paths that have no such window.
    largest = max(other.window for other in paths)
    quality = {other: max(other.between, other.since) / other.rtt**2 for other in paths}
    collected = [
        other for other in paths if quality[other] == max(quality.values()) and other.window < largest
    ]
    if path in collected:
        return shared + 1 / len(paths) / len(collected) / path.window
    if collected and path.window == largest:
        return shared - 1 / len(paths) / path.window
    return shared
