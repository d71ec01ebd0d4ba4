//! The clock of a run: time since its start.

use crate::sys;
use cogtcp_units::{Duration, Time};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Of TCP's timestamps, in nanoseconds.
const TICK: u64 = 1_000_000;
/// The span of the coarsest level of a timer wheel that matters here, 2^15 ticks of 4 ms.
const WHEEL_SPAN: u64 = (1 << 15) * 4 * TICK;
/// When a wheel reads a multiple of that first: it begins 300 s before its overflow (`INITIAL_JIFFIES`).
const WHEEL_START: u64 = 300_000 * TICK % WHEEL_SPAN;

/// The clock of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: u64,
}

impl Clock {
    /// A run that starts with the next tick of TCP's timestamps (`TCP_TS_HZ`). The simulator's clock starts with
    /// a tick too, and so both round alike.
    pub(crate) fn start() -> Self {
        let start = sys::monotonic_nanos().next_multiple_of(TICK);
        sys::sleep_until(start);
        Self { start }
    }

    /// A run in virtual time. It starts when the clock of the kernel's timer wheel reads a multiple of its coarsest
    /// level, at 1000 or 250 ticks a second. So the simulator knows when the kernel's timers fire.
    pub(crate) fn start_with_wheel() -> Self {
        let start =
            sys::monotonic_nanos().saturating_sub(WHEEL_START).next_multiple_of(WHEEL_SPAN) + WHEEL_START;
        sys::sleep_until(start);
        Self { start }
    }

    /// A time of `CLOCK_MONOTONIC`; `None`: before the run.
    pub(crate) fn at(&self, nanos: u64) -> Option<Time> {
        nanos.checked_sub(self.start).map(Time::from_nanos)
    }

    pub(crate) fn now(&self) -> Time {
        Time::from_nanos(sys::monotonic_nanos().saturating_sub(self.start))
    }
}

/// A kernel in virtual time that was not edited charges 256 ns for each reading of the clock. What a host sends within
/// so many readings after it was given a packet, it sent at that instant: computation takes no time.
const READINGS: u64 = 16;
/// Readings that a wait takes.
const WAIT: u64 = 2;

/// What the clock says, as the event loop knows it.
///
/// In virtual time, asking the clock costs more than moving a packet. The loop then takes the time from the end of a
/// wait that timed out, or from the kernel's timestamp of a packet.
#[derive(Debug)]
pub(crate) struct Watch {
    clock: Clock,
    /// `None`: the clock is asked.
    known: Option<Known>,
}

#[derive(Debug)]
struct Known {
    /// The instant that is played.
    now: Time,
    /// What the clock says at least, with its readings.
    clock: Time,
    /// `CLOCK_REALTIME` at the start of the run.
    start: u64,
    /// What one reading of the clock costs.
    reading: Duration,
}

impl Watch {
    /// A watch that asks the clock.
    pub(crate) fn asking(clock: Clock) -> Self {
        Self { clock, known: None }
    }

    /// A watch that knows the time.
    pub(crate) fn knowing(clock: Clock) -> Self {
        let before = sys::monotonic_nanos();
        let real = sys::realtime_nanos();
        let after = sys::monotonic_nanos();
        // In virtual time each of the three calls takes equally long.
        let start = real - (before.midpoint(after) - clock.start);
        let reading = Duration::from_nanos((after - before) / 2);
        Self { clock, known: Some(Known { now: Time::ZERO, clock: Time::ZERO, start, reading }) }
    }

    pub(crate) fn is_knowing(&self) -> bool {
        self.known.is_some()
    }

    pub(crate) fn now(&self) -> Time {
        self.known.as_ref().map_or_else(|| self.clock.now(), |known| known.now)
    }

    /// How long to wait until `at`.
    pub(crate) fn until(&self, at: Time) -> Duration {
        at.saturating_since(self.known.as_ref().map_or_else(|| self.clock.now(), |known| known.clock))
    }

    /// Asks the clock.
    pub(crate) fn ask(&mut self) -> Time {
        let now = self.clock.now();
        self.reach(now);
        self.known.as_ref().map_or(now, |known| known.now)
    }

    /// It is `at` now, or later.
    pub(crate) fn reach(&mut self, at: Time) {
        if let Some(known) = &mut self.known {
            known.now = known.now.max(at);
            known.clock = known.clock.max(at);
        }
    }

    /// A wait until `at` has timed out.
    pub(crate) fn waited(&mut self, at: Time) {
        self.reach(at);
        if let Some(known) = &mut self.known {
            known.clock += known.reading * WAIT;
        }
    }

    /// A host sent at `nanos` of `CLOCK_REALTIME`.
    pub(crate) fn reach_stamp(&mut self, nanos: u64) {
        let Some(known) = &mut self.known else { return };
        let at = Time::from_nanos(nanos.saturating_sub(known.start));
        known.clock = known.clock.max(at);
        if at > known.now + known.reading * READINGS {
            known.now = at;
        }
    }
}

/// A timer as a file descriptor. It is absolute: time that passes before the timer is set does not count.
#[derive(Debug)]
pub(crate) struct Timer {
    fd: OwnedFd,
    clock: Clock,
}

impl Timer {
    pub(crate) fn new(clock: Clock) -> io::Result<Self> {
        Ok(Self { fd: sys::timer()?, clock })
    }

    /// Lets it expire at `at`, and no more at what was set before.
    pub(crate) fn set(&self, at: Time) -> io::Result<()> {
        // Never, `Time::MAX`, must not wrap to a time that is over.
        sys::set_timer(self.fd.as_fd(), self.clock.start.saturating_add(at.as_nanos()))
    }
}

impl AsFd for Timer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
