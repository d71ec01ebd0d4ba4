//! Header prediction: an ACK that only moves counters.
//!
//! Most ACKs have no option, repeat the window and acknowledge the oldest data while nothing is lost. Such an
//! ACK needs none of the looks at SACK, losses, recovery, ECN and the persist timer that `handle_ack` makes.
//! After Van Jacobson's header prediction (4.3BSD-Reno; `tcp_rcv_established` in Linux). What it does is the
//! same as `handle_ack` without the branches that these conditions exclude.

use super::{Sender, handshake::Connection, timers::Timer};
use crate::congestion::{AckSample, CaState};
use crate::scoreboard::EVER_RETRANSMITTED;
use crate::{Flags, Segment, sender::input::RttHint};
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
            && segment.is_bare()
            && segment.len == 0
            && segment.window == self.last_window
            && segment.window != 0
            && segment.seq == self.wl1;
        let is_expected = repeats_header
            && self.connection == Connection::Established
            && self.tcp.ca_state == CaState::Open
            && self.timer == Timer::Retransmit
            && ack > una
            && ack <= self.board.nxt()
            && self.wl2 <= ack
            && self.board.is_clean()
            && self.reported == 0
            && !self.fin_sent
            && !self.timestamps_ok
            && !self.ecn.is_accurate()
            && self.rack.is_none()
            && self.rare.as_ref().is_none_or(|rare| rare.is_quiet());
        if is_expected {
            self.move_on(now, segment, ack);
        }
        is_expected
    }

    /// As `handle_ack` would.
    #[inline]
    fn move_on(&mut self, now: Time, segment: &Segment, ack: u64) {
        let una = self.board.una();
        let acked = ack - una;
        let prior_in_flight = self.board.in_flight();
        let mut sample = AckSample { acked, delivered: acked, prior_in_flight, ..AckSample::default() };
        self.stats.acks_received += 1;
        self.stats.bytes_acked += acked;
        let (rate, mut hint) = (&mut self.rate, RttHint::default());
        self.board.advance(ack, |sent| {
            rate.on_acked(sent);
            hint.ambiguous |= sent.is(EVER_RETRANSMITTED);
            hint.latest = Some(sent.sent_at);
            hint.earliest = hint.earliest.or(hint.latest);
        });
        rate.add(now, acked);
        self.progress_at = now;
        self.rto_count = 0;
        self.wl2 = ack;
        self.open_window(ack, u64::from(segment.window) << self.peer_scale);
        self.round_trip(now, segment, &mut sample, hint);
        sample.rate = self.rate.finish(self.tcp.min_rtt);
        self.dup_acks = 0;
        self.inflation = 0;
        self.limited = 0;
        self.drive_control(now, &sample, true);
        self.update_timer(now, true);
        self.board.check();
    }
}
