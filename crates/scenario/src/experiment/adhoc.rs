//! An ad hoc network, ready to run.

use crate::Reception;
use cogtcp_adhoc::AdHocConfig;
use cogtcp_mobility::{Area, Mobility, Placement, RandomWaypoint};
use cogtcp_spectrum::air::Air;
use cogtcp_units::{Duration, Power, RandomStream};
use cogtcp_wireless::PrimaryUsers;
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

impl AdHocSpec {
    /// Which frames the primary users of `air` destroy, in the run of seed `seed`.
    pub fn primary_users(&self, air: &Arc<Air>, seed: u64) -> PrimaryUsers {
        match self.reception {
            Reception::Sinr => PrimaryUsers::new(Arc::clone(air)),
            Reception::AsReleased => {
                let stream = |number| RandomStream::new(seed, &format!("escape/interface {number}"), 0);
                // Three interfaces a node at most.
                let streams = (0..3 * self.nodes).map(stream).collect();
                PrimaryUsers::as_released(Arc::clone(air), self.sensitivity.watts(), streams)
            }
        }
    }

    /// Where the nodes are at which time, in the run of seed `seed`.
    ///
    /// # Errors
    ///
    /// What is wrong with placement or movement; the scenario has checked them.
    pub fn mobility(&self, duration: Duration, seed: u64) -> Result<Arc<Mobility>, String> {
        match &self.motion {
            Motion::Still(placement) => {
                let places = placement.place(self.nodes, seed).map_err(|error| error.to_string())?;
                Ok(Arc::new(Mobility::still(&places)))
            }
            Motion::Waypoint(waypoint) => {
                let made = waypoint.generate(self.nodes, duration, seed);
                made.map(Arc::new).map_err(|error| error.to_string())
            }
            Motion::Given(mobility) => Ok(Arc::clone(mobility)),
        }
    }
}
