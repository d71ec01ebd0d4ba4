//! The radio, pure: when a cognitive-radio link may carry traffic, and on which channel.
//!
//! Every type here is sans-IO: it is told the time and says what changed and when to ask again. It knows no
//! event queue, clock, thread or global random generator; each stochastic part draws from its own
//! [`RandomStream`](cogtcp_units::RandomStream).
//!
//! Radios, one trait ([`Radio`]; the train's is in `cogtcp-train`):
//!
//! - [`CognitiveCycle`]: the cycle of one link without spectrum: periodic sensing and PU arrivals by their
//!   laws.
//! - [`CognitiveRadio`]: the CR user of Di Felice, Chowdhury and Bononi (MSWiM 2009) among primary users and
//!   channels.
//! - [`LeoRadio`]: a link over satellites in low orbit, whose delay changes at each handoff.
//!
//! Reading order:
//!
//! - [`Radio`], [`Phase`], [`LinkEvent`], [`RadioStats`]: what any radio shows to its driver.
//! - [`DurationLaw`], [`CycleConfig`], [`CognitiveCycle`].
//! - [`Intervals`], [`activity`], [`ChannelTable`], [`logs`]: who uses the spectrum when, and the files that
//!   say so.
//! - [`propagation`], [`air`]: who hears whom.
//! - [`detector`], [`theory`], [`policy`]: sensing and its closed forms, deciding.
//! - [`regulation`]: what protects incumbents by regulation, in place of sensing.
//! - [`CognitiveConfig`], [`CognitiveRadio`], [`Protection`].

pub mod activity;
pub mod air;
mod channels;
mod cognitive;
mod cycle;
pub mod detector;
mod gate;
mod intervals;
mod law;
pub mod logs;
pub mod math;
pub mod policy;
pub mod propagation;
mod radio_trait;
pub mod regulation;
pub mod theory;

pub use cogtcp_crosslayer::{ChannelId, LinkEvent, OutageCause, Phase, Verdict};

pub use activity::{PrimaryUser, PuActivity, Reach};
pub use channels::{Channel, ChannelTable, ChannelTableError};
pub use cognitive::{CognitiveConfig, CognitiveConfigError, CognitiveRadio, Protection};
pub use cycle::{ChannelChoice, CognitiveCycle, CycleConfig, PuArrivals, SensingClock, SensingCycle};
pub use gate::*;
pub use intervals::{Intervals, IntervalsError, OnInterval};
pub use law::DurationLaw;
pub use radio_trait::{Radio, RadioState, RadioStats};
