//! CR users in full: what is written, what is refused, what comes from files.

use cogtcp_scenario::{Scenario, ScenarioError, UsersSpec};
use cogtcp_spectrum::detector::DetectorConfig;
use cogtcp_units::Bytes;
use cogtcp_wireless::RetryLimit;
use std::path::PathBuf;

pub(crate) const TEXT: &str = r#"
name = "cr"
[run]
duration = "10 s"
[topology.single_hop]
link = { rate = "1 Mbit/s", delay = "1 us" }
[spectrum]
channels = { uniform = "1 Mbit/s" }
pu = { exponential = { alpha = 0.5, beta = 1.5 } }
[[radio]]
name = "cr"
links = ["link"]
[radio.cr]
access = "dcf"
sensing_time = "200 ms"
transmission_time = "1 s"
detector = { map = { snr = "-20 dB" } }
[[flow]]
from = "sender"
to = "receiver"
transport = "newreno"
"#;

fn scenario() -> Scenario {
    Scenario::parse(TEXT, "cr.toml").unwrap()
}

fn refused(path: &str, value: &str) -> ScenarioError {
    match scenario().set(path, value).and_then(|changed| changed.resolve()) {
        Ok(_) => panic!("{path} = {value} was taken"),
        Err(error) => error,
    }
}

#[test]
fn what_is_left_out_has_the_values_of_the_paper() {
    let experiment = scenario().resolve().unwrap();
    let spectrum = experiment.network.spectrum.as_ref().unwrap();
    assert_eq!((spectrum.channels.bands(), spectrum.channels.len()), (5, 5));
    let UsersSpec::Generated(users) = &spectrum.users else { panic!("they are generated") };
    assert_eq!(users.iter().map(|user| user.band).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    let pair = experiment.radios[0].kind.cognitive().unwrap();
    assert_eq!((pair.mac.short_retry_limit, pair.mac.rts_threshold), (RetryLimit::Times(7), Bytes::new(0)));
    assert_eq!(pair.ends[1].position.x, 100.0);
    // P_on of the detector's threshold follows from the law: mean ON 2 s, mean OFF 2/3 s.
    assert!(matches!(&pair.detector, DetectorConfig::Map(map) if map.p_on.is_none()));
    let p_on = pair.surroundings.duty_cycle;
    assert!((p_on - 0.75).abs() < 1e-9, "{p_on}");
}

#[test]
fn slips_are_refused_with_what_would_be_right() {
    for (path, value, message) in [
        ("radio.cr.cr.sensing_time", "0 s", "the duration is zero"),
        ("radio.cr.cr.detector", "{ map = { snr = \"-20\" } }", "write a number and a unit, as \"-20 dB\""),
        ("radio.cr.cr.detector", "{ map = { snr = \"-200 dB\" } }", "write a number from -100 to 100 dB"),
        ("radio.cr.cr.detector", "{ maps = { snr = \"-20 dB\" } }", "map"),
        ("radio.cr.cr.detector", "{ table = [] }", "detector"),
        ("radio.cr.cr.channel", "5", "write one of 0, 1, 2, 3, 4"),
        ("radio.cr.cr.policy", "roundrobin", "round_robin"),
        ("radio.cr.cr.capture", "900 dB", "\"0 dB\" to \"100 dB\""),
        ("radio.cr.cr.transmit_power", "0 W", "reaches no node"),
        ("radio.cr.cr.mac.cw_min", "2000", "write at most 1023"),
        ("radio.cr.cr.mac.short_retry_limit", "0", "from 1 to 1000, or \"infinite\""),
        ("radio.cr.cr.mac.header", "1 MB", "28 B"),
        ("radio.cr.cr.mac.slots", "1", "slot"),
        ("radio.cr.silence", "drop", "cr.while_peer_senses"),
        ("radio.cr.channel", "{ set = [\"1 Mbit/s\"] }", "keep either it or [radio.cr]"),
        ("topology.single_hop.link.delay", "10 ms", "as delay = \"1 us\""),
        ("topology.single_hop.link.drops", "[3]", "put drops on a wired link"),
        ("spectrum.bands", "0", "1 to 10000"),
        ("spectrum.channels", "{ alternating = { rate = \"1 Mbit/s\", m = 2.0 } }", "0 to 2"),
        ("spectrum.channels", "{ list = [\"1 Mbit/s\"] }", "need 5 channels"),
        ("spectrum.channels", "{ uniform = \"0 bit/s\" }", "the rate is zero"),
        ("spectrum.pu.exponential.alpha", "0.0", "above zero"),
        ("spectrum.pu", "{ exponential = { alpha = 1e7, beta = 1e7 } }", "at most 10000000"),
        ("spectrum.pu.exponential.reach", "{ range = \"-5 m\" }", "0 m or more"),
        (
            "spectrum.pu",
            "{ laws = { on = { pareto = { minimum = \"1 s\", shape = 1.0 } }, off = { exponential = \"1 s\" } } }",
            "above 1",
        ),
        ("spectrum.pu", "{ pu_log = \"nowhere.log\" }", "it is relative to the scenario file"),
        ("spectrum.attenuation", "0.5", "1 to 10"),
    ] {
        let error = refused(path, value).to_string();
        assert!(error.contains(message), "{path} = {value}: {error}");
    }
}

/// Without a MAC the link keeps its delay, its losses and its silence; settings of a MAC are refused.
#[test]
fn a_cr_user_without_a_mac_refuses_settings_of_a_mac() {
    let none = scenario().set("radio.cr.cr.access", "none").unwrap();
    for (path, value, message) in [
        ("radio.cr.cr.mac.cw_min", "15", "mac has no meaning with access = \"none\": there is no MAC"),
        ("radio.cr.cr.while_peer_senses", "retry", "no frame is retried"),
        ("radio.cr.cr.ends", "independent", "both ends share one radio"),
        ("radio.cr.cr.transmit_radio", "separate", "both ends share one radio"),
        ("radio.cr.cr.reception", "as_released", "RTS and data frames of a MAC"),
        ("radio.cr.silence", "down", "write silence = \"drop\""),
        ("radio.cr.sensing", "{ off = \"1 s\", on = \"1 s\" }", "keep either it or [radio.cr]"),
        ("radio.cr.cr.access", "dfc", "\"dcf\", \"none\" or \"scheduled\""),
    ] {
        let error =
            none.clone().set(path, value).and_then(|changed| changed.resolve()).unwrap_err().to_string();
        assert!(error.contains(message), "{path} = {value}: {error}");
    }
    let mut scenario = none;
    for (path, value) in [
        ("topology.single_hop.link.delay", "15 ms"),
        ("topology.single_hop.link.drops", "[3]"),
        ("radio.cr.silence", "drop"),
        ("radio.cr.unreachable", "true"),
        ("radio.cr.cr.transmission_time", "10 ms"),
    ] {
        scenario = scenario.set(path, value).unwrap();
    }
    assert!(scenario.warnings().is_empty(), "{:?}", scenario.warnings());
    let kind = &scenario.resolve().unwrap().radios[0].kind;
    assert!(kind.unshared().is_some() && kind.cognitive().is_none() && kind.gating().is_some());
}

/// What does not go together with a regulation is said in one line, with the clause or the time that it
/// breaks.
#[test]
fn a_regulation_refuses_what_it_replaces_or_forbids() {
    let regulated = |regulation: &str| {
        let times = "sensing_time = \"200 ms\"\ntransmission_time = \"1 s\"\ndetector = { map = { snr = \"-20 dB\" } }\n";
        assert!(TEXT.contains(times));
        TEXT.replace("\"dcf\"", "\"none\"").replace(times, &format!("regulation = {regulation}\n"))
    };
    let problem = |text: &str| {
        let error = Scenario::parse(text, "cr.toml").and_then(|scenario| scenario.resolve()).unwrap_err();
        assert!(error.more.is_empty(), "{error}");
        error.to_string()
    };
    for (regulation, message) in [
        ("{ cbrs = { stop = \"61 s\" } }", "write at most \"1 min\""),
        ("{ cbrs = { transmit = \"10 min\" } }", "write at most"),
        ("{ cbrs = { stop = \"60 s\" } }", "sum of less than 300 s"),
        ("{ cbrs = { answer = \"2 min\" } }", "less than heartbeat and retry"),
        ("{ cbrs = { dpa = { reduce = { by = \"10 dB\" } } } }", "rate at less power is not known"),
        ("{ cbrs = {} }\ndetector = \"perfect\"", "does not sense by a cycle: detector has no effect"),
        ("{ dfs = { availability_check = \"10 s\" } }", "table 4 of KDB 905462 D02"),
        ("{ dfs = { closing = \"199 ms\" } }", "write a shorter closing"),
        // 1460 + 120 bytes at 1 Mbit/s, and 200 - 188 ms are left.
        ("{ dfs = { closing = \"188 ms\" } }", "a frame takes up to \"12.64 ms\""),
        ("{ tvws = { lead = \"1 ms\" } }", "write a longer lead"),
        ("{ tvws = {} }\ncooperation = { neighbours = [[\"0 m\", \"0 m\"]] }", "take cooperation out"),
        ("{ quiet_periods = {} }", "\"detector\" is missing"),
        ("{ quiet_periods = { within = \"20 ms\" } }\ndetector = \"perfect\"", "does not fit into a frame"),
        ("{ quiet_periods = { within = \"10 ms\" } }\ndetector = \"perfect\"", "does not fit into a frame"),
        (
            "{ quiet_periods = { between = \"25 ms\" } }\ndetector = \"perfect\"",
            "not a whole number of frames",
        ),
        (
            "{ quiet_periods = {} }\ndetector = \"perfect\"\nsensing_time = \"1 s\"",
            "take sensing_time or regulation out",
        ),
        ("{ sas = {} }", "\"cbrs\", \"dfs\", \"tvws\" or \"quiet_periods\""),
    ] {
        let found = problem(&regulated(regulation));
        assert!(found.contains(message), "{regulation}: {found}");
    }
    let reduced = "{ cbrs = { dpa = { reduce = { by = \"10 dB\", rate = \"1 Mbit/s\" } } } }";
    for (access, message) in [("dcf", "one power and one rate"), ("scheduled", "take rate out")] {
        let text = regulated(reduced).replace("\"none\"", &format!("\"{access}\""));
        assert!(problem(&text).contains(message), "{access}");
    }
    // Without a regulation the times of sensing are required.
    let found = problem(&TEXT.replace("sensing_time = \"200 ms\"\n", ""));
    assert!(found.contains("\"sensing_time\" is missing"), "{found}");
}

/// Satellites leave no cycle, and periods have room for their parts.
#[test]
fn a_satellite_link_is_refused_where_it_makes_no_sense() {
    let cycle = TEXT.split("[radio.cr]").next().unwrap().replace("[spectrum]\nchannels = { uniform = \"1 Mbit/s\" }\npu = { exponential = { alpha = 0.5, beta = 1.5 } }\n", "");
    let flow = "[[flow]]\nfrom = \"sender\"\nto = \"receiver\"\ntransport = \"newreno\"\n";
    for (leo, message) in [
        ("{ delay = [\"20 ms\", \"40 ms\"] }", "\"outage\" is missing"),
        ("{ outage = \"20 s\", delay = [\"20 ms\", \"40 ms\"] }", "write a longer period, or shorter edges"),
        ("{ outage = \"1 s\", delay = [\"40 ms\", \"20 ms\"] }", "begins above its end"),
        ("{ outage = \"1 s\", delay = [\"40 ms\", \"50 ms\"] }\ndwell = \"1 s\"", "keep either dwell or leo"),
    ] {
        let text = format!("{cycle}leo = {leo}\n{flow}");
        let error = Scenario::parse(&text, "leo.toml").and_then(|scenario| scenario.resolve()).unwrap_err();
        assert!(error.to_string().contains(message), "{leo}: {error}");
    }
}

/// The bounds of a cell's settings are allowed, and what is beyond is not.
#[test]
fn bounds_of_cells() {
    let base = scenario().set("radio.cr.cr.access", "scheduled").unwrap();
    let works = |key: &str, value: &str| {
        base.clone().set(&format!("radio.cr.cr.cell.{key}"), value).and_then(|it| it.resolve()).is_ok()
    };
    for (key, allowed, refused) in [
        ("layers", ["1", "4"], ["0", "5"]),
        ("control_symbols", ["1", "3"], ["0", "4"]),
        ("grants", ["1", "100"], ["0", "101"]),
        ("attempts", ["1", "28"], ["0", "29"]),
        ("others.saturated", ["0", "1000"], ["1001", "1002"]),
        ("others.share", ["0.0", "0.999"], ["-0.001", "1.0"]),
        ("mean_slots", ["1.0", "1e9"], ["0.999", "1.001e9"]),
        ("sinr", ["-30 dB", "100 dB"], ["-30.1 dB", "100.1 dB"]),
        ("uplink_sinr", ["-30 dB", "100 dB"], ["-30.1 dB", "100.1 dB"]),
        ("reordering", ["1 ns", "10 s"], ["0 s", "10001 ms"]),
        ("poll", ["1 ns", "10 s"], ["0 s", "10001 ms"]),
        ("request_period", ["1 ms", "10 s"], ["0 s", "10001 ms"]),
        ("coherence", ["1 ns", "10 s"], ["0 s", "10001 ms"]),
        ("report_age", ["0 s", "10 s"], ["10001 ms", "11 s"]),
        ("first_grant", ["1 B", "100 kB"], ["0 B", "100001 B"]),
    ] {
        assert!(allowed.iter().all(|value| works(key, value)), "{key}: {allowed:?}");
        assert!(!refused.iter().any(|value| works(key, value)), "{key}: {refused:?}");
    }
    // One block of the carrier is left for data: 10 MHz of LTE have 50.
    let blocks = |number: &str| {
        let cell = format!("{{ bandwidth = \"10 MHz\", control_blocks = {number} }}");
        base.clone().set("radio.cr.cr.cell", &cell).and_then(|it| it.resolve()).is_ok()
    };
    assert!(blocks("0") && blocks("49") && !blocks("50"));
}

/// What is wrong with a cell is said at its place.
#[test]
fn cells_that_do_not_add_up_are_refused_with_their_place() {
    let base = scenario().set("radio.cr.cr.access", "scheduled").unwrap();
    for (path, value, message) in [
        (
            "cell.duplex",
            "{ pattern = \"DDU\" }",
            "slot 3 of the TDD pattern \"DDU\" turns to uplink without a guard",
        ),
        ("cell.duplex", "{ tdd = 7 }", "no LTE TDD configuration 7; write 0 to 6"),
        (
            "cell",
            "{ technology = \"nr_30khz\", duplex = { tdd = 2 } }",
            "NR has no numbered TDD configurations",
        ),
        ("cell", "{ duplex = { tdd = 2 }, special = 9 }", "no LTE special subframe configuration 9"),
        (
            "cell",
            "{ duplex = { pattern = \"DSU\" }, special_symbols = [10, 2, 3] }",
            "10:2:3 symbols has 15; it has 14",
        ),
        ("cell.bandwidth", "7 MHz", "write one of 1.4 MHz, 3 MHz, 5 MHz, 10 MHz, 15 MHz, 20 MHz"),
        ("cell.layers", "5", "5 is out of range"),
        ("cell.link_adaptation", "cqy", "did you mean \"cqi\"? (one of \"sinr\" or \"cqi\")"),
        ("cell.others", "{ share = 1.0 }", "a share of 1 is out of range"),
        ("cell.sinrs", "[\"1 dB\", \"2 dB\"]", "2 values for 1 links of the radio"),
        ("cell.request_period", "0 s", "more than \"0 s\""),
        ("cell.handover", "{ stations = 1 }", "1 stations are out of range; write 2 to 100"),
        ("cell", "{ rlc = \"unacknowledged\", handover = {} }", "\"lossless\" needs acknowledged mode"),
        (
            "cell.handover",
            "{ moves = [{ link = \"none\", at = \"1 s\", to = 1 }] }",
            "the radio has no link \"none\"",
        ),
        (
            "cell.handover",
            "{ moves = [{ link = \"link\", at = \"1 s\", to = 2 }] }",
            "there is no station 2; write 0 to 1",
        ),
        (
            "cell.handover",
            "{ tracks = [{ link = \"link\", points = [{ at = \"1 s\", sinr = [\"9 dB\"] }] }] }",
            "1 values for 2 stations",
        ),
        (
            "cell.handover.tracks",
            "[{ link = \"link\", points = [{ at = \"1 s\", sinr = [\"9 dB\", \"9 dB\"] }, { at = \"1 s\", sinr = [\"9 dB\", \"9 dB\"] }] }]",
            "\"1 s\" is not after the point before",
        ),
        (
            "cell.handover",
            "{ moves = [{ link = \"link\", at = \"1 s\", to = 1, sinr = \"100.1 dB\" }] }",
            "an SINR of \"100.1 dB\" is out of range; write \"-30 dB\" to \"100 dB\"",
        ),
        (
            "cell.handover",
            "{ tracks = [{ link = \"link\", points = [{ at = \"1 s\", sinr = [\"9 dB\", \"-30.1 dB\"] }] }] }",
            "an SINR of \"-30.1 dB\" is out of range",
        ),
        ("cell.handover", "{ tracks = [{ link = \"link\", points = [] }] }", "a track without points"),
        (
            "cell.handover",
            "{ moves = [{ link = \"link\", at = \"1 s\", to = 1 }], tracks = [{ link = \"link\", points = [{ at = \"1 s\", sinr = [\"9 dB\", \"9 dB\"] }] }] }",
            "\"link\" has a track, which says when it moves",
        ),
        ("cell.handover", "{ offset = \"30.1 dB\" }", "an offset of \"30.1 dB\" is out of range"),
        ("cell.handover", "{ time_to_trigger = \"10001 ms\" }", "\"10.001 s\" is out of range"),
        ("cell.drx", "{ inactivity = \"10001 ms\" }", "\"10.001 s\" is out of range"),
        ("cell.drx", "{ on = \"400 ms\" }", "a user listens for \"400 ms\" of a cycle of \"320 ms\""),
        (
            "cell.drx",
            "{ short = { cycle = \"30 ms\", timer = \"100 ms\" } }",
            "\"30 ms\" does not divide the cycle of \"320 ms\"",
        ),
        ("mac.cw_min", "15", "mac has no meaning with access = \"scheduled\": cell has its settings"),
        ("channel", "17", "there is no channel 17"),
    ] {
        let path = format!("radio.cr.cr.{path}");
        let error = base.clone().set(&path, value).and_then(|it| it.resolve()).unwrap_err().to_string();
        assert!(error.contains(message), "{path} = {value}: {error}");
    }
    // The bounds themselves are allowed.
    for (path, value) in [
        (
            "handover",
            "{ offset = \"30 dB\", time_to_trigger = \"10 s\", tracks = [{ link = \"link\", points = [{ at = \"1 s\", sinr = [\"-30 dB\", \"100 dB\"] }] }] }",
        ),
        ("drx", "{ inactivity = \"10 s\", on = \"319 ms\" }"),
    ] {
        let cell = base.clone().set(&format!("radio.cr.cr.cell.{path}"), value).unwrap();
        cell.resolve().unwrap_or_else(|error| panic!("{path} = {value}: {error}"));
    }
    let lossy = base.clone().set("topology.single_hop.link.loss", "1 %").unwrap();
    assert!(lossy.resolve().unwrap_err().to_string().contains("HARQ and RLC decide"));
    let unused = scenario().set("radio.cr.cr.cell", "{ bandwidth = \"5 MHz\" }").unwrap();
    assert!(unused.resolve().unwrap_err().to_string().contains("only scheduled access has a cell"));
    let kind = &base.resolve().unwrap().radios[0].kind;
    assert!(kind.cell().is_some() && kind.user_without_mac().is_some() && kind.unshared().is_none());
}

#[test]
fn a_cr_user_needs_a_spectrum_and_a_spectrum_a_cr_user() {
    let without = TEXT.replace("[spectrum]\nchannels = { uniform = \"1 Mbit/s\" }\npu = { exponential = { alpha = 0.5, beta = 1.5 } }\n", "");
    let error = Scenario::parse(&without, "cr.toml").unwrap().resolve().unwrap_err();
    assert!(error.to_string().contains("cr.toml:") && error.remedy.contains("[spectrum]"), "{error}");
    let cycle = TEXT.split("[radio.cr]").next().unwrap().to_owned()
        + "sensing = { off = \"1 s\", on = \"1 s\" }\n[[flow]]\nfrom = \"sender\"\nto = \"receiver\"\ntransport = \"newreno\"\n";
    let warnings = Scenario::parse(&cycle, "cr.toml").unwrap().warnings();
    assert!(
        warnings.iter().any(|warning| warning.message.contains("no radio uses the spectrum")),
        "{warnings:?}"
    );
}

#[test]
fn a_transmission_time_too_short_for_a_packet_is_warned_of() {
    let warnings = scenario().set("radio.cr.cr.transmission_time", "10 ms").unwrap().warnings();
    assert!(warnings[0].message.contains("it is never sent"), "{warnings:?}");
}

/// A folder of its own, so that tests do not meet.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let home = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&home).unwrap();
    for (file, text) in files {
        std::fs::write(home.join(file), text).unwrap();
    }
    home.join("cr.toml")
}

#[test]
fn logs_are_read_beside_the_scenario() {
    let text = TEXT
        .replace("channels = { uniform = \"1 Mbit/s\" }", "channels = { ch_log = \"ch.log\" }")
        .replace("pu = { exponential = { alpha = 0.5, beta = 1.5 } }", "pu = { pu_log = \"pu.log\" }");
    let pus = "<1, 0, 0, 2, 0.2818>\n<1, 1, 2.5>\n<1, 9, 30>\n";
    let channels = "<1, 1, 1000000, 0>\n<2, 1, 2000000, 0>\n";
    let file = folder("logs", &[("cr.toml", &text), ("pu.log", pus), ("ch.log", channels)]);
    let scenario = Scenario::read(&file).unwrap();
    let names: Vec<_> = scenario.files().iter().map(|path| path.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["ch.log", "pu.log"]);
    let spectrum = scenario.resolve().unwrap().network.spectrum.unwrap();
    assert_eq!(spectrum.channels.len(), 2);
    let UsersSpec::Logged(activity) = &spectrum.users else { panic!("they are read") };
    assert_eq!((activity.users.len(), activity.users[0].band, activity.users[0].activity.len()), (1, 2, 2));

    let broken = "<1, 0, 0, 2, 0.2818>\n<1, 5, 2.5>\n";
    let file = folder("broken", &[("cr.toml", &text), ("pu.log", broken), ("ch.log", channels)]);
    let error = Scenario::read(&file).unwrap().resolve().unwrap_err().to_string();
    assert!(error.contains("pu.log:2:") && error.contains("spectrum.pu.pu_log"), "{error}");

    let beyond = "<1, 0, 0, 3, 0.2818>\n<1, 1, 20>\n";
    let file = folder("beyond", &[("cr.toml", &text), ("pu.log", beyond), ("ch.log", channels)]);
    let error = Scenario::read(&file).unwrap().resolve().unwrap_err().to_string();
    assert!(error.contains("PU 1 is on band 3, and there are 2 bands"), "{error}");
}

/// What a link can carry over time comes from a file; a line that is wrong is named.
#[test]
fn a_trace_of_a_link_is_read_beside_the_scenario() {
    let text = "name = \"trace\"\n[run]\nduration = \"1 s\"\n[topology.single_hop]\n\
                link = { rate = \"1 Mbit/s\", trace = \"link.trace\", delay = \"1 ms\", queue = \"9 packets\" }\n\
                [[flow]]\nfrom = \"sender\"\nto = \"receiver\"\ntransport = \"newreno\"\n";
    let file = folder("trace", &[("cr.toml", text), ("link.trace", "1\n2\n4\n")]);
    Scenario::read(&file).unwrap().resolve().unwrap();
    let file = folder("wrong-trace", &[("cr.toml", text), ("link.trace", "1\n4\n2\n")]);
    let error = Scenario::read(&file).unwrap().resolve().unwrap_err().to_string();
    assert!(error.contains("link.trace:3:") && error.contains("single_hop.link.trace"), "{error}");
}

#[test]
fn released_files_and_measured_occupancy_are_read_too() {
    let map = "1\n3 10 10 20 20 0.5 0.1 500\n2\n1.0 2.0\n5.0 20.0\n";
    let channels: String = (0..11).map(|channel| format!("{channel} 1000000 0.0\n")).collect();
    let text = TEXT
        .replace("channels = { uniform = \"1 Mbit/s\" }", "channels = { released = \"channel.txt\" }")
        .replace("pu = { exponential = { alpha = 0.5, beta = 1.5 } }", "pu = { map = \"map.txt\" }");
    let file = folder("released", &[("cr.toml", &text), ("map.txt", map), ("channel.txt", &channels)]);
    let experiment = Scenario::read(&file).unwrap().resolve().unwrap();
    let user = experiment.radios[0].kind.cognitive().unwrap();
    assert_eq!(user.ends[0].channel.0, 1, "channel 0 is reserved for control");

    let text = TEXT
        .replace("pu = { exponential = { alpha = 0.5, beta = 1.5 } }", "pu = { occupancy = \"busy.csv\" }");
    let csv = "time,band,busy\n0,900,1\n2,900,0\n0,901,0\n20,900,0\n";
    let file = folder("occupancy", &[("cr.toml", &text), ("busy.csv", csv)]);
    let scenario = Scenario::read(&file).unwrap();
    let UsersSpec::Logged(activity) = scenario.resolve().unwrap().network.spectrum.unwrap().users else {
        panic!("they are read")
    };
    assert_eq!(activity.users.iter().map(|user| user.activity.len()).collect::<Vec<_>>(), [1, 0]);
    assert!(scenario.warnings()[0].message.contains("before the run"), "{:?}", scenario.warnings());
}

/// Powers of a measurement become PUs by a threshold; what the file cannot show is said, and what is wrong in
/// it has its line.
#[test]
fn a_measurement_of_powers_is_read_by_its_threshold() {
    let text = TEXT.replace(
        "pu = { exponential = { alpha = 0.5, beta = 1.5 } }",
        "pu = { measured = { file = \"power.csv\", threshold = \"-95 dBm\", hysteresis = \"3 dB\", minimum = \"10 ms\" } }",
    );
    let rows: String =
        (0..100).map(|row| format!("{},-100,{}\n", row, if row % 10 < 5 { -90 } else { -99 })).collect();
    let csv = format!("time,1,2\n{rows}");
    let file = folder("measured", &[("cr.toml", &text), ("power.csv", &csv)]);
    let scenario = Scenario::read(&file).unwrap();
    assert_eq!(scenario.files().len(), 1);
    let UsersSpec::Logged(activity) = scenario.resolve().unwrap().network.spectrum.unwrap().users else {
        panic!("they are read")
    };
    assert_eq!(activity.users.iter().map(|user| user.activity.len()).collect::<Vec<_>>(), [0, 10]);
    assert!(scenario.warnings()[0].message.contains("a sample every \"1 s\""), "{:?}", scenario.warnings());
    for (from, to, wanted) in [
        ("\n50,-100", "\n48,-100", "power.csv:52: band 1: the sample at 48 s comes after a later one"),
        ("70,-100,-90\n", "", ""),
        ("70,-100,-90", "70,-100,?", "power.csv:72: the power is \"?\"; expected dBm, as -87.5"),
    ] {
        let csv = csv.replace(from, to);
        let file = folder("measured-wrong", &[("cr.toml", &text), ("power.csv", &csv)]);
        let resolved = Scenario::read(&file).unwrap().resolve();
        match wanted {
            "" => assert!(resolved.is_ok(), "one sample less is no gap"),
            _ => assert!(resolved.unwrap_err().to_string().contains(wanted), "{wanted}"),
        }
    }
    let alone = text.replace("threshold = \"-95 dBm\", ", "");
    let file = folder("measured-alone", &[("cr.toml", &alone), ("power.csv", &csv)]);
    let error = Scenario::read(&file).unwrap().resolve().unwrap_err().to_string();
    assert!(error.contains("hysteresis has no effect without threshold"), "{error}");
}

/// One PU for each band measured, with the law of what was measured there.
#[test]
fn a_measurement_becomes_a_model() {
    let text = TEXT.replace(
        "pu = { exponential = { alpha = 0.5, beta = 1.5 } }",
        "pu = { trace = { file = \"busy.csv\", model = \"markov\", reach = { range = \"200 m\" } } }",
    );
    // Band 1: ON 1 s and 2 s, OFF 3 s between them. Band 2: ON 1 s and 1 s, OFF 1 s.
    let csv = "time,band,busy\n0,900,0\n1,900,1\n2,900,0\n5,900,1\n7,900,0\n\
               0,901,0\n4,901,1\n5,901,0\n6,901,1\n7,901,0\n9,900,0\n";
    let file = folder("trace-of-users", &[("cr.toml", &text), ("busy.csv", csv)]);
    let experiment = Scenario::read(&file).unwrap().resolve().unwrap();
    let UsersSpec::Generated(users) = &experiment.spectrum.as_ref().unwrap().users else { panic!("drawn") };
    let means: Vec<_> =
        users.iter().map(|user| (user.band, user.law.on.mean(), user.law.off.mean())).collect();
    assert_eq!(means, [(1, 1.5, 3.0), (2, 1.0, 1.0)]);
    // The threshold of the detector is set for the mean duty cycle of the bands: 1/3 and 1/2.
    let p_on = experiment.radios[0].kind.cognitive().unwrap().surroundings.duty_cycle;
    assert!((p_on - 5.0 / 12.0).abs() < 1e-9, "{p_on}");

    for (csv, message) in [
        ("time,band,busy\n0,900,1\n9,900,0\n", "band 900 of the file: the trace has no whole ON or OFF time"),
        ("time,band,busy\n0,900,1\n9,900\n", "busy.csv:3: 2 fields"),
    ] {
        let file = folder("trace-wrong", &[("cr.toml", &text), ("busy.csv", csv)]);
        let error = Scenario::read(&file).unwrap().resolve().unwrap_err().to_string();
        assert!(error.contains(message) && error.contains("spectrum.pu.trace.file"), "{error}");
    }
    let two = text.replace("[spectrum]", "[spectrum]\nbands = 1");
    let file = folder("trace-beyond", &[("cr.toml", &two), ("busy.csv", csv)]);
    let error = Scenario::read(&file).unwrap().resolve().unwrap_err().to_string();
    assert!(error.contains("PU 2 is on band 2, and there are 1 bands"), "{error}");
}

#[test]
fn a_received_snr_without_use_or_doubt_is_warned_of() {
    let received = |detector: &str| {
        let changed = scenario().set("radio.cr.cr.pu_snr", "received").unwrap();
        changed.set("radio.cr.cr.detector", detector).unwrap().warnings()
    };
    let warnings = received("perfect");
    assert!(warnings[0].message.contains("presence alone"), "{warnings:?}");
    let warnings = received("{ map = { snr = \"-20 dB\" } }");
    assert!(warnings[0].message.contains("no channel has noise"), "{warnings:?}");
}

/// A medium has two stations: more links are more media, and the user is told.
#[test]
fn cr_users_of_several_links_are_told_apart() {
    let chain = scenario()
        .set("topology", "{ chain = { hops = 2, link = { rate = \"1 Mbit/s\", delay = \"1 us\" } } }");
    let text = chain.unwrap().to_toml().replace("\"sender\"", "\"n0\"").replace("\"receiver\"", "\"n2\"");
    let one = text.replace("\"link\"", "\"hop1\"");
    assert_eq!(Scenario::parse(&one, "cr.toml").unwrap().warnings(), []);
    let radio = one[one.find("[[radio]]").unwrap()..one.find("[[flow]]").unwrap()].to_owned();
    let second = radio.replace("\"hop1\"", "\"hop2\"").replacen("name = \"cr\"", "name = \"cr2\"", 1);
    let two = one.replace("[[flow]]", &format!("{second}[[flow]]"));
    let warnings = Scenario::parse(&two, "cr.toml").unwrap().warnings();
    assert!(warnings[0].message.contains("\"cr\" and \"cr2\" do not hear each other"), "{warnings:?}");
    let both = one.replace("[\"hop1\"]", "[\"hop1\", \"hop2\"]");
    let error = Scenario::parse(&both, "cr.toml").unwrap().resolve().unwrap_err();
    assert!(error.to_string().contains("only the two stations at its ends share a channel"), "{error}");
}

#[test]
fn every_choice_is_written_and_read_back() {
    for (path, value) in [
        (
            "radio.cr.cr.detector",
            "{ neyman_pearson = { snr = \"-15 dB\", sampling_rate = \"2 MHz\", false_alarm = 0.05 } }",
        ),
        ("radio.cr.cr.detector", "{ simplified = { snr = \"-22 dB\" } }"),
        ("radio.cr.cr.detector", "{ table = [[\"25 ms\", 0.8, \"20 %\"], [\"200 ms\", 0.99, 0.01]] }"),
        ("radio.cr.cr.detector", "{ fixed = { detection = 0.9 } }"),
        ("radio.cr.cr.detector", "as_released"),
        ("radio.cr.cr.policy", "{ best_rate = { memory = \"10 s\" } }"),
        ("radio.cr.cr.cooperation", "{ neighbours = [[\"50 m\", \"-1 km\"]], rule = \"majority\" }"),
        ("radio.cr.cr.ends", "independent"),
        ("radio.cr.cr.reception", "as_released"),
        ("radio.cr.cr.pu_snr", "received"),
        ("radio.cr.cr.mac", "{ short_retry_limit = \"infinite\", rts_threshold = \"500 B\" }"),
        (
            "spectrum.pu",
            "{ laws = { on = { log_normal = { median = \"1 s\", sigma = 0.5 } }, off = { gamma = { shape = 2.0, scale = \"1 s\" } }, start = \"stationary\" } }",
        ),
        ("spectrum.pu.exponential.reach", "{ power = \"24.5 dBm\" }"),
        ("spectrum.pu", "none"),
    ] {
        let changed = scenario().set(path, value).unwrap_or_else(|error| panic!("{error}"));
        changed.resolve().unwrap_or_else(|error| panic!("{value}: {error}"));
        assert_eq!(Scenario::parse(&changed.to_toml(), "x").unwrap(), changed, "{}", changed.to_toml());
        assert_eq!(Scenario::from_json(&changed.to_json(), "x").unwrap(), changed);
    }
}

/// DFS leaves 200 ms less closing for the last frame. 1580 bytes at 1 Mbit/s take 12.64 ms; an exchange of 802.11
/// as long as twice that and 5 ms. A frame may just fit.
#[test]
fn the_last_frame_ends_within_the_margin() {
    let times =
        "sensing_time = \"200 ms\"\ntransmission_time = \"1 s\"\ndetector = { map = { snr = \"-20 dB\" } }\n";
    for (access, margin_us) in [("dcf", 30_280), ("none", 12_640)] {
        for (less_us, fits) in [(0, true), (1, false)] {
            let closing = 200_000 - margin_us + less_us;
            let regulation = format!("regulation = {{ dfs = {{ closing = \"{closing} us\" }} }}\n");
            let text = TEXT.replace("\"dcf\"", &format!("\"{access}\"")).replace(times, &regulation);
            let found = Scenario::parse(&text, "cr.toml").and_then(|scenario| scenario.resolve());
            assert_eq!(found.is_ok(), fits, "{access} {closing}: {:?}", found.err().map(|it| it.to_string()));
        }
    }
}
