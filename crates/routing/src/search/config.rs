//! The settings of SEARCH. None of the numbers is the paper's: they are reconstructed.

use crate::parameters::{ParameterKind, ParameterSpec, Parameters};
use cogtcp_units::Duration;

/// Settings of SEARCH.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// The defaults with what a checked table sets.
    pub fn from_parameters(table: &Parameters) -> Self {
        let base = Self::default();
        let span = |name, otherwise| table.seconds(name).unwrap_or(otherwise);
        Self {
            channels: table.whole("channels").unwrap_or(base.channels),
            focus_angle: table.number("focus_angle").unwrap_or(base.focus_angle),
            beacon_interval: span("beacon_interval", base.beacon_interval),
            collect: span("collect", base.collect),
            reply_timeout: span("reply_timeout", base.reply_timeout),
            retries: table.whole("retries").unwrap_or(base.retries),
            switching: span("switching", base.switching),
            route_lifetime: span("route_lifetime", base.route_lifetime),
            anchor_threshold: table.number("anchor_threshold").unwrap_or(base.anchor_threshold),
        }
    }

    /// How long a neighbour counts as one without a beacon: three intervals.
    pub(crate) fn neighbor_lifetime(&self) -> Duration {
        self.beacon_interval * 3
    }
}

const SPAN: ParameterKind = ParameterKind::Number { min: 0.001, max: 86_400.0 };

const fn spec(
    name: &'static str,
    unit: &'static str,
    kind: ParameterKind,
    default: &'static str,
    summary: &'static str,
) -> ParameterSpec {
    ParameterSpec { name, summary, unit, kind, default }
}

pub(super) const PARAMETERS: [ParameterSpec; 9] = [
    spec("channels", "", ParameterKind::Whole { min: 1, max: 63 }, "5", "data channels, numbered 1 to this"),
    spec(
        "focus_angle",
        "degrees",
        ParameterKind::Number { min: 1.0, max: 180.0 },
        "45 (reconstructed)",
        "theta_max: half-angle of the focus region around the line to the destination",
    ),
    spec("beacon_interval", "s", SPAN, "1 (reconstructed)", "time between beacons"),
    spec("collect", "s", SPAN, "0.1 (reconstructed)", "how long the destination waits for further requests"),
    spec("reply_timeout", "s", SPAN, "1 (reconstructed)", "how long the source waits for a reply"),
    spec(
        "retries",
        "",
        ParameterKind::Whole { min: 0, max: 100 },
        "2 (reconstructed)",
        "searches after the first",
    ),
    spec(
        "switching",
        "s",
        ParameterKind::Number { min: 0.0, max: 10.0 },
        "0.005 (reconstructed)",
        "time of switching channels in the joint choice",
    ),
    spec("route_lifetime", "s", SPAN, "10 (reconstructed)", "how long a route lives without use"),
    spec(
        "anchor_threshold",
        "m",
        ParameterKind::Number { min: 0.1, max: 1e6 },
        "50 (reconstructed)",
        "how far a node may be off its anchor",
    ),
];
