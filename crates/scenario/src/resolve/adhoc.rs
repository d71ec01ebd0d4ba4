//! Ad hoc networks: nodes, radios, MAC, routing.

mod medium;
mod nodes;
mod powers;

pub(super) use nodes::{Nodes, motion};

use super::Findings;
use super::cognitive::radio;
use crate::limits::{LONGEST, MOST_POINTS};
use crate::tree::KeyPath;
use crate::{
    AdHoc, AdHocSpec, CognitiveNodes, MobilityModel, Reception, Run, Scenario, SpectrumSpec, Topology,
};
use cogtcp_adhoc::{AdHocConfig, CognitiveNode, LinkFailure, SensingTimes};
use cogtcp_routing::{AodvProfile, RoutingSpec};
use cogtcp_spectrum::air::ReceiverModel;
use cogtcp_units::{Decibel, Duration};
use cogtcp_wireless::Profile;

/// The most packets in a queue.
const LONGEST_QUEUE: u32 = 100_000;

/// The file of the nodes' movement.
pub(super) fn trace(topology: &Topology) -> Option<&String> {
    match topology {
        Topology::AdHoc(AdHoc { mobility: MobilityModel::Trace(file), .. }) => Some(file),
        _ => None,
    }
}

/// What belongs to an ad hoc network alone stands with no other, and keys of links do not stand with an ad hoc network.
pub(super) fn check_use(scenario: &Scenario, findings: &mut Findings) {
    let is_ad_hoc = matches!(scenario.topology, Topology::AdHoc(_));
    let here = [
        ("area", scenario.area.is_some()),
        ("routing", scenario.routing.is_some()),
        ("mac", scenario.mac.is_some()),
        ("phy", scenario.phy.is_some()),
        ("cr", scenario.cr.is_some()),
    ];
    for (key, _) in here.into_iter().filter(|(_, is_there)| *is_there && !is_ad_hoc) {
        let remedy = match key {
            "mac" | "cr" => "take it out, write [topology.ad_hoc], or for a link with CR users [radio.cr]",
            _ => "take it out, or write [topology.ad_hoc]",
        };
        findings.error(&KeyPath::of(key), "only an ad hoc network has this", remedy);
    }
    if !is_ad_hoc {
        return;
    }
    let is_wired = matches!(&scenario.topology, Topology::AdHoc(it) if it.wired.is_some());
    if !scenario.radio.is_empty() && !is_wired {
        findings.error(
            &KeyPath::of("radio"),
            "an ad hoc network has links only in wired, and a radio gates links",
            "take [[radio]] out; the nodes of an ad hoc network sense with [cr]",
        );
    }
    for (number, _) in scenario.radio.iter().enumerate().filter(|(_, radio)| radio.cr.is_some()) {
        findings.error(
            &KeyPath::of("radio").index(number).key("cr"),
            "CR users with a MAC cannot join an ad hoc network, whose nodes have their own MAC",
            "take it out, or give the radio sensing or a journey",
        );
    }
    if scenario.train.is_some() {
        let message = "a train's router stands at a link with a radio, and the nodes of an ad hoc network sense on their own";
        findings.error(&KeyPath::of("train"), message, "take [train] out");
    }
    if scenario.cr.is_some() && scenario.spectrum.is_none() {
        findings.error(
            &KeyPath::of("cr"),
            "nodes that sense need channels, and the scenario has no [spectrum]",
            "add [spectrum] with channels = { uniform = \"2 Mbit/s\" } and pu = { exponential = { alpha = 0.5, beta = 0.1 } }",
        );
    }
}

/// Returns the initial RTO of the MAC's profile, unless a transport is a host preset: `rtxcur_init_` of
/// ns-2's `Agent/TCP`, `ConnTimeout` of ns-3's `TcpSocket`. `None`: the standard's text is silent about TCP.
pub(super) fn initial_rto(scenario: &Scenario) -> Option<Duration> {
    let Topology::AdHoc(_) = scenario.topology else { return None };
    match scenario.mac.as_ref()?.profile {
        Profile::Standard => None,
        Profile::Ns2 | Profile::Ns3 => Some(Duration::from_secs(3)),
    }
}

/// All but where the nodes are.
pub(super) fn build(
    scenario: &Scenario,
    nodes: Nodes,
    spectrum: Option<&SpectrumSpec>,
    run: &Run,
    findings: &mut Findings,
) -> Option<AdHocSpec> {
    let Topology::AdHoc(it) = &scenario.topology else { return None };
    let path = KeyPath::of("topology").key("ad_hoc");
    let before = findings.errors.len();
    let mac = scenario.mac.clone().unwrap_or_default();
    let phy = scenario.phy.clone().unwrap_or_default();
    if !(1..=LONGEST_QUEUE).contains(&it.route_buffer) {
        let message = format!("{} packets are out of range", it.route_buffer);
        findings.error(&path.key("route_buffer"), message, format!("write 1 to {LONGEST_QUEUE}"));
    }
    findings.check_span(&path.key("route_buffer_time"), it.route_buffer_time, false, LONGEST);
    findings.check_span(&path.key("location_interval"), it.location_interval, false, LONGEST);
    let updates = run.duration.as_nanos() / it.location_interval.as_nanos().max(1);
    if updates > MOST_POINTS {
        let message = format!("\"{}\" makes {updates} updates in the run", it.location_interval);
        findings.error(&path.key("location_interval"), message, "write a longer one");
    }
    findings.check_span(
        &path.key("release_interval"),
        it.release_interval.unwrap_or_default(),
        true,
        LONGEST,
    );
    let medium = medium::medium(&mac, &phy, spectrum, findings);
    let powers = powers::powers(&it.power, nodes.nodes, run, &path.key("power"), findings);
    let routing = routing(scenario, mac.profile, findings);
    let cognitive = scenario.cr.as_ref().zip(spectrum);
    let capture = phy.capture_under(mac.profile);
    let cognitive = cognitive.and_then(|(cr, spectrum)| cognitive_node(cr, capture, spectrum, run, findings));
    if !findings.none_since(before) {
        return None;
    }
    let ns2 = mac.profile == Profile::Ns2;
    let usual = if ns2 { LinkFailure::Drop } else { LinkFailure::Reroute };
    // `ARP_DELAY` of aodv.h.
    let release = if ns2 { Duration::from_millis(10) } else { Duration::ZERO };
    let mut config = AdHocConfig {
        medium,
        power: phy.power,
        powers,
        routing,
        buffer_packets: it.route_buffer as usize,
        buffer_time: it.route_buffer_time,
        release_interval: it.release_interval.unwrap_or(release),
        on_link_failure: it.on_link_failure.unwrap_or(usual),
        arp: mac.arp.over(mac.profile),
        location_interval: it.location_interval,
        radios: it.radios,
        switching_delay: scenario
            .cr
            .as_ref()
            .map_or(Duration::from_millis(1), |cr| cr.shared.switching_delay),
        cognitive,
    };
    // It follows from the other settings, so it comes last.
    config.medium.silence = config.silence_rules();
    let cr = scenario.cr.as_ref();
    Some(AdHocSpec {
        area: nodes.area,
        nodes: nodes.nodes,
        motion: nodes.motion,
        config,
        reception: cr.map_or(Reception::Sinr, |cr| cr.shared.reception),
        sensitivity: cr.map_or(ReceiverModel::default().sensitivity, |cr| cr.shared.sensitivity),
    })
}

/// The protocol. AODV follows the profile of the MAC, unless it has one of its own.
fn routing(scenario: &Scenario, profile: Profile, findings: &mut Findings) -> RoutingSpec {
    let mut routing = scenario.routing.clone().unwrap_or_default();
    if let RoutingSpec::Aodv(settings) = &mut routing
        && settings.profile.is_none()
    {
        settings.profile = match profile {
            Profile::Standard => None,
            Profile::Ns2 => Some(AodvProfile::Ns2),
            Profile::Ns3 => Some(AodvProfile::Ns3),
        };
    }
    let path = KeyPath::of("routing").key(routing.name());
    routing.check(&mut findings.under(&path));
    if !routing.kind().hears_of_broken_links() {
        findings.warn(
            &path,
            "neither the MAC (link_feedback) nor hellos detect a broken link: its routes stay in use until they expire",
            "write link_feedback = true, or remove the setting that turns it off",
        );
    }
    routing
}

/// The cognitive radios of the nodes.
fn cognitive_node(
    cr: &CognitiveNodes,
    capture: Decibel,
    spectrum: &SpectrumSpec,
    run: &Run,
    findings: &mut Findings,
) -> Option<CognitiveNode> {
    let path = KeyPath::of("cr");
    findings.check_span(&path.key("report_memory"), cr.report_memory, false, LONGEST);
    if cr.sensing != SensingTimes::Independent && !cr.shared.jitter.is_zero() {
        let message = "nodes that sense by a common clock have no jitter";
        findings.error(&path.key("jitter"), message, "take jitter out, or write sensing = \"independent\"");
    }
    let (radio, surroundings) = radio(&cr.shared, None, capture, spectrum, &path, run, findings)?;
    Some(CognitiveNode {
        radio,
        detector: cr.shared.detector().clone(),
        surroundings,
        policy: cr.shared.policy,
        times: cr.sensing,
        while_neighbour_senses: cr.while_neighbour_senses,
        knowledge: cr.channel_knowledge,
        report_memory: cr.report_memory,
    })
}
