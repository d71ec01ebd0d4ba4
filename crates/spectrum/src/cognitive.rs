//! The CR user of MSWiM 2009, section 4.3: sense, decide, switch and sense again, notify, load the channel,
//! transmit.
//!
//! The pseudocode, and where each line is here:
//!
//! ```text
//!  1 puON = lookup(channel, t_s, switching)                 start_sensing, end_sensing
//!  2 if (puON && Pd) || (!puON && Pf)                       end_sensing
//!  3     channel = (channel + 1) % (B * n)                  DecisionPolicy::decide
//!  4     defer for CHANNEL_SWITCHING_DELAY                  start_switching
//!  5     switching = true                                   start_switching
//!  6     go back to 1                                       change
//!  7 if (switching)                                         open
//!  8     notify upper layers about spectrum handoff         open: LinkEvent::Handoff
//!  9     load channel parameters                            open
//! 10     start T_p timer                                    open
//! 11 transmit data till T_p expires, then go back to 1      change
//! ```
//!
//! Read literally, line 10 starts T_p only after a switch, and a radio that finds its channel free would
//! transmit for ever. Section 4.3 says "periodically cycles between two states", so T_p starts either way. A
//! radio that comes back to the channel it left, after finding all others busy, notifies too: line 8 asks for
//! `switching` alone.
//!
//! Extensions where the paper is open. The detector may use how much of the window a PU overlaps. A policy
//! may stay (no delay, sense again at once). Neighbours may sense too.

mod protection;
mod regulated;

use protection::ProtectionMeter;
use regulated::Obeyed;

pub use protection::Protection;

use crate::air::{Air, HeardPu, ReceiverModel, SnrModel};
use crate::detector::{Detector, FusionRule, fused_probability};
use crate::policy::{ChannelHistory, Decision, DecisionPolicy, DecisionView};
use crate::propagation::Position;
use crate::regulation::RegulationConfig;
use crate::{ChannelId, LinkEvent, Phase, Radio, RadioState, Verdict};
use cogtcp_units::{Duration, RandomStream, Time};
use std::sync::Arc;

/// What a CR user is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct CognitiveConfig {
    /// Sensing time t_s.
    pub sensing_time: Duration,
    /// Transmission time T_p.
    pub transmission_time: Duration,
    /// By how much a transmission may last longer than T_p: drawn again for each, uniformly from zero on.
    /// Clocks of two radios are never alike; without it radios that sense apart can fall into step for a
    /// whole run.
    pub jitter: Duration,
    /// Silence of one switch of channel.
    pub switching_delay: Duration,
    /// When the first sensing begins; before it the radio transmits.
    pub start: Duration,
    /// Whether every transmission ends when the cycle does that began at a multiple of t_s + T_p after
    /// `start`: after a handoff it is so much shorter. Radios with one `start` then sense together for the
    /// whole run.
    pub aligned: bool,
    /// The channel at the start.
    pub channel: ChannelId,
    /// Where the radio is.
    pub position: Position,
    /// How it tells signal from noise.
    pub receiver: ReceiverModel,
    /// How loud PUs are to its detector.
    pub snr: SnrModel,
    /// Where the neighbours are that sense with it, at the same times and with the same detector. None: it
    /// senses alone.
    pub neighbours: Vec<Position>,
    /// How its report and the neighbours' become one.
    pub fusion: FusionRule,
    /// A second, longer look on the same channel where the first reports a PU, as in IEEE 802.22: only what
    /// this reports counts. It is also the look at a channel to which the radio has switched.
    pub second_look: Option<Duration>,
    /// The regulation that it obeys.
    pub regulation: Option<RegulationConfig>,
}

impl Default for CognitiveConfig {
    /// t_s 0.2 s and T_p 1 s, the optimum of the paper's Figure 2; switching 1 ms, as released; SNR -20 dB,
    /// where t_s of this size matters.
    fn default() -> Self {
        Self {
            sensing_time: Duration::from_millis(200),
            transmission_time: Duration::from_secs(1),
            jitter: Duration::ZERO,
            switching_delay: Duration::from_millis(1),
            start: Duration::ZERO,
            aligned: false,
            channel: ChannelId(0),
            position: Position::default(),
            receiver: ReceiverModel::default(),
            snr: SnrModel::fixed_db(-20.0),
            neighbours: Vec::new(),
            fusion: FusionRule::Or,
            second_look: None,
            regulation: None,
        }
    }
}

impl CognitiveConfig {
    /// The times of the released ns-2 code: t_s 0.1 s, T_p 1 s, switching 1 ms. With
    /// [`FixedDetector::AS_RELEASED`](crate::detector::FixedDetector::AS_RELEASED) and round-robin it is that
    /// code's radio without its defects. Here a burst inside the window is seen, and the first sensing looks.
    /// The radio is silent also in the sensing after a switch. Layers above are notified when the new channel
    /// is found free, as in the paper.
    pub fn as_released() -> Self {
        Self {
            sensing_time: Duration::from_millis(100),
            transmission_time: Duration::from_secs(1),
            switching_delay: Duration::from_millis(1),
            ..Self::default()
        }
    }
}

/// A CR user that makes no sense.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum CognitiveConfigError {
    /// Time would stand still, or nothing would ever be sent.
    #[error("{0} is zero; give a duration above zero")]
    ZeroTime(&'static str),
    /// A regulation says when it transmits.
    #[error("a regulation says when the radio transmits: it has no sensing and transmission times")]
    Regulated,
    /// A channel that is not there, or not for data.
    #[error("the radio starts on channel {0}, which is not a channel for data; choose another")]
    Channel(u32),
}

/// The CR user as a state machine, driven as a [`CognitiveCycle`](crate::CognitiveCycle) is.
#[derive(Debug)]
pub struct CognitiveRadio {
    config: CognitiveConfig,
    air: Arc<Air>,
    detector: Box<dyn Detector>,
    policy: Box<dyn DecisionPolicy>,
    detection_stream: RandomStream,
    decision_stream: RandomStream,
    jitter_stream: RandomStream,

    state: RadioState,
    /// End of the current phase.
    until: Time,
    /// The channel of the last transmission, whose parameters are loaded.
    loaded: ChannelId,
    /// The channel of the last sensing that has ended.
    sensed: ChannelId,
    /// A channel that somebody else wants the radio on.
    wanted: Option<ChannelId>,
    /// The pseudocode's flag: a switch since the last transmission.
    switching: bool,
    /// PUs heard on `channel`: by the radio itself, then by each neighbour.
    heard: Vec<Vec<HeardPu>>,
    /// Next arrival among those that the radio hears itself.
    pu_due: Time,
    history: ChannelHistory,
    /// What the last sensing reported, and how many reported a PU.
    reported: bool,
    reports: u64,
    /// Whether this is the second look at the channel.
    looks_again: bool,
    meter: ProtectionMeter,
    /// What it obeys in place of sensing.
    rules: Option<Box<Obeyed>>,
}

impl CognitiveRadio {
    /// The CR user `name` in the run of seed `seed`. It opens its own random streams:
    /// `radio/<name>/detection` (one draw for each sensing), `radio/<name>/decision`, and
    /// `radio/<name>/jitter`, one for every transmission.
    pub fn new(
        config: CognitiveConfig,
        air: Arc<Air>,
        detector: Box<dyn Detector>,
        policy: Box<dyn DecisionPolicy>,
        seed: u64,
        name: &str,
    ) -> Result<Self, CognitiveConfigError> {
        check_times(config.sensing_time, config.transmission_time)?;
        let Some(rate) =
            air.channels.get(config.channel).filter(|channel| !channel.reserved).map(|channel| channel.rate)
        else {
            return Err(CognitiveConfigError::Channel(config.channel.0));
        };
        let stream = |part: &str| RandomStream::new(seed, &format!("radio/{name}/{part}"), 0);
        let mut radio = Self {
            detection_stream: stream("detection"),
            decision_stream: stream("decision"),
            jitter_stream: stream("jitter"),
            detector,
            policy,
            state: RadioState::new(config.channel, Some(rate)),
            until: Time::ZERO + config.start,
            loaded: config.channel,
            sensed: config.channel,
            wanted: None,
            switching: false,
            heard: Vec::new(),
            pu_due: Time::MAX,
            history: ChannelHistory::new(air.channels.len()),
            reported: false,
            reports: 0,
            looks_again: false,
            meter: ProtectionMeter::new(&air, config.position, &config.receiver),
            rules: None,
            config,
            air,
        };
        if let Some(regulation) = radio.config.regulation.clone() {
            radio.meter.limit(regulation.kind().allowed());
            radio.take_up(&regulation);
            if radio.is_regulated() {
                return Ok(radio);
            }
        }
        radio.tune(Time::ZERO);
        // A PU that is ON at time zero never arrives, and the radio transmits over it until the first
        // sensing.
        if !radio.config.start.is_zero()
            && radio.meter.is_occupied(&radio.air, radio.state.channel, Time::ZERO)
        {
            radio.meter.pu_came(Time::ZERO);
        }
        Ok(radio)
    }

    /// Sets t_s and T_p while the radio runs: of the sensings and transmissions that begin from now on. What
    /// is under way ends as planned, for its peer and the MAC count on that. P_d and P_f follow from t_s by
    /// the detector.
    pub fn set_times(
        &mut self,
        sensing: Duration,
        transmission: Duration,
    ) -> Result<(), CognitiveConfigError> {
        check_times(sensing, transmission)?;
        if self.config.regulation.is_some() {
            return Err(CognitiveConfigError::Regulated);
        }
        self.config.sensing_time = sensing;
        self.config.transmission_time = transmission;
        Ok(())
    }

    /// t_s and T_p of the next sensing and the next transmission.
    pub fn times(&self) -> (Duration, Duration) {
        (self.config.sensing_time, self.config.transmission_time)
    }

    /// Whether the last sensing reported a PU.
    pub fn has_reported(&self) -> bool {
        self.reported
    }

    /// Sensings so far that reported a PU.
    pub fn reports(&self) -> u64 {
        self.reports
    }

    /// Notes that the radio, or its peer on its channel, put a frame on the air over [from, until): what it
    /// shares with a PU there is interference. To be called while the radio is still on that channel, in the
    /// order of time.
    pub fn transmitted(&mut self, from: Time, until: Time) {
        self.transmitted_on(self.loaded, from, until);
    }

    /// Notes the same of a frame that was on the air of `channel`, which the radio may have left since.
    pub fn transmitted_on(&mut self, channel: ChannelId, from: Time, until: Time) {
        self.meter.transmitted(&self.air, channel, from, until);
        debug_assert!(
            self.rules.is_none() || self.meter.is_in_time(),
            "a regulated radio transmits over no primary user beyond the allowed time: {from:?} to {until:?} on {channel:?}"
        );
    }

    /// True if a frame on the air of `channel` over [from, until) is known to change none of its counts. False says
    /// nothing.
    #[inline]
    pub fn is_quiet(&self, channel: ChannelId, from: Time, until: Time) -> bool {
        self.meter.is_quiet(channel, from, until)
    }

    /// The channel of its traffic: the one tuned to, but while it looks for another the last one.
    pub fn loaded(&self) -> ChannelId {
        self.loaded
    }

    /// The channel that it sensed last, which its report is about.
    pub fn sensed(&self) -> ChannelId {
        self.sensed
    }

    /// The radio is somewhere else from now on: it hears other PUs. Neighbours that sense with it stay where
    /// they are.
    pub fn move_to(&mut self, now: Time, position: Position) {
        if position == self.config.position {
            return;
        }
        self.config.position = position;
        self.meter.move_to(&self.air, position, &self.config.receiver, now);
        // The end of a switch looks up the PUs anyway.
        if self.state.phase != Phase::Switching {
            self.tune(now);
        }
    }

    /// Routing wants the radio on a channel. While it transmits it goes there now, senses, and opens if the
    /// channel is free. Otherwise it goes when it would open. A channel that is not for data is skipped.
    pub fn want(&mut self, now: Time, channel: ChannelId) {
        let usable = self.air.channels.get(channel).is_some_and(|entry| !entry.reserved);
        if !usable || channel == self.state.channel {
            self.wanted = None;
        } else {
            self.wanted = Some(channel);
            if self.state.phase == Phase::Transmitting {
                // Due at once, by the next `advance`.
                self.until = now;
            }
        }
    }

    /// When the phase ends, as planned. While it transmits: when it falls silent next.
    pub fn phase_end(&self) -> Time {
        self.until
    }

    /// How the primary users fared up to `now`.
    pub fn protection(&self, now: Time) -> Protection {
        // The meter counts a transmission when it ends: what is under way is passed along.
        let open = (self.state.phase == Phase::Transmitting).then_some((self.loaded, self.state.since));
        self.meter.protection(&self.air, open, now)
    }

    /// Forgets the longest time to vacate so far.
    pub fn restart_maximum(&mut self) {
        self.meter.restart_maximum();
    }

    /// What sensing reported so far, by channel.
    pub fn history(&self) -> &ChannelHistory {
        &self.history
    }

    /// The air it is in.
    pub fn air(&self) -> &Air {
        &self.air
    }

    fn meet_pu(&mut self, at: Time) {
        // Later than now, or the same arrival would be met again.
        self.pu_due = self.next_pu(at + Duration::from_nanos(1));
        self.state.stats.pu_arrivals += 1;
        if self.state.phase == Phase::Transmitting {
            if self.rules.is_some() {
                // A regulated radio may have been open since long before the last PU.
                self.meter.pu_came_anew(&self.air, self.loaded, at);
            }
            self.meter.pu_came(at);
        }
        self.state.emit(at, LinkEvent::PuArrival { during: self.state.phase });
    }

    /// Line 1, its beginning: the radio is silent for t_s.
    fn start_sensing(&mut self, at: Time) {
        self.fall_silent(at);
        let look = self.config.second_look.filter(|_| self.looks_again || self.switching);
        let until = at + look.unwrap_or(self.config.sensing_time);
        self.enter(at, Phase::Sensing, until);
        self.state.stats.sensings += 1;
        self.state.emit(at, LinkEvent::SensingStart { until });
    }

    fn fall_silent(&mut self, at: Time) {
        // After another sensing it is silent already.
        if self.state.phase == Phase::Transmitting {
            self.meter.open(&self.air, self.loaded, self.state.since, at);
            self.meter.fell_silent(at);
        }
    }

    /// Line 1, its answer, and line 2.
    fn end_sensing(&mut self, at: Time) {
        // Not as it begins: the report would be about the next channel where that is sensed in the same call.
        self.sensed = self.state.channel;
        let mut present = false;
        let mut reports = Vec::with_capacity(self.heard.len());
        for (sensor, heard) in self.heard.iter().enumerate() {
            let window = self.air.look(heard, self.state.channel, self.state.since, at, self.config.snr);
            // The truth is what this radio hears: a PU that only a neighbour hears is none of its own.
            present |= sensor == 0 && window.present;
            reports.push(self.detector.report_probability(&window));
        }
        let probability = fused_probability(self.config.fusion, &reports);
        // One draw for each sensing, whatever the detector: common random numbers between detectors.
        let reported = self.detection_stream.uniform() < probability;
        let verdict = Verdict::new(present, reported);
        // Before the decision: the policy sees this report too.
        self.history.record(self.state.channel, at, reported);
        self.reported = reported;
        self.reports += u64::from(reported);
        match verdict {
            Verdict::Missed => self.state.stats.missed_detections += 1,
            Verdict::FalseAlarm => self.state.stats.false_alarms += 1,
            Verdict::Clear | Verdict::Detected => {}
        }
        self.meter.sensed(verdict);
        self.state.emit(at, LinkEvent::SensingEnd { verdict });
        // After a switch the look at the new channel is the long one already.
        let was_first = self.config.second_look.is_some() && !self.looks_again && !self.switching;
        self.looks_again = reported && was_first;
        if self.looks_again {
            self.start_sensing(at);
            return;
        }
        if !reported {
            // A switch by the policy may have brought it there meanwhile.
            match self.wanted.take().filter(|wanted| *wanted != self.state.channel) {
                Some(wanted) => self.start_switching(at, wanted),
                None => self.open(at),
            }
            return;
        }
        // `wanted` stays: this channel must be left at once, and the policy says for which.
        let view = DecisionView {
            now: at,
            current: self.state.channel,
            channels: &self.air.channels,
            history: &self.history,
        };
        match self.policy.decide(&view, &mut self.decision_stream) {
            Decision::Switch(channel) => self.start_switching(at, channel),
            Decision::Stay => self.start_sensing(at),
        }
    }

    /// Lines 3 to 5.
    fn start_switching(&mut self, at: Time, channel: ChannelId) {
        self.state.channel = channel;
        self.switching = true;
        // Between two channels it meets no PU.
        self.pu_due = Time::MAX;
        let until = at + self.config.switching_delay;
        self.enter(at, Phase::Switching, until);
        self.state.emit(at, LinkEvent::SwitchingStart { until });
    }

    /// Lines 7 to 10.
    fn open(&mut self, at: Time) {
        // The channel of the last transmission, however many were sensed since.
        let from = self.loaded;
        if self.switching {
            self.switching = false;
            self.loaded = self.state.channel;
            self.state.rate = self.air.channels.get(self.state.channel).map(|channel| channel.rate);
            self.state.stats.handoffs += 1;
            self.state.emit(at, LinkEvent::Handoff { from, to: self.state.channel, rate: self.state.rate });
        }
        let until = self.planned_end(at) + self.late();
        self.enter(at, Phase::Transmitting, until);
        // Missed, or arrived in the instant the sensing ended: from now on it is transmitted over.
        if self.meter.is_occupied(&self.air, self.state.channel, at) {
            self.meter.pu_came(at);
        }
    }

    /// When a transmission that begins now ends, but for the jitter.
    fn planned_end(&self, at: Time) -> Time {
        let config = &self.config;
        if !config.aligned {
            return at + config.transmission_time;
        }
        let cycle = config.sensing_time + config.transmission_time;
        let start = Time::ZERO + config.start;
        let gone = at.saturating_since(start).as_nanos() / cycle.as_nanos().max(1);
        start + cycle * (gone + 1)
    }

    fn late(&mut self) -> Duration {
        // Drawn without jitter too, one for each transmission.
        let share = self.jitter_stream.uniform();
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "of a share"
        )]
        let nanos = (self.config.jitter.as_nanos() as f64 * share) as u64;
        Duration::from_nanos(nanos)
    }

    /// Looks up who is heard on the channel tuned to.
    fn tune(&mut self, at: Time) {
        let places = std::iter::once(&self.config.position).chain(&self.config.neighbours);
        self.heard =
            places.map(|place| self.air.heard(*place, self.state.channel, &self.config.receiver)).collect();
        self.pu_due = self.next_pu(at);
    }

    fn next_pu(&self, from: Time) -> Time {
        // A PU that only neighbours hear interrupts nothing here.
        let own = self.heard.first().map_or(&[][..], Vec::as_slice);
        let arrivals = own.iter().map(|pu| self.air.activity.users[pu.index].activity.next_arrival(from));
        arrivals.min().unwrap_or(Time::MAX)
    }

    fn enter(&mut self, at: Time, phase: Phase, until: Time) {
        self.state.enter(at, phase);
        self.until = until;
    }
}

fn check_times(sensing: Duration, transmission: Duration) -> Result<(), CognitiveConfigError> {
    let named = [(sensing, "the sensing time"), (transmission, "the transmission time")];
    match named.into_iter().find(|(time, _)| time.is_zero()) {
        Some((_, name)) => Err(CognitiveConfigError::ZeroTime(name)),
        None => Ok(()),
    }
}

impl Radio for CognitiveRadio {
    fn state(&self) -> &RadioState {
        &self.state
    }

    fn state_mut(&mut self) -> &mut RadioState {
        &mut self.state
    }

    fn next_change(&self) -> Time {
        let own = self.until.min(self.pu_due);
        self.rules.as_ref().map_or(own, |rules| own.min(rules.next_change()))
    }

    /// At the same instant the end of a phase comes before a PU.
    fn change(&mut self, at: Time) {
        if self.rules.as_ref().is_some_and(|rules| self.until <= at || rules.next_change() <= at) {
            self.obey(at);
            return;
        }
        if self.until > at {
            self.meet_pu(at);
            return;
        }
        match self.state.phase {
            // Line 11: T_p has expired, back to 1, unless somebody wants it elsewhere.
            Phase::Transmitting => match self.wanted.take() {
                Some(wanted) => {
                    self.fall_silent(at);
                    self.start_switching(at, wanted);
                }
                None => self.start_sensing(at),
            },
            Phase::Sensing => self.end_sensing(at),
            // Only a train's radio is ever `Lost`.
            Phase::Switching | Phase::Lost => {
                self.state.emit(at, LinkEvent::SwitchingEnd);
                self.tune(at);
                self.start_sensing(at);
            }
        }
    }
}
