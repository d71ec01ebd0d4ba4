//! Ad hoc networks: nodes and their ways, radios, MAC, routing.

use super::Findings;
use super::cognitive::{check_mac, duty_cycle, position};
use crate::files::{beside, read_named};
use crate::limits::{LARGEST_LOG, LONGEST, MOST_NODES, MOST_POINTS};
use crate::tree::Path;
use crate::{
    AdHoc, AdHocMac, AdHocSpec, CognitiveNodes, FadingModel, Mac, MobilityModel, Motion, PathLossModel, Phy,
    PlacementModel, PuSnr, Reception, RetryLimit, Run, Scenario, SpectrumSpec, Topology, WaypointModel,
    WaypointStart,
};
use cogtcp_adhoc::{AdHocConfig, CognitiveNode, LinkFailure, SensingTimes};
use cogtcp_mobility::{Area, Mobility, Placement, RandomWaypoint, Start, trace};
use cogtcp_routing::{AodvProfile, RoutingSpec};
use cogtcp_spectrum::air::{Receiver, SnrModel};
use cogtcp_spectrum::detector::Surroundings;
use cogtcp_spectrum::{ChannelId, CognitiveConfig};
use cogtcp_units::{Bytes, Decibel, Duration, Length, Power};
use cogtcp_wireless::{
    ChannelConfig, Fading, MacConfig, MediumConfig, PathLoss, PhyConfig, PhyRate, Profile, Propagation,
    Shadowing,
};
use std::sync::Arc;

/// The longest side of an area.
const LONGEST_SIDE: f64 = 1e9;
/// The most packets in a queue.
const LONGEST_QUEUE: u32 = 100_000;

/// Nodes and their ways.
pub(super) struct Nodes {
    pub(super) nodes: usize,
    area: Area,
    motion: Motion,
}

/// The file of the nodes' movement.
pub(super) fn trace(topology: &Topology) -> Option<&String> {
    match topology {
        Topology::AdHoc(AdHoc { mobility: MobilityModel::Trace(file), .. }) => Some(file),
        _ => None,
    }
}

/// What belongs to an ad hoc network alone stands with no other, and what belongs to links not with it.
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
        findings.error(
            &Path::of(key),
            "only an ad hoc network has this, and the topology is another",
            remedy,
        );
    }
    if !is_ad_hoc {
        return;
    }
    if !scenario.radio.is_empty() {
        findings.error(
            &Path::of("radio"),
            "an ad hoc network has no links, and a radio gates links",
            "take [[radio]] out; the nodes of an ad hoc network sense with [cr]",
        );
    }
    if scenario.train.is_some() {
        let message = "a train's router stands at a link with a radio, and an ad hoc network has no links";
        findings.error(&Path::of("train"), message, "take [train] out");
    }
    if scenario.cr.is_some() && scenario.spectrum.is_none() {
        findings.error(
            &Path::of("cr"),
            "nodes that sense need channels, and the scenario has no [spectrum]",
            "add [spectrum] with channels = { uniform = \"2 Mbit/s\" } and pu = { exponential = { alpha = 0.5, beta = 0.1 } }",
        );
    }
}

/// The nodes of an ad hoc network; `None`: there is none, or it is wrong.
pub(super) fn motion(scenario: &Scenario, findings: &mut Findings) -> Option<Nodes> {
    let Topology::AdHoc(it) = &scenario.topology else { return None };
    let path = Path::of("topology").key("ad_hoc");
    let before = findings.errors.len();
    let area = area(scenario, it, findings);
    let given = match &it.mobility {
        MobilityModel::Trace(file) => {
            Some(read_trace(file, scenario, &path.key("mobility").key("trace"), findings)?)
        }
        _ => None,
    };
    let most = u32::try_from(MOST_NODES).unwrap_or(u32::MAX);
    let nodes = match (it.nodes, &given) {
        (Some(nodes), _) if !(2..=most).contains(&nodes) => {
            let message = format!("{nodes} is out of range");
            findings.error(&path.key("nodes"), message, format!("write 2 to {most}"));
            return None;
        }
        (Some(nodes), Some(given)) if nodes as usize != given.len() => {
            let message = format!("there are {nodes} nodes, and the trace has {}", given.len());
            findings.error(&path.key("nodes"), message, "leave nodes out, or take another trace");
            return None;
        }
        (Some(nodes), _) => nodes as usize,
        (None, Some(given)) => given.len(),
        (None, None) => {
            let message = "how many nodes there are is not said";
            findings.error(&path, message, format!("write nodes = 25, or another number from 2 to {most}"));
            return None;
        }
    };
    let motion = match (&it.mobility, given) {
        (_, Some(given)) => Motion::Given(Arc::new(given)),
        (MobilityModel::RandomWaypoint(model), _) => {
            let path = path.key("mobility").key("random_waypoint");
            Motion::Waypoint(waypoint(model, area, nodes, &scenario.run, &path, findings))
        }
        _ => Motion::Still(placement(&it.placement, area, nodes, &path.key("placement"), findings)),
    };
    findings.none_since(before).then_some(Nodes { nodes, area, motion })
}

/// The area. It must be said where something is drawn from it.
fn area(scenario: &Scenario, it: &AdHoc, findings: &mut Findings) -> Area {
    let drawn = match &it.mobility {
        MobilityModel::RandomWaypoint(_) => true,
        MobilityModel::Static => it.placement == PlacementModel::Uniform,
        MobilityModel::Trace(_) => false,
    };
    let Some(size) = scenario.area else {
        if drawn {
            findings.error(
                &Path::of("topology").key("ad_hoc"),
                "the nodes are placed over an area, and the scenario has no [area]",
                "add [area] with width = \"1000 m\" and height = \"1000 m\", or write a placement or a trace",
            );
        }
        // Nothing is drawn from it.
        return Area::new(1000.0, 1000.0);
    };
    for (key, side) in [("width", size.width), ("height", size.height)] {
        if !(0.0..=LONGEST_SIDE).contains(&side.0) {
            let message = format!("a side of \"{side}\" is out of range");
            let remedy = format!("write \"0 m\" to \"{}\"", Length(LONGEST_SIDE));
            findings.error(&Path::of("area").key(key), message, remedy);
        }
    }
    if size.width.0 + size.height.0 == 0.0 {
        let message = "both sides are 0 m: the area is a point";
        findings.error(&Path::of("area"), message, "write one side above 0 m");
    }
    Area::new(size.width.0, size.height.0)
}

fn placement(
    model: &PlacementModel,
    area: Area,
    nodes: usize,
    path: &Path,
    findings: &mut Findings,
) -> Placement {
    let mut spaced = |key: &[&str], spacing: Length| {
        if !(0.0..=LONGEST_SIDE).contains(&spacing.0) {
            let path = key.iter().fold(path.clone(), |path, key| path.key(key));
            findings.error(&path, format!("\"{spacing}\" is no distance"), "write \"0 m\" or more");
        }
        spacing.0
    };
    let placement = match model {
        PlacementModel::Uniform => Placement::Uniform(area),
        PlacementModel::Chain(spacing) => Placement::Chain { spacing: spaced(&["chain"], *spacing) },
        PlacementModel::Grid(grid) => {
            let spacing = spaced(&["grid", "spacing"], grid.spacing);
            if grid.columns == 0 {
                let path = path.key("grid").key("columns");
                findings.error(&path, "a grid needs at least one column", "write 1 or more");
            }
            Placement::Grid { columns: grid.columns.max(1) as usize, spacing }
        }
        PlacementModel::Positions(places) => {
            let path = path.key("positions");
            if places.len() != nodes {
                let message = format!("there are {} places for {nodes} nodes", places.len());
                findings.error(&path, message, "write one place for each node");
            }
            for (number, place) in places.iter().enumerate() {
                if !place.iter().all(|side| side.0.abs() <= LONGEST_SIDE) {
                    let message = format!("node {number} is at no place");
                    findings.error(&path.index(number), message, "write places within 1e9 m");
                }
            }
            Placement::Given(places.iter().map(|place| position(*place)).collect())
        }
    };
    warn_outside(&placement, area, nodes, path, findings);
    placement
}

/// Warns of nodes that stand where the area is not.
fn warn_outside(placement: &Placement, area: Area, nodes: usize, path: &Path, findings: &mut Findings) {
    let Ok(places) = placement.place(nodes, 1) else { return };
    if let Some(node) = places.iter().position(|place| !area.contains(*place)) {
        let at = places[node];
        findings.warn(
            path,
            format!(
                "node {node} stands at ({} m, {} m), outside the area of {} m x {} m",
                at.x, at.y, area.width, area.height
            ),
            "write a larger [area], or other places; the node takes part all the same",
        );
    }
}

fn waypoint(
    model: &WaypointModel,
    area: Area,
    nodes: usize,
    run: &Run,
    path: &Path,
    findings: &mut Findings,
) -> RandomWaypoint {
    let [low, high] = model.speed.map(|speed| speed.0);
    let made = RandomWaypoint {
        area,
        min_speed: low,
        max_speed: high,
        min_pause: model.pause[0],
        max_pause: model.pause[1],
        start: match model.start {
            WaypointStart::Stationary => Start::Stationary,
            WaypointStart::Naive => Start::Naive,
        },
    };
    if !(0.001..=1e6).contains(&low) || !(low..=1e6).contains(&high) {
        let message =
            format!("speeds from \"{}\" to \"{}\" are out of range", model.speed[0], model.speed[1]);
        let remedy =
            "write the least first, from \"0.001 m/s\": with trips that never end there is no stationary law";
        findings.error(&path.key("speed"), message, remedy);
    } else if model.pause[0] > model.pause[1] {
        let message = "the longest pause is shorter than the shortest";
        findings.error(&path.key("pause"), message, "write the shortest first");
    } else if model.pause.iter().any(|pause| *pause > LONGEST) {
        findings.error(&path.key("pause"), "the pause is too long", format!("write at most \"{LONGEST}\""));
    } else if findings.errors.is_empty()
        && let Err(error) = made.generate(nodes.min(1), run.duration, 1)
    {
        findings.error(path, error.to_string(), "");
    }
    made
}

fn read_trace(file: &str, scenario: &Scenario, path: &Path, findings: &mut Findings) -> Option<Mobility> {
    let place = beside(&scenario.source, file);
    let name = place.display().to_string();
    let text = match read_named(&place, LARGEST_LOG) {
        Ok(text) => text,
        Err(why) => {
            let remedy = match why.remedy {
                "" => "check the path: it is relative to the scenario file",
                remedy => remedy,
            };
            findings.error(path, format!("\"{name}\": {}", why.message), remedy);
            return None;
        }
    };
    let is_csv = file.to_ascii_lowercase().ends_with(".csv");
    let read = if is_csv { trace::csv::read(&name, &text) } else { trace::setdest::read(&name, &text) };
    read.map_err(|error| findings.error(path, error.to_string(), "")).ok()
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
    let path = Path::of("topology").key("ad_hoc");
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
    let medium = medium(&mac, &phy, spectrum, findings);
    let routing = routing(scenario, mac.profile, findings);
    let cognitive = scenario.cr.as_ref().zip(spectrum);
    let cognitive = cognitive.and_then(|(cr, spectrum)| cognitive_node(cr, &phy, spectrum, run, findings));
    if !findings.none_since(before) {
        return None;
    }
    let ns2 = mac.profile == Profile::Ns2;
    let usual = if ns2 { LinkFailure::Drop } else { LinkFailure::Reroute };
    let mut config = AdHocConfig {
        medium,
        power: phy.power,
        routing,
        buffer_packets: it.route_buffer as usize,
        buffer_time: it.route_buffer_time,
        on_link_failure: it.on_link_failure.unwrap_or(usual),
        location_interval: it.location_interval,
        radios: it.radios,
        switching_delay: scenario.cr.as_ref().map_or(Duration::from_millis(1), |cr| cr.switching_delay),
        cognitive,
    };
    config.medium.silence = config.silence_rules();
    let cr = scenario.cr.as_ref();
    Some(AdHocSpec {
        area: nodes.area,
        nodes: nodes.nodes,
        motion: nodes.motion,
        config,
        reception: cr.map_or(Reception::Sinr, |cr| cr.reception),
        sensitivity: cr.map_or(Receiver::default().sensitivity, |cr| cr.sensitivity),
    })
}

fn medium(
    mac: &AdHocMac,
    phy: &Phy,
    spectrum: Option<&SpectrumSpec>,
    findings: &mut Findings,
) -> MediumConfig {
    let path = Path::of("mac");
    let base = MacConfig::of(mac.profile);
    let long = mac.long_retry_limit.unwrap_or(RetryLimit::Times(base.long_retry_limit.unwrap_or(u32::MAX)));
    let header = mac.header.unwrap_or(Bytes::new(base.header));
    check_mac(
        &Mac {
            slot: mac.slot,
            sifs: mac.sifs,
            cw_min: mac.cw_min,
            cw_max: mac.cw_max,
            rts_threshold: mac.rts_threshold,
            short_retry_limit: mac.short_retry_limit,
            long_retry_limit: long,
            basic_rate: mac.basic_rate,
            preamble: mac.preamble,
            header,
        },
        &path,
        findings,
    );
    findings.check_rate(&path.key("rate"), mac.rate);
    if !(1..=LONGEST_QUEUE).contains(&mac.queue) {
        let message = format!("{} packets are out of range", mac.queue);
        findings.error(&path.key("queue"), message, format!("write 1 to {LONGEST_QUEUE}"));
    }
    // Beyond a slot nobody would ever hear another in time.
    findings.check_span(&path.key("delay"), mac.delay, true, mac.slot.max(Duration::from_nanos(1)));
    if mac.rate_control.is_some() && mac.rates.is_empty() {
        let message = "rate adaptation has no rates to choose from";
        findings.error(&path.key("rate_control"), message, "add [[mac.rates]], slowest first");
    }
    let rates_path = path.key("rates");
    for (number, rate) in mac.rates.iter().enumerate() {
        findings.check_rate(&rates_path.index(number).key("rate"), rate.rate);
    }
    if let Some(late) = mac.rates.windows(2).position(|pair| pair[0].rate >= pair[1].rate) {
        let message = "the rates are not in rising order";
        findings.error(&rates_path.index(late + 1).key("rate"), message, "write the slowest first");
    }
    let phy_config = phy_config(mac, phy, findings);
    let limit = |limit: RetryLimit| Some(limit.times()).filter(|times| *times < u32::MAX);
    let mac_config = MacConfig {
        slot: mac.slot,
        sifs: mac.sifs,
        cw_min: mac.cw_min,
        cw_max: mac.cw_max,
        rts_threshold: Some(mac.rts_threshold.get()),
        short_retry_limit: limit(mac.short_retry_limit),
        long_retry_limit: limit(long),
        basic_rate: mac.basic_rate,
        preamble: mac.preamble,
        header: header.get(),
        queue_packets: mac.queue as usize,
        rules: mac.rules.over(mac.profile),
    };
    let mut medium = MediumConfig::new(mac_config, phy_config, mac.rate);
    if let Some(spectrum) = spectrum {
        let channel = |channel: &cogtcp_spectrum::Channel| ChannelConfig {
            rate: channel.rate,
            error_rate: channel.error_rate.get(),
        };
        medium.channels = spectrum.channels.iter().map(|(_, entry)| channel(entry)).collect();
    }
    medium.rate_control = mac.rate_control;
    medium
}

fn phy_config(mac: &AdHocMac, phy: &Phy, findings: &mut Findings) -> PhyConfig {
    let path = Path::of("phy");
    let before = findings.errors.len();
    if phy.power.watts() <= 0.0 {
        findings.error(&path.key("power"), "a frame of no power reaches nobody", "write one above zero");
    }
    for (key, range) in [("range", phy.range), ("carrier_sense_range", phy.carrier_sense_range)] {
        if !(1.0..=LONGEST_SIDE).contains(&range.0) {
            findings.error(&path.key(key), format!("\"{range}\" is out of range"), "write \"1 m\" or more");
        }
    }
    if phy.carrier_sense_range.0 < phy.range.0 {
        let message = format!(
            "frames are received up to \"{}\" and sensed up to \"{}\"",
            phy.range, phy.carrier_sense_range
        );
        findings.error(&path.key("carrier_sense_range"), message, "write at least the range");
    }
    for (key, ratio, most) in [("cutoff", phy.cutoff, 100.0), ("capture", phy.capture, 100.0)] {
        if !(0.0..=most).contains(&ratio.0) {
            let message = format!("\"{ratio}\" is out of range");
            findings.error(&path.key(key), message, "write \"0 dB\" to \"100 dB\"");
        }
    }
    let path_loss = path_loss(phy.path_loss, &path.key("path_loss"), findings);
    let mut propagation = Propagation::new(path_loss);
    propagation.shadowing = phy.shadowing.map(|shadowing| {
        if !(0.0..=20.0).contains(&shadowing.deviation.0) {
            let message = format!("\"{}\" is out of range", shadowing.deviation);
            findings.error(&path.key("shadowing").key("deviation"), message, "write \"0 dB\" to \"20 dB\"");
        }
        Shadowing { deviation_db: shadowing.deviation.0, per_pair: shadowing.per_pair }
    });
    propagation.fading = match phy.fading {
        FadingModel::None => Fading::None,
        FadingModel::Rayleigh => Fading::Rayleigh,
        FadingModel::Nakagami(law) => {
            if !(0.5..=100.0).contains(&law.m) {
                let message = format!("a shape of {} is out of range", law.m);
                findings.error(&path.key("fading").key("nakagami").key("m"), message, "write 0.5 to 100");
            }
            Fading::Nakagami { m: law.m }
        }
    };
    if !findings.none_since(before) {
        return PhyConfig::ns2();
    }
    let mut made = PhyConfig::for_ranges(propagation, phy.power, phy.range.0, phy.carrier_sense_range.0);
    let linear = |ratio: Decibel| ratio.linear();
    made.cutoff = Power::from_watts(made.carrier_sense.watts() / linear(phy.cutoff));
    made.capture = linear(phy.capture);
    made.delay = mac.delay;
    made.rates = mac
        .rates
        .iter()
        .map(|rate| PhyRate {
            rate: rate.rate,
            capture: linear(rate.capture),
            sensitivity: PhyConfig::for_ranges(
                propagation,
                phy.power,
                rate.range.0,
                phy.carrier_sense_range.0,
            )
            .sensitivity,
        })
        .collect();
    made
}

fn path_loss(model: PathLossModel, path: &Path, findings: &mut Findings) -> PathLoss {
    let mut exponent = |keys: &[&str], value: f64| {
        if !(1.0..=10.0).contains(&value) {
            let path = keys.iter().fold(path.clone(), |path, key| path.key(key));
            findings.error(&path, format!("an exponent of {value} is out of range"), "write 1 to 10");
        }
        value
    };
    let made = match model {
        PathLossModel::Paper(attenuation) => {
            PathLoss::Paper { attenuation: exponent(&["paper"], attenuation) }
        }
        PathLossModel::FreeSpace(frequency) => PathLoss::FreeSpace { frequency: frequency.0 },
        PathLossModel::TwoRay(it) => PathLoss::TwoRay { frequency: it.frequency.0, height: it.height.0 },
        PathLossModel::LogDistance(it) => PathLoss::LogDistance {
            frequency: it.frequency.0,
            exponent: exponent(&["log_distance", "exponent"], it.exponent),
            reference: it.reference.0,
        },
    };
    let frequency = match made {
        PathLoss::FreeSpace { frequency }
        | PathLoss::TwoRay { frequency, .. }
        | PathLoss::LogDistance { frequency, .. } => frequency,
        PathLoss::Paper { .. } => 1e9,
    };
    if !(1e3..=1e12).contains(&frequency) {
        findings.error(path, "the frequency is out of range", "write \"1 kHz\" to \"1000 GHz\"");
    }
    made
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
    if let Err(wrong) = routing.check() {
        let path = Path::of("routing").key(routing.name()).key(wrong.setting);
        findings.error(&path, wrong.message, wrong.remedy);
    }
    routing
}

fn cognitive_node(
    cr: &CognitiveNodes,
    phy: &Phy,
    spectrum: &SpectrumSpec,
    run: &Run,
    findings: &mut Findings,
) -> Option<CognitiveNode> {
    let path = Path::of("cr");
    let before = findings.errors.len();
    for (key, span, zero) in [
        ("sensing_time", cr.sensing_time, false),
        ("transmission_time", cr.transmission_time, false),
        ("jitter", cr.jitter, true),
        ("switching_delay", cr.switching_delay, true),
        ("start", cr.start, true),
        ("report_memory", cr.report_memory, false),
    ] {
        findings.check_span(&path.key(key), span, zero, LONGEST);
    }
    let cycle = cr.sensing_time + cr.transmission_time;
    let cycles = run.duration.as_nanos() / cycle.as_nanos().max(1);
    if cycles > MOST_POINTS {
        let message = format!("a sensing every \"{cycle}\" makes {cycles} in the run");
        findings.error(
            &path.key("transmission_time"),
            message,
            "write longer times, or a shorter run.duration",
        );
    }
    if cr.sensing != SensingTimes::Independent && !cr.jitter.is_zero() {
        let message = "nodes that sense by a common clock have no jitter";
        findings.error(&path.key("jitter"), message, "take jitter out, or write sensing = \"independent\"");
    }
    let channel = match cr.channel {
        None => spectrum.channels.usable().next().map_or(ChannelId(0), |(id, _)| id),
        Some(number) => {
            let usable = |id| spectrum.channels.usable().any(|(channel, _)| channel == id);
            if !usable(ChannelId(number)) {
                let names: Vec<String> =
                    spectrum.channels.usable().take(12).map(|(id, _)| id.0.to_string()).collect();
                let message = format!("there is no channel {number} for data");
                findings.error(&path.key("channel"), message, format!("write one of {}", names.join(", ")));
            }
            ChannelId(number)
        }
    };
    let surroundings = Surroundings { duty_cycle: duty_cycle(spectrum) };
    if let Err(error) = cr.detector.kind().build(&surroundings) {
        findings.error(&path.key("detector"), error.to_string(), "");
    }
    if !findings.none_since(before) {
        return None;
    }
    Some(CognitiveNode {
        radio: CognitiveConfig {
            sensing_time: cr.sensing_time,
            transmission_time: cr.transmission_time,
            jitter: cr.jitter,
            switching_delay: cr.switching_delay,
            start: cr.start,
            channel,
            receiver: Receiver::new(cr.sensitivity, phy.capture.0),
            snr: match cr.pu_snr {
                PuSnr::Stated => SnrModel::Fixed(cr.detector.kind().snr().unwrap_or_default().linear()),
                PuSnr::Received => SnrModel::Received,
            },
            ..CognitiveConfig::default()
        },
        detector: cr.detector.clone(),
        surroundings,
        policy: cr.policy,
        times: cr.sensing,
        while_neighbour_senses: cr.while_neighbour_senses,
        knowledge: cr.channel_knowledge,
        report_memory: cr.report_memory,
    })
}
