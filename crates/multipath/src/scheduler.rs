//! Schedulers: which subflow sends the next segment of data.

use crate::MOST_PATHS;
use cogtcp_units::{Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a connection chooses the subflow of each segment.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// Of the subflows whose window has room, the subflow with the lowest smoothed round-trip time: the
    /// default of Linux's first MPTCP (multipath-tcp.org).
    #[default]
    LowestRtt,
    /// The subflows in turn, a segment each, as far as their windows have room.
    RoundRobin,
    /// Every subflow sends all data.
    Redundant,
    /// As lowest-rtt, but a slower subflow waits where its segment would block the receive window (BLEST:
    /// Ferlin et al., IFIP Networking 2016).
    Blest,
}

/// What a scheduler sees of a subflow. Windows are bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubflowState {
    /// Number of the subflow.
    pub index: usize,
    /// Smoothed round-trip time.
    pub srtt: Duration,
    /// Congestion window.
    pub cwnd: u64,
    /// Bytes sent and not acknowledged.
    pub flight: u64,
    /// Segment size.
    pub mss: u64,
}

/// State of a scheduler.
#[derive(Clone, Debug)]
pub struct Turn {
    scheduler: Scheduler,
    /// Round robin: the subflow whose turn it is.
    next: usize,
    /// BLEST's lambda in thousandths, and when it was last adapted.
    lambda: u64,
    adapted_at: Time,
    blocked: bool,
}

// Departure: the paper starts with 1 and leaves bounds and steps open; these are those of its authors' code
// (multipath-tcp.org, mptcp_blest.c).
const LAMBDA: u64 = 1200;
const LEAST_LAMBDA: u64 = 1000;
const MOST_LAMBDA: u64 = 1300;
const LAMBDA_UP: u64 = 40;
const LAMBDA_DOWN: u64 = 10;

impl Turn {
    /// Returns the state of `scheduler` before the first segment.
    pub fn new(scheduler: Scheduler) -> Self {
        Self { scheduler, next: 0, lambda: LAMBDA, adapted_at: Time::ZERO, blocked: false }
    }

    /// Sorts `subflows` into the order in which they are asked.
    pub fn sort(&self, subflows: &mut [SubflowState]) {
        match self.scheduler {
            Scheduler::LowestRtt | Scheduler::Blest => subflows.sort_by_key(|one| (one.srtt, one.index)),
            Scheduler::RoundRobin => {
                subflows.sort_by_key(|one| (one.index + MOST_PATHS - self.next) % MOST_PATHS);
            }
            Scheduler::Redundant => {}
        }
    }

    /// Subflow `index` has sent a segment.
    pub fn sent(&mut self, index: usize) {
        self.next = (index + 1) % MOST_PATHS;
    }

    /// The receive window keeps new data back: head-of-line blocking.
    pub fn record_blocked(&mut self) {
        self.blocked = true;
    }

    /// True if `slow` may send, where `fast` has the lowest round-trip time and the receive window takes
    /// `window` bytes beyond what is acknowledged.
    ///
    /// BLEST, section III: `fast` sends X = MSS (CWND + (n - 1) / 2) n bytes during one round trip of `slow`,
    /// n round trips of its own. `slow` waits if lambda X exceeds what its own segments leave of the window.
    pub fn permits(&mut self, now: Time, fast: &SubflowState, slow: &SubflowState, window: u64) -> bool {
        if self.scheduler != Scheduler::Blest || fast.index == slow.index {
            return true;
        }
        if now.saturating_since(self.adapted_at) >= slow.srtt {
            self.adapted_at = now;
            self.lambda = if std::mem::take(&mut self.blocked) {
                (self.lambda + LAMBDA_UP).min(MOST_LAMBDA)
            } else {
                (self.lambda - LAMBDA_DOWN).max(LEAST_LAMBDA)
            };
        }
        let trips = (slow.srtt.as_nanos() / fast.srtt.as_nanos().max(1)).max(1);
        let segments = fast.cwnd / fast.mss.max(1);
        let doubled = fast.mss.saturating_mul(2 * segments + trips - 1).saturating_mul(trips);
        let needed = (u128::from(doubled) * u128::from(self.lambda) / 2000) as u64;
        needed <= window.saturating_sub(slow.flight + slow.mss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(index: usize, srtt: u64, cwnd: u64, flight: u64) -> SubflowState {
        let (cwnd, flight) = (cwnd * 1000, flight * 1000);
        SubflowState { index, srtt: Duration::from_millis(srtt), cwnd, flight, mss: 1000 }
    }

    fn order(turn: &Turn) -> Vec<usize> {
        let mut subflows = [candidate(0, 80, 10, 0), candidate(1, 20, 10, 0), candidate(2, 40, 10, 0)];
        turn.sort(&mut subflows);
        subflows.iter().map(|one| one.index).collect()
    }

    #[test]
    fn the_order_of_each_scheduler() {
        assert_eq!(order(&Turn::new(Scheduler::LowestRtt)), [1, 2, 0]);
        assert_eq!(order(&Turn::new(Scheduler::Blest)), [1, 2, 0]);
        assert_eq!(order(&Turn::new(Scheduler::Redundant)), [0, 1, 2]);
        let mut turn = Turn::new(Scheduler::RoundRobin);
        assert_eq!(order(&turn), [0, 1, 2]);
        turn.sent(0);
        assert_eq!(order(&turn), [1, 2, 0]);
        turn.sent(2);
        assert_eq!(order(&turn), [0, 1, 2]);
    }

    /// Four round trips of 20 ms in one of 80 ms, ten segments: X = (10 + 1.5) 4 = 46 segments, times 1.2 is
    /// 55.2. Two segments in flight and the new one leave 55.2 of a window of 58.2.
    #[test]
    fn blest_waits_where_its_equation_says() {
        let (fast, slow) = (candidate(1, 20, 10, 10), candidate(0, 80, 10, 2));
        let now = Time::ZERO;
        let mut blest = Turn::new(Scheduler::Blest);
        assert!(blest.permits(now, &fast, &slow, 58_200));
        assert!(!blest.permits(now, &fast, &slow, 58_199));
        assert!(blest.permits(now, &fast, &fast, 0), "the fastest subflow never waits");
        assert!(Turn::new(Scheduler::LowestRtt).permits(now, &fast, &slow, 0));
    }

    /// Lambda rises by 0.04 in a round trip with blocking, to 1.3 at most, and falls by 0.01 in others, to 1
    /// at least.
    #[test]
    fn blest_adapts_lambda() {
        let (fast, slow) = (candidate(1, 20, 10, 10), candidate(0, 80, 10, 2));
        let mut blest = Turn::new(Scheduler::Blest);
        let at = |blest: &mut Turn, trip: u64, blocked: bool| {
            if blocked {
                blest.record_blocked();
            }
            blest.permits(Time::from_millis(80 * trip), &fast, &slow, 0);
            blest.lambda
        };
        assert_eq!([1, 2, 3, 4].map(|trip| at(&mut blest, trip, true)), [1240, 1280, 1300, 1300]);
        assert_eq!([5, 6].map(|trip| at(&mut blest, trip, false)), [1290, 1280]);
        assert_eq!(at(&mut blest, 6, false), 1280, "once for each round trip");
        assert_eq!((7..60).map(|trip| at(&mut blest, trip, false)).last(), Some(1000));
    }

    /// A path that is no slower has one round trip in one: X is 10 segments, times 1.2, and one to send beside
    /// two in flight.
    #[test]
    fn blest_counts_one_round_trip_at_least() {
        let (fast, slow) = (candidate(1, 20, 10, 10), candidate(0, 10, 10, 2));
        let mut blest = Turn::new(Scheduler::Blest);
        assert!(blest.permits(Time::ZERO, &fast, &slow, 15_000));
        assert!(!blest.permits(Time::ZERO, &fast, &slow, 14_999));
        let mut turn = Turn::new(Scheduler::RoundRobin);
        turn.sent(MOST_PATHS - 1);
        assert_eq!(order(&turn), [0, 1, 2], "the first follows the last");
    }
}
