//! The radio, pure: when a cognitive-radio link may carry traffic, and on which channel.
//!
//! Every type here is sans-IO: it is told the time and answers what changed and when to ask again. It knows no event
//! queue, clock, thread or global random generator; each stochastic part draws from its own
//! [`RandomStream`](cogtcp_units::RandomStream).
//!
//! Reading order:
//!
//! - [`Phase`], [`RadioEvent`], [`RadioStats`]: what any radio shows to its driver.
//! - [`DurationLaw`], [`CycleConfig`], [`CognitiveCycle`]: the cycle of one link without spectrum.
//! - [`Intervals`], [`activity`], [`ChannelTable`], [`logs`]: who uses the spectrum when, and the files that say so.
//! - [`propagation`], [`air`]: who hears whom.
//! - [`detector`], [`theory`]: sensing and its closed forms.

pub mod activity;
pub mod air;
mod channels;
mod cycle;
pub mod detector;
mod intervals;
mod law;
pub mod logs;
pub mod math;
pub mod propagation;
mod radio;
pub mod theory;

pub use activity::{PrimaryUser, PuActivity, Reach};
pub use channels::{Channel, ChannelTable, ChannelTableError, Decimal};
pub use cycle::{
    ChannelChoice, CognitiveCycle, CycleConfig, CycleConfigError, PuArrivals, SensingClock, SensingCycle,
};
pub use intervals::{Intervals, IntervalsError, OnInterval, Seconds};
pub use law::DurationLaw;
pub use radio::{ChannelId, Phase, RadioEvent, RadioStats, Verdict};
