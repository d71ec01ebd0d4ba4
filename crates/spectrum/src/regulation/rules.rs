//! Regulations as a scenario names them.

use super::database::DatabaseUser;
use super::incumbents::Incumbents;
use super::master::Master;
use super::sas::SasUser;
use crate::{ChannelId, Phase};
use cogtcp_units::{Check, Decibel, Duration, Rate, Time, registry};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

registry! {
    /// What a radio obeys so that incumbents stay undisturbed. It takes the place of sensing, but for
    /// `quiet_periods`.
    #[schemars(rename = "Regulation")]
    pub enum RegulationConfig: RegulationKind {
        /// CBRS: a grant of a Spectrum Access System, kept by heartbeats (WINNF-TS-0016; 47 CFR part 96).
        Cbrs(CbrsRules),
        /// Dynamic frequency selection: a channel with radar is left (47 CFR 15.407(h)(2); FCC KDB 905462
        /// D02).
        Dfs(DfsRules),
        /// TV white space: a database says which channels are free (RFC 7545; 47 CFR 15.711).
        Tvws(TvwsRules),
        /// Sensing in two stages, as of IEEE 802.22: within a frame, and between frames where the first stage
        /// reports.
        QuietPeriods(QuietPeriods),
    }
}

/// A regulation as the registry knows it: its settings, which build it.
pub trait RegulationKind: Debug {
    /// Says what is wrong with the settings, for a radio in a band of incumbents.
    fn check(&self, check: &mut dyn Check);

    /// Returns the device, which begins on `channel`; `None`: the radio senses.
    fn build(&self, channel: ChannelId, incumbents: Incumbents<'_>) -> Option<Box<dyn Regulator>>;

    /// Longest time from an incumbent's arrival on which the radio may transmit.
    fn allowed(&self) -> Duration;

    /// How long before that the radio falls silent at the latest; a frame under way then must end within it.
    fn margin(&self) -> Duration {
        Duration::MAX
    }
}

/// What a radio may do at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Permit {
    /// The channel that it may transmit on; `None`: it may not.
    pub channel: Option<ChannelId>,
    /// What it does where it may not.
    pub silence: Phase,
    /// When this ends, as things are. It may end sooner, but not sooner than it is told.
    pub until: Time,
    /// By how much it transmits below its power: then incumbents do not have to bear it.
    pub reduction: Decibel,
    /// The rate of the channel at this power; `None`: the rate of the channel.
    pub rate: Option<Rate>,
}

impl Permit {
    /// Nothing may be transmitted, and no end of this is known.
    pub const NONE: Self = Self {
        channel: None,
        silence: Phase::Switching,
        until: Time::MAX,
        reduction: Decibel(0.0),
        rate: None,
    };
}

/// A device that obeys a regulation, with whom it asks. It is driven as a [`Radio`](crate::Radio) is.
pub trait Regulator: Debug + Send {
    /// When to call [`advance`](Self::advance).
    fn next_change(&self) -> Time;

    /// Plays what is due at `now`.
    fn advance(&mut self, now: Time, incumbents: Incumbents<'_>);

    /// Returns what it may do from `now` on.
    fn permit(&self, now: Time) -> Permit;
}

/// CBRS. The incumbents are the radars of a dynamic protection area (DPA), found by the sensors of the coast
/// (ESC).
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct CbrsRules {
    /// heartbeatInterval: how often the device asks the SAS (WINNF-TS-0016 section 8.6).
    pub heartbeat: Duration,
    /// How far ahead transmitExpireTime is: the right to transmit without another answer. At most 240 s.
    pub transmit: Duration,
    /// From an instruction to stop, or from transmitExpireTime, to the last transmission: at most 60 s (47
    /// CFR 96.39(c)(2)).
    pub stop: Duration,
    /// After how long a refused grant is asked for again.
    pub retry: Duration,
    /// From a request to its answer.
    pub answer: Duration,
    /// How long a grant lasts (grantExpireTime).
    pub grant: Duration,
    /// From the arrival of an incumbent to the activation of the DPA by the ESC.
    pub esc: Duration,
    /// What the SAS does with a device in an active DPA.
    pub dpa: DpaAnswer,
    /// Whether the device has its grant and the right to transmit at time zero.
    pub ready: bool,
}

/// What a SAS does with a device in an active DPA.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DpaAnswer {
    /// It suspends the grant until the DPA is inactive (response code 501).
    #[default]
    Suspend,
    /// It ends the grant and suggests a free channel (500, with operationParam); where there is none it
    /// suspends.
    Relocate,
    /// It ends the grant and suggests less power on the same channel (500, with operationParam), at which the
    /// device is not on the DPA's move list.
    Reduce(ReducedPower),
}

/// Less power.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ReducedPower {
    /// By how much maxEirp is lower.
    pub by: Decibel,
    /// Rate of the links at this power, with access "none". A cell adapts by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
}

impl Default for CbrsRules {
    fn default() -> Self {
        Self {
            heartbeat: Duration::from_secs(60),
            transmit: Duration::from_secs(240),
            stop: Duration::from_secs(1),
            retry: Duration::from_secs(60),
            answer: Duration::from_millis(200),
            grant: Duration::from_secs(24 * 3600),
            esc: Duration::from_secs(0),
            dpa: DpaAnswer::default(),
            ready: true,
        }
    }
}

impl CbrsRules {
    /// From the activation of a DPA to the end of transmissions: 47 CFR 96.15(a)(4), and R2-DPA-06 of
    /// WINNF-TS-0112.
    pub const LONGEST: Duration = Duration::from_secs(300);
    const LONGEST_TRANSMIT: Duration = Duration::from_secs(240);
}

impl RegulationKind for CbrsRules {
    fn check(&self, check: &mut dyn Check) {
        let hour = Duration::from_secs(3600);
        check.span("heartbeat", self.heartbeat, false, hour);
        check.span("transmit", self.transmit, false, Self::LONGEST_TRANSMIT);
        check.span("stop", self.stop, true, super::CbsdTimers::LONGEST_STOP);
        check.span("retry", self.retry, false, hour);
        check.span("esc", self.esc, true, hour);
        check.span("grant", self.grant, false, Duration::from_secs(1_000_000));
        check.span("answer", self.answer, true, hour);
        if self.answer >= self.heartbeat.min(self.retry) {
            let message =
                format!("an answer takes \"{}\", and the next request follows before it", self.answer);
            check.error("answer", message, "write less than heartbeat and retry".to_owned());
        }
        if let DpaAnswer::Reduce(power) = self.dpa {
            check.range("dpa.reduce.by", power.by.0, (0.1, 60.0), " dB");
        }
    }

    fn build(&self, channel: ChannelId, incumbents: Incumbents<'_>) -> Option<Box<dyn Regulator>> {
        Some(Box::new(SasUser::new(self, channel, incumbents)))
    }

    fn allowed(&self) -> Duration {
        self.esc + Self::LONGEST
    }

    fn margin(&self) -> Duration {
        // At worst the last answer came just before the activation: the right lasts `transmit` from there,
        // then `stop`.
        Self::LONGEST.saturating_sub(self.transmit + self.stop)
    }
}

/// Dynamic frequency selection of a master device: an access point. The incumbents are radars.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct DfsRules {
    /// Channel availability check time: a channel is listened to for so long before it is used. At least 60
    /// s.
    pub availability_check: Duration,
    /// From radar on, data may end within this: at most the channel closing transmission time of 200 ms.
    pub closing: Duration,
    /// After so long the device leaves the channel: at most the channel move time of 10 s.
    pub channel_move: Duration,
    /// Non-occupancy period of a channel with radar. At least 30 min.
    pub non_occupancy: Duration,
    /// From the arrival of a radar to its detection. The times above begin there.
    pub detection: Duration,
    /// Whether the device uses its first channel at time zero; else it checks it first.
    pub ready: bool,
}

impl Default for DfsRules {
    fn default() -> Self {
        Self {
            availability_check: Duration::from_secs(60),
            closing: Duration::from_millis(100),
            channel_move: Duration::from_millis(500),
            non_occupancy: Duration::from_secs(30 * 60),
            detection: Duration::ZERO,
            ready: true,
        }
    }
}

impl RegulationKind for DfsRules {
    fn check(&self, check: &mut dyn Check) {
        let law = super::DfsTimers::default();
        let longest = Duration::from_secs(1_000_000);
        for (field, span, least) in [
            ("availability_check", self.availability_check, law.availability_check),
            ("non_occupancy", self.non_occupancy, law.non_occupancy),
        ] {
            check.span(field, span, false, longest);
            if span < least {
                let message = format!("\"{span}\" is shorter than table 4 of KDB 905462 D02 allows");
                check.error(field, message, format!("write at least \"{least}\""));
            }
        }
        check.span("closing", self.closing, true, law.closing);
        check.span("channel_move", self.channel_move, true, law.channel_move);
        check.span("detection", self.detection, true, Duration::from_secs(60));
        if self.channel_move < self.closing {
            let message = format!(
                "the device leaves after \"{}\", and sends for \"{}\"",
                self.channel_move, self.closing
            );
            check.error("channel_move", message, "write at least closing".to_owned());
        }
    }

    fn build(&self, channel: ChannelId, incumbents: Incumbents<'_>) -> Option<Box<dyn Regulator>> {
        Some(Box::new(Master::new(self, channel, incumbents)))
    }

    fn allowed(&self) -> Duration {
        self.detection + super::DfsTimers::default().closing
    }

    fn margin(&self) -> Duration {
        // `allowed` is the legal limit, and `closing` may be shorter: the difference is for the last frame.
        super::DfsTimers::default().closing.saturating_sub(self.closing)
    }
}

/// TV white space. The incumbents are broadcasters and microphones that the database knows; nothing is
/// sensed.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct TvwsRules {
    /// After how long the database is asked again (47 CFR 15.711; maxPollingSecs, RFC 7545 section 5.6).
    pub check: Duration,
    /// For how long after a check that failed the last answer still holds.
    pub grace: Duration,
    /// After how long a query without an answer is repeated.
    pub retry: Duration,
    /// From a query to its answer.
    pub answer: Duration,
    /// How far ahead a schedule reaches (stopTime, RFC 7545 section 5.11).
    pub validity: Duration,
    /// How long before its arrival an incumbent is registered in the database.
    pub notice: Duration,
    /// How long before stopTime the device falls silent, so that its last frame ends in time.
    pub lead: Duration,
    /// Whether the device has had its first answer at time zero.
    pub ready: bool,
}

impl Default for TvwsRules {
    fn default() -> Self {
        Self {
            check: Duration::from_secs(3600),
            grace: Duration::from_secs(600),
            retry: Duration::from_secs(60),
            answer: Duration::from_secs(1),
            validity: Duration::from_secs(24 * 3600),
            notice: Duration::from_secs(2 * 3600),
            lead: Duration::from_millis(100),
            ready: true,
        }
    }
}

impl RegulationKind for TvwsRules {
    fn check(&self, check: &mut dyn Check) {
        let longest = Duration::from_secs(1_000_000);
        for (field, span, zero) in [
            ("check", self.check, false),
            ("grace", self.grace, false),
            ("retry", self.retry, false),
            ("answer", self.answer, true),
            ("validity", self.validity, false),
            ("notice", self.notice, true),
            ("lead", self.lead, true),
        ] {
            check.span(field, span, zero, longest);
        }
        if self.lead >= self.grace.min(self.validity) {
            let message = format!("a lead of \"{}\" is not shorter than grace and validity", self.lead);
            check.error("lead", message, "write less than grace and validity".to_owned());
        }
        if self.answer >= self.retry.min(self.check) {
            let message =
                format!("an answer takes \"{}\", and the next query follows before it", self.answer);
            check.error("answer", message, "write less than retry and check".to_owned());
        }
    }

    fn build(&self, channel: ChannelId, incumbents: Incumbents<'_>) -> Option<Box<dyn Regulator>> {
        Some(Box::new(DatabaseUser::new(self, channel, incumbents)))
    }

    fn allowed(&self) -> Duration {
        // At worst the device was answered just before the incumbent was registered: it may rely on that
        // answer for `check` and `grace`.
        (self.check + self.grace + self.answer).saturating_sub(self.notice)
    }

    fn margin(&self) -> Duration {
        self.lead
    }
}

/// Quiet periods as of IEEE 802.22: the radio senses within a frame, and between frames where that reports an
/// incumbent.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct QuietPeriods {
    /// The quiet period within a frame: less than the frame.
    pub within: Duration,
    /// From one of these to the next. At most the channel detection time of 2 s.
    pub every: Duration,
    /// The quiet period between frames: whole frames.
    pub between: Duration,
    /// A frame.
    pub frame: Duration,
}

impl Default for QuietPeriods {
    fn default() -> Self {
        Self {
            within: Duration::from_millis(5),
            // A superframe of 16 frames.
            every: Duration::from_millis(160),
            between: Duration::from_millis(30),
            frame: Duration::from_millis(10),
        }
    }
}

impl QuietPeriods {
    /// Channel detection time.
    pub const DETECTION: Duration = Duration::from_secs(2);
    /// Channel closing transmission time.
    pub const CLOSING: Duration = Duration::from_millis(100);
}

impl RegulationKind for QuietPeriods {
    fn check(&self, check: &mut dyn Check) {
        check.span("frame", self.frame, false, Duration::from_secs(1));
        check.span("within", self.within, false, Duration::from_secs(1));
        check.span("every", self.every, false, Self::DETECTION);
        check.span("between", self.between, false, Self::DETECTION);
        if self.within >= self.frame {
            let message = format!("\"{}\" does not fit into a frame of \"{}\"", self.within, self.frame);
            check.error("within", message, "write less than frame".to_owned());
        }
        if self.every <= self.within {
            let message = format!(
                "a quiet period of \"{}\" every \"{}\" leaves no time to transmit",
                self.within, self.every
            );
            check.error("every", message, "write more than within".to_owned());
        }
        // A frame of zero is an error above, and the checks go on: nothing may divide by it.
        if !self.between.as_nanos().is_multiple_of(self.frame.as_nanos().max(1)) {
            let message =
                format!("\"{}\" is not a whole number of frames of \"{}\"", self.between, self.frame);
            check.error("between", message, "write a multiple of frame".to_owned());
        }
    }

    fn build(&self, _: ChannelId, _: Incumbents<'_>) -> Option<Box<dyn Regulator>> {
        None
    }

    fn allowed(&self) -> Duration {
        Self::DETECTION + Self::CLOSING
    }
}
