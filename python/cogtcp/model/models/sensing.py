"""How much of the time a sensing radio can use: the trade of sensing time against transmission time.

Airtime alone. No transport is in it, no medium access and no queue: the distance between this and a simulated
goodput is what those cost.
"""

from __future__ import annotations

from cogtcp import _core


def usable_airtime(
    sensing_time_s: float,
    transmission_time_s: float,
    *,
    detection: float,
    false_alarm: float,
    alpha: float,
    beta: float,
    switching_delay_s: float = 0.0,
) -> float:
    """Return the share of the time in which the radio transmits on a channel that no PU uses.

    A radio senses for t_s. If a PU is reported it changes the channel and senses again; otherwise it
    transmits for T_p. Let ``P_on = beta / (alpha + beta)``, ``r = alpha + beta`` and ``d = (1 - exp(-r T_p))
    / r``. A PU that was OFF when the transmission began is OFF for ``P_off T_p + P_on d`` of it, a missed PU
    for ``P_off (T_p - d)``::

        free = P_off (1 - P_f'),  missed = P_on (1 - P_d')
        share = (free (P_off T_p + P_on d) + missed P_off (T_p - d))
                / (t_s + (free + missed) T_p + (1 - free - missed) switching)

    A renewal argument over sensings, each of which finds its channel in the long-run state, as after a change
    of channel. It extends Liang et al., "Sensing-Throughput Tradeoff for Cognitive Radio Networks", IEEE
    Trans. Wireless Commun. 7(4) (2008), where ``share = T_p / (T_p + t_s) (1 - P_f') P_off``. It adds PUs
    that arrive during the transmission (without them no finite T_p is best), missed PUs and changes of
    channel.

    Args:
        sensing_time_s: t_s.
        transmission_time_s: T_p.
        detection: P_d', given that the PU is ON.
        false_alarm: P_f', given that it is OFF.
        alpha: Death rate of a PU, 1/s: its mean ON time is 1/alpha.
        beta: Birth rate of a PU, 1/s: its mean OFF time is 1/beta.
        switching_delay_s: Silence of one change of channel.

    Returns:
        The share, 0 to 1.

    Raises:
        ValueError: A value is out of range.
    """
    return _core.usable_airtime(
        sensing_time_s, transmission_time_s, detection, false_alarm, alpha, beta, switching_delay_s
    )
