//! The settings of TCP, each over what the preset says.

use crate::values::{DelayedAck, InitialWindow, Segments, Window};
use cogtcp_units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Settings of TCP. What is not set is as the preset of the flow's `transport` has it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Tcp {
    /// Most payload bytes per segment (the MSS, both ways), 1 to 65495 B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment_size: Option<Bytes>,
    /// Congestion window after the handshake: "rfc6928" or a number of segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_window: Option<InitialWindow>,
    /// Slow start threshold at the start; without it: unlimited (RFC 5681: arbitrarily high).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_ssthresh: Option<Window>,
    /// Cap on the sender's window (ns-2's `window_`); without it: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_window: Option<Window>,
    /// How lost segments are found and retransmitted; without it: as the transport does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
    /// When NewReno restarts its retransmission timer during recovery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newreno_variant: Option<NewRenoVariant>,
    /// The window when NewReno leaves recovery.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_ack_window: Option<FullAckWindow>,
    /// When Tahoe and Reno refuse a second fast retransmit for losses of one window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fast_retransmit_guard: Option<FastRetransmitGuard>,
    /// Duplicate ACKs that signal a loss (RFC 5681: 3), 1 to 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dup_thresh: Option<u32>,
    /// Whether the first two duplicate ACKs let out new segments (RFC 3042).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// Whether a timeout is tested for being spurious (RFC 5682).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub f_rto: Option<FRto>,
    /// Whether fast recovery sends in proportion to what is delivered (PRR, RFC 9937). Needs SACK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prr: Option<bool>,
    /// Whether losses are found by time (RACK, RFC 8985). Needs SACK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rack: Option<bool>,
    /// Whether a tail loss probe goes before a timeout (TLP, RFC 8985). Needs RACK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tlp: Option<bool>,
    /// Longest delay of an ACK that a tail loss probe allows for (RFC 8985: TLP.max_ack_delay).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_ack_delay: Option<Duration>,
    /// Whether ECN is used (RFC 3168): offered and agreed to, new data ECN-capable, the window reduced for marks as for losses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<bool>,
    /// Whether timestamps are used (RFC 7323).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamps: Option<bool>,
    /// Whether timestamps guard against old segments (PAWS, RFC 7323 section 5).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paws: Option<bool>,
    /// Tick of the timestamp clock, 1 us to 10 s.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp_tick: Option<Duration>,
    /// Whether windows are scaled (RFC 7323), without which none is above 65535 B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_scaling: Option<bool>,
    /// RTO before the first RTT sample (RFC 6298: 1 s).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_rto: Option<Duration>,
    /// Least RTO (RFC 6298: 1 s; Linux: 200 ms).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rto: Option<Duration>,
    /// Greatest RTO, backed off or not (RFC 6298: at least 60 s).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rto: Option<Duration>,
    /// Whether ssthresh is held when a segment times out again (RFC 5681 section 3.1); else it is lowered again (ns-2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold_ssthresh: Option<bool>,
    /// Whether the back-off of a lost SYN lasts until a round-trip time is measured (ns-2); else data starts with an RTO of 3 s (RFC
    /// 6298 section 5.7).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_syn_backoff: Option<bool>,
    /// Whether the retransmission timer restarts when fast recovery retransmits the oldest segment (BSD, Linux, ns-2); else it runs on (RFC
    /// 6298, ns-3).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart_on_retransmit: Option<bool>,
    /// Clock granularity G of the RTO computation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_granularity: Option<Duration>,
    /// Which segments feed the RTO computation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rtt_sampling: Option<RttSampling>,
    /// Whether cwnd falls to the restart window after an idle RTO (RFC 5681 section 4.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart_after_idle: Option<bool>,
    /// Whether cwnd, once the receiver's closed window has opened again, is spread over a round-trip time rather than sent as one
    /// burst.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paced_resume: Option<bool>,
    /// Whether the sender heeds a window smaller than what it was offered before (RFC 9293 section 3.8.6: it must be robust
    /// against one); else it may send what was once offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heeds_shrinking: Option<bool>,
    /// Whether cwnd grows only when it was the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_validation: Option<bool>,
    /// Give up when data stays unacknowledged so long; without it: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_timeout: Option<Duration>,
    /// Time in TIME-WAIT after the close.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_wait: Option<Duration>,
    /// Whether the receiver delays ACKs: "off"; the longest delay (RFC 5681: at most 500 ms), which with `ack_every` is DelAck;
    /// or "adaptive", as long as segments keep coming and 500 ms at most (TCP-ADA).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delayed_ack: Option<DelayedAck>,
    /// A delayed ACK acknowledges this many full-sized segments at most (RFC 5681: 2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_every: Option<Segments>,
    /// Whether the receiver permits SACK (RFC 2018).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sack: Option<bool>,
    /// Whether the receiver reports duplicates (D-SACK, RFC 2883).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub d_sack: Option<bool>,
    /// Receive buffer: what the receiver advertises at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_buffer: Option<Bytes>,
    /// The congestion control, by its name, or `module:Class` for one written in Python; without it: that of the
    /// transport.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub congestion: Option<String>,
    /// Parameters of the congestion control, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Parameter>,
}

/// The value of a parameter of a congestion control: a number, true or false, or a word.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(untagged, expecting = "this is no parameter; write a number, true or false, or a word in quotes")]
pub enum Parameter {
    /// Yes or no.
    Flag(bool),
    /// A number, in the parameter's unit.
    Number(#[serde(deserialize_with = "finite")] f64),
    /// One of the parameter's words.
    Text(String),
}

/// How lost segments are found and retransmitted.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Recovery {
    /// Fast retransmit, then slow start from one segment.
    Tahoe,
    /// Fast retransmit and fast recovery; any new ACK ends recovery (RFC 5681).
    Reno,
    /// Fast recovery that survives partial ACKs (RFC 6582).
    NewReno,
    /// Selective acknowledgements (RFC 6675).
    Sack,
}

/// When NewReno restarts its retransmission timer during recovery (RFC 6582 section 4).
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum NewRenoVariant {
    /// At the first partial ACK only.
    Impatient,
    /// At every partial ACK.
    SlowButSteady,
}

/// For which duplicate ACKs Tahoe and Reno make no fast retransmit, before all that was outstanding at the last loss event is
/// acknowledged.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FastRetransmitGuard {
    /// All may.
    Off,
    /// After a timeout none does; in Tahoe after a fast retransmit neither. A second loss in a window brings Reno a second one.
    Timeout,
    /// After a fast retransmit none does either: a second loss in a window makes Reno wait for its timer (ns-2's `bugFix_`).
    Window,
}

/// The window when NewReno leaves recovery (RFC 6582 section 3.2, step 3).
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FullAckWindow {
    /// min(ssthresh, max(FlightSize, MSS) + MSS), which avoids a burst.
    FlightSize,
    /// ssthresh.
    Ssthresh,
}

/// Test of a timeout for being spurious (F-RTO, RFC 5682).
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FRto {
    /// None.
    Off,
    /// By cumulative ACKs (section 2).
    Basic,
    /// By SACK (section 3), where it is negotiated.
    Sack,
}

/// Which segments feed the RTO computation (RFC 6298 section 3).
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RttSampling {
    /// One segment at a time, about one sample per round trip.
    OncePerFlight,
    /// Every ACK of data sent once.
    EveryAck,
}

/// A number that JSON can say too.
fn finite<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(deserializer)?;
    if number.is_finite() { Ok(number) } else { Err(serde::de::Error::custom("the number is not finite")) }
}

impl Tcp {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
