//! The cross-layer board: typed facts that layers of one node publish for whoever wants them.
//!
//! It is the cross-layer repository of MSWiM 2009, kept narrow: facts, not shared variables. Plain TCP does not read it.

use crate::{ChannelId, Phase, RadioEvent};
use cogtcp_units::{Rate, Time};
use std::collections::VecDeque;

/// A fact on the board.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fact {
    /// The radio senses and is silent until then.
    Sensing {
        /// End of the sensing, as planned; a PU found in it prolongs the silence.
        until: Time,
    },
    /// The radio moved to another channel.
    Handoff {
        /// The channel before.
        from: ChannelId,
        /// The channel from now on.
        to: ChannelId,
        /// Its rate; `None`: the link's own, unchanged.
        rate: Option<Rate>,
    },
    /// The link carries nothing from now on.
    LinkDown,
    /// The link carries traffic again.
    LinkUp,
    /// The interface queue has room again. Published by the queue.
    QueueFree,
}

/// A reader of one board.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReaderId(usize);

/// The board of one node. Facts wait until every reader has taken them; without readers nothing is kept.
#[derive(Clone, Debug, Default)]
pub struct Board {
    facts: VecDeque<(Time, Fact)>,
    /// Number of the first fact in `facts`.
    first: u64,
    /// Number of the next fact of each reader.
    readers: Vec<u64>,
}

impl Board {
    /// A board without readers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a reader, which sees what is published from now on.
    pub fn subscribe(&mut self) -> ReaderId {
        self.readers.push(self.first + self.facts.len() as u64);
        ReaderId(self.readers.len() - 1)
    }

    /// Publishes a fact.
    pub fn publish(&mut self, now: Time, fact: Fact) {
        if !self.readers.is_empty() {
            self.facts.push_back((now, fact));
        }
    }

    /// Publishes what a radio's event says to the layers above: [`Fact::Sensing`] or [`Fact::Handoff`]; other events say
    /// nothing.
    pub fn publish_event(&mut self, now: Time, event: &RadioEvent) {
        match *event {
            RadioEvent::SensingStart { until } => self.publish(now, Fact::Sensing { until }),
            RadioEvent::Handoff { from, to, rate } => self.publish(now, Fact::Handoff { from, to, rate }),
            _ => {}
        }
    }

    /// Publishes [`Fact::LinkDown`] or [`Fact::LinkUp`] when the link opened or closed between two phases.
    pub fn publish_phase(&mut self, now: Time, before: Phase, after: Phase) {
        match (before.is_silent(), after.is_silent()) {
            (false, true) => self.publish(now, Fact::LinkDown),
            (true, false) => self.publish(now, Fact::LinkUp),
            _ => {}
        }
    }

    /// The oldest fact that this reader has not taken.
    pub fn take(&mut self, reader: ReaderId) -> Option<(Time, Fact)> {
        let next = self.readers.get_mut(reader.0)?;
        let fact = *self.facts.get((*next - self.first) as usize)?;
        *next += 1;
        let oldest = self.readers.iter().copied().min().unwrap_or(self.first);
        while self.first < oldest {
            self.facts.pop_front();
            self.first += 1;
        }
        Some(fact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reader_takes_every_fact_once_in_order() {
        let mut board = Board::new();
        board.publish(Time::ZERO, Fact::LinkDown);
        let (a, b) = (board.subscribe(), board.subscribe());
        assert_eq!(board.take(a), None, "a reader sees what is published after it came");
        board.publish(Time::from_millis(1), Fact::LinkDown);
        board.publish(Time::from_millis(2), Fact::LinkUp);
        assert_eq!(board.take(a), Some((Time::from_millis(1), Fact::LinkDown)));
        assert_eq!(board.take(a), Some((Time::from_millis(2), Fact::LinkUp)));
        assert_eq!(board.take(a), None);
        let late = board.subscribe();
        assert_eq!(board.take(late), None);
        assert_eq!(board.take(b), Some((Time::from_millis(1), Fact::LinkDown)));
        assert_eq!(board.take(b), Some((Time::from_millis(2), Fact::LinkUp)));
        assert!(board.facts.is_empty(), "taken by all: gone");
        board.publish(Time::from_millis(3), Fact::QueueFree);
        assert_eq!(board.take(late), Some((Time::from_millis(3), Fact::QueueFree)));
    }
}
