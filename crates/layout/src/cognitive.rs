//! The CR user in full: the spectrum, the radio, its MAC.

use cogtcp_cell::CellConfig;
use cogtcp_cell::frame::Direction;
use cogtcp_mobility::Area;
use cogtcp_spectrum::activity::PuSpec;
use cogtcp_spectrum::detector::{DetectorConfig, DetectorContext};
use cogtcp_spectrum::policy::PolicyConfig;
use cogtcp_spectrum::propagation::Propagation;
use cogtcp_spectrum::{ChannelTable, CognitiveConfig, PuActivity};
use cogtcp_units::{Power, Rate};
use cogtcp_wireless::Dcf;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// The radio at each end of the link: its first node, its second.
    pub ends: [CognitiveConfig; 2],
    /// Whether the two ends sense together.
    pub sensing: Ends,
    /// How they sense.
    pub detector: DetectorConfig,
    /// What the detector may take from around it.
    pub surroundings: DetectorContext,
    /// The next channel, once a PU was reported.
    pub policy: PolicyConfig,
    /// What a sender does while its receiver is silent.
    pub while_peer_senses: WhilePeerSenses,
    /// Whether a node sends with the radio that senses.
    pub transmit_radio: TransmitRadio,
    /// Power of every frame.
    pub transmit_power: Power,
    /// Which frames are lost.
    pub reception: Reception,
    /// The medium access.
    pub mac: Dcf,
}

/// A base station and its users, one at the far end of each link of its radio.
#[derive(Clone, Debug, PartialEq)]
pub struct CellSpec {
    /// What the cell is made of.
    pub config: CellConfig,
    /// The end of each link at which the base station is: 0 for the first node, 1 for the second.
    pub station: usize,
}

impl CellSpec {
    /// Returns the highest rate of both directions.
    pub fn peak(&self) -> Rate {
        let rate = |direction| self.config.carrier.peak(&self.config.frame, direction);
        rate(Direction::Downlink).max(rate(Direction::Uplink))
    }
}

/// Whether the two ends of a link sense together.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ends {
    /// One radio, at the first end, stands for both: they sense at the same times, decide as one and change
    /// channel together.
    #[default]
    Synchronous,
    /// Each end senses and decides on its own, from its own place. A sender sends on its receiver's channel,
    /// which it knows at no cost.
    Independent,
}

/// What a sender does while its receiver is silent.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WhilePeerSenses {
    /// It knows and waits; it begins no exchange that would not end in time.
    #[default]
    Wait,
    /// It does not know: it tries again and again, up to its retry limit, and drops the packet then.
    Retry,
}

/// Whether a node sends with the radio that senses.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TransmitRadio {
    /// It has one transceiver: while it senses it does not send.
    #[default]
    Shared,
    /// It has another radio to send with: its own sensing does not keep it from sending (the released ns-2
    /// code).
    Separate,
}

/// Which frames are lost, apart from collisions and the loss of the link.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reception {
    /// Every frame whose signal to noise and interference is below `capture` at its receiver; data frames
    /// also at random, by the error rate of the channel.
    #[default]
    Sinr,
    /// The released ns-2 code: an RTS or data frame is lost while a PU that is heard on the channel is ON,
    /// except 10 % of them. RTS and data frames are also lost at random, by the error rate of the channel. A
    /// CTS or ACK always arrives.
    AsReleased,
}
