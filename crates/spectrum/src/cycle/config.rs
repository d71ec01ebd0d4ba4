//! What a cognitive cycle is made of.

use crate::DurationLaw;
use cogtcp_units::{Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The cognitive cycle of one link. The default never changes: a link without a cognitive radio.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CycleConfig {
    /// Periodic sensing; `None`: the link never senses.
    pub sensing: Option<SensingCycle>,
    /// Arrivals of primary users; `None`: none ever comes.
    pub pu: Option<PuArrivals>,
    /// The channel after an interruption.
    pub channel: ChannelChoice,
    /// Least time on a channel: a sensing that ends earlier leaves the radio where it is. A PU drives it away at any
    /// time.
    pub dwell: Duration,
}

/// Periodic sensing: silent for `off`, open to traffic for `on`, and again. With exponential laws for both it is the on-off link
/// of Singh, Bonnin and Ros (a train in and out of tunnels).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Sensing")]
pub struct SensingCycle {
    /// Duration of one sensing, t_s: so long the link is off.
    pub off: DurationLaw,
    /// Time open to traffic between two sensings, T_p: so long the link is on. A cycle takes `off` and `on` together.
    pub on: DurationLaw,
    /// When the first sensing begins, counted from the start of the run; without it: after a first `on`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<Duration>,
    /// What a switch of channel does to the time of the next sensing.
    #[serde(default)]
    pub clock: SensingClock,
}

/// What a switch of channel does to the time of the next sensing.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Clock")]
pub enum SensingClock {
    /// A full `on` follows every silence, a switch too: T_p starts when transmission starts (MSWiM 2009, line 10 of the
    /// pseudocode).
    #[default]
    Restart,
    /// Sensing keeps its own timetable (all nodes of a network sense together, as in Zhou, Al Ali and Chowdhury,
    /// section 1). A sensing that falls due during a switch begins when the switch ends.
    Keep,
}

/// Primary users: they come as a Poisson process, and each makes the radio leave its channel (Zhou, Al Ali and Chowdhury,
/// section 4.3).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PrimaryUsers")]
pub struct PuArrivals {
    /// Mean time between two arrivals; exponential.
    pub interarrival: Duration,
    /// Silence of one switch of channel.
    pub switching: Duration,
}

/// The channel after an interruption (a sensing, or a switch because of a PU). Channel 0 is the link's own, on which it starts.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Channel")]
pub enum ChannelChoice {
    /// The rate stays the link's own: after a sensing the same channel; after a PU another one just like it (numbered
    /// 1, 2, 3...).
    #[default]
    Stay,
    /// The rate is drawn uniformly between these two, both included; a new channel each time (numbered 1, 2, 3...).
    Range([Rate; 2]),
    /// The rate is one of these, drawn uniformly; after a PU one of the others, when there are others. The i-th of the set (from
    /// 1) is channel i.
    Set(Vec<Rate>),
}

/// A cycle that makes no sense.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CycleConfigError {
    /// The link would never carry anything.
    #[error("sensing.on is zero: the link would never transmit; give it a duration above zero")]
    NeverOn,
    /// An exponential law of mean zero.
    #[error("{0} is exponential with mean zero; give a mean above zero")]
    ZeroMean(&'static str),
    /// Bounds of a uniform law, or of a range of rates, in the wrong order.
    #[error("{0}: the lower bound is above the upper; swap them")]
    Reversed(&'static str),
    /// Infinitely many arrivals.
    #[error("pu.interarrival is zero; give a mean time between arrivals above zero")]
    ZeroInterarrival,
    /// Nothing to choose from.
    #[error("channel.set is empty; list at least one rate")]
    EmptySet,
    /// A channel that carries nothing.
    #[error("channel: a rate is zero; a channel needs a rate above zero")]
    ZeroRate,
}

impl CycleConfig {
    /// Refuses cycles that make no sense, with the name of the field and what would be right.
    pub fn validate(&self) -> Result<(), CycleConfigError> {
        if let Some(sensing) = &self.sensing {
            check_law(&sensing.off, "sensing.off")?;
            check_law(&sensing.on, "sensing.on")?;
            if sensing.on.longest() == Some(Duration::ZERO) {
                return Err(CycleConfigError::NeverOn);
            }
        }
        if self.pu.as_ref().is_some_and(|pu| pu.interarrival.is_zero()) {
            return Err(CycleConfigError::ZeroInterarrival);
        }
        match &self.channel {
            ChannelChoice::Stay => Ok(()),
            ChannelChoice::Set(rates) if rates.is_empty() => Err(CycleConfigError::EmptySet),
            ChannelChoice::Set(rates) if rates.contains(&Rate::ZERO) => Err(CycleConfigError::ZeroRate),
            ChannelChoice::Set(_) => Ok(()),
            ChannelChoice::Range([low, high]) if low > high => {
                Err(CycleConfigError::Reversed("channel.range"))
            }
            ChannelChoice::Range([low, _]) if *low == Rate::ZERO => Err(CycleConfigError::ZeroRate),
            ChannelChoice::Range(..) => Ok(()),
        }
    }
}

fn check_law(law: &DurationLaw, field: &'static str) -> Result<(), CycleConfigError> {
    match law {
        DurationLaw::Exponential(mean) if mean.is_zero() => Err(CycleConfigError::ZeroMean(field)),
        DurationLaw::Uniform(low, high) if low > high => Err(CycleConfigError::Reversed(field)),
        _ => Ok(()),
    }
}
