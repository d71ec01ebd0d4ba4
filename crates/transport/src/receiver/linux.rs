//! When a Linux receiver acknowledges: quick ACKs, timers on the wheel, compressed ACKs, reading behind a burst.

use super::Receiver;
use super::burst::Burst;
use super::quick_ack::QuickAck;
use super::sack_compression::SackCompression;
use crate::Segment;
use crate::challenge::Challenges;
use cogtcp_units::{Duration, Time};
use std::collections::VecDeque;
use std::ops::Range;

/// When a Linux receiver acknowledges ([`DelayedAck::Linux`](crate::DelayedAck::Linux)).
#[derive(Clone, Debug)]
pub(super) struct LinuxAcks {
    pub(super) quick: QuickAck,
    pub(super) compression: SackCompression,
    pub(super) burst: Burst,
    /// When the application reads, after all that arrives at one instant, where its reading sends an ACK.
    pub(super) reads_at: Time,
    pub(super) is_ack_due_when_read: bool,
    /// Less than half of the room for data is left: working out a window ends quick ACKs.
    pub(super) is_short: bool,
    /// The delayed ACK waits for `timer`, whose tick is not worked out yet; else its time is exact.
    pub(super) is_on_wheel: bool,
    /// When the timer of delayed ACKs was last set and due. It is not stopped by an ACK that leaves before, and sends then
    /// what compression has put off (`tcp_delack_timer_handler`).
    pub(super) timer: (Time, Time),
    /// Whether the timer that sends what compression has put off reads the clock. Compression's own does not: the ACK bears
    /// the time of the latest segment (`tcp_compressed_ack_kick`).
    pub(super) is_clock_read: bool,
    /// The time that the next ACK bears; `Time::MAX`: its own.
    pub(super) stamp: Time,
    pub(super) challenges: Challenges,
    /// ACKs as they were before the latest segment. They leave first, and set `control_due`.
    pub(super) earlier: VecDeque<Segment>,
}

impl Default for LinuxAcks {
    fn default() -> Self {
        Self {
            quick: QuickAck::default(),
            compression: SackCompression::default(),
            burst: Burst::default(),
            reads_at: Time::MAX,
            is_ack_due_when_read: false,
            is_short: false,
            is_on_wheel: false,
            timer: (Time::ZERO, Time::ZERO),
            is_clock_read: false,
            stamp: Time::MAX,
            challenges: Challenges::default(),
            earlier: VecDeque::new(),
        }
    }
}

impl LinuxAcks {
    /// The application reads behind all that arrives now, and its reading may send an ACK.
    pub(super) fn read_soon(&mut self, now: Time) {
        self.reads_at = self.reads_at.min(now + Burst::READ);
    }

    /// A window is worked out, for an ACK or to see whether one is due (`__tcp_select_window`).
    pub(super) fn work_out_window(&mut self) {
        if self.is_short {
            self.quick.end();
        }
    }
}

impl Receiver {
    /// Whether the delayed ACK, which is due, waits for a tick of the host's wheel. Only then is the tick worked out.
    pub(super) fn waits_for_tick(&mut self, now: Time) -> bool {
        let Some(linux) = &mut self.linux else { return false };
        if !std::mem::take(&mut linux.is_on_wheel) {
            return false;
        }
        let (set_at, due) = linux.timer;
        self.delayed_until = self.config.wheel.fires(set_at, due);
        now < self.delayed_until
    }

    /// When the application reads in its turn.
    pub(super) fn reads_at(&self) -> Time {
        self.linux.as_ref().map_or(Time::MAX, |linux| linux.reads_at)
    }

    /// Linux: the ACK of a segment behind a gap may wait ([`SackCompression`]).
    pub(super) fn puts_off(&mut self, now: Time) -> bool {
        let frontier = self.reassembly.frontier();
        let advances = self.advances();
        let Some(linux) = self.linux.as_deref_mut().filter(|_| self.sack) else { return false };
        let several = frontier - self.last_ack > u64::from(self.full_size);
        if several {
            linux.work_out_window();
        }
        let due =
            linux.quick.is_due() || (several && advances) || !self.reassembly.has_gap() || self.pending > 0;
        if due {
            return false;
        }
        let rtt = self.tuning.as_ref().map(|tuning| tuning.rtt()).filter(|rtt| !rtt.is_zero());
        let Some(until) = linux.compression.put_off(now, frontier, rtt) else { return false };
        let until = until + self.config.compression_slack;
        let (set_at, due) = linux.timer;
        let left_over = self.config.wheel.fires(set_at, due);
        linux.is_clock_read = now < left_over && left_over < until;
        let until = if linux.is_clock_read { left_over } else { until };
        if until < self.delayed_until {
            self.delayed_until = until;
            linux.is_on_wheel = false;
        }
        true
    }

    /// Linux: an ACK that was put off leaves as it is before `data`, behind a gap, changes it ([`SackCompression`]).
    /// None is due for `data` then (`tcp_sack_compress_send_ack`). Returns whether it leaves.
    pub(super) fn send_put_off(&mut self, now: Time, data: Range<u64>) -> bool {
        let Some(linux) = self.linux.as_deref().filter(|linux| linux.compression.leaves_before(usize::MAX))
        else {
            return false;
        };
        let mut blocks: [Range<u64>; Segment::MAX_SACK] = Default::default();
        let count = self.reassembly.recent(&mut blocks);
        let blocks = &blocks[..count];
        let rank = blocks.iter().position(|block| data.start <= block.end && block.start <= data.end);
        let leaves = linux.compression.leaves_before(rank.unwrap_or(count));
        if leaves {
            let mut ack = Segment::default();
            self.acknowledge(now, &mut ack);
            if let Some(linux) = &mut self.linux {
                debug_assert!(
                    !self.control_due || !linux.earlier.is_empty(),
                    "behind a gap no SYN-ACK or FIN is due"
                );
                linux.earlier.push_back(ack);
                self.control_due = true;
            }
        }
        leaves
    }

    pub(super) fn linux_delay(&self) -> Duration {
        self.linux.as_ref().map_or(Duration::ZERO, |linux| linux.quick.delay())
    }

    /// Delays the next ACK until the host's wheel fires its timer.
    pub(super) fn delay_on_wheel(&mut self, now: Time, delay: Duration) {
        if now + delay < self.delayed_until {
            self.delayed_until = now + delay;
            if let Some(linux) = &mut self.linux {
                linux.is_on_wheel = true;
                linux.timer = (now, now + delay);
            }
        }
    }

    /// What a Linux receiver learns of a segment with data, for its next ACKs and for the window.
    #[expect(clippy::inline_always, reason = "a call costs as much as what mostly happens")]
    #[inline(always)]
    pub(super) fn adapt(&mut self, now: Time, start: u64, segment: &Segment) {
        let frontier = self.reassembly.frontier();
        if let Some(linux) = &mut self.linux {
            // Behind a gap it does not count (`tcp_event_data_recv`): a long recovery is a pause.
            if start <= frontier && frontier < start + u64::from(segment.len) {
                linux.quick.on_data(self.config.wheel.clock(now), self.config.wheel);
            }
            linux.burst.on_segment(now, frontier);
        }
        if self.tuning.is_some() {
            self.tune(now, start, segment);
        }
    }

    /// The handshake gave a round-trip time.
    pub(super) fn take_rtt(&mut self, rtt: Duration) {
        if let Some(linux) = &mut self.linux {
            linux.quick.set_rtt(rtt);
            linux.compression.set_rtt(rtt);
        }
    }

    /// Linux: the application reads once the burst was handled (`tcp_cleanup_rbuf`).
    pub(super) fn read_in_turn(&mut self, now: Time) {
        let Some(linux) = &mut self.linux else { return };
        linux.reads_at = Time::MAX;
        let is_update = !linux.is_ack_due_when_read;
        if let Some(tuning) = &mut self.tuning {
            tuning.settle(now, self.reassembly.frontier());
        }
        if is_update && !self.reading_opens_window() {
            return;
        }
        self.offer_beside(self.waiting(), false);
        self.stats.window_updates += u64::from(is_update);
        self.pending = self.pending.max(1);
    }

    /// Whether the application reads as Linux lets it: after all that arrives at one instant.
    pub(super) fn reads_in_turn(&self) -> bool {
        self.linux.is_some() && !self.config.manual_read
    }
}
