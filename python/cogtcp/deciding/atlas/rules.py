"""Rules of thumb that the atlas suggests, and their test on points that the survey has not seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cogtcp.deciding.atlas.lookup import AS_GOOD
from cogtcp.deciding.atlas.transports import CANDIDATES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cogtcp.deciding.atlas.space import SurveyPoint


@dataclass(frozen=True)
class Rule:
    """A rule of thumb.

    Attributes:
        name: A short name.
        where: The range in which it holds, in words.
        says: What it says, in words.
        applies: Whether a point lies in its range.
        holds: Whether it is true at a point, by the efficiency of each transport.
        needs: Transports besides those that may be chosen whose efficiency it compares.
    """

    name: str
    where: str
    says: str
    applies: Callable[[SurveyPoint], bool]
    holds: Callable[[Mapping[str, float]], bool]
    needs: tuple[str, ...] = ()

    def asks(self, place: SurveyPoint, efficiency: Mapping[str, float]) -> bool:
        """Whether the rule covers a point and its transports were measured there."""
        return self.applies(place) and not any(math.isnan(efficiency.get(n, math.nan)) for n in self.needs)


def recovery(place: SurveyPoint) -> float:
    """Return the time in which Reno's window grows back from half, over the period of silences.

    A flow's share of the bandwidth-delay product, halved, at one packet a round-trip time. Above 1 a window
    that each silence halves never recovers.
    """
    return place.bdp / place.flows / 2 / place.period_rtt


def silent(place: SurveyPoint) -> float:
    """Return the share of the time that the link is silent."""
    return place.silence_rtt / place.period_rtt


def as_good(name: str) -> Callable[[Mapping[str, float]], bool]:
    """Return a test whether a transport is within 5 % of the best."""
    return lambda efficiency: efficiency[name] >= (1 - AS_GOOD) * best(efficiency)


def best(efficiency: Mapping[str, float]) -> float:
    """Return the efficiency of the best transport that may be chosen, of those that were measured."""
    return max(efficiency[name] for name in CANDIDATES if not math.isnan(efficiency[name]))


RULES = (
    Rule(
        "bbr", "everywhere in the atlas", "Linux's BBR is within 5 % of the best",
        lambda place: True, as_good("linux-bbr"),
    ),
    Rule(
        "bbr-short", "silences take less than 5 % of the time, and a window recovers in 1/16 of the period",
        "Linux's BBR is within 5 % of the best",
        lambda place: silent(place) < 0.047 and recovery(place) < 0.064, as_good("linux-bbr"),
    ),
    Rule(
        "cubic", "a window recovers in 1/16 of the period, and the queue holds 0.45 BDP or more",
        "Linux's CUBIC is within 5 % of the best",
        lambda place: recovery(place) < 0.064 and place.queue_bdp >= 0.45, as_good("linux-cubic"),
    ),
    Rule(
        "sack", "a window recovers in 1/60 of the period, and the queue holds 0.9 BDP or more",
        "SACK is within 5 % of the best",
        lambda place: recovery(place) < 0.0162 and place.queue_bdp >= 0.915, as_good("sack"),
    ),
    Rule(
        "capacity", "silences take less than 5 % of the time, and are 70 RTT apart or more",
        "the best transport delivers more than 90 % of the capacity",
        lambda place: silent(place) < 0.047 and place.period_rtt > 70,
        lambda efficiency: best(efficiency) > 0.9,
    ),
    Rule(
        "dropping", "silences drop, take more than 9 % of the time, and come within 120 RTT",
        "no transport delivers 60 % of the capacity",
        lambda place: place.silence == "drop" and silent(place) > 0.089 and place.period_rtt < 120,
        lambda efficiency: best(efficiency) < 0.6,
    ),
    Rule(
        "ears", "silences drop, and come within 20 RTT",
        "a CUBIC that ignores losses around silences delivers over 5 % more than plain CUBIC",
        lambda place: place.silence == "drop" and place.period_rtt < 20,
        lambda efficiency: efficiency["satcp"] > 1.05 * efficiency["cubic"],
        ("satcp", "cubic"),
    ),
    Rule(
        "deaf", "silences are 200 RTT apart or more",
        "ignoring losses around silences changes CUBIC's goodput by less than 5 %",
        lambda place: place.period_rtt >= 200,
        lambda efficiency: abs(efficiency["satcp"] - efficiency["cubic"]) < 0.05 * efficiency["cubic"],
        ("satcp", "cubic"),
    ),
)  # fmt: skip
