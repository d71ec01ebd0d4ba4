//! A source of packets.

use crate::Pattern;
use cogtcp_units::{Duration, RandomStream, Time};

/// A source of packets of one size.
#[derive(Debug)]
pub struct Source {
    pattern: Pattern,
    /// Payload bytes of a packet.
    size: u32,
    stream: RandomStream,
    /// When the present ON period began, and how many packets it has sent; without ON and OFF: the start.
    since: Time,
    sent: u64,
    /// When it ends.
    until: Time,
    next: Time,
}

impl Source {
    /// A source that begins at `start`, with a packet where distances are constant, with an ON period where
    /// there are such. `size` is the payload of a packet in bytes; `stream` makes all random choices.
    pub fn new(pattern: Pattern, size: u32, start: Time, stream: RandomStream) -> Self {
        let mut source = Self { pattern, size, stream, since: start, sent: 0, until: Time::MAX, next: start };
        match pattern {
            Pattern::Constant(_) | Pattern::Call { .. } => {}
            // A Poisson process has no packet at its start.
            Pattern::Poisson(_) => source.next = start + source.distance(),
            Pattern::OnOff { on, .. } => source.until = start + on.draw(&mut source.stream),
        }
        source
    }

    /// Payload bytes of each packet.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// When the next packet is due.
    pub fn next_packet(&self) -> Time {
        self.next
    }

    /// The packet that was due has been sent: plans the next.
    pub fn advance(&mut self) {
        self.sent += 1;
        match self.pattern {
            Pattern::Poisson(_) => {
                let distance = self.distance();
                self.next += distance;
            }
            Pattern::Constant(_) | Pattern::Call { .. } => self.next = self.planned(),
            Pattern::OnOff { on, off, .. } => {
                self.next = self.planned();
                // Again, where a drawn ON period rounds to nothing.
                while self.next >= self.until {
                    self.since = self.until + off.draw(&mut self.stream);
                    self.until = self.since + on.draw(&mut self.stream);
                    self.sent = 0;
                    self.next = self.since;
                }
            }
        }
    }

    /// When packet number `sent` of the period is due: so that the sum keeps to the rate without drift.
    fn planned(&self) -> Time {
        let bits = self.sent.saturating_mul(8 * u64::from(self.size));
        let rate = self.pattern.rate().bits_per_second().max(1);
        self.since + Duration::from_nanos(bits).mul_ratio(1_000_000_000, rate)
    }

    /// An exponential distance between packets.
    fn distance(&mut self) -> Duration {
        let mean = self.pattern.rate().transmission_time(u64::from(self.size));
        self.stream.exponential(mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Period;
    use cogtcp_units::Rate;

    fn times(pattern: Pattern, end: Time) -> Vec<u64> {
        let mut source = Source::new(pattern, 1000, Time::from_millis(1), RandomStream::new(1, "source", 0));
        let mut times = Vec::new();
        while source.next_packet() < end {
            times.push(source.next_packet().as_nanos());
            source.advance();
        }
        times
    }

    /// 1000 bytes at 3 Mbit/s: 2.666... ms apart, without drift.
    #[test]
    fn a_constant_rate_keeps_to_itself() {
        let sent = times(Pattern::Constant(Rate::from_bits_per_second(3_000_000)), Time::from_millis(8_001));
        assert_eq!(sent[..3], [1_000_000, 3_666_666, 6_333_333]);
        assert_eq!(sent.len(), 3000);
    }

    /// 8 Mbit/s of 1000-byte packets for 1000 s: a million packets, and as many in any second on average as
    /// their variance.
    #[test]
    fn a_poisson_process_has_its_rate_and_its_variance() {
        let sent =
            times(Pattern::Poisson(Rate::from_bits_per_second(8_000_000)), Time::from_millis(1_000_000));
        assert!(sent.len().abs_diff(1_000_000) < 5000, "{}", sent.len());
        let mut counts = vec![0.0_f64; 1000];
        sent.iter().for_each(|time| counts[(time / 1_000_000_000) as usize] += 1.0);
        let mean = counts.iter().sum::<f64>() / 1000.0;
        let variance = counts.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>() / 1000.0;
        // The variance of a thousand counts has a standard error of sqrt(2 / 1000) of itself.
        assert!((variance / mean - 1.0).abs() < 5.0 * 0.0447, "{variance} and {mean}");
    }

    /// ON for 10 ms and OFF for 90: ten packets of 1 ms each, then a pause; periods begin with a packet.
    #[test]
    fn on_and_off_take_turns() {
        let fixed = |ms| Period::Fixed(Duration::from_millis(ms));
        let pattern =
            Pattern::OnOff { rate: Rate::from_bits_per_second(8_000_000), on: fixed(10), off: fixed(90) };
        let sent = times(pattern, Time::from_millis(1_001));
        assert_eq!(sent.len(), 100);
        assert_eq!((sent[9], sent[10]), (10_000_000, 101_000_000));
    }

    /// Exponential ON of 100 ms and OFF of 300 ms: a quarter of the rate over a long time (five standard
    /// errors).
    #[test]
    fn random_periods_give_their_share() {
        let exponential = |ms| Period::Exponential(Duration::from_millis(ms));
        let rate = Rate::from_bits_per_second(8_000_000);
        let pattern = Pattern::OnOff { rate, on: exponential(100), off: exponential(300) };
        let sent = times(pattern, Time::from_millis(2_000_000));
        // Each period begins with a packet, which adds half of one to each of 5000.
        let share = sent.len() as f64 / 2e6;
        assert!((share - 0.25).abs() < 0.02, "{share}");
    }

    /// A Poisson process has its first packet after a distance, the others at the start; a call has the
    /// distance of its codec.
    #[test]
    fn patterns_begin_each_in_their_way() {
        let first = |pattern| times(pattern, Time::from_millis(30));
        let rate = Rate::from_bits_per_second(8_000_000);
        assert!(first(Pattern::Poisson(rate))[0] > 1_000_000);
        let call = Pattern::Call { codec: crate::call::Codec::G711 };
        let mut source = Source::new(call, 172, Time::ZERO, RandomStream::new(1, "source", 0));
        source.advance();
        assert_eq!((source.size(), source.next_packet()), (172, Time::from_millis(20)));
    }

    /// An ON period of 10 ms has packets at 0 to 9 ms: the one at its end would be of the next.
    #[test]
    fn no_packet_is_sent_as_the_period_ends() {
        let fixed = |ms| Period::Fixed(Duration::from_millis(ms));
        let rate = Rate::from_bits_per_second(8_000_000);
        let sent = times(Pattern::OnOff { rate, on: fixed(2), off: fixed(5) }, Time::from_millis(16));
        assert_eq!(sent, [1, 2, 8, 9, 15].map(|ms| ms * 1_000_000));
    }
}
