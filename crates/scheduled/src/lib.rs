//! Scheduled access: who may send on a cell's carrier, and when. LTE and NR as far as a transport sees them.
//!
//! [`frame`]: which slots carry downlink and uplink. [`adaptation`]: how much a slot carries at an SINR. [`scheduler`]: whose data a
//! slot carries. [`request`]: how long a user waits for its first grant.
//!
//! Pure: no clock, no queue of packets. No plane uses this room yet.

pub mod adaptation;
pub mod frame;
pub mod request;
pub mod scheduler;
