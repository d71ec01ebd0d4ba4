//! Nodes and links of each topology.

use super::Findings;
use crate::files::{read_beside, told};
use crate::limits::{LARGEST_LOG, LARGEST_QUEUE, LONGEST_DELAY, MOST_HOPS, MOST_NODES, MOST_PAIRS};
use crate::source::Source;
use crate::tree::KeyPath;
use crate::{
    Chain, Dumbbell, Graph, Link, LinkDirectionSpec, LinkSpec, QueueLimit, QueueSpec, SingleHop, Topology,
    suggest,
};
use cogtcp_link::schedule::{Schedule, text};
use cogtcp_units::Probability;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The network of an experiment, with the way back from names to numbers.
pub(super) struct ResolvedNetwork {
    pub(super) nodes: Vec<String>,
    pub(super) links: Vec<LinkSpec>,
    node_numbers: BTreeMap<String, usize>,
    link_numbers: BTreeMap<String, usize>,
    /// The traces that are to be read: link, whether of its reverse direction, where it is named, and the
    /// file.
    traces: Vec<(usize, bool, KeyPath, String)>,
}

impl ResolvedNetwork {
    /// The network of `topology`; `None` when it is too wrong to look at radios and flows.
    pub(super) fn build(
        topology: &Topology,
        source: &Source,
        ad_hoc_nodes: Option<usize>,
        findings: &mut Findings,
    ) -> Option<Self> {
        let path = KeyPath::of("topology");
        let mut network = match topology {
            Topology::SingleHop(hop) => Some(single_hop(hop, &path.key("single_hop"), findings)),
            Topology::Dumbbell(dumbbell) => dumbbell_of(dumbbell, &path.key("dumbbell"), findings),
            Topology::Chain(chain) => chain_of(chain, &path.key("chain"), findings),
            Topology::Graph(graph) => graph_of(graph, Vec::new(), &path.key("graph"), findings),
            Topology::AdHoc(it) => {
                ad_hoc_of(ad_hoc_nodes?, it.wired.as_ref(), &path.key("ad_hoc").key("wired"), findings)
            }
        }?;
        network.read_traces(source, findings);
        Some(network)
    }

    /// Reads the traces of links, each file once.
    fn read_traces(&mut self, source: &Source, findings: &mut Findings) {
        // A file with an error is `None`: it is reported once, not for each link.
        let mut known: BTreeMap<String, Option<Arc<Schedule>>> = BTreeMap::new();
        for (number, is_reverse, path, file) in std::mem::take(&mut self.traces) {
            let schedule = known
                .entry(file)
                .or_insert_with_key(|file| read_trace(file, source, &path, findings).map(Arc::new));
            let link = &mut self.links[number];
            let direction = if is_reverse { &mut link.reverse } else { &mut link.forward };
            if let Some(schedule) = schedule {
                // What asks for the rate of a link gets the mean of its trace.
                direction.rate = schedule.mean();
                direction.trace = Some(Arc::clone(schedule));
            }
        }
    }

    /// Reports a link with a trace, which cannot have a radio too.
    pub(super) fn check_untraced(&self, link: usize, path: &KeyPath, findings: &mut Findings) {
        let link = &self.links[link];
        if link.forward.trace.is_some() || link.reverse.trace.is_some() {
            findings.error(
                path,
                format!("the link \"{}\" follows a trace, which is its radio", link.name),
                "take the trace out, or give the radio a link of its own before or behind this one",
            );
        }
    }

    fn new(nodes: Vec<String>) -> Self {
        let node_numbers = nodes.iter().cloned().enumerate().map(|(i, name)| (name, i)).collect();
        Self { nodes, links: Vec::new(), node_numbers, link_numbers: BTreeMap::new(), traces: Vec::new() }
    }

    /// Nodes of an ad hoc network, whose numbers are names too, and then others.
    fn on_air(air: Vec<String>, others: &[String]) -> Self {
        let numbers = 0..air.len();
        let mut network = Self::new(air.into_iter().chain(others.iter().cloned()).collect());
        network.node_numbers.extend(numbers.map(|number| (number.to_string(), number)));
        network
    }

    fn add(&mut self, name: String, from: usize, to: usize, link: &Link, path: &KeyPath) {
        for (key, file) in [("trace", &link.trace), ("reverse_trace", &link.reverse_trace)] {
            if let Some(file) = file {
                self.traces.push((self.links.len(), key == "reverse_trace", path.key(key), file.clone()));
            }
        }
        self.link_numbers.insert(name.clone(), self.links.len());
        let mark = match link.mark {
            Some(QueueLimit::Packets(packets)) => Some(packets),
            _ => None,
        };
        let reverse = LinkDirectionSpec {
            rate: link.reverse_rate.unwrap_or(link.rate),
            delay: link.reverse_delay.unwrap_or(link.delay),
            queue: link.reverse_queue.as_ref().unwrap_or(&link.queue).clone(),
            loss: link.reverse_loss.unwrap_or(link.loss),
            loss_run: link.loss_run,
            drops: link.reverse_drops.clone(),
            mark,
            trace: None,
        };
        let forward = LinkDirectionSpec {
            rate: link.rate,
            delay: link.delay,
            queue: link.queue.clone(),
            loss: link.loss,
            loss_run: link.loss_run,
            drops: link.drops.clone(),
            mark,
            trace: None,
        };
        self.links.push(LinkSpec { name, from, to, forward, reverse });
    }

    /// The number of the node `name`; reports an unknown one.
    pub(super) fn node(&self, name: &str, path: &KeyPath, findings: &mut Findings) -> Option<usize> {
        let number = self.node_numbers.get(name).copied();
        if number.is_none() {
            findings.error(path, format!("there is no node \"{name}\""), suggest::among(name, &self.nodes));
        }
        number
    }

    /// The number of the link `name`; reports an unknown one.
    pub(super) fn link(&self, name: &str, path: &KeyPath, findings: &mut Findings) -> Option<usize> {
        let number = self.link_numbers.get(name).copied();
        if number.is_none() {
            let names: Vec<&str> = self.links.iter().map(|link| link.name.as_str()).collect();
            findings.error(path, format!("there is no link \"{name}\""), suggest::among(name, &names));
        }
        number
    }
}

/// Nodes without links: n0, n1, ..., whose numbers are names too; after them hosts on wires.
fn ad_hoc_of(
    nodes: usize,
    wired: Option<&Graph>,
    path: &KeyPath,
    findings: &mut Findings,
) -> Option<ResolvedNetwork> {
    let own: Vec<String> = (0..nodes).map(|number| format!("n{number}")).collect();
    match wired {
        None => Some(ResolvedNetwork::on_air(own, &[])),
        Some(wired) => graph_of(wired, own, path, findings),
    }
}

fn single_hop(hop: &SingleHop, path: &KeyPath, findings: &mut Findings) -> ResolvedNetwork {
    check_link(&hop.link, &path.key("link"), findings);
    let mut network = ResolvedNetwork::new(vec!["sender".to_owned(), "receiver".to_owned()]);
    network.add("link".to_owned(), 0, 1, &hop.link, &path.key("link"));
    network
}

fn dumbbell_of(dumbbell: &Dumbbell, path: &KeyPath, findings: &mut Findings) -> Option<ResolvedNetwork> {
    check_link(&dumbbell.access, &path.key("access"), findings);
    check_link(&dumbbell.bottleneck, &path.key("bottleneck"), findings);
    let pairs = count(dumbbell.pairs, MOST_PAIRS, &path.key("pairs"), findings)?;
    let delays_path = path.key("access_delays");
    if let Some(delays) = &dumbbell.access_delays {
        if delays.len() != pairs {
            findings.error(
                &delays_path,
                format!("there are {} delays for {pairs} pairs", delays.len()),
                "write one delay per pair",
            );
        }
        for (i, delay) in delays.iter().enumerate() {
            findings.check_span(&delays_path.index(i), *delay, true, LONGEST_DELAY);
        }
    }
    let names = |letter| (1..=pairs).map(move |i| format!("{letter}{i}"));
    let mut nodes: Vec<String> = names('s').chain(names('d')).collect();
    let (r1, r2) = (nodes.len(), nodes.len() + 1);
    nodes.extend(["r1".to_owned(), "r2".to_owned()]);
    let mut network = ResolvedNetwork::new(nodes);
    let access: Vec<Link> = (0..pairs)
        .map(|i| {
            let own = dumbbell.access_delays.as_ref().and_then(|delays| delays.get(i));
            let mut link = dumbbell.access.clone();
            if let Some(delay) = own {
                link.delay = *delay;
                // The pair's delay is for both directions: the access link's own reverse delay must not win.
                link.reverse_delay = None;
            }
            link
        })
        .collect();
    for (i, link) in access.iter().enumerate() {
        network.add(format!("access-s{}", i + 1), i, r1, link, &path.key("access"));
    }
    network.add("bottleneck".to_owned(), r1, r2, &dumbbell.bottleneck, &path.key("bottleneck"));
    for (i, link) in access.iter().enumerate() {
        network.add(format!("access-d{}", i + 1), r2, pairs + i, link, &path.key("access"));
    }
    Some(network)
}

fn chain_of(chain: &Chain, path: &KeyPath, findings: &mut Findings) -> Option<ResolvedNetwork> {
    check_link(&chain.link, &path.key("link"), findings);
    let hops = count(chain.hops, MOST_HOPS, &path.key("hops"), findings)?;
    let mut network = ResolvedNetwork::new((0..=hops).map(|i| format!("n{i}")).collect());
    for hop in 1..=hops {
        network.add(format!("hop{hop}"), hop - 1, hop, &chain.link, &path.key("link"));
    }
    Some(network)
}

/// The nodes and links of `graph`, beside nodes on the `air`, which reach each other without links.
fn graph_of(
    graph: &Graph,
    air: Vec<String>,
    path: &KeyPath,
    findings: &mut Findings,
) -> Option<ResolvedNetwork> {
    let before = findings.errors.len();
    let (on_air, nodes_path) = (air.len(), path.key("nodes"));
    let (least, remedy) = match on_air {
        0 => (2, "write at least two names of nodes"),
        _ => (1, "write at least one name of a host, or take wired out"),
    };
    if graph.nodes.len() < least {
        let found = graph.nodes.len();
        findings.error(&nodes_path, format!("found {found} nodes"), remedy);
    }
    if graph.nodes.len() > MOST_NODES {
        let found = graph.nodes.len();
        findings.error(&nodes_path, format!("found {found} nodes"), format!("write at most {MOST_NODES}"));
        return None;
    }
    let mut seen = BTreeMap::new();
    for (i, name) in graph.nodes.iter().enumerate() {
        findings.check_name(&nodes_path.index(i), name);
        if let Some(first) = seen.insert(name.as_str(), i) {
            let message = format!("the node \"{name}\" is already nodes.{first}");
            findings.error(&nodes_path.index(i), message, "give each node a name of its own");
        }
        // Both "n3" and "3" name a node of the air.
        let number = name.strip_prefix('n').unwrap_or(name);
        if number.parse::<usize>().is_ok_and(|number| number < on_air) {
            let message = format!("\"{name}\" is a node of the ad hoc network");
            findings.error(&nodes_path.index(i), message, "name only hosts on wires, and each another way");
        }
    }
    let mut network = ResolvedNetwork::on_air(air, &graph.nodes);
    // By pair of nodes in either order: a link carries both directions.
    let mut between = BTreeMap::new();
    for (i, named) in graph.links.iter().enumerate() {
        let path = path.key("links").index(i);
        let link = &named.shared;
        check_link(link, &path, findings);
        let from = network.node(&named.from, &path.key("from"), findings);
        let to = network.node(&named.to, &path.key("to"), findings);
        let name = named.full_name();
        let name_path = if named.name.is_some() { path.key("name") } else { path.clone() };
        if named.name.is_some() {
            findings.check_name(&name_path, &name);
        }
        if let Some(first) = network.link_numbers.get(&name) {
            let message = format!("the link \"{name}\" is already links.{first}");
            findings.error(&name_path, message, "give each link a name of its own");
        }
        let (Some(from), Some(to)) = (from, to) else { continue };
        if from == to {
            let message = format!("the link \"{name}\" leads from \"{}\" to itself", named.from);
            findings.error(&path.key("to"), message, "end it at another node, or take it out");
        } else if let Some(first) = between.insert((from.min(to), from.max(to)), i) {
            findings.error(
                &path,
                format!("\"{}\" and \"{}\" are already joined by links.{first}", named.from, named.to),
                "keep one link: it carries both directions (reverse_rate, reverse_delay... make them differ)",
            );
        }
        if from.max(to) < on_air {
            let message = format!("the link \"{name}\" joins two nodes that reach each other over the air");
            findings.error(&path, message, "end it at a host of wired.nodes");
        }
        network.add(name, from, to, link, &path);
    }
    if findings.none_since(before) {
        check_connected(&network, on_air, &nodes_path, findings);
    }
    // With a node or link unknown, "no node" and "no link" below would only repeat it.
    findings.none_since(before).then_some(network)
}

/// Every node is to be reachable; the first `on_air` reach each other.
fn check_connected(network: &ResolvedNetwork, on_air: usize, path: &KeyPath, findings: &mut Findings) {
    let mut neighbours = vec![Vec::new(); network.nodes.len()];
    for link in &network.links {
        neighbours[link.from].push(link.to);
        neighbours[link.to].push(link.from);
    }
    let mut reached = vec![false; network.nodes.len()];
    // Without nodes on the air the search begins at the first node.
    let mut waiting: Vec<usize> = (0..on_air.max(1)).collect();
    waiting.iter().for_each(|node| reached[*node] = true);
    while let Some(node) = waiting.pop() {
        for &next in &neighbours[node] {
            if !reached[next] {
                reached[next] = true;
                waiting.push(next);
            }
        }
    }
    if let Some(lost) = reached.iter().position(|reached| !reached) {
        findings.error(
            &path.index(lost - on_air),
            format!("no path leads from \"{}\" to \"{}\"", network.nodes[0], network.nodes[lost]),
            format!("add a link that joins them, or take \"{}\" out", network.nodes[lost]),
        );
    }
}

/// The trace in a file beside the scenario.
fn read_trace(file: &str, source: &Source, path: &KeyPath, findings: &mut Findings) -> Option<Schedule> {
    let (name, text) = read_beside(source, file, LARGEST_LOG, path, findings)?;
    let schedule = text::read(&text);
    schedule
        .map_err(|error| {
            findings.error(path, told(&name, &text, error.line, error.reason, error.unquoted), "");
        })
        .ok()
}

/// `value` as a count of at least one and at most `most`.
fn count(value: u32, most: u32, path: &KeyPath, findings: &mut Findings) -> Option<usize> {
    if (1..=most).contains(&value) {
        return Some(value as usize);
    }
    findings.error(path, format!("{value} is out of range"), format!("write a number from 1 to {most}"));
    None
}

fn check_link(link: &Link, path: &KeyPath, findings: &mut Findings) {
    for (key, rate) in [("rate", Some(link.rate)), ("reverse_rate", link.reverse_rate)] {
        if let Some(rate) = rate {
            findings.check_rate(&path.key(key), rate);
        }
    }
    for (key, delay) in [("delay", Some(link.delay)), ("reverse_delay", link.reverse_delay)] {
        if let Some(delay) = delay {
            findings.check_span(&path.key(key), delay, true, LONGEST_DELAY);
        }
    }
    for (key, queue) in [("queue", Some(&link.queue)), ("reverse_queue", link.reverse_queue.as_ref())] {
        let Some(queue) = queue else { continue };
        match queue {
            QueueSpec::DropTail(QueueLimit::Packets(0) | QueueLimit::Bytes(0)) => findings.error(
                &path.key(key),
                "the queue holds nothing: every packet that finds the link busy would be lost",
                "write at least \"1 packet\"",
            ),
            QueueSpec::DropTail(QueueLimit::Bytes(bytes)) if *bytes > LARGEST_QUEUE => findings.error(
                &path.key(key),
                "the queue is too long",
                format!("write at most \"{}\"", QueueLimit::Bytes(LARGEST_QUEUE)),
            ),
            QueueSpec::DropTail(_) => {}
            QueueSpec::Discipline(discipline) => {
                let path = &path.key(key).key(discipline.name());
                discipline.check(&mut findings.under(path));
                if link.mark.is_some() {
                    findings.error(
                        &path.key("mark"),
                        format!("{} sets its own marks", discipline.name()),
                        "take \"mark\" out, or write a length as the queue",
                    );
                }
            }
        }
    }
    if matches!(link.mark, Some(QueueLimit::Bytes(_))) {
        findings.error(
            &path.key("mark"),
            "marks begin at a number of packets",
            "write, for example, \"20 packets\"",
        );
    }
    for (key, loss) in [("loss", Some(link.loss)), ("reverse_loss", link.reverse_loss)] {
        if loss == Some(Probability::ONE) {
            findings.error(
                &path.key(key),
                "every packet would be lost",
                "write a probability below 1 (\"0.1 %\" is 0.001)",
            );
        }
    }
    if let Some(run) = link.loss_run {
        if !(1.0..=10_000.0).contains(&run) {
            findings.error(
                &path.key("loss_run"),
                format!("a run of {run} lost packets is out of range"),
                "write a mean length from 1 to 10000",
            );
        } else if link.loss == Probability::ZERO
            && link.reverse_loss.is_none_or(|loss| loss == Probability::ZERO)
        {
            findings.error(
                &path.key("loss_run"),
                "losses come in runs, but \"loss\" is 0",
                "write the share of lost packets, as in loss = 0.01, or take \"loss_run\" out",
            );
        } else if [Some(link.loss), link.reverse_loss]
            .into_iter()
            .flatten()
            // At a larger share good states would last less than one packet.
            .any(|loss| loss.get() > run / (1.0 + run))
        {
            findings.error(
                &path.key("loss_run"),
                format!("runs of {run} packets cannot lose so many: at most {:.4}", run / (1.0 + run)),
                "write longer runs, or a smaller loss",
            );
        }
    }
    for (key, drops) in [("drops", &link.drops), ("reverse_drops", &link.reverse_drops)] {
        if drops.first() == Some(&0) {
            findings.error(
                &path.key(key).index(0),
                "there is no packet 0",
                "count from 1: the first packet is 1",
            );
        }
        if let Some(i) = drops.windows(2).position(|pair| pair[0] >= pair[1]) {
            findings.error(
                &path.key(key).index(i + 1),
                format!("packet {} comes after packet {}", drops[i + 1], drops[i]),
                "write the numbers in ascending order, each once",
            );
        }
    }
}
