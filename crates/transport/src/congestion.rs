//! Congestion control: the trait, what it sees, and the registry of controls by name.

pub mod aimd;
pub mod atcp;
mod bandwidth;
pub mod bbr;
pub mod bbr1;
pub mod c2;
pub mod compound;
pub mod copa;
pub mod cubic;
pub mod dctcp;
mod extension;
mod growth;
mod hystart;
mod jiffies;
pub mod ledbat;
mod parameters;
pub mod prague;
mod registry;
pub mod satcp_cubic;
#[cfg(test)]
mod testing;
pub mod vegas;
pub mod westwood;
pub mod westwood_compound;
mod windowed_max;

pub use extension::{ControlExtension, WANTS_REPORTS};
pub use parameters::{ParameterKind, ParameterSpec, ParameterValue, Parameters};
pub use registry::{ControlInfo, LinuxControl, linux_control, make};

use crate::rate_sample::RateSample;
use cogtcp_units::{Duration, Rate, Time, registry};

registry! {
    #[entries("congestion control")]
    // Every control that can be named in a scenario. A new control adds its line here.
    static CONTROLS: ControlInfo {
        aimd::INFO,
        vegas::INFO,
        westwood::INFO,
        compound::INFO,
        westwood_compound::INFO,
        cubic::INFO,
        c2::INFO,
        bbr::INFO,
        bbr1::INFO,
        atcp::INFO,
        satcp_cubic::INFO,
        ledbat::INFO,
        copa::INFO,
        prague::INFO,
        dctcp::INFO,
    }
}

/// A time that a control shows; not-a-number for [`Duration::MAX`], which stands for none.
fn seconds(time: Duration) -> f64 {
    if time == Duration::MAX { f64::NAN } else { time.as_secs_f64() }
}

/// Where the connection stands in loss recovery (Linux's `tcp_ca_state`).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum CaState {
    /// Nothing unusual.
    #[default]
    Open,
    /// Duplicate ACKs or SACKs seen, no loss declared yet.
    Disorder,
    /// The window was reduced for congestion that the network notified (ECN) and not for a loss; it does not
    /// grow until what was sent after the reduction is acknowledged.
    Cwr,
    /// Fast recovery.
    Recovery,
    /// After a timeout, or after Tahoe's fast retransmit: retransmitting from one segment on.
    Loss,
}

/// Events that concern the window (Linux's `tcp_ca_event`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CaEvent {
    /// First transmission after nothing was in flight.
    TxStart,
    /// The window restarts after idle (RFC 5681 section 4.1): sent before cwnd is set to the restart window.
    CwndRestart,
    /// The reduction of the window is complete: fast recovery ended, or [`CaState::Cwr`].
    CompleteCwr,
    /// A timeout: sent before ssthresh is asked for.
    Loss,
    /// The peer's window closed and sending stops with cwnd frozen.
    Frozen,
    /// The peer's window opened again.
    Thawed,
}

/// What a congestion control sees of its connection, and the three values it sets: `cwnd`, `ssthresh` and
/// `pacing_rate` (what Linux's `tcp_sock` shows to a `tcp_congestion_ops`). Sizes and windows are bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct TcpState {
    /// Congestion window. During Reno's and NewReno's fast recovery the inflation by duplicate ACKs is kept
    /// apart, so this is the window the control chose.
    pub cwnd: u64,
    /// Slow start threshold; `u64::MAX` before the first loss event.
    pub ssthresh: u64,
    /// Rate at which segments are released; `None`: as the window allows.
    pub pacing_rate: Option<Rate>,
    /// When the pacer lets the next segment leave, by Linux's rules; [`Time::ZERO`] by others.
    pub next_departure: Time,
    /// SMSS in use, after the handshake's negotiation.
    pub mss: u64,
    /// Smoothed round-trip time (RFC 6298); zero before the first sample.
    pub srtt: Duration,
    /// Round-trip time variation (RFC 6298).
    pub rttvar: Duration,
    /// Least round-trip time seen; [`Duration::MAX`] before the first sample.
    pub min_rtt: Duration,
    /// The latest round-trip time sample; zero before the first.
    pub latest_rtt: Duration,
    /// Retransmission timeout without backoff.
    pub rto: Duration,
    /// Oldest unacknowledged offset.
    pub snd_una: u64,
    /// Offset after the highest byte ever sent.
    pub snd_nxt: u64,
    /// Estimate of the bytes in the network: RFC 6675's pipe, with duplicate ACKs standing for SACKs where
    /// SACK is not used.
    pub in_flight: u64,
    /// RFC 5681's FlightSize: sent and not cumulatively acknowledged. At a loss event, so in
    /// [`CongestionControl::ssthresh`], without what limited transmit sent (RFC 5681 section 3.2).
    pub flight_size: u64,
    /// Bytes known to have been delivered (cumulatively or selectively acknowledged).
    pub delivered: u64,
    /// When `delivered` last grew.
    pub delivered_at: Time,
    /// Bytes ever declared lost.
    pub lost: u64,
    /// The application, not the network, limits the rate at present.
    pub app_limited: bool,
    /// cwnd limited the flight that is being acknowledged. Segments that wait for the pacer are part of it, as
    /// far as Linux would have handed them on (1/1024 s at the pacing rate, two packets at least).
    pub cwnd_limited: bool,
    /// Where the connection stands in loss recovery.
    pub ca_state: CaState,
    /// cwnd before the latest reduction, for an undo.
    pub prior_cwnd: u64,
    /// ssthresh before the latest reduction, for an undo.
    pub prior_ssthresh: u64,
    /// Window advertised by the peer.
    pub peer_window: u64,
    /// Initial window of the connection; also RFC 5681's restart window is bounded by it.
    pub initial_window: u64,
    /// The user's cap on the window; `u64::MAX`: none.
    pub max_window: u64,
    /// Both ends agreed to Accurate ECN (RFC 9768).
    pub accurate_ecn: bool,
    /// Milliseconds of a tick of the host's clock (Linux's jiffy, 1000/HZ).
    pub tick_ms: u16,
}

/// With HZ = 250, as in Debian's kernels.
const DEBIAN_TICK_MS: u16 = 4;

impl TcpState {
    /// A connection before its first segment: nothing sent, no RTT measured, no limit but cwnd. The RTO is
    /// RFC 6298's first, 1 s.
    pub const fn new(mss: u64, initial_window: u64) -> Self {
        Self {
            cwnd: initial_window,
            ssthresh: u64::MAX,
            pacing_rate: None,
            next_departure: Time::ZERO,
            mss,
            srtt: Duration::ZERO,
            rttvar: Duration::ZERO,
            min_rtt: Duration::MAX,
            latest_rtt: Duration::ZERO,
            rto: Duration::from_secs(1),
            snd_una: 0,
            snd_nxt: 0,
            in_flight: 0,
            flight_size: 0,
            delivered: 0,
            delivered_at: Time::ZERO,
            lost: 0,
            app_limited: false,
            cwnd_limited: false,
            ca_state: CaState::Open,
            prior_cwnd: 0,
            prior_ssthresh: 0,
            peer_window: u64::MAX,
            initial_window,
            max_window: u64::MAX,
            accurate_ecn: false,
            tick_ms: DEBIAN_TICK_MS,
        }
    }

    /// Whether cwnd is below ssthresh (RFC 5681 section 3.1).
    pub const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }
}

/// What one ACK says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AckSample {
    /// Bytes newly acknowledged by the cumulative acknowledgement.
    pub acked: u64,
    /// Bytes newly acknowledged by SACK blocks (above the cumulative acknowledgement).
    pub sacked: u64,
    /// Bytes newly known to be delivered: `acked` and `sacked` without what earlier ACKs had reported.
    pub delivered: u64,
    /// Bytes newly declared lost.
    pub lost: u64,
    /// Whether the ACK is a duplicate (RFC 5681 section 2; with SACK, RFC 6675 section 2).
    pub duplicate: bool,
    /// Round-trip time of the latest sent segment that this ACK newly acknowledges, where it is unambiguous
    /// (Karn).
    pub rtt: Option<Duration>,
    /// Bytes in flight before this ACK.
    pub prior_in_flight: u64,
    /// The delivery-rate sample, of a control that [uses it](CongestionControl::uses_delivery_rate).
    pub rate: RateSample,
    /// ECN echo (RFC 3168), negotiated or not: where it was, the sender itself reduces the window once a
    /// window. In Accurate ECN: whether packets are `marked`.
    pub ecn_echo: bool,
    /// Packets newly reported as marked (Accurate ECN, RFC 9768); 0 without it.
    pub marked: u64,
}

/// One transmission, at the moment it leaves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketInfo {
    /// Offset of its first byte.
    pub offset: u64,
    /// Payload bytes.
    pub bytes: u64,
    /// Whether it had been sent before.
    pub retransmission: bool,
    /// Bytes in flight, this packet included.
    pub in_flight: u64,
}

/// A congestion control algorithm. Hooks carry the names of Linux's `tcp_congestion_ops`; those with a body
/// default to nothing; [`ControlExtension`] has the others. `now` is the time of the ACK, timer or
/// transmission that causes the call.
///
/// Order on an ACK: `on_packet_sent`s before, `in_ack_event`, `set_state` if the ACK changes it, `pkts_acked`, then
/// `cong_control` and, if that returned false and the window may grow, `cong_avoid`. After every call the
/// sender keeps cwnd at one segment at least.
pub trait CongestionControl: std::fmt::Debug + Send + Sync {
    /// The name in the registry, or of a control from outside.
    fn name(&self) -> &str;

    /// The handshake is complete: `tcp.cwnd` is the initial window.
    #[allow(unused_variables)]
    fn init(&mut self, now: Time, tcp: &mut TcpState) {}

    /// The slow start threshold after a loss event, or after congestion that the network notified (ECN),
    /// bytes. Asked once per event, before cwnd is changed.
    fn ssthresh(&mut self, now: Time, tcp: &TcpState) -> u64;

    /// Grow cwnd for new data acknowledged. Not called in fast recovery, and called in `Loss` (slow start).
    fn cong_avoid(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample);

    /// Every ACK, before it ends or begins a recovery, if the control [wants it](Self::counts_acks_first). `ack.lost` and
    /// `ack.rate` are not complete. `predicted`: in Linux the ACK takes the fast path: it acknowledges data, has no SACK
    /// block and no ECE, and leaves the peer's window as it was.
    #[allow(unused_variables)]
    fn in_ack_event(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample, predicted: bool) {}

    /// Every ACK: RTT and rate samples.
    #[allow(unused_variables)]
    fn pkts_acked(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) {}

    /// The recovery state is about to change to `state`; `tcp.ca_state` is still the old one.
    #[allow(unused_variables)]
    fn set_state(&mut self, now: Time, tcp: &mut TcpState, state: CaState) {}

    /// An event of the window.
    #[allow(unused_variables)]
    fn cwnd_event(&mut self, now: Time, tcp: &mut TcpState, event: CaEvent) {}

    /// True: this control sets cwnd and pacing itself at every ACK; the sender then leaves cwnd alone, in
    /// recovery and after a timeout too, and does not call `cong_avoid`.
    #[allow(unused_variables)]
    fn cong_control(&mut self, now: Time, tcp: &mut TcpState, ack: &AckSample) -> bool {
        false
    }

    /// True if the sender leaves cwnd alone at a loss event (asked after `ssthresh`). For a control whose
    /// `cong_control` returns true, and for a control that keeps its window through a loss.
    fn owns_cwnd(&self) -> bool {
        false
    }

    /// Whether `cong_avoid` is called, too, where cwnd does not limit the flow (RFC 7661): the control looks at
    /// [`TcpState::cwnd_limited`] itself.
    fn looks_at_the_limit(&self) -> bool {
        false
    }

    /// Windows that the memory of a socket holds under the control (Linux: `sndbuf_expand`).
    fn buffered_windows(&self) -> u64 {
        2
    }

    /// Whether the control reads [`AckSample::rate`]. Where it says no, asked once, no state of the rate
    /// estimator is kept for each segment on its way, and there are no samples.
    fn uses_delivery_rate(&self) -> bool {
        true
    }

    /// Whether [`in_ack_event`](Self::in_ack_event) is called. Asked once.
    fn counts_acks_first(&self) -> bool {
        false
    }

    /// Whether the control is scalable (L4S): its data is ECT(1) where Accurate ECN is agreed to (RFC 9331
    /// sections 4.1 and 4.2).
    fn uses_l4s(&self) -> bool {
        false
    }

    /// Whether the control needs marks counted: both ends then agree to Accurate ECN (RFC 9768) where a
    /// scenario says nothing.
    fn counts_marks(&self) -> bool {
        self.uses_l4s()
    }

    /// cwnd after a loss event turned out to be none (F-RTO, later Eifel).
    #[allow(unused_variables)]
    fn undo_cwnd(&mut self, now: Time, tcp: &TcpState) -> u64 {
        tcp.cwnd.max(tcp.prior_cwnd)
    }

    /// Shows the control's state in the time series of a run. `show` takes a name and a value. The name ends
    /// with the unit, as columns of the records do (`_segments`, `_s`, `_bps`). Not-a-number stands for a
    /// value that does not exist yet. Every call shows the same names.
    #[allow(unused_variables)]
    fn observe(&self, tcp: &TcpState, show: &mut dyn FnMut(&str, f64)) {}

    /// A segment with data leaves.
    #[allow(unused_variables)]
    fn on_packet_sent(&mut self, now: Time, tcp: &mut TcpState, packet: &PacketInfo) {}

    /// The control's hooks beyond Linux's; `None`: it has none.
    fn extension(&mut self) -> Option<&mut dyn ControlExtension> {
        None
    }
}
