//! What a cell is made of.

use crate::carrier::Carrier;
use crate::drx::DrxTimers;
use crate::errors::ErrorModel;
use crate::frame::SlotPattern;
use crate::handover::Handover;
use crate::request::RequestTimes;
use crate::rlc::Mode;
use crate::scheduler::Rule;
use cogtcp_units::{Decibel, Duration};

/// What a cell is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct CellConfig {
    /// Slots and their directions.
    pub frame: SlotPattern,
    /// The carrier.
    pub carrier: Carrier,
    /// Which blocks are lost.
    pub error_model: ErrorModel,
    /// By what the MCS of the downlink is chosen.
    pub mcs_choice: McsChoice,
    /// Which user's data a slot carries.
    pub rule: Rule,
    /// The users whose packets are known.
    pub users: Vec<UserConfig>,
    /// The others, at every station.
    pub load: Load,
    /// Other stations, and when users move; `None`: there is one.
    pub handover: Option<Handover>,
    /// When users listen; `None`: always.
    pub drx: Option<DrxTimers>,
    /// Most attempts of HARQ for a block, the first included.
    pub attempts: u32,
    /// Whether RLC repeats what HARQ loses.
    pub mode: Mode,
    /// t-Reordering of RLC.
    pub reordering: Duration,
    /// t-PollRetransmit of RLC.
    pub poll: Duration,
    /// How users ask for their first grant.
    pub request: RequestTimes,
    /// Bytes of the grant that answers a request: the base station does not know yet how much there is.
    pub first_grant: u64,
    /// Most users that the control region of a slot can address in a direction.
    pub grants: u32,
    /// How long Rayleigh fading keeps a gain; `None`: the SINR is constant.
    pub coherence: Option<Duration>,
    /// How old the report is by which a block's MCS is chosen.
    pub report_age: Duration,
}

/// By what the base station chooses the MCS of the downlink.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum McsChoice {
    /// The SINR itself.
    #[default]
    Sinr,
    /// The CQI of four bits: the highest MCS that it allows.
    Cqi,
}

/// A user of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UserConfig {
    /// Mean SINR, down and up.
    pub sinr: [Decibel; 2],
    /// From the end of the slot to where the packet goes, down and up: propagation and processing.
    pub delay: [Duration; 2],
}

/// What users take whose packets nobody follows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Users that always have data, in both directions.
    pub saturated: u32,
    /// Their mean SINR, dB.
    pub sinr: Decibel,
    /// Share of the resource blocks of every slot that is taken in advance, 0 to 1.
    pub share: f64,
}
