//! Checks of an arriving segment before its ACK is read (RFC 9293 section 3.10.7.4, first to fifth).

use super::{Sender, handshake::Connection, timers::Timer};
use crate::{Flags, Segment, TransportEvent};
use cogtcp_units::Time;

impl Sender {
    /// Checks sequence number, RST and SYN. False: the segment goes no further; an ACK that it calls for is
    /// pending.
    pub(super) fn is_in_sequence(&mut self, now: Time, segment: &Segment) -> bool {
        let left = self.peer_nxt;
        let start = segment.seq.offset_near(self.peer_isn, left);
        let is_inside = start.is_some_and(|start| {
            // The window that every segment shows (`Sender::segment`).
            let right = left + u64::from(u16::MAX);
            if segment.len == 0 {
                // Departure, Linux's too: an empty segment may lie at the right edge.
                (left..=right).contains(&start)
            } else {
                start < right && start + u64::from(segment.sequence_len()) > left
            }
        });
        if segment.flags.contains(Flags::RST) {
            // RFC 5961 section 3.2: the exact number resets, another one of the window is challenged.
            if start == Some(left) {
                self.abort();
            } else if is_inside {
                self.challenge(now);
            }
            return false;
        }
        if segment.flags.contains(Flags::SYN) {
            // The SYN-ACK again, as our ACK of it was lost; or a challenge ACK (RFC 5961 section 4.2).
            self.challenge(now);
            self.reflect_again(segment);
            return false;
        }
        if !is_inside && segment.sequence_len() > 0 {
            self.ack_pending = true;
        } else if !is_inside {
            self.challenge(now);
        }
        is_inside
    }

    /// Answers a segment that brings nothing; under Linux's rules not too often.
    fn challenge(&mut self, now: Time) {
        let interval = self.config.challenge_interval;
        if !self.times_out_as_linux() || self.rare.get_or_insert_default().challenges.allow(now, interval) {
            self.ack_pending = true;
        }
    }

    /// Returns whether an ACK of offset `ack` lies more than the peer's largest window below SND.UNA (RFC 5961
    /// section 5.2). As in Linux the window is at most what was acknowledged so far.
    pub fn is_too_old(&self, ack: u64) -> bool {
        let una = self.board.una();
        una.saturating_sub(ack) > self.max_peer_window.min(una.saturating_sub(1))
    }

    /// A segment in TIME-WAIT: the peer's FIN again starts TIME-WAIT again, a reset ends it.
    pub(super) fn handle_time_wait(&mut self, now: Time, segment: &Segment) {
        let is_control = segment.flags.contains(Flags::RST) || segment.flags.contains(Flags::SYN);
        if segment.flags.contains(Flags::FIN) && !is_control {
            self.handle_fin(now, segment);
            return;
        }
        let is_exact = segment.seq.offset_near(self.peer_isn, self.peer_nxt) == Some(self.peer_nxt);
        if segment.flags.contains(Flags::RST) && is_exact {
            // All was acknowledged in both directions: nothing is aborted.
            self.leave_time_wait();
        } else {
            self.is_in_sequence(now, segment);
        }
    }

    /// TIME-WAIT is over.
    pub(super) fn leave_time_wait(&mut self) {
        self.connection = Connection::Closed;
        self.arm(Timer::Off, Time::MAX);
        self.ack_pending = false;
        self.emit(TransportEvent::Closed);
    }
}
