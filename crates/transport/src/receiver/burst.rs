//! Segments that arrive at one instant, as a cell's transport block brings them. Linux handles them all before the
//! application reads, so that most of them are acknowledged together (`__tcp_ack_snd_check`,
//! `tcp_cleanup_rbuf`).

use cogtcp_units::{Duration, Time};

/// What arrived at this instant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    at: Time,
    from: u64,
}

impl Burst {
    /// The application reads so long after the instant: behind all that arrives at it.
    pub(super) const READ: Duration = Duration::from_nanos(1);

    /// A segment arrives, and `frontier` is what came in order before.
    pub(super) fn on_segment(&mut self, now: Time, frontier: u64) {
        if self.at != now {
            *self = Self { at: now, from: frontier };
        }
    }

    /// When it was.
    pub(super) const fn at(self) -> Time {
        self.at
    }

    /// Bytes in order up to `frontier` that came at this instant and wait for the application.
    pub(super) const fn unread(self, frontier: u64) -> u64 {
        frontier - self.from
    }
}
