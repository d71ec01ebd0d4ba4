//! What arrives at the other end of a source.

use cogtcp_units::{Duration, Time};

/// What a receiver counts of numbered packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Arrivals {
    /// Packets received.
    pub packets: u64,
    /// Payload bytes received.
    pub bytes: u64,
    /// Packets whose number is below one that came before.
    pub reordered: u64,
    next: u64,
    last_delay: Option<Duration>,
    jitter_ns: f64,
}

impl Arrivals {
    /// A packet of `bytes` of payload, sent at `sent_at`, has come.
    pub fn receive(&mut self, now: Time, number: u32, bytes: u32, sent_at: Time) {
        self.packets += 1;
        self.bytes += u64::from(bytes);
        if u64::from(number) < self.next {
            self.reordered += 1;
        }
        self.next = self.next.max(u64::from(number) + 1);
        let delay = now.saturating_since(sent_at);
        if let Some(last) = self.last_delay.replace(delay) {
            // The gain of 1/16 is the RFC's.
            self.jitter_ns += (delay.abs_diff(last).as_nanos() as f64 - self.jitter_ns) / 16.0;
        }
    }

    /// Interarrival jitter: the smoothed change of the delay from packet to packet (RFC 3550 section 6.4.1).
    pub fn jitter_s(&self) -> f64 {
        // A change of the delay needs two packets.
        if self.packets > 1 { self.jitter_ns / 1e9 } else { f64::NAN }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Delays of 10, 26, 26 ms: differences of 16 and 0, smoothed by a sixteenth: 1 ms, then 0.9375 ms.
    #[test]
    fn jitter_is_that_of_rfc_3550() {
        let mut arrivals = Arrivals::default();
        assert!(arrivals.jitter_s().is_nan());
        let at = Time::from_millis;
        arrivals.receive(at(10), 0, 100, at(0));
        assert!(arrivals.jitter_s().is_nan(), "one delay makes no difference");
        arrivals.receive(at(46), 1, 100, at(20));
        assert_eq!(arrivals.jitter_s(), 0.001);
        arrivals.receive(at(66), 2, 100, at(40));
        assert_eq!((arrivals.jitter_s(), arrivals.packets, arrivals.bytes), (0.000_937_5, 3, 300));
    }

    #[test]
    fn what_comes_after_its_time_is_reordered() {
        let mut arrivals = Arrivals::default();
        for number in [0, 2, 1, 3, 3] {
            arrivals.receive(Time::from_millis(1), number, 1, Time::ZERO);
        }
        assert_eq!(arrivals.reordered, 2);
    }
}
