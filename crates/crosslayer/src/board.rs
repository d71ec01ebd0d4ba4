//! The board of one node.

use crate::LinkEvent;
use cogtcp_units::Time;
use std::collections::VecDeque;

/// An entry of a board: a link event with its link and time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoardEntry {
    /// When it happened.
    pub at: Time,
    /// Which of the node's links: the driver's number of it.
    pub link: u32,
    /// What happened, as far as the node knows.
    pub event: LinkEvent,
}

/// A reader of one board.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReaderId(usize);

/// The board of one node. Notices wait until every reader has taken them; without readers nothing is kept.
#[derive(Clone, Debug)]
pub struct Board<E = BoardEntry> {
    entries: VecDeque<E>,
    /// Number of the first entry in `entries`.
    first: u64,
    /// Number of the next entry of each reader.
    readers: Vec<u64>,
}

impl<E> Default for Board<E> {
    fn default() -> Self {
        Self { entries: VecDeque::new(), first: 0, readers: Vec::new() }
    }
}

impl<E: Copy> Board<E> {
    /// A board without readers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a reader, which sees what is published from now on.
    pub fn subscribe(&mut self) -> ReaderId {
        self.readers.push(self.first + self.entries.len() as u64);
        ReaderId(self.readers.len() - 1)
    }

    /// Whether anybody reads.
    pub fn is_read(&self) -> bool {
        !self.readers.is_empty()
    }

    /// Publishes what happened, as far as the node knows it (see [`LinkEvent::as_known`]).
    pub fn publish(&mut self, entry: E) {
        if self.is_read() {
            self.entries.push_back(entry);
        }
    }

    /// The oldest entry that this reader has not taken.
    pub fn take(&mut self, reader: ReaderId) -> Option<E> {
        let next = self.readers.get_mut(reader.0)?;
        let entry = *self.entries.get((*next - self.first) as usize)?;
        *next += 1;
        // What all readers have taken is forgotten.
        let oldest = self.readers.iter().copied().min().unwrap_or(self.first);
        while self.first < oldest {
            self.entries.pop_front();
            self.first += 1;
        }
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(millis: u64, event: LinkEvent) -> BoardEntry {
        BoardEntry { at: Time::from_millis(millis), link: 3, event }
    }

    #[test]
    fn every_reader_takes_every_notice_once_in_order() {
        let mut board = Board::new();
        board.publish(entry(0, LinkEvent::LinkDown));
        let (a, b) = (board.subscribe(), board.subscribe());
        assert_eq!(board.take(a), None, "a reader sees what is published after it came");
        board.publish(entry(1, LinkEvent::LinkDown));
        board.publish(entry(2, LinkEvent::LinkUp));
        assert_eq!(board.take(a), Some(entry(1, LinkEvent::LinkDown)));
        assert_eq!(board.take(a), Some(entry(2, LinkEvent::LinkUp)));
        assert_eq!(board.take(a), None);
        let late = board.subscribe();
        assert_eq!(board.take(late), None);
        assert_eq!(board.take(b), Some(entry(1, LinkEvent::LinkDown)));
        assert_eq!(board.take(b), Some(entry(2, LinkEvent::LinkUp)));
        assert!(board.entries.is_empty(), "taken by all: gone");
        board.publish(entry(3, LinkEvent::QueueFree { bytes: 9 }));
        assert_eq!(board.take(late), Some(entry(3, LinkEvent::QueueFree { bytes: 9 })));
    }
}
