//! Counting spurious timeouts, exactly, for statistics alone.
//!
//! Every transmission carries a tag off the wire (see [`crate::Segment::tag`]) and every ACK answers one.
//! Consider the timeouts that retransmitted the oldest segment, and the transmission that this segment's ACK
//! answers. A timeout is spurious if its retransmission came after that transmission: the ACK would have come
//! without the timeout. If no tag returns, the echoed timestamp serves (the Eifel detection of RFC 3522).
//! Without both, nothing is counted.

use cogtcp_units::Time;

#[derive(Clone, Debug, Default)]
pub(crate) struct SpuriousCounter {
    /// Tags of the retransmissions by timer of the oldest segment.
    tags: Vec<u32>,
    /// When the first of them left.
    first_at: Time,
}

impl SpuriousCounter {
    /// The timer retransmitted the oldest segment.
    pub(crate) fn on_timer_retransmission(&mut self, now: Time, tag: u32) {
        if self.tags.is_empty() {
            self.first_at = now;
        }
        self.tags.push(tag);
    }

    /// When the first retransmission of the episode left.
    pub(crate) const fn first_at(&self) -> Time {
        self.first_at
    }

    /// Whether an episode is open.
    pub(crate) fn is_open(&self) -> bool {
        !self.tags.is_empty()
    }

    /// The oldest segment was acknowledged by an ACK with this tag; `echoed_before` says whether its
    /// timestamp is from before the first retransmission, where timestamps are in use. Returns how many of
    /// the timeouts were spurious.
    pub(crate) fn on_acknowledged(&mut self, tag: u32, echoed_before: Option<bool>) -> u32 {
        let count = if tag != 0 {
            self.tags.iter().filter(|&&retransmitted| (retransmitted.wrapping_sub(tag) as i32) > 0).count()
        } else if echoed_before == Some(true) {
            self.tags.len()
        } else {
            0
        };
        self.tags.clear();
        count as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_timeouts_after_the_transmission_that_arrived() {
        let count = |tag, echoed| {
            let mut counter = SpuriousCounter::default();
            (10..13).for_each(|tag| counter.on_timer_retransmission(Time::ZERO, tag));
            (counter.on_acknowledged(tag, echoed), counter.is_open())
        };
        // The original (tag 5) arrived; the first, the last retransmission did; unknown with and without
        // timestamps.
        assert_eq!(count(5, None), (3, false));
        assert_eq!(count(10, None), (2, false));
        assert_eq!(count(12, Some(true)), (0, false));
        assert_eq!(count(0, Some(true)), (3, false));
        assert_eq!(count(0, None), (0, false));
    }

    /// The first retransmission of an episode is what a timestamp is compared with, whatever came later.
    #[test]
    fn an_episode_began_with_its_first_retransmission() {
        let mut counter = SpuriousCounter::default();
        assert!(!counter.is_open());
        counter.on_timer_retransmission(Time::from_millis(5), 1);
        counter.on_timer_retransmission(Time::from_millis(9), 2);
        assert_eq!((counter.first_at(), counter.is_open()), (Time::from_millis(5), true));
        counter.on_acknowledged(1, None);
        counter.on_timer_retransmission(Time::from_millis(20), 3);
        assert_eq!(counter.first_at(), Time::from_millis(20));
        // The retransmission itself was answered: none of those before it was needless.
        assert_eq!((counter.on_acknowledged(3, None), counter.is_open()), (0, false));
    }
}
