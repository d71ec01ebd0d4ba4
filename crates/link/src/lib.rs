//! One direction of a link: a queue, a transmitter of some rate, a propagation delay, random loss, and the
//! gate of a cognitive radio.
//!
//! [`Link`] is a state machine without a clock: its inputs are the time and events, its outputs arrivals and
//! their times. Times follow from the inputs, not from when a caller asks. So a virtual clock and a late real
//! clock drive the same code to the same departures. It carries anything that is a [`LinkPayload`].
//!
//! ```
//! use cogtcp_link::{Departure, Frame, Link, LinkConfig, LinkPayload};
//! use cogtcp_units::{Duration, Rate, Time};
//!
//! #[derive(Clone, Copy, Debug, Default, PartialEq)]
//! struct Packet(u32);
//! impl LinkPayload for Packet {}
//!
//! let config = LinkConfig::new(Rate::from_bits_per_second(8_000_000), Duration::from_millis(10));
//! let mut link = Link::plain(&config);
//! link.offer(Time::ZERO, Frame::new(Packet(7), 1000));
//! // 1 ms of transmission, 10 ms of propagation.
//! assert_eq!(link.next_arrival(), Some(Time::from_millis(11)));
//! let Departure { frame, lost } = link.arrive(Time::from_millis(11));
//! assert_eq!((frame.packet, lost), (Packet(7), None));
//! ```
//!
//! Queue disciplines are in [`queue`]: drop-tail is part of the link, the others are behind the trait
//! [`QueueDiscipline`](queue::QueueDiscipline). `docs/queues.md` describes them.

mod capacity;
mod frame;
mod gate;
mod link;
mod losses;
pub mod queue;
mod ring;
pub mod schedule;

pub use capacity::Capacity;
pub use frame::{DropCause, Frame, LinkPayload};
pub use gate::{Flush, Gate, Silence};
pub use link::{Cut, Departure, Flushed, Going, Link, LinkConfig, LinkCounters, OfferOutcome};
pub use queue::{DisciplineSpec, QueueLimit, QueueSpec};
pub use schedule::Schedule;
