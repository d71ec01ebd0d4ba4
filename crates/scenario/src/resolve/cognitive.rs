//! CR users in full: the spectrum with its files, and the radios with their MAC.

mod regulation;
mod spectrum;

pub(super) use regulation::check_frames;
pub(super) use spectrum::{files, spectrum};

use super::Findings;
use crate::limits::{LONGEST, MOST_POINTS};
use crate::tree::KeyPath;
use crate::{
    Access, CognitiveSpec, CognitiveUser, Coordinates, Ends, LinkSpec, PuSnr, Radio, Reception, Run,
    Scenario, SensingSettings, SpectrumSpec, TransmitRadio, UsersSpec, WhilePeerSenses,
};
use cogtcp_link::Silence;
use cogtcp_spectrum::air::{ReceiverModel, SnrModel};
use cogtcp_spectrum::detector::DetectorContext;
use cogtcp_spectrum::propagation::Position;
use cogtcp_spectrum::regulation::RegulationConfig;
use cogtcp_spectrum::{ChannelId, CognitiveConfig};
use cogtcp_units::{Decibel, Duration};
use cogtcp_wireless::Dcf;

/// The longest propagation delay of a link with a MAC: 30 km.
const LONGEST_HOP: Duration = Duration::from_micros(100);

/// The place in metres.
pub(super) fn position(place: Coordinates) -> Position {
    Position::new(place[0].0, place[1].0)
}

/// A CR user needs a spectrum, and a spectrum a CR user.
pub(super) fn check_use(scenario: &Scenario, findings: &mut Findings) {
    let user = scenario.radio.iter().position(|radio| radio.cr.is_some());
    match (user, &scenario.spectrum) {
        _ if matches!(scenario.topology, crate::Topology::AdHoc(_)) => {}
        (Some(i), None) => findings.error(
            &KeyPath::of("radio").index(i).key("cr"),
            "a CR user needs channels, and the scenario has no [spectrum]",
            "add [spectrum] with channels = { uniform = \"1 Mbit/s\" } and pu = { exponential = { alpha = 0.5, beta = 0.5 } }",
        ),
        (None, Some(_)) => findings.warn(
            &KeyPath::of("spectrum"),
            "no radio uses the spectrum",
            "add [radio.cr] to a [[radio]], or take [spectrum] out",
        ),
        _ => {}
    }
    for path in &scenario.source.without_access {
        let own = path.key("access");
        // What was set after reading is named too.
        if !scenario.source.changed.iter().any(|change| own.0.starts_with(&change.path.0)) {
            findings.warn(
                path,
                "access is not named, so this link has the MAC of 802.11",
                "write access = \"dcf\" (cogtcp check --migrate does), \"none\" or \"scheduled\"",
            );
        }
    }
}

/// Refuses links that the access cannot serve. A MAC serves one link and decides on retransmissions.
pub(super) fn check_links(
    radio: &Radio,
    user: &CognitiveUser,
    link: Option<&LinkSpec>,
    path: &KeyPath,
    findings: &mut Findings,
) {
    if user.access == Access::None {
        if radio.silence == Silence::Down {
            findings.error(
                &path.key("silence"),
                "access = \"none\" counts interference where frames arrive, and silence = \"down\" destroys frames on their way",
                "write silence = \"drop\", \"refuse\" or \"hold\"",
            );
        }
        return;
    }
    if user.access == Access::Scheduled {
        let cell = user.cell.clone().unwrap_or_default();
        let mut report =
            |path: &KeyPath, message: String, remedy: String| findings.error(path, message, remedy);
        cell.check(&radio.links, &path.key("cr").key("cell"), &mut report);
        if let Some(link) = link.filter(|link| loses(link)) {
            let message = format!("the link \"{}\" loses packets, which HARQ and RLC decide", link.name);
            findings.error(&path.key("cr"), message, "take loss and drops out, or put them on a wired link");
        }
        return;
    }
    if radio.links.len() > 1 {
        let message = "a CR user with a MAC has one link: only the two stations at its ends share a channel";
        let remedy = "give each link a [[radio]] of its own (they do not hear each other), or send several flows over one link";
        findings.error(&path.key("links"), message, remedy);
    }
    if let Some(link) = link.filter(|link| !(link.forward.drops.is_empty() && link.reverse.drops.is_empty()))
    {
        let message = format!(
            "the link \"{}\" loses packets by their number (drops), which its MAC would retransmit",
            link.name
        );
        findings.error(&path.key("cr"), message, "put drops on a wired link before or after it");
    }
    if let Some(link) = link.filter(|link| link.forward.loss_run.is_some()) {
        let message = format!(
            "the MAC of the link \"{}\" draws each loss on its own, not in runs (loss_run)",
            link.name
        );
        findings.error(&path.key("cr"), message, "put loss_run on a wired link before or after it");
    }
}

/// True for a link that loses packets by chance or by their number.
fn loses(link: &LinkSpec) -> bool {
    [&link.forward, &link.reverse]
        .iter()
        .any(|direction| direction.loss.get() > 0.0 || !direction.drops.is_empty())
}

/// What both kinds of CR users are: their radio, wherever it stands, and what its detector may take from
/// around it.
pub(super) fn radio(
    settings: &SensingSettings,
    regulation: Option<&RegulationConfig>,
    capture: Decibel,
    spectrum: &SpectrumSpec,
    path: &KeyPath,
    run: &Run,
    findings: &mut Findings,
) -> Option<(CognitiveConfig, DetectorContext)> {
    let before = findings.errors.len();
    let times = regulation::times(settings, regulation, path, findings);
    for (key, span, zero) in [
        ("sensing_time", times.sensing, false),
        ("transmission_time", times.transmission, false),
        ("jitter", settings.jitter, true),
        ("switching_delay", settings.switching_delay, true),
        ("start", settings.start, true),
    ] {
        findings.check_span(&path.key(key), span, zero, LONGEST);
    }
    let cycle = times.sensing + times.transmission;
    let cycles = run.duration.as_nanos() / cycle.as_nanos().max(1);
    if cycles > MOST_POINTS {
        findings.error(
            &path.key("transmission_time"),
            format!(
                "a sensing every \"{cycle}\" makes {cycles} in the run; at most {MOST_POINTS} are allowed"
            ),
            "write longer times, or a shorter run.duration",
        );
    }
    let channel = channel(settings.channel, spectrum, path, findings);
    let surroundings = DetectorContext { duty_cycle: duty_cycle(spectrum) };
    if let Err(wrong) = settings.detector().kind().build(&surroundings) {
        findings.error(&path.key("detector"), format!("{}: {}", wrong.setting, wrong.message), wrong.remedy);
    }
    if !findings.none_since(before) {
        return None;
    }
    let config = CognitiveConfig {
        sensing_time: times.sensing,
        transmission_time: times.transmission,
        second_look: times.second_look,
        regulation: regulation.cloned(),
        jitter: settings.jitter,
        switching_delay: settings.switching_delay,
        start: settings.start,
        channel,
        receiver: ReceiverModel::new(settings.sensitivity, capture.0),
        snr: match settings.pu_snr {
            // To one without an SNR it does not matter.
            PuSnr::Stated => SnrModel::Fixed(settings.detector().kind().snr().unwrap_or_default().linear()),
            PuSnr::Received => SnrModel::Received,
        },
        ..CognitiveConfig::default()
    };
    Some((config, surroundings))
}

/// The CR users at the ends of `link`.
pub(super) fn user(
    user: &CognitiveUser,
    spectrum: &SpectrumSpec,
    link: Option<&LinkSpec>,
    at: &KeyPath,
    run: &Run,
    findings: &mut Findings,
) -> Option<CognitiveSpec> {
    let path = at.key("cr");
    let before = findings.errors.len();
    if !(0.0..=100.0).contains(&user.capture.0) {
        let message = format!("a capture threshold of \"{}\" is out of range", user.capture);
        findings.error(&path.key("capture"), message, "write \"0 dB\" to \"100 dB\"");
    }
    if user.transmit_power.watts() == 0.0 {
        findings.error(
            &path.key("transmit_power"),
            "a frame without power reaches no node",
            "write one above zero",
        );
    }
    match user.access {
        Access::Dcf => {
            if let Some(link) = link {
                check_link(link, at, findings);
            }
            user.mac.check(&mut findings.under(&path.key("mac")));
        }
        Access::None | Access::Scheduled => check_unshared(user, &path, findings),
    }
    regulation::check_user(user, &path, findings);
    if user.cell.is_some() && user.access != Access::Scheduled {
        findings.error(
            &path.key("cell"),
            "only scheduled access has a cell",
            "write access = \"scheduled\", or take cell out",
        );
    }
    let (radio, surroundings) =
        radio(&user.shared, user.regulation.as_ref(), user.capture, spectrum, &path, run, findings)?;
    if !findings.none_since(before) {
        return None;
    }
    warn_unsendable(user, spectrum, &path, findings);
    warn_certain(&user.shared, spectrum, &path, findings);
    let neighbours = user.cooperation.iter().flat_map(|cooperation| &cooperation.neighbours);
    let end = |place: Coordinates| CognitiveConfig {
        aligned: false,
        position: position(place),
        neighbours: neighbours.clone().map(|place| position(*place)).collect(),
        fusion: user.cooperation.as_ref().map(|cooperation| cooperation.rule).unwrap_or_default(),
        ..radio.clone()
    };
    Some(CognitiveSpec {
        ends: user.positions.map(end),
        sensing: user.ends,
        detector: user.shared.detector().clone(),
        surroundings,
        policy: user.shared.policy,
        while_peer_senses: user.while_peer_senses,
        transmit_radio: user.transmit_radio,
        transmit_power: user.transmit_power,
        reception: user.shared.reception,
        mac: user.mac.clone(),
    })
}

/// Refuses settings that need a MAC.
fn check_unshared(user: &CognitiveUser, path: &KeyPath, findings: &mut Findings) {
    let one_radio = "both ends share one radio";
    let (access, mac) = match user.access {
        Access::Scheduled => ("scheduled", "cell has its settings"),
        _ => ("none", "there is no MAC"),
    };
    let fields = [
        ("mac", user.mac != Dcf::default(), mac),
        ("while_peer_senses", user.while_peer_senses != WhilePeerSenses::Wait, "no frame is retried"),
        ("reception", user.shared.reception != Reception::Sinr, "there are no RTS and data frames of a MAC"),
        ("ends", user.ends != Ends::Synchronous, one_radio),
        ("transmit_radio", user.transmit_radio != TransmitRadio::Shared, one_radio),
    ];
    for (key, _, why) in fields.into_iter().filter(|(_, given, _)| *given) {
        findings.error(
            &path.key(key),
            format!("{key} has no meaning with access = \"{access}\": {why}"),
            format!("take {key} out, or write access = \"dcf\""),
        );
    }
}

fn check_link(link: &LinkSpec, radio: &KeyPath, findings: &mut Findings) {
    let path = radio.key("links").index(0);
    if link.forward.delay > LONGEST_HOP {
        findings.error(
            &path,
            format!("the link \"{}\" has a delay of \"{}\", and radio waves cross 30 km in \"{LONGEST_HOP}\"", link.name, link.forward.delay),
            "write the propagation delay of the hop, as delay = \"1 us\"; a longer delay belongs to a link of its own",
        );
    } else if link.reverse.delay != link.forward.delay {
        let message =
            format!("the link \"{}\" has another delay in reverse: a hop has one length", link.name);
        findings.error(&path, message, "take reverse_delay out");
    }
}

fn channel(
    number: Option<u32>,
    spectrum: &SpectrumSpec,
    path: &KeyPath,
    findings: &mut Findings,
) -> ChannelId {
    let Some(number) = number else {
        return spectrum.channels.usable().next().map_or(ChannelId(0), |(id, _)| id);
    };
    let message = match spectrum.channels.get(ChannelId(number)) {
        None => format!("there is no channel {number}"),
        Some(channel) if channel.reserved => format!("channel {number} is reserved for control"),
        Some(_) => return ChannelId(number),
    };
    let usable: Vec<String> = spectrum.channels.usable().take(12).map(|(id, _)| id.0.to_string()).collect();
    findings.error(&path.key("channel"), message, format!("write one of {}", usable.join(", ")));
    ChannelId(number)
}

/// Long-run share of the time that PUs are ON by their laws, mean over PUs; 0.5 where there is none.
pub(super) fn duty_cycle(spectrum: &SpectrumSpec) -> f64 {
    let UsersSpec::Generated(users) = &spectrum.users else { return 0.5 };
    let Some(first) = users.first() else { return 0.5 };
    // Exactly the value of the one law: a mean would round it.
    if users.iter().all(|user| user.law == first.law) {
        return first.law.duty_cycle();
    }
    users.iter().map(|user| user.law.duty_cycle()).sum::<f64>() / users.len() as f64
}

/// Warns of a received SNR that nothing comes of, or that leaves no doubt.
fn warn_certain(user: &SensingSettings, spectrum: &SpectrumSpec, path: &KeyPath, findings: &mut Findings) {
    if user.pu_snr == PuSnr::Stated {
        return;
    }
    let path = path.key("pu_snr");
    if !user.detector().kind().hears_loudness() {
        findings.warn(
            &path,
            "the detector looks at the PU's presence alone",
            "take pu_snr out, or sense with map",
        );
    } else if spectrum
        .channels
        .usable()
        .all(|(_, channel)| channel.noise.iter().all(|noise| noise.watts() == 0.0))
    {
        let message = "no channel has noise: every PU that is heard is reported";
        findings.warn(&path, message, "give channels noise by a CH-log, or take pu_snr out");
    }
}

/// Warns of several media: CR users of different links neither contend nor collide.
pub(super) fn warn_apart(radios: &[Radio], findings: &mut Findings) {
    let mut users = radios
        .iter()
        .enumerate()
        .filter(|(_, radio)| radio.cr.as_ref().is_some_and(|user| user.access == Access::Dcf));
    let (Some((_, first)), Some((second, radio))) = (users.next(), users.next()) else { return };
    findings.warn(
        &KeyPath::of("radio").index(second).key("cr"),
        format!(
            "the CR users of \"{}\" and \"{}\" do not hear each other: every link is a medium of its own",
            first.name, radio.name
        ),
        "expect no contention or collision between them; primary users are the same for all",
    );
}

/// Warns of a transmission time in which a sender that looks ahead never finds room for a packet of 1500
/// bytes.
fn warn_unsendable(user: &CognitiveUser, spectrum: &SpectrumSpec, path: &KeyPath, findings: &mut Findings) {
    let Some(slowest) = spectrum.channels.usable().map(|(_, channel)| channel.rate).min() else { return };
    let packet = slowest.transmission_time(1500 + user.mac.header_bytes());
    if user.access == Access::Dcf
        && user.while_peer_senses == WhilePeerSenses::Wait
        && user.shared.transmission_time.is_some_and(|time| packet >= time)
    {
        findings.warn(
            &path.key("transmission_time"),
            format!("a packet of 1500 bytes takes \"{packet}\" on the slowest channel (\"{slowest}\"): it is never sent"),
            "write a longer transmission_time, or faster channels",
        );
    }
}
