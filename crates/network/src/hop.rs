//! A link direction, its next hop, and the marks of the look-ahead.

use cogtcp_link::{Link, LinkPayload};
use std::ops::{Deref, DerefMut};

/// End of a route, and [`next`](LinkHop::next) of a link direction whose packets have all reached their host.
pub(crate) const HOST: u32 = u32::MAX;
/// [`next`](LinkHop::next) of a link direction whose packets part: their routes tell where.
pub(crate) const BY_ROUTE: u32 = u32::MAX - 1;
/// [`next`](LinkHop::next) of a link direction that no route crosses.
pub(crate) const NOWHERE: u32 = u32::MAX - 2;
/// [`inlet`](LinkHop::inlet) of a link direction that hands packets to no inlet.
pub(crate) const NO_INLET: u32 = u32::MAX;

/// What may hold of a link direction.
#[derive(Clone, Copy, Debug)]
#[repr(u8)]
pub(crate) enum Mark {
    /// The [`Budget`](crate::budget::Budget) keeps account of what its transmitter does.
    Watched = 1,
    /// It is watched, and was idle before packets that are no data. The next packet of data says why.
    AwaitsData = 1 << 1,
    /// Primary users, or nodes that stamp packets, decide what becomes of a frame that arrives.
    Settles = 1 << 2,
    /// The agenda has its next batch, or the first packet of a link that hands packets on early.
    Scheduled = 1 << 3,
    /// The agenda has the time by which it hands its packets on.
    Deadline = 1 << 4,
    /// It hands packets on before they arrive.
    Early = 1 << 5,
    /// Packets are offered to it before they arrive.
    FedEarly = 1 << 6,
}

/// A link direction, and what every hop over it needs to know. A hop touches the first two cache lines.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct LinkHop<P> {
    /// The hop that all its packets take next, or [`HOST`], [`BY_ROUTE`], [`NOWHERE`].
    pub(crate) next: u32,
    /// The inlet to which it hands its packets ahead of time, or [`NO_INLET`].
    pub(crate) inlet: u32,
    /// How late the host at the far end may take its packets, in nanoseconds; 0: it takes each as it arrives.
    pub(crate) slack: u32,
    marks: u8,
    link: Link<P>,
}

impl<P: LinkPayload> From<Link<P>> for LinkHop<P> {
    fn from(link: Link<P>) -> Self {
        Self { next: NOWHERE, inlet: NO_INLET, slack: 0, marks: 0, link }
    }
}

impl<P> LinkHop<P> {
    /// Returns whether `mark` holds.
    #[inline]
    pub(crate) fn is(&self, mark: Mark) -> bool {
        self.marks & mark as u8 != 0
    }

    /// Sets or removes `mark`.
    #[inline]
    pub(crate) fn set(&mut self, mark: Mark, holds: bool) {
        self.marks = if holds { self.marks | mark as u8 } else { self.marks & !(mark as u8) };
    }

    /// Sets `mark`. Returns whether it held before.
    #[inline]
    pub(crate) fn put(&mut self, mark: Mark) -> bool {
        let held = self.is(mark);
        self.marks |= mark as u8;
        held
    }

    /// Returns whether packets leave it before they arrive at its far end.
    pub fn is_early(&self) -> bool {
        self.is(Mark::Early)
    }
}

impl<P> Deref for LinkHop<P> {
    type Target = Link<P>;

    #[inline]
    fn deref(&self) -> &Link<P> {
        &self.link
    }
}

impl<P> DerefMut for LinkHop<P> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Link<P> {
        &mut self.link
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    #[derive(Clone, Copy, Debug, Default)]
    struct Nothing;
    impl LinkPayload for Nothing {}

    /// The link leaves room for 16 bytes in its two cache lines (`a_hop_touches_112_bytes`).
    #[test]
    fn a_hop_touches_two_cache_lines() {
        assert_eq!((offset_of!(LinkHop<Nothing>, link), align_of::<LinkHop<Nothing>>()), (16, 128));
    }

    #[test]
    fn marks_do_not_touch_each_other() {
        let config = cogtcp_link::LinkConfig::new(cogtcp_units::Rate::ZERO, cogtcp_units::Duration::ZERO);
        let mut hop = LinkHop::from(Link::<Nothing>::plain(&config));
        let marks = [
            Mark::Watched,
            Mark::AwaitsData,
            Mark::Settles,
            Mark::Scheduled,
            Mark::Deadline,
            Mark::Early,
            Mark::FedEarly,
        ];
        assert!(marks.map(|mark| hop.put(mark)).iter().all(|held| !held));
        hop.set(Mark::Scheduled, false);
        let held = marks.map(|mark| hop.is(mark));
        assert_eq!(held, [true, true, true, false, true, true, true]);
    }
}
