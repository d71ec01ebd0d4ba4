//! What a link can carry over time, by a trace: in place of a constant rate.
//!
//! Two kinds. *Opportunities* are mahimahi's (Netravali et al., "Mahimahi: Accurate Record-and-Replay for
//! HTTP", USENIX ATC 2015, section 4). At each listed millisecond up to 1,500 waiting bytes leave. A packet
//! may need several opportunities, and several packets may share one; an unused opportunity is lost. *Rates*
//! hold from one time to the next. Both begin again at their end.
//!
//! `docs/link-traces.md` describes the files, [`text`] reads and writes them.

pub mod text;

use cogtcp_units::Rate;

/// Bytes that one opportunity carries: an IP packet of the usual MTU.
pub const OPPORTUNITY: u64 = 1500;

const MILLISECOND: u64 = 1_000_000;
/// Bit nanoseconds per second in a byte: the unit of [`Schedule::capacity`].
const BYTE: u128 = 8_000_000_000;

/// What a link can carry over time.
#[derive(Clone, Debug, PartialEq)]
pub enum Schedule {
    /// Times of the opportunities, in milliseconds, ascending; the last is the period and above 0.
    Opportunities(Vec<u32>),
    /// Rates, in bits per second, and when each begins, in nanoseconds, ascending from 0; the last begins
    /// nothing but ends the period.
    Rates(Vec<(u64, u64)>),
}

impl Schedule {
    /// After how long it begins again, in nanoseconds.
    pub fn period(&self) -> u64 {
        match self {
            // The reader refuses an empty trace; 1 only keeps the type total, and the divisions by a period
            // valid.
            Self::Opportunities(times) => times.last().map_or(1, |last| u64::from(*last) * MILLISECOND),
            Self::Rates(steps) => steps.last().map_or(1, |last| last.0),
        }
    }

    /// What it carries in one period, in bit nanoseconds per second.
    fn of_period(&self) -> u128 {
        match self {
            Self::Opportunities(times) => times.len() as u128 * u128::from(OPPORTUNITY) * BYTE,
            Self::Rates(_) => self.within(self.period()),
        }
    }

    /// What it carries up to `at` within the first period.
    fn within(&self, at: u64) -> u128 {
        match self {
            Self::Opportunities(times) => {
                // An opportunity at this very instant counts: `finish` uses it at its time.
                let passed = times.partition_point(|time| u64::from(*time) * MILLISECOND <= at);
                passed as u128 * u128::from(OPPORTUNITY) * BYTE
            }
            Self::Rates(steps) => steps
                .windows(2)
                .take_while(|pair| pair[0].0 < at)
                .map(|pair| u128::from(pair[0].1) * u128::from(pair[1].0.min(at) - pair[0].0))
                .sum(),
        }
    }

    /// The integral of what it could carry up to `at`, in bit nanoseconds per second.
    pub fn capacity(&self, at: u64) -> u128 {
        let period = self.period();
        self.of_period() * u128::from(at / period) + self.within(at % period)
    }

    /// Its mean rate.
    pub fn mean(&self) -> Rate {
        Rate::from_bits_per_second((self.of_period() / u128::from(self.period())) as u64)
    }

    /// The rate over the last 100 ms before `at` for opportunities, which have none at an instant; else that
    /// at `at`.
    pub fn rate_at(&self, at: u64) -> Rate {
        let bits = match self {
            Self::Opportunities(_) => {
                let since = at.saturating_sub(100 * MILLISECOND);
                let gained = self.capacity(at) - self.capacity(since);
                (gained / u128::from((at - since).max(1))) as u64
            }
            Self::Rates(steps) => {
                let within = at % self.period();
                let next = steps.partition_point(|step| step.0 <= within);
                steps.get(next.saturating_sub(1)).map_or(0, |step| step.1)
            }
        };
        Rate::from_bits_per_second(bits)
    }
}

/// A link's place in its schedule.
#[derive(Clone, Debug)]
pub(crate) struct Playing {
    schedule: std::sync::Arc<Schedule>,
    /// The next opportunity, counted through all periods, and what is left of the one before, which was at
    /// `left_at`.
    next: u64,
    left: u64,
    left_at: u64,
}

impl Playing {
    pub(crate) fn new(schedule: std::sync::Arc<Schedule>) -> Self {
        Self { schedule, next: 0, left: 0, left_at: 0 }
    }

    pub(crate) fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// When a packet of `bytes` has left whose turn comes at `start`. Turns come in order.
    pub(crate) fn finish(&mut self, start: u64, bytes: u64) -> u64 {
        // A count more, so that `self` can change while the times are read.
        let schedule = std::sync::Arc::clone(&self.schedule);
        match &*schedule {
            Schedule::Opportunities(times) => self.use_opportunities(times, start, bytes),
            Schedule::Rates(steps) => finish_at_rates(&schedule, steps, start, bytes),
        }
    }

    fn use_opportunities(&mut self, times: &[u32], start: u64, mut need: u64) -> u64 {
        let (count, period) = (times.len() as u64, self.schedule.period());
        let time =
            |number: u64| number / count * period + u64::from(times[(number % count) as usize]) * MILLISECOND;
        // Only packets that wait at its instant share an opportunity: a later one finds it gone.
        if self.left > 0 && self.left_at == start {
            let taken = self.left.min(need);
            self.left -= taken;
            need -= taken;
            if need == 0 {
                return start;
            }
        }
        if time(self.next) < start {
            let (mut cycle, mut within) = (start / period, start % period);
            if within == 0 && cycle > 0 {
                // The last of a period is at its end, where the next begins.
                (cycle, within) = (cycle - 1, period);
            }
            let passed = times.partition_point(|time| u64::from(*time) * MILLISECOND < within);
            // Never backwards: an opportunity that a packet used is gone.
            self.next = self.next.max(cycle * count + passed as u64);
        }
        loop {
            let at = time(self.next);
            self.next += 1;
            if need <= OPPORTUNITY {
                (self.left, self.left_at) = (OPPORTUNITY - need, at);
                return at;
            }
            need -= OPPORTUNITY;
        }
    }
}

/// When `bytes` have left from `start` on.
fn finish_at_rates(schedule: &Schedule, steps: &[(u64, u64)], start: u64, bytes: u64) -> u64 {
    let period = schedule.period();
    let mut need = u128::from(bytes) * BYTE;
    let (mut base, mut at) = (start / period * period, start % period);
    loop {
        let first = steps.partition_point(|step| step.0 <= at).saturating_sub(1);
        for pair in steps[first..].windows(2) {
            let (rate, end) = (u128::from(pair[0].1), pair[1].0);
            let room = rate * u128::from(end - at);
            if need <= room {
                // Rounded up: a packet has not left before its last bit has. The guard is for an empty packet
                // at rate 0.
                return base + at + need.div_ceil(rate.max(1)) as u64;
            }
            need -= room;
            at = end;
        }
        // Whole periods at once, should they carry little.
        // Less one: bytes that fill a period exactly leave at its end, not in the next.
        let whole = (need - 1) / schedule.of_period().max(1);
        need -= whole * schedule.of_period();
        base += period * (1 + whole as u64);
        at = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_units::RandomStream;
    use std::sync::Arc;

    fn playing(schedule: Schedule) -> Playing {
        Playing::new(Arc::new(schedule))
    }

    const MS: u64 = MILLISECOND;

    /// One line with "1": 12 Mbit/s, a packet of 1,500 bytes each millisecond.
    #[test]
    fn a_trace_of_one_line_is_a_constant_rate() {
        let schedule = Schedule::Opportunities(vec![1]);
        assert_eq!(schedule.mean(), Rate::from_bits_per_second(12_000_000));
        let mut link = playing(schedule);
        assert_eq!(link.finish(0, 1500), MS);
        assert_eq!(link.finish(MS, 1500), 2 * MS);
        assert_eq!(link.finish(2 * MS, 3000), 4 * MS);
        assert_eq!(link.finish(1000 * MS + 1, 1500), 1001 * MS, "what nothing waited for is wasted");
    }

    /// Opportunities at 5, 5 and 20 ms. Two packets of 1,000 bytes that wait share the first two; the rest of
    /// the second is for who waits then, and for nobody later.
    #[test]
    fn packets_share_opportunities() {
        let mut link = playing(Schedule::Opportunities(vec![5, 5, 20]));
        assert_eq!(link.finish(0, 1000), 5 * MS);
        assert_eq!(link.finish(5 * MS, 1000), 5 * MS);
        assert_eq!(link.finish(5 * MS, 900), 5 * MS);
        assert_eq!(link.finish(5 * MS, 101), 20 * MS, "100 bytes were left, and 1 had to wait");
        assert_eq!(link.finish(21 * MS, 1500), 25 * MS);
        assert_eq!(link.finish(26 * MS, 10), 40 * MS);
        assert_eq!(link.finish(1000 * MS, 10), 1000 * MS, "the end of the fiftieth period");
    }

    /// Opportunities at 5, 5 and 20 ms: each counts from its time on; the rate is the mean of 100 ms.
    #[test]
    fn opportunities_count_from_their_time_on() {
        let schedule = Schedule::Opportunities(vec![5, 5, 20]);
        let packets = [0, 5 * MS - 1, 5 * MS, 20 * MS - 1, 20 * MS, 25 * MS, 40 * MS]
            .map(|at| schedule.capacity(at) / BYTE / u128::from(OPPORTUNITY));
        assert_eq!(packets, [0, 0, 2, 2, 3, 5, 6]);
        assert_eq!(schedule.mean(), Rate::from_bits_per_second(3 * 12_000 * 1000 / 20));
        assert_eq!(schedule.rate_at(200 * MS), schedule.mean());
        assert_eq!(schedule.rate_at(10 * MS), Rate::from_bits_per_second(2 * 12_000 * 100), "in 10 ms");
        assert_eq!(schedule.rate_at(0), Rate::from_bits_per_second(0));
    }

    /// 8 Mbit/s for 10 ms, nothing for 10 ms, 0.8 Mbit/s for 10 ms.
    #[test]
    fn rates_hold_until_the_next() {
        let steps = vec![(0, 8_000_000), (10 * MS, 0), (20 * MS, 800_000), (30 * MS, 0)];
        let schedule = Schedule::Rates(steps);
        assert_eq!(schedule.capacity(30 * MS) / BYTE, 11_000);
        assert_eq!(schedule.capacity(75 * MS) / BYTE, 2 * 11_000 + 10_000);
        assert_eq!(schedule.capacity(25 * MS) / BYTE, 10_000 + 500, "half of the last rate");
        assert_eq!(schedule.capacity(31 * MS) / BYTE, 11_000 + 1_000, "a tenth of the first, again");
        assert_eq!(schedule.mean(), Rate::from_bits_per_second(8 * 11_000 * 1000 / 30));
        let rates = [0, 10, 20, 29].map(|at| schedule.rate_at(at * MS + 1).bits_per_second());
        assert_eq!(rates, [8_000_000, 0, 800_000, 800_000]);
        assert_eq!(schedule.rate_at(20 * MS), Rate::from_bits_per_second(800_000), "from its time on");
        assert_eq!(schedule.rate_at(31 * MS), Rate::from_bits_per_second(8_000_000));
        let mut link = playing(schedule);
        assert_eq!(link.finish(0, 1000), MS);
        assert_eq!(link.finish(9 * MS + MS / 2, 1000), 25 * MS, "half before the gap, half after it");
        assert_eq!(
            link.finish(12 * MS, 11_000),
            40 * MS,
            "1,000 bytes at the end of one period, 10,000 in the next"
        );
        assert_eq!(link.finish(30 * MS, 110_000), 330 * MS, "ten periods, less the gap at the end of none");
    }

    /// Nothing leaves faster than the trace lets it, whatever is offered when; a link that is never idle uses
    /// all.
    #[test]
    fn nothing_leaves_beyond_the_capacity() {
        for seed in 0..200 {
            let mut random = RandomStream::new(seed, "schedule", 0);
            let count = 1 + random.below(20);
            let schedule = if seed % 2 == 0 {
                let mut times: Vec<u32> = (0..count).map(|_| random.below(40) as u32).collect();
                times.push(1 + random.below(40) as u32);
                times.sort_unstable();
                Schedule::Opportunities(times)
            } else {
                let mut at = 0;
                let mut steps = vec![(0, 1_000 + random.below(10_000_000))];
                for _ in 0..count {
                    at += 1 + random.below(20 * MS);
                    steps.push((at, random.below(3) * random.below(10_000_000)));
                }
                Schedule::Rates(steps)
            };
            let mut link = playing(schedule.clone());
            let busy = seed % 4 < 2;
            let (mut free, mut sent) = (0, 0u128);
            for _ in 0..500 {
                let start = if busy { free } else { free + random.below(3) * random.below(30 * MS) };
                let bytes = 1 + random.below(3000);
                let end = link.finish(start, bytes);
                assert!(end >= start, "seed {seed}");
                free = end;
                sent += u128::from(bytes) * BYTE;
                let most = schedule.capacity(free);
                assert!(sent <= most, "seed {seed}: {sent} of {most}");
                let slack = u128::from(OPPORTUNITY) * BYTE * 41;
                assert!(!busy || seed % 2 == 1 || most - sent <= slack, "seed {seed}: {sent} of {most}");
            }
        }
    }
}
