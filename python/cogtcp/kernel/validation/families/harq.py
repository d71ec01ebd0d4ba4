"""HARQ under fading that no report foresees, beside the law of the sum of gains."""

from __future__ import annotations

import math
from bisect import bisect_right
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, ClassVar

from cogtcp.kernel.validation.families.family import Family
from cogtcp.model.result import run
from cogtcp.model.scenario import Scenario

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

#: Modulation order and code rate times 1024 of MCS 0 to 28 (TS 38.214 table 5.1.3.1-1).
_RATES = {
    2: (120, 157, 193, 251, 308, 379, 449, 526, 602, 679),
    4: (340, 378, 434, 490, 553, 616, 658),
    6: (438, 466, 517, 567, 616, 666, 719, 772, 822, 873, 910, 948),
}
#: Modulation order and code rate times 1024 of CQI 1 to 15 (TS 36.213 table 7.2.3-1).
_CQI_RATES = {2: (78, 120, 193, 308, 449, 602), 4: (378, 490, 616), 6: (466, 567, 666, 772, 873, 948)}
#: SINR at which CQI 1 and CQI 15 have 10 % of errors on a Gaussian channel, dB (GRASS-RaPlaT).
_LEAST, _MOST = -7.0, 20.0
#: Bits of the largest code block (TS 36.212 section 5.1.2).
_CODE_BLOCK = 6144
#: Datagrams are far apart: a packet does not wait for one before it that was lost.
_NO_ORDER = {"reordering": "1 ns"}
#: From one attempt to the next in FDD, s (TS 36.213 section 8).
_ROUND_TRIP = 0.008


def efficiencies(rates: Mapping[int, Sequence[int]]) -> list[float]:
    """Return bits per resource element, in ascending order."""
    return sorted(order * rate / 1024 for order, of_order in rates.items() for rate in of_order)


def needed_db(efficiency: float) -> float:
    """Return the SINR at which an efficiency has 10 % of errors: interpolated between CQIs, dB."""
    points = efficiencies(_CQI_RATES)
    above = min(max(bisect_right(points, efficiency), 1), len(points) - 1)
    part = (efficiency - points[above - 1]) / (points[above] - points[above - 1])
    return _LEAST + (_MOST - _LEAST) / (len(points) - 1) * (above - 1 + part)


def even_db(efficiency: float) -> float:
    """Return the SINR at which an efficiency has 50 % of errors, dB.

    The capacity is lower there by 1.28 sqrt(V / n) than where 10 % are lost (Polyanskiy, Poor and Verdú
    2010, equation 296). V is the dispersion of a complex Gaussian channel.
    """
    signal = 2**efficiency - 1
    dispersion = signal * (signal + 2) / (signal + 1) ** 2 * math.log2(math.e) ** 2
    margin = NormalDist().inv_cdf(0.9) * math.sqrt(dispersion * efficiency / _CODE_BLOCK)
    return needed_db(efficiency - margin)


def erlang(count: int, least: float) -> float:
    """Return the probability that so many exponential gains of mean 1 add up to less."""
    return 1 - math.exp(-least) * sum(least**k / math.factorial(k) for k in range(count))


def usable(sinr_db: float, efficiency: float | None = None) -> float:
    """Return the share of fading blocks that allow an efficiency; the default is the lowest MCS."""
    least = min(efficiencies(_RATES)) if efficiency is None else efficiency
    return math.exp(-(10 ** ((needed_db(least) - sinr_db) / 10)))


def lost_after(attempts: int, sinr_db: float) -> float:
    """Return the probability that all of so many attempts fail under Rayleigh fading.

    The gain that the report told chooses the MCS. The gains of the attempts have nothing to do with it and
    add up (chase combining). With an MCS for each gain it is the probability that one exponential gain
    exceeds the sum of the others, 1 / 2^n; whole MCSs ask for a little less.
    """
    mean = 10 ** (sinr_db / 10)
    steps = efficiencies(_RATES)
    reached = [usable(sinr_db, step) for step in steps]
    lost = 0.0
    for step, chosen, better in zip(steps, reached, [*reached[1:], 0.0], strict=True):
        lost += (chosen - better) * erlang(attempts, 10 ** (even_db(step) / 10) / mean)
    # While no MCS can be used, the base station waits.
    return lost / reached[0]


class Harq(Family):
    """A datagram now and then to one NR user: what is lost after all attempts, and how long others take."""

    name = "harq"
    peer = "theory"
    bands: ClassVar = {"dropped": 0.05, "wait_s": 0.05}

    def draw(self, stream: random.Random) -> dict[str, Any]:
        """Draw SINR, attempts and the length of a fading block, shorter than reports are old."""
        return {
            "sinr": round(stream.uniform(5, 15), 1),
            "attempts": stream.randint(2, 4),
            "coherence": stream.randint(1, 6),
            "age": stream.randint(6, 12),
        }

    def told(self, drawn: Mapping[str, Any]) -> str:
        """Return it in words."""
        reports = f"reports {drawn['age']} ms old"
        blocks = f"fading blocks of {drawn['coherence']} ms"
        return f"{drawn['sinr']:g} dB, {drawn['attempts']} attempts, {blocks}, {reports}"

    def theirs(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Return the share lost, and 8 ms for each further attempt of those that arrive.

        A packet that meets a block in which no MCS can be used waits for one in which it can.
        """
        lost = [lost_after(tried, drawn["sinr"]) for tried in range(1, drawn["attempts"] + 1)]
        further = sum(lost[:-1]) - (len(lost) - 1) * lost[-1]
        silent = 1 - usable(drawn["sinr"])
        block = drawn["coherence"] * 1e-3
        waited = silent * ((block + 1e-3) / 2 + block * silent / (1 - silent))
        return {"dropped": lost[-1], "wait_s": waited + _ROUND_TRIP * further / (1 - lost[-1])}

    def ours(self, drawn: Mapping[str, Any], seed: int) -> dict[str, float]:
        """Send one packet in 97 ms; the delay without fading is taken off."""
        fading = {
            "sinr": f"{drawn['sinr']} dB",
            "coherence": f"{drawn['coherence']} ms",
            "report_age": f"{drawn['age']} ms",
            "attempts": drawn["attempts"],
        }
        row, steady = _datagrams(fading, 4000, seed), _datagrams({"sinr": "60 dB"}, 100, seed)
        return {"dropped": row["loss_ratio"], "wait_s": row["delay_mean_s"] - steady["delay_mean_s"]}


def _datagrams(cell: Mapping[str, Any], seconds: float, seed: int) -> Mapping[str, Any]:
    radio = {
        "access": "scheduled",
        "detector": "perfect",
        "sensing_time": "1 us",
        "transmission_time": f"{2 * seconds} s",
        "cell": {"technology": "nr_15khz", "layers": 1, "rlc": "unacknowledged", **_NO_ORDER, **cell},
    }
    ends = {"from": "sender", "to": "receiver"}
    data = {
        "name": "harq",
        "run": {"duration": f"{seconds} s"},
        "topology": {"single_hop": {"link": {"rate": "10 Mbit/s", "delay": "1 us", "queue": "100 packets"}}},
        "spectrum": {"channels": {"uniform": "100 Mbit/s"}, "pu": "none"},
        "radio": [{"name": "cell", "links": ["link"], "cr": radio}],
        "flow": [{**ends, "transport": "newreno", "start": f"{seconds - 0.001} s"}],
        "udp": [{**ends, "size": "100 B", "pattern": {"constant": "8247 bit/s"}}],
    }
    return run(Scenario.from_dict(data), seed, "summary").rows("datagrams")[0]
