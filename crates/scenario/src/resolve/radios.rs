//! Radios: which links they gate, and their cognitive cycle.

use super::Findings;
use super::network::ResolvedNetwork;
use crate::limits::{LONGEST, LONGEST_DELAY, MOST_POINTS};
use crate::source::Source;
use crate::tree::KeyPath;
use crate::{Access, Gating, LinkSpec, Radio, RadioKind, RadioSpec, Run, SpectrumSpec};
use cogtcp_link::Silence;
use cogtcp_spectrum::{ChannelChoice, CycleConfig, GateBounds};
use cogtcp_units::Duration;
use std::collections::BTreeMap;

pub(super) fn build(
    radios: &[Radio],
    source: &Source,
    network: &ResolvedNetwork,
    spectrum: Option<&SpectrumSpec>,
    run: &Run,
    findings: &mut Findings,
) -> Vec<RadioSpec> {
    super::cognitive::warn_apart(radios, findings);
    let mut names = BTreeMap::new();
    let mut gated: BTreeMap<usize, &str> = BTreeMap::new();
    let mut specs = Vec::with_capacity(radios.len());
    for (i, radio) in radios.iter().enumerate() {
        let path = KeyPath::of("radio").index(i);
        findings.check_name(&path.key("name"), &radio.name);
        if let Some(first) = names.insert(radio.name.as_str(), i) {
            let message = format!("the radio \"{}\" is already radio.{first}", radio.name);
            findings.error(&path.key("name"), message, "give each radio a name of its own");
        }
        if radio.links.is_empty() {
            findings.error(&path.key("links"), "the radio gates no link", "name at least one link");
        }
        let mut links = Vec::with_capacity(radio.links.len());
        for (j, name) in radio.links.iter().enumerate() {
            let path = path.key("links").index(j);
            let Some(link) = network.link(name, &path, findings) else { continue };
            if let Some(other) = gated.insert(link, &radio.name) {
                let message = format!("the link \"{name}\" is already gated by the radio \"{other}\"");
                findings.error(&path, message, "name each link once: one radio gates both its directions");
            }
            network.check_untraced(link, &path, findings);
            links.push(link);
        }
        let served: Vec<&LinkSpec> = links.iter().map(|link| &network.links[*link]).collect();
        let kind = kind(radio, &served, source, spectrum, &path, run, findings);
        if radio.unreachable && !has_mac(radio) && radio.silence == Silence::Hold {
            findings.warn(
                &path.key("unreachable"),
                "unreachable has no effect: this silence holds packets and destroys none",
                "write silence = \"drop\", or take unreachable out",
            );
        }
        specs.push(RadioSpec {
            name: radio.name.clone(),
            links,
            // One that does not hold together was reported: the experiment is not built.
            kind: kind.unwrap_or_default(),
        });
    }
    specs
}

type IsGiven = fn(&Radio) -> bool;

/// What may stand beside `cr` in a scenario, by mistake: key, whether it does, and what takes its place.
const BESIDE_CR: [(&str, IsGiven, &str); 6] = [
    (
        "sensing",
        |radio| radio.sensing.is_some(),
        "a CR user senses by cr.sensing_time and cr.transmission_time",
    ),
    ("pu", |radio| radio.pu.is_some(), "a CR user meets the PUs of [spectrum]"),
    ("channel", |radio| radio.channel != ChannelChoice::Stay, "a CR user has the channels of [spectrum]"),
    ("dwell", |radio| radio.dwell.is_some(), "a CR user leaves a channel by cr.policy"),
    (
        "silence",
        |radio| radio.silence != Silence::Hold,
        "cr.while_peer_senses sets what a sender does in a silence",
    ),
    ("unreachable", |radio| radio.unreachable, "the MAC of a CR user sends no ICMP"),
];

/// How many of these are fields of a cycle; those after them say what silence does.
const OF_CYCLE: usize = 4;

/// True for a CR user whose MAC serves its links.
fn has_mac(radio: &Radio) -> bool {
    radio.cr.as_ref().is_some_and(|user| user.access != Access::None)
}

/// What moves the radio: exactly one of `cr`, `journey`, a gate such as `leo`, and the fields of a cycle.
fn kind(
    radio: &Radio,
    links: &[&LinkSpec],
    source: &Source,
    spectrum: Option<&SpectrumSpec>,
    path: &KeyPath,
    run: &Run,
    findings: &mut Findings,
) -> Option<RadioKind> {
    if radio.cr.is_some() {
        // Without a MAC the link itself decides what silence does to packets.
        let beside = if has_mac(radio) { &BESIDE_CR[..] } else { &BESIDE_CR[..OF_CYCLE] };
        for (key, _, instead) in beside.iter().filter(|(_, given, _)| given(radio)) {
            let message = format!("the radio has both cr and {key}: {instead}");
            findings.error(&path.key(key), message, "keep either it or [radio.cr]");
        }
    }
    if radio.journey.is_some() {
        let cycle = BESIDE_CR[..OF_CYCLE].iter().map(|(key, given, _)| (*key, given(radio)));
        for (key, _) in cycle.chain([("cr", radio.cr.is_some())]).filter(|(_, given)| *given) {
            let message = format!("the radio has both journey and {key}: on a journey the map decides");
            findings.error(&path.key(key), message, format!("keep either {key} or journey"));
        }
    }
    let gates = radio.gates();
    for (own, gate) in &gates {
        let beside = BESIDE_CR[..OF_CYCLE].iter().map(|(key, given, _)| (*key, given(radio)));
        let others = [("cr", radio.cr.is_some()), ("journey", radio.journey.is_some())];
        // Each pair of gates once.
        let gates = gates.iter().map(|(key, _)| (*key, key > own));
        for (key, _) in beside.chain(others).chain(gates).filter(|(_, given)| *given) {
            let message =
                format!("the radio has both {own} and {key}: {own} decides when the links are open");
            findings.error(&path.key(key), message, format!("keep either {key} or {own}"));
        }
        let path = &path.key(own);
        let bounds = GateBounds { duration: LONGEST, delay: LONGEST_DELAY };
        gate.kind().check(&bounds, &mut findings.under(path));
        let (field, interval) = gate.kind().interval();
        check_cycles(&path.key(field), interval, run, findings);
    }
    if radio.flush.is_some() && radio.silence != Silence::Down {
        let message = "only silence = \"down\" destroys waiting packets and packets in flight";
        findings.error(&path.key("flush"), message, "write silence = \"down\" as well, or take flush out");
    }
    let flush = radio.flush.unwrap_or_default();
    let gating = Gating { silence: radio.silence, flush, unreachable: radio.unreachable };
    match (&radio.cr, &radio.journey) {
        (Some(user), _) => {
            let before = findings.errors.len();
            let link = links.first().copied();
            super::cognitive::check_links(radio, user, link, path, findings);
            let spec = Box::new(super::cognitive::user(user, spectrum?, link, path, run, findings)?);
            Some(match user.access {
                Access::Dcf => RadioKind::Cognitive(spec),
                Access::None => RadioKind::Unshared(spec, gating),
                // Only what has been checked makes a cell.
                Access::Scheduled if findings.none_since(before) => {
                    RadioKind::Scheduled(spec, Box::new(user.cell.clone().unwrap_or_default().spec(links)))
                }
                Access::Scheduled => return None,
            })
        }
        (None, Some(journey)) => {
            let spec = super::journey::journey(journey, source, &path.key("journey"), run, findings)?;
            Some(RadioKind::Journey(spec, gating))
        }
        (None, None) => Some(match gates.into_iter().next() {
            Some((_, gate)) => RadioKind::Gate(gate, gating),
            None => RadioKind::Cycle(cycle(radio, path, run, findings), gating),
        }),
    }
}

fn cycle(radio: &Radio, path: &KeyPath, run: &Run, findings: &mut Findings) -> CycleConfig {
    if radio.sensing.is_none() && radio.pu.is_none() {
        findings.warn(
            path,
            format!(
                "the radio \"{}\" neither senses nor meets primary users: it never falls silent",
                radio.name
            ),
            "add sensing = { off = ..., on = ... } or pu = { interarrival = ..., switching = ... }",
        );
    }
    let config = CycleConfig {
        sensing: radio.sensing.clone(),
        pu: radio.pu.clone(),
        channel: radio.channel.clone(),
        dwell: radio.dwell.unwrap_or_default(),
    };
    let before = findings.errors.len();
    config.check(LONGEST, &mut findings.under(path));
    if !findings.none_since(before) {
        return config;
    }
    if let Some(sensing) = &radio.sensing {
        let path = path.key("sensing");
        check_cycles(&path.key("on"), sensing.off.mean() + sensing.on.mean(), run, findings);
        warn_longer(&path.key("off"), sensing.off.mean(), run, findings);
        if sensing.start.is_some_and(|start| start >= run.duration) {
            findings.warn(
                &path.key("start"),
                "the first sensing is after the end of the run",
                "start earlier",
            );
        }
    }
    if let Some(pu) = &radio.pu {
        let path = path.key("pu");
        check_cycles(&path.key("interarrival"), pu.interarrival, run, findings);
        warn_longer(&path.key("switching"), pu.switching, run, findings);
    }
    if radio.dwell.is_some() && radio.channel == ChannelChoice::Stay {
        findings.warn(
            &path.key("dwell"),
            "the channel never changes: dwell has no effect",
            "add channel = { range = [..., ...] } or { set = [...] }, or leave dwell out",
        );
    }
    config
}

/// Refuses an interruption so often that the run would consist of nothing else.
fn check_cycles(path: &KeyPath, cycle: Duration, run: &Run, findings: &mut Findings) {
    let count = run.duration.as_nanos() / cycle.as_nanos().max(1);
    if count > MOST_POINTS {
        let least = Duration::from_nanos(run.duration.as_nanos().div_ceil(MOST_POINTS));
        findings.error(
            path,
            format!("an interruption every \"{cycle}\" makes {count} in the run; at most {MOST_POINTS} are allowed"),
            format!("make the cycle at least \"{least}\", or run.duration shorter"),
        );
    }
}

fn warn_longer(path: &KeyPath, silence: Duration, run: &Run, findings: &mut Findings) {
    if silence > run.duration {
        findings.warn(
            path,
            format!("one silence (\"{silence}\") is longer than the run (\"{}\")", run.duration),
            "check the units",
        );
    }
}
