//! CR users under a regulation.

use crate::resolve::Findings;
use crate::tree::KeyPath;
use crate::{
    Access, CognitiveUser, Ends, FlowSpec, RadioSpec, SensingSettings, SpectrumSpec, UdpSpec, suggest,
};
use cogtcp_spectrum::CognitiveConfig;
use cogtcp_spectrum::regulation::{DpaAnswer, RegulationConfig};
use cogtcp_units::{Check, Duration};

/// Headers of the largest packet of a flow, besides its data: IPv6, TCP with options, or UDP with a transport
/// over it.
const HEADERS: u32 = 120;

/// The times of a radio that senses; of one that does not, times that it never uses.
pub(in crate::resolve) struct Times {
    pub(in crate::resolve) sensing: Duration,
    pub(in crate::resolve) transmission: Duration,
    pub(in crate::resolve) second_look: Option<Duration>,
}

/// Hands on what a regulation finds wrong.
struct Named<'a, C: Check>(&'a mut C);

impl<C: Check> Check for Named<'_, C> {
    fn error(&mut self, field: &str, message: String, remedy: String) {
        self.0.error(field, message, remedy);
    }
}

/// The key of the regulation in a scenario.
fn key(regulation: &RegulationConfig) -> &'static str {
    match regulation {
        RegulationConfig::Cbrs(_) => "cbrs",
        RegulationConfig::Dfs(_) => "dfs",
        RegulationConfig::Tvws(_) => "tvws",
        RegulationConfig::QuietPeriods(_) => "quiet_periods",
    }
}

/// Works out the times of sensing, and reports those that are missing or that a regulation replaces.
pub(super) fn times(
    settings: &SensingSettings,
    regulation: Option<&RegulationConfig>,
    path: &KeyPath,
    findings: &mut Findings,
) -> Times {
    let default = CognitiveConfig::default();
    let senses = !matches!(
        regulation,
        Some(RegulationConfig::Cbrs(_) | RegulationConfig::Dfs(_) | RegulationConfig::Tvws(_))
    );
    let given = [
        ("sensing_time", settings.sensing_time.is_some(), regulation.is_none()),
        ("transmission_time", settings.transmission_time.is_some(), regulation.is_none()),
        ("detector", settings.detector.is_some(), senses),
        ("jitter", !settings.jitter.is_zero(), senses),
        ("start", !settings.start.is_zero(), senses),
    ];
    for (field, is_given, is_right) in given {
        let is_optional = matches!(field, "jitter" | "start");
        if !is_given && is_right && !is_optional {
            findings.error(path, format!("\"{field}\" is missing"), suggest::example(field));
        } else if let Some(regulation) = regulation.filter(|_| is_given && !is_right) {
            let name = key(regulation);
            let message = if senses {
                format!("regulation.{name} has the times of sensing: {field} has no effect")
            } else {
                format!("a radio under regulation.{name} does not sense by a cycle: {field} has no effect")
            };
            findings.error(&path.key(field), message, format!("take {field} or regulation out"));
        }
    }
    if let Some(regulation) = regulation {
        let path = path.key("regulation").key(key(regulation));
        regulation.kind().check(&mut Named(&mut findings.under(&path)));
    }
    match regulation {
        Some(RegulationConfig::QuietPeriods(quiet)) => Times {
            sensing: quiet.within,
            transmission: quiet.every.saturating_sub(quiet.within).max(Duration::from_nanos(1)),
            second_look: Some(quiet.between),
        },
        Some(_) => Times {
            sensing: default.sensing_time,
            transmission: default.transmission_time,
            second_look: None,
        },
        None => Times {
            // What is missing was reported.
            sensing: settings.sensing_time.unwrap_or(default.sensing_time),
            transmission: settings.transmission_time.unwrap_or(default.transmission_time),
            second_look: None,
        },
    }
}

/// Refuses what does not go together with the regulation of a pair of CR users.
pub(super) fn check_user(user: &CognitiveUser, path: &KeyPath, findings: &mut Findings) {
    let Some(regulation) = &user.regulation else { return };
    let name = key(regulation);
    let is_quiet = matches!(regulation, RegulationConfig::QuietPeriods(_));
    if user.ends == Ends::Independent {
        let message = format!("under regulation.{name} one device decides for both ends");
        findings.error(&path.key("ends"), message, "take ends out");
    }
    if user.cooperation.is_some() && !is_quiet {
        let message =
            format!("a radio under regulation.{name} does not sense, and no neighbour senses with it");
        findings.error(&path.key("cooperation"), message, "take cooperation out");
    }
    let RegulationConfig::Cbrs(rules) = regulation else { return };
    let DpaAnswer::Reduce(power) = rules.dpa else { return };
    let path = path.key("regulation").key(name).key("dpa").key("reduce");
    match (user.access, power.rate) {
        (Access::None, None) => findings.error(
            &path,
            "with access = \"none\" the rate at less power is not known",
            "write reduce = { by = \"10 dB\", rate = \"5 Mbit/s\" }, or access = \"scheduled\"",
        ),
        (Access::None, Some(rate)) => findings.under(&path).rate("rate", rate),
        (Access::Scheduled, Some(_)) => findings.error(
            &path.key("rate"),
            "a cell adapts its rate to the power",
            "take rate out, or write access = \"none\"",
        ),
        (Access::Dcf, _) => findings.error(
            &path,
            "802.11 has one power and one rate on a channel",
            "write dpa = \"suspend\" or \"relocate\", or access = \"none\" or \"scheduled\"",
        ),
        (Access::Scheduled, None) => {}
    }
}

/// Refuses radios whose last frame would end beyond the time that the regulation allows.
pub(in crate::resolve) fn check_frames(
    radios: &[RadioSpec],
    spectrum: Option<&SpectrumSpec>,
    (flows, udp): (&[FlowSpec], &[UdpSpec]),
    findings: &mut Findings,
) {
    let of_flows = flows.iter().map(|flow| flow.segment_size() + HEADERS);
    let largest = of_flows.chain(udp.iter().map(|source| source.size + HEADERS)).max().unwrap_or(1500);
    for (number, radio) in radios.iter().enumerate() {
        let Some(user) = radio.kind.user() else { continue };
        let Some(regulation) = &user.ends[0].regulation else { continue };
        let channels = spectrum.iter().flat_map(|spectrum| spectrum.channels.usable());
        let frames = channels.map(|(_, channel)| radio.kind.longest_frame(channel.rate, largest));
        let longest = frames.max().unwrap_or_default();
        let margin = regulation.kind().margin();
        if longest > margin {
            let message = format!(
                "a frame takes up to \"{longest}\", and the radio falls silent \"{margin}\" before incumbents must be undisturbed"
            );
            let remedy = match regulation {
                RegulationConfig::Cbrs(_) => "write transmit and stop with a sum of less than 300 s",
                RegulationConfig::Dfs(_) => "write a shorter closing, or faster channels",
                _ => "write a longer lead, or faster channels",
            };
            let path = KeyPath::of("radio").index(number).key("cr").key("regulation").key(key(regulation));
            findings.error(&path, message, remedy);
        }
    }
}
