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
//! - [`detector`], [`theory`]: sensing and its closed forms.

mod cycle;
pub mod detector;
mod law;
pub mod math;
mod radio;
pub mod theory;

pub use cycle::{
    ChannelChoice, CognitiveCycle, CycleConfig, CycleConfigError, PuArrivals, SensingClock, SensingCycle,
};
pub use law::DurationLaw;
pub use radio::{ChannelId, Phase, RadioEvent, RadioStats, Verdict};
