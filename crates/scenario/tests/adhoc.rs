//! Ad hoc networks in scenarios: what is read, what is refused and where.

use cogtcp_adhoc::{ArpConfig, ArpLearns, LinkFailure, PowerChange, Radios, SensingTimes};
use cogtcp_network::build;
use cogtcp_routing::{AodvProfile, RoutingSpec};
use cogtcp_scenario::{Experiment, Motion, Scenario, ScenarioError, UsersSpec};
use cogtcp_units::{Decibel, Duration, Length, Position, Power, Time};
use cogtcp_wireless::{
    AnswerRate, Capture, Errors, Fading, LogDistance, Minstrel, Nakagami, PathLoss, Profile, Propagation,
    RateControl, Rules, Shadowing,
};

const RIGHT: &str = r#"name = "test"
routing = { aodv = { ttl_start = 2 } }

[run]
duration = "60 s"

[area]
width = "1000 m"
height = "500 m"

[topology.ad_hoc]
nodes = 25
mobility = { random_waypoint = { speed = ["2.5 m/s", "4 m/s"], pause = ["3 s", "3 s"] } }

[mac]
profile = "ns2"
queue = 20

[mac.rules]
capture = "sinr"

[phy]
range = "200 m"

[spectrum]
bands = 3
channels = { uniform = "2 Mbit/s" }

[spectrum.pu.exponential]
alpha = 0.5
beta = 0.1
count = 10
scattered = true

[cr]
sensing_time = "200 ms"
transmission_time = "1 s"
detector = "perfect"

[[flow]]
from = "n0"
to = "17"
transport = "newreno"
"#;

fn resolve(text: &str) -> Result<Experiment, ScenarioError> {
    Scenario::parse(text, "test.toml").and_then(|scenario| scenario.resolve())
}

/// Replaces `from` by `to`; the error names `field`, contains `words`, and points at where `at` stands.
#[track_caller]
fn spoil(from: &str, to: &str, field: &str, at: &str, words: &str) {
    assert!(RIGHT.contains(from), "{from}");
    let text = RIGHT.replace(from, to);
    let error = match resolve(&text) {
        Err(error) => error,
        Ok(_) => panic!("this is accepted:\n{text}"),
    };
    assert_eq!(error.field, field, "{error}");
    assert!(error.to_string().contains(words), "{error}");
    let place = text.find(at).unwrap();
    let line = text[..place].matches('\n').count() as u32 + 1;
    let column = (place - text[..place].rfind('\n').map_or(0, |end| end + 1)) as u32 + 1;
    let found = (error.line.map(u32::from), error.column.map(u32::from));
    assert_eq!(found, (Some(line), Some(column)), "{error}");
}

#[test]
fn everything_is_read() {
    let experiment = resolve(RIGHT).unwrap();
    let spec = experiment.adhoc.as_deref().unwrap();
    assert_eq!((spec.nodes, experiment.nodes.len(), &*experiment.nodes[24]), (25, 25, "n24"));
    assert!(experiment.links.is_empty() && experiment.is_random());
    assert_eq!((experiment.flows[0].from, experiment.flows[0].to), (0, 17), "a number is a name");
    let Motion::Waypoint(waypoint) = &spec.motion else { panic!("{:?}", spec.motion) };
    assert_eq!((waypoint.min_speed, waypoint.max_speed, waypoint.area.height), (2.5, 4.0, 500.0));
    let mac = &spec.config.medium.mac;
    assert_eq!((mac.queue_packets, mac.dcf.header_bytes()), (20, 34));
    assert_eq!(mac.rules, Rules { capture: Capture::Sinr, ..Rules::of(Profile::Ns2) });
    // The profile of the MAC is that of AODV, and of what a failed link does, unless they have their own.
    let RoutingSpec::Aodv(aodv) = &spec.config.routing else { panic!("{:?}", spec.config.routing) };
    assert_eq!((aodv.profile, aodv.ttl_start), (Some(AodvProfile::Ns2), Some(2)));
    assert_eq!(spec.config.on_link_failure, LinkFailure::Drop);
    assert_eq!(spec.config.release_interval, Duration::from_millis(10));
    assert_eq!(spec.config.arp, Some(ArpConfig::ns2()));
    let phy = &spec.config.medium.phy;
    let loss = phy.propagation.path_loss;
    assert!((loss.range(phy.sensitivity.watts() / 0.281_838_15) - 200.0).abs() < 0.01);
    assert_eq!(spec.config.medium.channels.len(), 3);
    let cognitive = spec.config.cognitive.as_ref().unwrap();
    assert_eq!((cognitive.times, spec.config.radios), (SensingTimes::Synchronised, Radios::Single));
    assert!(spec.config.medium.silence.waits_for_peer);
    // Ten users on three bands, over the area, elsewhere for another seed.
    let spectrum = experiment.spectrum.as_ref().unwrap();
    let UsersSpec::Generated(users) = &spectrum.users else { panic!("they are drawn") };
    assert_eq!(users.iter().map(|user| user.band).collect::<Vec<_>>(), [1, 2, 3, 1, 2, 3, 1, 2, 3, 1]);
    let places = |seed| -> Vec<Position> {
        let air = build::air(&experiment, Duration::from_secs(10), seed).unwrap().unwrap();
        air.activity.users.iter().map(|user| user.position).collect()
    };
    assert!(places(1) == places(1) && places(1) != places(2));
    assert!(places(1).iter().all(|place| spec.area.contains(*place)));
    let mobility = |seed| build::mobility(spec, Duration::from_secs(60), seed).unwrap();
    assert!(mobility(1) == mobility(1) && mobility(1) != mobility(2));
}

#[test]
fn it_is_written_as_it_was_read() {
    let scenario = Scenario::parse(RIGHT, "test.toml").unwrap();
    assert_eq!(
        Scenario::parse(&scenario.to_toml(), "test.toml").unwrap(),
        scenario,
        "{}",
        scenario.to_toml()
    );
    assert_eq!(Scenario::from_json(&scenario.to_json(), "test.json").unwrap(), scenario);
    let longer =
        scenario.set("topology.ad_hoc.nodes", "30").unwrap().set("mac.rules.nav_reset", "true").unwrap();
    assert_eq!(longer.resolve().unwrap().nodes.len(), 30);
}

#[test]
fn places_and_names() {
    for (placement, last) in [
        ("{ chain = \"100 m\" }", (400.0, 0.0)),
        ("{ grid = { columns = 2, spacing = \"50 m\" } }", (0.0, 100.0)),
        (
            "{ positions = [[\"0 m\", \"1 m\"], [\"0 m\", \"2 m\"], [\"0 m\", \"3 m\"], [\"0 m\", \"4 m\"], [\"7 m\", \"8 m\"]] }",
            (7.0, 8.0),
        ),
    ] {
        let text = format!(
            "name = \"places\"\n[run]\nduration = \"1 s\"\n[topology.ad_hoc]\nnodes = 5\nplacement = {placement}\n[[flow]]\nfrom = \"n0\"\nto = \"n4\"\ntransport = \"reno\"\n"
        );
        let experiment = resolve(&text).unwrap();
        let mobility =
            build::mobility(&experiment.network.adhoc.unwrap(), Duration::from_secs(1), 1).unwrap();
        assert_eq!(mobility.position(4, cogtcp_units::Time::ZERO), Position::new(last.0, last.1));
    }
    let outside = RIGHT.replace(
        "mobility = { random_waypoint = { speed = [\"2.5 m/s\", \"4 m/s\"], pause = [\"3 s\", \"3 s\"] } }",
        "placement = { chain = \"100 m\" }",
    );
    let warnings = Scenario::parse(&outside, "test.toml").unwrap().warnings();
    assert!(warnings.iter().any(|warning| warning.message.contains("outside the area")), "{warnings:?}");
}

/// Places and ways that are drawn need an area to be drawn from; places that are written need none.
#[test]
fn nodes_that_are_drawn_need_an_area() {
    let read = |nodes: &str, area: &str| {
        resolve(&format!(
            "name = \"places\"\n[run]\nduration = \"1 s\"\n{area}[topology.ad_hoc]\nnodes = 5\n{nodes}\n[[flow]]\nfrom = \"n0\"\nto = \"n4\"\ntransport = \"reno\"\n"
        ))
    };
    let area = "[area]\nwidth = \"100 m\"\nheight = \"100 m\"\n";
    for drawn in [
        "placement = \"uniform\"",
        "mobility = { random_waypoint = { speed = [\"1 m/s\", \"2 m/s\"], pause = [\"0 s\", \"0 s\"] } }",
    ] {
        let error = read(drawn, "").unwrap_err().to_string();
        assert!(error.contains("topology.ad_hoc: the nodes are placed over an area"), "{error}");
        assert!(read(drawn, area).is_ok(), "{drawn}");
    }
    assert!(read("placement = { chain = \"100 m\" }", "").is_ok());
}

/// Twenty-five nodes in a square kilometre, ten primary users that reach 250 m: at the corner they meet
/// nobody.
#[test]
fn primary_users_without_a_place_are_warned_of() {
    let warnings = |places: &str, area: bool| {
        let area = if area { "[area]\nwidth = \"1000 m\"\nheight = \"1000 m\"\n" } else { "" };
        let text = format!(
            "name = \"places\"\n[run]\nduration = \"1 s\"\n{area}[topology.ad_hoc]\nnodes = 5\nplacement = {{ chain = \"100 m\" }}\n[spectrum]\nchannels = {{ uniform = \"2 Mbit/s\" }}\n[spectrum.pu.exponential]\nalpha = 0.5\nbeta = 0.1\n{places}\n[cr]\nsensing_time = \"100 ms\"\ntransmission_time = \"1 s\"\ndetector = \"perfect\"\n[[flow]]\nfrom = \"n0\"\nto = \"n4\"\ntransport = \"reno\"\n"
        );
        let scenario = Scenario::parse(&text, "test.toml").unwrap();
        scenario.resolve().unwrap();
        let corner = |warning: &&cogtcp_scenario::ScenarioError| warning.message.contains("corner");
        let found: Vec<String> = scenario.warnings().iter().filter(corner).map(ToString::to_string).collect();
        found
    };
    let found = warnings("count = 10", true);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("spectrum.pu.exponential: all primary users stand"), "{found:?}");
    assert!(found[0].contains("scattered = true"), "{found:?}");
    let found = warnings("count = 1", true);
    assert!(found[0].contains("spectrum.pu.exponential: the primary user stands"), "{found:?}");
    for given in [
        "scattered = true",
        "position = [\"500 m\", \"500 m\"]",
        "count = 1\npositions = [[\"1 m\", \"1 m\"]]",
        "count = 0",
    ] {
        assert_eq!(warnings(given, true), [] as [String; 0], "{given}");
    }
}

#[test]
fn routing_that_hears_of_no_broken_link_is_warned_of() {
    let warned = |routing: &str| {
        let text = format!(
            "name = \"deaf\"\nrouting = {routing}\n[run]\nduration = \"1 s\"\n[topology.ad_hoc]\nnodes = 5\nplacement = {{ chain = \"100 m\" }}\n[[flow]]\nfrom = \"n0\"\nto = \"n4\"\ntransport = \"reno\"\n"
        );
        let scenario = Scenario::parse(&text, "test.toml").unwrap();
        scenario.resolve().unwrap();
        scenario.warnings().iter().any(|warning| warning.message.contains("broken link"))
    };
    assert!(warned("{ cr_aodv = { profile = \"released\" } }"));
    assert!(warned("{ aodv = { link_feedback = false } }"));
    for heard in [
        "\"cr_aodv\"",
        "\"aodv\"",
        "\"static\"",
        "\"search\"",
        "{ cr_aodv = { profile = \"released\", aodv = { link_feedback = true } } }",
        "{ aodv = { link_feedback = false, hello = true } }",
    ] {
        assert!(!warned(heard), "{heard}");
    }
}

#[test]
fn what_is_wrong_is_said_at_its_place() {
    spoil("nodes = 25", "nodes = 0", "topology.ad_hoc.nodes", "0\nmob", "write 1 to 10000");
    spoil("nodes = 25", "nods = 25", "topology.ad_hoc.nods", "nods", "did you mean \"nodes\"");
    spoil("\"17\"", "\"n25\"", "flow.0.to", "\"n25\"", "there is no node \"n25\"");
    spoil(
        "speed = [\"2.5 m/s\"",
        "speed = [\"0 m/s\"",
        "topology.ad_hoc.mobility.random_waypoint.speed",
        "[\"0 m/s\"",
        "otherwise trips never end",
    );
    spoil(
        "[\"2.5 m/s\", \"4 m/s\"]",
        "[\"2.5 m/s\", \"2 m/s\"]",
        "topology.ad_hoc.mobility.random_waypoint.speed",
        "[\"2.5 m/s\"",
        "write the least first",
    );
    spoil("ttl_start = 2", "ttl = 2", "routing.aodv.ttl", "ttl = 2", "ttl_start");
    spoil("ttl_start = 2", "ttl_start = 0", "routing.aodv.ttl_start", "0 } }", "");
    spoil("routing = { aodv = { ttl_start = 2 } }", "routing = \"aodw\"", "routing", "\"aodw\"", "aodv");
    spoil("profile = \"ns2\"", "profile = \"ns4\"", "mac.profile", "\"ns4\"", "standard");
    spoil("queue = 20", "queue = 0", "mac.queue", "0\n\n[mac.rules]", "write 1 to 100000");
    spoil(
        "capture = \"sinr\"",
        "captures = \"sinr\"",
        "mac.rules.captures",
        "captures",
        "did you mean \"capture\"",
    );
    spoil(
        "range = \"200 m\"",
        "range = \"600 m\"",
        "phy.carrier_sense_range",
        "[phy]",
        "received up to \"600 m\"",
    );
    spoil("width = \"1000 m\"", "width = \"-1 m\"", "area.width", "\"-1 m\"", "out of range");
    spoil("sensing_time = \"200 ms\"", "sensing_time = \"0 ms\"", "cr.sensing_time", "\"0 ms\"", "");
    spoil(
        "detector = \"perfect\"",
        "detector = \"perfect\"\njitter = \"1 ms\"",
        "cr.jitter",
        "\"1 ms\"",
        "independent",
    );
    spoil(
        "detector = \"perfect\"",
        "detector = \"perfect\"\nchannel = 7",
        "cr.channel",
        "7\n\n[[flow]]",
        "write one of 0, 1, 2",
    );
    spoil(
        "count = 10",
        "count = 10\npositions = [[\"0 m\", \"0 m\"]]",
        "spectrum.pu.exponential.positions",
        "[[\"0 m\"",
        "1 places for 10",
    );
    spoil("[topology.ad_hoc]", "[topology.ad_hok]", "topology.ad_hok", "ad_hok", "ad_hoc");
}

/// What the waves do, and the rates of the MAC, come from the file.
const WAVES: &str = r#"range = "200 m"
path_loss = { log_distance = { exponent = 2.7, reference = "10 m" } }
shadowing = { deviation = "4 dB", per_pair = false }
fading = { nakagami = { m = 1.5 } }
"#;
const RATES: &str = r#"queue = 20
rate_control = { minstrel = { lookaround = 0.2 } }
rates = [
    { rate = "1 Mbit/s", capture = "4 dB", range = "500 m" },
    { rate = "2 Mbit/s", capture = "7 dB", range = "400 m" },
    { rate = "11 Mbit/s", capture = "16 dB", range = "100 m" },
]
"#;

#[test]
fn waves_and_rates_are_read() {
    let text = RIGHT.replace("range = \"200 m\"\n", WAVES).replace("queue = 20\n", RATES);
    let medium = resolve(&text).unwrap().network.adhoc.unwrap().config.medium;
    let expected = Propagation {
        path_loss: PathLoss::LogDistance(LogDistance {
            exponent: 2.7,
            reference: Length(10.0),
            ..LogDistance::default()
        }),
        shadowing: Some(Shadowing { deviation: Decibel(4.0), per_pair: false }),
        fading: Fading::Nakagami(Nakagami { m: 1.5 }),
    };
    assert_eq!(medium.phy.propagation, expected);
    let minstrel = Minstrel { lookaround: 0.2, ..Minstrel::default() };
    assert_eq!(medium.rate_control, Some(RateControl::Minstrel(minstrel)));
    let rates: Vec<f64> = medium.phy.rates.iter().map(|rate| rate.rate.bits_per_second() as f64).collect();
    assert_eq!(rates, [1e6, 2e6, 11e6]);
    for (rate, (range, decibel)) in medium.phy.rates.iter().zip([(500.0, 4.0), (400.0, 7.0), (100.0, 16.0)]) {
        let reached = expected.path_loss.range(rate.sensitivity.watts() / 0.281_838_15);
        assert!((reached - range).abs() < 0.01, "{reached} m for {range} m");
        assert_eq!(rate.capture, Decibel(decibel).linear());
    }
    // Rates alone adapt nothing, and the names of both algorithms stand for their papers' numbers.
    let of = |control: &str| {
        let rates = RATES.replace("rate_control = { minstrel = { lookaround = 0.2 } }\n", control);
        resolve(&RIGHT.replace("queue = 20\n", &rates))
            .unwrap()
            .network
            .adhoc
            .unwrap()
            .config
            .medium
            .rate_control
    };
    assert_eq!(of(""), None);
    assert_eq!(of("rate_control = { arf = {} }\n"), Some(RateControl::ARF));
    assert_eq!(of("rate_control = { minstrel = {} }\n"), Some(RateControl::MINSTREL));
}

#[test]
fn what_is_wrong_with_waves_and_rates_is_said_at_its_place() {
    let wave = |from: &str, to: &str, field: &str, at: &str, words: &str| {
        assert!(WAVES.contains(from));
        spoil("range = \"200 m\"\n", &WAVES.replace(from, to), &format!("phy.{field}"), at, words);
    };
    wave("2.7", "0.7", "path_loss.log_distance.exponent", "0.7", "write 1 to 10");
    wave("4 dB", "24 dB", "shadowing.deviation", "\"24 dB\"", "write \"0 dB\" to \"20 dB\"");
    wave("1.5", "0.4", "fading.nakagami.m", "0.4", "write 0.5 to 100");
    wave("1.5", "101", "fading.nakagami.m", "101", "write 0.5 to 100");
    let rate = |from: &str, to: &str, field: &str, at: &str, words: &str| {
        assert!(RATES.contains(from));
        spoil("queue = 20\n", &RATES.replace(from, to), &format!("mac.{field}"), at, words);
    };
    rate("\"1 Mbit/s\"", "\"0 Mbit/s\"", "rates.0.rate", "\"0 Mbit/s\"", "the rate is zero");
    rate("\"2 Mbit/s\"", "\"1.0 Mbit/s\"", "rates.1.rate", "\"1.0 Mbit/s\"", "write the slowest first");
    rate("\"11 Mbit/s\"", "\"1.5 Mbit/s\"", "rates.2.rate", "\"1.5 Mbit/s\"", "write the slowest first");
    rate("\"16 dB\"", "\"-1 dB\"", "rates.2.capture", "\"-1 dB\"", "write 0 dB to 100 dB");
    rate("\"500 m\"", "\"600 m\"", "rates.0.range", "\"600 m\"", "carrier sense range, \"550 m\"");
    rate("\"100 m\"", "\"0 m\"", "rates.2.range", "\"0 m\"", "write \"1 m\"");
    rate("0.2", "1.2", "rate_control.minstrel.lookaround", "1.2", "from 0 to 1");
    rate("lookaround = 0.2", "memory = 1.1", "rate_control.minstrel.memory", "1.1", "from 0 to 1");
    rate("lookaround = 0.2", "interval = \"0 s\"", "rate_control.minstrel.interval", "\"0 s\"", "zero");
    rate("lookaround", "look", "rate_control.minstrel.look", "look =", "did you mean \"lookaround\"");
    rate(
        "minstrel = { lookaround = 0.2 }",
        "arf = { up = 0 }",
        "rate_control.arf.up",
        "0 } }\nrates",
        "from 1",
    );
    rate(
        "minstrel = { lookaround = 0.2 }",
        "arf = { down = 0 }",
        "rate_control.arf.down",
        "0 } }\nrates",
        "from 1",
    );
    for (count, beyond) in [("up = 1001", "rate_control.arf.up"), ("down = 1001", "rate_control.arf.down")] {
        let arf = format!("arf = {{ {count} }}");
        rate("minstrel = { lookaround = 0.2 }", &arf, beyond, "1001 } }\nrates", "1000");
    }
    assert!(
        resolve(&RIGHT.replace(
            "queue = 20\n",
            &RATES.replace("minstrel = { lookaround = 0.2 }", "arf = { up = 1000, down = 1000 }")
        ))
        .is_ok()
    );
    spoil(
        "queue = 20",
        "queue = 20\nrate_control = { arf = {} }",
        "mac.rate_control",
        "{ arf",
        "no rates to choose from",
    );
}

/// The profile of the MAC says whether addresses are resolved and how, and how long the queue is.
#[test]
fn the_profile_reaches_beyond_the_mac() {
    let of = |mac: &str| {
        let text = RIGHT.replace("profile = \"ns2\"\nqueue = 20\n\n[mac.rules]\ncapture = \"sinr\"", mac);
        assert_ne!(text, RIGHT);
        resolve(&text).unwrap().adhoc.as_deref().unwrap().config.clone()
    };
    let [standard, ns2, ns3] = ["standard", "ns2", "ns3"].map(|name| format!("profile = \"{name}\""));
    assert_eq!([&standard, &ns2, &ns3].map(|mac| of(mac).medium.mac.queue_packets), [50, 49, 50]);
    assert_eq!(
        [&standard, &ns2, &ns3].map(|mac| of(mac).arp),
        [None, Some(ArpConfig::ns2()), Some(ArpConfig::ns3())]
    );
    assert_eq!(of(&format!("{ns2}\narp = {{ protocol = \"none\" }}")).arp, None);
    let set = of("arp = { protocol = \"rfc826\", lifetime = \"5 s\", learns = \"all\" }");
    let expected = ArpConfig { lifetime: Duration::from_secs(5), learns: ArpLearns::All, ..ArpConfig::rfc() };
    assert_eq!(set.arp, Some(expected));
}

/// ns-3 detects preambles from 4 dB on, loses frames by bit errors and answers at the rate of the data. What
/// `[phy]` says stands over it.
#[test]
fn the_profile_reaches_the_radio() {
    let of = |profile: &str, phy: &str| {
        let mac = "profile = \"ns2\"\nqueue = 20\n\n[mac.rules]\ncapture = \"sinr\"";
        let text = RIGHT.replace(mac, &format!("profile = \"{profile}\""));
        let text = text.replace("range = \"200 m\"", &format!("range = \"200 m\"\n{phy}"));
        let medium = resolve(&text).unwrap().adhoc.as_deref().unwrap().config.medium.clone();
        (medium.mac.rules.capture, medium.mac.rules.answer_rate, medium.phy.capture, medium.phy.errors)
    };
    let four = Decibel(4.0).linear();
    assert_eq!(of("standard", ""), (Capture::Sinr, AnswerRate::Basic, 10.0, Errors::Threshold));
    assert_eq!(of("ns2", ""), (Capture::Pairwise, AnswerRate::Basic, 10.0, Errors::Threshold));
    assert_eq!(of("ns3", ""), (Capture::Preamble, AnswerRate::Same, four, Errors::Dsss));
    let set = of("ns3", "capture = \"10 dB\"\nerrors = \"threshold\"");
    assert_eq!(set, (Capture::Preamble, AnswerRate::Same, 10.0, Errors::Threshold));
    assert_eq!(of("standard", "errors = \"dsss\"").3, Errors::Dsss);
}

/// And the initial RTO of a TCP that is no simulator's or system's, unless `[tcp]` or the flow has one.
#[test]
fn the_profile_sets_the_initial_rto() {
    let of = |profile: &str, transport: &str, more: &str| {
        let text = RIGHT
            .replace("profile = \"ns2\"", &format!("profile = \"{profile}\""))
            .replace("transport = \"newreno\"", &format!("transport = \"{transport}\"\n{more}"));
        resolve(&text).unwrap().flows[0].tcp().unwrap().sender.timers.initial_rto
    };
    let second = Duration::from_secs;
    for (profile, expected) in [("standard", second(1)), ("ns2", second(3)), ("ns3", second(3))] {
        assert_eq!(of(profile, "newreno", ""), expected, "{profile}");
        assert_eq!(of(profile, "module:Class", ""), expected, "{profile}");
        assert_eq!(of(profile, "ns2", ""), second(3), "{profile}");
        assert_eq!(of(profile, "linux-cubic", ""), second(1), "{profile}");
        assert_eq!(of(profile, "newreno", "tcp = { initial_rto = \"2 s\" }"), second(2), "{profile}");
        assert_eq!(of(profile, "newreno", "[tcp]\ninitial_rto = \"2 s\""), second(2), "{profile}");
    }
    let without =
        RIGHT.replace("[mac]\nprofile = \"ns2\"\nqueue = 20\n\n[mac.rules]\ncapture = \"sinr\"\n", "");
    assert_eq!(resolve(&without).unwrap().flows[0].tcp().unwrap().sender.timers.initial_rto, second(1));
}

/// Nodes may be looked at without traffic, and one node as well as many.
#[test]
fn nodes_without_flows() {
    let flow = "[[flow]]\nfrom = \"n0\"\nto = \"17\"\ntransport = \"newreno\"\n";
    let quiet = RIGHT.replace(flow, "");
    assert!(resolve(&quiet).unwrap().flows.is_empty());
    let scenario = Scenario::parse(&quiet, "test.toml").unwrap();
    assert_eq!(Scenario::parse(&scenario.to_toml(), "test.toml").unwrap(), scenario);
    assert_eq!(resolve(&quiet.replace("nodes = 25", "nodes = 1")).unwrap().nodes.len(), 1);
    let error = resolve(&RIGHT.replace("nodes = 25", "nodes = 1")).unwrap_err();
    assert_eq!(error.field, "flow.0.to");
}

#[test]
fn what_is_wrong_with_arp_is_said_at_its_place() {
    let arp = |settings: &str, field: &str, at: &str, words: &str| {
        spoil("queue = 20", &format!("queue = 20\narp = {{ {settings} }}"), field, at, words);
    };
    arp("protocol = \"rfc828\"", "mac.arp.protocol", "\"rfc828\"", "rfc826");
    arp("held = 1", "mac.arp.held", "held = 1", "held_packets");
    arp("requests = 0", "mac.arp.requests", "0 }", "from 1 to 1000");
    arp("held_packets = 200000", "mac.arp.held_packets", "200000", "write 0 to 100000");
    arp("protocol = \"none\", jitter = \"1 ms\"", "mac.arp.jitter", "\"1 ms\"", "add protocol = \"rfc826\"");
    spoil(
        "nodes = 25",
        "nodes = 25\nrelease_interval = \"-1 s\"",
        "topology.ad_hoc.release_interval",
        "\"-1 s\"",
        "",
    );
    spoil("ttl_start = 2", "error_to = \"all\"", "routing.aodv.error_to", "\"all\"", "everybody");
    spoil("ttl_start = 2", "timer_interval = \"100 s\"", "routing.aodv.timer_interval", "\"100 s\"", "60 s");
}

/// Hosts on wires come after the nodes of the network; a link ends at one of them, and each is reached.
#[test]
fn gateways() {
    let link = |from: &str, to: &str| {
        format!("{{ from = \"{from}\", to = \"{to}\", rate = \"1 Mbit/s\", delay = \"1 ms\" }}")
    };
    let with = |nodes: &str, links: &str| {
        let text = format!(
            "name = \"g\"\n[run]\nduration = \"1 s\"\n[area]\nwidth = \"100 m\"\nheight = \"0 m\"\n[topology.ad_hoc]\n\
             nodes = 3\n[topology.ad_hoc.wired]\nnodes = [{nodes}]\nlinks = [{links}]\n\
             [[flow]]\nfrom = \"n2\"\nto = \"server\"\ntransport = \"reno\"\n"
        );
        resolve(&text)
    };
    let made =
        with("\"router\", \"server\"", &format!("{}, {}", link("1", "router"), link("router", "server")))
            .unwrap();
    assert_eq!(made.nodes, ["n0", "n1", "n2", "router", "server"]);
    assert_eq!(made.links.iter().map(|link| (link.from, link.to)).collect::<Vec<_>>(), [(1, 3), (3, 4)]);
    assert_eq!((made.network.adhoc.unwrap().nodes, made.flows[0].to), (3, 4));
    let refused = |nodes: &str, links: &str, field: &str, words: &str| {
        let error = with(nodes, links).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(error.field, format!("topology.ad_hoc.wired.{field}"));
    };
    refused("\"n1\", \"server\"", &link("n0", "server"), "nodes.0", "is a node of the ad hoc network");
    refused(
        "\"server\"",
        &format!("{}, {}", link("n0", "server"), link("n1", "n2")),
        "links.1",
        "over the air",
    );
    refused("\"server\", \"far\"", &link("n0", "server"), "nodes.1", "no path leads from \"n0\" to \"far\"");
    refused("", "", "nodes", "found 0 nodes");
}

#[test]
fn what_does_not_go_together_is_refused() {
    let refused = |from: &str, to: &str, words: &str| {
        let error = resolve(&RIGHT.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused("[[flow]]", "[[radio]]\nname = \"r\"\nlinks = [\"x\"]\n[[flow]]", "has links only in wired");
    refused("[area]\nwidth = \"1000 m\"\nheight = \"500 m\"\n", "", "the scenario has no [area]");
    refused("mobility = { random_waypoint", "mobility = { trace = \"nowhere.tcl\" }\n#", "nowhere.tcl");
    let spectrum = RIGHT.split("[spectrum]").nth(1).unwrap().split("[cr]").next().unwrap();
    refused(&format!("[spectrum]{spectrum}"), "", "the scenario has no [spectrum]");
    let wired = "name = \"w\"\n[run]\nduration = \"1 s\"\n[mac]\n[topology.single_hop]\nlink = { rate = \"1 Mbit/s\", delay = \"1 ms\" }\n[[flow]]\nfrom = \"sender\"\nto = \"receiver\"\ntransport = \"reno\"\n";
    let error = resolve(wired).unwrap_err();
    assert_eq!(error.field, "mac");
    assert!(error.to_string().contains("only an ad hoc network has this"), "{error}");
}

/// Changes of power are put in the order of time; a wrong one is pointed at.
#[test]
fn powers_are_read_in_order_and_checked() {
    const MAC: &str = "[mac]\nprofile";
    let powers = |text: &str| format!("{text}\n{MAC}");
    let later = "[[topology.ad_hoc.power]]\nat = \"30 s\"\npower = \"20 mW\"\n";
    let first = "[[topology.ad_hoc.power]]\nnode = \"n3\"\npower = \"1 mW\"\n";
    let experiment = resolve(&RIGHT.replace(MAC, &powers(&format!("{later}{first}")))).unwrap();
    let found = &experiment.adhoc.as_deref().unwrap().config.powers;
    let change = |seconds: u64, node, milliwatts: f64| PowerChange {
        at: Time::from_millis(1000 * seconds),
        node,
        power: Power::from_watts(milliwatts / 1000.0),
    };
    assert_eq!(found[..], [change(0, Some(3), 1.0), change(30, None, 20.0)]);
    for (from, to, key, words) in [
        ("\"n3\"", "\"n25\"", "node", "write \"n0\" to \"n24\""),
        ("\"1 mW\"", "\"0 mW\"", "power", "write one above zero"),
        ("node = \"n3\"", "at = \"61 s\"", "at", "not in the run, which lasts \"1 min\""),
    ] {
        let wrong = first.replace(from, to);
        let at = to.rsplit(" = ").next().unwrap();
        spoil(MAC, &powers(&wrong), &format!("topology.ad_hoc.power.0.{key}"), &format!("{at}\n"), words);
    }
}
