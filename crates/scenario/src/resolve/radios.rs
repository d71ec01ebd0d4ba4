//! Radios: which links they gate, and their cognitive cycle.

use super::Findings;
use super::network::Network;
use crate::limits::{LONGEST, MOST_POINTS};
use crate::source::Source;
use crate::tree::Path;
use crate::{Channel, Clock, Law, Radio, RadioSpec, RunSpec, Silence, SpectrumSpec};
use cogtcp_spectrum::{ChannelChoice, CycleConfig, DurationLaw, PuArrivals, SensingClock, SensingCycle};
use cogtcp_units::Duration;
use std::collections::BTreeMap;

pub(super) fn build(
    radios: &[Radio],
    source: &Source,
    network: &Network,
    spectrum: Option<&SpectrumSpec>,
    run: &RunSpec,
    findings: &mut Findings,
) -> Vec<RadioSpec> {
    super::cognitive::warn_apart(radios, findings);
    let mut names = BTreeMap::new();
    let mut gated: BTreeMap<usize, &str> = BTreeMap::new();
    let mut specs = Vec::with_capacity(radios.len());
    for (i, radio) in radios.iter().enumerate() {
        let path = Path::of("radio").index(i);
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
            links.push(link);
        }
        let (cycle, cognitive) = match &radio.cr {
            Some(user) => {
                super::cognitive::check_alone(radio, &path, findings);
                let link = links.first().map(|link| &network.links[*link]);
                if let Some(link) = link
                    && !(link.forward.drops.is_empty() && link.reverse.drops.is_empty())
                {
                    findings.error(
                        &path.key("cr"),
                        format!("the link \"{}\" loses packets by their number (drops), which its MAC would send again", link.name),
                        "put drops on a wired link before or after it",
                    );
                }
                let spec =
                    spectrum.and_then(|air| super::cognitive::user(user, air, link, &path, run, findings));
                (CycleConfig::default(), spec.map(Box::new))
            }
            None if radio.journey.is_some() => (CycleConfig::default(), None),
            None => (cycle(radio, &path, run, findings), None),
        };
        let journey = radio.journey.as_ref().and_then(|it| {
            super::journey::check_alone(radio, &path, findings);
            super::journey::journey(it, source, &path.key("journey"), run, findings)
        });
        if radio.unreachable && radio.cr.is_none() && radio.silence == Silence::Hold {
            findings.warn(
                &path.key("unreachable"),
                "the radio's silence holds packets and destroys none: nobody is told of anything",
                "write silence = \"drop\", or take unreachable out",
            );
        }
        specs.push(RadioSpec {
            name: radio.name.clone(),
            links,
            cycle,
            silence: radio.silence,
            unreachable: radio.unreachable,
            cognitive,
            journey,
        });
    }
    specs
}

fn cycle(radio: &Radio, path: &Path, run: &RunSpec, findings: &mut Findings) -> CycleConfig {
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
    let sensing = radio.sensing.as_ref().map(|sensing| {
        let path = path.key("sensing");
        let before = findings.errors.len();
        check_law(
            sensing.off,
            &path.key("off"),
            "this is how long the link is silent at each sensing",
            findings,
        );
        check_law(
            sensing.on,
            &path.key("on"),
            "this is how long the link is open between two sensings",
            findings,
        );
        if findings.none_since(before) {
            check_cycles(&path.key("on"), sensing.off.0.mean() + sensing.on.0.mean(), run, findings);
            warn_longer(&path.key("off"), sensing.off.0.mean(), run, findings);
        }
        if let Some(start) = sensing.start {
            findings.check_span(&path.key("start"), start, true, LONGEST);
            if start >= run.duration {
                findings.warn(
                    &path.key("start"),
                    "the first sensing is after the end of the run",
                    "start earlier",
                );
            }
        }
        let clock = match sensing.clock {
            Clock::Restart => SensingClock::Restart,
            Clock::Keep => SensingClock::Keep,
        };
        SensingCycle { off: sensing.off.0, on: sensing.on.0, start: sensing.start, clock }
    });
    let pu = radio.pu.as_ref().map(|pu| {
        let path = path.key("pu");
        let before = findings.errors.len();
        findings.check_span(&path.key("interarrival"), pu.interarrival, false, LONGEST);
        findings.check_span(&path.key("switching"), pu.switching, true, LONGEST);
        if findings.none_since(before) {
            check_cycles(&path.key("interarrival"), pu.interarrival, run, findings);
            warn_longer(&path.key("switching"), pu.switching, run, findings);
        }
        PuArrivals { interarrival: pu.interarrival, switching: pu.switching }
    });
    let field = path;
    let path = path.key("channel");
    let channel = match &radio.channel {
        Channel::Stay => ChannelChoice::Stay,
        Channel::Range([low, high]) => {
            findings.check_rate(&path.key("range").index(0), *low);
            findings.check_rate(&path.key("range").index(1), *high);
            if low > high {
                findings.error(
                    &path.key("range"),
                    format!("the range begins above its end (\"{low}\" > \"{high}\")"),
                    format!("write [\"{high}\", \"{low}\"]"),
                );
            }
            ChannelChoice::Range(*low, *high)
        }
        Channel::Set(rates) => {
            if rates.is_empty() {
                findings.error(&path.key("set"), "there is no channel in the set", "list at least one rate");
            }
            for (i, rate) in rates.iter().enumerate() {
                findings.check_rate(&path.key("set").index(i), *rate);
            }
            ChannelChoice::Set(rates.clone())
        }
    };
    if let Some(dwell) = radio.dwell {
        findings.check_span(&field.key("dwell"), dwell, true, LONGEST);
        if channel == ChannelChoice::Stay {
            findings.warn(
                &field.key("dwell"),
                "the channel never changes: dwell has no effect",
                "add channel = { range = [..., ...] } or { set = [...] }, or leave dwell out",
            );
        }
    }
    CycleConfig { sensing, pu, channel, dwell: radio.dwell.unwrap_or_default() }
}

/// A law whose spans can be above zero, in bounds, and in order.
fn check_law(law: Law, path: &Path, meaning: &str, findings: &mut Findings) {
    match law.0 {
        DurationLaw::Fixed(span) if span.is_zero() => {
            findings.error(path, format!("the duration is zero: {meaning}"), "write one above zero");
        }
        _ => check_bounds(law, path, findings),
    }
}

/// A law whose spans lie in bounds and in order; they may be zero.
pub(super) fn check_bounds(law: Law, path: &Path, findings: &mut Findings) {
    match law.0 {
        DurationLaw::Fixed(span) if span.is_zero() => {}
        DurationLaw::Fixed(span) => findings.check_span(path, span, false, LONGEST),
        DurationLaw::Exponential(mean) => {
            findings.check_span(&path.key("exponential"), mean, false, LONGEST);
        }
        DurationLaw::Uniform(low, high) => {
            let path = path.key("uniform");
            findings.check_span(&path.index(0), low, true, LONGEST);
            findings.check_span(&path.index(1), high, false, LONGEST);
            if low > high {
                findings.error(
                    &path,
                    format!("the range begins above its end (\"{low}\" > \"{high}\")"),
                    format!("write [\"{high}\", \"{low}\"]"),
                );
            }
        }
    }
}

/// Refuses an interruption so often that the run would consist of nothing else.
fn check_cycles(path: &Path, cycle: Duration, run: &RunSpec, findings: &mut Findings) {
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

fn warn_longer(path: &Path, silence: Duration, run: &RunSpec, findings: &mut Findings) {
    if silence > run.duration {
        findings.warn(
            path,
            format!("one silence (\"{silence}\") is longer than the run (\"{}\")", run.duration),
            "check the units",
        );
    }
}
