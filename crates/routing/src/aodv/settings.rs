//! What a scenario may set of AODV.

use super::config::RequestTimeout;
use super::{AtHandoff, ErrorTo, LocalRepair};
use crate::message::WireFormat;
use cogtcp_units::{Duration, overlay};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which defaults AODV has.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AodvProfile {
    /// RFC 3561, section 10.
    Rfc,
    /// ns-2.
    Ns2,
    /// ns-3.
    Ns3,
}

overlay! {
    /// Settings of AODV, with the names of RFC 3561, section 10.
    pub struct AodvConfig {
        /// Lifetime of a reverse route; `None`: by the formula of section 6.5.
        reverse_route_life: Option<Duration>,
        /// How long a request is remembered, so that its copies are dropped; `None`: PATH_DISCOVERY_TIME.
        request_memory: Option<Duration>,
        /// Added to the time to live in RING_TRAVERSAL_TIME.
        timeout_buffer: u8,
        /// How to wait for a reply.
        request_timeout: RequestTimeout,
        /// Own requests wait so too (ns-3, RFC 5148): nodes that begin to seek at one instant would collide,
        /// and again at every repetition. In ns-2 they do not; there the MAC draws a backoff before every
        /// frame.
        jitter_own: bool,
        /// Sizes of messages.
        wire: WireFormat,
    }

    /// AODV in a scenario: a profile and its exceptions.
    pub struct AodvSettings {
        /// Which defaults the other settings have: rfc.
        profile: AodvProfile,
    }

    /// ACTIVE_ROUTE_TIMEOUT, lifetime of a route in use: 3 s; ns2: 10 s.
    active_route_timeout: Duration,
    /// MY_ROUTE_TIMEOUT, lifetime in a destination's reply: 6 s; ns2: 10 s; ns3: 11.2 s.
    my_route_timeout: Duration,
    /// NET_DIAMETER, time to live of a request after the rings, hops: 35; ns2: 30.
    net_diameter: u8,
    /// NODE_TRAVERSAL_TIME, estimate of the time of a hop: 40 ms; ns2: 30 ms.
    node_traversal_time: Duration,
    /// RREQ_RETRIES, requests through the whole network after the rings: 2; ns2: 4.
    rreq_retries: u32,
    /// RREQ_RATELIMIT, own requests in a second, 0 without limit: 10; ns2: 0.
    rreq_ratelimit: u32,
    /// RERR_RATELIMIT, errors in a second, 0 without limit: 10; ns2: 0.
    rerr_ratelimit: u32,
    /// TTL_START, time to live of the first request, hops: 1; ns2: 30, the whole network (its 5 is never
    /// used).
    ttl_start: u8,
    /// TTL_INCREMENT, what each ring adds, hops: 2.
    ttl_increment: u8,
    /// TTL_THRESHOLD, the greatest ring, hops: 7.
    ttl_threshold: u8,
    /// Pause after a failed search for the same destination: none; ns2: 10 s (MAX_RREQ_TIMEOUT).
    failure_pause: Duration,
    /// Whether nodes send hellos (RFC 3561, section 6.9): no; ns3: yes.
    hello: bool,
    /// Whether they do so off active routes too: no; ns3: yes.
    hello_always: bool,
    /// HELLO_INTERVAL: 1 s.
    hello_interval: Duration,
    /// ALLOWED_HELLO_LOSS: 2; ns2: 3.
    allowed_hello_loss: u32,
    /// Reaction to a spectrum handoff or change of power: nothing; hello (as in cr_aodv); search (a source
    /// searches for its routes again).
    at_handoff: AtHandoff,
    /// Whether a frame that the MAC gives up breaks the link (section 6.10): yes.
    link_feedback: bool,
    /// G flag of requests (section 6.6.3): no; ns3: yes.
    gratuitous_replies: bool,
    /// D flag of requests, no replies of intermediate nodes (section 6.6): no.
    destination_only: bool,
    /// A flag of replies, who does not acknowledge is blacklisted (section 6.8): no.
    reply_acknowledgement: bool,
    // Broadcasts that are passed on wait for a random time up to this. RFC 3561 has none; both simulators
    // have 10 ms, without which neighbours that hear one broadcast would answer it at the same instant.
    /// Longest random wait before a broadcast is passed on: 10 ms.
    jitter: Duration,
    // Whatever is heard makes a route to the neighbour that sent it (6.2, 6.5, 6.7). In ns-2 only requests
    // and replies make routes, to the node that they are about.
    /// Whether each packet heard makes a route to the neighbour that sent it (sections 6.2, 6.5, 6.7): yes;
    /// ns2: no.
    neighbor_routes: bool,
    // How often the ends of routes and of waits for replies are looked at; zero: each at its time. ns-2:
    // every 0.5 s (`RouteCacheTimer`), all nodes at the same instants. A packet that wants a route after the
    // wait is over begins the next request at once.
    /// How often the ends of routes and of waits for replies are looked at: each at its time; ns2: every 0.5
    /// s.
    timer_interval: Duration,
    // The wait for a reply counts with the time of a hop as the last three searches for the destination had
    // it (ns-2: `PerHopTime`), not with NODE_TRAVERSAL_TIME. Here a search is measured from its last request
    // on; ns-2 has the time in the message.
    /// Whether the wait for a reply counts with measured times of a hop: no; ns2: yes. It needs ns2's waits.
    measured_hop_time: bool,
    // TTL_THRESHOLD is compared with the ring before, so that the last ring may reach beyond it: 8 after 6
    // (ns-2: `sendRequest`).
    /// Whether TTL_THRESHOLD is compared with the ring before, so that 8 follows 6: no; ns2: yes.
    threshold_of_last_ring: bool,
    // After a search that failed the next goes through the whole network at once (ns-2: `rt_req_last_ttl`).
    /// Whether the search after one that failed goes through the whole network at once: no; ns2: yes.
    wide_after_failure: bool,
    /// Whom errors are sent to (section 6.11): precursors; ns2: everybody.
    error_to: ErrorTo,
    // A message of routing that the MAC gives up breaks the link too, and a reply puts the neighbour on the
    // blacklist (6.8). In ns-2 only data do (`rt_ll_failed`).
    /// Whether a message of routing that the MAC gives up breaks the link, as data do: yes; ns2: no.
    routing_breaks_link: bool,
    // Data make those that they come from precursors. RFC 3561 and ns-2 make them of replies alone.
    /// Whether data make precursors, as replies do: yes; RFC 3561, section 6.6 to 6.7, and ns2: no.
    data_precursors: bool,
    // Data prolong the routes to next hop, previous hop and source beside that to the destination (6.2). In
    // ns-2 that to the destination alone (`forward`).
    /// Whether data prolong the routes to their source and to both neighbours too (section 6.2): yes; ns2:
    /// no.
    prolongs_all: bool,
    // A destination raises its number with every reply (ns-2: `recvRequest`), so that every reply is news.
    /// Whether a destination raises its number with every reply: no; ns2: yes.
    fresh_replies: bool,
    // A reply that says what is known already is passed on (here); RFC 3561 (6.7) and ns-2 let it end there.
    /// Whether a reply that says what is known already is passed on: yes; RFC 3561, section 6.7, and ns2: no.
    repeats_replies: bool,
    /// Whether relays mend routes (section 6.12): none; ns2: ns2.
    local_repair: LocalRepair,
}

impl AodvSettings {
    /// The defaults of a profile.
    pub fn of(profile: AodvProfile) -> Self {
        Self { profile: Some(profile), ..Self::default() }
    }

    /// Returns all settings: the profile's, overridden by the explicit ones.
    pub fn config(&self) -> AodvConfig {
        self.over(AodvConfig::rfc())
    }

    /// Returns all settings: the profile's (or else those in `base`), overridden by the explicit ones.
    pub(crate) fn over(&self, base: AodvConfig) -> AodvConfig {
        let base = match self.profile {
            None => base,
            Some(AodvProfile::Rfc) => AodvConfig::rfc(),
            Some(AodvProfile::Ns2) => AodvConfig::ns2(),
            Some(AodvProfile::Ns3) => AodvConfig::ns3(),
        };
        self.overlay(base)
    }
}
