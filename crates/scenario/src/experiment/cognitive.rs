//! The CR user in full: the spectrum, the radio, its MAC.

use super::Experiment;
use crate::CognitiveUser;
use cogtcp_mobility::Area;
use cogtcp_spectrum::activity::{LawError, PuSpec, scatter};
use cogtcp_spectrum::air::Air;
use cogtcp_spectrum::detector::Surroundings;
use cogtcp_spectrum::propagation::Propagation;
use cogtcp_spectrum::{ChannelTable, CognitiveConfig, PuActivity};
use cogtcp_units::Duration;
use std::sync::Arc;

/// Channels and primary users.
#[derive(Clone, Debug, PartialEq)]
pub struct SpectrumSpec {
    /// The CR channels.
    pub channels: ChannelTable,
    /// The primary users.
    pub users: UsersSpec,
    /// How signals fade.
    pub propagation: Propagation,
    /// Whether a PU leaks over the border of its band.
    pub leaks_across_bands: bool,
    /// The area over which the places of the PUs are drawn; `None`: they are where they are said to be.
    pub scattered: Option<Area>,
}

/// Where the activity of primary users comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum UsersSpec {
    /// Drawn by their laws, from the seed of the run.
    Generated(Vec<PuSpec>),
    /// Read from a log: the same in every run.
    Logged(PuActivity),
}

impl Experiment {
    /// The air of the run of seed `seed`, with the activity of primary users up to `horizon`; `None`: the experiment has no spectrum.
    ///
    /// # Errors
    ///
    /// What is wrong with the laws of primary users; the scenario has checked them.
    pub fn air(&self, horizon: Duration, seed: u64) -> Result<Option<Arc<Air>>, LawError> {
        self.spectrum.as_ref().map(|spectrum| spectrum.air(horizon, seed).map(Arc::new)).transpose()
    }
}

impl SpectrumSpec {
    /// The air in the run of seed `seed`, with the activity up to `horizon`.
    pub fn air(&self, horizon: Duration, seed: u64) -> Result<Air, LawError> {
        let mut activity = match &self.users {
            UsersSpec::Generated(specs) => PuActivity::generate(specs, horizon, seed)?,
            UsersSpec::Logged(activity) => activity.clone(),
        };
        if let Some(area) = self.scattered {
            let places = scatter(activity.users.len() as u32, area.width, area.height, seed);
            activity.users.iter_mut().zip(places).for_each(|(user, place)| user.position = place);
        }
        let mut air = Air::new(activity, self.channels.clone());
        air.propagation = self.propagation;
        air.leaks_across_bands = self.leaks_across_bands;
        Ok(air)
    }
}

/// A pair of CR users over one link, and the MAC between them.
#[derive(Clone, Debug, PartialEq)]
pub struct CognitiveSpec {
    /// What the scenario says of both.
    pub user: CognitiveUser,
    /// What follows for the radio at each end of the link: its first node, its second.
    pub ends: [CognitiveConfig; 2],
    /// What the detector may take from around it.
    pub surroundings: Surroundings,
}
