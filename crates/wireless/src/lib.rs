//! The medium of many stations: radios that share channels by the DCF of IEEE 802.11.
//!
//! A [`Medium`] is a state machine without a clock. Inputs are the time ([`advance`](Medium::advance)),
//! packets ([`enqueue`](Medium::enqueue)) and radio changes ([`set_silent`](Medium::set_silent),
//! [`tune`](Medium::tune)). Outputs are events ([`poll_event`](Medium::poll_event)) and the time of the next
//! one ([`next_change`](Medium::next_change)). The content of a frame is the caller's.
//!
//! The station: `contention` (backoff and retries), `receiver` (one radio among the frames around it),
//! `queue`, `rate`. The air: `propagation`, `grid` and `positions` (who hears whom), `surroundings` (noise
//! and primary users), `errors` (of bits). `medium` has stations and air, `dcf` and `timing` the constants,
//! `rules` the differences between simulators and the standard, `agenda` the order. `docs/adhoc.md` describes
//! the model and its limits.

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
pub use event::{Counters, Destination, ExchangeFailure, FrameKind, InterfaceId, MediumEvent, QueuedPacket};
pub use medium::{InterfaceConfig, Medium};
pub use positions::Positions;
pub use propagation::{Fading, LogDistance, Nakagami, PathLoss, Propagation, Shadowing, TwoRay};
pub use queue::EnqueueOutcome;
pub use rate::{Arf, Minstrel, RateControl};
pub use retry_limit::RetryLimit;
pub use rules::{
    AnswerRate, AnswerTimeout, Capture, CarrierSense, CtsWhen, EifsAfter, Profile, RuleSettings, Rules,
};
pub use surroundings::{Fate, PrimaryUsers, ReceivedFrame, Surroundings};
