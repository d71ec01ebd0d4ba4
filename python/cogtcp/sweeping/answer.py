"""The answer of a sweep in a sentence or two: who delivers most, where, and how sure that is."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

from cogtcp.headline import join
from cogtcp.metrics import BY_NAME
from cogtcp.statistics import holm, p_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

_GOODPUT = BY_NAME["goodput_bps"]


def winners(runs: pa.Table, axes: Sequence[str]) -> dict[tuple[Any, ...], tuple[str, bool]]:
    """Return for each point the transport with the highest mean goodput, and whether it beats all others.

    It does where its paired differences to each of them exclude chance: t-tests, and Holm's procedure over
    all differences of all points, so that all that is said holds at once with 95 % confidence.
    """
    values: dict[tuple[Any, ...], dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    columns = [runs[name].to_pylist() for name in (*axes, "transport", "seed", "goodput_bps")]
    for *place, transport, seed, goodput in zip(*columns, strict=True):
        if goodput is not None:
            values[tuple(place)][transport][seed] = goodput
    best: dict[tuple[Any, ...], str] = {}
    chances: list[float] = []
    owners: list[tuple[Any, ...]] = []
    for point, by_transport in values.items():
        means = {name: math.fsum(found.values()) / len(found) for name, found in by_transport.items()}
        best[point] = max(means, key=lambda name: means[name])
        first = by_transport[best[point]]
        for name, found in by_transport.items():
            if name != best[point]:
                common = [seed for seed in first if seed in found]
                chances.append(p_value([first[seed] - found[seed] for seed in common]))
                owners.append(point)
    unsure = {point for point, sure in zip(owners, holm(chances), strict=True) if not sure}
    return {point: (name, point not in unsure and len(values[point]) > 1) for point, name in best.items()}


def sentence(runs: pa.Table, summary: Sequence[dict[str, Any]], axes: Sequence[str]) -> str:
    """Return the answer."""
    found = [row for row in summary if row.get("goodput_bps") is not None]
    if not found:
        return "No run was finished."
    transports = sorted({row["transport"] for row in found})
    if len(transports) == 1:
        low = min(found, key=lambda row: row["goodput_bps"])
        high = max(found, key=lambda row: row["goodput_bps"])
        if low is high:
            return f"{transports[0]} delivers {_GOODPUT.text(low['goodput_bps'], unit=True)}."
        ends = [
            f"{_GOODPUT.text(row['goodput_bps'], unit=True)} ({_place(row, axes)})" for row in (low, high)
        ]
        return f"The mean goodput goes from {ends[0]} to {ends[1]}."
    won = winners(runs, axes)
    sure = Counter(name for name, beats in won.values() if beats)
    open_ = sum(1 for _, beats in won.values() if not beats)
    points = len(won)
    if points == 1:
        ((name, beats),) = won.values()
        said = "more than each other one" if beats else "most, but the seeds do not tell it from all others"
        return f"{name} delivers {said} (95 % confidence, Holm over all differences)."
    parts = [f"{name} at {count}" for name, count in sure.most_common()]
    if open_:
        parts.append(f"at {open_} the seeds do not tell")
    lead = f"Of {points} points, most goodput is delivered by " if sure else f"Of {points} points, "
    return f"{lead}{join(parts)} (95 % confidence for all of it together, Holm over paired differences)."


def _place(row: dict[str, Any], axes: Sequence[str]) -> str:
    texts = [f"{row[name]:.6g}" if isinstance(row[name], float) else str(row[name]) for name in axes]
    return ", ".join(f"{name} {text}" for name, text in zip(axes, texts, strict=True))
