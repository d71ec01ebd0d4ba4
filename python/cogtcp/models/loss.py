"""TCP over a channel that loses packets at a fixed rate and never falls silent: the classic anchors.

They say what a long flow gets from random loss alone. A cognitive radio adds silences, which neither formula
knows: the distance between them and a simulated radio is the price of the silences.
"""

from __future__ import annotations

import math


def mathis_throughput_bps(
    segment_size_bytes: float, rtt_s: float, loss_probability: float, segments_per_ack: float = 1.0
) -> float:
    """Square-root law: ``MSS/RTT * sqrt(3 / (2 b p))``, in bits of payload per second.

    Mathis, Semke, Mahdavi, Ott: "The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm", CCR
    27(3) (1997). ``b`` is ``segments_per_ack``: 1, or 2 with delayed ACKs. It counts no timeouts and no
    window limit, so it is an upper bound where loss is above about 2 %.
    """
    _check_positive(segment_size_bytes=segment_size_bytes, rtt_s=rtt_s, segments_per_ack=segments_per_ack)
    _check_loss(loss_probability)
    window = math.sqrt(3.0 / (2.0 * segments_per_ack * loss_probability))
    return 8.0 * segment_size_bytes * window / rtt_s


def pftk_throughput_bps(
    segment_size_bytes: float,
    rtt_s: float,
    rto_s: float,
    loss_probability: float,
    segments_per_ack: float = 1.0,
    max_window_packets: float = math.inf,
) -> float:
    """Padhye, Firoiu, Towsley, Kurose, in bits of payload per second: timeouts and the window limit included.

    "Modeling TCP Throughput: A Simple Model and its Empirical Validation", SIGCOMM 1998, its approximate
    model (RFC 5348 section 3.1 uses it without the limits)::

        min( Wmax/RTT, 1 / (RTT sqrt(2bp/3) + T0 min(1, 3 sqrt(3bp/8)) p (1 + 32 p^2)) )

    ``loss_probability`` is that of a loss *event* in the paper's sense: every later loss of the same window
    follows from the first.
    """
    _check_positive(
        segment_size_bytes=segment_size_bytes,
        rtt_s=rtt_s,
        rto_s=rto_s,
        segments_per_ack=segments_per_ack,
        max_window_packets=max_window_packets,
    )
    _check_loss(loss_probability)
    p, b = loss_probability, segments_per_ack
    recovery_s = rtt_s * math.sqrt(2.0 * b * p / 3.0)
    timeouts_s = rto_s * min(1.0, 3.0 * math.sqrt(3.0 * b * p / 8.0)) * p * (1.0 + 32.0 * p * p)
    packets_per_second = min(max_window_packets / rtt_s, 1.0 / (recovery_s + timeouts_s))
    return 8.0 * segment_size_bytes * packets_per_second


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not value > 0:
            raise ValueError(f"{name} must be above 0, not {value}")


def _check_loss(loss_probability: float) -> None:
    if not 0 < loss_probability <= 1:
        raise ValueError(f"loss_probability must be above 0 and at most 1, not {loss_probability}")
