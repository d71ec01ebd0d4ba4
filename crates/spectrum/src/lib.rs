//! The radio, pure: when a cognitive-radio link may carry traffic, and on which channel.
//!
//! Every type here is sans-IO: it is told the time and answers what changed and when to ask again. It knows no event
//! queue, clock, thread or global random generator; each stochastic part draws from its own
//! [`RandomStream`](cogtcp_units::RandomStream).
//!
//! Reading order:
//!
//! - [`Phase`], [`RadioEvent`], [`RadioStats`]: what any radio shows to its driver.
//! - [`CognitiveCycle`]: the cycle of one link without spectrum: periodic sensing and PU arrivals by their laws.
//! - [`DurationLaw`]: how the spans of the cycle are drawn.

mod cycle;
mod law;
mod radio;

pub use cycle::{
    ChannelChoice, CognitiveCycle, CycleConfig, CycleConfigError, PuArrivals, SensingClock, SensingCycle,
};
pub use law::DurationLaw;
pub use radio::{ChannelId, Phase, RadioEvent, RadioStats, Verdict};
