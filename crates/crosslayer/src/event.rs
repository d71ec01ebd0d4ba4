//! The one vocabulary of what happens to a link.

use cogtcp_units::{Rate, Time};

/// What a radio does at the moment.
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

    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Transmitting => "transmitting",
            Self::Sensing => "sensing",
            Self::Switching => "switching",
            Self::Lost => "lost",
        }
    }
}

/// A CR channel. In a radio with a channel table: `band * n + channel`, from 0 to `B * n - 1`
/// (Di Felice et al., MSWiM 2009, equation 3). Other radios say what their channels are.
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

    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Detected => "detected",
            Self::Missed => "missed",
            Self::FalseAlarm => "false alarm",
        }
    }
}

/// Why the link of a train is gone.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum OutageCause {
    /// No base station is loud enough here, tunnels apart.
    Coverage,
    /// One would be, but for a tunnel.
    Tunnel,
    /// The train changes from one base station to another.
    Handover,
    /// It crosses a border of networks.
    Border,
}

impl OutageCause {
    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Coverage => "coverage",
            Self::Tunnel => "tunnel",
            Self::Handover => "handover",
            Self::Border => "border",
        }
    }
}

/// Something that happened to a link: for logs, for metrics and for the layers above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkEvent {
    /// The radio fell silent to sense.
    SensingStart {
        /// When this sensing ends, as planned; a PU found in it prolongs the silence.
        until: Time,
    },
    /// The sensing ended with this verdict.
    SensingEnd {
        /// What it reported, against the truth; on a board what it reported alone.
        verdict: Verdict,
    },
    /// A primary user began to use the radio's channel. No radio knows this by itself: it never stands on a
    /// board.
    PuArrival {
        /// What the radio was doing: only an arrival during [`Phase::Transmitting`] interrupts traffic.
        during: Phase,
    },
    /// The radio began to leave its channel.
    SwitchingStart {
        /// When the new channel is reached; [`Time::MAX`]: not known.
        until: Time,
    },
    /// The radio reached the channel it switched to.
    SwitchingEnd,
    /// Traffic is on another channel than before: the notification to the layers above (MSWiM 2009,
    /// section 4.3, line 8 of the pseudocode).
    Handoff {
        /// The channel before.
        from: ChannelId,
        /// The channel from now on.
        to: ChannelId,
        /// Rate of the new channel; `None`: the link's own, which the radio does not know and a board names.
        rate: Option<Rate>,
    },
    /// The rate changed on the same channel.
    RateChange {
        /// The new rate, as for a handoff.
        rate: Option<Rate>,
    },
    /// The radio hears nobody any more.
    SignalLost {
        /// Why.
        cause: OutageCause,
    },
    /// It hears somebody again.
    SignalBack,
    /// The link carries nothing from now on, whatever keeps it from that.
    LinkDown,
    /// The link carries traffic again.
    LinkUp,
    /// The queue in front of the link was full and has room again.
    QueueFree {
        /// Bytes free.
        bytes: u64,
    },
}

impl LinkEvent {
    /// Returns the part of the event that a node can know. `None` if its radio does not notice it. Only a
    /// sensing's report, never the truth; `own` in place of "the link's own rate".
    pub fn as_known(self, own: Rate) -> Option<Self> {
        Some(match self {
            Self::PuArrival { .. } => return None,
            Self::SensingEnd { verdict } => {
                Self::SensingEnd { verdict: Verdict::new(verdict.reported(), verdict.reported()) }
            }
            Self::Handoff { from, to, rate } => Self::Handoff { from, to, rate: rate.or(Some(own)) },
            Self::RateChange { rate } => Self::RateChange { rate: rate.or(Some(own)) },
            other => other,
        })
    }

    /// [`LinkDown`](Self::LinkDown) or [`LinkUp`](Self::LinkUp) where the link opened or closed.
    pub const fn of_change(was_open: bool, is_open: bool) -> Option<Self> {
        match (was_open, is_open) {
            (true, false) => Some(Self::LinkDown),
            (false, true) => Some(Self::LinkUp),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A layer above must not learn from a board what its node cannot know.
    #[test]
    fn a_board_tells_no_truth_that_the_radio_missed() {
        let known = |event: LinkEvent| event.as_known(Rate::from_bits_per_second(7));
        let ended = |verdict| LinkEvent::SensingEnd { verdict };
        assert_eq!(known(ended(Verdict::Missed)), Some(ended(Verdict::Clear)));
        assert_eq!(known(ended(Verdict::FalseAlarm)), Some(ended(Verdict::Detected)));
        assert_eq!(known(LinkEvent::PuArrival { during: Phase::Transmitting }), None);
        let (from, to) = (ChannelId(0), ChannelId(1));
        let own = LinkEvent::Handoff { from, to, rate: Some(Rate::from_bits_per_second(7)) };
        assert_eq!(known(LinkEvent::Handoff { from, to, rate: None }), Some(own));
        assert_eq!(known(own), Some(own));
    }
}
