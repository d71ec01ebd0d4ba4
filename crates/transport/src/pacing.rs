//! Spacing of segments at the rate the congestion control asks for.

use cogtcp_units::{Duration, Rate, Time};

/// Segments that Linux sends before it paces.
const UNPACED: u64 = 10;

/// When the next segment may leave.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pacer {
    /// When the last segment, or packet, began to take its time.
    from: Time,
    /// Linux: when the next packet may leave.
    next: Time,
    /// Bytes of the last segment or packet; 0: it was not paced.
    bytes: u32,
    /// Linux: how late the last packet left, at most 4.29 s, in ns. The next may be as much earlier.
    credit: u32,
    /// Whether it paces as Linux, by packets.
    linux: bool,
}

impl Pacer {
    /// With `linux`, as `tcp_update_skb_after_send`. The first ten segments are not paced. The last departure
    /// keeps its rate. Up to half of a packet's time makes up for a late departure.
    pub(crate) fn new(linux: bool) -> Self {
        Self { linux, ..Self::default() }
    }

    /// The time from which a segment may leave, by the present rate. Segments that left at a low rate do not
    /// delay the next one after the rate has risen (in Linux they do).
    #[inline]
    pub(crate) fn release(&self, rate: Option<Rate>) -> Time {
        if self.linux {
            return self.next;
        }
        match rate {
            Some(rate) if self.bytes > 0 => self.from + rate.transmission_time(u64::from(self.bytes)),
            _ => self.from,
        }
    }

    /// Linux's `tcp_wstamp_ns`: the last departure, or the next if that is paced; else zero.
    pub(crate) const fn departure(&self) -> Time {
        self.next
    }

    /// A segment of `bytes`, the `number`th (from 1), leaves now; the next follows after its time at `rate`.
    /// `within` says that it is not the first of its packet. Except in Linux unused time is not saved up: no
    /// burst follows a pause.
    pub(crate) fn on_send(&mut self, now: Time, bytes: u32, rate: Option<Rate>, number: u64, within: bool) {
        if !self.linux {
            self.from = self.release(rate).max(now);
            self.bytes = if rate.is_some() { bytes } else { 0 };
            return;
        }
        if within {
            self.bytes = self.bytes.saturating_add(bytes);
        } else {
            self.from = self.next.max(now);
            let late = self.from.saturating_since(self.next).as_nanos();
            self.credit = late.min(u64::from(u32::MAX)) as u32;
            self.bytes = bytes;
        }
        self.next = self.from;
        if let Some(rate) = rate.filter(|_| number >= UNPACED) {
            // Rounded down (`tcp_update_skb_after_send`).
            let nanos = u64::from(self.bytes) * 8_000_000_000 / rate.bits_per_second().max(1);
            let time = Duration::from_nanos(nanos);
            self.next += time - Duration::from_nanos(u64::from(self.credit)).min(time / 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_at_the_rate() {
        let mut pacer = Pacer::default();
        let rate = Some(Rate::from_bits_per_second(8_000_000));
        pacer.on_send(Time::from_millis(5), 1000, rate, 1, false);
        assert_eq!(pacer.release(rate), Time::from_millis(6));
        // Late by 9 ms: no credit.
        pacer.on_send(Time::from_millis(15), 1000, rate, 2, false);
        assert_eq!(pacer.release(rate), Time::from_millis(16));
        pacer.on_send(Time::from_millis(16), 1000, None, 3, false);
        assert_eq!(pacer.release(rate), Time::from_millis(16));
    }

    #[test]
    fn a_higher_rate_counts_at_once() {
        let mut pacer = Pacer::default();
        pacer.on_send(Time::from_millis(5), 1000, Some(Rate::from_bits_per_second(8)), 1, false);
        let rate = Some(Rate::from_bits_per_second(8_000_000));
        assert_eq!(pacer.release(rate), Time::from_millis(6));
    }

    /// Ten segments leave at once; then packets of two at 8 Mbit/s, of 2 ms. A packet that leaves 0.5 ms late
    /// is followed 1.5 ms later, and one that is 9 ms late 1 ms later.
    #[test]
    fn linux_paces_packets_and_makes_up_for_half() {
        let mut pacer = Pacer::new(true);
        let rate = Some(Rate::from_bits_per_second(8_000_000));
        for number in 1..=9 {
            pacer.on_send(Time::from_millis(5), 1000, rate, number, false);
            assert_eq!(pacer.release(rate), Time::from_millis(5));
        }
        let mut send = |micros: u64, number| {
            let now = Time::ZERO + Duration::from_micros(micros);
            pacer.on_send(now, 1000, rate, number, false);
            pacer.on_send(now, 1000, rate, number + 1, true);
            pacer.release(Some(Rate::from_bits_per_second(80_000_000)))
        };
        assert_eq!(send(5_000, 10), (Time::ZERO + Duration::from_micros(7_000)));
        assert_eq!(send(7_500, 12), (Time::ZERO + Duration::from_micros(9_000)));
        assert_eq!(send(18_000, 14), (Time::ZERO + Duration::from_micros(19_000)));
    }
}
