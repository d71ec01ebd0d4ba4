"""Laws of losses: each packet on its own (Bernoulli), or in runs (Gilbert's chain), compared by AIC."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cogtcp.model.statistics import share_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Fewer runs of losses say nothing of their length.
LEAST_RUNS = 5
#: The longest mean run that a scenario takes.
_LONGEST = 10_000.0


@dataclass(frozen=True, slots=True)
class LossLaw:
    """How losses follow each other.

    Gilbert's chain has a state that loses each packet and one that loses none (Gilbert 1960 with h = 0). A
    capture of some hundred losses cannot identify Elliott's two further probabilities, one in each state:
    they are 0 and 1.

    Attributes:
        name: `bernoulli` or `gilbert-elliott`, the one with the lower AIC.
        into: Chance of a loss after a packet that arrived.
        back: Chance of an arrival after a lost packet; 1/back is the mean run, packets.
        low: Low end of the 95 % interval of the mean run.
        high: High end.
        gain: AIC of Bernoulli less AIC of Gilbert-Elliott.
        runs: How many runs of losses there were.
    """

    name: str
    into: float
    back: float
    low: float
    high: float
    gain: float
    runs: int

    @property
    def run(self) -> float:
        """The mean run, packets."""
        return 1 / self.back


def fit_losses(stretches: Sequence[Sequence[bool]]) -> LossLaw | None:
    """Return the law of losses; None with too few.

    Args:
        stretches: Whether each packet was lost, in the order of sending; a stretch ends where packets between
            are not known.
    """
    counts = [[0, 0], [0, 0]]
    for stretch in stretches:
        for before, after in itertools.pairwise(stretch):
            counts[before][after] += 1
    arrived, lost = sum(counts[0]), sum(counts[1])
    runs = counts[0][1]
    if runs < LEAST_RUNS or lost < LEAST_RUNS:
        return None
    into, back = runs / arrived, counts[1][0] / lost
    share = (runs + counts[1][1]) / (arrived + lost)
    single = _likelihood(runs + counts[1][1], arrived + lost, share)
    chain = _likelihood(runs, arrived, into) + _likelihood(counts[1][0], lost, back)
    # One parameter against two.
    gain = (2 - 2 * single) - (4 - 2 * chain)
    low, high = share_interval(counts[1][0], lost)
    # Only longer runs than chance has are runs: losses that repel each other are Bernoulli here.
    chained = gain > 0 and back < 1 - share
    name = "gilbert-elliott" if chained else "bernoulli"
    return LossLaw(
        name,
        into,
        max(back, 1 / _LONGEST),
        1 / max(high, 1 / _LONGEST),
        1 / max(low, 1 / _LONGEST),
        gain,
        runs,
    )


def _likelihood(count: int, trials: int, chance: float) -> float:
    """Return the logarithm of the likelihood of `count` of `trials`."""
    found = 0.0
    if count:
        found += count * math.log(chance)
    if trials > count:
        found += (trials - count) * math.log(1 - chance)
    return found
