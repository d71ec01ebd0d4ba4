"""What is varied, by setting and by figure, and the margins of the tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

VEGAS = "vegas"
VARIANTS = ("sack", "newreno", "reno", VEGAS)
"""The paper's four; which Vegas it is depends on the setting."""
NAMES = {"sack": "SACK", "newreno": "NewReno", "reno": "Reno", VEGAS: "Vegas"}

# The grids; the paper's figures are images, of which its text gives single values and ends.
T_S = (0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 1.0)
T_P = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.0, 3.0, 4.0)
"""Figure 2, ten by ten."""
COARSE_T_S, COARSE_T_P = (0.025, 0.1, 0.2, 0.4, 1.0), (0.2, 0.6, 1.0, 2.0, 4.0)
QUICK_T_S, QUICK_T_P = (0.025, 0.2, 1.0), (0.2, 1.0, 4.0)
FIG3_T_S = (0.025, 0.05, 0.1, 0.15, 0.2, 0.3, 0.6, 1.0, 3.0)
COARSE_FIG3_T_S = (0.025, 0.05, 0.1, 0.2, 0.3, 1.0, 3.0)
QUICK_FIG3_T_S = (0.025, 0.2, 1.0)
FIG3_T_P = 0.6  # stated
FIG4_T_S = (0.025, 0.2, 0.3)  # stated
TIMER_T_S = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.6, 0.8, 1.0)
QUICK_TIMER_T_S = (0.1, 0.3)
LEAST_RTO_S = (0.2, 0.4, 1.0)
"""Sensing times and least RTOs that are set against each other."""
ACTIVITY = (0.5, 1.0, 2.0, 3.0)
M = (0.2, 0.6, 1.0, 1.4, 1.8)
QUICK_M = (0.2, 1.0, 1.8)
FIG7_T_S, FIG7_T_P = 0.025, 1.0  # stated
FIG8_M = 1.6  # stated
SNR_DB = (-15.0, -18.0, -20.0, -22.0, -25.0)

# Margins of the tests, set before the first run of each claim.
OPTIMUM = (0.2, 1.0)  # stated: t_s, T_p
ABOUT = 2.0
"""A t_s or T_p is "about" another if it is within this factor of it."""
AS_GOOD = 0.95
"""Share of the best goodput from which on a point is as good as the best."""
MOST = 0.5
"""Share that "most" of something is more than."""
NEAR_S = 1.0
"""Time after an event that counts as "in proximity"."""
TRACKS = 0.5
"""Correlation of cwnd and bandwidth above which cwnd would be said to track it."""


@dataclass(frozen=True)
class Setting:
    """What the paper leaves unsaid, at one value each."""

    name: str = "as in the scenario"
    released: bool = False
    rate: float = 0.5
    """alpha = beta in 1/s, where the paper has "0.5, so that the average ON and OFF time is equal to 1s"."""
    snr_db: float = -20.0
    detector: Literal["map", "simplified"] = "map"
    ends: Literal["synchronous", "independent"] = "synchronous"
    peer: Literal["wait", "retry"] = "wait"
    transmit_radio: Literal["shared", "separate"] = "shared"
    retry_limits: tuple[int | str, int | str] = (7, 4)
    rts: bool = True
    switching: str = "1 ms"
    min_rto: str = "200 ms"
    window: int = 20
    vegas: str = "vegas-ns2"
    capacity: Literal["open", "channel"] = "open"
    """What C(t) of equation 4 is during a silence: zero, or the channel's rate all the same."""


BASE = Setting()
DOES_NOT_KNOW = replace(BASE, ends="independent", peer="retry")
NO_LIMIT = ("infinite", "infinite")
RANGE = (
    replace(BASE, name="mean times of 1 s", rate=1.0),
    replace(BASE, name="SNR -15 dB", snr_db=-15.0),
    replace(BASE, name="SNR -22 dB", snr_db=-22.0),
    replace(BASE, name="errors by t_s alone", detector="simplified"),
    replace(DOES_NOT_KNOW, name="ends sense apart, sender does not know"),
    replace(DOES_NOT_KNOW, name="ends sense apart, retried without limit", retry_limits=NO_LIMIT),
    replace(BASE, name="ends sense together, sender does not know", peer="retry", transmit_radio="separate"),
    replace(BASE, name="frames retried without limit", retry_limits=NO_LIMIT),
    replace(BASE, name="no RTS", rts=False),
    replace(BASE, name="handoff takes 50 ms", switching="50 ms"),
    replace(BASE, name="least RTO 1 s", min_rto="1 s"),
    replace(BASE, name="window of 100", window=100),
    replace(BASE, name="Vegas by Linux's rules", vegas="vegas"),
    replace(BASE, name="capacity counts silences", capacity="channel"),
)
"""The readings that the paper's text allows: a verdict must come out alike at each."""
SHOWN = (
    replace(BASE, name="SNR -18 dB", snr_db=-18.0),
    replace(BASE, name="SNR -25 dB", snr_db=-25.0),
    replace(DOES_NOT_KNOW, name="ends sense apart, retry limits 3 and 2", retry_limits=(3, 2)),
    replace(BASE, name="as released", released=True),
    replace(BASE, name="as released, mean times of 1 s", released=True, rate=1.0),
)
"""Measured beside them: further values of what matters most, and the radio of the released code, which is not
the one that the paper describes."""
QUICK = ("mean times of 1 s", "ends sense apart, sender does not know", "as released")
QUICK_SURFACE = ("SNR -15 dB", "as released")
FINE = (
    BASE.name,
    *(f"SNR {snr_db:g} dB" for snr_db in SNR_DB if snr_db != BASE.snr_db),
    "mean times of 1 s",
    "ends sense apart, sender does not know",
    "as released",
    "as released, mean times of 1 s",
)
"""Settings in which Figure 2 is measured ten by ten."""


@dataclass(frozen=True)
class Point:
    """What a figure varies.

    A `None` is the setting's: alpha = beta, the detector. `m` makes the channels those of equation 5. `clean`
    has no PUs and does not sense: what TCP delivers over this MAC on an undisturbed channel of that rate.
    """

    transport: str = "newreno"
    t_s: float = 0.2
    t_p: float = 1.0
    alpha: float | None = None
    beta: float | None = None
    m: float | None = None
    perfect: bool = False
    clean: bool = False
    rate_mbps: float = 1.0
    min_rto: str | None = None
    window: int | None = None
    retry_limits: tuple[int | str, int | str] | None = None
    f_rto: bool = False
    parameters: tuple[tuple[str, float], ...] = ()
