//! Opening and closing (RFC 9293 sections 3.5 and 3.6).

use super::{Sender, timers::Timer};
use crate::rack::Rack;
use crate::{ControlExtension, Flags, Segment, SeqNumber, TimeoutRules, TransportEvent};
use cogtcp_units::Time;

/// Where the connection stands. FIN-WAIT, CLOSING, CLOSE-WAIT and LAST-ACK are `Established` with the FINs
/// sent, acknowledged and received so far.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Connection {
    Idle,
    SynSent,
    Established,
    TimeWait,
    Closed,
}

impl Sender {
    /// Queues the SYN. Does nothing but at rest.
    pub fn open(&mut self, now: Time) {
        if self.connection == Connection::Idle {
            self.connection = Connection::SynSent;
            self.syn_pending = true;
            self.progress_at = now;
        }
    }

    /// The SYN with what it offers.
    pub(super) fn make_syn(&mut self, now: Time) -> Segment {
        let mut syn = self.segment(now, 0, Flags::SYN);
        syn.ack = SeqNumber::new(0);
        // The option has 16 bits (RFC 9293 section 3.2).
        syn.set_mss(self.config.handshake.mss.min(u32::from(u16::MAX)) as u16);
        if self.config.recovery.algorithm == crate::Recovery::Sack {
            syn.set_sack_permitted();
        }
        if self.config.handshake.window_scaling {
            // Our own window needs no scaling; the option lets the peer scale its.
            syn.set_window_scale(0);
        }
        syn.flags = syn.flags | self.offered_ecn();
        if self.config.handshake.timestamps {
            syn.set_timestamps(self.ticks(now), 0);
        }
        if let Some(value) = self.control.extension().and_then(ControlExtension::syn_option) {
            syn.set_custom(value);
        }
        self.syn_pending = false;
        if self.syn_count > 0 {
            self.stats.syn_retransmits += 1;
        } else {
            self.syn_sent_at = now;
        }
        self.syn_count += 1;
        self.arm_on_wheel(Timer::Syn, now, now + self.rtt.rto(&self.config.timers));
        syn
    }

    /// A segment in SYN-SENT (RFC 9293 section 3.10.7.3). Simultaneous opens are not modelled: the peer is
    /// passive.
    pub(super) fn handle_syn_sent(&mut self, now: Time, segment: &Segment) {
        let acknowledges = segment.flags.contains(Flags::ACK);
        let ours =
            acknowledges && segment.ack == SeqNumber::from_offset(self.config.handshake.initial_sequence, 1);
        if !ours {
            if acknowledges && !segment.flags.contains(Flags::RST) {
                self.rare.get_or_insert_default().reset = Some(segment.ack);
            }
            return;
        }
        if segment.flags.contains(Flags::RST) {
            self.abort();
            return;
        }
        if !segment.flags.contains(Flags::SYN) {
            return;
        }
        self.connection = Connection::Established;
        self.peer_isn = segment.seq;
        self.peer_nxt = 1;
        self.ack_pending = true;
        self.negotiate(segment);
        let mss = self.tcp.mss;
        self.board.start(1, mss);
        self.arm(Timer::Off, Time::MAX);
        let echo = segment.timestamps().filter(|_| self.timestamps_ok).map(|stamps| stamps.echo);
        if self.syn_count == 1 {
            // Karn: unambiguous only when the SYN went once.
            self.take_rtt(now, self.elapsed(now, self.syn_sent_at));
        } else if let Some(echo) = echo.filter(|_| self.times_out_as_linux()) {
            let ticks = self.ticks(now).wrapping_sub(echo).max(1);
            self.take_rtt(now, self.config.timers.timestamp_tick * u64::from(ticks));
        } else if !self.config.timers.keep_syn_backoff {
            self.rtt.after_lost_syn(&self.config.timers);
            self.tcp.rto = self.rtt.base();
        }
        self.tcp.initial_window = self.config.initial_window.bytes(mss);
        // RFC 5681 section 3.1: one segment after a lost SYN or SYN-ACK. Linux forgives one, and all if the first
        // SYN's timestamp is echoed (`tcp_init_transfer`).
        let is_reduced = if self.times_out_as_linux() {
            self.syn_count > 2 && echo != Some(self.ticks(self.syn_sent_at))
        } else {
            self.syn_count > 1
        };
        self.tcp.cwnd = if is_reduced { mss } else { self.tcp.initial_window };
        // The window of a SYN is never scaled (RFC 7323 section 2.2).
        self.window_end = 1 + u64::from(segment.window);
        self.tcp.peer_window = u64::from(segment.window);
        self.max_peer_window = u64::from(segment.window);
        self.last_window = segment.window;
        (self.wl1, self.wl2) = (segment.seq, 1);
        self.progress_at = now;
        self.last_data_at = now;
        self.sync();
        if let Some(extension) = self.control.extension() {
            extension.on_syn_ack_option(now, &mut self.tcp, segment.custom());
        }
        self.control.init(now, &mut self.tcp);
        self.clamp();
        self.emit(TransportEvent::Connected);
    }

    /// The connection is deleted before it was established. A SYN-ACK that comes now is answered by a reset.
    pub(super) fn leave_syn_sent(&mut self) {
        self.connection = Connection::Closed;
        self.syn_pending = false;
        self.arm(Timer::Off, Time::MAX);
        self.emit(TransportEvent::Closed);
    }

    /// A segment for a connection that was never established and is deleted: an ACK is answered by a reset
    /// (RFC 9293 section 3.10.7.1). Departure: nothing answers for a connection that was.
    pub(super) fn handle_deleted(&mut self, segment: &Segment) {
        let was_established = self.board.nxt() > 0;
        if !was_established && segment.flags.contains(Flags::ACK) && !segment.flags.contains(Flags::RST) {
            self.rare.get_or_insert_default().reset = Some(segment.ack);
        }
    }

    /// The reset that is due: `SEQ = SEG.ACK`, no ACK.
    pub(super) fn make_reset(&mut self) -> Option<Segment> {
        let seq = self.rare.as_mut()?.reset.take()?;
        // Tag 0 means none: the counter skips it.
        self.tag = self.tag.wrapping_add(1).max(1);
        let mut reset = Segment::new(seq, SeqNumber::new(0), 0, 0, Flags::RST);
        reset.tag = self.tag;
        Some(reset)
    }

    fn negotiate(&mut self, syn_ack: &Segment) {
        // 536 where the peer says nothing (RFC 9293 section 3.7.1). Departure: SMSS counts payload alone and
        // is not lowered by options (RFC 6691), the path being taken to have room for them.
        let peer = syn_ack.mss().map_or(536, u64::from);
        self.tcp.mss = u64::from(self.config.handshake.mss).min(peer).max(1);
        self.sack_ok = self.config.recovery.algorithm == crate::Recovery::Sack && syn_ack.sack_permitted();
        let last_in_order = self.config.timers.timeout_rules == TimeoutRules::Linux;
        self.rack = (self.sack_ok && self.config.recovery.rack).then(|| Box::new(Rack::new(last_in_order)));
        self.negotiate_ecn(syn_ack);
        self.peer_scale =
            if self.config.handshake.window_scaling { syn_ack.window_scale().unwrap_or(0) } else { 0 };
        if self.config.handshake.timestamps
            && let Some(ts) = syn_ack.timestamps()
        {
            self.timestamps_ok = true;
            self.ts_recent = ts.value;
        }
    }

    /// The peer's FIN (RFC 9293 section 3.10.7.4, eighth check).
    pub(super) fn handle_fin(&mut self, now: Time, segment: &Segment) {
        let offset = segment.seq.plus(segment.len).offset_near(self.peer_isn, self.peer_nxt);
        self.ack_pending = true;
        if !self.peer_fin && offset == Some(self.peer_nxt) {
            self.peer_fin = true;
            self.peer_nxt += 1;
            if self.finished {
                // FIN-WAIT-2 to TIME-WAIT.
                self.enter_time_wait(now);
            }
        } else if self.connection == Connection::TimeWait {
            // Our ACK of it was lost: TIME-WAIT starts again.
            self.enter_time_wait(now);
        }
    }

    /// Our FIN is acknowledged.
    pub(super) fn handle_fin_acked(&mut self, now: Time) {
        self.finished = true;
        self.emit(TransportEvent::Finished);
        if self.peer_fin {
            // CLOSING to TIME-WAIT. LAST-ACK, that is after a passive close, is treated alike.
            self.enter_time_wait(now);
        }
    }

    pub(super) fn enter_time_wait(&mut self, now: Time) {
        self.connection = Connection::TimeWait;
        self.arm(Timer::TimeWait, now + self.config.timers.time_wait);
    }

    pub(super) fn abort(&mut self) {
        self.connection = Connection::Closed;
        self.arm(Timer::Off, Time::MAX);
        self.paced_until = Time::MAX;
        self.ack_pending = false;
        self.emit(TransportEvent::Aborted);
    }
}
