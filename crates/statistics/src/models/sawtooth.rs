//! TCP's AIMD over cognitive cycles.
//!
//! Zhou, Di Felice, Drozdenko, Chowdhury: "Towards Fast Flow Convergence in Cognitive Radio Cellular
//! Networks", section III. Equation numbers are the paper's. The module `cogtcp.models.aimd` states the model
//! and its departures from the print. In (4) to (7) bandwidths are in packets per second and BDP in packets;
//! the bounds of (3) have corrected signs.

use crate::OutOfRange;
use std::f64::consts::LN_2;

/// Smallest R of equation (3): below 1/ln 2 it falls with growing R.
pub const SMALLEST_APPROXIMATE_ROUNDS: f64 = std::f64::consts::LOG2_E;

/// When the link saturates within a cycle: the paper's three cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Regime {
    /// Case 1, equation (5): during slow start.
    SlowStart,
    /// Case 2, equation (6): during congestion avoidance.
    CongestionAvoidance,
    /// Case 3, equation (7): never.
    Unsaturated,
}

/// Link, flow and cycle of [`cycle`].
#[derive(Clone, Copy, Debug)]
pub struct SawtoothSetting {
    /// Rate of the link, bits per second.
    pub bandwidth_bps: f64,
    /// Round-trip time, seconds.
    pub rtt_s: f64,
    /// Length of a cognitive cycle, seconds.
    pub t_cc_s: f64,
    /// From the interruption to the retransmission that arrives, seconds; see [`rto_outage_s`].
    pub t_rto_s: f64,
    /// Payload of a segment, bytes.
    pub segment_size_bytes: f64,
    /// Headers of a segment, bytes; 0 is the paper.
    pub header_bytes: f64,
    /// Solve equation (2) instead of the approximation (3), which the paper uses.
    pub exact: bool,
    /// Integrate (4) over slow start instead of counting whole rounds, as (5) to (7) do.
    pub integral: bool,
    /// Leave out the last round trip, lost in the interruption: goodput instead of the paper's sending rate.
    pub lost_last_round: bool,
}

/// One converged cognitive cycle.
#[derive(Clone, Copy, Debug)]
pub struct Cycle {
    /// R: round trips between the timeout and the next interruption.
    pub rounds: f64,
    /// dW: packets gained in congestion avoidance, and the window at which slow start ends.
    pub delta_w: f64,
    /// Bandwidth-delay product in packets, headers included in their size.
    pub bdp: f64,
    /// Which equation holds.
    pub regime: Regime,
    /// Packets in one cycle.
    pub packets: f64,
    /// Packets per second over the whole cycle.
    pub throughput_pps: f64,
    /// Payload bits per second over the whole cycle.
    pub throughput_bps: f64,
}

/// Returns the asymptotic throughput of one flow, equations (2) to (7).
///
/// # Errors
///
/// A quantity is out of range, or the cycle is too short for the model.
pub fn cycle(of: &SawtoothSetting) -> Result<Cycle, OutOfRange> {
    let rounds = available_rounds(of.t_cc_s, of.t_rto_s, of.rtt_s)?;
    let delta_w = if of.exact { delta_w_exact(rounds)? } else { delta_w_approximate(rounds)? };
    let bdp = bdp_packets(of.bandwidth_bps, of.rtt_s, of.segment_size_bytes, of.header_bytes)?;
    let mut packets = packets_per_cycle(delta_w, bdp, rounds, of.integral)?;
    if of.lost_last_round {
        // The window at the interruption: twice dW, or what the link held where it had saturated.
        packets = (packets - (2.0 * delta_w).min(bdp)).max(0.0);
    }
    Ok(Cycle {
        rounds,
        delta_w,
        bdp,
        regime: regime(delta_w, bdp),
        packets,
        throughput_pps: packets / of.t_cc_s,
        throughput_bps: 8.0 * of.segment_size_bytes * packets / of.t_cc_s,
    })
}

/// Returns the window in packets before a cycle, equation (1): `W[0]` is `initial_cwnd`.
#[must_use]
pub fn cwnd_after_cycles(cycles: u32, initial_cwnd: f64, delta_w: f64) -> f64 {
    // Halving by the exponent is exact, as is the result after many cycles: zero.
    let halvings = -i32::try_from(cycles).unwrap_or(i32::MAX);
    libm::ldexp(initial_cwnd - 2.0 * delta_w, halvings) + 2.0 * delta_w
}

/// Returns `W[i+1]` without the assumption that dW is the same in every cycle.
///
/// Slow start from 1 to `W[i]/2` takes `log2(W[i]/2)` of the `rounds`; the rest adds one packet each. The
/// fixed point follows from equation (1) with dW of equation (2). If slow start would outlast the cycle, the
/// window ends at `2^rounds`.
#[must_use]
pub fn next_cwnd(cwnd: f64, rounds: f64) -> f64 {
    let ssthresh = (cwnd / 2.0).max(1.0);
    let in_slow_start = libm::log2(ssthresh);
    if in_slow_start >= rounds { libm::exp2(rounds) } else { ssthresh + rounds - in_slow_start }
}

/// Returns `R = (T_cc - T_rto)/RTT`: round trips left for sending in one cycle.
///
/// # Errors
///
/// A time is out of range.
pub fn available_rounds(t_cc_s: f64, t_rto_s: f64, rtt_s: f64) -> Result<f64, OutOfRange> {
    if !(t_cc_s > 0.0 && rtt_s > 0.0 && t_rto_s >= 0.0) {
        return Err(OutOfRange(format!(
            "need t_cc_s > 0, rtt_s > 0 and t_rto_s >= 0, not {t_cc_s:?}, {rtt_s:?} and {t_rto_s:?}"
        )));
    }
    Ok((t_cc_s - t_rto_s) / rtt_s)
}

/// Returns the solution dW of equation (2), `dW + log2 dW = R`, in packets.
///
/// Newton's method: the left side is increasing and concave, so that the iteration climbs to the root from
/// below.
///
/// # Errors
///
/// R is below 1.
pub fn delta_w_exact(rounds: f64) -> Result<f64, OutOfRange> {
    if !(rounds >= 1.0 && rounds.is_finite()) {
        return Err(OutOfRange(format!(
            "the model needs at least one round trip after the timeout (R >= 1), not R = {rounds:?}"
        )));
    }
    // Equation (3) is below the root, from where Newton's method climbs.
    let mut x = (rounds - libm::log2(rounds)).max(1.0);
    loop {
        let step = (rounds - x - libm::log2(x)) / (1.0 + 1.0 / (x * LN_2));
        // Two units in the last place: no later step would change more than rounding.
        if step <= 4e-16 * x {
            return Ok(x);
        }
        x += step;
    }
}

/// Returns dW by equation (3), `R - log2 R`, in packets: a lower bound of the exact dW, by less than 1.
///
/// # Errors
///
/// R is below 1/ln 2.
pub fn delta_w_approximate(rounds: f64) -> Result<f64, OutOfRange> {
    if !(rounds >= SMALLEST_APPROXIMATE_ROUNDS && rounds.is_finite()) {
        return Err(OutOfRange(format!(
            "equation (3) needs R >= 1/ln 2 = 1.4427, not R = {rounds:?}; the exact solution needs R >= 1"
        )));
    }
    Ok(rounds - libm::log2(rounds))
}

/// Returns the bandwidth-delay product in packets of `segment_size_bytes` and `header_bytes` of headers.
///
/// # Errors
///
/// A quantity is out of range.
pub fn bdp_packets(
    bandwidth_bps: f64,
    rtt_s: f64,
    segment_size_bytes: f64,
    header_bytes: f64,
) -> Result<f64, OutOfRange> {
    if !(bandwidth_bps > 0.0 && rtt_s > 0.0 && segment_size_bytes > 0.0 && header_bytes >= 0.0) {
        return Err(OutOfRange(format!(
            "need bandwidth_bps > 0, rtt_s > 0, segment_size_bytes > 0 and header_bytes >= 0, not \
             {bandwidth_bps:?}, {rtt_s:?}, {segment_size_bytes:?} and {header_bytes:?}"
        )));
    }
    Ok(bandwidth_bps * rtt_s / (8.0 * (segment_size_bytes + header_bytes)))
}

/// Returns which of the paper's cases holds, both arguments in packets.
///
/// `T_sat < T_rto + T_ss` is `BDP < dW`, and `T_sat < T_rto + T_ss + T_ca` is `BDP < 2 dW`.
#[must_use]
pub fn regime(delta_w: f64, bdp: f64) -> Regime {
    if bdp <= delta_w {
        Regime::SlowStart
    } else if bdp <= 2.0 * delta_w {
        Regime::CongestionAvoidance
    } else {
        Regime::Unsaturated
    }
}

/// Returns the packets of one converged cycle: the numerators of (5), (6) and (7), windows and BDP in
/// packets.
///
/// # Errors
///
/// The link holds less than one packet.
pub fn packets_per_cycle(delta_w: f64, bdp: f64, rounds: f64, integral: bool) -> Result<f64, OutOfRange> {
    if bdp.is_nan() || bdp < 1.0 {
        return Err(OutOfRange(format!(
            "the model needs a link that holds at least one packet, not a BDP of {bdp:?} packets"
        )));
    }
    let in_slow_start = |window: f64| (window - 1.0) * if integral { 1.0 / LN_2 } else { 1.0 };
    Ok(match regime(delta_w, bdp) {
        // BW (T_cc - T_sat) with BW = BDP/RTT and (T_cc - T_sat)/RTT = R - log2 BDP.
        Regime::SlowStart => in_slow_start(bdp) + bdp * (rounds - libm::log2(bdp)),
        Regime::CongestionAvoidance => {
            in_slow_start(delta_w) - (bdp * bdp - 4.0 * bdp * delta_w + delta_w * delta_w) / 2.0
        }
        Regime::Unsaturated => in_slow_start(delta_w) + 1.5 * delta_w * delta_w,
    })
}

/// Returns `T_rto` of the model: from the start of a silence to the first retransmission after its end.
///
/// The first timeout fires `rto_s` after the silence began, and every retransmission lost to the silence
/// doubles the wait (RFC 6298 section 5.5) up to `max_rto_s`. The paper's model has one timeout a cycle.
///
/// # Errors
///
/// A time is out of range.
pub fn rto_outage_s(silence_s: f64, rto_s: f64, max_rto_s: f64) -> Result<f64, OutOfRange> {
    if !(silence_s >= 0.0 && silence_s.is_finite() && rto_s > 0.0 && max_rto_s >= rto_s) {
        return Err(OutOfRange(format!(
            "need silence_s >= 0, rto_s > 0 and max_rto_s >= rto_s, not {silence_s:?}, {rto_s:?} and {max_rto_s:?}"
        )));
    }
    let (mut waited_s, mut timeout_s) = (rto_s, rto_s);
    while waited_s <= silence_s {
        timeout_s = (2.0 * timeout_s).min(max_rto_s);
        waited_s += timeout_s;
    }
    Ok(waited_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fig. 3 of the paper: 15 Mbit/s, 50 ms, packets of 1000 B: a BDP of 93.75 packets.
    const FIGURE_3: SawtoothSetting = SawtoothSetting {
        bandwidth_bps: 15e6,
        rtt_s: 0.05,
        t_cc_s: 2.2,
        t_rto_s: 1.0,
        segment_size_bytes: 1000.0,
        header_bytes: 0.0,
        exact: false,
        integral: false,
        lost_last_round: false,
    };

    /// ssthresh is a packet at least: a cycle of three rounds after a window of one packet ends at 1 + 3.
    #[test]
    fn a_window_of_one_packet_grows_from_one() {
        assert_eq!((next_cwnd(1.0, 3.0), next_cwnd(2.0, 3.0)), (4.0, 4.0));
        // Half of 3 packets: slow start takes log2 1.5 of the rounds.
        assert!((next_cwnd(3.0, 3.0) - (1.5 + 3.0 - libm::log2(1.5))).abs() < 1e-12);
    }

    /// Each argument of each function by itself, at the edge of its domain.
    #[test]
    fn domains_are_open_or_closed_as_they_say() {
        assert_eq!(bdp_packets(8000.0, 1.0, 999.0, 1.0), Ok(1.0));
        for at in 0..4 {
            let with = |value: f64| {
                let mut of = [1.0; 4];
                of[at] = value;
                bdp_packets(of[0], of[1], of[2], of[3]).is_ok()
            };
            // Headers alone may be none.
            assert_eq!((with(0.0), with(-1e-9), with(f64::NAN)), (at == 3, false, false), "{at}");
        }
        for at in 0..3 {
            let with = |value: f64| {
                let mut of = [1.0; 3];
                of[at] = value;
                available_rounds(of[0], of[1], of[2]).is_ok()
            };
            assert_eq!((with(0.0), with(-1e-9), with(f64::NAN)), (at == 1, false, false), "{at}");
        }
        assert!(delta_w_exact(1.0).is_ok() && delta_w_exact(0.999).is_err());
        assert!(delta_w_exact(f64::INFINITY).is_err() && delta_w_approximate(f64::INFINITY).is_err());
        let smallest = SMALLEST_APPROXIMATE_ROUNDS;
        assert!(delta_w_approximate(smallest).is_ok() && delta_w_approximate(1.44).is_err());
        assert!(packets_per_cycle(2.0, 1.0, 4.0, false).is_ok());
        assert!(packets_per_cycle(2.0, 0.999, 4.0, false).is_err());
        // BDP = dW and BDP = 2 dW: the link saturates just at the end of the phase.
        assert_eq!(regime(2.0, 2.0), Regime::SlowStart);
        assert_eq!((regime(2.0, 4.0), regime(2.0, 4.1)), (Regime::CongestionAvoidance, Regime::Unsaturated));
        // A timeout that equals the longest one, and a silence of no length.
        assert_eq!((rto_outage_s(0.0, 1.0, 1.0), rto_outage_s(1.0, 2.0, 1.0).is_err()), (Ok(1.0), true));
        assert!(rto_outage_s(0.0, 0.0, 1.0).is_err() && rto_outage_s(f64::INFINITY, 1.0, 1.0).is_err());
    }

    #[test]
    fn an_unsaturated_cycle_by_hand() {
        // R = 1.2/0.05 = 24, dW = 24 - log2 24 = 19.415037, packets dW - 1 + 3/2 dW^2 = 583.830543.
        let found = cycle(&FIGURE_3).unwrap();
        assert!((found.delta_w - 19.415_037_499).abs() < 1e-8, "{found:?}");
        assert_eq!((found.regime, found.bdp), (Regime::Unsaturated, 93.75));
        assert!((found.packets - (18.415_037_499 + 1.5 * 19.415_037_499 * 19.415_037_499)).abs() < 1e-6);
        assert!((found.throughput_bps - 8000.0 * found.packets / 2.2).abs() < 1e-6);
    }

    #[test]
    fn the_exact_window_solves_equation_2() {
        for rounds in [1.0, 1.5, 7.0, 24.0, 1e6] {
            let dw = delta_w_exact(rounds).unwrap();
            assert!((dw + libm::log2(dw) - rounds).abs() <= 1e-9 * rounds);
        }
        // Fixed point of the recursion: W = 2 dW.
        let dw = delta_w_exact(24.0).unwrap();
        assert!((next_cwnd(2.0 * dw, 24.0) - 2.0 * dw).abs() < 1e-9);
        assert!((cwnd_after_cycles(60, 1.0, dw) - 2.0 * dw).abs() < 1e-9);
    }

    #[test]
    fn timeouts_double_until_they_outlast_the_silence() {
        // 1 s; 1 + 2 = 3 s; 1 + 2 + 4 = 7 s; with at most 2 s: 1 + 2 + 2 = 5 s.
        assert_eq!(rto_outage_s(0.1, 1.0, 60.0), Ok(1.0));
        assert_eq!(rto_outage_s(1.0, 1.0, 60.0), Ok(3.0));
        assert_eq!(rto_outage_s(4.0, 1.0, 60.0), Ok(7.0));
        assert_eq!(rto_outage_s(4.0, 1.0, 2.0), Ok(5.0));
        assert!(rto_outage_s(-1.0, 1.0, 60.0).is_err());
    }

    #[test]
    fn cycles_too_short_are_refused() {
        assert!(cycle(&SawtoothSetting { t_cc_s: 0.9, ..FIGURE_3 }).unwrap_err().0.contains("equation (3)"));
        assert!(
            cycle(&SawtoothSetting { t_cc_s: 1.01, exact: true, ..FIGURE_3 })
                .unwrap_err()
                .0
                .contains("R >= 1")
        );
    }
}
