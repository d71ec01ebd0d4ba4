//! UDP sources: counts expanded, names found, patterns checked.

use super::Findings;
use super::network::Network;
use crate::limits::{LONGEST, MOST_FLOWS};
use crate::tree::Path;
use crate::{Scenario, Udp, UdpSpec};
use cogtcp_units::Time;
use std::collections::BTreeSet;

/// The largest payload of a UDP datagram over IPv4 (RFC 768, RFC 791).
const LARGEST_PAYLOAD: u64 = 65_507;

pub(super) fn build(scenario: &Scenario, network: &Network, findings: &mut Findings) -> Vec<UdpSpec> {
    let path = Path::of("udp");
    let total: u64 = scenario.udp.iter().map(|source| u64::from(source.count)).sum();
    if total > MOST_FLOWS {
        findings.error(&path, format!("there are {total} sources"), format!("ask for at most {MOST_FLOWS}"));
        return Vec::new();
    }
    let mut sources: Vec<UdpSpec> = Vec::with_capacity(total as usize);
    let mut names = BTreeSet::new();
    for (i, udp) in scenario.udp.iter().enumerate() {
        let path = path.index(i);
        check(udp, scenario, &path, findings);
        let first = sources.len() + 1;
        for k in 0..udp.count {
            let Some(spec) = one_of(udp, k, first, network, &path, findings) else { break };
            if !names.insert(spec.name.clone()) {
                let message = format!("the name \"{}\" is taken by another UDP source", spec.name);
                findings.error(&path, message, "give each source a name of its own");
                break;
            }
            sources.push(spec);
        }
    }
    sources
}

/// The `k`-th (from 0) of the sources that the entry stands for.
fn one_of(
    udp: &Udp,
    k: u32,
    first: usize,
    network: &Network,
    path: &Path,
    findings: &mut Findings,
) -> Option<UdpSpec> {
    let number = |text: &str| text.replace('*', &(k + 1).to_string());
    let name = match &udp.name {
        Some(name) if udp.count > 1 && !name.contains('*') => format!("{name}-{}", k + 1),
        Some(name) => number(name),
        None => format!("u{}", first + k as usize),
    };
    if udp.name.is_some() {
        findings.check_name(&path.key("name"), &name);
    }
    let from = network.node(&number(&udp.from), &path.key("from"), findings);
    let to = network.node(&number(&udp.to), &path.key("to"), findings);
    let (from, to) = (from?, to?);
    if from == to {
        let message = format!("the source sends from \"{}\" to itself", network.nodes[from]);
        findings.error(&path.key("to"), message, "name another node");
        return None;
    }
    let size = u32::try_from(udp.size.get()).ok()?;
    let (start, stop) = (Time::ZERO + udp.start, udp.stop.map(|stop| Time::ZERO + stop));
    Some(UdpSpec { name, from, to, pattern: udp.pattern, size, start, stop })
}

fn check(udp: &Udp, scenario: &Scenario, path: &Path, findings: &mut Findings) {
    if udp.count == 0 {
        findings.error(&path.key("count"), "0 is out of range", format!("write 1 to {MOST_FLOWS}"));
    }
    if !(1..=LARGEST_PAYLOAD).contains(&udp.size.get()) {
        let message = format!("\"{}\" is no payload of a UDP packet", udp.size);
        findings.error(&path.key("size"), message, format!("write \"1 B\" to \"{LARGEST_PAYLOAD} B\""));
    }
    findings.check_rate(&path.key("pattern"), udp.pattern.rate());
    if let Some((key, message, remedy)) = udp.pattern.wrong().filter(|(key, ..)| *key != "rate") {
        findings.error(&path.key("pattern").key("on_off").key(key), message, remedy);
    }
    findings.check_span(&path.key("start"), udp.start, true, LONGEST);
    if udp.start >= scenario.run.duration {
        let message = format!(
            "the source starts at \"{}\", and the run ends at \"{}\"",
            udp.start, scenario.run.duration
        );
        findings.error(&path.key("start"), message, "start it before the end of the run");
    }
    if udp.stop.is_some_and(|stop| stop <= udp.start) {
        findings.error(&path.key("stop"), "the source stops before it starts", "stop it after its start");
    }
}
