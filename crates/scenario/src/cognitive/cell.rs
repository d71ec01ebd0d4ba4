//! The cell of scheduled access, as a scenario writes it.

use super::moving::{Drx, Handover};
use crate::tree::KeyPath;
use cogtcp_cell::carrier::{self, Carrier};
use cogtcp_cell::errors;
use cogtcp_cell::frame::{FrameError, SlotPattern};
use cogtcp_cell::request::RequestTimes;
use cogtcp_cell::rlc::Mode;
use cogtcp_cell::scheduler::Rule;
use cogtcp_cell::{CellConfig, Load, McsChoice, UserConfig, feedback};
use cogtcp_layout::{CellSpec, LinkSpec};
use cogtcp_units::{Bytes, Decibel, Duration, Frequency};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A base station and its users, one at the far end of each link of the radio (`access = "scheduled"`).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct CellSettings {
    /// LTE or NR.
    pub technology: Technology,
    /// Bandwidth of the carrier: LTE has 1.4, 3, 5, 10, 15 and 20 MHz, NR more.
    pub bandwidth: Frequency,
    /// Which slots carry downlink and uplink.
    pub duplex: Duplex,
    /// Special subframe configuration of LTE TDD, 0 to 8 (TS 36.211, table 4.2-1).
    pub special: usize,
    /// Symbols of a special slot of a `pattern`: downlink, guard, uplink.
    pub special_symbols: [u32; 3],
    /// Spatial layers of the downlink, 1 to 4.
    pub layers: u32,
    /// Symbols of the control region (PDCCH) of a downlink slot, 1 to 3; without it: 3 for LTE, 1 for NR.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_symbols: Option<u32>,
    /// Resource blocks of the uplink's control channel (PUCCH).
    pub control_blocks: u32,
    /// Mean SINR of the users, without primary users.
    pub sinr: Decibel,
    /// Mean SINR of the uplink; without it: the downlink's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uplink_sinr: Option<Decibel>,
    /// Mean SINR of each user in place of `sinr` and `uplink_sinr`, in the order of the radio's links.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sinrs: Vec<Decibel>,
    /// How long Rayleigh fading keeps a gain; without it the SINR is constant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coherence: Option<Duration>,
    /// How old the report of the SINR is by which a block's modulation and coding are chosen.
    pub report_age: Duration,
    /// Which blocks are lost at which SINR.
    pub error_model: BlockErrors,
    /// By what the base station chooses modulation and coding (MCS) of the downlink.
    pub link_adaptation: LinkAdaptation,
    /// Which user's data a slot carries.
    pub scheduler: Scheduling,
    /// Slots over which proportional fair takes the mean rate of a user, t_c.
    pub mean_slots: f64,
    /// Most users that a slot can address in a direction.
    pub grants: u32,
    /// Users that only load the cell.
    pub others: OtherUsers,
    /// Other base stations, and when users move; without it there is one station.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handover: Option<Handover>,
    /// Discontinuous reception (DRX); without it users always listen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drx: Option<Drx>,
    /// Most attempts of HARQ for a block, the first included.
    pub attempts: u32,
    /// Whether RLC repeats what HARQ loses.
    pub rlc: RlcMode,
    /// t-Reordering of RLC.
    pub reordering: Duration,
    /// t-PollRetransmit of RLC.
    pub poll: Duration,
    /// Distance of a user's opportunities to ask for a grant.
    pub request_period: Duration,
    /// Bytes of the grant that answers a request.
    pub first_grant: Bytes,
    /// At which end of the links the base station is.
    pub at: BaseStation,
}

impl Default for CellSettings {
    fn default() -> Self {
        Self {
            technology: Technology::Lte,
            bandwidth: Frequency(20e6),
            duplex: Duplex::Fdd,
            special: 7,
            special_symbols: [10, 2, 2],
            layers: 2,
            control_symbols: None,
            control_blocks: 4,
            sinr: Decibel(30.0),
            uplink_sinr: None,
            sinrs: Vec::new(),
            coherence: None,
            report_age: Duration::from_millis(6),
            error_model: BlockErrors::Awgn,
            link_adaptation: LinkAdaptation::Sinr,
            scheduler: Scheduling::RoundRobin,
            mean_slots: 1000.0,
            grants: 10,
            others: OtherUsers::default(),
            handover: None,
            drx: None,
            attempts: 4,
            rlc: RlcMode::Acknowledged,
            reordering: Duration::from_millis(35),
            poll: Duration::from_millis(45),
            request_period: Duration::from_millis(10),
            first_grant: Bytes::new(100),
            at: BaseStation::First,
        }
    }
}

/// A generation of cellular radio.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Technology {
    /// LTE, slots (subframes) of 1 ms.
    #[default]
    Lte,
    /// NR with subcarriers of 15 kHz, slots of 1 ms.
    #[serde(rename = "nr_15khz")]
    Nr15,
    /// NR with subcarriers of 30 kHz, slots of 0.5 ms.
    #[serde(rename = "nr_30khz")]
    Nr30,
}

/// Which slots carry downlink and uplink.
#[derive(Clone, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Duplex {
    /// A carrier for each direction.
    #[default]
    Fdd,
    /// Uplink-downlink configuration of LTE, 0 to 6 (TS 36.211, table 4.2-2).
    Tdd(usize),
    /// Slots by their letters: D, S (special) and U, as "DDDSU".
    Pattern(String),
}

/// Which transport blocks are lost at which SINR.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockErrors {
    /// Link-level simulation of a Gaussian channel: CQI 1 needs -7 dB, CQI 15 20 dB.
    #[default]
    Awgn,
    /// log2(1 + SINR / 5.53), pessimistic (Piro, Baldo and Miozzo 2011).
    Piro,
}

/// By what the base station chooses modulation and coding (MCS) of the downlink.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkAdaptation {
    /// The SINR itself.
    #[default]
    Sinr,
    /// The CQI of four bits that users report: the highest MCS that it allows.
    Cqi,
}

/// Which user's data a slot carries.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheduling {
    /// One after the other.
    #[default]
    RoundRobin,
    /// The user with the highest rate now.
    MaxRate,
    /// The user whose rate now is highest in relation to its mean rate.
    ProportionalFair,
}

/// Users that only load the cell: their packets are not followed.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct OtherUsers {
    /// Users that always have data, in both directions.
    pub saturated: u32,
    /// Their mean SINR.
    pub sinr: Decibel,
    /// Share of the resource blocks of every slot that is taken in advance, 0 to 1.
    pub share: f64,
}

/// Whether RLC repeats what HARQ loses.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RlcMode {
    /// It does (AM): nothing is lost, and packets wait for those before them.
    #[default]
    Acknowledged,
    /// It does not (UM): what HARQ gives up is lost.
    Unacknowledged,
}

/// At which end of its links a base station is.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BaseStation {
    /// At the first node of a link: forward is downlink.
    #[default]
    First,
    /// At the second node: forward is uplink.
    Second,
}

impl CellSettings {
    fn technology(&self) -> carrier::Technology {
        match self.technology {
            Technology::Lte => carrier::Technology::Lte,
            Technology::Nr15 => carrier::Technology::Nr15,
            Technology::Nr30 => carrier::Technology::Nr30,
        }
    }

    /// NR's peak of TS 38.306, section 4.1.2 has an overhead of 14 %: one control symbol and one of reference
    /// signals, of 14.
    fn control_symbols(&self) -> u32 {
        let default = if self.technology == Technology::Lte { 3 } else { 1 };
        self.control_symbols.unwrap_or(default)
    }

    fn frame(&self) -> Result<SlotPattern, FrameError> {
        let [down, guard, up] = self.special_symbols;
        match &self.duplex {
            Duplex::Fdd => SlotPattern::fdd(self.technology().slot()),
            Duplex::Tdd(number) => SlotPattern::lte_tdd(*number, self.special),
            Duplex::Pattern(letters) => {
                SlotPattern::tdd(letters, (down, guard, up), self.technology().slot())
            }
        }
    }

    /// Reports wrong settings by their place below `path`; `users`: links of the radio.
    pub(crate) fn check(
        &self,
        links: &[String],
        path: &KeyPath,
        report: &mut impl FnMut(&KeyPath, String, String),
    ) {
        let users = links.len();
        if let Some(handover) = &self.handover {
            handover.check(links, self.rlc, &path.key("handover"), report);
        }
        if let Some(drx) = &self.drx {
            drx.check(self.technology().slot(), &path.key("drx"), report);
        }
        let technology = self.technology();
        let megahertz = self.bandwidth.0 / 1e6;
        if technology.blocks(megahertz).is_none() {
            let known: Vec<String> =
                technology.bandwidths().iter().map(|(known, _)| format!("{known} MHz")).collect();
            report(
                &path.key("bandwidth"),
                format!("{:?} has no carrier of {megahertz} MHz", self.technology),
                format!("write one of {}", known.join(", ")),
            );
        }
        if matches!(self.duplex, Duplex::Tdd(_)) && self.technology != Technology::Lte {
            let remedy = "write duplex = { pattern = \"DDDSU\" }, or technology = \"lte\"".to_owned();
            report(&path.key("duplex"), "NR has no numbered TDD configurations".to_owned(), remedy);
        } else if let Err(error) = self.frame() {
            let (key, remedy) = match &error {
                FrameError::Configuration { kind: "TDD", .. } => ("duplex", "write 0 to 6"),
                FrameError::Configuration { .. } => ("special", "write 0 to 8"),
                FrameError::Symbols(..) => {
                    ("special_symbols", "write downlink, guard and uplink, as [10, 2, 2]")
                }
                _ => ("duplex", "write a pattern as \"DDDSU\""),
            };
            report(&path.key(key), error.to_string(), remedy.to_owned());
        }
        for (key, number, least, most) in [
            ("layers", self.layers, 1, 4),
            ("control_symbols", self.control_symbols(), 1, 3),
            // At least one block is left for data.
            ("control_blocks", self.control_blocks, 0, technology.blocks(megahertz).map_or(4, |all| all - 1)),
            ("grants", self.grants, 1, 100),
            ("attempts", self.attempts, 1, 28),
            ("others.saturated", self.others.saturated, 0, 1000),
        ] {
            if !(least..=most).contains(&number) {
                let path = key.split('.').fold(path.clone(), |path, key| path.key(key));
                report(&path, format!("{number} is out of range"), format!("write {least} to {most}"));
            }
        }
        if !(0.0..1.0).contains(&self.others.share) {
            let message = format!("a share of {} is out of range", self.others.share);
            report(&path.key("others").key("share"), message, "write 0 to below 1".to_owned());
        }
        if !(1.0..=1e9).contains(&self.mean_slots) {
            let message = format!("a mean over {} slots is out of range", self.mean_slots);
            report(&path.key("mean_slots"), message, "write 1 to 1e9".to_owned());
        }
        if !self.sinrs.is_empty() && self.sinrs.len() != users {
            let message = format!("{} values for {users} links of the radio", self.sinrs.len());
            report(&path.key("sinrs"), message, "write one for each link, or take sinrs out".to_owned());
        }
        for (key, sinr) in [("sinr", Some(self.sinr)), ("uplink_sinr", self.uplink_sinr)] {
            if let Some(sinr) = sinr.filter(|sinr| !(-30.0..=100.0).contains(&sinr.0)) {
                let message = format!("an SINR of \"{sinr}\" is out of range");
                report(&path.key(key), message, "write \"-30 dB\" to \"100 dB\"".to_owned());
            }
        }
        let longest = Duration::from_secs(10);
        for (key, span) in [
            ("reordering", self.reordering),
            ("poll", self.poll),
            ("request_period", self.request_period),
            // Without fading there is nothing to check: a time that is right stands for it.
            ("coherence", self.coherence.unwrap_or(longest)),
        ] {
            if span.is_zero() || span > longest {
                let message = format!("\"{span}\" is out of range");
                report(&path.key(key), message, "write more than \"0 s\", and at most \"10 s\"".to_owned());
            }
        }
        if self.report_age > longest {
            let message = format!("\"{}\" is out of range", self.report_age);
            report(&path.key("report_age"), message, "write at most \"10 s\"".to_owned());
        }
        if self.first_grant.get() == 0 || self.first_grant.get() > 100_000 {
            let message = format!("\"{}\" is out of range", self.first_grant);
            report(&path.key("first_grant"), message, "write \"1 B\" to \"100 kB\"".to_owned());
        }
    }

    /// Returns the cell over `links`. The settings have been checked.
    pub(crate) fn spec(&self, links: &[&LinkSpec]) -> CellSpec {
        let station = usize::from(self.at == BaseStation::Second);
        let delays = links.iter().map(|link| {
            let delays = [link.forward.delay, link.reverse.delay];
            [delays[station], delays[1 - station]]
        });
        let names: Vec<&str> = links.iter().map(|link| link.name.as_str()).collect();
        CellSpec { config: self.config(&names, delays), station }
    }

    /// Returns what a cell is made of. `links`: names of the radio's links; `delays`: of each user, down and
    /// up.
    ///
    /// # Panics
    ///
    /// Settings that `check` refuses.
    #[expect(clippy::expect_used, reason = "the scenario has been checked")]
    fn config(&self, links: &[&str], delays: impl Iterator<Item = [Duration; 2]>) -> CellConfig {
        let technology = self.technology();
        let frame = self.frame().expect("the pattern has been checked");
        let turnaround = frame.slot() * feedback::TURNAROUND;
        let user = |(number, delay): (usize, [Duration; 2])| {
            let sinr = match self.sinrs.get(number) {
                Some(sinr) => [*sinr; 2],
                None => [self.sinr, self.uplink_sinr.unwrap_or(self.sinr)],
            };
            UserConfig { sinr, delay }
        };
        CellConfig {
            carrier: Carrier {
                technology,
                blocks: technology.blocks(self.bandwidth.0 / 1e6).unwrap_or(100),
                layers: self.layers,
                control_symbols: self.control_symbols(),
                control_blocks: self.control_blocks,
            },
            error_model: match self.error_model {
                BlockErrors::Awgn => errors::ErrorModel::Awgn,
                BlockErrors::Piro => errors::ErrorModel::Piro,
            },
            mcs_choice: match self.link_adaptation {
                LinkAdaptation::Sinr => McsChoice::Sinr,
                LinkAdaptation::Cqi => McsChoice::Cqi,
            },
            rule: match self.scheduler {
                Scheduling::RoundRobin => Rule::RoundRobin,
                Scheduling::MaxRate => Rule::MaxRate,
                Scheduling::ProportionalFair => Rule::ProportionalFair { slots: self.mean_slots },
            },
            users: delays.enumerate().map(user).collect(),
            load: Load { saturated: self.others.saturated, sinr: self.others.sinr, share: self.others.share },
            handover: self.handover.as_ref().map(|it| it.config(links)),
            drx: self.drx.map(Drx::config),
            attempts: self.attempts,
            mode: match self.rlc {
                RlcMode::Acknowledged => Mode::Acknowledged,
                RlcMode::Unacknowledged => Mode::Unacknowledged,
            },
            reordering: self.reordering,
            poll: self.poll,
            request: RequestTimes {
                period: self.request_period,
                offset: Duration::ZERO,
                to_grant: turnaround,
                to_data: turnaround,
            },
            first_grant: self.first_grant.get(),
            grants: self.grants,
            coherence: self.coherence,
            report_age: self.report_age,
            frame,
        }
    }
}
