"""TCP's AIMD over cognitive cycles.

Zhou, Di Felice, Drozdenko, Chowdhury: "Towards Fast Flow Convergence in Cognitive Radio Cellular Networks",
section III. Equation numbers in this file are the paper's.

**The model.** A cognitive cycle of constant length ``T_cc`` runs from one interruption of the radio to the
next. Every interruption loses what is in the air and costs the flow one retransmission timeout: cwnd falls to
1 and ssthresh to half the window. The flow then spends ``T_rto`` waiting, ``T_ss`` doubling its window every
round trip up to ssthresh, and ``T_ca`` adding one packet every round trip: ``T_cc = T_rto + T_ss + T_ca``.
Windows are in packets and the round-trip time is constant; the queue is never full.

**Convergence.** With ``dW`` packets gained per cycle, ``W[i+1] = W[i]/2 + dW`` (1), which converges to
``2 dW``. Slow start then ends at ``dW``, so ``T_ss = RTT log2 dW`` and ``T_ca = RTT dW``, and (2) is
``dW + log2 dW = R`` with ``R = (T_cc - T_rto)/RTT``.

**Throughput.** Equation (4) is the window over RTT until the link saturates, the link's rate after that. With
the bandwidth-delay product in packets (``BDP = BW RTT``, ``BW`` in packets per second) the packets of one
cycle are

1. ``BDP <= dW``, saturated in slow start: ``BDP - 1 + BW (T_cc - T_sat)``, ``T_sat = T_rto + RTT log2 BDP``
   (5);
2. ``dW < BDP <= 2 dW``, saturated in congestion avoidance: ``dW - 1 - (BDP^2 - 4 BDP dW + dW^2)/2`` (6). Slow
   start gives ``dW - 1``, growth to saturation ``(BDP^2 - dW^2)/2``. The remaining ``RTT (2 dW - BDP)``
   seconds give ``BDP (2 dW - BDP)``;
3. ``BDP > 2 dW``, never saturated: ``dW - 1 + 3/2 dW^2`` (7).

**Where this departs from the print.**

- *Units.* (4) adds ``W/RTT`` (packets per second) to ``BW`` (a link's rate, 15 Mb/s in Fig. 3), and (5) adds
  ``BDP`` packets to ``BW`` times seconds. Formulas (5) and (6) follow from (4) only with BW in packets per
  second and BDP in packets. Read that way the printed formulas are right; so is (6), which has ``BDP^2`` for
  ``BW RTT BDP``. The function :func:`aimd_cycle_as_printed` evaluates the other readings.
- *The bounds of (3).* From ``log2 R - 1 < log2 dW < log2 R`` the paper concludes
  ``R - log2 R - 1 < dW < R - log2 R``. Subtracting turns the signs round:
  ``R - log2 R < dW < R - log2 R + 1`` (:func:`delta_w_bounds`). Equation (3) is therefore a *lower* bound of
  dW, low by ``log2(R/dW)``, up to one packet. It also needs ``R >= 1/ln 2`` to grow with R at all.
- *Continuity.* With dW of (2), the three cases join without a step. With dW of (3) cases 1 and 2 differ at
  ``BDP = dW`` by ``dW (R - log2 dW - dW)`` packets. The reason: (6) counts ``T_ca = RTT dW`` and (5) all
  remaining time.
- *Slow start.* (5) to (7) sum whole rounds, ``1 + 2 + 4 + ... = dW - 1`` packets; the integral of (4) over
  ``2^(t/RTT)`` is ``(dW - 1)/ln 2``, 44 % more. ``slow_start="integral"`` takes (4) at its word.

**What the model leaves out:** the packets of the last round trip before an interruption, which are sent but
lost. With ``lost_last_round=True`` they are subtracted: goodput instead of sending rate. Also headers
(``header_bytes``), the growth of the round-trip time with the queue, loss from a full queue, and delayed
ACKs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Literal

from cogtcp import _core

Solution = Literal["approximate", "exact"]
"""Where dW comes from: ``approximate`` is equation (3), as in the paper; ``exact`` solves (2)."""

SlowStart = Literal["rounds", "integral"]
"""How slow start is counted: ``rounds`` is the paper's ``dW - 1``; ``integral`` is (4) taken literally."""

Reading = Literal["packets", "bits", "mixed"]
"""What BW and BDP stand for when the printed equations are evaluated; see :func:`aimd_cycle_as_printed`."""

SMALLEST_APPROXIMATE_ROUNDS = 1.0 / math.log(2.0)
"""Below this R, equation (3) falls with growing R: it is no approximation of anything there."""


class Regime(Enum):
    """When the link saturates within a cycle: the paper's three cases."""

    SLOW_START = 1
    """Case 1, equation (5): during slow start."""
    CONGESTION_AVOIDANCE = 2
    """Case 2, equation (6): during congestion avoidance."""
    UNSATURATED = 3
    """Case 3, equation (7): never."""


@dataclass(frozen=True)
class AimdCycle:
    """What the model says about one converged cognitive cycle."""

    rounds: float
    """R: round trips between the timeout and the next interruption."""
    delta_w: float
    """dW: packets gained in congestion avoidance, and the window at which slow start ends."""
    converged_cwnd: float
    """2 dW: the window at the end of every cycle, in packets."""
    bdp: float
    """Bandwidth-delay product of the link in packets, headers included in their size."""
    regime: Regime
    packets: float
    """Packets in one cycle."""
    throughput_pps: float
    """Packets per second over the whole cycle."""
    throughput_bps: float
    """Payload bits per second over the whole cycle."""


def cwnd_after_cycles(cycles: int, initial_cwnd: float, delta_w: float) -> float:
    """Equation (1): the window in packets before cycle number ``cycles``, ``W[0]`` being ``initial_cwnd``.

    Args:
        cycles: Number of cycles.
        initial_cwnd: Window before the first cycle, packets.
        delta_w: Growth of the window in a cycle, packets.

    Returns:
        The window, packets.

    Raises:
        ValueError: A value is out of range.
    """
    if cycles < 0:
        raise ValueError(f"cycles must not be negative, not {cycles}")
    return _core.cwnd_after_cycles(cycles, initial_cwnd, delta_w)


def cwnd_sequence(cycles: int, initial_cwnd: float, delta_w: float) -> list[float]:
    """``W[0]`` to ``W[cycles]`` of equation (1).

    Args:
        cycles: Number of cycles.
        initial_cwnd: Window before the first cycle, packets.
        delta_w: Growth of the window in a cycle, packets.

    Returns:
        The windows, packets.

    Raises:
        ValueError: A value is out of range.
    """
    return [cwnd_after_cycles(cycle, initial_cwnd, delta_w) for cycle in range(cycles + 1)]


def next_cwnd(cwnd: float, rounds: float) -> float:
    """``W[i+1]`` without the assumption that dW is the same in every cycle.

    Slow start from 1 to ``W[i]/2`` takes ``log2(W[i]/2)`` of the ``rounds``; the rest adds one packet each.
    The fixed point follows from equation (1) with the exact dW of equation (2). If slow start alone would
    outlast the cycle, the window ends at ``2^rounds``.

    Args:
        cwnd: The window before this cycle, packets.
        rounds: Round trips left for sending in one cycle.

    Returns:
        The window before the next cycle, packets.

    Raises:
        ValueError: A value is out of range.
    """
    return _core.next_cwnd(cwnd, rounds)


def available_rounds(t_cc_s: float, t_rto_s: float, rtt_s: float) -> float:
    """``R = (T_cc - T_rto)/RTT``: round trips left for sending in one cycle.

    Args:
        t_cc_s: Length of a cognitive cycle, s.
        t_rto_s: From the interruption to the retransmission that gets through, s.
        rtt_s: Round-trip time, s.

    Returns:
        Number of round trips.

    Raises:
        ValueError: A value is out of range.
    """
    return _core.available_rounds(t_cc_s, t_rto_s, rtt_s)


def delta_w_exact(rounds: float) -> float:
    """Return the solution dW of equation (2), ``dW + log2 dW = R``, in packets.

    It is ``W0(ln2 * 2^R)/ln2`` with Lambert's W; Newton's method finds it without the overflow of ``2^R``.
    The left side is increasing and concave, so that the iteration climbs to the root from below and never
    overshoots.
    """
    return _core.delta_w(rounds, True)


def delta_w_approximate(rounds: float) -> float:
    """Equation (3): ``dW = R - log2 R``, in packets. A lower bound of the exact dW, by less than 1."""
    return _core.delta_w(rounds, False)


def delta_w_bounds(rounds: float) -> tuple[float, float]:
    """Bounds of the exact dW: ``R - log2 R <= dW <= R - log2 R + 1``, the paper's with signs put right."""
    if not rounds >= 1.0:
        raise ValueError(f"the bounds need R >= 1, not R = {rounds}")
    lower = rounds - math.log2(rounds)
    return lower, lower + 1.0


def bdp_packets(
    bandwidth_bps: float, rtt_s: float, segment_size_bytes: float, header_bytes: float = 0.0
) -> float:
    """Bandwidth-delay product in packets of ``segment_size_bytes`` and ``header_bytes`` of headers.

    Args:
        bandwidth_bps: Rate of the link, bit/s.
        rtt_s: Round-trip time, s.
        segment_size_bytes: Payload of a packet, bytes.
        header_bytes: Headers of a packet, bytes.

    Returns:
        The product, packets.

    Raises:
        ValueError: A value is out of range.
    """
    return _core.bdp_packets(bandwidth_bps, rtt_s, segment_size_bytes, header_bytes)


def classify_regime(delta_w: float, bdp: float) -> Regime:
    """Which of the paper's cases holds, both arguments in packets.

    ``T_sat < T_rto + T_ss`` is ``BDP < dW``, and ``T_sat < T_rto + T_ss + T_ca`` is ``BDP < 2 dW``.

    Args:
        delta_w: Growth of the window in a cycle, packets.
        bdp: Bandwidth-delay product, packets.

    Returns:
        The paper's case.

    Raises:
        ValueError: A value is out of range.
    """
    return Regime(_core.regime(delta_w, bdp))


def packets_per_cycle(delta_w: float, bdp: float, rounds: float, slow_start: SlowStart = "rounds") -> float:
    """Packets of one converged cycle: the numerators of (5), (6) and (7), windows and BDP in packets.

    Args:
        delta_w: Growth of the window in a cycle, packets.
        bdp: Bandwidth-delay product, packets.
        rounds: Round trips left for sending in one cycle.
        slow_start: `rounds` counts whole rounds, `integral` is equation (4) literally.

    Returns:
        Packets sent in a cycle.

    Raises:
        ValueError: A value is out of range.
    """
    return _core.packets_per_cycle(delta_w, bdp, rounds, slow_start == "integral")


def aimd_cycle(
    *,
    bandwidth_bps: float,
    rtt_s: float,
    t_cc_s: float,
    t_rto_s: float,
    segment_size_bytes: float,
    header_bytes: float = 0.0,
    solution: Solution = "approximate",
    slow_start: SlowStart = "rounds",
    lost_last_round: bool = False,
) -> AimdCycle:
    """Compute the asymptotic throughput of one flow over cycles of ``t_cc_s`` seconds, equations (2) to (7).

    ``t_rto_s`` is the part of the cycle from the interruption to the retransmission that gets through. The
    paper gives no value; :func:`rto_outage_s` derives one from a silence and an RTO. ``header_bytes`` makes
    packets longer on the link than their payload; 0, the default, is the paper.

    ``lost_last_round`` departs from the paper. It subtracts the window that is sent in the last round trip
    before the interruption and lost in it (the BDP if the link is saturated). That is goodput, not sending
    rate.

    Args:
        bandwidth_bps: Rate of the link, bit/s.
        rtt_s: Round-trip time, s.
        t_cc_s: Length of a cognitive cycle, s.
        t_rto_s: From the interruption to the retransmission that gets through, s.
        segment_size_bytes: Payload of a packet, bytes.
        header_bytes: Headers of a packet, bytes.
        solution: The paper's approximate dW, or the exact one.
        slow_start: `rounds` counts whole rounds, `integral` is equation (4) literally.
        lost_last_round: Whether to take off the last round's loss.

    Returns:
        Throughput in bit/s, window, regime.

    Raises:
        ValueError: A value is out of range.
    """
    rounds, delta_w, bdp, regime, packets, pps, bps = _core.aimd_cycle(
        bandwidth_bps,
        rtt_s,
        t_cc_s,
        t_rto_s,
        segment_size_bytes,
        header_bytes,
        solution == "exact",
        slow_start == "integral",
        lost_last_round,
    )
    return AimdCycle(
        rounds=rounds,
        delta_w=delta_w,
        converged_cwnd=2.0 * delta_w,
        bdp=bdp,
        regime=Regime(regime),
        packets=packets,
        throughput_pps=pps,
        throughput_bps=bps,
    )


def rto_outage_s(silence_s: float, rto_s: float, max_rto_s: float = 60.0) -> float:
    """``T_rto`` of the model: from the start of a silence to the first retransmission after its end.

    The first timeout fires ``rto_s`` after the silence began. Every retransmission lost to the silence
    doubles the wait (RFC 6298 section 5.5) up to ``max_rto_s``: ``rto (2^k - 1)`` with the smallest k that
    outlasts the silence. The paper's model has one timeout a cycle, k = 1. The travel time of the last ACK
    before the silence is ignored, as in the model.

    Args:
        silence_s: Length of the silence, s.
        rto_s: Retransmission timeout, s.
        max_rto_s: Greatest timeout, s.

    Returns:
        The time, s.

    Raises:
        ValueError: A value is out of range.
    """
    return _core.rto_outage_s(silence_s, rto_s, max_rto_s)


def throughput_as_printed(
    regime: Regime,
    *,
    delta_w: float,
    bdp: float,
    bandwidth: float,
    rtt_s: float,
    t_cc_s: float,
    t_rto_s: float,
) -> float:
    """Equation (5), (6) or (7) letter for letter, on whatever ``bdp`` and ``bandwidth`` are put in.

    The result has the unit that the input gives it: packets per second where ``bdp`` is in packets and
    ``bandwidth`` in packets per second.

    Args:
        regime: The paper's case.
        delta_w: Growth of the window in a cycle, packets.
        bdp: Bandwidth-delay product, in any unit.
        bandwidth: Rate of the link, in the unit that `bdp` has per second.
        rtt_s: Round-trip time, s.
        t_cc_s: Length of a cognitive cycle, s.
        t_rto_s: From the interruption to the retransmission that gets through, s.

    Returns:
        Throughput, in the unit of the input.

    Raises:
        ValueError: A value is out of range.
    """
    match regime:
        case Regime.SLOW_START:
            t_sat_s = t_rto_s + rtt_s * math.log2(bdp)
            return (bdp - 1.0 + bandwidth * (t_cc_s - t_sat_s)) / t_cc_s
        case Regime.CONGESTION_AVOIDANCE:
            return (delta_w - 1.0 - 0.5 * (bdp**2 - 4.0 * bdp * delta_w + delta_w**2)) / t_cc_s
        case Regime.UNSATURATED:
            return (delta_w - 1.0 + 1.5 * delta_w**2) / t_cc_s


def aimd_cycle_as_printed(
    *,
    bandwidth_bps: float,
    rtt_s: float,
    t_cc_s: float,
    t_rto_s: float,
    segment_size_bytes: float,
    reading: Reading,
) -> float:
    """Evaluate the printed equations under one reading of their units, in bits per second, dW from (3).

    - ``packets``: BW in packets per second, BDP in packets. Equal to :func:`aimd_cycle`; the only consistent
      one.
    - ``bits``: BW in bits per second and BDP in bits, as the text introduces them, W in packets. A window in
      packets never reaches a BDP in bits, so case 3 always holds, the link never saturates, and long cycles
      are promised more than the link's rate.
    - ``mixed``: the case is chosen in packets, but BW in (5) is in bits per second. The ``BDP - 1`` packets
      of slow start then count as that many *bits*, and vanish.

    Args:
        bandwidth_bps: Rate of the link, bit/s.
        rtt_s: Round-trip time, s.
        t_cc_s: Length of a cognitive cycle, s.
        t_rto_s: From the interruption to the retransmission that gets through, s.
        segment_size_bytes: Payload of a packet, bytes.
        reading: How the units are read: `packets`, `bits` or `mixed`.

    Returns:
        Throughput, bit/s.

    Raises:
        ValueError: A value is out of range.
    """
    bdp_packets(bandwidth_bps, rtt_s, segment_size_bytes)  # refuses what is no link
    packet_bits = 8.0 * segment_size_bytes
    delta_w = delta_w_approximate(available_rounds(t_cc_s, t_rto_s, rtt_s))
    bdp = bandwidth_bps * rtt_s if reading == "bits" else bandwidth_bps * rtt_s / packet_bits
    regime = classify_regime(delta_w, bdp)
    # Only (5) holds BW; (6) and (7) give packets per second under every reading.
    in_bits = reading != "packets" and regime is Regime.SLOW_START
    value = throughput_as_printed(
        regime,
        delta_w=delta_w,
        bdp=bdp,
        bandwidth=bandwidth_bps if in_bits else bandwidth_bps / packet_bits,
        rtt_s=rtt_s,
        t_cc_s=t_cc_s,
        t_rto_s=t_rto_s,
    )
    return value if in_bits else value * packet_bits
