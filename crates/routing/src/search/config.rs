//! The settings of SEARCH. None of the numbers is the paper's: they are reconstructed.

use super::Search;
use crate::Routing;
use crate::{NodeSite, Protocol};
use cogtcp_units::{Check, Duration, Named};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of SEARCH.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct SearchConfig {
    /// Data channels, numbered 1 to this, at most 63.
    pub channels: u32,
    /// Half-angle of the focus region, theta_max, degrees.
    pub focus_angle: f64,
    /// Time between beacons.
    pub beacon_interval: Duration,
    /// How long the destination waits for requests over other channels after the first.
    pub collect: Duration,
    /// How long the source waits for a reply.
    pub reply_timeout: Duration,
    /// Searches after the first that fails.
    pub retries: u32,
    /// Time that switching channels takes, in the choice at the destination.
    pub switching: Duration,
    /// How long a route lives without use.
    pub route_lifetime: Duration,
    /// How far a node may be off its anchor, m.
    pub anchor_threshold: f64,
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            channels: 5,
            focus_angle: 45.0,
            beacon_interval: Duration::from_secs(1),
            collect: Duration::from_millis(100),
            reply_timeout: Duration::from_secs(1),
            retries: 2,
            switching: Duration::from_millis(5),
            route_lifetime: Duration::from_secs(10),
            anchor_threshold: 50.0,
        }
    }
}

impl SearchConfig {
    /// How long a neighbour counts as one without a beacon: three intervals.
    pub(crate) fn neighbor_lifetime(&self) -> Duration {
        self.beacon_interval * 3
    }
}

impl Named for SearchConfig {
    const NAME: &'static str = "search";
    const SUMMARY: &'static str =
        "geographic routing that seeks greedily on every channel and goes around primary users";
    const REFERENCE: &'static str =
        "Chowdhury and Di Felice, Computer Communications 32, 2009; reconstructed";

    fn check(&self, found: &mut dyn Check) {
        let channels = (1..=63).contains(&self.channels);
        found.unless(channels, "channels", "is out of range", "take 1 to 63");
        let angle = (1.0..=180.0).contains(&self.focus_angle);
        found.unless(angle, "focus_angle", "is out of range", "take 1 to 180 degrees");
        let off = (0.1..=1e6).contains(&self.anchor_threshold);
        found.unless(off, "anchor_threshold", "is out of range", "take 0.1 to 1e6 m");
        let spans = [
            (self.beacon_interval, "beacon_interval"),
            (self.collect, "collect"),
            (self.reply_timeout, "reply_timeout"),
            (self.route_lifetime, "route_lifetime"),
        ];
        for (span, name) in spans {
            let fits = span >= Duration::from_millis(1) && span <= Duration::from_secs(86_400);
            found.unless(fits, name, "is out of range", "take 1 ms to 24 h");
        }
    }
}

impl Protocol for SearchConfig {
    fn build(&self, site: NodeSite) -> Box<dyn Routing> {
        let config = Self { channels: self.channels.min(site.channels), ..*self };
        Box::new(Search::new(site.address, config, site.seed))
    }
}
