//! Header prediction: an ACK that only moves counters.
//!
//! Most ACKs have no option but timestamps, and acknowledge the oldest data while nothing is lost. Such an ACK
//! needs none of the looks at SACK, losses, recovery, ECN and the persist timer that `handle_ack` makes.
//! After Van Jacobson's header prediction (4.3BSD-Reno; `tcp_rcv_established` in Linux). What it does is the
//! same as `handle_ack` without the branches that these conditions exclude.

use super::{Sender, handshake::Connection, recovery::Outcome, timers::Timer};
use crate::congestion::{AckSample, CaState};
use crate::frto::FrtoAck;
use crate::scoreboard::{EVER_RETRANSMITTED, Sent};
use crate::{Flags, Segment, sender::input::RttHint, sender::input::end_of};
use cogtcp_units::Time;

impl Sender {
    /// Takes `segment`, if it is such an ACK. False: nothing has happened.
    #[inline]
    pub(super) fn take_expected(&mut self, now: Time, segment: &Segment) -> bool {
        let una = self.board.una();
        let Some(ack) = segment.ack.offset_near(self.config.handshake.initial_sequence, una) else {
            return false;
        };
        let repeats_header = segment.flags == Flags::ACK
            && segment.is_plain(self.timestamps_ok)
            && segment.len == 0
            && segment.window != 0
            && segment.seq == self.wl1;
        let is_expected = repeats_header
            && self.connection == Connection::Established
            && self.tcp.ca_state == CaState::Open
            && matches!(self.timer, Timer::Retransmit | Timer::TailProbe)
            && ack > una
            && ack <= self.board.nxt()
            && self.wl2 <= ack
            && self.board.is_clean()
            && self.reported == 0
            && !self.fin_sent
            && !self.ecn.is_accurate()
            && self.rare.as_ref().is_none_or(|rare| rare.is_quiet());
        if is_expected {
            // One copy in a web page, where size counts.
            if cfg!(target_family = "wasm") || self.timestamps_ok || self.rack.is_some() {
                self.move_on::<true>(now, segment, ack);
            } else {
                self.move_on::<false>(now, segment, ack);
            }
        }
        is_expected
    }

    /// As `handle_ack` would. `LINUX`: the connection has timestamps or RACK.
    #[inline]
    fn move_on<const LINUX: bool>(&mut self, now: Time, segment: &Segment, ack: u64) {
        let una = self.board.una();
        let acked = ack - una;
        let prior_in_flight = self.board.in_flight();
        let mut sample = AckSample { acked, delivered: acked, prior_in_flight, ..AckSample::default() };
        self.stats.acks_received += 1;
        self.stats.bytes_acked += acked;
        self.may_write = self.has_buffer;
        if LINUX && let Some(stamp) = segment.timestamps().filter(|_| self.timestamps_ok) {
            self.ts_recent = stamp.value;
        }
        let min_rtt = self.tcp.min_rtt;
        let echo = if LINUX { self.echo(segment) } else { None };
        let lost_before = self.rate.lost;
        let (rate, mut hint) = (&mut self.rate, RttHint::default());
        let mut rack = if LINUX { self.rack.as_deref_mut() } else { None };
        if let Some(rack) = &mut rack {
            rack.begin_ack(now);
            rack.cumulatively = true;
        }
        // In order, the last segment leaves RACK as it is: the others left before it, and end before it.
        let in_order = rack.as_ref().is_none_or(|rack| rack.is_in_order(una));
        let mut last = Sent::default();
        self.board.advance(ack, |sent| {
            rate.on_acked(sent);
            if !in_order && let Some(rack) = &mut rack {
                rack.on_delivered(sent, end_of(sent, una), min_rtt, echo);
            }
            last = *sent;
            hint.ambiguous |= sent.is(EVER_RETRANSMITTED);
            hint.latest = Some(sent.sent_at);
            hint.earliest = hint.earliest.or(hint.latest);
        });
        if let Some(rack) = rack.filter(|_| in_order && hint.latest.is_some()) {
            rack.on_delivered(&last, end_of(&last, una), min_rtt, echo);
        }
        rate.add(now, acked);
        self.progress_at = now;
        self.rto_count = 0;
        self.wl2 = ack;
        let window_same = segment.window == self.last_window;
        self.last_window = segment.window;
        self.open_window(ack, u64::from(segment.window) << self.peer_scale);
        self.round_trip(now, segment, &mut sample, hint);
        self.announce_ack(now, &sample, window_same);
        sample.rate = self.rate.finish(self.tcp.min_rtt);
        if LINUX && self.rack_in_use() {
            self.rack_ack(now, ack, &sample, false);
            if !self.has_nothing_to_find() {
                sample.lost = self.find_losses(now);
            }
        }
        let mut outcome = Outcome { grow: true, restart_timer: true };
        if LINUX && sample.lost > 0 {
            // Sent before a retransmission that this ACK acknowledges.
            let frto = FrtoAck { advances: true, ..self.frto_ack(ack) };
            outcome = self.recover(now, &sample, frto, echo);
            sample.lost = self.rate.lost - lost_before;
        } else {
            self.dup_acks = 0;
            self.inflation = 0;
            self.limited = 0;
        }
        self.drive_control(now, &sample, outcome.grow);
        self.update_timer(now, outcome.restart_timer);
        self.board.check();
    }
}
