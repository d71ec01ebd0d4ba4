//! The kinds of event, in one list: adding one is a line here, and the place that emits it.
//!
//! Their order is the order of their codes, so a new one goes to the end.

use crate::Code;
use cogtcp_crosslayer::{LinkEvent, Verdict};
use cogtcp_units::Rate;

macro_rules! event_kinds {
    ($( #[doc = $meaning:literal] $variant:ident = $name:literal, )+) => {
        /// The kinds of event.
        #[derive(Clone, Copy, Debug, Eq, PartialEq)]
        #[repr(u32)]
        pub enum EventKind {
            $( #[doc = $meaning] $variant, )+
        }

        impl EventKind {
            /// Every kind, in the order of their codes.
            pub const ALL: &[Self] = &[$( Self::$variant ),+];

            /// The kind's name in the column `kind`.
            pub const fn name(self) -> &'static str {
                match self {
                    $( Self::$variant => $name, )+
                }
            }

            /// What has happened.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $( Self::$variant => $meaning.trim_ascii(), )+
                }
            }
        }
    };
}

event_kinds! {
    /// A flow's application starts.
    FlowStart = "flow_start",
    /// A flow's application stops.
    FlowStop = "flow_stop",
    /// A flow's sender is connected.
    Connected = "connected",
    /// A flow has delivered all of its fixed size.
    Completed = "completed",
    /// A flow's sender is closed: all data and its FIN are acknowledged.
    Closed = "closed",
    /// A flow's sender gave up after too many timeouts.
    Aborted = "aborted",
    /// A retransmission timeout.
    Rto = "rto",
    /// A timeout turned out to be spurious.
    SpuriousRto = "spurious_rto",
    /// A fast retransmit.
    FastRetransmit = "fast_retransmit",
    /// The window was reduced because the network notified congestion (ECN).
    EcnReduction = "ecn_reduction",
    /// Loss recovery ends.
    RecoveryExit = "recovery_exit",
    /// The receiver closed its window: the sender probes.
    ZeroWindow = "zero_window",
    /// The receiver's window is open again.
    WindowOpen = "window_open",
    /// A radio starts to sense.
    SensingStart = "sensing_start",
    /// A radio stops sensing.
    SensingEnd = "sensing_end",
    /// A primary user arrives on a radio's channel.
    PuArrival = "pu_arrival",
    /// A radio starts to switch channels.
    SwitchingStart = "switching_start",
    /// A radio has switched channels.
    SwitchingEnd = "switching_end",
    /// A radio transmits on another channel than before: a spectrum handoff is complete.
    Handoff = "handoff",
    /// A packet is lost: the detail says why.
    Drop = "drop",
    /// A mobile router sends "link going down" to a client.
    TriggerDown = "trigger_down",
    /// A mobile router sends "link going up" to a client.
    TriggerUp = "trigger_up",
    /// A connection manager begins to hold a flow's source.
    Freeze = "freeze",
    /// A connection manager lets a flow's source go.
    Thaw = "thaw",
    /// A sensing missed a primary user.
    MissedDetection = "missed_detection",
    /// A sensing reported a primary user where there was none.
    FalseAlarm = "false_alarm",
    /// A primary user destroyed a frame: its exchange fails now.
    Interference = "interference",
    /// A primary user goes ON, on whatever band.
    PuOn = "pu_on",
    /// A primary user goes OFF.
    PuOff = "pu_off",
    /// A radio on a journey hears no base station any more.
    SignalLost = "signal_lost",
    /// It hears one again.
    SignalBack = "signal_back",
    /// A sender's host hears that the network cannot reach the receiver (ICMP).
    Unreachable = "unreachable",
    /// A node of an ad hoc network begins to seek a route to the node that the detail names.
    SearchStart = "search_start",
    /// It has found one: the value is its hops.
    RouteFound = "route_found",
    /// It has found none.
    SearchFailed = "search_failed",
    /// A route that data takes moved to another next hop, to the node that the detail names.
    RouteChanged = "route_changed",
    /// A route that data took ended, to the node that the detail names.
    RouteLost = "route_lost",
    /// A timer of a transport other than TCP expired that waits for the peer (TFRC: the nofeedback timer).
    Timeout = "timeout",
    /// A transport other than TCP reacts to a loss that its peer reported.
    Loss = "loss",
    /// A subflow of Multipath TCP joins its connection: the detail names its path.
    Joined = "joined",
    /// Data of a subflow is queued for other subflows: the value is its bytes.
    Reinjected = "reinjected",
}

impl EventKind {
    /// The kind's code in a `kind` column that was interned in the order of [`EventKind::ALL`].
    pub const fn code(self) -> Code {
        Code(self as u32)
    }
}

/// What a table of events says of an event of a radio: its kind, detail and value, and the kind of error that
/// it is beside that. `None`: it is not recorded. `own_rate` is the rate that "the link's own" stands for.
pub fn of_link_event(
    event: LinkEvent,
    own_rate: Rate,
) -> Option<(EventKind, &'static str, f64, Option<EventKind>)> {
    let error = match event {
        LinkEvent::SensingEnd { verdict: Verdict::Missed } => Some(EventKind::MissedDetection),
        LinkEvent::SensingEnd { verdict: Verdict::FalseAlarm } => Some(EventKind::FalseAlarm),
        _ => None,
    };
    let (kind, detail, value) = match event {
        LinkEvent::SensingStart { .. } => (EventKind::SensingStart, "", f64::NAN),
        LinkEvent::SensingEnd { verdict } => (EventKind::SensingEnd, verdict.name(), f64::NAN),
        LinkEvent::PuArrival { during } => (EventKind::PuArrival, during.name(), f64::NAN),
        LinkEvent::SwitchingStart { .. } => (EventKind::SwitchingStart, "", f64::NAN),
        LinkEvent::SwitchingEnd => (EventKind::SwitchingEnd, "", f64::NAN),
        LinkEvent::SignalLost { cause } => (EventKind::SignalLost, cause.name(), f64::NAN),
        LinkEvent::SignalBack => (EventKind::SignalBack, "", f64::NAN),
        LinkEvent::Handoff { rate, .. } => {
            (EventKind::Handoff, "", rate.unwrap_or(own_rate).bits_per_second() as f64)
        }
        // Rates are in the series, gates follow from the events above, and queues are no radios.
        LinkEvent::RateChange { .. }
        | LinkEvent::LinkDown
        | LinkEvent::LinkUp
        | LinkEvent::QueueFree { .. } => return None,
    };
    Some((kind, detail, value, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_kinds_have_their_place_as_code() {
        for (i, kind) in EventKind::ALL.iter().enumerate() {
            assert_eq!(kind.code(), Code(i as u32));
        }
    }

    #[test]
    fn event_kinds_have_names_of_their_own_and_say_what_they_are() {
        for (i, kind) in EventKind::ALL.iter().enumerate() {
            let named = |other: &&EventKind| other.name() == kind.name();
            assert_eq!(EventKind::ALL.iter().position(|other| named(&other)), Some(i));
            assert!(kind.meaning().ends_with('.') && !kind.meaning().starts_with(' '), "{}", kind.name());
        }
    }

    #[test]
    fn what_series_or_other_events_have_makes_no_row() {
        let kind = |event| of_link_event(event, Rate::ZERO).map(|(kind, ..)| kind);
        assert_eq!(kind(LinkEvent::SwitchingEnd), Some(EventKind::SwitchingEnd));
        assert_eq!([LinkEvent::LinkDown, LinkEvent::LinkUp].map(kind), [None, None]);
    }
}
