//! The CR user in full: the spectrum, the radio, its MAC.

use crate::CognitiveUser;
use cogtcp_mobility::Area;
use cogtcp_spectrum::activity::PuSpec;
use cogtcp_spectrum::detector::DetectorContext;
use cogtcp_spectrum::propagation::Propagation;
use cogtcp_spectrum::{ChannelTable, CognitiveConfig, PuActivity};

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

/// A pair of CR users over one link, and the MAC between them.
#[derive(Clone, Debug, PartialEq)]
pub struct CognitiveSpec {
    /// What the scenario says of both.
    pub user: CognitiveUser,
    /// What follows for the radio at each end of the link: its first node, its second.
    pub ends: [CognitiveConfig; 2],
    /// What the detector may take from around it.
    pub surroundings: DetectorContext,
}
