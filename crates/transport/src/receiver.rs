//! The receiving end of a connection: passive open, reassembly, acknowledgements, flow control, passive
//! close.
//!
//! [`Receiver`] is a state machine without clock, buffer of bytes or socket. Its driver gives it segments
//! ([`Receiver::handle_segment`]) and expired deadlines ([`Receiver::handle_timeout`]), pulls what it has to
//! send ([`Receiver::poll_transmit`]) and asks when to call again ([`Receiver::poll_timeout`]).
//!
//! Inside, positions are the 64-bit offsets of [`SeqNumber`]: the peer's SYN has offset 0, its first byte of
//! data 1, its FIN the offset after the last byte. The FIN is reassembled like one more byte.
//!
//! Acknowledgements are built when they are pulled. A driver that pulls late gets one ACK for all in-order
//! segments that came meanwhile, and still one duplicate ACK for each out-of-order segment behind them.

mod burst;
mod deferment;
mod ecn;
mod quick_ack;
mod sack_compression;
mod stats;
mod tuning;
mod window;

pub use stats::ReceiverStats;

use crate::accurate_ecn::reflection;
use crate::challenge::Challenges;
use crate::reassembly::{Insertion, Reassembly};
use crate::{DelayedAck, EcnMode, Flags, ReceiverConfig, Segment, SeqNumber, TransportEvent, with};
use burst::Burst;
use cogtcp_units::{Duration, Time, prefetch};
use deferment::Deferment;
use ecn::{AccurateEcn, agreed_ecn};
use quick_ack::QuickAck;
use sack_compression::SackCompression;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use tuning::Tuning;
pub use tuning::{memory_for_window, share_of_data};
use window::Window;

/// First retransmission timeout of SYN-ACK and FIN (RFC 6298 section 2.1); also the least (section 2.4).
const INITIAL_RTO: Duration = Duration::from_secs(1);
/// Longest timeout (RFC 6298 section 2.5).
const MAX_RTO: Duration = Duration::from_secs(60);
/// Retransmissions of SYN-ACK or FIN before giving up: 1 + 2 + 4 + .. + 60 + 60 s, over the 3 minutes that
/// RFC 9293 section 3.8.3 asks for.
const MAX_RETRANSMISSIONS: u8 = 8;
/// Tick of the receiver's own timestamps (RFC 7323 section 5.4).
const TIMESTAMP_TICK: Duration = Duration::from_millis(1);
/// Age at which the last timestamp no longer proves a segment old (RFC 7323 section 5.5).
const TIMESTAMP_LIFE: Duration = Duration::from_secs(24 * 86_400);

/// State of the connection as its passive side sees it (RFC 9293 section 3.3.2).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ReceiverState {
    /// Waiting for a SYN.
    #[default]
    Listen,
    /// SYN-ACK sent, not yet acknowledged.
    SynReceived,
    /// Data may arrive.
    Established,
    /// The peer's FIN has arrived, the application has not read everything yet.
    CloseWait,
    /// The receiver's own FIN is sent, not yet acknowledged.
    LastAck,
    /// Over.
    Closed,
}

/// Bytes of the segment handled last that had not arrived before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Accepted {
    /// Position in the stream of the first byte; the stream's first byte has position 0.
    pub position: u64,
    /// Where these bytes begin in the segment's payload.
    pub skip: u32,
    /// How many.
    pub len: u32,
}

/// When a Linux receiver acknowledges ([`DelayedAck::Linux`]).
#[derive(Clone, Debug)]
struct LinuxAcks {
    quick: QuickAck,
    compression: SackCompression,
    burst: Burst,
    /// When the application reads, after all that arrives at one instant, where its reading sends an ACK.
    reads_at: Time,
    is_ack_due_when_read: bool,
    /// Less than half of the room for data is left: working out a window ends quick ACKs.
    is_short: bool,
    /// The delayed ACK waits for `timer`, whose tick is not worked out yet; else its time is exact.
    is_on_wheel: bool,
    /// When the timer of delayed ACKs was last set and due. It is not stopped by an ACK that leaves before, and sends then
    /// what compression has put off (`tcp_delack_timer_handler`).
    timer: (Time, Time),
    /// Whether the timer that sends what compression has put off reads the clock. Compression's own does not: the ACK bears
    /// the time of the latest segment (`tcp_compressed_ack_kick`).
    is_clock_read: bool,
    /// The time that the next ACK bears; `Time::MAX`: its own.
    stamp: Time,
    challenges: Challenges,
    /// ACKs as they were before the latest segment. They leave first, and set `control_due`.
    earlier: VecDeque<Segment>,
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
    fn read_soon(&mut self, now: Time) {
        self.reads_at = self.reads_at.min(now + Burst::READ);
    }

    /// A window is worked out, for an ACK or to see whether one is due (`__tcp_select_window`).
    fn work_out_window(&mut self) {
        if self.is_short {
            self.quick.end();
        }
    }
}

/// Which segments [`Receiver::is_expected`] predicts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Prediction {
    /// None.
    None,
    /// On a connection without timestamps, and without what Linux's receiver has.
    Bare,
    /// On any other connection.
    Linux,
}

/// The passive opener: reassembles the stream and acknowledges it.
#[derive(Clone, Debug)]
pub struct Receiver {
    config: Arc<ReceiverConfig>,
    state: ReceiverState,
    /// The peer's initial sequence number.
    irs: SeqNumber,
    reassembly: Reassembly,
    /// Offset of the peer's FIN, once a FIN was accepted; before, `u64::MAX`.
    fin_offset: u64,
    window: Window,
    /// Options in use after the handshake.
    sack: bool,
    ecn: EcnMode,
    accurate: AccurateEcn,
    timestamps: bool,
    /// Custom option to send with the SYN-ACK, and the one the SYN brought.
    syn_ack_option: Option<u32>,
    syn_option: Option<u32>,

    /// TS.Recent and when it was set (RFC 7323 section 4.3).
    ts_recent: u32,
    ts_recent_at: Time,
    /// Acknowledgement offset of the last ACK sent: Last.ACK.sent of RFC 7323 section 4.3.
    last_ack: u64,
    /// Whether the next segment is predicted ([`Self::is_expected`]).
    predicts: Prediction,
    /// Tags, see [`Segment::tag`]: of the segment the next ACK answers (0: none yet), and of the latest
    /// segment.
    answered_tag: u32,
    latest_tag: u32,

    /// ACKs to send now.
    pending: u16,
    /// When the delayed ACK is due.
    delayed_until: Time,
    /// How far apart segments come, for [`DelayedAck::Adaptive`].
    deferment: Option<Box<Deferment>>,
    /// For [`DelayedAck::Linux`], and with [`ReceiverConfig::window_tuning`].
    linux: Option<Box<LinuxAcks>>,
    tuning: Option<Box<Tuning>>,
    /// Largest payload seen: what "full-sized" means (RFC 5681 section 4.2).
    full_size: u32,
    /// A segment was marked (ECN). With ECN negotiated every ACK says so until the sender has reduced its
    /// window (RFC 3168 section 6.1.3); else the next one does.
    marked: bool,
    /// A duplicate to report in the next ACK (RFC 2883), in offsets.
    duplicate: Option<Range<u64>>,

    /// SYN-ACK or FIN is to be (re)transmitted now.
    control_due: bool,
    /// A reset of number `reset` is to be sent now, while no connection is established.
    reset_due: bool,
    reset: SeqNumber,
    /// When SYN-ACK or FIN is retransmitted, after how long, and how often that was done.
    retransmit_at: Time,
    rto: Duration,
    retransmissions: u8,

    accepted: Vec<Accepted>,
    /// None is waiting, as a rule.
    #[expect(clippy::box_collection, reason = "thousands of flows carry a pointer, and not a collection")]
    events: Option<Box<VecDeque<TransportEvent>>>,
    stats: ReceiverStats,
    /// Bytes that the application took from connections before this one.
    taken_before: u64,
}

impl Receiver {
    /// A receiver in LISTEN.
    pub fn new(config: impl Into<Arc<ReceiverConfig>>) -> Self {
        let config = config.into();
        let mss = u64::from(config.handshake.mss);
        let tuning = config.window_tuning.then(|| Tuning::new(config.buffer, mss, config.window_margin));
        let mut window = Window::new(config.buffer, config.handshake.mss);
        if let Some(tuning) = &tuning {
            window.set_tuned(tuning.window(0));
        }
        Self {
            window,
            state: ReceiverState::Listen,
            irs: SeqNumber::default(),
            reassembly: Reassembly::new(1),
            fin_offset: u64::MAX,
            sack: false,
            ecn: EcnMode::Off,
            accurate: AccurateEcn::default(),
            timestamps: false,
            syn_ack_option: None,
            syn_option: None,
            ts_recent: 0,
            ts_recent_at: Time::ZERO,
            // The SYN-ACK acknowledges the SYN, which has offset 0.
            last_ack: 1,
            predicts: Prediction::None,
            answered_tag: 0,
            latest_tag: 0,
            pending: 0,
            delayed_until: Time::MAX,
            deferment: matches!(config.delayed_ack, DelayedAck::Adaptive { .. }).then(Box::default),
            linux: (config.delayed_ack == DelayedAck::Linux).then(Box::default),
            tuning: tuning.map(Box::new),
            full_size: 0,
            marked: false,
            duplicate: None,
            control_due: false,
            reset_due: false,
            reset: SeqNumber::new(0),
            retransmit_at: Time::MAX,
            rto: INITIAL_RTO,
            retransmissions: 0,
            // Few flows ever have two at once; room for four, the usual first step, is much for thousands of
            // flows.
            accepted: Vec::with_capacity(1),
            events: None,
            stats: ReceiverStats::default(),
            taken_before: 0,
            config,
        }
    }

    /// The host forgets the connection and listens for a new one. Its counters go on, what was delivered
    /// among them, and its own sequence numbers, so that nothing of the old connection is taken for the new
    /// one's.
    pub fn renew(&mut self) {
        let config = &*self.config;
        // After the SYN and the FIN.
        let initial_sequence = SeqNumber::from_offset(config.handshake.initial_sequence, 2);
        let config = with!(config.clone(), handshake.initial_sequence = initial_sequence);
        *self = Self { stats: self.stats, taken_before: self.delivered(), ..Self::new(config) };
    }

    /// Asks for the memory that a segment touches: for a driver of many connections that knows which come
    /// next.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(self, size_of::<Self>() / 64 + 1);
    }

    /// Asks for what that memory points to; to be called when it has come.
    #[inline]
    pub fn prefetch_depth(&self) {
        prefetch(self.accepted.as_slice(), 1);
    }

    /// Takes a segment from the peer (RFC 9293 section 3.10.7).
    pub fn handle_segment(&mut self, now: Time, segment: &Segment) {
        self.accepted.clear();
        self.stats.segments += 1;
        // One copy in a web page, where size counts.
        let linux = cfg!(target_family = "wasm") || self.predicts == Prediction::Linux;
        if linux && self.is_expected::<true>(now, segment) {
            return self.take_expected::<true>(now, segment);
        }
        if !linux && self.is_expected::<false>(now, segment) {
            return self.take_expected::<false>(now, segment);
        }
        match self.state {
            ReceiverState::Listen => self.handle_listen(segment),
            // Departure: RFC 9293 section 3.10.7.1 answers with a reset. The peer that still sends has seen
            // the FIN of this side acknowledged or has given up, so that nothing waits for one.
            ReceiverState::Closed => {}
            _ => self.handle_synchronised(now, segment),
        }
    }

    /// To be called when the time of [`Self::poll_timeout`] has come.
    pub fn handle_timeout(&mut self, now: Time) {
        if now >= self.delayed_until && !self.waits_for_tick(now) {
            self.delayed_until = Time::MAX;
            if let Some(linux) = &mut self.linux {
                if !linux.compression.is_waiting() {
                    linux.quick.on_delay_over();
                } else if !linux.is_clock_read {
                    linux.stamp = linux.burst.at();
                }
            }
            self.offer_beside(self.waiting(), false);
            // An ACK that is pending already acknowledges this segment too.
            self.pending = self.pending.max(1);
            self.stats.delayed_ack_timeouts += 1;
        }
        if now >= self.reads_at() {
            self.read_in_turn(now);
        }
        if now >= self.retransmits_at() {
            self.retransmit_at = Time::MAX;
            if self.retransmissions < MAX_RETRANSMISSIONS {
                // RFC 6298 section 5.5.
                self.rto = (self.rto * 2).min(MAX_RTO);
                self.retransmissions += 1;
                self.control_due = true;
            } else if self.state == ReceiverState::SynReceived {
                // RFC 9293 section 3.10.8.
                self.listen_again();
            } else {
                self.close(TransportEvent::Aborted);
            }
        }
    }

    /// The next segment to send, if any. To be called until it returns `None`.
    pub fn poll_transmit(&mut self, now: Time) -> Option<Segment> {
        let mut segment = Segment::default();
        self.poll_transmit_into(now, &mut segment).then_some(segment)
    }

    /// Writes the next segment to send into `segment`; false: there is none. A segment that is returned by
    /// value is copied in larger pieces than it was written in, and the copy waits until all of them are in
    /// the cache.
    #[inline]
    pub fn poll_transmit_into(&mut self, now: Time, segment: &mut Segment) -> bool {
        // One test for both of what is rare.
        if self.reset_due | self.control_due {
            self.transmit_control(now, segment);
            return true;
        }
        if self.pending > 0 {
            self.acknowledge(now, segment);
            return true;
        }
        false
    }

    /// The earlier ACK, reset, SYN-ACK or FIN that is due.
    #[cold]
    fn transmit_control(&mut self, now: Time, segment: &mut Segment) {
        if let Some(linux) = &mut self.linux
            && let Some(earlier) = linux.earlier.pop_front()
        {
            self.control_due = !linux.earlier.is_empty();
            *segment = earlier;
            return;
        }
        if self.reset_due {
            self.reset_due = false;
            *segment = Segment::new(self.reset, SeqNumber::new(0), 0, 0, Flags::RST);
            return;
        }
        self.control_due = false;
        self.retransmit_at = now + self.rto;
        if self.state == ReceiverState::SynReceived {
            *segment = self.send_syn_ack(now);
            return;
        }
        self.acknowledge(now, segment);
        // Also a retransmission, after which this side's next number is 2.
        segment.seq = SeqNumber::from_offset(self.config.handshake.initial_sequence, 1);
        segment.flags = segment.flags | Flags::FIN;
    }

    /// When to call [`Self::handle_timeout`]; [`Time::MAX`]: never.
    pub fn poll_timeout(&self) -> Time {
        self.delayed_until.min(self.reads_at()).min(self.retransmits_at())
    }

    /// When the SYN-ACK or the FIN leaves again.
    #[inline]
    fn retransmits_at(&self) -> Time {
        if self.retransmit_at == Time::MAX || self.linux.is_none() {
            return self.retransmit_at;
        }
        // It was set one timeout before.
        self.config.wheel.fires(self.retransmit_at - self.rto, self.retransmit_at)
    }

    /// Whether the delayed ACK, which is due, waits for a tick of the host's wheel. Only then is the tick worked out.
    fn waits_for_tick(&mut self, now: Time) -> bool {
        let Some(linux) = &mut self.linux else { return false };
        if !std::mem::take(&mut linux.is_on_wheel) {
            return false;
        }
        let (set_at, due) = linux.timer;
        self.delayed_until = self.config.wheel.fires(set_at, due);
        now < self.delayed_until
    }

    /// When the application reads in its turn.
    fn reads_at(&self) -> Time {
        self.linux.as_ref().map_or(Time::MAX, |linux| linux.reads_at)
    }

    /// The next event, oldest first.
    pub fn poll_event(&mut self) -> Option<TransportEvent> {
        let events = self.events.as_mut()?;
        let event = events.pop_front();
        if events.is_empty() {
            self.events = None;
        }
        event
    }

    fn emit(&mut self, event: TransportEvent) {
        self.events.get_or_insert_default().push_back(event);
    }

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

    /// The custom option that the SYN-ACK will carry; `None`: none. Its value answers the SYN's, so that a
    /// driver which computes it does so between [`Self::handle_segment`] of the SYN and
    /// [`Self::poll_transmit`].
    pub fn set_syn_ack_option(&mut self, value: Option<u32>) {
        self.syn_ack_option = value;
    }

    /// The custom option that the peer's SYN carried.
    pub fn syn_option(&self) -> Option<u32> {
        self.syn_option
    }

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

    /// In-order bytes that the application has taken, of all connections together.
    pub fn delivered(&self) -> u64 {
        // Offset 0 is the SYN.
        self.taken_before + self.window.taken() - 1
    }

    /// In-order bytes received, taken or not.
    pub fn in_order(&self) -> u64 {
        self.data_frontier() - 1
    }

    /// In-order bytes that wait for [`Self::read`].
    pub fn readable(&self) -> u64 {
        self.data_frontier() - self.window.taken()
    }

    /// Bytes received beyond the in-order frontier (a FIN there counts as one).
    pub fn queued(&self) -> u64 {
        self.reassembly.queued()
    }

    /// Bytes that the segment handled last brought for the first time, ascending. Runs that begin or end
    /// inside the segment were received before or lay outside the window.
    pub fn accepted(&self) -> &[Accepted] {
        &self.accepted
    }

    /// State of the connection.
    pub fn state(&self) -> ReceiverState {
        self.state
    }

    /// The settings.
    pub fn config(&self) -> &ReceiverConfig {
        &self.config
    }

    /// Counters.
    pub fn stats(&self) -> &ReceiverStats {
        &self.stats
    }

    /// A passive open that came to nothing is back in LISTEN. Counters go on.
    fn listen_again(&mut self) {
        *self = Self {
            events: std::mem::take(&mut self.events),
            stats: self.stats,
            taken_before: self.taken_before,
            syn_ack_option: self.syn_ack_option,
            ..Self::new(Arc::clone(&self.config))
        };
    }

    /// RFC 9293 section 3.10.7.2.
    fn handle_listen(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if segment.flags.contains(Flags::ACK) {
            (self.reset_due, self.reset) = (true, segment.ack);
            return;
        }
        if !segment.flags.contains(Flags::SYN) {
            return;
        }
        self.irs = segment.seq;
        self.sack = self.config.sack && segment.sack_permitted();
        self.ecn = agreed_ecn(self.config.handshake.ecn, segment.flags);
        self.accurate.syn = reflection(segment);
        if let Some(offered) = segment.timestamps().filter(|_| self.config.handshake.timestamps) {
            self.timestamps = true;
            self.ts_recent = offered.value;
        }
        if self.config.handshake.window_scaling && segment.window_scale().is_some() {
            self.window.negotiate_scale(self.tuning.as_ref().map(|tuning| tuning.scale()));
        }
        self.syn_option = segment.custom();
        self.latest_tag = segment.tag;
        self.state = ReceiverState::SynReceived;
        self.control_due = true;
    }

    /// Every state from SYN-RECEIVED on (RFC 9293 section 3.10.7.4).
    fn handle_synchronised(&mut self, now: Time, segment: &Segment) {
        let start = segment.seq.offset_near(self.irs, self.reassembly.frontier());
        self.latest_tag = segment.tag;
        let syn = segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK);
        if self.state == ReceiverState::SynReceived && syn && start == Some(0) {
            // The SYN again: the SYN-ACK was lost or is late, and times no round trip any more (RFC 6298
            // section 3).
            self.retransmissions = self.retransmissions.max(1);
            self.control_due |= self.may_challenge(now);
            // RFC 9768 section 3.1.5: of the latest SYN, in the mode of the first.
            self.accurate.syn = reflection(segment);
            return;
        }
        if !self.timestamp_acceptable(now, segment) {
            return;
        }
        let Some(start) = start.filter(|start| self.acceptable(*start, segment)) else {
            self.refuse(now, start, segment);
            return;
        };
        if segment.flags.contains(Flags::RST) {
            // RFC 9293 section 3.10.7.4 (RFC 5961 section 3.2): only an exact reset counts.
            if start != self.reassembly.frontier() {
                self.challenge(now);
            } else if self.state == ReceiverState::SynReceived {
                // A passive open returns to LISTEN.
                self.listen_again();
            } else {
                self.close(TransportEvent::Aborted);
            }
            return;
        }
        if segment.flags.contains(Flags::SYN) {
            if self.state == ReceiverState::SynReceived {
                // RFC 9293 section 3.10.7.4, fourth: a passive open returns to LISTEN.
                self.listen_again();
            } else {
                // A challenge ACK (RFC 5961 section 4.2).
                self.challenge(now);
            }
            return;
        }
        if !segment.flags.contains(Flags::ACK) || !self.handle_ack(now, segment) {
            return;
        }
        if start <= self.last_ack {
            // RFC 7323 section 4.3, step 2: the timestamp of the earliest segment that the next ACK answers.
            if let Some(stamp) =
                segment.timestamps().filter(|stamp| self.timestamps && !self.is_older(stamp.value))
            {
                self.ts_recent = stamp.value;
                self.ts_recent_at = now;
            }
            if self.answered_tag == 0 && segment.sequence_len() > 0 {
                self.answered_tag = segment.tag;
            }
        }
        self.take_mark(segment);
        if segment.sequence_len() > 0 {
            self.handle_data(now, start, segment);
        }
        if self.ecn == EcnMode::Accurate && self.pending == 0 {
            let unacknowledged = self.reassembly.frontier() > self.last_ack;
            self.pending = u16::from(self.accurate.is_ack_due(unacknowledged));
        }
    }

    /// Header prediction (after Van Jacobson's in 4.3BSD-Reno): whether `segment` is the next in order, while
    /// nothing is missing and no ACK is due. It has no mark, no FIN, and no option but timestamps. The looks at
    /// options, at duplicates and at what lies behind a gap, which [`handle_synchronised`](Self::handle_synchronised)
    /// makes, find nothing then. `LINUX`: the connection has timestamps or what Linux's receiver has.
    #[inline]
    pub(crate) fn is_expected<const LINUX: bool>(&self, now: Time, segment: &Segment) -> bool {
        let timestamps = LINUX && self.timestamps;
        let frontier = self.reassembly.frontier();
        self.predicts != Prediction::None
            && self.state == ReceiverState::Established
            && segment.flags.with(Flags::PSH) == Flags::ACK.with(Flags::PSH)
            && segment.is_plain(timestamps)
            && segment.len > 0
            && segment.seq == SeqNumber::from_offset(self.irs, frontier)
            && segment.ack == SeqNumber::from_offset(self.config.handshake.initial_sequence, 1)
            && frontier + u64::from(segment.len) <= self.window.right_edge()
            && !self.reassembly.has_gap()
            && self.fin_offset == u64::MAX
            && self.pending == 0
            && self.duplicate.is_none()
            && self.window.taken() == frontier
            && (!timestamps || self.is_fresh(now, segment))
    }

    /// Whether PAWS takes the timestamp, and the clock behind TS.Recent cannot have wrapped.
    #[inline]
    fn is_fresh(&self, now: Time, segment: &Segment) -> bool {
        segment.timestamps().is_some_and(|stamp| !self.is_older(stamp.value))
            && now.saturating_since(self.ts_recent_at) < TIMESTAMP_LIFE
    }

    /// Takes the segment that was [expected](Self::is_expected), as `handle_synchronised` would.
    #[inline]
    fn take_expected<const LINUX: bool>(&mut self, now: Time, segment: &Segment) {
        let (start, len) = (self.reassembly.frontier(), u64::from(segment.len));
        self.latest_tag = segment.tag;
        if start <= self.last_ack {
            if LINUX && let Some(stamp) = segment.timestamps().filter(|_| self.timestamps) {
                (self.ts_recent, self.ts_recent_at) = (stamp.value, now);
            }
            if self.answered_tag == 0 {
                self.answered_tag = segment.tag;
            }
        }
        if LINUX {
            self.adapt(now, start, segment);
        }
        self.full_size = self.full_size.max(segment.len);
        self.reassembly.extend(len);
        self.accepted.push(Accepted { position: start - 1, skip: 0, len: segment.len });
        self.stats.bytes += len;
        self.ack_in_order(now, len, LINUX && segment.flags.contains(Flags::PSH));
        self.window.read(len);
        if self.pending == 0 || (LINUX && self.tuning.is_some()) {
            self.after_reading(now);
        }
        if LINUX && let Some(tuning) = &mut self.tuning {
            tuning.on_in_order(now, start + len);
        }
    }

    /// RFC 3168 section 6.1.3: CWR ends the echo, unless its segment is marked itself. Segments outside the
    /// window do not come here (section 6.1.5).
    ///
    /// Departure: where ECN was not negotiated, each mark is echoed all the same, once, as DCTCP's receiver
    /// does (RFC 8257 section 3.2). It is for controls that ask for marks without ECN (ATCP); plain TCP
    /// ignores it.
    fn take_mark(&mut self, segment: &Segment) {
        self.stats.marked_segments += u64::from(segment.is_marked());
        if self.ecn == EcnMode::Accurate {
            self.accurate.take(segment);
            return;
        }
        if self.ecn == EcnMode::Classic && segment.flags.contains(Flags::CWR) {
            self.marked = false;
        }
        self.marked |= segment.is_marked();
    }

    /// PAWS and the presence of the option (RFC 7323 sections 3.2 and 5.3).
    fn timestamp_acceptable(&mut self, now: Time, segment: &Segment) -> bool {
        if !self.timestamps || segment.flags.contains(Flags::RST) {
            return true;
        }
        let Some(stamp) = segment.timestamps() else {
            self.stats.unacceptable += 1;
            return false;
        };
        // RFC 7323 section 5.5: after 24 idle days the clock may have wrapped, and TS.Recent proves nothing.
        let proven = now.saturating_since(self.ts_recent_at) < TIMESTAMP_LIFE;
        if !(self.config.paws && proven && self.is_older(stamp.value)) {
            if !proven {
                self.ts_recent = stamp.value;
            }
            return true;
        }
        self.stats.paws_rejected += 1;
        self.pending += 1;
        false
    }

    fn is_older(&self, stamp: u32) -> bool {
        (stamp.wrapping_sub(self.ts_recent) as i32) < 0
    }

    /// RFC 9293 section 3.10.7.4, first: whether any of the segment lies in the window.
    ///
    /// Departures, both Linux's too. An empty segment may lie at the very edge of the window, where a sender
    /// that has filled the window stands. A FIN takes no room, so it is accepted with the window closed.
    fn acceptable(&self, start: u64, segment: &Segment) -> bool {
        let (left, right) = (self.reassembly.frontier(), self.window.right_edge());
        let end = start + u64::from(segment.sequence_len());
        if segment.len == 0 {
            return start >= left && start <= right;
        }
        start < right && end > left
    }

    /// A segment outside the window is dropped and answered by an ACK, so that the peer learns the receiver's
    /// state. Window probes are answered in this way, too (RFC 9293 sections 3.8.6.1 and 3.10.7.4).
    fn refuse(&mut self, now: Time, start: Option<u64>, segment: &Segment) {
        self.stats.unacceptable += 1;
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if segment.flags.contains(Flags::SYN) || segment.sequence_len() == 0 {
            self.challenge(now);
            return;
        }
        let start = start.unwrap_or(0).max(1);
        self.take_stamp_of_duplicate(now, start, segment);
        // The number of a FIN is reported like a byte's, as in Linux.
        let end = start + u64::from(segment.sequence_len());
        if let Some(linux) = &mut self.linux {
            // Before the last ACK, or behind the window (`tcp_sequence`): no ACK is due but the answer.
            let is_far = end < self.last_ack || start > self.window.right_edge();
            linux.quick.enter(is_far && self.pending == 0 && self.delayed_until == Time::MAX);
        }
        if end > start && end <= self.reassembly.frontier() {
            self.stats.duplicate_segments += u64::from(segment.len > 0);
            self.stats.duplicate_bytes += u64::from(segment.len);
            self.duplicate = Some(start..end);
            if self.answered_tag == 0 {
                self.answered_tag = segment.tag;
            }
        }
        self.pending += 1;
    }

    /// Linux takes the timestamp of a duplicate too that reaches the last ACK (`tcp_sequence`, `tcp_replace_ts_recent`).
    fn take_stamp_of_duplicate(&mut self, now: Time, start: u64, segment: &Segment) {
        let reaches = start + u64::from(segment.sequence_len()) >= self.last_ack && start <= self.last_ack;
        if let Some(stamp) = segment.timestamps()
            && reaches
            && self.linux.is_some()
            && self.timestamps
            && !self.is_older(stamp.value)
        {
            (self.ts_recent, self.ts_recent_at) = (stamp.value, now);
        }
    }

    /// Answers a segment that brings nothing; Linux not too often.
    fn challenge(&mut self, now: Time) {
        self.pending += u16::from(self.may_challenge(now));
    }

    fn may_challenge(&mut self, now: Time) -> bool {
        let interval = self.config.challenge_interval;
        self.linux.as_mut().is_none_or(|linux| linux.challenges.allow(now, interval))
    }

    /// The acknowledgement field (RFC 9293 section 3.10.7.4, fifth). False: the segment is to be dropped.
    fn handle_ack(&mut self, now: Time, segment: &Segment) -> bool {
        let sent = match self.state {
            // The SYN; from LAST-ACK on the FIN too.
            ReceiverState::SynReceived | ReceiverState::Established | ReceiverState::CloseWait => 1,
            _ => 2,
        };
        let acked = segment.ack.offset_near(self.config.handshake.initial_sequence, 1);
        match acked {
            // RFC 9293 section 3.10.7.4, fifth: anything but an ACK of the SYN is answered by a reset.
            acked if self.state == ReceiverState::SynReceived && acked != Some(1) => {
                (self.reset_due, self.reset) = (true, segment.ack);
                return false;
            }
            Some(acked) if acked > sent => {
                // It acknowledges what was never sent.
                self.pending += 1;
                return false;
            }
            None | Some(0) => {
                // Below the SYN, which was acknowledged: a challenge ACK (RFC 5961 section 5.2).
                self.challenge(now);
                return false;
            }
            Some(1) if self.state == ReceiverState::SynReceived => {
                // Karn's algorithm (RFC 6298 section 3): a SYN-ACK that was sent twice times no round trip.
                if self.retransmissions == 0 {
                    // RFC 6298 section 2.2: SRTT + 4 RTTVAR is three times the first sample.
                    // The SYN-ACK left one timeout before it would leave again.
                    let rtt = (now + self.rto).saturating_since(self.retransmit_at);
                    self.rto = (rtt * 3).clamp(INITIAL_RTO, MAX_RTO);
                    self.take_rtt(rtt);
                } else if let Some(stamps) = segment.timestamps().filter(|_| self.timestamps) {
                    // Linux's kernel takes the echo then (`tcp_ack_update_rtt`).
                    let ticks = timestamp(now).wrapping_sub(stamps.echo).max(1);
                    self.take_rtt(TIMESTAMP_TICK * u64::from(ticks));
                }
                if let Some(tuning) = &mut self.tuning {
                    let taken = self.window.taken();
                    tuning.on_read(now, taken, taken);
                }
                self.stop_retransmitting();
                self.state = ReceiverState::Established;
                let linux = self.timestamps || self.linux.is_some() || self.tuning.is_some();
                self.predicts =
                    if self.ecn == EcnMode::Accurate || self.config.manual_read || self.deferment.is_some() {
                        Prediction::None
                    } else if linux {
                        Prediction::Linux
                    } else {
                        Prediction::Bare
                    };
                self.emit(TransportEvent::Connected);
            }
            Some(2) if self.state == ReceiverState::LastAck => {
                self.close(TransportEvent::Closed);
                return false;
            }
            _ => {}
        }
        true
    }

    /// Payload and FIN of an acceptable segment (RFC 9293 section 3.10.7.4, seventh and eighth).
    fn handle_data(&mut self, now: Time, start: u64, segment: &Segment) {
        if start > self.fin_offset {
            // Nothing follows a FIN: ignored without an answer, as in Linux.
            self.stats.out_of_window_bytes += u64::from(segment.len);
            return;
        }
        let data_end = start + u64::from(segment.len);
        let right = self.window.right_edge();
        let before = self.reassembly.frontier();
        let queued = self.reassembly.queued();
        // The part before the window is a duplicate, the part behind it is dropped. Nothing follows a FIN.
        let end = data_end.min(right).min(self.fin_offset);
        let (mut insertion, mut is_acknowledged) = (Insertion::default(), false);
        if let Some(deferment) = self.deferment.as_deref_mut().filter(|_| segment.len > 0) {
            deferment.on_segment(now);
        }
        if segment.len > 0 {
            self.adapt(now, start, segment);
        }
        if segment.len > 0 && start < end {
            self.full_size = self.full_size.max(segment.len);
            is_acknowledged = start > before && self.send_put_off(now, start..end);
            let accepted = &mut self.accepted;
            insertion = self.reassembly.insert(start..end, |run| {
                let (skip, len) = ((run.start - start) as u32, (run.end - run.start) as u32);
                accepted.push(Accepted { position: run.start - 1, skip, len });
            });
            self.stats.bytes += insertion.new_bytes;
            self.stats.duplicate_bytes += (end - start) - insertion.new_bytes;
            self.stats.duplicate_segments += u64::from(insertion.new_bytes == 0);
            self.stats.out_of_order_segments += u64::from(start > before);
            if start > before {
                self.adapt_behind_gap(u64::from(segment.len), queued, insertion.new_bytes);
            }
        }
        self.stats.out_of_window_bytes += data_end - end.clamp(start, data_end);
        let truncated = end < data_end;
        let mut fin = false;
        if segment.flags.contains(Flags::FIN)
            && data_end <= right
            && (self.fin_offset == u64::MAX || self.fin_offset == data_end)
        {
            fin = true;
            self.fin_offset = data_end;
            let last = self.reassembly.insert(data_end..data_end + 1, |_| {});
            insertion.gap |= last.gap;
            insertion.duplicate = insertion.duplicate.or(last.duplicate);
        }
        if insertion.duplicate.is_some() {
            self.duplicate.clone_from(&insertion.duplicate);
        }

        let advanced = self.reassembly.frontier() - before;
        if insertion.gap || insertion.duplicate.is_some() || fin || truncated {
            // RFC 5681 section 4.2: at once when out of order, and when a gap is filled.
            if fin && self.ends_in_order(&insertion, truncated) {
                self.ack_the_end(now, advanced);
            } else if fin || truncated || !(is_acknowledged || self.puts_off(now)) {
                self.ack_now(advanced);
            }
        } else {
            let pushed = segment.flags.contains(Flags::PSH) && !self.config.manual_read;
            self.ack_in_order(now, advanced, pushed);
        }
        if advanced > 0 {
            self.deliver(now);
            if let Some(tuning) = self.tuning.as_mut().filter(|_| !self.config.manual_read) {
                tuning.on_in_order(now, before + advanced.min(data_end.saturating_sub(before)));
            }
        }
    }

    /// Whether a FIN is the next in order.
    fn ends_in_order(&self, insertion: &Insertion, truncated: bool) -> bool {
        self.state == ReceiverState::Established
            && !(insertion.gap || insertion.duplicate.is_some() || truncated)
            && self.fin_in_order()
    }

    /// RFC 9293 section 3.10.7.4, eighth: a FIN in order is acknowledged, at once.
    ///
    /// Linux puts the ACK off (`tcp_fin`: interactive mode, without quick ACKs), so that it may go with data
    /// or the FIN of this side. Its delay is 0 before the first data.
    fn ack_the_end(&mut self, now: Time, advanced: u64) {
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

    /// Linux: the ACK of a segment behind a gap may wait ([`SackCompression`]).
    fn puts_off(&mut self, now: Time) -> bool {
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
    fn send_put_off(&mut self, now: Time, data: Range<u64>) -> bool {
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

    /// RFC 5681 section 4.2: an in-order segment, by the setting for delayed ACKs.
    fn ack_in_order(&mut self, now: Time, advanced: u64, pushed: bool) {
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

    fn linux_delay(&self) -> Duration {
        self.linux.as_ref().map_or(Duration::ZERO, |linux| linux.quick.delay())
    }

    /// Delays the next ACK until the host's wheel fires its timer.
    fn delay_on_wheel(&mut self, now: Time, delay: Duration) {
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
    fn adapt(&mut self, now: Time, start: u64, segment: &Segment) {
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

    /// What it learns for the window.
    fn tune(&mut self, now: Time, start: u64, segment: &Segment) {
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

    /// A segment of `len` bytes came behind a gap. Of it `new` bytes are new; `queued` bytes waited there before.
    fn adapt_behind_gap(&mut self, len: u64, queued: u64, new: u64) {
        let unread = self.unread();
        let Some(tuning) = &mut self.tuning else { return };
        // Without SACK the window stays behind a gap, so that ACKs remain duplicates.
        let grows = self.sack && new > 0 && tuning.grow(len, queued + unread);
        tuning.on_gap(self.reassembly.span());
        self.offer_beside(self.reassembly.queued() + unread, grows);
    }

    /// Works out what may be offered while `held` bytes wait. `grows`: the window grew with this segment.
    fn offer_beside(&mut self, held: u64, grows: bool) {
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

    /// The handshake gave a round-trip time.
    fn take_rtt(&mut self, rtt: Duration) {
        if let Some(linux) = &mut self.linux {
            linux.quick.set_rtt(rtt);
            linux.compression.set_rtt(rtt);
        }
    }

    /// Linux: the application reads once the burst was handled (`tcp_cleanup_rbuf`).
    fn read_in_turn(&mut self, now: Time) {
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

    /// Whether an ACK would offer as much as the last one did (`__tcp_ack_snd_check`): what the application has
    /// not read of this instant's segments takes of it.
    fn advances(&self) -> bool {
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

    /// Whether the application reads as Linux lets it: after all that arrives at one instant.
    fn reads_in_turn(&self) -> bool {
        self.linux.is_some() && !self.config.manual_read
    }

    /// What may be offered with nothing left to read, if the buffer is tuned.
    fn room(&self) -> Option<u64> {
        self.tuning.as_ref().map(|tuning| tuning.window(self.waiting()))
    }

    /// Bytes that wait for the application, or behind a gap.
    fn waiting(&self) -> u64 {
        self.readable() + self.reassembly.queued()
    }

    /// Whether an update of the window is due once the application has read what is in order.
    fn reading_opens_window(&self) -> bool {
        self.window.update_due(self.reassembly.frontier(), self.room())
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
    fn ack_now(&mut self, advanced: u64) {
        self.pending = if advanced > 0 { 1 } else { self.pending + 1 };
    }

    /// The frontier moved: the application reads, the end of the stream is noticed.
    fn deliver(&mut self, now: Time) {
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
    fn after_reading(&mut self, now: Time) {
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

    /// Writes the ACK into `ack` and counts it as sent.
    fn acknowledge(&mut self, now: Time, ack: &mut Segment) {
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
        // What is read after an ACK may open the window by far.
        let updates =
            self.reads_in_turn() && self.state == ReceiverState::Established && self.reading_opens_window();
        self.last_ack = frontier;
        self.answered_tag = 0;
        self.duplicate = None;
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

    /// RFC 9293 section 3.10.7.2: SYN, ACK and the options offered by the peer and allowed here.
    fn send_syn_ack(&mut self, now: Time) -> Segment {
        let mut segment = Segment::new(
            self.config.handshake.initial_sequence,
            SeqNumber::from_offset(self.irs, 1),
            0,
            // RFC 7323 section 2.2: the window of a segment with SYN is not scaled.
            self.window.advertise_unscaled(),
            Flags::SYN | Flags::ACK,
        );
        // The option has 16 bits (RFC 9293 section 3.2).
        segment.set_mss(self.config.handshake.mss.min(u32::from(u16::MAX)) as u16);
        match self.ecn {
            // RFC 3168 section 6.1.1: an ECN-setup SYN-ACK has ECE alone.
            EcnMode::Classic => segment.flags = segment.flags | Flags::ECE,
            // RFC 9768 section 3.2.3.2.2: the second retransmission agrees to nothing.
            EcnMode::Accurate if self.retransmissions < 2 => {
                segment.flags = segment.flags | Flags::of_ace(self.accurate.syn);
            }
            EcnMode::Accurate | EcnMode::Off => {}
        }
        if self.sack {
            segment.set_sack_permitted();
        }
        if let Some(shift) = self.window.scale() {
            segment.set_window_scale(shift);
        }
        if self.timestamps {
            segment.set_timestamps(timestamp(now), self.ts_recent);
        }
        if let Some(value) = self.syn_ack_option {
            segment.set_custom(value);
        }
        segment.tag = self.latest_tag;
        segment
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

    fn stop_retransmitting(&mut self) {
        self.control_due = false;
        self.retransmit_at = Time::MAX;
        self.retransmissions = 0;
    }

    fn close(&mut self, event: TransportEvent) {
        self.stop_retransmitting();
        self.pending = 0;
        self.delayed_until = Time::MAX;
        if let Some(linux) = &mut self.linux {
            linux.reads_at = Time::MAX;
        }
        self.state = ReceiverState::Closed;
        self.emit(event);
    }

    /// The in-order frontier without the FIN.
    fn data_frontier(&self) -> u64 {
        self.reassembly.frontier() - u64::from(self.fin_in_order())
    }

    fn fin_in_order(&self) -> bool {
        self.fin_offset < self.reassembly.frontier()
    }
}

/// The receiver's own timestamp clock.
fn timestamp(now: Time) -> u32 {
    (now.as_nanos() / TIMESTAMP_TICK.as_nanos()) as u32
}
