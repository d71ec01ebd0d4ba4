//! An ad hoc network, ready to run.

use crate::Reception;
use cogtcp_adhoc::AdHocConfig;
use cogtcp_mobility::{Area, Mobility, Placement, RandomWaypoint};
use cogtcp_units::Power;
use std::sync::Arc;

/// An ad hoc network.
#[derive(Clone, Debug, PartialEq)]
pub struct AdHocSpec {
    /// Where its nodes are.
    pub area: Area,
    /// How many there are.
    pub nodes: usize,
    /// How they move.
    pub motion: Motion,
    /// Radios, MAC and routing.
    pub config: AdHocConfig,
    /// Which frames primary users destroy.
    pub reception: Reception,
    /// A PU is heard when at least this power of it arrives.
    pub sensitivity: Power,
}

/// How nodes move.
#[derive(Clone, Debug, PartialEq)]
pub enum Motion {
    /// Not at all.
    Still(Placement),
    /// By random waypoint.
    Waypoint(RandomWaypoint),
    /// As a file has it.
    Given(Arc<Mobility>),
}
