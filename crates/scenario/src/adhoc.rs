//! Ad hoc networks: the area, the nodes in it, their radios, their MAC.

mod cr;
mod mac;
mod phy;

pub use cr::{CognitiveNodes, SensingOfNodes};
pub use mac::{AdHocMac, AdHocRate, MacOfMany};
pub use phy::Phy;

use crate::{Coordinates, Graph};
use cogtcp_adhoc::{LinkFailure, Radios};
use cogtcp_mobility::Start;
use cogtcp_units::{Duration, Length, Power, Speed};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The rectangle in which nodes are, with one corner at (0 m, 0 m). One side may be 0 m: a line.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Area")]
pub struct AreaSize {
    /// Side to the east.
    pub width: Length,
    /// Side to the north.
    pub height: Length,
}

/// Nodes with radios on one medium, which find routes by \[routing\], in the \[area\]. Nodes: n0, n1, ...
/// (their numbers alone are names too). The only links are in `wired`.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AdHoc {
    /// How many nodes (1 to 10000). With a trace as mobility: as many as it has, and the number may be left
    /// out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// Where nodes stand that do not move.
    #[serde(default)]
    pub placement: PlacementModel,
    /// How they move.
    #[serde(default)]
    pub mobility: MobilityModel,
    /// How many radios a node has.
    #[serde(default)]
    pub radios: Radios,
    /// Changes of transmit power, which is \[phy\]'s at the start; range and carrier-sense range change with it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub power: Vec<NodePower>,
    /// Packets that wait at a node for a route; the oldest goes for the next.
    #[serde(default = "route_buffer")]
    pub route_buffer: u32,
    /// How long one waits at most.
    #[serde(default = "route_buffer_time")]
    pub route_buffer_time: Duration,
    /// What happens to the packets that wait for a neighbour when the link to the neighbour fails; without
    /// it: reroute, under the MAC profile ns2 drop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_link_failure: Option<LinkFailure>,
    /// From one packet that waited for a route to the next, once it is found; without it: all at once, under
    /// the MAC profile ns2 10 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release_interval: Option<Duration>,
    /// How often routing learns places that change: its own node's (SEARCH), who reaches whom (static).
    #[serde(default = "location_interval")]
    pub location_interval: Duration,
    /// Hosts on wires, and links between them and nodes of this network. Such a node is a gateway: packets
    /// cross the air to or from the gateway with the least delay behind it. Without it: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wired: Option<Graph>,
}

/// A change of transmit power.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct NodePower {
    /// When; "0 s" for the whole run.
    #[serde(default)]
    pub at: Duration,
    /// Which node, such as "n3"; without it: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The power from then on.
    pub power: Power,
}

/// 64 packets, 30 s: ns-2 (`aodv_rqueue.h`) and ns-3.
fn route_buffer() -> u32 {
    64
}

fn route_buffer_time() -> Duration {
    Duration::from_secs(30)
}

fn location_interval() -> Duration {
    Duration::from_secs(1)
}

/// Where nodes stand.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Placement")]
pub enum PlacementModel {
    /// Each by itself, uniformly over the area.
    #[default]
    Uniform,
    /// In rows, the first at (0 m, 0 m).
    Grid(GridPlacement),
    /// In a line to the east, so far apart, the first at (0 m, 0 m).
    Chain(Length),
    /// At these places: east and north of each.
    Positions(Vec<Coordinates>),
}

/// Nodes in rows.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct GridPlacement {
    /// Nodes in a row.
    pub columns: u32,
    /// From one to the next, in a row and from row to row.
    pub spacing: Length,
}

/// How nodes move.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Mobility")]
pub enum MobilityModel {
    /// They stand where `placement` has them.
    #[default]
    Static,
    /// Random waypoint over the area; placement does not count.
    RandomWaypoint(WaypointModel),
    /// By a file: ns-2's setdest, or CSV (node,time,x,y) where it ends in .csv. Relative to the scenario
    /// file. Area and placement do not count.
    Trace(String),
}

/// Random waypoint: a node goes to a place drawn uniformly, pauses there, and goes on.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RandomWaypoint")]
pub struct WaypointModel {
    /// Least and greatest speed, between which each trip's is drawn uniformly; the least above 0.001 m/s.
    pub speed: [Speed; 2],
    /// Shortest and longest pause, likewise.
    #[serde(default)]
    pub pause: [Duration; 2],
    /// How it begins.
    #[serde(default)]
    pub start: Start,
}
