//! A packet on a link.

use cogtcp_units::Duration;
use std::fmt::Debug;

/// What a link carries: a small value, which may be a handle of what lies elsewhere. The defaults suit
/// packets of one flow that cannot be marked.
pub trait LinkPayload: Copy + Debug + Default + Send + 'static {
    /// Which flow it belongs to, for disciplines that keep flows apart.
    fn flow(&self) -> u32 {
        0
    }

    /// Whether its sender reacts to marks (ECT, RFC 3168 section 5).
    fn is_ecn_capable(&self) -> bool {
        false
    }

    /// Whether it is of an L4S sender: ECT(1), or CE (RFC 9331 section 5.1).
    fn is_l4s(&self) -> bool {
        false
    }

    /// Congestion experienced (CE).
    fn mark(&mut self) {}

    /// A link takes it. A field that changes at every link changes here, in the link's memory. Changed on its
    /// way, the copy into the link would wait for the change to reach the cache.
    fn enter(&mut self) {}
}

/// A packet with its size and the state that links keep for it: one cache line for a payload of up to 44
/// bytes.
#[derive(Clone, Copy, Debug, Default)]
// So that a frame never straddles two cache lines.
#[repr(align(64))]
pub struct Frame<P> {
    /// While waiting: when it entered the queue. Afterwards: when it arrives at the far end. Nanoseconds.
    pub(crate) time: u64,
    /// Nanoseconds spent waiting in queues so far, on all links of the path.
    pub(crate) waited: u64,
    /// Bytes; [`LOST`] marks a frame that a silence destroyed.
    pub(crate) wire: u32,
    /// What it carries.
    pub packet: P,
}

/// Flag in [`Frame::wire`].
// In the size's top bit, since a field of its own would take the frame over one cache line.
pub(crate) const LOST: u32 = 1 << 31;

impl<P> Frame<P> {
    /// A frame of `size` bytes (below 2^31) that has waited nowhere.
    #[inline]
    pub fn new(packet: P, size: u32) -> Self {
        debug_assert!(size & LOST == 0, "a frame of {size} bytes");
        Self { time: 0, waited: 0, wire: size, packet }
    }

    /// Bytes on the link.
    #[inline]
    pub fn size(&self) -> u32 {
        self.wire & !LOST
    }

    /// Time spent waiting in queues, on all links so far.
    #[inline]
    pub fn waited(&self) -> Duration {
        Duration::from_nanos(self.waited)
    }

    /// It has waited so much more, somewhere else than on a link.
    pub fn add_wait(&mut self, span: Duration) {
        self.waited += span.as_nanos();
    }
}

/// Why a packet was dropped on a link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum DropCause {
    /// The queue was full.
    Queue,
    /// Lost on the link, by chance or by the list of drops.
    Loss,
    /// Its transmission met a silence.
    Silence,
    /// The MAC gave it up: no answer, collisions or frame errors up to the retry limit.
    Retry,
    /// The MAC gave it up, the last attempt destroyed by a primary user.
    Interference,
    /// The queue discipline signals congestion: the queue was not full.
    Early,
}

impl DropCause {
    /// Every cause; a cause's number is its place.
    pub const ALL: [Self; 6] =
        [Self::Queue, Self::Loss, Self::Silence, Self::Retry, Self::Interference, Self::Early];

    /// The cause's name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Loss => "loss",
            Self::Silence => "silence",
            Self::Retry => "retry",
            Self::Interference => "interference",
            Self::Early => "early",
        }
    }
}
