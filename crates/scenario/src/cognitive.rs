//! CR users in full: the spectrum that they share with primary users, their sensing, their MAC.

mod cell;
mod moving;
mod sensing;
mod spectrum;

pub use cell::{BaseStation, CellSettings, Duplex, OtherUsers, RlcMode, Scheduling, Technology};
pub use sensing::{PuSnr, SensingSettings};
pub use spectrum::{
    AlternatingChannels, Channels, Crowd, Exponential, ExponentialLaw, LawsOfUsers, MeasuredFile,
    MeasuredUsers, ModelOfUsers, OnOffLaws, Spectrum, TraceModel, TraceOfUsers, Users,
};

use crate::Flat;
use cogtcp_layout::{Ends, TransmitRadio, WhilePeerSenses};
use cogtcp_spectrum::detector::FusionRule;
use cogtcp_spectrum::regulation::RegulationConfig;
use cogtcp_units::{Decibel, Length, Power};
use cogtcp_wireless::Dcf;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A pair of CR users over one link, with sensing, handoffs and CSMA/CA.
pub type CognitiveUser = Flat<SensingSettings, PairOfUsers>;

/// A pair of CR users over one link (Di Felice, Chowdhury and Bononi, MSWiM 2009). They sense with errors,
/// decide and hand off. They share the channel by CSMA/CA, or have it to themselves. Needs \[spectrum\].
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CognitiveUser")]
pub struct PairOfUsers {
    /// How the link gets at a channel that is open. Name it: without it "dcf" holds, with a warning.
    #[serde(default)]
    pub access: Access,
    /// The cell, with `access = "scheduled"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell: Option<CellSettings>,
    /// What protects incumbents in place of sensing times: a regulation of CBRS, DFS or TV white space, or
    /// quiet periods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regulation: Option<RegulationConfig>,
    /// Neighbours that sense with each end, from places of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cooperation: Option<Cooperation>,
    /// Whether the two ends sense together.
    #[serde(default)]
    pub ends: Ends,
    /// What a sender does while its receiver is silent.
    #[serde(default)]
    pub while_peer_senses: WhilePeerSenses,
    /// Whether a node sends with the radio that senses.
    #[serde(default)]
    pub transmit_radio: TransmitRadio,
    /// Where the two ends of the link are: east and north of each.
    #[serde(default = "positions")]
    pub positions: [Coordinates; 2],
    /// Power of every frame.
    #[serde(default = "transmit_power")]
    pub transmit_power: Power,
    /// Signal to noise and interference that a frame needs (ns-2's CPThresh).
    #[serde(default = "capture")]
    pub capture: Decibel,
    /// The medium access.
    #[serde(default)]
    pub mac: Dcf,
}

/// Coordinates in the plane: east and north.
pub type Coordinates = [Length; 2];

/// 100 m apart: well inside the transmission range of 250 m of the paper's Table 1.
fn positions() -> [Coordinates; 2] {
    [[Length(0.0), Length(0.0)], [Length(100.0), Length(0.0)]]
}

fn transmit_power() -> Power {
    Power::from_watts(0.2818)
}

fn capture() -> Decibel {
    Decibel(10.0)
}

/// Neighbours that sense with each end.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Cooperation {
    /// Where the neighbours are; they sense when the end does, with the same detector.
    pub neighbours: Vec<Coordinates>,
    /// How the reports become one.
    #[serde(default)]
    pub rule: FusionRule,
}

/// How the link gets at a channel that is open.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// By the DCF of IEEE 802.11: the two ends contend for one channel, and acknowledge each frame (`mac`).
    #[default]
    Dcf,
    /// The channel is the link's own while it is open: both directions carry its rate, without frames of a
    /// MAC.
    None,
    /// A base station schedules: the radio's links lead to its users, and the rate follows from `cell`, not
    /// from the channels' rates. LTE and NR.
    Scheduled,
}
