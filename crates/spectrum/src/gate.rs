//! Radios that gate links by themselves: no sensing, no map, no MAC.

mod leo;

pub use leo::{LeoConfig, LeoRadio};

use crate::Radio;
use cogtcp_units::{Check, Duration, Rate, registry};
use std::fmt::Debug;

registry! {
    /// A radio that gates links by itself.
    pub enum GateConfig: GateKind {
        /// A link over satellites in low orbit.
        Leo(LeoConfig),
    }
}

/// Bounds of a scenario's values.
#[derive(Clone, Copy, Debug)]
pub struct GateBounds {
    /// The longest duration.
    pub duration: Duration,
    /// The longest delay of a link.
    pub delay: Duration,
}

/// A radio that gates links by itself, as the registry knows it: its settings, which build it.
pub trait GateKind: Debug {
    /// Reports each setting that is wrong.
    fn check(&self, bounds: &GateBounds, found: &mut dyn Check);

    /// Returns the shortest time from an interruption to the next, and the setting that says so.
    fn interval(&self) -> (&'static str, Duration);

    /// Returns the rates that the radio gives its links; none: they keep their own.
    fn rates(&self) -> Vec<Rate> {
        Vec::new()
    }

    /// True if two seeds may differ.
    fn is_random(&self) -> bool {
        true
    }

    /// Returns the radio called `name` as it is at time zero, in the run of seed `seed`.
    fn build(&self, seed: u64, name: &str) -> Box<dyn Radio>;
}
