//! What can be set of a sender and of a receiver, in groups. Each setting has its documentation and default
//! here. A scenario sets some of them by [`TcpSettings`].

mod settings;
mod values;

pub use values::{DelayedAck, EcnMode, InitialWindow, Segments, Window};

use crate::SeqNumber;
use crate::congestion::ParameterValue;
use cogtcp_units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::settings;
use std::collections::BTreeMap;

/// How lost segments are found and retransmitted. Congestion control is the other axis.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Recovery {
    /// Fast retransmit, then slow start from one segment, retransmitting from the hole on (Jacobson 1988;
    /// Fall and Floyd 1996).
    Tahoe,
    /// Fast retransmit and fast recovery (RFC 5681 section 3.2, which was Reno): any new ACK ends recovery.
    Reno,
    /// Fast recovery that survives partial ACKs (RFC 6582).
    NewReno,
    /// Selective acknowledgements with the conservative scoreboard (RFC 6675). Becomes NewReno when the peer
    /// does not permit SACK.
    #[default]
    Sack,
}

/// When NewReno restarts the retransmission timer during recovery (RFC 3782 section 4; RFC 6582 section 3.2
/// has the first of the two).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NewRenoVariant {
    /// At the first partial ACK only: many losses in a window end in a timeout and slow start.
    #[default]
    Impatient,
    /// At every partial ACK: one lost segment retransmitted per round trip, however many there are.
    SlowButSteady,
}

/// For which duplicate ACKs Tahoe and Reno make no fast retransmit: those that come before everything that
/// was outstanding at the last loss event is acknowledged. In NewReno RFC 6582 section 3.2 step 1 always
/// holds.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FastRetransmitGuard {
    /// All may.
    Off,
    /// After a timeout none does, and in Tahoe, which retransmits after a fast retransmit as after a timeout,
    /// after either. A second loss in a window brings Reno a second fast retransmit and halves it again (Fall
    /// and Floyd 1996).
    #[default]
    Timeout,
    /// After a fast retransmit none does either: a second loss in a window makes Reno wait for its timer
    /// (ns-2's `bugFix_`).
    Window,
}

/// The window on leaving NewReno's recovery by a full ACK (RFC 6582 section 3.2, step 3).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FullAckWindow {
    /// Option 1: min(ssthresh, max(FlightSize, SMSS) + SMSS), which avoids a burst.
    #[default]
    FlightSize,
    /// Option 2: ssthresh.
    Ssthresh,
}

/// Forward RTO recovery: whether a timeout was spurious (RFC 5682).
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FRto {
    /// Not used.
    #[default]
    Off,
    /// The basic algorithm (RFC 5682 section 2), on cumulative ACKs.
    Basic,
    /// The SACK-enhanced algorithm (RFC 5682 section 3); basic where SACK is not negotiated.
    Sack,
    /// Linux's rule. An ACK or SACK of data that was sent before the timeout and never retransmitted proves
    /// the timeout spurious, at the first ACK too. The RFC sends new data first (section 3.1 steps 2 and 3).
    /// So an outage that loses ACKs counts as spurious even if it lost data. `Basic` if SACK is not
    /// negotiated.
    Linux,
}

/// How a retransmission timeout comes about, and what it does to the window.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeoutRules {
    /// RFC 6298 and RFC 8985 for the timers. ssthresh is lowered unless the timer had retransmitted this
    /// segment before (`hold_ssthresh`), and cwnd is one segment (RFC 5681 section 3.1).
    #[default]
    Rfc,
    /// Linux. The variation of the RTO is the greatest of a round trip and falls by a quarter of the
    /// difference in each. It is at least 200 ms (`min_rto`) and hardly grows with samples below SRTT
    /// (`tcp_rtt_estimator`; Sarolahti and Kuznetsov, USENIX 2002, section 4.2). If new data leaves while a
    /// tail loss probe is due, the RTO counts from the oldest outstanding segment, and so does the probe
    /// (`tcp_schedule_loss_probe`). SACKs of segments that left before the oldest segment's last transmission
    /// restart the RTO. A timeout lowers ssthresh once per window of data: not after a fast recovery, nor
    /// after another timeout without an ACK between. At a timeout cwnd becomes one segment plus the flight by
    /// RACK (`tcp_enter_loss`). A retransmission lost in the recovery of a timeout begins a fast recovery
    /// with its own reduction. A window that closes over outstanding data leaves the retransmission timer
    /// running; BSD starts the persist timer. RACK takes the round-trip time of the segment that was
    /// acknowledged last in order. The ACK that ends a recovery, or undoes a response, lets the window grow.
    /// So do SACKs outside of recovery after reordering beyond `dup_thresh` segments (`tcp_may_raise_cwnd`).
    /// An ACK below SND.UNA changes the scoreboard only.
    Linux,
    /// ns-2, and 4.4BSD: SRTT, RTTVAR and RTO are integers of ticks of `clock_granularity`, so RTTVAR never decays
    /// to nothing (`rtt_update`).
    Ns2,
}

/// How Proportional Rate Reduction counts.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PrrRules {
    /// RFC 9937: in bytes, of what was in flight when recovery began.
    #[default]
    Rfc,
    /// Linux (`tcp_cwnd_reduction`): in segments, rounded up, of cwnd when recovery began (`prior_cwnd`).
    /// Where RACK's timer begins a recovery one segment counts as delivered, and what it finds lost later
    /// leaves the window as it is (`tcp_rack_reo_timeout`).
    Linux,
}

/// Whose rules fast recovery has.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryRules {
    /// RFC 5681, RFC 6582 and RFC 3042.
    #[default]
    Rfc,
    /// ns-2 (`tcp.cc`, `tcp-reno.cc`, `tcp-newreno.cc`). A fast retransmit halves cwnd with its fraction of a
    /// segment, which ssthresh loses. Without SACK, the ACK that ends fast recovery lets the window grow. After
    /// a timeout, too, each of the first two duplicate ACKs lets out a segment.
    Ns2,
}

/// Which segments feed SRTT and RTTVAR (RFC 6298 section 3). The congestion control sees a sample at every
/// ACK either way.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RttSampling {
    /// One segment at a time is timed, about one sample per round trip: the traditional way, and ns-2's.
    #[default]
    OncePerFlight,
    /// Every ACK of data sent once.
    EveryAck,
}

/// The settings of both ends of a connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TcpConfig {
    /// The sender's.
    pub sender: SenderConfig,
    /// The receiver's.
    pub receiver: ReceiverConfig,
}

settings! {
    /// What the two ends say in the handshake: the sender offers options, the receiver agrees to them.
    pub struct Handshake for sender.handshake, receiver.handshake {
        /// Most payload bytes per segment (the MSS, both ways), 1 to 65495 B.
        mss as "segment_size": u32 as Bytes = 1460;
        /// Whether ECN is used (RFC 3168): offered and agreed to, new data ECN-capable, the window reduced
        /// for marks as for losses. "accurate": ACKs count marked packets (RFC 9768).
        ecn: EcnMode = EcnMode::Off;
        /// Whether timestamps are used (RFC 7323).
        timestamps: bool = false;
        /// Whether windows are scaled (RFC 7323), without which none is above 65535 B.
        window_scaling: bool = true;
    } and {
        /// Initial sequence number of the end's own direction.
        initial_sequence: SeqNumber = SeqNumber::new(0);
    }

    /// How a sender finds and repairs losses.
    pub struct LossRecovery for sender.recovery {
        /// How lost segments are found and retransmitted; without it: as the transport does.
        algorithm as "recovery": Recovery = Recovery::default();
        /// When NewReno restarts its retransmission timer during recovery.
        newreno_variant: NewRenoVariant = NewRenoVariant::default();
        /// The window when NewReno leaves recovery.
        full_ack_window: FullAckWindow = FullAckWindow::default();
        /// When Tahoe and Reno refuse a second fast retransmit for losses of one window.
        fast_retransmit_guard: FastRetransmitGuard = FastRetransmitGuard::default();
        /// Duplicate ACKs that signal a loss (RFC 5681: 3), 1 to 1000.
        dup_thresh: u32 = 3;
        /// Whether the first two duplicate ACKs let out new segments (RFC 3042).
        limited_transmit: bool = true;
        /// Whether fast recovery sends in proportion to what is delivered (PRR, RFC 9937). Needs SACK.
        prr: bool = false;
        /// How PRR counts.
        prr_rules: PrrRules = PrrRules::default();
        /// Whether losses are found by time (RACK, RFC 8985). Needs SACK.
        // In place of RFC 6675's rules.
        rack: bool = false;
        /// Whether a tail loss probe goes before a timeout (TLP, RFC 8985). Needs RACK.
        tlp: bool = false;
        /// Longest delay of an ACK that a tail loss probe allows for (RFC 8985: TLP.max_ack_delay).
        // Section 7.2: counts when one segment is in flight. Linux: 200 ms.
        max_ack_delay: Duration = Duration::from_millis(200);
        /// Whether ssthresh is held when a segment times out again (RFC 5681 section 3.1); else it is lowered
        /// again (ns-2).
        // ns-2 lowers it to two segments as a rule.
        hold_ssthresh: bool = true;
        /// Whose rules fast recovery has where the RFCs' differ.
        recovery_rules: RecoveryRules = RecoveryRules::default();
    }

    /// How a sender takes back the response to a loss that was none.
    pub struct Undo for sender.undo {
        /// Whether a timeout is tested for being spurious (RFC 5682).
        f_rto: FRto = FRto::default();
        /// Whether a response to a loss is undone when a timestamp shows that it was needless (RFC 3522).
        /// Needs SACK and timestamps.
        // As in Linux, cwnd and ssthresh return to their earlier values; RFC 4015 has another response.
        eifel: bool = false;
        /// Whether a response to a loss is undone when D-SACKs have reported every retransmission (RFC 3708).
        /// Needs SACK.
        // RFC 3708 leaves the response open. As in Linux, cwnd and ssthresh return to their earlier values.
        d_sack_undo: bool = false;
    }

    /// A sender's timers and clocks.
    pub struct Timers for sender.timers {
        /// How timeouts come about, and what they do to the window.
        timeout_rules: TimeoutRules = TimeoutRules::default();
        /// Tick of a timer wheel as Linux's (1/HZ), up to 10 s: timers fire at ticks, later the longer they
        /// are; 0: exact timers.
        timer_tick: Duration = Duration::ZERO;
        /// Tick of the timestamp clock, 1 us to 10 s.
        // RFC 7323 section 5.4: 1 ms to 1 s.
        timestamp_tick: Duration = Duration::from_millis(1);
        /// RTO before the first RTT sample (RFC 6298: 1 s; in an ad hoc network under the MAC profiles ns2
        /// and ns3: 3 s).
        initial_rto: Duration = Duration::from_secs(1);
        /// Least RTO (RFC 6298: 1 s; Linux: 200 ms).
        min_rto: Duration = Duration::from_secs(1);
        /// Whether `min_rto` bounds 4 RTTVAR, so that the RTO is at least SRTT + `min_rto` (Linux).
        // `__tcp_set_rto`.
        min_rto_above_srtt: bool = false;
        /// Greatest RTO, backed off or not (RFC 6298: at least 60 s).
        max_rto: Duration = Duration::from_secs(60);
        /// Whether the backoff of a lost SYN lasts until a round-trip time is measured (ns-2); else data
        /// starts with an RTO of 3 s (RFC 6298 section 5.7).
        keep_syn_backoff: bool = false;
        /// Whether the retransmission timer restarts when fast recovery retransmits the oldest segment (BSD,
        /// Linux, ns-2); else it runs on (RFC 6298, ns-3).
        // A timer that runs on may fire before the retransmission's ACK.
        restart_on_retransmit: bool = true;
        /// Clock granularity G of the RTO computation.
        // It bounds 4 RTTVAR from below (RFC 6298 section 2), and the RTO is rounded up to it. SRTT is not.
        clock_granularity: Duration = Duration::from_millis(1);
        /// Which segments feed the RTO computation.
        rtt_sampling: RttSampling = RttSampling::default();
        /// Give up when data stays unacknowledged so long; without it: never.
        // RFC 9293 section 3.8.3.
        user_timeout: Option<Duration> as Duration = None;
        /// Time in TIME-WAIT after the close.
        // Twice the MSL of RFC 9293 section 3.4.2.
        time_wait: Duration = Duration::from_secs(240);
        /// What the clock of the timer wheel reads when time begins; without it: drawn for each host.
        // A host's ticks, and the coarser ones of its wheel, fall anywhere.
        timer_phase: Option<Duration> as Duration = None;
    }

    /// Settings of a [`crate::Sender`]. The defaults are what the RFCs recommend.
    pub struct SenderConfig for sender {
        /// Congestion window after the handshake: "rfc6928" or a number of segments.
        initial_window: InitialWindow = InitialWindow::default();
        /// Slow start threshold at the start; without it: unlimited (RFC 5681: arbitrarily high).
        initial_ssthresh: u64 as Window = u64::MAX;
        /// Cap on the sender's window (ns-2's `window_`); without it: none.
        max_window: Option<u64> as Window = None;
        /// Whether segments leave in packets of several, whose last bears PSH, as in Linux.
        // "Generic segmentation offload" (`offload.rs`). A packet that cwnd would cut short waits for an ACK
        // that is due soon.
        segmentation_offload: bool = false;
        /// Whether cwnd falls to the restart window after an idle RTO (RFC 5681 section 4.1).
        restart_after_idle: bool = true;
        /// Whether cwnd, once the receiver's closed window has opened again, is spread over a round-trip time
        /// rather than sent as one burst.
        // For a control that does not pace by itself.
        paced_resume: bool = false;
        /// Whether the sender heeds a window smaller than an earlier offer (RFC 9293 section 3.8.6: it must
        /// be robust against one). Otherwise it may send what was once offered.
        heeds_shrinking: bool = true;
        /// Whether cwnd grows only when it was the limit.
        // RFC 7661's aim, Linux's rule: `tcp_cwnd_validate`.
        window_validation: bool = true;
    } and {
        /// Under Linux's timeout rules: timeouts of a SYN that are equally long (`tcp_syn_linear_timeouts`, since 6.5).
        linear_syn_timeouts: u32 = 4;
        /// Likewise: segments that bring nothing are answered once in this time (`tcp_invalid_ratelimit`).
        challenge_interval: Duration = Duration::from_millis(500);
        /// What it offers.
        handshake: Handshake = Handshake::default();
        /// How it finds and repairs losses.
        recovery: LossRecovery = LossRecovery::default();
        /// How it takes back needless responses.
        undo: Undo = Undo::default();
        /// Its timers and clocks.
        timers: Timers = Timers::default();
    }

    /// Settings of a receiver. The defaults are what the RFCs recommend.
    pub struct ReceiverConfig for receiver {
        /// Delay of ACKs. Off: "off". The longest delay (RFC 5681: at most 500 ms), with `ack_every`: "200
        /// ms". As long as segments keep coming, at most 500 ms (TCP-ADA): "adaptive". Linux's 40 ms, but at
        /// once at the start, after pauses and duplicates, and while the offered window grows: "linux".
        delayed_ack: DelayedAck = DelayedAck::On { timeout: Duration::from_millis(200) };
        /// A delayed ACK answers this many full-sized segments at most (RFC 5681: 2).
        ack_every: u32 as Segments = 2;
        /// Whether the receiver permits SACK (RFC 2018).
        sack: bool = true;
        /// Whether the receiver reports duplicates (D-SACK, RFC 2883).
        d_sack: bool = true;
        /// Whether timestamps guard against old segments (PAWS, RFC 7323 section 5).
        paws: bool = true;
        /// Receive buffer: what the receiver advertises at most.
        // The window plus what waits to be read.
        buffer as "receive_buffer": u64 as Bytes = 4 << 20;
        /// Whether the window that is offered begins with 65535 B and grows with what the application takes,
        /// up to half of the buffer, as in Linux.
        window_tuning: bool = false;
        /// With `window_tuning`: Linux's rules before 6.16. The window has room for 16 segments more, and does
        /// not grow behind a gap.
        window_margin: bool = false;
        /// With `delayed_ack = "linux"`: how late the timer of SACK compression is (`tcp_comp_sack_slack_ns`; on an idle
        /// host captures show the whole slack).
        compression_slack: Duration = Duration::from_micros(100);
    } and {
        /// What it agrees to when it is offered: timestamps too.
        handshake: Handshake = Handshake { timestamps: true, ..Handshake::default() };
        /// Whether the application reads only by `Receiver::read`; else it reads at once.
        manual_read: bool = false;
        /// Of [`DelayedAck::Linux`]: segments that bring nothing are answered once in this time.
        challenge_interval: Duration = Duration::from_millis(500);
        /// The host's timer wheel, for [`DelayedAck::Linux`].
        wheel: crate::Wheel = crate::Wheel::default();
        /// Whether the connection stays half-open at the end of the stream; else the application closes there.
        // For an end with data of its own, which its driver sends.
        stays_open: bool = false;
    }

    // The order of a scenario's canonical TOML, from which its hash is made.
    [mss as "segment_size", initial_window, initial_ssthresh, max_window, algorithm as "recovery",
    newreno_variant, full_ack_window, fast_retransmit_guard, dup_thresh, limited_transmit, f_rto, eifel,
    d_sack_undo, timeout_rules, timer_tick, timer_phase, prr, prr_rules, rack, tlp, max_ack_delay, ecn, timestamps, paws,
    timestamp_tick, window_scaling, initial_rto, min_rto, min_rto_above_srtt, segmentation_offload, max_rto,
    hold_ssthresh, recovery_rules, keep_syn_backoff, restart_on_retransmit, clock_granularity, rtt_sampling,
    restart_after_idle, paced_resume, heeds_shrinking, window_validation, user_timeout, time_wait,
    delayed_ack, ack_every, sack, d_sack, buffer as "receive_buffer", window_tuning, window_margin, compression_slack]
}
