//! One wrong value at a time: each is refused, or warned of, at its field and in its words.

use super::cognitive::TEXT as COGNITIVE;
use cogtcp_scenario::Scenario;

pub(crate) const LINE: &str = r#"
name = "line"
run = { duration = "10 s" }
[topology.single_hop]
link = { rate = "1 Mbit/s", delay = "5 ms", queue = "20 packets" }
[[radio]]
name = "radio"
links = ["link"]
sensing = { off = "100 ms", on = "5 s" }
[[flow]]
from = "sender"
to = "receiver"
transport = "newreno"
"#;

pub(crate) const AIR: &str = r#"
name = "air"
routing = { aodv = {} }
run = { duration = "10 s" }
area = { width = "1000 m", height = "500 m" }
mac = { profile = "ns2" }
phy = { range = "200 m" }
[topology.ad_hoc]
nodes = 4
mobility = { random_waypoint = { speed = ["2 m/s", "4 m/s"], pause = ["3 s", "4 s"] } }
[[flow]]
from = "n0"
to = "n3"
transport = "newreno"
"#;

pub(crate) const CELL: &str = r#"
name = "cell"
run = { duration = "10 s" }
[topology.single_hop]
link = { rate = "1 Mbit/s", delay = "1 ms" }
[spectrum]
channels = { uniform = "1 Mbit/s" }
[[radio]]
name = "cr"
links = ["link"]
[radio.cr]
access = "scheduled"
sensing_time = "50 ms"
transmission_time = "950 ms"
detector = "perfect"
cell = { technology = "lte" }
[[flow]]
from = "sender"
to = "receiver"
transport = "newreno"
"#;

pub(crate) fn with(base: &str, path: &str, value: &str) -> Scenario {
    let right = Scenario::parse(base, "right.toml").unwrap();
    right.set(path, value).unwrap_or_else(|error| panic!("{path} = {value}: {error}"))
}

/// Each value alone makes the scenario wrong, at its field and in these words.
#[track_caller]
fn refused(base: &str, wrong: &[(&str, &str, &str, &str)]) {
    Scenario::parse(base, "right.toml").unwrap().resolve().unwrap();
    for (path, value, field, words) in wrong {
        let error = match with(base, path, value).resolve() {
            Ok(_) => panic!("{path} = {value} is taken"),
            Err(error) => error,
        };
        assert_eq!(error.field, *field, "{path} = {value}: {error}");
        assert!(error.message.contains(words), "{path} = {value}: {error}");
    }
}

/// Each value alone is warned of; the scenario without it is not.
#[track_caller]
fn warned(base: &str, doubtful: &[(&str, &str, &str, &str)]) {
    let of = |scenario: &Scenario, words: &str| {
        let found = scenario.warnings().into_iter().find(|warning| warning.message.contains(words));
        found.map(|warning| warning.field)
    };
    for (path, value, field, words) in doubtful {
        assert_eq!(of(&Scenario::parse(base, "right.toml").unwrap(), words), None, "{words}");
        let scenario = with(base, path, value);
        scenario.resolve().unwrap();
        assert_eq!(
            of(&scenario, words).as_deref(),
            Some(*field),
            "{path} = {value}: {:?}",
            scenario.warnings()
        );
    }
}

/// Where a time is to be before another, the other itself is too late.
#[test]
fn flows_and_sources_lie_within_the_run_and_lead_somewhere() {
    let source = |more: &str| {
        let ends = if more.contains("to =") { "" } else { "to = \"receiver\", " };
        format!("[{{ from = \"sender\", {ends}pattern = {{ constant = \"10 kbit/s\" }}, {more} }}]")
    };
    refused(
        LINE,
        &[
            ("flow.0.to", "sender", "flow.0.to", "the flow leads from \"sender\" to itself"),
            ("flow.0.count", "100001", "flow", "there are 100001 flows"),
            ("flow.0.paths", &format!("{:?}", ["link"; 9]), "flow.0.paths", "there are 9 paths"),
            (
                "flow.0.paths",
                &format!("{:?}", ["link"; 8]),
                "flow.0.paths.1",
                "the path over \"link\" is the path",
            ),
            (
                "flow.0.start",
                "10 s",
                "flow.0.start",
                "the flow starts at \"10 s\", and the run ends at \"10 s\"",
            ),
            ("flow.0.start_jitter", "10 s", "flow.0.start_jitter", "the flow starts at \"10 s\""),
            (
                "flow.0.stop",
                "0 s",
                "flow.0.stop",
                "the flow stops at \"0 ns\", and the flow starts at \"0 ns\"",
            ),
            (
                "run.warmup",
                "10 s",
                "run.warmup",
                "the warm-up (\"10 s\") does not end before the run (\"10 s\")",
            ),
            ("udp", &source("count = 100001"), "udp", "there are 100001 sources"),
            ("udp", &source("to = \"sender\""), "udp.0.to", "the source sends from \"sender\" to itself"),
            (
                "udp",
                &source("start = \"10 s\""),
                "udp.0.start",
                "the source starts at \"10 s\", and the run ends",
            ),
            (
                "udp",
                &source("start = \"2 s\", stop = \"2 s\""),
                "udp.0.stop",
                "the source stops before it starts",
            ),
            ("udp", &source("size = \"0 B\""), "udp.0.size", "\"0 B\" is not a payload of a UDP packet"),
            ("udp", &source("size = \"65508 B\""), "udp.0.size", "\"65.508 kB\" is not a payload"),
        ],
    );
    for (path, value) in [
        ("flow.0.count", "100000".to_owned()),
        ("flow.0.start", "9.999999999 s".to_owned()),
        ("flow.0.stop", "1 ns".to_owned()),
        ("run.warmup", "9.999999999 s".to_owned()),
        ("udp", source("size = \"65507 B\", start = \"2 s\", stop = \"2.000000001 s\"")),
        ("udp", source("size = \"1 B\"")),
    ] {
        with(LINE, path, &value).resolve().unwrap_or_else(|error| panic!("{path} = {value}: {error}"));
    }
}

#[test]
fn a_link_that_can_carry_nothing_is_refused() {
    let link = "topology.single_hop.link";
    let wrong = [
        ("mark", "3 kB", "mark", "marks begin at a number of packets"),
        ("queue", "0 packets", "queue", "the queue holds nothing"),
        ("queue", "0 B", "queue", "the queue holds nothing"),
        ("queue", "1000.000000001 GB", "queue", "the queue is too long"),
        ("reverse_queue", "0 packets", "reverse_queue", "the queue holds nothing"),
        ("loss", "1", "loss", "every packet would be lost"),
        ("reverse_loss", "100 %", "reverse_loss", "every packet would be lost"),
        ("reverse_drops", "[0]", "reverse_drops.0", "there is no packet 0"),
        ("reverse_drops", "[2, 1]", "reverse_drops.1", "packet 1 comes after packet 2"),
        ("rate", "0 bit/s", "rate", "the rate is zero"),
        ("reverse_rate", "0 bit/s", "reverse_rate", "the rate is zero"),
    ];
    for (key, value, field, words) in wrong {
        let (path, field) = (format!("{link}.{key}"), format!("{link}.{field}"));
        refused(LINE, &[(&path, value, &field, words)]);
    }
    let path = format!("{link}.queue");
    with(LINE, &path, "1000 GB").resolve().unwrap();
    warned(
        LINE,
        &[(&path, "500 B", "topology", "may not hold one full segment (\"1.46 kB\" and its headers)")],
    );
}

#[test]
fn settings_of_tcp_that_exclude_each_other_are_named_at_the_flow() {
    let at = |key: &str| format!("flow.0.tcp.{key}");
    let wrong = [
        ("min_rto", "61 s", "min_rto", "the minimum RTO (\"61 s\") is above the maximum (\"1 min\")"),
        ("max_window", "1459 B", "max_window", "the cap on the window is below one segment"),
        (
            "receive_buffer",
            "1459 B",
            "receive_buffer",
            "the receive buffer (\"1.459 kB\") does not hold one segment (\"1.46 kB\")",
        ),
        ("initial_ssthresh", "0 B", "initial_ssthresh", "the threshold is zero"),
        ("dup_thresh", "0", "dup_thresh", "0 is out of range"),
        ("dup_thresh", "1001", "dup_thresh", "1001 is out of range"),
    ];
    for (key, value, field, words) in wrong {
        refused(LINE, &[(&at(key), value, &at(field), words)]);
    }
    for (key, value) in
        [("min_rto", "60 s"), ("max_window", "1460 B"), ("dup_thresh", "1"), ("dup_thresh", "1000")]
    {
        with(LINE, &at(key), value).resolve().unwrap_or_else(|error| panic!("{key} = {value}: {error}"));
    }
    let sack = LINE.replace("\"newreno\"", "\"sack\"");
    warned(&sack, &[("flow.0.tcp.sack", "false", "flow.0.tcp.sack", "the flow falls back to NewReno")]);
    for key in ["prr", "rack", "tlp"] {
        let words = format!("{key} has no effect without");
        warned(LINE, &[(&at(key), "true", &at(key), &words)]);
    }
    let prague = LINE.replace("\"newreno\"", "\"prague\"");
    warned(&prague, &[("flow.0.tcp.ecn", "true", "flow.0.tcp.ecn", "without Accurate ECN gets no marks")]);
    let tfrc = LINE.replace("\"newreno\"", "\"tfrc\"");
    refused(&tfrc, &[("flow.0.tcp.min_rto", "1 s", "flow.0.tcp", "the transport of this flow is tfrc")]);
}

#[test]
fn a_radio_is_moved_by_one_thing() {
    refused(
        LINE,
        &[
            ("radio.0.links", "[]", "radio.0.links", "the radio gates no link"),
            (
                "radio.0.links",
                "[\"link\", \"link\"]",
                "radio.0.links.1",
                "already gated by the radio \"radio\"",
            ),
            (
                "radio.0.leo",
                "{ outage = \"100 ms\", delay = [\"20 ms\", \"40 ms\"] }",
                "radio.0.sensing",
                "the radio has both leo and sensing",
            ),
            ("radio.0.journey", "{ map = \"a.toml\" }", "radio.0.sensing", "both journey and sensing"),
            (
                "radio.0.flush",
                "\"queue\"",
                "radio.0.flush",
                "only silence = \"down\" destroys waiting packets",
            ),
            ("radio.0.sensing.off", "0 s", "radio.0.sensing.off", "the duration is zero"),
        ],
    );
    warned(
        LINE,
        &[
            (
                "radio.0.unreachable",
                "true",
                "radio.0.unreachable",
                "this silence holds packets and destroys none",
            ),
            ("radio.0.dwell", "1 s", "radio.0.dwell", "the channel never changes: dwell has no effect"),
            (
                "radio.0.sensing.off",
                "10.001 s",
                "radio.0.sensing.off",
                "one silence (\"10.001 s\") is longer",
            ),
            (
                "radio.0.sensing.start",
                "10 s",
                "radio.0.sensing.start",
                "the first sensing is after the end of the run",
            ),
            ("run.sample_interval", "1 us", "run.sample_interval", "the time series would have"),
        ],
    );
    // A cycle of no length is one error, and nothing is counted by it.
    let gated = LINE.replace(
        "sensing = { off = \"100 ms\", on = \"5 s\" }",
        "leo = { outage = \"100 ms\", delay = [\"20 ms\", \"40 ms\"] }",
    );
    refused(&gated, &[("radio.0.leo.period", "0 s", "radio.0.leo.period", "the duration is zero")]);
    let idle = LINE.replace("sensing = { off = \"100 ms\", on = \"5 s\" }\n", "");
    let found = Scenario::parse(&idle, "idle.toml").unwrap().warnings();
    assert!(
        found.iter().any(|it| it.field == "radio.0" && it.message.contains("never falls silent")),
        "{found:?}"
    );
}

#[test]
fn a_cr_user_has_what_its_mac_and_detector_can_use() {
    let link = "topology.single_hop.link";
    let user = "radio.0.cr";
    let path = |key: &str| format!("{user}.{key}");
    let wrong = [
        (
            format!("{link}.loss_run"),
            "2",
            user.to_owned(),
            "draws each loss on its own, not in runs (loss_run)",
        ),
        (path("capture"), "-0.1 dB", path("capture"), "a capture threshold of \"-0.1 dB\" is out of range"),
        (path("transmit_power"), "0 W", path("transmit_power"), "a frame without power reaches no node"),
        (
            "radio.0.pu".to_owned(),
            "{ interarrival = \"6 s\", switching = \"1 s\" }",
            "radio.0.pu".to_owned(),
            "both cr and pu",
        ),
        ("radio.0.unreachable".to_owned(), "true", "radio.0.unreachable".to_owned(), "sends no ICMP"),
        ("radio.0.dwell".to_owned(), "1 s", "radio.0.dwell".to_owned(), "leaves a channel by cr.policy"),
    ];
    let lossy = COGNITIVE.replace("delay = \"1 us\"", "delay = \"1 us\", loss = 0.01");
    for (path, value, field, words) in &wrong {
        let base = if path.ends_with("loss_run") { &lossy } else { COGNITIVE };
        refused(base, &[(path, value, field, words)]);
    }
    let users = "spectrum.pu.exponential";
    refused(
        COGNITIVE,
        &[
            (
                &format!("{users}.count"),
                "10001",
                &format!("{users}.count"),
                "10001 primary users are out of range",
            ),
            (
                &format!("{users}.reach"),
                "{ range = \"-1 m\" }",
                &format!("{users}.reach"),
                "a range of \"-1 m\" is negative",
            ),
        ],
    );
    with(COGNITIVE, &format!("{users}.count"), "10000").resolve().unwrap();
    // Without noise what is received says all.
    warned(COGNITIVE, &[(&path("pu_snr"), "received", &path("pu_snr"), "no channel has noise")]);
    let perfect = COGNITIVE.replace("{ map = { snr = \"-20 dB\" } }", "\"perfect\"");
    warned(&perfect, &[(&path("pu_snr"), "received", &path("pu_snr"), "looks at the PU's presence alone")]);
}

#[test]
fn an_ad_hoc_network_has_nodes_that_can_hear_and_move() {
    let it = "topology.ad_hoc";
    let waypoint = format!("{it}.mobility.random_waypoint");
    let wrong = [
        ("mac.queue".to_owned(), "0", "mac.queue".to_owned(), "0 packets are out of range"),
        ("mac.queue".to_owned(), "100001", "mac.queue".to_owned(), "100001 packets are out of range"),
        ("mac.cw_min".to_owned(), "2000", "mac.cw_min".to_owned(), "cw_min (2000) is above cw_max (1023)"),
        ("phy.power".to_owned(), "0 W", "phy.power".to_owned(), "a frame without power reaches no node"),
        ("phy.range".to_owned(), "0.5 m", "phy.range".to_owned(), "\"0.5 m\" is out of range"),
        ("area.width".to_owned(), "-1 m", "area.width".to_owned(), "a side of \"-1 m\" is out of range"),
        ("area".to_owned(), "{ width = \"0 m\", height = \"0 m\" }", "area".to_owned(), "both sides are 0 m"),
        (format!("{it}.route_buffer"), "0", format!("{it}.route_buffer"), "0 packets are out of range"),
        (
            format!("{it}.location_interval"),
            "900 ns",
            format!("{it}.location_interval"),
            "makes 11111111 updates",
        ),
        (
            format!("{waypoint}.speed"),
            "[\"4 m/s\", \"2 m/s\"]",
            format!("{waypoint}.speed"),
            "from \"4 m/s\" to \"2 m/s\" are out",
        ),
        (
            format!("{waypoint}.pause"),
            "[\"4 s\", \"3 s\"]",
            format!("{waypoint}.pause"),
            "the longest pause is shorter",
        ),
        (format!("{it}.nodes"), "0", format!("{it}.nodes"), "0"),
        (
            "train".to_owned(),
            "{ router = \"n0\", radio = \"r\", prediction = { itinerary = { error = \"1 s\" } } }",
            "train".to_owned(),
            "the nodes of an ad hoc network sense on their own",
        ),
    ];
    for (path, value, field, words) in &wrong {
        refused(AIR, &[(path, value, field, words)]);
    }
    with(AIR, "mac.queue", "100000").resolve().unwrap();
    let still = AIR.replace(
        "mobility = { random_waypoint = { speed = [\"2 m/s\", \"4 m/s\"], pause = [\"3 s\", \"4 s\"] } }",
        "mobility = \"static\"\nplacement = { chain = \"100 m\" }",
    );
    let place = format!("{it}.placement");
    refused(
        &still,
        &[
            (&place, "{ chain = \"-1 m\" }", &format!("{place}.chain"), "\"-1 m\" is not a distance"),
            (
                &place,
                "{ grid = { columns = 0, spacing = \"1 m\" } }",
                &format!("{place}.grid.columns"),
                "at least one column",
            ),
            (
                &place,
                "{ grid = { columns = 2, spacing = \"-1 m\" } }",
                &format!("{place}.grid.spacing"),
                "\"-1 m\" is not a distance",
            ),
        ],
    );
}

#[test]
fn a_cell_has_the_carriers_of_its_technology_and_times_that_it_keeps() {
    let cell = |key: &str| format!("radio.0.cr.cell.{key}");
    let wrong = [
        ("bandwidth", "7 MHz", "bandwidth", "Lte has no carrier of 7 MHz"),
        ("mean_slots", "0.5", "mean_slots", "a mean over 0.5 slots is out of range"),
        ("layers", "5", "layers", "5 is out of range"),
        ("control_symbols", "4", "control_symbols", "4 is out of range"),
        ("control_blocks", "25", "control_blocks", "25 is out of range"),
        ("grants", "0", "grants", "0 is out of range"),
        ("attempts", "29", "attempts", "29 is out of range"),
        ("sinr", "100.5 dB", "sinr", "an SINR of \"100.5 dB\" is out of range"),
        ("uplink_sinr", "-30.5 dB", "uplink_sinr", "an SINR of \"-30.5 dB\" is out of range"),
        ("sinrs", "[\"1 dB\", \"2 dB\"]", "sinrs", "2 values for 1 links of the radio"),
        ("reordering", "0 s", "reordering", "\"0 ns\" is out of range"),
        ("poll", "10.001 s", "poll", "\"10.001 s\" is out of range"),
        ("request_period", "0 s", "request_period", "\"0 ns\" is out of range"),
        ("coherence", "0 s", "coherence", "\"0 ns\" is out of range"),
        ("report_age", "10.001 s", "report_age", "\"10.001 s\" is out of range"),
        ("first_grant", "0 B", "first_grant", "\"0 B\" is out of range"),
        ("handover", "{ stations = 1 }", "handover.stations", "1 stations are out of range"),
        (
            "handover",
            "{ stations = 2, moves = [{ link = \"link\", at = \"1 s\", to = 2 }] }",
            "handover.moves.0.to",
            "there is no station 2",
        ),
        (
            "handover",
            "{ stations = 2, moves = [{ link = \"other\", at = \"1 s\", to = 1 }] }",
            "handover.moves.0.link",
            "the radio has no link \"other\"",
        ),
        ("handover", "{ stations = 2, offset = \"-1 dB\" }", "handover.offset", "an offset of \"-1 dB\""),
        (
            "handover",
            "{ stations = 2, interruption = \"11 s\" }",
            "handover.interruption",
            "\"11 s\" is out of range",
        ),
    ];
    for (key, value, field, words) in wrong {
        let base =
            CELL.replace("{ technology = \"lte\" }", "{ technology = \"lte\", bandwidth = \"5 MHz\" }");
        refused(&base, &[(&cell(key), value, &cell(field), words)]);
    }
}
