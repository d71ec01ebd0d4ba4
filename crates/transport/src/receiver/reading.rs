//! The application reads, and the window follows.

use super::{Receiver, ReceiverState, TIMESTAMP_TICK, timestamp};
use crate::{Segment, TransportEvent};
use cogtcp_units::Time;

impl Receiver {
    /// The application takes up to `bytes` bytes of what is in order; returns how many it got. For manual
    /// reading ([`ReceiverConfig::manual_read`]); automatic reading leaves nothing to take.
    pub fn read(&mut self, now: Time, bytes: u64) -> u64 {
        let taken = bytes.min(self.readable());
        if taken > 0 {
            self.window.read(taken);
            if let Some(tuning) = &mut self.tuning {
                tuning.on_read(now, self.window.taken(), self.reassembly.frontier());
            }
            self.after_reading(now);
        }
        taken
    }

    /// What it learns for the window.
    pub(super) fn tune(&mut self, now: Time, start: u64, segment: &Segment) {
        let (frontier, unread) = (self.reassembly.frontier(), self.unread());
        let Some(tuning) = &mut self.tuning else { return };
        tuning.settle(now, frontier);
        if self.timestamps
            && let Some(stamp) = segment.timestamps().filter(|stamp| stamp.echo != 0)
        {
            let ticks = timestamp(now).wrapping_sub(stamp.echo);
            if ticks < 1 << 31 {
                tuning.on_echo(stamp.echo, u64::from(segment.len), TIMESTAMP_TICK * u64::from(ticks));
            }
        }
        let len = u64::from(segment.len);
        if start + len <= frontier {
            return;
        }
        tuning.on_size(len);
        if start <= frontier {
            let offered = self.window.right_edge().saturating_sub(self.last_ack);
            tuning.on_window(now, start + len, offered);
            let held = len + self.reassembly.queued() + unread;
            let grows = tuning.on_segment(len, held);
            self.offer_beside(held, grows);
        }
    }

    /// A segment of `len` bytes came behind a gap, and waits there. Of it `new` bytes are new.
    pub(super) fn adapt_behind_gap(&mut self, len: u64, new: u64) {
        let unread = self.unread();
        let Some(tuning) = &mut self.tuning else { return };
        // Without SACK the window stays behind a gap, so that ACKs remain duplicates.
        let queued = self.reassembly.queued();
        let grows = self.sack && new > 0 && tuning.grow(len, queued - new + unread);
        tuning.on_gap(self.reassembly.span());
        self.offer_beside(queued + unread, grows);
    }

    /// Works out what may be offered while `held` bytes wait. `grows`: the window grew with this segment.
    pub(super) fn offer_beside(&mut self, held: u64, grows: bool) {
        let Some(tuning) = &self.tuning else { return };
        let offer = tuning.offer(held);
        self.window.set_tuned(offer.window);
        if let Some(linux) = &mut self.linux {
            linux.is_short = offer.is_short;
            if grows {
                linux.quick.on_window_growth();
            }
        }
    }

    /// Whether an ACK would offer as much as the last one did (`__tcp_ack_snd_check`): what the application has
    /// not read of this instant's segments takes of it.
    pub(super) fn advances(&self) -> bool {
        self.window.offer(self.unread()) >= self.window.right_edge().saturating_sub(self.last_ack)
    }

    /// Bytes in order that the application has not read: of a Linux receiver that reads by itself, what came at
    /// this instant.
    fn unread(&self) -> u64 {
        let frontier = self.reassembly.frontier();
        match &self.linux {
            Some(linux) if self.reads_in_turn() => linux.burst.unread(frontier),
            _ => frontier.saturating_sub(self.window.taken()),
        }
    }

    /// What may be offered with nothing left to read, if the buffer is tuned.
    fn room(&self) -> Option<u64> {
        self.tuning.as_ref().map(|tuning| tuning.window(self.waiting()))
    }

    /// Bytes that wait for the application, or behind a gap.
    pub(super) fn waiting(&self) -> u64 {
        self.readable() + self.reassembly.queued()
    }

    /// Whether an update of the window is due once the application has read what is in order.
    pub(super) fn reading_opens_window(&self) -> bool {
        self.window.update_due(self.reassembly.frontier(), self.room())
    }

    /// The frontier moved: the application reads, the end of the stream is noticed.
    pub(super) fn deliver(&mut self, now: Time) {
        if self.state == ReceiverState::Established && self.fin_in_order() {
            self.state = ReceiverState::CloseWait;
            self.emit(TransportEvent::Finished);
        }
        if !self.config.manual_read {
            self.window.read(self.readable());
        }
        self.after_reading(now);
    }

    /// Room was made or the end of the stream is reached.
    pub(super) fn after_reading(&mut self, now: Time) {
        if self.reads_in_turn() && self.state == ReceiverState::Established {
            if self.pending == 0
                && self.reading_opens_window()
                && let Some(linux) = &mut self.linux
            {
                linux.read_soon(now);
            }
            return;
        }
        if let Some(room) = self.room() {
            self.window.give_back(room);
        }
        if self.state == ReceiverState::CloseWait {
            if self.readable() == 0 && !self.config.stays_open {
                // The application closes at the end of the stream.
                self.state = ReceiverState::LastAck;
                self.retransmissions = 0;
                self.control_due = true;
            }
        } else if self.pending == 0 && self.window.update_due(self.reassembly.frontier(), None) {
            self.pending = 1;
            self.stats.window_updates += 1;
        }
    }
}
