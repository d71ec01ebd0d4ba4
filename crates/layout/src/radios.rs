//! The radios that gate links.

use crate::{CellSpec, CognitiveSpec, SpectrumSpec};
use cogtcp_link::{Flush, Gate, Silence};
use cogtcp_spectrum::{ChannelChoice, CycleConfig, DurationLaw, GateConfig, SensingCycle};
use cogtcp_train::journey::Line;
use cogtcp_units::{Duration, Rate};
use std::sync::Arc;

/// A cognitive radio.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioSpec {
    /// Its name, unique among radios.
    pub name: String,
    /// The links that it gates, both directions of each.
    pub links: Vec<usize>,
    /// The cause of its moves.
    pub kind: RadioKind,
}

/// What moves a radio. Another kind that gates links by itself is another gate.
#[derive(Clone, Debug, PartialEq)]
pub enum RadioKind {
    /// The cycle of one link by its laws.
    Cycle(CycleConfig, Gating),
    /// A train's journey.
    Journey(JourneySpec, Gating),
    /// A radio that gates its links by itself, such as a link over satellites.
    Gate(GateConfig, Gating),
    /// The CR user in full with its MAC. It has one link, and the experiment a spectrum.
    Cognitive(Box<CognitiveSpec>),
    /// The CR user without a MAC, whose channel is its links' own while it is open. The experiment has a
    /// spectrum.
    Unshared(Box<CognitiveSpec>, Gating),
    /// The CR user whose links a base station schedules. The experiment has a spectrum.
    Scheduled(Box<CognitiveSpec>, Box<CellSpec>),
}

impl Default for RadioKind {
    /// A radio that is never silent.
    fn default() -> Self {
        Self::Cycle(CycleConfig::default(), Gating::default())
    }
}

impl RadioKind {
    /// The cycle, if it is one.
    pub fn cycle(&self) -> Option<&CycleConfig> {
        if let Self::Cycle(cycle, _) = self { Some(cycle) } else { None }
    }

    /// The journey, if it is one.
    pub fn journey(&self) -> Option<&JourneySpec> {
        if let Self::Journey(journey, _) = self { Some(journey) } else { None }
    }

    /// Returns the CR user that has a MAC.
    pub fn cognitive(&self) -> Option<&CognitiveSpec> {
        if let Self::Cognitive(cognitive) = self { Some(cognitive) } else { None }
    }

    /// Returns the CR user that has no MAC.
    pub fn unshared(&self) -> Option<&CognitiveSpec> {
        if let Self::Unshared(cognitive, _) = self { Some(cognitive) } else { None }
    }

    /// Returns the CR user without the MAC of 802.11: its own channel, or a cell.
    pub fn user_without_mac(&self) -> Option<&CognitiveSpec> {
        match self {
            Self::Unshared(cognitive, _) | Self::Scheduled(cognitive, _) => Some(cognitive),
            _ => None,
        }
    }

    /// Returns the CR user, with whatever access.
    pub fn user(&self) -> Option<&CognitiveSpec> {
        self.cognitive().or_else(|| self.user_without_mac())
    }

    /// Returns the cell, if a base station schedules.
    pub fn cell(&self) -> Option<&CellSpec> {
        if let Self::Scheduled(_, cell) = self { Some(cell) } else { None }
    }

    /// True if two seeds may give different radios.
    pub(crate) fn is_random(&self) -> bool {
        match self {
            Self::Cycle(CycleConfig { sensing, pu, channel, dwell: _ }, _) => {
                let senses_at_random =
                    sensing.as_ref().is_some_and(|SensingCycle { off, on, start: _, clock: _ }| {
                        [off, on].into_iter().any(|law| !matches!(law, DurationLaw::Fixed(_)))
                    });
                senses_at_random || pu.is_some() || *channel != ChannelChoice::Stay
            }
            Self::Gate(gate, _) => gate.kind().is_random(),
            // The terrain and those who pass; backoff, errors of detection.
            Self::Journey(..) | Self::Cognitive(_) | Self::Unshared(..) | Self::Scheduled(..) => true,
        }
    }

    /// The rates that the radio may give its links; none if their rate stays, or a MAC has the channel.
    pub fn rates(&self, spectrum: Option<&SpectrumSpec>) -> Vec<Rate> {
        match self {
            Self::Cycle(cycle, _) => match &cycle.channel {
                ChannelChoice::Stay => Vec::new(),
                ChannelChoice::Range(bounds) => bounds.to_vec(),
                ChannelChoice::Set(rates) => rates.clone(),
            },
            Self::Journey(journey, _) => journey.line.signal.rates.iter().map(|step| step.rate).collect(),
            Self::Gate(gate, _) => gate.kind().rates(),
            Self::Unshared(..) => {
                spectrum.iter().flat_map(|it| it.channels.iter()).map(|(_, it)| it.rate).collect()
            }
            Self::Scheduled(_, cell) => vec![cell.peak()],
            Self::Cognitive(_) => Vec::new(),
        }
    }

    /// The longest that the radio is on the air for a packet of this size once it has begun.
    pub fn longest_frame(&self, rate: Rate, bytes: u32) -> Duration {
        match self {
            // A slot.
            Self::Scheduled(..) => Duration::from_millis(1),
            // RTS, CTS, data and ACK: the data frame is the most of it at least.
            Self::Cognitive(_) => rate.transmission_time(u64::from(bytes) * 2) + Duration::from_millis(5),
            _ => rate.transmission_time(bytes.into()),
        }
    }

    /// What silence does to links without a MAC; `None`: there is one, which decides that.
    pub fn gating(&self) -> Option<Gating> {
        match self {
            Self::Cycle(_, gating)
            | Self::Journey(_, gating)
            | Self::Gate(_, gating)
            | Self::Unshared(_, gating) => Some(*gating),
            // Packets wait for the base station.
            Self::Scheduled(..) => Some(Gating::default()),
            Self::Cognitive(_) => None,
        }
    }
}

/// What silence does to links without a MAC.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Gating {
    /// What happens to packets during silence.
    pub silence: Silence,
    /// What a silence that takes the links down destroys.
    pub flush: Flush,
    /// Whether sources receive ICMP about packets that silence destroyed.
    pub unreachable: bool,
}

impl Gating {
    /// The gate of the links in silence.
    pub const fn silent_gate(&self) -> Gate {
        Gate::of(true, self.silence, self.flush)
    }
}

/// A train's journey over a line.
#[derive(Clone, Debug, PartialEq)]
pub struct JourneySpec {
    /// The line.
    pub line: Arc<Line>,
    /// When the train leaves its first station.
    pub start: Duration,
}
