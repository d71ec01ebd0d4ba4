//! The medium of many stations: radios that share channels by the DCF of IEEE 802.11.
//!
//! A [`Medium`] is a state machine without a clock: it is told the time ([`advance`](Medium::advance)), packets
//! ([`enqueue`](Medium::enqueue)) and what radios do ([`set_silent`](Medium::set_silent), [`tune`](Medium::tune)); it
//! hands out events ([`poll_event`](Medium::poll_event)) and the time of the next ([`next_change`](Medium::next_change)).
//! What a frame carries is the caller's affair.
//!
//! `medium` (the stations and the air between them), `contention` (one station's backoff and retries), `receiver` (what one
//! radio makes of the frames around it), `propagation`, `grid` and `positions` (who hears whom), `surroundings` (noise and
//! primary users), `errors` (of bits), `dcf` (its constants), `rules` (where simulators differ from the standard), `timing`, `queue`, `rate`, `agenda`.
//! `docs/adhoc.md` says what the model is and where it ends.

mod agenda;
mod config;
mod contention;
mod dcf;
mod errors;
mod event;
mod grid;
mod medium;
mod positions;
mod propagation;
mod queue;
mod rate;
mod receiver;
mod retry_limit;
mod rules;
mod surroundings;
mod timing;

pub use config::{ChannelConfig, MacConfig, MediumConfig, PhyConfig, PhyRate, Rendezvous, SilenceRules};
pub use dcf::Dcf;
pub use errors::Errors;
pub use event::{Cause, Counters, Destination, Event, FrameKind, InterfaceId, Outgoing};
pub use medium::{InterfaceConfig, Medium};
pub use positions::Positions;
pub use propagation::{Fading, LogDistance, Nakagami, PathLoss, Propagation, Shadowing, TwoRay};
pub use queue::Offer;
pub use rate::{Arf, Minstrel, RateControl};
pub use retry_limit::RetryLimit;
pub use rules::{
    AnswerRate, AnswerTimeout, Capture, CarrierSense, CtsWhen, EifsAfter, Profile, RuleSettings, Rules,
};
pub use surroundings::{Fate, PrimaryUsers, Reception, Surroundings};
