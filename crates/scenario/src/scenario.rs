//! A scenario as its author wrote it.

use crate::source::Source;
use crate::{
    AdHocMac, AreaSize, CognitiveNodes, Flow, Phy, Radio, Spectrum, TcpSettings, Topology, Train, Udp,
};
use cogtcp_routing::RoutingSpec;
use cogtcp_units::Duration;
use cogtcp_units::Seed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One experiment: a network, the radios that gate its links, the flows over it.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The version of the format that the file is written in; without it: 1, the only one so far.
    #[serde(default, skip_serializing)]
    pub schema: Option<u32>,
    /// The name, for tables and reports.
    pub name: String,
    /// What the scenario is about, for people.
    #[serde(default)]
    pub description: String,
    /// How long to simulate, and how to look at it.
    pub run: Run,
    /// Settings of every flow's TCP, which override its preset.
    #[serde(default, skip_serializing_if = "TcpSettings::is_empty")]
    pub tcp: TcpSettings,
    /// The network: exactly one of single_hop, dumbbell, chain, graph, ad_hoc.
    pub topology: Topology,
    /// Where the nodes of an ad hoc network are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub area: Option<AreaSize>,
    /// How the nodes of an ad hoc network find routes; without it: aodv.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<RoutingSpec>,
    /// The MAC of an ad hoc network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mac: Option<AdHocMac>,
    /// The radios of an ad hoc network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phy: Option<Phy>,
    /// The nodes of an ad hoc network sense, and hand off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cr: Option<CognitiveNodes>,
    /// The spectrum: where a radio is a CR user in full (`radio.cr`), and of an ad hoc network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spectrum: Option<Spectrum>,
    /// The cognitive radios.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub radio: Vec<Radio>,
    /// The mobile router of a train, which warns its clients of a radio's silences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub train: Option<Train>,
    /// The flows: at least one, but in an ad hoc network, where routing alone is something to see.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flow: Vec<Flow>,
    /// UDP sources: cross traffic.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub udp: Vec<Udp>,
    /// Where it came from: for errors.
    #[serde(skip)]
    pub(crate) source: Source,
}

impl Scenario {
    /// What errors call it: the path of the file, where it came from one.
    pub fn source_name(&self) -> &str {
        &self.source.file
    }
}

/// Two scenarios are equal when they say the same, wherever they came from.
impl PartialEq for Scenario {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            schema: _,
            name,
            description,
            run,
            tcp,
            topology,
            area,
            routing,
            mac,
            phy,
            cr,
            spectrum,
            radio,
            train,
            flow,
            udp,
            source: _,
        } = self;
        let network = (topology, area, routing, mac, phy, cr, spectrum, radio, train);
        (name, description, run, tcp, network, flow, udp)
            == (
                &other.name,
                &other.description,
                &other.run,
                &other.tcp,
                (
                    &other.topology,
                    &other.area,
                    &other.routing,
                    &other.mac,
                    &other.phy,
                    &other.cr,
                    &other.spectrum,
                    &other.radio,
                    &other.train,
                ),
                &other.flow,
                &other.udp,
            )
    }
}

/// How long to simulate, and how to look at it.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Simulated time (above 0, at most 1000000 s).
    pub duration: Duration,
    /// Metrics count from here on; below `duration`.
    #[serde(default)]
    pub warmup: Duration,
    /// Seed of every random draw: the same scenario and seed give the same bytes.
    #[serde(default)]
    pub seed: Seed,
    /// Distance of the points of the time series.
    #[serde(default = "default_sample_interval")]
    pub sample_interval: Duration,
}

fn default_sample_interval() -> Duration {
    Duration::from_millis(100)
}
