//! The settings of AODV: by RFC 3561 (section 10), ns-2 and ns-3.

use super::AodvConfig;
use crate::message::WireFormat;
use cogtcp_units::{Check, Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long a node waits for the reply to a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RequestTimeout {
    /// RFC 3561 sections 6.3 and 6.4: RING_TRAVERSAL_TIME within the rings, then NET_TRAVERSAL_TIME, doubled
    /// at each retry.
    Rfc,
    /// ns-2 (`AODV::sendRequest`): 2 * TTL * the time of a hop, times the number of requests that went
    /// through the whole network, 10 s at most. The time of a hop is NODE_TRAVERSAL_TIME until
    /// [`AodvConfig::measured_hop_time`] has another.
    Ns2,
}

/// Whom a node tells that it cannot reach a destination.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorTo {
    /// The precursors of the route, one by unicast and several by broadcast; a route without any ends in
    /// silence (RFC 3561, 6.11).
    #[default]
    Precursors,
    /// All in range, by broadcast, of every route through a broken link (ns-2: `handle_link_failure`). Who
    /// hears it passes on what has precursors there, after the random wait of a broadcast (`recvError`), and
    /// all that waits for the sender leaves its interface queue.
    Everybody,
}

/// What a relay does with a packet that the MAC gave up.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LocalRepair {
    /// The link is broken; no repair (RFC 3561, 6.12: "may").
    #[default]
    None,
    /// As ns-2 (`local_rt_repair`). A node that is nearer to the destination than to the source holds the
    /// packet, and later ones for this destination, and seeks a route. It breaks no other route over the
    /// link, and sends no error, even if the search fails. By mistake its timer counts the time from the
    /// start of the run twice.
    Ns2,
}

/// What AODV does when a node's receiver moves to another channel (spectrum handoff).
///
/// Di Felice, Chowdhury and Bononi (MSWiM 2009, section 4.2) let the network layer reconfigure after a handoff,
/// and do not say how.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AtHandoff {
    /// Nothing: a link that fails afterwards is noticed as any other.
    #[default]
    Nothing,
    /// The node sends a hello on its new channel, or with its new power, as in CR-AODV.
    Hello,
    /// A source searches for its routes again after its own handoff or change of power. So it does after a
    /// handoff of a route's first relay, and if the relay's power no longer reaches it. The old route stays in
    /// use until a newer reply arrives.
    Search,
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
            at_handoff: AtHandoff::Nothing,
            link_feedback: true,
            gratuitous_replies: false,
            destination_only: false,
            reply_acknowledgement: false,
            jitter: Duration::from_millis(10),
            jitter_own: true,
            neighbor_routes: true,
            timer_interval: Duration::ZERO,
            measured_hop_time: false,
            threshold_of_last_ring: false,
            wide_after_failure: false,
            error_to: ErrorTo::Precursors,
            routing_breaks_link: true,
            // Not the RFC's: see `Aodv::use_route`.
            data_precursors: true,
            prolongs_all: true,
            fresh_replies: false,
            // Not the RFC's: see `Aodv::handle_reply`.
            repeats_replies: true,
            local_repair: LocalRepair::None,
            wire: WireFormat::Rfc,
        }
    }

    /// ns-2 (`aodv/aodv.h` of ns-2.31 to 2.35). No hellos, since `AODV_LINK_LAYER_DETECTION` is defined
    /// there.
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
            // TTL_START is 5 there, and never used: the last hop count of a new entry is 255
            // (`rt_last_hop_count`), which counts as a ring beyond TTL_THRESHOLD.
            ttl_start: 30,
            request_timeout: RequestTimeout::Ns2,
            failure_pause: Duration::from_secs(10),
            allowed_hello_loss: 3,
            jitter_own: false,
            neighbor_routes: false,
            timer_interval: Duration::from_millis(500),
            measured_hop_time: true,
            threshold_of_last_ring: true,
            wide_after_failure: true,
            error_to: ErrorTo::Everybody,
            routing_breaks_link: false,
            data_precursors: false,
            prolongs_all: false,
            fresh_replies: true,
            repeats_replies: false,
            local_repair: LocalRepair::Ns2,
            wire: WireFormat::Ns2,
            ..Self::rfc()
        }
    }

    /// ns-3 (`src/aodv/model/aodv-routing-protocol.cc`, the attributes' initial values): hellos at all times,
    /// gratuitous replies, replies live for 11.2 s. Link feedback is on there too.
    pub fn ns3() -> Self {
        Self {
            my_route_timeout: Duration::from_millis(11_200),
            hello: true,
            hello_always: true,
            gratuitous_replies: true,
            ..Self::rfc()
        }
    }

    /// True if the MAC or hellos tell of a broken link (RFC 3561, section 6.10): without either a route is
    /// used until it ends.
    pub(crate) fn hears_of_broken_links(&self) -> bool {
        self.link_feedback || self.hello
    }

    /// Reports each setting that is wrong.
    pub fn check(&self, found: &mut dyn Check) {
        for (hops, name) in [
            (self.ttl_start, "ttl_start"),
            (self.ttl_increment, "ttl_increment"),
            (self.ttl_threshold, "ttl_threshold"),
            (self.net_diameter, "net_diameter"),
        ] {
            found.unless(hops > 0, name, "0 hops reach nobody", "take 1 to 255");
        }
        for (span, name) in [
            (self.active_route_timeout, "active_route_timeout"),
            (self.my_route_timeout, "my_route_timeout"),
            (self.node_traversal_time, "node_traversal_time"),
            (self.hello_interval, "hello_interval"),
        ] {
            let fits = span >= Duration::from_millis(1) && span <= Duration::from_secs(86_400);
            found.unless(fits, name, "is out of range", "take 1 ms to 24 h");
        }
        let few = self.allowed_hello_loss >= 1;
        found.unless(few, "allowed_hello_loss", "0 breaks every link at once", "take at least 1");
        let fits = self.jitter <= Duration::from_secs(10);
        found.unless(fits, "jitter", "is out of range", "take 0 s to 10 s");
        let fits = self.failure_pause <= Duration::from_secs(86_400);
        found.unless(fits, "failure_pause", "is out of range", "take 0 s to 24 h");
        let interval = self.timer_interval;
        let fits =
            interval.is_zero() || (Duration::from_millis(1)..=Duration::from_secs(60)).contains(&interval);
        let remedy = "take 0 s (each at its time), or 1 ms to 60 s";
        found.unless(fits, "timer_interval", "is out of range", remedy);
    }

    /// NET_TRAVERSAL_TIME: 2 * NODE_TRAVERSAL_TIME * NET_DIAMETER.
    pub fn net_traversal_time(&self) -> Duration {
        self.node_traversal_time * (2 * u64::from(self.net_diameter))
    }

    /// PATH_DISCOVERY_TIME (2 * NET_TRAVERSAL_TIME), or what is set in its place.
    pub fn request_memory(&self) -> Duration {
        self.request_memory.unwrap_or(self.net_traversal_time() * 2)
    }

    /// BLACKLIST_TIMEOUT, how long requests of a neighbour that a reply did not reach are ignored:
    /// RREQ_RETRIES * NET_TRAVERSAL_TIME.
    pub fn blacklist_timeout(&self) -> Duration {
        self.net_traversal_time() * u64::from(self.rreq_retries)
    }

    /// NEXT_HOP_WAIT, how long an acknowledgement may take: NODE_TRAVERSAL_TIME + 10 ms.
    pub fn next_hop_wait(&self) -> Duration {
        self.node_traversal_time + Duration::from_millis(10)
    }

    /// DELETE_PERIOD, how long the hop count of an ended route guides the next search: K *
    /// max(ACTIVE_ROUTE_TIMEOUT, HELLO_INTERVAL) with K = 5.
    pub fn delete_period(&self) -> Duration {
        self.active_route_timeout.max(self.hello_interval) * 5
    }

    /// How long a neighbour may be silent: ALLOWED_HELLO_LOSS * HELLO_INTERVAL (6.9).
    pub fn hello_lifetime(&self) -> Duration {
        self.hello_interval * u64::from(self.allowed_hello_loss)
    }

    /// When what is over at `time` is looked at: there, or at the next multiple of `timer_interval`.
    pub(crate) fn looked_at(&self, time: Time) -> Time {
        let interval = self.timer_interval.as_nanos();
        if interval == 0 {
            return time;
        }
        // Saturating: what never comes stays at the end of time.
        Time::from_nanos(time.as_nanos().div_ceil(interval).saturating_mul(interval))
    }

    /// How long to wait for the reply to a request of this time to live, the `wide`-th (from 0) through the
    /// whole network, if a hop takes `hop_time`.
    pub(crate) fn wait_for_reply(&self, ttl: u8, wide: u32, hop_time: Duration) -> Duration {
        // Capped, or the shift would overflow; such a wait outlasts any run.
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
                (hop_time * (2 * u64::from(ttl) * times)).min(Duration::from_secs(10))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_units::WrongSetting;

    fn checked(config: &AodvConfig) -> Option<WrongSetting> {
        let mut found = None;
        config.check(&mut found);
        found
    }

    /// Each setting that is out of range is named itself.
    #[test]
    fn the_wrong_setting_is_named() {
        let wrong = |change: &dyn Fn(&mut AodvConfig)| {
            let mut config = AodvConfig::rfc();
            change(&mut config);
            checked(&config).unwrap().setting
        };
        let day = Duration::from_secs(86_400);
        let over = day + Duration::from_nanos(1);
        assert_eq!(wrong(&|config| config.failure_pause = over), "failure_pause");
        assert_eq!(wrong(&|config| config.jitter = Duration::from_millis(10_001)), "jitter");
        assert_eq!(wrong(&|config| config.timer_interval = Duration::from_secs(61)), "timer_interval");
        assert_eq!(wrong(&|config| config.hello_interval = over), "hello_interval");
        assert_eq!(wrong(&|config| config.ttl_increment = 0), "ttl_increment");
        let short = Duration::from_nanos(999_999);
        assert_eq!(wrong(&|config| config.active_route_timeout = short), "active_route_timeout");
        assert_eq!(wrong(&|config| config.my_route_timeout = over), "my_route_timeout");
        assert_eq!(wrong(&|config| config.node_traversal_time = short), "node_traversal_time");
        assert_eq!(wrong(&|config| config.timer_interval = short), "timer_interval");
        assert_eq!(wrong(&|config| config.ttl_start = 0), "ttl_start");
        assert_eq!(wrong(&|config| config.ttl_threshold = 0), "ttl_threshold");
        assert_eq!(wrong(&|config| config.net_diameter = 0), "net_diameter");
        assert_eq!(wrong(&|config| config.allowed_hello_loss = 0), "allowed_hello_loss");
        let at_the_bounds = AodvConfig {
            failure_pause: day,
            jitter: Duration::from_secs(10),
            timer_interval: Duration::from_secs(60),
            active_route_timeout: day,
            my_route_timeout: Duration::from_millis(1),
            node_traversal_time: Duration::from_millis(1),
            hello_interval: day,
            allowed_hello_loss: 1,
            ttl_start: 1,
            ttl_increment: 1,
            ttl_threshold: 1,
            net_diameter: 1,
            ..AodvConfig::rfc()
        };
        let often = AodvConfig { timer_interval: Duration::from_millis(1), ..AodvConfig::rfc() };
        assert_eq!(checked(&often), None);
        assert_eq!(checked(&at_the_bounds), None);
    }
}
