//! TCP's throughput as a function of the loss event rate (RFC 5348, section 3.1).

use libm::sqrt;

/// Returns TCP's throughput in bytes per second.
///
/// `segment` is the segment size in bytes, `rtt_s` the round-trip time in seconds, `p` the loss event rate (0
/// to 1). The retransmission timeout is four round-trip times and one ACK acknowledges one packet (b = 1), as
/// section 3.1 recommends. Without losses the throughput is infinite. The equation has no bound on the
/// probability of a timeout, unlike the one of Padhye et al. (1998).
pub fn throughput(segment: f64, rtt_s: f64, p: f64) -> f64 {
    let timeout = 4.0 * rtt_s;
    let per_packet =
        rtt_s * sqrt(2.0 * p / 3.0) + timeout * 3.0 * sqrt(3.0 * p / 8.0) * p * (1.0 + 32.0 * p * p);
    segment / per_packet
}

/// Returns the loss event rate at which TCP's throughput is `rate` bytes per second, to a relative error
/// below 10^-9 (section 6.3.1 allows 5 %).
///
/// The result lies between 10^-12 and 1. A rate below TCP's throughput at `p = 1` gives 1.
pub fn loss_event_rate(segment: f64, rtt_s: f64, rate: f64) -> f64 {
    let (mut low, mut high) = (1e-12, 1.0);
    if throughput(segment, rtt_s, high) >= rate {
        return high;
    }
    // The throughput falls with p: bisect in the logarithm by geometric means.
    for _ in 0..100 {
        let middle = sqrt(low * high);
        if throughput(segment, rtt_s, middle) > rate {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the equation worked out with 50 decimal digits.
    #[test]
    fn throughput_follows_the_equation() {
        // s = 1000 B, R = 0.1 s, p = 0.01: sqrt(0.02/3) = 0.0816497, 3 sqrt(0.03/8) = 0.183712,
        // 0.1*0.0816497 + 0.4*0.183712*0.01*(1 + 0.0032) = 0.00816497 + 0.000737199 = 0.00890217 s a packet.
        assert!((throughput(1000.0, 0.1, 0.01) - 112_332.2).abs() < 0.1, "{}", throughput(1000.0, 0.1, 0.01));
        assert!(throughput(1000.0, 0.1, 0.0).is_infinite());
    }

    #[test]
    fn the_inverse_inverts() {
        for p in [1e-6, 1e-4, 0.003, 0.05, 0.4, 0.99] {
            let found = loss_event_rate(1460.0, 0.08, throughput(1460.0, 0.08, p));
            assert!((found / p - 1.0).abs() < 1e-9, "{found} for {p}");
        }
        assert_eq!(loss_event_rate(1000.0, 1.0, 1e-9), 1.0);
    }
}
