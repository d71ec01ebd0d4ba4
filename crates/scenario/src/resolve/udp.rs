//! UDP sources: counts expanded, names found, patterns checked.

use super::Findings;
use super::ends::Head;
use super::network::ResolvedNetwork;
use crate::limits::{LONGEST, MOST_FLOWS};
use crate::tree::KeyPath;
use crate::{Scenario, Udp, UdpSpec};
use cogtcp_units::Time;
use std::collections::BTreeSet;

/// The largest payload of a UDP datagram over IPv4 (RFC 768, RFC 791).
const LARGEST_PAYLOAD: u64 = 65_507;

pub(super) fn build(scenario: &Scenario, network: &ResolvedNetwork, findings: &mut Findings) -> Vec<UdpSpec> {
    let path = KeyPath::of("udp");
    let total: u64 = scenario.udp.iter().map(|source| u64::from(source.count)).sum();
    if total > MOST_FLOWS {
        findings.error(&path, format!("there are {total} sources"), format!("ask for at most {MOST_FLOWS}"));
        return Vec::new();
    }
    let mut sources: Vec<UdpSpec> = Vec::with_capacity(total as usize);
    let mut names = BTreeSet::new();
    for (i, udp) in scenario.udp.iter().enumerate() {
        let path = path.index(i);
        let (name, from, to) = (udp.name.as_deref(), &*udp.from, &*udp.to);
        let head = Head { name, count: udp.count, from, to, letter: 'u', sends: "the source sends" };
        head.check_count(&path, findings);
        check(udp, scenario, &path, findings);
        let Ok(size) = u32::try_from(udp.payload().get()) else { continue };
        let (start, stop) = (Time::ZERO + udp.start, udp.stop.map(|stop| Time::ZERO + stop));
        let first = sources.len() + 1;
        for k in 0..udp.count {
            let Some((name, from, to)) = head.nth(k, first, network, &path, findings) else { break };
            if !names.insert(name.clone()) {
                let message = format!("the name \"{name}\" is taken by another UDP source");
                findings.error(&path, message, "give each source a name of its own");
                break;
            }
            sources.push(UdpSpec { name, from, to, pattern: udp.pattern, size, start, stop });
        }
    }
    sources
}

fn check(udp: &Udp, scenario: &Scenario, path: &KeyPath, findings: &mut Findings) {
    if udp.size.is_some() && udp.pattern.payload().is_some() {
        findings.error(&path.key("size"), "the call's codec decides the size", "leave size out");
    } else if !(1..=LARGEST_PAYLOAD).contains(&udp.payload().get()) {
        let message = format!("\"{}\" is not a payload of a UDP packet", udp.payload());
        findings.error(&path.key("size"), message, format!("write \"1 B\" to \"{LARGEST_PAYLOAD} B\""));
    }
    findings.check_rate(&path.key("pattern"), udp.pattern.rate());
    // The rate was checked above, with its bounds.
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
