"""What theory says of the sensing cycle: the detector's errors, and the time that they leave free of PUs.

The share of free time follows from a two-state Markov chain over the starts of sensings, for the paper's
round robin. Sense for t_s; on a report go to the next channel, taken to be in the stationary state; otherwise
transmit for T_p, and sense again. A channel that was free tends to be free at the next sensing, which
`cogtcp.models.sensing` ignores. Within one sensing the PU changes at most once, and the energy grows with the
share of the window that it is ON. TCP is not included: it is the time that a transport could use.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_STEPS = 24


@dataclass(frozen=True)
class Detector:
    """The MAP energy detector of Lee and Akyildiz (2008), with conditional probabilities."""

    snr_db: float
    bandwidth: float = 1e6
    p_on: float = 0.5

    def report(self, t_s: float, overlap: float) -> float:
        """Return the probability of a report if a PU is ON for this share of the window."""
        gamma, n = 10 ** (self.snr_db / 10), 2 * self.bandwidth * t_s
        threshold = self._threshold(n, gamma)
        mean = n * (1 + gamma * overlap)
        variance = 2 * n * (1 - overlap + overlap * (1 + gamma) ** 2)
        return 0.5 * math.erfc((threshold - mean) / math.sqrt(2 * variance))

    def _threshold(self, n: float, gamma: float) -> float:
        """Solve P_on f_1 = P_off f_0, in units of the noise."""
        a = (1 - 1 / (1 + gamma) ** 2) / (4 * n)
        c = math.log(self.p_on / ((1 - self.p_on) * (1 + gamma)))
        h = gamma / (2 * (1 + gamma))
        root = h * h - 4 * a * c
        return -math.inf if root < 0 else (h + math.sqrt(root)) / (2 * a)


def free_share(
    detector: Detector, t_s: float, t_p: float, alpha: float, beta: float, switching: float
) -> float:
    """Return the share of time in which the radio transmits and no PU is on its channel."""
    p_off, decay = alpha / (alpha + beta), math.exp(-(alpha + beta) * t_p)
    settling = (1 - decay) / (alpha + beta)
    following, free, spent = [], [], []
    # Of a sensing that starts with the PU OFF, and of one that starts with it ON.
    for reported, quiet_off in (_sensing(detector, t_s, alpha, beta, on=on) for on in (False, True)):
        quiet_on = 1 - reported - quiet_off
        # P(OFF at the start of the next sensing), free time and all time until then.
        off_later = quiet_off * (p_off + (1 - p_off) * decay) + quiet_on * p_off * (1 - decay)
        following.append(reported * p_off + off_later)
        free.append(quiet_off * (p_off * t_p + (1 - p_off) * settling) + quiet_on * p_off * (t_p - settling))
        spent.append(t_s + reported * switching + (1 - reported) * t_p)
    off = following[1] / max(1 - following[0] + following[1], 1e-12)
    return (off * free[0] + (1 - off) * free[1]) / (off * spent[0] + (1 - off) * spent[1])


def _sensing(detector: Detector, t_s: float, alpha: float, beta: float, *, on: bool) -> tuple[float, float]:
    """Return the probabilities of a report, and of none with the PU OFF at the end, given its first state."""
    rate = alpha if on else beta
    stays = math.exp(-rate * t_s)
    reported = stays * detector.report(t_s, float(on))
    quiet_off = 0.0 if on else stays - reported
    for step in range(_STEPS):
        before = (step + 0.5) / _STEPS
        weight = math.exp(-rate * t_s * step / _STEPS) - math.exp(-rate * t_s * (step + 1) / _STEPS)
        found = detector.report(t_s, before if on else 1 - before)
        reported += weight * found
        if on:
            quiet_off += weight * (1 - found)
    return reported, quiet_off
