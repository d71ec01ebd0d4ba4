//! The sending end of a connection: active opener and owner of the data.
//!
//! One module per concern. Module [`handshake`] opens and closes, [`arrival`] checks arriving segments, [`ecn`] responds to marks, [`input`] takes
//! ACKs. Module [`recovery`] decides what an ACK means for losses, [`output`] chooses the next segment,
//! [`outstanding`] counts segments in the network. Module [`rack`] finds losses by time and has the tail loss
//! probe, [`timers`] serves the retransmission and persist timers. Module [`undo`] undoes needless responses
//! to losses, [`usage`] says whether cwnd limits.

mod arrival;
mod ecn;
mod expected;
mod handshake;
mod input;
mod output;
mod outstanding;
mod rack;
mod rare;
mod recovery;
mod timers;
mod undo;
mod usage;

use crate::LinkEvent;
use crate::congestion::{CaState, CongestionControl, TcpState};
use crate::frto::Frto;
use crate::offload::Offload;
use crate::pacing::Pacer;
use crate::rack::Rack;
use crate::rate_sample::RateEstimator;
use crate::rtt::RttEstimator;
use crate::scoreboard::Scoreboard;
use crate::send_buffer::SendBuffer;
use crate::{Recovery, Segment, SenderConfig, SeqNumber, TransportEvent, with};
use cogtcp_units::{Duration, Rate, Time, prefetch};
use ecn::EcnState;
use handshake::Connection;
pub use outstanding::Outstanding;
use rare::Rare;
use std::collections::VecDeque;
use std::sync::Arc;
use timers::Timer;
use usage::Usage;

/// Events kept for a driver that does not take them.
const MAX_EVENTS: usize = 1024;

/// What a sender counted since its start.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct SenderStats {
    /// Segments with data or FIN sent, retransmissions and probes included.
    pub segments_sent: u64,
    /// Payload bytes sent, retransmissions and probes included.
    pub bytes_sent: u64,
    /// Segments retransmitted.
    pub segments_retransmitted: u64,
    /// Payload bytes retransmitted.
    pub bytes_retransmitted: u64,
    /// Payload bytes acknowledged cumulatively.
    pub bytes_acked: u64,
    /// ACKs received.
    pub acks_received: u64,
    /// Duplicate ACKs received (RFC 5681 section 2; with SACK, RFC 6675 section 2).
    pub duplicate_acks: u64,
    /// Expirations of the retransmission timer after the handshake.
    pub timeouts: u64,
    /// Timeouts that were spurious: an earlier transmission of the segment was on its way and its ACK came.
    /// Exact where the receiver returns [`Segment::tag`]; by timestamps (RFC 3522) elsewhere.
    pub spurious_timeouts: u64,
    /// Timeouts that F-RTO, timestamps or D-SACKs found spurious and that were undone.
    pub undone_timeouts: u64,
    /// Fast recoveries that timestamps or D-SACKs found needless and that were undone.
    pub undone_recoveries: u64,
    /// Loss events found by duplicate ACKs or SACK.
    pub fast_retransmits: u64,
    /// Reductions of the window for marks that the peer echoed (RFC 3168 section 6.1.2).
    pub ecn_reductions: u64,
    /// D-SACK reports received (RFC 2883).
    pub d_sacks: u64,
    /// Window probes sent.
    pub window_probes: u64,
    /// SYNs retransmitted.
    pub syn_retransmits: u64,
}

/// The sending end. See the crate's documentation for the four verbs.
#[derive(Debug)]
#[repr(C)]
pub struct Sender {
    // What every ACK and every transmission reads or writes.
    config: Arc<SenderConfig>,
    control: Box<dyn CongestionControl>,
    board: Scoreboard,
    tcp: TcpState,
    rate: RateEstimator,
    rtt: RttEstimator,
    /// When the timer is due, and when it was set on the host's wheel, whose next tick fires it; `Time::MAX`: the
    /// timer fires when it is due.
    deadline: Time,
    armed_at: Time,
    /// When the retransmission timer expires, while one of RACK-TLP's may run in its place.
    rto_at: Time,
    /// Set while a segment waits for the pacer alone.
    paced_until: Time,
    pacer: Pacer,
    offload: Offload,
    /// Offset after the last byte the peer's window allows.
    window_end: u64,
    max_peer_window: u64,
    wl2: u64,
    /// Offset after what the application has written.
    data_end: u64,
    last_data_at: Time,
    /// When the connection last made progress, for the user timeout.
    progress_at: Time,
    usage: Usage,
    /// RFC 6582's recover + 1, RFC 6675's RecoveryPoint: `snd_nxt` at the last loss event.
    recovery_point: u64,
    /// RFC 5681's inflation of cwnd by duplicate ACKs; may be negative by NewReno's deflation.
    inflation: i64,
    /// Bytes reported as delivered by duplicate ACKs and not yet acknowledged cumulatively.
    reported: u64,
    /// Next offset expected of the peer, which sends a SYN and a FIN and no data.
    peer_nxt: u64,
    /// Bytes sent by limited transmit since the first duplicate ACK.
    limited: u64,
    /// SND.WL1 and SND.WL2 (RFC 9293 section 3.10.7.4).
    wl1: SeqNumber,
    tag: u32,
    peer_isn: SeqNumber,
    /// Timestamp to echo (RFC 7323 section 4.3).
    ts_recent: u32,
    dup_acks: u32,
    /// Timeouts since the last new acknowledgement.
    rto_count: u32,
    /// The window field of the last ACK, to tell a duplicate from a window update (RFC 5681 section 2).
    last_window: u16,
    connection: Connection,
    timer: Timer,
    sack_ok: bool,
    timestamps_ok: bool,
    peer_scale: u8,
    saturated: bool,
    fin_queued: bool,
    fin_sent: bool,
    finished: bool,
    ack_pending: bool,
    /// The oldest segment is to be retransmitted at once, whatever the window.
    retransmit_front: bool,
    front_by_timer: bool,
    after_rto: bool,
    frto: Frto,
    // Flags of the handshake and of probes. They cost nothing here: they fill padding.
    peer_fin: bool,
    syn_pending: bool,
    /// The persist timer runs because the peer is unreachable, not because its window is closed.
    unreachable: bool,
    probe_due: bool,
    /// An ACK came, or data, since the application was last asked to write into the send buffer.
    may_write: bool,
    /// The application writes into a send buffer.
    has_buffer: bool,
    /// The control counts an ACK before the ACK ends or begins a recovery.
    counts_acks_first: bool,

    // What they look at, to find nothing in it as a rule; of the counters the first are theirs.
    ecn: EcnState,
    events: VecDeque<TransportEvent>,
    /// Rarely used state, allocated on demand.
    rare: Option<Box<Rare>>,
    /// Where RACK is in use, from the handshake on.
    rack: Option<Box<Rack>>,
    stats: SenderStats,

    // What belongs to the handshake and to losses.
    syn_count: u32,
    partial_acks: u32,
    syn_sent_at: Time,
}

impl Sender {
    /// A sender at rest: [`Sender::open`] starts it.
    pub fn new(config: impl Into<Arc<SenderConfig>>, control: Box<dyn CongestionControl>) -> Self {
        let config = config.into();
        let has_buffer = config.segmentation_offload;
        let pacer = Pacer::new(has_buffer);
        let is_linux = config.timers.timeout_rules == crate::TimeoutRules::Linux;
        let rate = RateEstimator::new(control.uses_delivery_rate(), is_linux);
        let counts_acks_first = control.counts_acks_first();
        let mss = u64::from(config.handshake.mss.max(1));
        let rtt = RttEstimator::new(&config.timers);
        let initial_window = config.initial_window.bytes(mss);
        let mut tcp = TcpState {
            ssthresh: config.initial_ssthresh,
            rto: rtt.base(),
            peer_window: 0,
            max_window: config.max_window.unwrap_or(u64::MAX),
            ..TcpState::new(mss, initial_window)
        };
        let tick = config.timers.timer_tick.as_nanos().div_ceil(1_000_000);
        if tick > 0 {
            tcp.tick_ms = tick.min(u64::from(u16::MAX)) as u16;
        }
        Self {
            config,
            control,
            tcp,
            stats: SenderStats::default(),
            // As in the receiver: rarely more than one at once.
            events: VecDeque::with_capacity(1),
            connection: Connection::Idle,
            peer_isn: SeqNumber::new(0),
            peer_nxt: 0,
            peer_fin: false,
            sack_ok: false,
            ecn: EcnState::default(),
            timestamps_ok: false,
            peer_scale: 0,
            ts_recent: 0,
            syn_pending: false,
            syn_count: 0,
            syn_sent_at: Time::ZERO,
            ack_pending: false,
            tag: 0,
            // Offset 0 is the SYN: data begins at 1.
            data_end: 1,
            saturated: false,
            fin_queued: false,
            fin_sent: false,
            finished: false,
            window_end: 1,
            max_peer_window: 0,
            last_window: 0,
            wl1: SeqNumber::new(0),
            wl2: 0,
            board: Scoreboard::new(mss),
            rtt,
            rate,
            pacer,
            offload: Offload::default(),
            paced_until: Time::MAX,
            last_data_at: Time::ZERO,
            progress_at: Time::ZERO,
            rare: None,
            unreachable: false,
            usage: Usage::default(),
            dup_acks: 0,
            inflation: 0,
            recovery_point: 0,
            retransmit_front: false,
            front_by_timer: false,
            partial_acks: 0,
            after_rto: false,
            limited: 0,
            reported: 0,
            frto: Frto::Idle,
            rack: None,
            rto_count: 0,
            timer: Timer::Off,
            deadline: Time::MAX,
            armed_at: Time::MAX,
            rto_at: Time::MAX,
            probe_due: false,
            may_write: false,
            has_buffer,
            counts_acks_first,
        }
    }

    /// The host forgets the connection and rests before a new one, under `control`. Counters continue.
    /// Sequence numbers start after the old connection's, so that no old segment is taken for a new one (RFC
    /// 9293 section 3.4.1).
    pub fn renew(&mut self, control: Box<dyn CongestionControl>) {
        let config = &*self.config;
        // After the SYN, the data and the FIN.
        let used = self.board.nxt().max(self.data_end) + 1;
        let initial_sequence = SeqNumber::from_offset(config.handshake.initial_sequence, used);
        let config = with!(config.clone(), handshake.initial_sequence = initial_sequence);
        *self = Self {
            stats: self.stats,
            tag: self.tag,
            has_buffer: self.has_buffer,
            ..Self::new(config, control)
        };
    }

    /// The application has `bytes` more to send.
    pub fn write(&mut self, bytes: u64) {
        debug_assert!(!self.fin_queued, "no data after close");
        if !self.fin_queued {
            self.data_end += bytes;
        }
        self.may_write = self.has_buffer;
    }

    /// The owner gives a segment at a time, as it may leave: what waits is in no buffer of the socket.
    pub fn set_fed(&mut self) {
        self.has_buffer = false;
    }

    /// The application takes back up to `bytes` of what it wrote last and was not sent. For an owner of
    /// several senders that offers each segment to one of them, and to the next where that one may not send
    /// now.
    pub fn take_back(&mut self, bytes: u64) {
        // What was sent stays. Before the handshake SND.NXT is 0, and data begins at 1.
        self.data_end = self.data_end.saturating_sub(bytes).max(self.board.nxt()).max(1);
    }

    /// Whether there is always data to send.
    pub fn set_saturated(&mut self, on: bool) {
        if self.saturated && !on {
            // A saturated sender sends beyond `data_end`: what was sent counts as written, and a socket sends
            // what it has taken.
            let taken = self.buffer().map_or(1, |buffer| buffer.written());
            self.data_end = self.data_end.max(self.board.nxt()).max(taken);
        }
        self.saturated = on && !self.fin_queued;
        self.may_write = self.has_buffer;
    }

    /// No more data: a FIN follows what was written, or, of a saturated sender, what was sent. Before the
    /// connection is established a close without data deletes it (RFC 9293 section 3.10.4: SYN-SENT).
    /// Departure: data that was written goes first, as an application here need not wait for the connection
    /// before it writes.
    pub fn close(&mut self) {
        self.set_saturated(false);
        if self.connection == Connection::SynSent && self.data_end <= 1 {
            self.leave_syn_sent();
            return;
        }
        self.fin_queued = true;
    }

    /// When [`Sender::handle_timeout`] or, of a paced sender, [`Sender::poll_transmit`] is due;
    /// [`Time::MAX`]: never. The time may move with every call that changes the sender; moving it costs
    /// nothing here.
    #[inline]
    pub fn poll_timeout(&self) -> Time {
        // No timer fires before it is due.
        if self.paced_until <= self.deadline {
            self.paced_until
        } else {
            self.fires_at().min(self.paced_until)
        }
    }

    /// A time not after [`Sender::poll_timeout`], at less cost.
    #[inline]
    pub fn earliest_timeout(&self) -> Time {
        self.deadline.min(self.paced_until)
    }

    /// The oldest event not yet taken.
    #[inline]
    pub fn poll_event(&mut self) -> Option<TransportEvent> {
        self.events.pop_front()
    }

    /// Asks for the memory that an ACK touches: for a driver of many connections that knows which come next.
    #[inline]
    pub fn prefetch(&self) {
        // Up to the counters of what is sent and acknowledged.
        prefetch(self, (std::mem::offset_of!(Self, stats) + 48).div_ceil(64));
    }

    /// Asks for what that memory points to; to be called when it has come.
    #[inline]
    pub fn prefetch_depth(&self) {
        prefetch(self.control.as_ref(), 2);
        self.board.prefetch();
    }

    /// The radio below reports. Returns whether the control hears such reports: no other sends because of one.
    pub fn handle_link_event(&mut self, now: Time, event: LinkEvent) -> bool {
        self.sync();
        let heard =
            self.control.extension().map(|extension| extension.on_link_event(now, &mut self.tcp, event));
        self.clamp();
        heard.is_some()
    }

    /// ICMP destination unreachable arrived, which quotes the segment that begins with `seq`. It counts only
    /// if that segment is outstanding (RFC 5927 section 4.1), and does something only if the congestion
    /// control wants it to.
    pub fn handle_unreachable(&mut self, now: Time, seq: SeqNumber) {
        let quoted = seq.offset_near(self.config.handshake.initial_sequence, self.board.una());
        let outstanding = quoted.is_some_and(|at| self.board.una() <= at && at < self.board.nxt());
        if !self.is_established() || !outstanding || self.timer == Timer::Persist {
            return;
        }
        self.sync();
        if let Some(extension) = self.control.extension()
            && extension.on_unreachable(now, &mut self.tcp)
        {
            self.unreachable = true;
            self.start_persist(now);
        }
        self.clamp();
    }

    /// The connection as its congestion control sees it.
    pub fn state(&self) -> &TcpState {
        &self.tcp
    }

    /// What was counted.
    pub fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// What the application has written, where a socket of Linux keeps it.
    #[inline]
    fn buffer(&self) -> Option<&SendBuffer> {
        self.rare.as_ref()?.buffer.as_deref()
    }

    /// The settings.
    pub fn config(&self) -> &SenderConfig {
        &self.config
    }

    /// The congestion control.
    pub fn control(&self) -> &dyn CongestionControl {
        self.control.as_ref()
    }

    /// Loss recovery in use: the configured one, or NewReno where SACK was not negotiated.
    pub fn recovery(&self) -> Recovery {
        match self.config.recovery.algorithm {
            Recovery::Sack if !self.sack_ok => Recovery::NewReno,
            recovery => recovery,
        }
    }

    /// The retransmission timeout now, with backoff.
    pub fn rto(&self) -> Duration {
        self.rtt.rto(&self.config.timers)
    }

    /// Whether all data and the FIN are acknowledged.
    pub fn is_finished(&self) -> bool {
        self.finished
    }

    /// Whether the handshake is complete and the connection is not over.
    pub fn is_established(&self) -> bool {
        self.connection == Connection::Established
    }

    /// Whether the connection is over: closed on both sides, or given up.
    pub fn is_closed(&self) -> bool {
        self.connection == Connection::Closed
    }

    /// Whether there is data, or a FIN, that was never sent.
    pub fn has_unsent(&self) -> bool {
        self.has_data() || (self.fin_queued && !self.fin_sent)
    }

    /// Whether the pacer is what [`Sender::poll_timeout`] waits for.
    pub fn awaits_pacer(&self) -> bool {
        self.paced_until < self.deadline || self.paced_until < self.fires_at()
    }

    /// Whether the persist timer runs: the peer's window is what the sender waits for.
    pub fn awaits_window(&self) -> bool {
        self.timer == Timer::Persist
    }

    /// Whether the peer's window, or the cap on the window, lets less go than the congestion window does.
    #[inline]
    pub fn is_window_limited_by_peer(&self) -> bool {
        let tcp = &self.tcp;
        tcp.peer_window.min(tcp.max_window) < tcp.cwnd.saturating_add(tcp.mss)
    }

    fn inflated_cwnd(&self) -> u64 {
        // NewReno's deflation may exceed cwnd; a segment must still fit.
        self.tcp.cwnd.saturating_add_signed(self.inflation).max(self.tcp.mss)
    }

    /// The rate at which segments leave: the control's, or a resume's.
    fn pacing_rate(&self) -> Option<Rate> {
        self.tcp.pacing_rate.or_else(|| self.rare.as_ref()?.resume.map(|(rate, _)| rate))
    }

    fn emit(&mut self, event: TransportEvent) {
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    /// Brings what a control sees up to date.
    #[inline]
    fn sync(&mut self) {
        let tcp = &mut self.tcp;
        tcp.snd_una = self.board.una();
        tcp.snd_nxt = self.board.nxt();
        tcp.in_flight = self.board.in_flight();
        tcp.flight_size = self.board.flight_size();
        tcp.delivered = self.rate.delivered;
        tcp.delivered_at = self.rate.delivered_at;
        tcp.lost = self.rate.lost;
        tcp.app_limited = self.rate.is_app_limited();
        tcp.next_departure = self.pacer.departure();
    }

    /// Keeps what a control set within bounds.
    #[inline]
    fn clamp(&mut self) {
        // With less than one segment no new data could leave.
        self.tcp.cwnd = self.tcp.cwnd.max(self.tcp.mss);
    }

    fn set_ca_state(&mut self, now: Time, state: CaState) {
        if self.tcp.ca_state != state {
            self.enter_ca_state(now, state);
        }
    }

    /// The control is told, though the state may be the same.
    fn enter_ca_state(&mut self, now: Time, state: CaState) {
        self.sync();
        self.control.set_state(now, &mut self.tcp, state);
        self.clamp();
        self.tcp.ca_state = state;
    }

    /// Ticks of the timestamp clock (RFC 7323 section 5.4).
    fn ticks(&self, now: Time) -> u32 {
        timestamp_ticks(now, self.config.timers.timestamp_tick)
    }

    /// A segment with the fields that every segment carries.
    #[expect(clippy::inline_always, reason = "the segment is made where it is to be, and not copied there")]
    #[inline(always)]
    fn segment(&mut self, now: Time, offset: u64, flags: crate::Flags) -> Segment {
        let seq = SeqNumber::from_offset(self.config.handshake.initial_sequence, offset);
        let ack = SeqNumber::from_offset(self.peer_isn, self.peer_nxt);
        // Nothing is received but the peer's SYN and FIN: the window is as large as it goes unscaled.
        let mut segment = Segment::new(seq, ack, 0, u16::MAX, flags | self.ecn.ace());
        if self.timestamps_ok {
            segment.set_timestamps(self.ticks(now), self.ts_recent);
        }
        // Tag 0 means none (`Receiver::answered_tag`): the counter skips it.
        self.tag = self.tag.wrapping_add(1).max(1);
        segment.tag = self.tag;
        segment
    }
}

fn timestamp_ticks(now: Time, tick: Duration) -> u32 {
    // The cast truncates on purpose: the clock has 32 bits and wraps (RFC 7323 section 5.4).
    (now.as_nanos() / tick.as_nanos().max(1)) as u32
}

#[cfg(test)]
mod tests;
