"""TCP over a channel that loses packets at a fixed rate and never falls silent: the classic anchors.

They say what a long flow gets from random loss alone. A cognitive radio adds silences, which neither formula
knows: the distance between them and a simulated radio is the price of the silences.
"""

from __future__ import annotations

import math

from cogtcp import _core


def mathis_throughput_bps(
    segment_size_bytes: float, rtt_s: float, loss_probability: float, segments_per_ack: float = 1.0
) -> float:
    """Square-root law: ``MSS/RTT * sqrt(3 / (2 b p))``, in bits of payload per second.

    Mathis, Semke, Mahdavi, Ott: "The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm", CCR
    27(3) (1997). ``b`` is ``segments_per_ack``: 1, or 2 with delayed ACKs. It counts no timeouts and no
    window limit, so it is an upper bound where loss is above about 2 %.

    Args:
        segment_size_bytes: Payload of a packet, bytes.
        rtt_s: Round-trip time, s.
        loss_probability: Probability that a packet is lost, 0 to 1.
        segments_per_ack: Segments that an ACK acknowledges: 1, or 2 with delayed ACKs.

    Returns:
        Throughput, bit/s of payload.

    Raises:
        ValueError: A value is out of range.
    """
    return _core.mathis_throughput_bps(segment_size_bytes, rtt_s, loss_probability, segments_per_ack)


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

    ``loss_probability`` is the probability of a loss *event* in the paper's sense: every later loss of the
    same window follows from the first.

    Args:
        segment_size_bytes: Payload of a packet, bytes.
        rtt_s: Round-trip time, s.
        rto_s: Retransmission timeout, s.
        loss_probability: Probability that a packet is lost, 0 to 1.
        segments_per_ack: Segments that an ACK acknowledges: 1, or 2 with delayed ACKs.
        max_window_packets: Greatest window, packets.

    Returns:
        Throughput, bit/s of payload.

    Raises:
        ValueError: A value is out of range.
    """
    return _core.pftk_throughput_bps(
        segment_size_bytes, rtt_s, rto_s, loss_probability, segments_per_ack, max_window_packets
    )
