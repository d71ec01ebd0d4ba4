//! Queue disciplines: what waits, what is dropped or marked, and who comes next.
//!
//! Drop-tail is part of the link ([`DropTail`]). Every other discipline implements [`QueueDiscipline`], and
//! its parameters [`Named`] and [`Discipline`]; a new one is a file here and a line in `registry!` below
//! (`docs/adding-a-queue-discipline.md` has the recipe).

mod codel;
mod drop_tail;
mod dualpi2;
mod fq_codel;
mod limit;
mod red;
mod spec;
#[cfg(test)]
mod testing;

pub use codel::CoDel;
pub use drop_tail::DropTail;
pub use dualpi2::DualPi2;
pub use fq_codel::{Backlog, FqCoDel};
pub use limit::QueueLimit;
pub use red::Red;
pub use spec::QueueSpec;

use crate::frame::{DropCause, Frame, LinkPayload};
use cogtcp_units::{Check, Named, RandomStream, Rate, Time, registry};
use std::collections::VecDeque;
use std::fmt::Debug;

registry! {
    #[entries(
        "queue discipline",
        "the length of a drop-tail queue as \"100 packets\" or \"64 KiB\", the name of a queue discipline, or a discipline with its parameters as { codel = { target = \"5 ms\" } }"
    )]
    /// A queue discipline other than drop-tail, with its parameters.
    pub enum DisciplineSpec: Discipline<P: LinkPayload> {
        Red: Red,
        CoDel: CoDel,
        FqCoDel: FqCoDel,
        DualPi2: DualPi2,
    }
}

/// A queue discipline at work.
///
/// The link calls [`enqueue`](Self::enqueue) when a packet comes and [`dequeue`](Self::dequeue) when its
/// transmitter is free and there are packets. Time never runs backwards between calls. What it drops or
/// marks, on either occasion, it does by `signals`: every packet that was enqueued is dequeued once or
/// dropped once.
pub trait QueueDiscipline<P: LinkPayload>: Debug + Send {
    /// A packet comes.
    fn enqueue(&mut self, now: Time, frame: Frame<P>, signals: &mut Signals<P>);

    /// The packet to transmit next; `None` when what was left has been dropped.
    fn dequeue(&mut self, now: Time, signals: &mut Signals<P>) -> Option<Frame<P>>;

    /// Packets that wait.
    fn packets(&self) -> u64;

    /// When the packet came that has waited longest; `None`: there is none.
    fn oldest(&self) -> Option<Time>;

    /// Room in bytes for packets of `size` bytes.
    fn room(&self, size: u32) -> u64;

    /// Gives back every packet that waits, and begins again: the link goes down. ns-2's `Queue::reset` and
    /// Linux's `qdisc_reset` forget what they knew, too.
    fn reset(&mut self, now: Time) -> Vec<Frame<P>>;

    /// Shows every packet that waits.
    fn visit(&self, visit: &mut dyn FnMut(&Frame<P>));
}

/// The parameters of a discipline: they build it.
pub trait Discipline<P: LinkPayload>: Debug {
    /// True if it draws random numbers.
    fn is_random(&self) -> bool {
        false
    }

    /// Returns the discipline at work on a link.
    fn build(&self, site: Site) -> Box<dyn QueueDiscipline<P>>;
}

/// Where a discipline works.
#[derive(Clone, Debug)]
pub struct Site {
    /// The link's own rate.
    pub rate: Rate,
    /// Its random draws.
    pub stream: RandomStream,
}

/// How a discipline signals congestion: what it dropped, until the link's owner has heard of it, and how
/// often it marked.
#[derive(Debug)]
pub struct Signals<P> {
    dropped: VecDeque<(Time, Frame<P>, DropCause)>,
    marked: u64,
}

impl<P> Default for Signals<P> {
    fn default() -> Self {
        Self { dropped: VecDeque::new(), marked: 0 }
    }
}

impl<P: LinkPayload> Signals<P> {
    /// Drops `frame`.
    pub fn drop(&mut self, now: Time, frame: Frame<P>, cause: DropCause) {
        self.dropped.push_back((now, frame, cause));
    }

    /// Marks `frame`, which stays in the queue.
    pub fn mark(&mut self, frame: &mut Frame<P>) {
        frame.packet.mark();
        self.marked += 1;
    }

    /// The next one that was dropped: when, what, and why.
    pub fn take_dropped(&mut self) -> Option<(Time, Frame<P>, DropCause)> {
        self.dropped.pop_front()
    }

    /// Returns the number of dropped packets that nobody has taken yet.
    pub(crate) fn untaken(&self) -> usize {
        self.dropped.len()
    }

    /// How many were marked.
    pub fn marked(&self) -> u64 {
        self.marked
    }
}

/// Packets in the order in which they came, with their sum of bytes.
#[derive(Debug)]
struct Fifo<P> {
    frames: VecDeque<Frame<P>>,
    bytes: u64,
}

impl<P: LinkPayload> Fifo<P> {
    fn new() -> Self {
        Self { frames: VecDeque::new(), bytes: 0 }
    }

    fn push(&mut self, now: Time, mut frame: Frame<P>) {
        // From here on `time` says since when it waits, for the discipline and the queue's integral.
        frame.time = now.as_nanos();
        self.bytes += u64::from(frame.size());
        self.frames.push_back(frame);
    }

    fn pop(&mut self) -> Option<Frame<P>> {
        let frame = self.frames.pop_front()?;
        self.bytes -= u64::from(frame.size());
        Some(frame)
    }

    fn len(&self) -> u64 {
        self.frames.len() as u64
    }

    fn take_all(&mut self) -> Vec<Frame<P>> {
        self.bytes = 0;
        self.frames.drain(..).collect()
    }

    fn oldest(&self) -> Option<Time> {
        self.frames.front().map(|frame| Time::from_nanos(frame.time))
    }
}
