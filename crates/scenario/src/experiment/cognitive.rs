//! The CR user in full: the spectrum, the radio, its MAC.

use crate::{Ends, Mac, Reception, TransmitRadio, WhilePeerSenses};
use cogtcp_spectrum::activity::{LawError, PuSpec};
use cogtcp_spectrum::air::Air;
use cogtcp_spectrum::detector::{DetectorConfig, Surroundings};
use cogtcp_spectrum::policy::PolicyConfig;
use cogtcp_spectrum::propagation::Propagation;
use cogtcp_spectrum::{ChannelTable, CognitiveConfig, PuActivity};
use cogtcp_units::{Duration, Power};

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
}

/// Where the activity of primary users comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum UsersSpec {
    /// Drawn by their laws, from the seed of the run.
    Generated(Vec<PuSpec>),
    /// Read from a log: the same in every run.
    Logged(PuActivity),
}

impl SpectrumSpec {
    /// The air in the run of seed `seed`, with the activity up to `horizon`.
    pub fn air(&self, horizon: Duration, seed: u64) -> Result<Air, LawError> {
        let activity = match &self.users {
            UsersSpec::Generated(specs) => PuActivity::generate(specs, horizon, seed)?,
            UsersSpec::Logged(activity) => activity.clone(),
        };
        let mut air = Air::new(activity, self.channels.clone());
        air.propagation = self.propagation;
        air.leaks_across_bands = self.leaks_across_bands;
        Ok(air)
    }
}

/// A pair of CR users over one link, and the MAC between them.
#[derive(Clone, Debug, PartialEq)]
pub struct CognitiveSpec {
    /// The radio at each end of the link: its first node, its second.
    pub ends: [CognitiveConfig; 2],
    /// Whether one radio stands for both ends or each senses on its own.
    pub sensing: Ends,
    /// How it senses.
    pub detector: DetectorConfig,
    /// What the detector may take from around it.
    pub surroundings: Surroundings,
    /// Where it goes from a channel with a PU.
    pub policy: PolicyConfig,
    /// What a sender does while its receiver is silent.
    pub while_peer_senses: WhilePeerSenses,
    /// Whether a node sends with the radio that senses.
    pub transmit_radio: TransmitRadio,
    /// Power of each frame.
    pub transmit_power: Power,
    /// Which frames are lost.
    pub reception: Reception,
    /// The medium access.
    pub mac: Mac,
}
