//! When an ACK is due, and what it says.

use super::burst::Burst;
use super::{Receiver, ReceiverState, timestamp};
use crate::{DelayedAck, EcnMode, Flags, Segment, SeqNumber};
use cogtcp_units::{Duration, Time};
use std::ops::Range;

impl Receiver {
    /// The acknowledgement as it would be sent now: cumulative ACK, window, SACK blocks, timestamps. Nothing
    /// is counted as sent. For a driver that sends acknowledgements of its own, with the window rewritten or
    /// repeated (Freeze-TCP).
    pub fn current_ack(&self, now: Time) -> Segment {
        let mut ack = Segment::default();
        self.write_ack(now, self.window.field(self.reassembly.frontier()), &mut ack);
        ack
    }

    /// Writes the acknowledgement with this window field.
    #[inline]
    fn write_ack(&self, now: Time, window: u16, ack: &mut Segment) {
        let fin_sent = match self.state {
            ReceiverState::LastAck => self.retransmit_at != Time::MAX || self.retransmissions > 0,
            state => state == ReceiverState::Closed,
        };
        let flags = match self.ecn {
            EcnMode::Classic if self.marked => Flags::ACK | Flags::ECE,
            EcnMode::Accurate => Flags::ACK | Flags::of_ace(self.accurate.count),
            _ => Flags::ACK,
        };
        *ack = Segment::new(
            SeqNumber::from_offset(self.config.handshake.initial_sequence, 1 + u64::from(fin_sent)),
            SeqNumber::from_offset(self.irs, self.reassembly.frontier()),
            0,
            window,
            flags,
        );
        if self.timestamps {
            let stamp = self.linux.as_ref().map_or(Time::MAX, |linux| linux.stamp);
            ack.set_timestamps(timestamp(if stamp == Time::MAX { now } else { stamp }), self.ts_recent);
        }
        if self.sack {
            self.push_sack_blocks(ack);
        }
        ack.tag = if self.answered_tag != 0 { self.answered_tag } else { self.latest_tag };
    }

    /// RFC 9293 section 3.10.7.4, eighth: a FIN in order is acknowledged, at once.
    ///
    /// Linux puts the ACK off (`tcp_fin`: interactive mode, without quick ACKs), so that it may go with data
    /// or the FIN of this side. Its delay is 0 before the first data.
    pub(super) fn ack_the_end(&mut self, now: Time, advanced: u64) {
        let unacknowledged = self.reassembly.frontier() - self.last_ack;
        let is_delayed = self.linux.is_some()
            && self.pending == 0
            && self.full_size > 0
            && unacknowledged <= u64::from(self.full_size);
        if is_delayed {
            self.delay_on_wheel(now, self.linux_delay());
        } else {
            self.ack_now(advanced);
        }
    }

    /// RFC 5681 section 4.2: an in-order segment, by the setting for delayed ACKs.
    pub(super) fn ack_in_order(&mut self, now: Time, advanced: u64, pushed: bool) {
        let timeout = match self.config.delayed_ack {
            DelayedAck::Off => {
                self.ack_now(advanced);
                return;
            }
            DelayedAck::Adaptive { limit } => {
                self.defer(now, advanced, limit);
                return;
            }
            DelayedAck::On { timeout } => timeout,
            DelayedAck::Linux => self.linux_delay(),
        };
        let unacknowledged = self.reassembly.frontier() - self.last_ack;
        let (reads_in_turn, several) = (self.reads_in_turn(), unacknowledged > u64::from(self.full_size));
        let at_once = several && reads_in_turn && self.advances();
        if several && let Some(linux) = &mut self.linux {
            linux.work_out_window();
        }
        let most = match &mut self.linux {
            Some(linux) if linux.quick.is_due() => 1,
            Some(linux) if reads_in_turn => {
                if at_once {
                    1
                } else if several || pushed {
                    // Once the application has read (`tcp_cleanup_rbuf`).
                    linux.is_ack_due_when_read = true;
                    linux.read_soon(now);
                    return;
                } else {
                    u64::MAX
                }
            }
            // More than a full segment.
            Some(_) => u64::from(self.full_size) + 1,
            None => u64::from(self.config.ack_every) * u64::from(self.full_size),
        };
        if unacknowledged >= most {
            self.ack_now(advanced);
        } else if self.delayed_until == Time::MAX && self.pending == 0 {
            self.delay_on_wheel(now, timeout);
        }
    }

    /// TCP-ADA: every in-order segment postpones the ACK again.
    fn defer(&mut self, now: Time, advanced: u64, limit: Duration) {
        if self.pending > 0 {
            return;
        }
        let due = self.deferment.as_mut().and_then(|deferment| {
            let since = deferment.wait(now);
            deferment.due(now, since, limit)
        });
        match due {
            Some(due) => self.delayed_until = due,
            None => self.ack_now(advanced),
        }
    }

    /// An ACK that moves the cumulative acknowledgement stands for those not pulled yet; one that does not is
    /// a duplicate ACK of its own.
    pub(super) fn ack_now(&mut self, advanced: u64) {
        self.pending = if advanced > 0 { 1 } else { self.pending + 1 };
    }

    /// Writes the ACK into `ack` and counts it as sent.
    pub(super) fn acknowledge(&mut self, now: Time, ack: &mut Segment) {
        let frontier = self.reassembly.frontier();
        let window = self.window.advertise(frontier);
        self.write_ack(now, window, ack);
        if self.marked {
            ack.flags = ack.flags | Flags::ECE;
        }
        // Without ECN one echo per mark suffices (`take_mark`).
        self.marked &= self.ecn == EcnMode::Classic;
        self.accurate.since = 0;
        self.accurate.changed = false;
        self.stats.acks += 1;
        self.stats.duplicate_acks += u64::from(self.last_ack == frontier);
        self.stats.zero_windows += u64::from(ack.window == 0);
        self.pending = self.pending.saturating_sub(1);
        self.delayed_until = Time::MAX;
        self.last_ack = frontier;
        self.answered_tag = 0;
        self.duplicate = None;
        // What is read after an ACK may open the window by far.
        let updates =
            self.reads_in_turn() && self.state == ReceiverState::Established && self.reading_opens_window();
        if let Some(linux) = &mut self.linux {
            linux.work_out_window();
            linux.quick.on_ack();
            linux.compression.on_ack();
            linux.stamp = Time::MAX;
            linux.reads_at = if updates { now + Burst::READ } else { Time::MAX };
            linux.is_ack_due_when_read = false;
        }
        if let Some(deferment) = &mut self.deferment {
            deferment.on_ack();
        }
    }

    /// RFC 2018 section 4, with the D-SACK block first (RFC 2883 section 4).
    fn push_sack_blocks(&self, ack: &mut Segment) {
        let number = |offset| SeqNumber::from_offset(self.irs, offset);
        if let Some(duplicate) = self.duplicate.as_ref().filter(|_| self.config.d_sack) {
            ack.push_sack(number(duplicate.start), number(duplicate.end));
        }
        if self.reassembly.has_gap() {
            let mut blocks: [Range<u64>; Segment::MAX_SACK] = Default::default();
            let count = self.reassembly.recent(&mut blocks);
            for block in &blocks[..count] {
                ack.push_sack(number(block.start), number(block.end));
            }
        }
    }
}
