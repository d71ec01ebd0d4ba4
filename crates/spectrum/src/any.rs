//! Either kind of radio behind one set of methods.

use crate::{ChannelId, CognitiveCycle, CognitiveRadio, Phase, Protection, RadioEvent, RadioStats};
use cogtcp_units::{Rate, Time};

/// A radio, for a driver that does not care which.
#[derive(Debug)]
pub enum Radio {
    /// The cycle of one link by its laws alone.
    Cycle(Box<CognitiveCycle>),
    /// A CR user among primary users.
    Cognitive(Box<CognitiveRadio>),
}

/// Calls the same method on either kind.
macro_rules! either {
    ($self:ident, $radio:ident => $call:expr) => {
        match $self {
            Self::Cycle($radio) => $call,
            Self::Cognitive($radio) => $call,
        }
    };
}

impl Radio {
    /// Plays the radio up to `now` and answers the phase from then on; to be called at
    /// [`next_change`](Self::next_change).
    pub fn advance(&mut self, now: Time) -> Phase {
        either!(self, radio => radio.advance(now))
    }

    /// What happened in the last [`advance`](Self::advance), with its time, oldest first.
    pub fn poll_event(&mut self) -> Option<(Time, RadioEvent)> {
        either!(self, radio => radio.poll_event())
    }

    /// Notes a frame on the air over [from, until), for PU protection. A cycle has no primary users to protect.
    pub fn transmitted(&mut self, from: Time, until: Time) {
        match self {
            Self::Cycle(_) => {}
            Self::Cognitive(radio) => radio.transmitted(from, until),
        }
    }

    /// What the radio does at the moment.
    pub fn phase(&self) -> Phase {
        either!(self, radio => radio.phase())
    }

    /// The channel it is tuned to.
    pub fn channel(&self) -> ChannelId {
        either!(self, radio => radio.channel())
    }

    /// The channel's rate; `None`: the link's own.
    pub fn rate(&self) -> Option<Rate> {
        either!(self, radio => radio.rate())
    }

    /// When to call [`advance`](Self::advance) next; `Time::MAX`: never.
    pub fn next_change(&self) -> Time {
        either!(self, radio => radio.next_change())
    }

    /// Time and events up to `now`.
    pub fn stats(&self, now: Time) -> RadioStats {
        either!(self, radio => radio.stats(now))
    }

    /// How the primary users fared up to `now`; `None` for a cycle, which has no spectrum.
    pub fn protection(&self, now: Time) -> Option<Protection> {
        match self {
            Self::Cycle(_) => None,
            Self::Cognitive(radio) => Some(radio.protection(now)),
        }
    }
}
