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
//!
//! One module per concern. Module [`handshake`] opens and closes, [`arrival`] checks arriving segments and takes their data,
//! [`expected`] predicts them. Module [`acks`] decides when an ACK is due, and writes it; [`linux`] does what Linux's
//! receiver does besides. Module [`reading`] lets the application read.

mod acks;
mod arrival;
mod burst;
mod deferment;
mod ecn;
mod expected;
mod handshake;
mod linux;
mod quick_ack;
mod reading;
mod sack_compression;
mod stats;
mod tuning;
mod window;

pub use stats::ReceiverStats;

use crate::reassembly::Reassembly;
use crate::{DelayedAck, EcnMode, ReceiverConfig, Segment, SeqNumber, TransportEvent, with};
use cogtcp_units::{Duration, Time, prefetch};
use deferment::Deferment;
use ecn::AccurateEcn;
use expected::Prediction;
use linux::LinuxAcks;
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

    /// When to call [`Self::handle_timeout`]; [`Time::MAX`]: never.
    pub fn poll_timeout(&self) -> Time {
        self.delayed_until.min(self.reads_at()).min(self.retransmits_at())
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
