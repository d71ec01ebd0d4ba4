//! The real clock of a run: time since its start.

use crate::sys;
use cogtcp_units::Time;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The clock of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: u64,
}

impl Clock {
    /// A run that starts now.
    pub(crate) fn start() -> Self {
        Self { start: sys::monotonic_nanos() }
    }

    /// A time of `CLOCK_MONOTONIC`; `None`: before the run.
    pub(crate) fn at(&self, nanos: u64) -> Option<Time> {
        nanos.checked_sub(self.start).map(Time::from_nanos)
    }

    pub(crate) fn now(&self) -> Time {
        Time::from_nanos(sys::monotonic_nanos().saturating_sub(self.start))
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
