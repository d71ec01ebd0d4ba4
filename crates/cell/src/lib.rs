//! Scheduled access: who may send on a cell's carrier, and when. LTE and NR as far as a transport sees them.
//!
//! The carrier. [`frame`]: which slots carry downlink and uplink. [`carrier`]: resource blocks, and the bits
//! of a block at a modulation and coding scheme. [`errors`]: which blocks are lost at an SINR. [`feedback`]:
//! when HARQ knows. The users. [`scheduler`]: whose data a slot carries. [`request`]: how long a user waits
//! for its first grant. [`rlc`]: bytes of packets in transport blocks, and their order at the far end.
//! [`handover`]: when users move between base stations. [`drx`]: when they listen. [`Cell`] puts them
//! together: base stations and their users under one clock.
//!
//! Sans-IO: no clock, and no queue of packets. The owner of the packets is a [`Buffers`], the owner of the
//! air an [`Interference`].

pub mod carrier;
pub mod cell;
pub mod drx;
pub mod errors;
pub mod fading;
pub mod feedback;
pub mod frame;
pub mod handover;
pub mod request;
pub mod rlc;
pub mod scheduler;

pub use cell::{Buffers, Cell, CellConfig, Departed, Interference, Load, McsChoice, SlotUse, UserConfig};
