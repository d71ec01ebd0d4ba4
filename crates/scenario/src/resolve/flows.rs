//! Flows: counts expanded, names found, transports looked up.

use super::Findings;
use super::buffers::warn_small;
use super::ends::Head;
use super::network::ResolvedNetwork;
use super::paths;
use super::tcp;
use crate::limits::{LARGEST_SIZE, LONGEST, MOST_FLOWS};
use crate::tree::KeyPath;
use crate::{
    Flow, FlowSpec, LinkSpec, Protocol, QueueLimit, QueueSpec, Scenario, Topology, Traffic, is_external,
};
use cogtcp_traffic::Bounds;
use cogtcp_units::{Bytes, Duration, Time};
use std::collections::BTreeMap;

/// IPv4 and TCP headers with the longest options: what a segment adds to its payload at most.
const LARGEST_HEADERS: u64 = 80;

pub(super) fn build(
    scenario: &Scenario,
    network: &ResolvedNetwork,
    findings: &mut Findings,
) -> Vec<FlowSpec> {
    let path = KeyPath::of("flow");
    let total: u64 = scenario.flow.iter().map(|flow| u64::from(flow.count)).sum();
    // Without flows nothing happens on links. Nodes of an ad hoc network sense, say hello and exchange
    // routes.
    if scenario.flow.is_empty() && !matches!(scenario.topology, Topology::AdHoc(_)) {
        findings.error(&path, "there is no flow", "add a section [[flow]] for each flow");
    }
    if total > MOST_FLOWS {
        findings.error(&path, format!("there are {total} flows"), format!("ask for at most {MOST_FLOWS}"));
        return Vec::new();
    }
    let mut flows = Vec::with_capacity(total as usize);
    let mut names = BTreeMap::new();
    let mut largest = 0;
    for (i, flow) in scenario.flow.iter().enumerate() {
        let path = path.index(i);
        let (name, from, to) = (flow.name.as_deref(), &*flow.from, &*flow.to);
        let head = Head { name, count: flow.count, from, to, letter: 'f', sends: "the flow leads" };
        head.check_count(&path, findings);
        check_times(flow, scenario.run.duration, &path, findings);
        let resolved = tcp::resolve(scenario, flow, &path, findings);
        check_traffic(
            flow.traffic,
            resolved.as_ref().map(|(protocol, _)| protocol),
            &path.key("traffic"),
            findings,
        );
        let Some((protocol, segment_size)) = resolved else { continue };
        largest = largest.max(u64::from(segment_size));
        let first_number = flows.len() + 1;
        for k in 0..flow.count {
            let before = findings.errors.len();
            let found = head.nth(k, first_number, network, &path, findings);
            // One wrong flow of many alike says enough.
            let Some((name, from, to)) = found.filter(|_| findings.none_since(before)) else { break };
            if let Some(first) = names.insert(name.clone(), i) {
                findings.error(
                    &if flow.name.is_some() { path.key("name") } else { path.clone() },
                    format!("the flow \"{name}\" is already in flow.{first}"),
                    "give each flow a name of its own",
                );
                break;
            }
            let links: Vec<String> =
                flow.paths.iter().map(|link| link.replace('*', &(k + 1).to_string())).collect();
            let found = paths::resolve(&links, (from, to), network, &path.key("paths"), findings);
            let Some(paths) = found else { break };
            flows.push(FlowSpec {
                name,
                from,
                to,
                paths,
                transport: flow.transport.name().to_owned(),
                protocol: protocol.clone(),
                start: Time::ZERO + flow.start + flow.stagger * u64::from(k),
                start_jitter: flow.start_jitter,
                stop: flow.stop.map(|stop| Time::ZERO + stop),
                traffic: flow.traffic,
            });
        }
        if let Some(first) = flows.get(first_number - 1)
            && flow.paths.is_empty()
        {
            warn_small(first, scenario.flow.len(), network, &path, findings);
        }
    }
    warn_short_queues(&network.links, largest, findings);
    flows
}

fn check_times(flow: &Flow, duration: Duration, path: &KeyPath, findings: &mut Findings) {
    for (key, span) in [("start", flow.start), ("stagger", flow.stagger), ("start_jitter", flow.start_jitter)]
    {
        findings.check_span(&path.key(key), span, true, LONGEST);
    }
    let last = flow.start + flow.stagger * u64::from(flow.count.saturating_sub(1)) + flow.start_jitter;
    let what = if flow.count > 1 { "the last of the flows starts" } else { "the flow starts" };
    // No start lies before the end of an empty run: the duration is the error.
    if last >= duration && duration > Duration::ZERO {
        findings.error(
            &path.key(if flow.start >= duration {
                "start"
            } else if last - flow.start_jitter >= duration {
                "stagger"
            } else {
                "start_jitter"
            }),
            format!("{what} at \"{last}\", and the run ends at \"{duration}\""),
            "start it before the end of the run",
        );
    }
    if let Some(stop) = flow.stop {
        findings.check_span(&path.key("stop"), stop, true, LONGEST);
        if stop <= last {
            findings.error(
                &path.key("stop"),
                format!("the flow stops at \"{stop}\", and {what} at \"{last}\""),
                "stop it after its start",
            );
        }
    }
}

fn check_traffic(traffic: Traffic, protocol: Option<&Protocol>, path: &KeyPath, findings: &mut Findings) {
    let control = match protocol {
        Some(Protocol::Tcp(tcp)) => &tcp.control.name,
        _ => "",
    };
    let kind = traffic.kind();
    let path = &path.key(kind.name());
    if kind.needs_all()
        && let Some(Protocol::Other(spec, _)) = protocol
        && !spec.kind().is_reliable()
    {
        let name = spec.name();
        let message =
            format!("this traffic ends with its last byte, and {name} does not retransmit lost data");
        findings.error(path, message, "write traffic = \"saturated\" or a rate, or another transport");
    }
    let bounds = Bounds { size: Bytes::new(LARGEST_SIZE), duration: LONGEST };
    kind.check(&bounds, &mut findings.under(path));
    if kind.opens_anew() && is_external(control) {
        findings.error(
            &path.key("connection"),
            "a congestion control written in Python serves one connection, and each request has its own",
            "write connection = \"persistent\", or another control",
        );
    }
}

/// A queue in bytes that no full segment fits.
fn warn_short_queues(links: &[LinkSpec], largest: u64, findings: &mut Findings) {
    let short = |link: &&LinkSpec| matches!(link.forward.queue, QueueSpec::DropTail(QueueLimit::Bytes(bytes)) if bytes < largest + LARGEST_HEADERS);
    if let Some((link, QueueSpec::DropTail(limit))) =
        links.iter().find(short).map(|link| (link, &link.forward.queue))
    {
        findings.warn(
            &KeyPath::of("topology"),
            format!(
                "the queue of the link \"{}\" (\"{}\") may not hold one full segment (\"{}\" and its headers)",
                link.name,
                limit,
                Bytes::new(largest)
            ),
            "write a longer queue, or one in packets",
        );
    }
}
