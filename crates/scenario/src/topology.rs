//! The network: nodes and the links between them.

use crate::{AdHoc, Flat};
use cogtcp_link::{QueueLimit, QueueSpec};
use cogtcp_units::{Duration, Probability, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The network: exactly one of single_hop, dumbbell, chain, graph, ad_hoc.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Topology {
    /// One link between two nodes.
    SingleHop(SingleHop),
    /// Pairs of senders and receivers that share one bottleneck link.
    Dumbbell(Box<Dumbbell>),
    /// Nodes in a row.
    Chain(Chain),
    /// Any network, its links listed one by one.
    Graph(Graph),
    /// Nodes that reach each other over the air, and find routes by themselves.
    AdHoc(AdHoc),
}

impl Topology {
    /// The files of traces that its links name, each once.
    pub(crate) fn traces(&self) -> std::collections::BTreeSet<&String> {
        match self {
            Self::SingleHop(hop) => hop.link.trace_files(),
            Self::Dumbbell(dumbbell) => {
                dumbbell.access.trace_files().into_iter().chain(dumbbell.bottleneck.trace_files()).collect()
            }
            Self::Chain(chain) => chain.link.trace_files(),
            Self::Graph(graph) => graph.links.iter().flat_map(|link| link.shared.trace_files()).collect(),
            Self::AdHoc(network) => network
                .wired
                .iter()
                .flat_map(|wired| wired.links.iter().flat_map(|link| link.shared.trace_files()))
                .collect(),
        }
    }
}

impl Link {
    fn trace_files(&self) -> std::collections::BTreeSet<&String> {
        self.trace.iter().chain(&self.reverse_trace).collect()
    }
}

/// One link between two nodes: "sender" and "receiver". The link is named "link".
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SingleHop {
    /// The link, forward from "sender" to "receiver".
    pub link: Link,
}

/// Pairs of senders and receivers that share one bottleneck link. Nodes: senders s1, s2, ..., receivers d1,
/// d2, ..., routers r1 and r2. Links: access-s1 (s1 to r1), ..., bottleneck (r1 to r2), access-d1 (r2 to d1),
/// ...
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Dumbbell {
    /// How many senders, and as many receivers (1 to 100000).
    pub pairs: u32,
    /// The links of the senders to r1 and of the receivers to r2.
    pub access: Link,
    /// One delay per pair, in place of `access.delay`, for both access links of the pair: the RTT of pair i
    /// without queues is 2 x (2 x access_delays\[i\] + bottleneck.delay).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub access_delays: Option<Vec<Duration>>,
    /// The shared link, forward from r1 to r2.
    pub bottleneck: Link,
}

/// Nodes in a row: n0, n1, ... Links: hop1 (n0 to n1), hop2 (n1 to n2), ...
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Chain {
    /// How many links; one more node than that (1 to 1000).
    pub hops: u32,
    /// Every link, forward from n(i-1) to n(i).
    pub link: Link,
}

/// Any network. Packets take the path of the least delay, of these the one with the fewest links, so cycles
/// do no harm; every node must be reachable from every other.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    /// The names of the nodes.
    pub nodes: Vec<String>,
    /// The links: at most one between two nodes, none from a node to itself.
    pub links: Vec<NamedLink>,
}

/// A full-duplex link with a queue at each end. Both directions are alike, but for what `reverse_...` sets.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Rate at which packets are put on the link (1 bit/s to 10 Tbit/s).
    pub rate: Rate,
    /// One-way propagation delay (at most 1000 s).
    pub delay: Duration,
    /// Length of the queue, without the packet in transmission. A drop-tail queue is its length ("100
    /// packets", "64 KiB"). Or the name of a queue discipline ("red", "codel", "fq_codel"), or a discipline
    /// with its parameters.
    #[serde(default = "default_queue")]
    pub queue: QueueSpec,
    /// Probability that a packet is lost on the link (below 1), each packet on its own unless `loss_run` is
    /// given.
    #[serde(default)]
    pub loss: Probability,
    /// Mean length of a run of lost packets (1 to 10000), by Gilbert's model, in both directions. The model
    /// is a Markov chain with a state that loses every packet and a state that loses none. Without it: each
    /// packet is lost independently.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_run: Option<f64>,
    /// Packets to lose by their number, in ascending order: the first that the forward direction carries is
    /// 1, and all count, whatever their flow, SYNs and ACKs included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drops: Vec<u64>,
    /// Queue length in packets from which on packets that arrive are marked (ECN, RFC 3168: congestion
    /// experienced), in both directions; without it: none is. Most transports ignore marks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<QueueLimit>,
    /// File of what the forward direction can carry over time, in place of `rate`: a mahimahi trace or rates
    /// as CSV; relative to the scenario file. The trace repeats after its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// Such a file for the reverse direction; without it: its rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse_trace: Option<String>,
    /// Rate of the reverse direction; without it: `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse_rate: Option<Rate>,
    /// Delay of the reverse direction; without it: `delay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse_delay: Option<Duration>,
    /// Queue of the reverse direction; without it: `queue`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse_queue: Option<QueueSpec>,
    /// Loss of the reverse direction; without it: `loss`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reverse_loss: Option<Probability>,
    /// Packets of the reverse direction to lose by their number; without it: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reverse_drops: Vec<u64>,
}

/// A link of a graph: what any link has, its name, and its two ends.
pub type NamedLink = Flat<Link, LinkEnds>;

/// A link of a graph: what any link has, its name, and its two ends.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NamedLink")]
pub struct LinkEnds {
    /// The name; no two links share one. Without it: "FROM-TO".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The node where the forward direction begins.
    pub from: String,
    /// The node where the forward direction ends.
    pub to: String,
}

impl LinkEnds {
    /// The name, given or made of the ends.
    pub(crate) fn full_name(&self) -> String {
        self.name.clone().unwrap_or_else(|| format!("{}-{}", self.from, self.to))
    }
}

fn default_queue() -> QueueSpec {
    QueueSpec::DropTail(QueueLimit::Packets(100))
}
