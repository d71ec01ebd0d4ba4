//! What a cognitive cycle is made of.

use crate::DurationLaw;
use cogtcp_units::{Check, Duration, Rate};
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
    /// Least time on a channel: a sensing that ends earlier leaves the radio where it is. A PU drives it away
    /// at any time.
    pub dwell: Duration,
}

/// Periodic sensing: silent for `off`, open to traffic for `on`, and again. With exponential laws for both it
/// is the on-off link of Singh, Bonnin and Ros (a train in and out of tunnels).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Sensing")]
pub struct SensingCycle {
    /// Duration of one sensing, t_s: so long the link is off.
    pub off: DurationLaw,
    /// Time open to traffic between two sensings, T_p: so long the link is on. A cycle takes `off` and `on`
    /// together.
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
    /// A full `on` follows every silence, a switch too: T_p starts when transmission starts (MSWiM 2009, line
    /// 10 of the pseudocode).
    #[default]
    Restart,
    /// Sensing keeps its own timetable (all nodes of a network sense together, as in Zhou, Al Ali and
    /// Chowdhury, section 1). A sensing that falls due during a switch begins when the switch ends.
    Keep,
}

/// Primary users: they come as a Poisson process, and each makes the radio leave its channel (Zhou, Al Ali
/// and Chowdhury, section 4.3).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "PrimaryUsers")]
pub struct PuArrivals {
    /// Mean time between two arrivals; exponential.
    pub interarrival: Duration,
    /// Silence of one switch of channel.
    pub switching: Duration,
}

/// The channel after an interruption (a sensing, or a switch because of a PU). Channel 0 is the link's own,
/// on which it starts.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Channel")]
pub enum ChannelChoice {
    /// The rate stays the link's own: after a sensing the same channel; after a PU another one just like it
    /// (numbered 1, 2, 3...).
    #[default]
    Stay,
    /// The rate is drawn uniformly between these two, both included; a new channel each time (numbered 1, 2,
    /// 3...).
    Range([Rate; 2]),
    /// The rate is one of these, drawn uniformly; after a PU one of the others, when there are others. The
    /// i-th of the set (from 1) is channel i.
    Set(Vec<Rate>),
}

impl CycleConfig {
    /// Says what makes no sense: spans of nothing or beyond `longest`, bounds out of order, rates that
    /// nothing has.
    pub fn check(&self, longest: Duration, check: &mut impl Check) {
        if let Some(sensing) = &self.sensing {
            for (field, law, meaning) in [
                ("sensing.off", &sensing.off, "this is how long the link is silent at each sensing"),
                ("sensing.on", &sensing.on, "this is how long the link is open between two sensings"),
            ] {
                if *law == DurationLaw::Fixed(Duration::ZERO) {
                    let message = format!("the duration is zero: {meaning}");
                    check.error(field, message, "write one above zero".to_owned());
                } else {
                    law.check(field, longest, check);
                }
            }
            check.span("sensing.start", sensing.start.unwrap_or_default(), true, longest);
        }
        if let Some(pu) = &self.pu {
            check.span("pu.interarrival", pu.interarrival, false, longest);
            check.span("pu.switching", pu.switching, true, longest);
        }
        match &self.channel {
            ChannelChoice::Stay => {}
            ChannelChoice::Range([low, high]) => {
                check.rate("channel.range.0", *low);
                check.rate("channel.range.1", *high);
                check.order("channel.range", low, high);
            }
            ChannelChoice::Set(rates) => {
                if rates.is_empty() {
                    let message = "the set has no channels".to_owned();
                    check.error("channel.set", message, "list at least one rate".to_owned());
                }
                for (i, rate) in rates.iter().enumerate() {
                    check.rate(&format!("channel.set.{i}"), *rate);
                }
            }
        }
        check.span("dwell", self.dwell, true, longest);
    }
}
