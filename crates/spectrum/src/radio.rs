//! What every radio shows to its driver, whatever moves it inside.

use crate::journey::Cause;
use cogtcp_units::{Duration, Rate, Time};

/// What the radio does at the moment.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Phase {
    /// The link carries traffic.
    Transmitting,
    /// The radio listens for primary users and is silent.
    Sensing,
    /// The radio retunes to another channel and is silent (spectrum handoff).
    Switching,
    /// The radio hears nobody: no coverage, a tunnel.
    Lost,
}

impl Phase {
    /// Whether the link is closed to traffic.
    pub const fn is_silent(self) -> bool {
        !matches!(self, Self::Transmitting)
    }
}

/// A CR channel. In a radio with a channel table: `band * n + channel`, from 0 to `B * n - 1`
/// (Di Felice et al., MSWiM 2009, equation 3). In a [`CognitiveCycle`](crate::CognitiveCycle): see
/// [`ChannelChoice`](crate::ChannelChoice).
#[derive(Clone, Copy, Debug, Default, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ChannelId(pub u32);

/// How one sensing came out against the truth.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Verdict {
    /// No primary user was there and none was reported.
    Clear,
    /// A primary user was there and was reported.
    Detected,
    /// A primary user was there and was not reported: the radio will transmit over it.
    Missed,
    /// No primary user was there, yet one was reported.
    FalseAlarm,
}

impl Verdict {
    /// The verdict on a sensing that found the PU `present` and reported it as `reported`.
    pub const fn new(present: bool, reported: bool) -> Self {
        match (present, reported) {
            (false, false) => Self::Clear,
            (true, true) => Self::Detected,
            (true, false) => Self::Missed,
            (false, true) => Self::FalseAlarm,
        }
    }

    /// Whether the radio believes that a primary user is there.
    pub const fn reported(self) -> bool {
        matches!(self, Self::Detected | Self::FalseAlarm)
    }
}

/// Something that happened to a radio, for logs, for metrics and for the layers above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RadioEvent {
    /// The link fell silent to sense.
    SensingStart {
        /// When this sensing ends.
        until: Time,
    },
    /// The sensing ended with this verdict.
    SensingEnd {
        /// What it reported, against the truth.
        verdict: Verdict,
    },
    /// A primary user began to use the radio's channel.
    PuArrival {
        /// What the radio was doing: only an arrival during [`Phase::Transmitting`] interrupts traffic.
        during: Phase,
    },
    /// The radio began to leave its channel.
    SwitchingStart {
        /// When the new channel is reached.
        until: Time,
    },
    /// The radio reached the channel it switched to.
    SwitchingEnd,
    /// Traffic is on another channel than before: the notification to the layers above (MSWiM 2009, section 4.3,
    /// line 8 of the pseudocode).
    Handoff {
        /// The channel before.
        from: ChannelId,
        /// The channel from now on.
        to: ChannelId,
        /// Rate of the new channel; `None`: the link's own.
        rate: Option<Rate>,
    },
    /// The radio hears nobody any more.
    SignalLost {
        /// Why.
        cause: Cause,
    },
    /// It hears somebody again.
    SignalBack,
}

/// Time and events of one radio since its start.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RadioStats {
    /// Time open to traffic.
    pub transmitting: Duration,
    /// Time spent sensing.
    pub sensing: Duration,
    /// Time spent switching.
    pub switching: Duration,
    /// Time without signal.
    pub lost: Duration,
    /// Times that the signal was lost.
    pub losses: u64,
    /// Sensings begun.
    pub sensings: u64,
    /// PU arrivals on the radio's channel, also those during silence.
    pub pu_arrivals: u64,
    /// Changes of channel.
    pub handoffs: u64,
    /// Sensings that missed a PU.
    pub missed_detections: u64,
    /// Sensings that reported a PU where there was none.
    pub false_alarms: u64,
}

impl RadioStats {
    /// What was counted after `before`.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            transmitting: self.transmitting - before.transmitting,
            sensing: self.sensing - before.sensing,
            switching: self.switching - before.switching,
            lost: self.lost - before.lost,
            losses: self.losses - before.losses,
            sensings: self.sensings - before.sensings,
            pu_arrivals: self.pu_arrivals - before.pu_arrivals,
            handoffs: self.handoffs - before.handoffs,
            missed_detections: self.missed_detections - before.missed_detections,
            false_alarms: self.false_alarms - before.false_alarms,
        }
    }

    /// Adds `span` to the time spent in `phase`.
    pub(crate) fn spend(&mut self, phase: Phase, span: Duration) {
        match phase {
            Phase::Transmitting => self.transmitting += span,
            Phase::Sensing => self.sensing += span,
            Phase::Switching => self.switching += span,
            Phase::Lost => self.lost += span,
        }
    }
}
