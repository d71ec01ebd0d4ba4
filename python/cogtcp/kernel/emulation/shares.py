"""How many runs on both planes agree, by kind of scenario."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING

from cogtcp.kernel.emulation.pairs import MEASURES
from cogtcp.model.statistics import share_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cogtcp.kernel.emulation.pairs import Pair

#: Relative differences, of goodput and round-trip time.
_WITHIN = (0.02, 0.05, 0.10)
#: Relative difference of the retransmitted share; below `_FEW` the difference itself counts.
_RETRANSMITTED, _FEW, _POINTS = 0.20, 0.005, 0.001
#: Timeouts may differ by one, or by this share.
_TIMEOUTS = 0.20
HEADINGS = (
    "Kind",
    "Runs",
    *(f"Goodput within {within * 100:.0f} %" for within in _WITHIN),
    *(f"RTT within {within * 100:.0f} %" for within in _WITHIN),
    "Retransmitted",
    "Timeouts",
)


@dataclass(frozen=True)
class Share:
    """Runs of a kind of scenario.

    Attributes:
        kind: The kind.
        runs: How many are evidence.
        counts: Of these, how many agree, in the order of `HEADINGS` from the third on.
    """

    kind: str
    runs: int
    counts: tuple[int, ...]

    def cells(self) -> list[str]:
        """Return the row of a table."""
        share = [f"{count / self.runs * 100:.0f} %" if self.runs else "–" for count in self.counts]
        return [self.kind, str(self.runs), *share]

    def intervals(self) -> list[str]:
        """Return the row of their 95 % intervals."""
        bounds = [share_interval(count, self.runs) for count in self.counts]
        return ["95 %", "", *(f"{low * 100:.0f} to {high * 100:.0f}" for low, high in bounds)]


def shares(pairs: Sequence[Pair], kind_of: Callable[[Pair], str]) -> list[Share]:
    """Return a row for each kind, the most frequent first, and one for all."""
    sound = [pair for pair in pairs if not pair.doubt]
    kinds: dict[str, list[Pair]] = {}
    for pair in sound:
        kinds.setdefault(kind_of(pair), []).append(pair)
    rows = [_share(kind, of) for kind, of in sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0]))]
    return [*rows, _share("all", sound)]


def averaged(pairs: Sequence[Pair]) -> list[Pair]:
    """Return a pair of each scenario and transport that has several seeds: their means on each plane.

    What one seed decides by chance, a mean over seeds does less. Where not all seeds are evidence, none is.
    """
    cases: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs:
        cases.setdefault((pair.scenario, pair.transport), []).append(pair)
    found = []
    for seeds in cases.values():
        if len(seeds) > 1:
            means = [
                {name: fmean(of[name] for of in plane) for name in MEASURES}
                for plane in ([pair.simulated for pair in seeds], [pair.emulated for pair in seeds])
            ]
            doubt = next((pair.doubt for pair in seeds if pair.doubt), "")
            found.append(replace(seeds[0], simulated=means[0], emulated=means[1], doubt=doubt))
    return found


def exceptions(pairs: Sequence[Pair]) -> list[tuple[Pair, dict[str, str]]]:
    """Return the runs that differ by more than 5 %, or in retransmissions or timeouts; in what, by metric."""
    found = []
    for pair in pairs:
        if pair.doubt:
            continue
        what = {}
        for name, title in (("goodput_bps", "goodput"), ("rtt_mean_s", "RTT")):
            if not _is_within(pair, name, 0.05):
                what[name] = f"{title} {_relative(pair, name) * 100:+.1f} %"
        if not _retransmits_alike(pair):
            ours, theirs = (100 * of["retransmitted"] for of in (pair.simulated, pair.emulated))
            what["retransmitted"] = f"retransmitted {ours:.2f} against {theirs:.2f} % on Linux"
        if not _times_out_alike(pair):
            ours, theirs = (of["rtos"] for of in (pair.simulated, pair.emulated))
            what["rtos"] = f"timeouts {ours:.0f} against {theirs:.0f} on Linux"
        if what:
            found.append((pair, what))
    return found


def page(
    pairs: Sequence[Pair],
    kind_of: Callable[[Pair], str],
    others: Mapping[str, Mapping[str, Sequence[float]]] | None = None,
) -> str:
    """Return the shares and every exception as Markdown tables.

    Args:
        pairs: The runs.
        kind_of: Kind of a run's scenario.
        others: By scenario and metric, least and greatest value of simulations with other seeds: the table
            says whether Linux's lie between them.
    """
    rows = shares(pairs, kind_of)
    table = [list(HEADINGS), ["---"] * len(HEADINGS), *(row.cells() for row in rows), rows[-1].intervals()]
    lines = [f"| {' | '.join(row)} |" for row in table]
    if different := exceptions(pairs):
        lines += ["", "| scenario | transport | differs in | other seeds |", "|---|---|---|---|"]
        lines += [
            f"| {pair.scenario} | `{pair.transport}` | {'; '.join(what.values())} | "
            f"{_among(pair, what, (others or {}).get(pair.scenario, {}))} |"
            for pair, what in different
        ]
    if doubted := [pair for pair in pairs if pair.doubt]:
        lines += ["", *(f"- {pair.scenario}: no evidence: {pair.doubt}" for pair in doubted)]
    return "\n".join(lines) + "\n"


def _among(pair: Pair, what: Mapping[str, str], others: Mapping[str, Sequence[float]]) -> str:
    """Say whether Linux's values of these metrics lie within the ranges of other seeds."""
    if not others:
        return "–"
    is_within = all(others[name][0] <= pair.emulated[name] <= others[name][1] for name in what)
    return "within" if is_within else "beyond"


def _share(kind: str, pairs: Sequence[Pair]) -> Share:
    counts = [sum(_is_within(pair, name, within) for pair in pairs) for name, within in _MEASURED]
    counts += [sum(map(_retransmits_alike, pairs)), sum(map(_times_out_alike, pairs))]
    return Share(kind, len(pairs), tuple(counts))


_MEASURED = [(name, within) for name in ("goodput_bps", "rtt_mean_s") for within in _WITHIN]


def _relative(pair: Pair, name: str) -> float:
    ours, theirs = pair.simulated[name], pair.emulated[name]
    return theirs / ours - 1 if ours else math.nan


def _is_within(pair: Pair, name: str, within: float) -> bool:
    # Not-a-number is not within anything, unless neither plane has a value.
    ours, theirs = pair.simulated[name], pair.emulated[name]
    return ours == theirs or (math.isnan(ours) and math.isnan(theirs)) or abs(_relative(pair, name)) <= within


def _retransmits_alike(pair: Pair) -> bool:
    ours, theirs = pair.simulated["retransmitted"], pair.emulated["retransmitted"]
    few = max(ours, theirs) < _FEW
    return abs(theirs - ours) <= (_POINTS if few else _RETRANSMITTED * ours)


def _times_out_alike(pair: Pair) -> bool:
    ours, theirs = pair.simulated["rtos"], pair.emulated["rtos"]
    return abs(theirs - ours) <= max(1.0, _TIMEOUTS * max(ours, theirs))
