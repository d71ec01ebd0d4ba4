//! How true the timing of a run was.
//!
//! A packet leaves the link when the process is awake to move it: later than due by its lateness. Part of it
//! is the machine's own, which a bare timer shows that does nothing but to wake up at given times, in the
//! same run and scheduled alike.

use crate::clock::{Clock, Timer};
use crate::sys::{self, Poller};
use cogtcp_records::Histogram;
use cogtcp_units::{Duration, Time};
use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};

/// Half of all packets are to leave within this time: what 100 Mbit/s take for one packet of 1250 bytes.
const MOST_MEDIAN: Duration = Duration::from_micros(100);
/// Greatest ratio of the packets' 99th percentile to the bare timer's.
const MOST_OVER_FLOOR: f64 = 2.0;
/// What lateness may add to the round-trip time: the agreement that is asked of planes is 5 %.
const MOST_OF_RTT: f64 = 0.05;
/// Latest packet, as a share of the minimum retransmission timeout. A packet that is late in both directions
/// may expire a timer and cost a sender its window. A percentile hides such packets: while the process is
/// stopped, so are the senders, and at most a window of packets is late.
const MOST_OF_RTO: f64 = 0.5;

/// How late a run was.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    departures: Histogram,
}

impl Lateness {
    /// What was due at `due` happens now.
    pub(crate) fn record(&mut self, due: Time, now: Time) {
        self.departures.record(now.saturating_since(due));
    }

    pub(crate) fn histogram(&self) -> &Histogram {
        &self.departures
    }
}

/// What is said of the timing of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    /// Why the run is no evidence; empty: it is.
    pub reasons: Vec<String>,
}

impl Timing {
    /// Judges the lateness of departures against a bare timer's; `None`: in virtual time a bare timer shows no
    /// machine, as the clock stands while a machine computes. `rtt` is the round-trip time without queues,
    /// `rto` the minimum retransmission timeout. `dropped` are packets that a device dropped because the
    /// emulator was late.
    pub fn judge(
        departures: &Histogram,
        floor: Option<&Histogram>,
        rtt: Duration,
        rto: Duration,
        dropped: u64,
    ) -> Self {
        let mut reasons = Vec::new();
        let (median, p99) = (departures.quantile(0.5), departures.quantile(0.99));
        let micros = |seconds: f64| format!("{:.0} us", seconds * 1e6);
        if median > MOST_MEDIAN.as_secs_f64() {
            let most = micros(MOST_MEDIAN.as_secs_f64());
            reasons
                .push(format!("half of the packets were more than {} late (at most {most})", micros(median)));
        }
        let bare = floor.map_or(f64::INFINITY, |floor| floor.quantile(0.99));
        if p99 > MOST_OVER_FLOOR * bare {
            reasons.push(format!(
                "1 % of the packets were more than {} late, over twice the {} of a bare timer",
                micros(p99),
                micros(bare)
            ));
        }
        // Both ways of a round trip are late.
        if !rtt.is_zero() && 2.0 * p99 > MOST_OF_RTT * rtt.as_secs_f64() {
            reasons.push(format!(
                "1 % of the packets were more than {} late, which is over 5 % of the round-trip time on both ways \
                 together: this machine is too busy",
                micros(p99)
            ));
        }
        let (greatest, rto) = (departures.greatest(), rto.as_secs_f64());
        if greatest > MOST_OF_RTO * rto {
            reasons.push(format!(
                "a packet was {:.0} ms late: in both directions this may expire a timer of {:.0} ms",
                greatest * 1e3,
                rto * 1e3
            ));
        }
        if dropped > 0 {
            reasons.push(format!("{dropped} packets were lost between kernel and emulator"));
        }
        Self { reasons }
    }

    /// Whether the run may stand as evidence.
    pub fn is_evidence(&self) -> bool {
        self.reasons.is_empty()
    }
}

/// How far apart the bare timer's times are: often enough for percentiles, seldom enough not to be a load. No
/// round number, so that it does not fall in step with what the link does.
const TICK: Duration = Duration::from_nanos(2_310_000);

/// Likewise in virtual time, where only a busy instant makes a timer late.
const VIRTUAL_TICK: Duration = Duration::from_nanos(50_310_000);

/// Measures how late a bare timer wakes up, until `stop`.
pub(crate) fn measure_floor(clock: Clock, is_virtual: bool, stop: &AtomicBool) -> io::Result<Histogram> {
    let timer = Timer::new(clock)?;
    let poller = Poller::new(&[timer.as_fd()])?;
    let tick = if is_virtual { VIRTUAL_TICK } else { TICK };
    let mut floor = Histogram::new();
    let mut due = clock.now();
    let mut ready = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        // From now, not from the last one: what was missed is not made up for.
        due = clock.now().max(due) + tick;
        timer.set(due)?;
        poller.wait(&mut ready)?;
        floor.record(clock.now().saturating_since(due));
        // Until it is read the timer stays readable.
        let mut ticks = [0; 8];
        sys::read(timer.as_fd(), &mut ticks)?;
    }
    Ok(floor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(micros: &[(u64, usize)]) -> Histogram {
        let mut histogram = Histogram::new();
        for (micros, count) in micros {
            (0..*count).for_each(|_| histogram.record(Duration::from_micros(*micros)));
        }
        histogram
    }

    #[test]
    fn a_run_in_time_is_evidence() {
        let timing = Timing::judge(
            &of(&[(30, 95), (900, 5)]),
            Some(&of(&[(30, 95), (500, 5)])),
            Duration::from_millis(100),
            RTO,
            0,
        );
        assert!(timing.is_evidence(), "{timing:?}");
    }

    const RTO: Duration = Duration::from_millis(200);

    /// One reason each. The median over 100 us. The 99th percentile over twice the floor's. Over 2.5 ms of a
    /// round trip of 100 ms (5 % in both directions). One packet in a thousand that may have expired a timer,
    /// whatever the floor. Packets lost.
    #[test]
    fn a_run_that_fell_behind_is_none() {
        let rtt = Duration::from_millis(100);
        let floor = of(&[(90, 90), (1_500, 10)]);
        for (departures, floor, dropped, word) in [
            (of(&[(150, 100)]), &floor, 0, "half"),
            (of(&[(50, 90), (2_000, 10)]), &of(&[(30, 90), (900, 10)]), 0, "bare timer"),
            (of(&[(50, 90), (2_600, 10)]), &floor, 0, "too busy"),
            (of(&[(50, 999), (110_000, 1)]), &of(&[(90, 90), (300_000, 10)]), 0, "timer of 200 ms"),
            (of(&[(50, 100)]), &floor, 3, "3 packets"),
        ] {
            let timing = Timing::judge(&departures, Some(floor), rtt, RTO, dropped);
            assert_eq!(timing.reasons.len(), 1, "{timing:?}");
            assert!(timing.reasons[0].contains(word), "{timing:?}");
        }
    }

    /// In virtual time a bare timer shows no machine: 24 us against its 6 are no reason. The other rules hold.
    #[test]
    fn a_bare_timer_in_virtual_time_refuses_no_run() {
        let rtt = Duration::from_millis(100);
        let (late, bare) = (of(&[(1, 90), (24, 10)]), of(&[(1, 90), (6, 10)]));
        assert!(!Timing::judge(&late, Some(&bare), rtt, RTO, 0).is_evidence());
        assert!(Timing::judge(&late, None, rtt, RTO, 0).is_evidence());
        assert!(!Timing::judge(&late, None, rtt, RTO, 1).is_evidence(), "a packet was lost");
        assert!(!Timing::judge(&of(&[(150, 100)]), None, rtt, RTO, 0).is_evidence());
    }

    #[test]
    fn the_floor_is_measured_until_it_is_stopped() {
        let stop = AtomicBool::new(false);
        let clock = Clock::start();
        let floor = std::thread::scope(|scope| {
            let floor = scope.spawn(|| measure_floor(clock, false, &stop));
            while clock.now() < Time::from_millis(60) {
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            stop.store(true, Ordering::Relaxed);
            floor.join().unwrap().unwrap()
        });
        // 60 ms hold 25 ticks; a busy machine misses some.
        assert!((1..=40).contains(&floor.samples()), "{}", floor.samples());
        assert!(floor.least() < 0.05);
    }
}
