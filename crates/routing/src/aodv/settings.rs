//! What a scenario may set of AODV.

use super::{AodvConfig, ErrorTo, LocalRepair};
use cogtcp_units::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose defaults AODV has.
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

/// AODV in a scenario: a profile, and what differs from it.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct AodvSettings {
    /// Whose defaults the others have: rfc.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<AodvProfile>,
    /// ACTIVE_ROUTE_TIMEOUT, lifetime of a route in use: 3 s; ns2: 10 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_route_timeout: Option<Duration>,
    /// MY_ROUTE_TIMEOUT, lifetime in a destination's reply: 6 s; ns2: 10 s; ns3: 11.2 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub my_route_timeout: Option<Duration>,
    /// NET_DIAMETER, time to live of a request after the rings, hops: 35; ns2: 30.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub net_diameter: Option<u8>,
    /// NODE_TRAVERSAL_TIME, estimate of the time of a hop: 40 ms; ns2: 30 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_traversal_time: Option<Duration>,
    /// RREQ_RETRIES, requests through the whole network after the rings: 2; ns2: 4.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rreq_retries: Option<u32>,
    /// RREQ_RATELIMIT, own requests in a second, 0 without limit: 10; ns2: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rreq_ratelimit: Option<u32>,
    /// RERR_RATELIMIT, errors in a second, 0 without limit: 10; ns2: 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerr_ratelimit: Option<u32>,
    /// TTL_START, time to live of the first request, hops: 1; ns2: 30, the whole network (its 5 is never used).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_start: Option<u8>,
    /// TTL_INCREMENT, what each ring adds, hops: 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_increment: Option<u8>,
    /// TTL_THRESHOLD, the greatest ring, hops: 7.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_threshold: Option<u8>,
    /// Pause after a failed search for the same destination: none; ns2: 10 s (MAX_RREQ_TIMEOUT).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure_pause: Option<Duration>,
    /// Whether nodes send hellos (RFC 3561, section 6.9): no; ns3: yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hello: Option<bool>,
    /// Whether they do so off active routes too: no; ns3: yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hello_always: Option<bool>,
    /// HELLO_INTERVAL: 1 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hello_interval: Option<Duration>,
    /// ALLOWED_HELLO_LOSS: 2; ns2: 3.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed_hello_loss: Option<u32>,
    /// Whether a hello follows a spectrum handoff of the node, as in cr_aodv: no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hello_at_handoff: Option<bool>,
    /// Whether a frame that the MAC gives up breaks the link (section 6.10): yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link_feedback: Option<bool>,
    /// G flag of requests (section 6.6.3): no; ns3: yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gratuitous_replies: Option<bool>,
    /// D flag of requests, no replies of intermediate nodes (section 6.6): no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destination_only: Option<bool>,
    /// A flag of replies, who does not acknowledge is blacklisted (section 6.8): no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_acknowledgement: Option<bool>,
    /// Longest random wait before a broadcast is passed on: 10 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Duration>,
    /// Whether whatever is heard makes a route to the neighbour that sent it (sections 6.2, 6.5, 6.7): yes; ns2: no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbor_routes: Option<bool>,
    /// How often the ends of routes and of waits for replies are looked at: each at its time; ns2: every 0.5 s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer_interval: Option<Duration>,
    /// Whether the wait for a reply counts with measured times of a hop: no; ns2: yes. It needs ns2's waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_hop_time: Option<bool>,
    /// Whether TTL_THRESHOLD is compared with the ring before, so that 8 follows 6: no; ns2: yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold_of_last_ring: Option<bool>,
    /// Whether the search after one that failed goes through the whole network at once: no; ns2: yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wide_after_failure: Option<bool>,
    /// Whom errors are sent to (section 6.11): precursors; ns2: everybody.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_to: Option<ErrorTo>,
    /// Whether a message of routing that the MAC gives up breaks the link, as data do: yes; ns2: no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routing_breaks_link: Option<bool>,
    /// Whether data make precursors, as replies do: yes; RFC 3561, section 6.6 to 6.7, and ns2: no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_precursors: Option<bool>,
    /// Whether data prolong the routes to their source and to both neighbours too (section 6.2): yes; ns2: no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prolongs_all: Option<bool>,
    /// Whether a destination raises its number with every reply: no; ns2: yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh_replies: Option<bool>,
    /// Whether a reply that says what is known already is passed on: yes; RFC 3561, section 6.7, and ns2: no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeats_replies: Option<bool>,
    /// Whether relays mend routes (section 6.12): none; ns2: ns2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_repair: Option<LocalRepair>,
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
        AodvConfig {
            active_route_timeout: self.active_route_timeout.unwrap_or(base.active_route_timeout),
            my_route_timeout: self.my_route_timeout.unwrap_or(base.my_route_timeout),
            net_diameter: self.net_diameter.unwrap_or(base.net_diameter),
            node_traversal_time: self.node_traversal_time.unwrap_or(base.node_traversal_time),
            rreq_retries: self.rreq_retries.unwrap_or(base.rreq_retries),
            rreq_ratelimit: self.rreq_ratelimit.unwrap_or(base.rreq_ratelimit),
            rerr_ratelimit: self.rerr_ratelimit.unwrap_or(base.rerr_ratelimit),
            ttl_start: self.ttl_start.unwrap_or(base.ttl_start),
            ttl_increment: self.ttl_increment.unwrap_or(base.ttl_increment),
            ttl_threshold: self.ttl_threshold.unwrap_or(base.ttl_threshold),
            failure_pause: self.failure_pause.unwrap_or(base.failure_pause),
            hello: self.hello.unwrap_or(base.hello),
            hello_always: self.hello_always.unwrap_or(base.hello_always),
            hello_interval: self.hello_interval.unwrap_or(base.hello_interval),
            allowed_hello_loss: self.allowed_hello_loss.unwrap_or(base.allowed_hello_loss),
            hello_at_handoff: self.hello_at_handoff.unwrap_or(base.hello_at_handoff),
            link_feedback: self.link_feedback.unwrap_or(base.link_feedback),
            gratuitous_replies: self.gratuitous_replies.unwrap_or(base.gratuitous_replies),
            destination_only: self.destination_only.unwrap_or(base.destination_only),
            reply_acknowledgement: self.reply_acknowledgement.unwrap_or(base.reply_acknowledgement),
            jitter: self.jitter.unwrap_or(base.jitter),
            neighbor_routes: self.neighbor_routes.unwrap_or(base.neighbor_routes),
            timer_interval: self.timer_interval.unwrap_or(base.timer_interval),
            measured_hop_time: self.measured_hop_time.unwrap_or(base.measured_hop_time),
            threshold_of_last_ring: self.threshold_of_last_ring.unwrap_or(base.threshold_of_last_ring),
            wide_after_failure: self.wide_after_failure.unwrap_or(base.wide_after_failure),
            error_to: self.error_to.unwrap_or(base.error_to),
            routing_breaks_link: self.routing_breaks_link.unwrap_or(base.routing_breaks_link),
            data_precursors: self.data_precursors.unwrap_or(base.data_precursors),
            prolongs_all: self.prolongs_all.unwrap_or(base.prolongs_all),
            fresh_replies: self.fresh_replies.unwrap_or(base.fresh_replies),
            repeats_replies: self.repeats_replies.unwrap_or(base.repeats_replies),
            local_repair: self.local_repair.unwrap_or(base.local_repair),
            ..base
        }
    }
}
