//! TCP over a channel that loses packets at a fixed rate and never falls silent.

use crate::OutOfRange;

/// Returns the throughput of the square-root law, `MSS/RTT sqrt(3 / (2 b p))`, in bits of payload per second.
///
/// Mathis, Semke, Mahdavi, Ott, CCR 27(3), 1997. `segments_per_ack` is b: 1, or 2 with delayed ACKs. The law
/// has no timeouts and no window limit: an upper bound where loss is above about 2 %.
///
/// # Errors
///
/// A quantity is not above zero, or the probability is not above 0 and at most 1.
pub fn mathis_throughput_bps(
    segment_size_bytes: f64,
    rtt_s: f64,
    loss_probability: f64,
    segments_per_ack: f64,
) -> Result<f64, OutOfRange> {
    check_positive(&[
        ("segment_size_bytes", segment_size_bytes),
        ("rtt_s", rtt_s),
        ("segments_per_ack", segments_per_ack),
    ])?;
    check_loss(loss_probability)?;
    let window = (3.0 / (2.0 * segments_per_ack * loss_probability)).sqrt();
    Ok(8.0 * segment_size_bytes * window / rtt_s)
}

/// Path and sender of [`pftk_throughput_bps`].
#[derive(Clone, Copy, Debug)]
pub struct Pftk {
    /// Payload of a segment, bytes.
    pub segment_size_bytes: f64,
    /// Round-trip time, seconds.
    pub rtt_s: f64,
    /// First retransmission timeout, T0, seconds.
    pub rto_s: f64,
    /// Probability of a loss event: later losses of the same window follow from the first.
    pub loss_probability: f64,
    /// Segments that one ACK covers: 1, or 2 with delayed ACKs.
    pub segments_per_ack: f64,
    /// Largest window, packets; infinite for none.
    pub max_window_packets: f64,
}

/// Returns the throughput by Padhye, Firoiu, Towsley, Kurose, SIGCOMM 1998, in bits of payload per second.
/// This is the approximate model with timeouts and window limit; RFC 5348 section 3.1 uses it without the
/// limits.
///
/// `min(Wmax/RTT, 1 / (RTT sqrt(2bp/3) + T0 min(1, 3 sqrt(3bp/8)) p (1 + 32 p^2)))`.
///
/// # Errors
///
/// A quantity is not above zero, or the probability is not above 0 and at most 1.
pub fn pftk_throughput_bps(of: &Pftk) -> Result<f64, OutOfRange> {
    let Pftk {
        segment_size_bytes,
        rtt_s,
        rto_s,
        loss_probability: p,
        segments_per_ack: b,
        max_window_packets,
    } = *of;
    check_positive(&[
        ("segment_size_bytes", segment_size_bytes),
        ("rtt_s", rtt_s),
        ("rto_s", rto_s),
        ("segments_per_ack", b),
        ("max_window_packets", max_window_packets),
    ])?;
    check_loss(p)?;
    let recovery_s = rtt_s * (2.0 * b * p / 3.0).sqrt();
    let timeouts_s = rto_s * (3.0 * (3.0 * b * p / 8.0).sqrt()).min(1.0) * p * (1.0 + 32.0 * p * p);
    let packets_per_second = (max_window_packets / rtt_s).min(1.0 / (recovery_s + timeouts_s));
    Ok(8.0 * segment_size_bytes * packets_per_second)
}

fn check_positive(values: &[(&str, f64)]) -> Result<(), OutOfRange> {
    match values.iter().find(|(_, value)| value.is_nan() || *value <= 0.0) {
        Some((name, value)) => Err(OutOfRange(format!("{name} must be above 0, not {value:?}"))),
        None => Ok(()),
    }
}

fn check_loss(p: f64) -> Result<(), OutOfRange> {
    if p > 0.0 && p <= 1.0 {
        return Ok(());
    }
    Err(OutOfRange(format!("loss_probability must be above 0 and at most 1, not {p:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_laws_by_hand() {
        // 1000 B, 0.1 s, p = 0.015, b = 1: window sqrt(3 / 0.03) = 10 segments, 100 a second, 800 kbit/s.
        assert!((mathis_throughput_bps(1000.0, 0.1, 0.015, 1.0).unwrap() - 800e3).abs() < 1e-6);
        // p = 0.015: 0.1 sqrt(0.01) = 0.01; 3 sqrt(0.005625) = 0.225; 1 * 0.225 * 0.015 * (1 + 32 * 0.000225)
        // = 0.0033993.
        let mut of = Pftk {
            segment_size_bytes: 1000.0,
            rtt_s: 0.1,
            rto_s: 1.0,
            loss_probability: 0.015,
            segments_per_ack: 1.0,
            max_window_packets: f64::INFINITY,
        };
        let expected = 8000.0 / (0.01 + 0.225 * 0.015 * 1.0072);
        assert!((pftk_throughput_bps(&of).unwrap() - expected).abs() < 1e-6);
        // A window of 2 packets: 20 a second.
        of.max_window_packets = 2.0;
        assert!((pftk_throughput_bps(&of).unwrap() - 160e3).abs() < 1e-6);
        of.loss_probability = 0.0;
        assert!(pftk_throughput_bps(&of).unwrap_err().0.contains("loss_probability"));
    }
}
