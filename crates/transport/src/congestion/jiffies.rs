//! The clock of Linux's controls: ticks of 1/HZ. They begin with the run.

use super::TcpState;
use cogtcp_units::{Duration, Time};

/// Jiffies of so many milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jiffies(u64);

impl Jiffies {
    pub(super) fn of_host(tcp: &TcpState) -> Self {
        Self(u64::from(tcp.tick_ms.max(1)))
    }

    pub(super) fn at(self, time: Time) -> u64 {
        time.as_nanos() / self.tick().as_nanos()
    }

    /// A span in whole jiffies, rounded up (`usecs_to_jiffies`).
    pub(super) fn of(self, span: Duration) -> u64 {
        span.as_nanos().div_ceil(self.tick().as_nanos())
    }

    fn tick(self) -> Duration {
        Duration::from_millis(self.0)
    }

    /// HZ.
    pub(super) fn second(self) -> u64 {
        1000 / self.0
    }
}
