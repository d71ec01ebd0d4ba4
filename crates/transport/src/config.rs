//! What can be set of a sender and of a receiver.

mod values;

pub use values::{DelayedAck, InitialWindow, Segments};

use crate::SeqNumber;
use cogtcp_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// segment before ([`SenderConfig::hold_ssthresh`]), and cwnd is one segment (RFC 5681 section 3.1).
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

cogtcp_units::with_defaults! {
    /// Settings of a [`crate::Sender`]. The defaults are what the RFCs recommend.
    #[derive(Clone, Debug, PartialEq)]
    pub struct SenderConfig {
        /// SMSS: most payload bytes per segment, before the peer's MSS option lowers it.
        pub mss: u32 = 1460,
        /// Initial sequence number.
        pub initial_sequence: SeqNumber = SeqNumber::new(0),
        /// Congestion window after the handshake. RFC 6928.
        pub initial_window: InitialWindow = InitialWindow::default(),
        /// Initial slow start threshold, bytes. Unlimited (RFC 5681 section 3.1: "arbitrarily high").
        pub initial_ssthresh: u64 = u64::MAX,
        /// Loss recovery.
        pub recovery: Recovery = Recovery::default(),
        /// Timer variant of NewReno.
        pub newreno_variant: NewRenoVariant = NewRenoVariant::default(),
        /// Window on NewReno's full ACK.
        pub full_ack_window: FullAckWindow = FullAckWindow::default(),
        /// Duplicate ACKs that bring Tahoe and Reno no fast retransmit. Those after a timeout.
        pub fast_retransmit_guard: FastRetransmitGuard = FastRetransmitGuard::default(),
        /// Duplicate ACKs that signal a loss (RFC 5681: 3).
        pub dup_thresh: u32 = 3,
        /// New segments on the first two duplicate ACKs (RFC 3042).
        pub limited_transmit: bool = true,
        /// Forward RTO recovery.
        pub f_rto: FRto = FRto::default(),
        /// Undo the response to a loss when an ACK echoes a timestamp from before the first retransmission
        /// (RFC 3522). As in Linux, cwnd and ssthresh return to their earlier values; RFC 4015 has another
        /// response. Needs SACK and timestamps.
        pub eifel: bool = false,
        /// Undo the response to a loss when D-SACKs have reported every retransmission as a duplicate (RFC
        /// 3708, which leaves the response open). As in Linux, cwnd and ssthresh return to their earlier
        /// values. Needs SACK.
        pub d_sack_undo: bool = false,
        /// How timeouts come about and what they do to the window. RFC 6298 and RFC 5681.
        pub timeout_rules: TimeoutRules = TimeoutRules::default(),
        /// Send in fast recovery by Proportional Rate Reduction (RFC 9937). Needs SACK.
        pub prr: bool = false,
        /// How PRR counts. RFC 9937.
        pub prr_rules: PrrRules = PrrRules::default(),
        /// Find losses by time (RACK, RFC 8985) in place of RFC 6675's rules. Needs SACK.
        pub rack: bool = false,
        /// Send a tail loss probe before a timeout (TLP, RFC 8985 section 7). Needs `rack`.
        pub tlp: bool = false,
        /// Longest delay of an ACK that a tail loss probe allows for when one segment is in flight (RFC 8985
        /// section 7.2: TLP.max_ack_delay). 200 ms, as in Linux.
        pub max_ack_delay: Duration = Duration::from_millis(200),
        /// Offer ECN (RFC 3168) and, where the peer agrees, take its echo of a mark for congestion.
        pub ecn: bool = false,
        /// Offer timestamps (RFC 7323 section 3).
        pub timestamps: bool = false,
        /// Tick of the timestamp clock. 1 ms (RFC 7323 section 5.4: 1 ms to 1 s).
        pub timestamp_tick: Duration = Duration::from_millis(1),
        /// Offer window scaling (RFC 7323 section 2), without which the peer cannot advertise over 65535
        /// bytes.
        ///
        pub window_scaling: bool = true,
        /// RTO before the first sample. 1 s (RFC 6298 section 2.1).
        pub initial_rto: Duration = Duration::from_secs(1),
        /// Least RTO. 1 s (RFC 6298 section 2.4).
        pub min_rto: Duration = Duration::from_secs(1),
        /// Apply [`min_rto`](Self::min_rto) to the variance term, so that the RTO is at least SRTT +
        /// `min_rto` (Linux, `__tcp_set_rto`).
        pub min_rto_above_srtt: bool = false,
        /// Segments leave in packets of several segments, the last with PSH, as in Linux ("generic
        /// segmentation offload"; `offload.rs`). A packet that cwnd would cut short waits for an ACK that is
        /// due soon.
        pub segmentation_offload: bool = false,
        /// Tick of a timer wheel like Linux's since 4.8 (1/HZ). A timer fires at the first tick after it is
        /// due. Timers from 63 ticks on are rounded up to 8 ticks, from 504 ticks on to 64, and so on
        /// (Gleixner: timers, "switch to a non-cascading wheel"). The reordering timer and the tail loss
        /// probe of several segments wait 2 ms longer (`TCP_TIMEOUT_MIN_US`, Linux 6.7). Zero: timers are
        /// exact.
        pub timer_tick: Duration = Duration::ZERO,
        /// What the clock of that wheel reads when time begins: the ticks of a host, and the coarser ones of
        /// its wheel, fall anywhere.
        pub timer_phase: Duration = Duration::ZERO,
        /// Greatest RTO, backed off or not. 60 s (RFC 6298 section 2.5).
        pub max_rto: Duration = Duration::from_secs(60),
        /// Hold ssthresh when a segment times out that the timer had retransmitted before (RFC 5681 section
        /// 3.1). Else it is lowered again, to two segments as a rule: ns-2.
        pub hold_ssthresh: bool = true,
        /// Keep the backoff of a lost SYN until a round-trip time is measured (ns-2). Else data starts with 3
        /// s (RFC 6298 section 5.7).
        pub keep_syn_backoff: bool = false,
        /// Restart the retransmission timer when fast recovery retransmits the oldest segment (BSD, Linux,
        /// ns-2). Else it runs on (RFC 6298 section 5, ns-3) and may fire before the retransmission's ACK.
        pub restart_on_retransmit: bool = true,
        /// Clock granularity G of the RTO computation: samples are rounded up to it and it bounds 4 RTTVAR
        /// from below (RFC 6298 section 2). 1 ms.
        pub clock_granularity: Duration = Duration::from_millis(1),
        /// Which segments feed the RTO.
        pub rtt_sampling: RttSampling = RttSampling::default(),
        /// Cap on the window, bytes (ns-2's `window_`).
        pub max_window: Option<u64> = None,
        /// Restart from the restart window when idle longer than an RTO (RFC 5681 section 4.1).
        pub restart_after_idle: bool = true,
        /// Once the peer's closed window has opened again, spread what cwnd lets go over a smoothed
        /// round-trip time, in place of one burst. For a control that does not pace by itself.
        pub paced_resume: bool = false,
        /// Whether a window smaller than what was offered before counts (RFC 9293 section 3.8.6: a sender
        /// "must be robust against window shrinking"); else what was once offered may be sent.
        pub heeds_shrinking: bool = true,
        /// Grow cwnd only when it limited the flight being acknowledged (RFC 7661's aim, Linux's rule:
        /// `tcp_cwnd_validate`).
        pub window_validation: bool = true,
        /// Give up when data stays unacknowledged so long (RFC 9293 section 3.8.3). None: never.
        pub user_timeout: Option<Duration> = None,
        /// Time in TIME-WAIT. 240 s, twice the MSL of RFC 9293 section 3.4.2.
        pub time_wait: Duration = Duration::from_secs(240),
    }
}

cogtcp_units::with_defaults! {
    /// Settings of a receiver. The defaults are what the RFCs recommend.
    #[derive(Clone, Debug, PartialEq)]
    pub struct ReceiverConfig {
        /// Most payload bytes accepted per segment: the MSS option sent.
        pub mss: u32 = 1460,
        /// Initial sequence number of the receiver's own direction.
        pub initial_sequence: SeqNumber = SeqNumber::new(0),
        /// Delayed acknowledgements.
        pub delayed_ack: DelayedAck = DelayedAck::On { timeout: Duration::from_millis(200) },
        /// Full-sized segments that a delayed ACK may answer. 2 (RFC 5681 section 4.2: at least every
        /// second).
        pub ack_every: u32 = 2,
        /// Permit SACK when the sender offers it (RFC 2018).
        pub sack: bool = true,
        /// Report duplicates by D-SACK (RFC 2883).
        pub d_sack: bool = true,
        /// Agree to ECN when offered (RFC 3168), and then echo marks until the sender has reduced its window.
        ///
        pub ecn: bool = false,
        /// Accept timestamps when offered (RFC 7323).
        pub timestamps: bool = true,
        /// Refuse segments whose timestamp proves them old (PAWS, RFC 7323 section 5).
        pub paws: bool = true,
        /// Accept window scaling when offered, and then with the least shift the buffer needs (RFC 7323).
        pub window_scaling: bool = true,
        /// Receive buffer, bytes: advertised window plus what waits to be read.
        pub buffer: u64 = 4 << 20,
        /// Offer a window that begins with 65535 bytes and grows with what the application takes, up to half
        /// of the buffer (Linux's receive buffer tuning). Else all of the buffer is offered.
        pub window_tuning: bool = false,
        /// Whether the application reads only by `Receiver::read`; else it reads at once.
        pub manual_read: bool = false,
    }
}
