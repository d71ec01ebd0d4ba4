//! TFRC-CR: TFRC that tells primary users from congestion by a spectrum database (Al-Ali and Chowdhury, Ad
//! Hoc Networks 11(6), 2013).
//!
//! The rules are read from the authors' code for ns-2.31 (`abdulla-alali/TFRC-CR`, branch TFRCCR, commit
//! f79c97c) and written again. Only the abstract of the paper was at hand. The sender asks the database when
//! feedback stays away. If a second look finds the primary user still there, the sender *pauses*. It then
//! polls the path with one packet per A + 4 sigma until the primary user has left. After that it restarts,
//! unless acknowledgements kept coming.
//!
//! Departures from the released code:
//!
//! - The base is this crate's TFRC (RFC 5348), not ns-2's (RFC 3448). So t_RTO is 4 R, X_recv covers two
//!   round-trip times, and the first packets leave once a second. No packet leaves out of turn when the
//!   nofeedback timer expires.
//! - The released code means to count acknowledgements during a pause, but returns before it does. So each
//!   pause ends in slow start there. Here they count, unless `acks_in_pause` is false.
//! - The released code means to send nothing from one round-trip time before the primary user leaves. It
//!   checks this only where it is not paused, which does not occur. Here the rule is absent.
//! - The loss estimator WALI2, which is not the default there, is left out.

mod config;
mod moments;
mod sender;

pub use config::TfrcCrSettings;
pub use sender::TfrcCrSender;
