"""The claims of Zhou, Al Ali and Chowdhury, measured.

The paper gives a topology, rates and sensing times, and nearly nothing of what its TCPs were set to. Every
claim is therefore tested at each setting of `settings.RANGE`: those in which the one number that the paper
prints, a best real-time throughput of about 1.8 Mbit/s under sensing, comes out. `chain-f2` shows where it
does and where not.

Read in this order: `settings` (what is varied), `measuring` (the runs), `testing` (from runs to a verdict),
then the claims by figure.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .fixed import newreno_ignores_bandwidth, westwood_below_ten
from .interrupted import sensing_halves_the_best
from .pattern import jump_with_the_first_step_of_on, no_timeout_in_a_short_silence
from .proposal import westwood_with_compound, who_has_most
from .sensing_time import longer_sensing_is_better
from .settings import MARGIN, NAMES, C, N, W
from .users import rarer_users
from .varying import range_hardly_matters, westwood_under_its_share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cogtcp.studies import Claim

__all__ = [
    "conclusions",
    "jump_with_the_first_step_of_on",
    "longer_sensing_is_better",
    "newreno_ignores_bandwidth",
    "no_timeout_in_a_short_silence",
    "range_hardly_matters",
    "rarer_users",
    "sensing_halves_the_best",
    "westwood_below_ten",
    "westwood_under_its_share",
    "westwood_with_compound",
]


def conclusions(claims: Sequence[Claim]) -> list[str]:
    """Two paragraphs: what sensing costs and why, and what the three and their combination make of it."""
    facts = {entry.row.id: entry.result.facts for entry in claims}
    two, seven, eight = (facts[f"chain-{name}"] for name in ("f2", "f7a", "f8"))
    real = ", ".join(NAMES[name] for name in seven["rises"]) or "none of the three"
    first = (
        f"An interruption of 2 % of the time costs NewReno {two['loss']:.0%} of its goodput where the "
        f"silence loses what is sent into it ({two['timed_out']:.0%} of the silences end in a timeout)"
    )
    if not math.isnan(two["loss_hold"]):
        first += f", and {two['loss_hold']:.0%} where packets wait"
    first += (
        ": the paper's collapse is one of lost windows, at round-trip times of about 0.2 s, and not of the "
        f"time taken away. That throughput rises from 0.1 to 0.4 s of sensing (real for {real}: NewReno "
        f"{seven['rise'][N]:+.0%}, AIMD model {seven['model']:+.0%}) "
    )
    if seven["rise"][N] > 0 >= seven["held"][N] - 0.02:
        first += (
            "is no merit of sensing longer. The retransmission timer outlasts any of these silences, so "
            "they all cost the same, and a cycle of on + off is longer: with the whole cycle held at 5.1 s "
            f"the gain is {_change(seven['held'][N])}. "
        )
    else:
        first += f"is {seven['held'][N]:+.0%} with the whole cycle held at 5.1 s. "
    first += (
        f"A silence of 0.05 s is no threshold below which nothing happens: {eight['timed_out'][0]:.0%} of "
        "them end in a timeout of Westwood+."
    )
    return [first, _second(claims)]


def _change(share: float) -> str:
    """Return a change in whole per cent, none without a sign of its own."""
    return f"{round(share, 2) + 0.0:+.0%}"


def _second(claims: Sequence[Claim]) -> str:
    """Tell what holds, and what Compound and the combination are worth."""
    results = {entry.row.id: entry.result for entry in claims}
    held = [name for name, result in results.items() if result.base == "holds"]
    differs = [name for name, result in results.items() if result.base == "differs"]
    settled = [name for name, result in results.items() if result.verdict != "unclear"]
    low = results["chain-f3b"].facts["compound_to_newreno_low"]
    last = results["chain-s5"].facts
    over_w = [gain[W] for gain in last["gains"].values()]
    over_c = [gain[C] for gain in last["gains"].values()]
    text = (
        f"With the settings of the scenario, claims that hold: {', '.join(held) or 'none'}; that differ: "
        f"{', '.join(differs) or 'none'}. The same answer over the whole range of what the paper leaves "
        f"unsaid: {', '.join(settled) or 'none'}; the others depend on it, as their tables show. In "
        f"the slowest channel Compound has {low:.2f} times the goodput of NewReno"
    )
    if low > 1 + MARGIN:
        text += ": its threshold of 38 segments is reached by the length of the cycle, whatever the bandwidth"
    text += (
        f". The combination that the authors propose changes goodput by {_change(min(over_w))} to "
        f"{_change(max(over_w))} against Westwood+ and by {_change(min(over_c))} to {_change(max(over_c))} "
        "against Compound"
    )
    if results["chain-s5"].verdict == "holds":
        text += ", for the better over the whole range: they were right"
    elif min(*over_w, *over_c) > 0:
        text += ": for the better on average, though not shown at every setting"
    else:
        text += ": not always for the better"
    return f"{text}. Among all transports measured {who_has_most(last['best'])}."
