//! The settings of AODV: those of RFC 3561 (section 10), of ns-2 and of ns-3.

use crate::message::WireFormat;
use crate::registry::WrongSetting;
use cogtcp_units::Duration;

/// How long a node waits for the reply to a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RequestTimeout {
    /// RFC 3561 sections 6.3 and 6.4: RING_TRAVERSAL_TIME within the rings, then NET_TRAVERSAL_TIME, doubled at each retry.
    Rfc,
    /// ns-2 (`AODV::sendRequest`): 2 * TTL * NODE_TRAVERSAL_TIME, times the number of requests that went through the whole
    /// network, 10 s at most. ns-2 measures the time of a hop once it has had replies; here it is the constant.
    Ns2,
}

/// Settings of AODV. The names are those of RFC 3561, section 10.
#[derive(Clone, Debug, PartialEq)]
pub struct AodvConfig {
    /// Lifetime of a route that is used.
    pub active_route_timeout: Duration,
    /// Lifetime that a destination gives in its reply.
    pub my_route_timeout: Duration,
    /// Lifetime of a reverse route; `None`: by the formula of section 6.5.
    pub reverse_route_life: Option<Duration>,
    /// The most hops between two nodes of the network.
    pub net_diameter: u8,
    /// Estimate of the time of one hop.
    pub node_traversal_time: Duration,
    /// How long a request is remembered, so that its copies are dropped; `None`: PATH_DISCOVERY_TIME.
    pub request_memory: Option<Duration>,
    /// Requests that go through the whole network after the rings.
    pub rreq_retries: u32,
    /// Requests that a node originates in a second at most; 0: no limit.
    pub rreq_ratelimit: u32,
    /// Errors that a node sends in a second at most; 0: no limit.
    pub rerr_ratelimit: u32,
    /// Time to live of the first request.
    pub ttl_start: u8,
    /// What each further ring adds.
    pub ttl_increment: u8,
    /// The greatest ring; after it comes NET_DIAMETER.
    pub ttl_threshold: u8,
    /// Added to the time to live in RING_TRAVERSAL_TIME.
    pub timeout_buffer: u8,
    /// How to wait for a reply.
    pub request_timeout: RequestTimeout,
    /// After a failed search: how long until the next for the same destination.
    pub failure_pause: Duration,
    /// Whether nodes send hellos.
    pub hello: bool,
    /// Whether they do so off active routes too.
    pub hello_always: bool,
    /// Time between hellos.
    pub hello_interval: Duration,
    /// Hellos that may be lost before the link counts as broken.
    pub allowed_hello_loss: u32,
    /// Whether a frame that the MAC gives up breaks the link.
    pub link_feedback: bool,
    /// G flag of own requests.
    pub gratuitous_replies: bool,
    /// D flag of own requests.
    pub destination_only: bool,
    /// A flag of all replies: the next hop acknowledges, or goes on the blacklist.
    pub reply_acknowledgement: bool,
    /// Broadcasts that are passed on wait for a random time up to this. RFC 3561 has none; both simulators have 10 ms,
    /// without which neighbours that hear one broadcast would answer it at the same instant.
    pub jitter: Duration,
    /// Own requests wait so too (ns-3, RFC 5148): nodes that begin to seek at one instant would collide, and again at every
    /// repetition. In ns-2 they do not; there the MAC draws a backoff before every frame.
    pub jitter_own: bool,
    /// Sizes of messages.
    pub wire: WireFormat,
}

impl AodvConfig {
    /// RFC 3561, section 10, with link-layer feedback and no hellos: 802.11 tells of its failures (6.10).
    pub fn rfc() -> Self {
        Self {
            active_route_timeout: Duration::from_secs(3),
            my_route_timeout: Duration::from_secs(6),
            reverse_route_life: None,
            net_diameter: 35,
            node_traversal_time: Duration::from_millis(40),
            request_memory: None,
            rreq_retries: 2,
            rreq_ratelimit: 10,
            rerr_ratelimit: 10,
            ttl_start: 1,
            ttl_increment: 2,
            ttl_threshold: 7,
            timeout_buffer: 2,
            request_timeout: RequestTimeout::Rfc,
            failure_pause: Duration::ZERO,
            hello: false,
            hello_always: false,
            hello_interval: Duration::from_secs(1),
            allowed_hello_loss: 2,
            link_feedback: true,
            gratuitous_replies: false,
            destination_only: false,
            reply_acknowledgement: false,
            jitter: Duration::from_millis(10),
            jitter_own: true,
            wire: WireFormat::Rfc,
        }
    }

    /// ns-2 (`aodv/aodv.h` of ns-2.31 to 2.35). No hellos, since `AODV_LINK_LAYER_DETECTION` is defined there.
    pub fn ns2() -> Self {
        Self {
            active_route_timeout: Duration::from_secs(10),
            my_route_timeout: Duration::from_secs(10),
            reverse_route_life: Some(Duration::from_secs(6)),
            net_diameter: 30,
            node_traversal_time: Duration::from_millis(30),
            request_memory: Some(Duration::from_secs(6)),
            // RREQ_RETRIES is 3 there, and `rt_req_cnt > RREQ_RETRIES` lets a fourth go.
            rreq_retries: 4,
            rreq_ratelimit: 0,
            rerr_ratelimit: 0,
            ttl_start: 5,
            request_timeout: RequestTimeout::Ns2,
            failure_pause: Duration::from_secs(10),
            allowed_hello_loss: 3,
            jitter_own: false,
            wire: WireFormat::Ns2,
            ..Self::rfc()
        }
    }

    /// ns-3 (`src/aodv/model/aodv-routing-protocol.cc`, the attributes' initial values): hellos at all times, gratuitous
    /// replies, replies live for 11.2 s. Link feedback is on there too.
    pub fn ns3() -> Self {
        Self {
            my_route_timeout: Duration::from_millis(11_200),
            hello: true,
            hello_always: true,
            gratuitous_replies: true,
            ..Self::rfc()
        }
    }

    /// Whether the settings make sense: the first that does not.
    pub fn check(&self) -> Result<(), WrongSetting> {
        let hops =
            |hops: u8, name| WrongSetting::unless(hops > 0, name, "0 hops reach nobody", "take 1 to 255");
        let span = |span: Duration, name| {
            let fits = span >= Duration::from_millis(1) && span <= Duration::from_secs(86_400);
            WrongSetting::unless(fits, name, "is no such time", "take 1 ms to 24 h")
        };
        hops(self.ttl_start, "ttl_start")?;
        hops(self.ttl_increment, "ttl_increment")?;
        hops(self.ttl_threshold, "ttl_threshold")?;
        hops(self.net_diameter, "net_diameter")?;
        span(self.active_route_timeout, "active_route_timeout")?;
        span(self.my_route_timeout, "my_route_timeout")?;
        span(self.node_traversal_time, "node_traversal_time")?;
        span(self.hello_interval, "hello_interval")?;
        let few = self.allowed_hello_loss >= 1;
        WrongSetting::unless(few, "allowed_hello_loss", "0 breaks every link at once", "take at least 1")?;
        let short =
            self.jitter <= Duration::from_secs(10) && self.failure_pause <= Duration::from_secs(86_400);
        WrongSetting::unless(short, "jitter", "is no such time", "take at most 10 s")
    }

    /// NET_TRAVERSAL_TIME: 2 * NODE_TRAVERSAL_TIME * NET_DIAMETER.
    pub fn net_traversal_time(&self) -> Duration {
        self.node_traversal_time * (2 * u64::from(self.net_diameter))
    }

    /// PATH_DISCOVERY_TIME (2 * NET_TRAVERSAL_TIME), or what is set in its place.
    pub fn request_memory(&self) -> Duration {
        self.request_memory.unwrap_or(self.net_traversal_time() * 2)
    }

    /// BLACKLIST_TIMEOUT, how long requests of a neighbour that a reply did not reach are ignored: RREQ_RETRIES *
    /// NET_TRAVERSAL_TIME.
    pub fn blacklist_timeout(&self) -> Duration {
        self.net_traversal_time() * u64::from(self.rreq_retries)
    }

    /// NEXT_HOP_WAIT, how long an acknowledgement may take: NODE_TRAVERSAL_TIME + 10 ms.
    pub fn next_hop_wait(&self) -> Duration {
        self.node_traversal_time + Duration::from_millis(10)
    }

    /// DELETE_PERIOD, how long the hop count of an ended route guides the next search: K * max(ACTIVE_ROUTE_TIMEOUT,
    /// HELLO_INTERVAL) with K = 5.
    pub fn delete_period(&self) -> Duration {
        self.active_route_timeout.max(self.hello_interval) * 5
    }

    /// How long a neighbour may be silent: ALLOWED_HELLO_LOSS * HELLO_INTERVAL (6.9).
    pub fn hello_lifetime(&self) -> Duration {
        self.hello_interval * u64::from(self.allowed_hello_loss)
    }

    /// How long to wait for the reply to a request of this time to live, the `wide`-th (from 0) through the whole network.
    pub(crate) fn wait_for_reply(&self, ttl: u8, wide: u32) -> Duration {
        let doubled = |span: Duration| span * (1 << wide.min(16));
        match self.request_timeout {
            RequestTimeout::Rfc if ttl < self.net_diameter => {
                // RING_TRAVERSAL_TIME.
                self.node_traversal_time * (2 * (u64::from(ttl) + u64::from(self.timeout_buffer)))
            }
            // 6.3: binary exponential backoff.
            RequestTimeout::Rfc => doubled(self.net_traversal_time()),
            RequestTimeout::Ns2 => {
                let times = if ttl < self.net_diameter { 1 } else { u64::from(wide) + 1 };
                (self.node_traversal_time * (2 * u64::from(ttl) * times)).min(Duration::from_secs(10))
            }
        }
    }
}
