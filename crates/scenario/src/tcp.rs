//! The settings of TCP, each over what the preset says.

use crate::limits::LARGEST_SEGMENT;
use crate::values::Window;
use cogtcp_transport::{
    DelayedAck, FRto, FastRetransmitGuard, FullAckWindow, InitialWindow, NewRenoVariant, ParameterValue,
    PrrRules, ReceiverConfig, Recovery, RttSampling, Segments, SenderConfig, TimeoutRules,
};
use cogtcp_units::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Makes the section of all settings, from one line for each: its name, its type in scenarios, and the fields
/// of the two endpoints that it sets.
macro_rules! settings {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty = $($end:ident.$field:ident),+;)+) => {
        /// Settings of TCP. What is not set is as the preset of the flow's `transport` has it.
        #[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
        #[serde(deny_unknown_fields)]
        pub struct Tcp {
            $(
                $(#[doc = $doc])+
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $name: Option<$type>,
            )+
            /// The congestion control, by its name, or `module:Class` for one written in Python; without it:
            /// the transport's.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub congestion: Option<String>,
            /// Parameters of the congestion control, by name.
            #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
            pub parameters: BTreeMap<String, ParameterValue>,
        }

        impl Tcp {
            /// What a flow's TCP does where neither its transport nor the scenario says otherwise, as it
            /// would be written. Not set: what has no such value (no cap, never), and `recovery` and
            /// `congestion`, which are the transport's.
            pub fn defaults() -> Self {
                let ends = Endpoints::default();
                let defaults = Self {
                    $($name: settings!(@first $type, ends, $($end.$field),+),)+
                    ..Self::default()
                };
                Self { recovery: None, ..defaults }
            }

            /// Puts what is set over the two configurations; windows are counted in segments of `mss` bytes.
            pub(crate) fn apply(&self, ends: &mut Endpoints, mss: u32) {
                $(if let Some(value) = self.$name {
                    $(value.put(&mut ends.$end.$field, mss);)+
                })+
            }
        }
    };
    (@first $type:ty, $ends:ident, $end:ident.$field:ident $(, $($more:tt)*)?) => {
        <$type as Setting<_>>::of(&$ends.$end.$field)
    };
}

/// The configurations of a flow's two ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Endpoints {
    pub(crate) sender: SenderConfig,
    pub(crate) receiver: ReceiverConfig,
}

settings! {
    /// Most payload bytes per segment (the MSS, both ways), 1 to 65495 B.
    segment_size: Bytes = sender.mss, receiver.mss;
    /// Congestion window after the handshake: "rfc6928" or a number of segments.
    initial_window: InitialWindow = sender.initial_window;
    /// Slow start threshold at the start; without it: unlimited (RFC 5681: arbitrarily high).
    initial_ssthresh: Window = sender.initial_ssthresh;
    /// Cap on the sender's window (ns-2's `window_`); without it: none.
    max_window: Window = sender.max_window;
    /// How lost segments are found and retransmitted; without it: as the transport does.
    recovery: Recovery = sender.recovery;
    /// When NewReno restarts its retransmission timer during recovery.
    newreno_variant: NewRenoVariant = sender.newreno_variant;
    /// The window when NewReno leaves recovery.
    full_ack_window: FullAckWindow = sender.full_ack_window;
    /// When Tahoe and Reno refuse a second fast retransmit for losses of one window.
    fast_retransmit_guard: FastRetransmitGuard = sender.fast_retransmit_guard;
    /// Duplicate ACKs that signal a loss (RFC 5681: 3), 1 to 1000.
    dup_thresh: u32 = sender.dup_thresh;
    /// Whether the first two duplicate ACKs let out new segments (RFC 3042).
    limited_transmit: bool = sender.limited_transmit;
    /// Whether a timeout is tested for being spurious (RFC 5682).
    f_rto: FRto = sender.f_rto;
    /// Whether a response to a loss is undone when a timestamp shows that it was needless (RFC 3522). Needs
    /// SACK and timestamps.
    eifel: bool = sender.eifel;
    /// Whether a response to a loss is undone when D-SACKs have reported every retransmission (RFC 3708).
    /// Needs SACK.
    d_sack_undo: bool = sender.d_sack_undo;
    /// How timeouts come about, and what they do to the window.
    timeout_rules: TimeoutRules = sender.timeout_rules;
    /// Tick of a timer wheel as Linux's (1/HZ), up to 10 s: timers fire at ticks, later the longer they are;
    /// 0: exact timers.
    timer_tick: Duration = sender.timer_tick;
    /// Whether fast recovery sends in proportion to what is delivered (PRR, RFC 9937). Needs SACK.
    prr: bool = sender.prr;
    /// How PRR counts.
    prr_rules: PrrRules = sender.prr_rules;
    /// Whether losses are found by time (RACK, RFC 8985). Needs SACK.
    rack: bool = sender.rack;
    /// Whether a tail loss probe goes before a timeout (TLP, RFC 8985). Needs RACK.
    tlp: bool = sender.tlp;
    /// Longest delay of an ACK that a tail loss probe allows for (RFC 8985: TLP.max_ack_delay).
    max_ack_delay: Duration = sender.max_ack_delay;
    /// Whether ECN is used (RFC 3168): offered and agreed to, new data ECN-capable, the window reduced for
    /// marks as for losses.
    ecn: bool = sender.ecn, receiver.ecn;
    /// Whether timestamps are used (RFC 7323).
    timestamps: bool = sender.timestamps, receiver.timestamps;
    /// Whether timestamps guard against old segments (PAWS, RFC 7323 section 5).
    paws: bool = receiver.paws;
    /// Tick of the timestamp clock, 1 us to 10 s.
    timestamp_tick: Duration = sender.timestamp_tick;
    /// Whether windows are scaled (RFC 7323), without which none is above 65535 B.
    window_scaling: bool = sender.window_scaling, receiver.window_scaling;
    /// RTO before the first RTT sample (RFC 6298: 1 s; in an ad hoc network under the MAC profiles ns2 and
    /// ns3: 3 s).
    initial_rto: Duration = sender.initial_rto;
    /// Least RTO (RFC 6298: 1 s; Linux: 200 ms).
    min_rto: Duration = sender.min_rto;
    /// Whether `min_rto` bounds 4 RTTVAR, so that the RTO is at least SRTT + `min_rto` (Linux).
    min_rto_above_srtt: bool = sender.min_rto_above_srtt;
    /// Whether segments leave in packets of several, whose last bears PSH, as in Linux.
    segmentation_offload: bool = sender.segmentation_offload;
    /// Greatest RTO, backed off or not (RFC 6298: at least 60 s).
    max_rto: Duration = sender.max_rto;
    /// Whether ssthresh is held when a segment times out again (RFC 5681 section 3.1); else it is lowered
    /// again (ns-2).
    hold_ssthresh: bool = sender.hold_ssthresh;
    /// Whether the backoff of a lost SYN lasts until a round-trip time is measured (ns-2); else data starts
    /// with an RTO of 3 s (RFC 6298 section 5.7).
    keep_syn_backoff: bool = sender.keep_syn_backoff;
    /// Whether the retransmission timer restarts when fast recovery retransmits the oldest segment (BSD,
    /// Linux, ns-2); else it runs on (RFC 6298, ns-3).
    restart_on_retransmit: bool = sender.restart_on_retransmit;
    /// Clock granularity G of the RTO computation.
    clock_granularity: Duration = sender.clock_granularity;
    /// Which segments feed the RTO computation.
    rtt_sampling: RttSampling = sender.rtt_sampling;
    /// Whether cwnd falls to the restart window after an idle RTO (RFC 5681 section 4.1).
    restart_after_idle: bool = sender.restart_after_idle;
    /// Whether cwnd, once the receiver's closed window has opened again, is spread over a round-trip time
    /// rather than sent as one burst.
    paced_resume: bool = sender.paced_resume;
    /// Whether the sender heeds a window smaller than an earlier offer (RFC 9293 section 3.8.6: it must be
    /// robust against one). Otherwise it may send what was once offered.
    heeds_shrinking: bool = sender.heeds_shrinking;
    /// Whether cwnd grows only when it was the limit.
    window_validation: bool = sender.window_validation;
    /// Give up when data stays unacknowledged so long; without it: never.
    user_timeout: Duration = sender.user_timeout;
    /// Time in TIME-WAIT after the close.
    time_wait: Duration = sender.time_wait;
    /// Delay of ACKs. Off: "off". The longest delay (RFC 5681: at most 500 ms), with `ack_every`: "200 ms".
    /// As long as segments keep coming, at most 500 ms (TCP-ADA): "adaptive". Linux's 40 ms, but at once at
    /// the start, after pauses and duplicates, and while the offered window grows: "linux".
    delayed_ack: DelayedAck = receiver.delayed_ack;
    /// A delayed ACK answers this many full-sized segments at most (RFC 5681: 2).
    ack_every: Segments = receiver.ack_every;
    /// Whether the receiver permits SACK (RFC 2018).
    sack: bool = receiver.sack;
    /// Whether the receiver reports duplicates (D-SACK, RFC 2883).
    d_sack: bool = receiver.d_sack;
    /// Receive buffer: what the receiver advertises at most.
    receive_buffer: Bytes = receiver.buffer;
    /// Whether the window that is offered begins with 65535 B and grows with what the application takes, up
    /// to half of the buffer, as in Linux.
    window_tuning: bool = receiver.window_tuning;
}

/// How a value in a scenario stands for a field of an endpoint.
trait Setting<Field>: Sized {
    /// Sets the field; `mss` is the size of a segment.
    fn put(self, field: &mut Field, mss: u32);

    /// The value that sets the field as it is, where there is one.
    fn of(field: &Field) -> Option<Self>;
}

impl<T: Copy> Setting<T> for T {
    fn put(self, field: &mut T, _: u32) {
        *field = self;
    }
    fn of(field: &T) -> Option<T> {
        Some(*field)
    }
}

impl<T: Copy> Setting<Option<T>> for T {
    fn put(self, field: &mut Option<T>, _: u32) {
        *field = Some(self);
    }
    fn of(field: &Option<T>) -> Option<T> {
        *field
    }
}

impl Setting<u32> for Segments {
    fn put(self, field: &mut u32, _: u32) {
        *field = self.0;
    }
    fn of(field: &u32) -> Option<Self> {
        Some(Self(*field))
    }
}

/// The size of a segment. What is larger than any was refused.
impl Setting<u32> for Bytes {
    fn put(self, field: &mut u32, _: u32) {
        *field = self.get().clamp(1, LARGEST_SEGMENT) as u32;
    }
    fn of(field: &u32) -> Option<Self> {
        Some(Self::new(u64::from(*field)))
    }
}

/// The size of a buffer.
impl Setting<u64> for Bytes {
    fn put(self, field: &mut u64, _: u32) {
        *field = self.get();
    }
    fn of(field: &u64) -> Option<Self> {
        Some(Self::new(*field))
    }
}

/// A threshold, which is unlimited where there is none.
impl Setting<u64> for Window {
    fn put(self, field: &mut u64, mss: u32) {
        *field = self.bytes(mss);
    }
    fn of(field: &u64) -> Option<Self> {
        (*field < u64::MAX).then(|| Self::Bytes(Bytes::new(*field)))
    }
}

impl Setting<Option<u64>> for Window {
    fn put(self, field: &mut Option<u64>, mss: u32) {
        *field = Some(self.bytes(mss));
    }
    fn of(field: &Option<u64>) -> Option<Self> {
        field.map(|bytes| Self::Bytes(Bytes::new(bytes)))
    }
}

impl Tcp {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_defaults_change_nothing() {
        let mut ends = Endpoints::default();
        let mss = ends.sender.mss;
        Tcp::defaults().apply(&mut ends, mss);
        // A sender that does not offer timestamps makes the receiver's readiness for them idle.
        ends.receiver.timestamps = ReceiverConfig::default().timestamps;
        assert_eq!(ends, Endpoints::default());
    }
}
