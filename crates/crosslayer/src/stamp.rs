//! What nodes on a route write into packets that pass them.

use cogtcp_units::{Duration, Rate, Time};

/// Weight of the old mean in a hop's mean delay (ATP, recalled).
const OLD: f64 = 0.75;

/// Factor of a hop's delay over the air while the hop is idle: a packet will contend with its successors on
/// the next hops (ATP's eta, recalled).
const IDLE_FACTOR: f64 = 3.0;

/// A hop over the air is idle that has carried no stamped packet for this time (a guess).
const IDLE_AFTER: Duration = Duration::from_secs(1);

/// What a node knows of one of its hops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StampingHop {
    /// Free bytes of the queue in front of the hop.
    pub room: u64,
    /// Rate of the hop.
    pub rate: Rate,
    /// Propagation delay of the hop.
    pub propagation: Duration,
    /// The hop leads over the air, where neighbouring hops share the channel.
    pub is_shared: bool,
    /// Mean of Q + T in microseconds: waiting in the queue, and transmission from the head of the queue on.
    mean_us: f64,
    /// When the hop carried a stamped packet last.
    last: Option<Time>,
}

impl StampingHop {
    /// Returns a hop that has carried nothing.
    pub fn new(rate: Rate, propagation: Duration, is_shared: bool) -> Self {
        // Nobody has told how much room there is.
        Self { room: u64::MAX, rate, propagation, is_shared, mean_us: 0.0, last: None }
    }

    /// Returns when the hop carried a stamped packet last.
    pub fn last(&self) -> Option<Time> {
        self.last
    }

    /// Adds a packet that spent `spent` from entering the queue to its arrival. Returns the mean of Q + T in
    /// microseconds, as a packet is to be told.
    fn add(&mut self, now: Time, spent: Duration) -> f64 {
        let sample = spent.saturating_sub(self.propagation).as_secs_f64() * 1e6;
        let is_idle = self.last.is_none_or(|last| now.saturating_since(last) > IDLE_AFTER);
        // An idle hop's mean is old: the packet itself tells more.
        self.mean_us = if is_idle { sample } else { OLD * self.mean_us + (1.0 - OLD) * sample };
        self.last = Some(now);
        if is_idle && self.is_shared { IDLE_FACTOR * self.mean_us } else { self.mean_us }
    }
}

/// Twelve bytes of a packet that hops write into. The default asks for no stamps.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Stamp {
    /// Greatest mean of Q + T of the hops so far, in microseconds.
    delay_us: u32,
    /// Time from the source to the last hop, in microseconds; [`u32::MAX`]: no stamps are asked for.
    elapsed_us: u32,
    /// Least free queue, in bytes, and least rate, in kbit/s.
    room: Short,
    rate: Short,
}

impl Default for Stamp {
    fn default() -> Self {
        Self { delay_us: 0, elapsed_us: u32::MAX, room: Short::MAX, rate: Short::MAX }
    }
}

impl Stamp {
    /// Bytes of the stamp in a packet.
    pub const SIZE: u32 = 12;

    /// The stamp of a packet that asks for stamps, at its source.
    pub const WANTED: Self = Self { delay_us: 0, elapsed_us: 0, room: Short::MAX, rate: Short::MAX };

    /// True if hops are to write into the packet.
    pub const fn is_wanted(&self) -> bool {
        self.elapsed_us != u32::MAX
    }

    /// The packet has passed `hop`, `elapsed` after its source sent it. `spent`: from entering the queue to
    /// the arrival; `None`: since the last hop.
    pub fn pass(&mut self, now: Time, elapsed: Duration, spent: Option<Duration>, hop: &mut StampingHop) {
        if !self.is_wanted() {
            return;
        }
        let before = Duration::from_micros(u64::from(self.elapsed_us));
        let mean = hop.add(now, spent.unwrap_or_else(|| elapsed.saturating_sub(before)));
        self.delay_us = self.delay_us.max(mean as u32);
        self.elapsed_us =
            // `u32::MAX` marks a packet that asks for no stamps.
            u32::try_from(elapsed.as_nanos() / 1000).map_or(u32::MAX - 1, |it| it.min(u32::MAX - 1));
        self.room = self.room.min(Short::new(hop.room));
        self.rate = self.rate.min(Short::new(hop.rate.bits_per_second() / 1000));
    }

    /// Returns the greatest mean of Q + T of a hop.
    pub fn delay(&self) -> Duration {
        Duration::from_micros(u64::from(self.delay_us))
    }

    /// Returns the least free queue in bytes, to 0.1 %; `None`: no hop has told one.
    pub fn room(&self) -> Option<u64> {
        (self.room != Short::MAX).then(|| self.room.value())
    }

    /// Returns the least rate, to 0.1 %; `None`: no hop has told one.
    pub fn rate(&self) -> Option<Rate> {
        (self.rate != Short::MAX).then(|| Rate::from_bits_per_second(self.rate.value() * 1000))
    }
}

/// A number in two bytes: eleven bits of mantissa, five of exponent, rounded down. They sort as the numbers
/// do.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Short(u16);

impl Short {
    const MAX: Self = Self(u16::MAX);

    fn new(value: u64) -> Self {
        // Values below 2^11 have exponent 0 and are exact.
        let exponent = (64 - value.leading_zeros()).saturating_sub(11);
        if exponent > 31 {
            return Self::MAX;
        }
        Self((exponent as u16) << 11 | (value >> exponent) as u16)
    }

    const fn value(self) -> u64 {
        ((self.0 & 0x7ff) as u64) << (self.0 >> 11)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_numbers_keep_order_and_three_digits() {
        let mut last = Short::new(0);
        for value in (0..2000).chain((1..5000).map(|it| it * 9973)) {
            let short = Short::new(value);
            assert!(
                short.value() <= value && short.value() as f64 >= 0.999 * value as f64,
                "{value}: {short:?}"
            );
            if value > last.value() {
                assert!(short >= last);
                last = short;
            }
        }
    }

    /// Two hops of 2 ms and 5 ms: the greater stands in the packet, with the least room and rate.
    #[test]
    fn a_packet_keeps_the_worst_hop() {
        let mut hops = [1, 4].map(|mbit| {
            StampingHop::new(Rate::from_bits_per_second(mbit * 1_000_000), Duration::from_millis(1), false)
        });
        hops[1].room = 3000;
        let mut stamp = Stamp::WANTED;
        let at = |millis| (Time::from_millis(100 + millis), Duration::from_millis(millis));
        for ((now, elapsed), hop) in [at(3), at(9)].into_iter().zip(&mut hops) {
            stamp.pass(now, elapsed, None, hop);
        }
        assert_eq!(stamp.delay(), Duration::from_millis(5));
        assert_eq!(stamp.room(), Some(Short::new(3000).value()));
        assert_eq!(stamp.rate(), Some(Rate::from_bits_per_second(1_000_000)));
        // A second packet right behind: the mean is 0.75 * 5 + 0.25 * 9.
        let mut next = Stamp::WANTED;
        next.pass(Time::from_millis(120), Duration::from_millis(10), None, &mut hops[1]);
        assert_eq!(next.delay(), Duration::from_millis(6));
        let mut plain = Stamp::default();
        plain.pass(Time::from_millis(120), Duration::from_millis(10), None, &mut hops[1]);
        assert_eq!(plain, Stamp::default());
    }

    /// Over the air an idle hop tells three times its delay, a busy one its mean.
    #[test]
    fn an_idle_hop_over_the_air_tells_more() {
        let mut hop = StampingHop::new(Rate::from_bits_per_second(1_000_000), Duration::ZERO, true);
        let mut told = |millis| {
            let mut stamp = Stamp::WANTED;
            let spent = Some(Duration::from_millis(4));
            stamp.pass(Time::from_millis(millis), Duration::from_millis(50), spent, &mut hop);
            stamp.delay()
        };
        assert_eq!([told(0), told(500), told(5000)], [12, 4, 12].map(Duration::from_millis));
    }

    /// A second after its last packet a hop is still busy, and idle later.
    #[test]
    fn a_hop_is_idle_beyond_a_second() {
        for (nanos, told) in [(1_000_000_000, 5_000.0), (1_000_000_001, 3.0 * 8_000.0)] {
            let mut hop = StampingHop::new(Rate::from_bits_per_second(1), Duration::from_millis(1), true);
            assert_eq!((hop.room, hop.last()), (u64::MAX, None));
            assert_eq!(hop.add(Time::ZERO, Duration::from_millis(5)), 3.0 * 4_000.0);
            // 8 ms without propagation; the mean of a busy hop is 0.75 * 4 + 0.25 * 8.
            let now = Time::from_nanos(nanos);
            assert_eq!(hop.add(now, Duration::from_millis(9)), told);
            assert_eq!(hop.last(), Some(now));
        }
    }

    /// A packet that asks for stamps never looks like one that does not, however long it is under way.
    #[test]
    fn elapsed_time_is_cut_below_its_mark() {
        let mut hop = StampingHop::new(Rate::from_bits_per_second(1), Duration::ZERO, false);
        for (micros, elapsed) in [
            (5, 5),
            (u64::from(u32::MAX) - 2, u32::MAX - 2),
            (u64::from(u32::MAX) - 1, u32::MAX - 1),
            (u64::from(u32::MAX), u32::MAX - 1),
            (u64::from(u32::MAX) + 9, u32::MAX - 1),
        ] {
            let mut stamp = Stamp::WANTED;
            stamp.pass(Time::ZERO, Duration::from_micros(micros), None, &mut hop);
            assert_eq!((stamp.elapsed_us, stamp.is_wanted()), (elapsed, true), "{micros}");
        }
        let plain = Stamp::default();
        assert_eq!((plain.is_wanted(), plain.delay()), (false, Duration::ZERO));
        assert_eq!((plain.room(), plain.rate()), (None, None));
        assert_eq!((Stamp::WANTED.room(), Stamp::WANTED.rate(), Stamp::SIZE), (None, None, 12));
    }

    /// Eleven bits of mantissa, five of exponent.
    #[test]
    fn short_numbers_by_hand() {
        for (value, kept) in [
            (0, 0),
            (2047, 2047),
            (2048, 2048),
            (2049, 2048),
            (4095, 4094),
            (4096, 4096),
            (1 << 41, 1 << 41),
            ((1 << 41) + (1 << 30), 1 << 41),
        ] {
            assert_eq!(Short::new(value).value(), kept, "{value}");
        }
        assert_eq!((Short::new(1 << 42), Short::new(u64::MAX)), (Short::MAX, Short::MAX));
        assert_ne!(Short::new(1 << 41), Short::MAX);
    }
}
