//! Each bound by itself: the last value that is taken, and the next one, which is refused at its field.

use super::cognitive::TEXT as COGNITIVE;
use super::refused::{AIR, CELL, LINE, with};
use cogtcp_scenario::Scenario;

/// The error at `field` that a value at `path` makes, whatever else may be wrong.
fn told(base: &str, path: &str, value: &str) -> Option<String> {
    with(base, path, value).resolve().err().filter(|error| error.field == path).map(|error| error.message)
}

/// Values that are taken, and others that are refused.
#[track_caller]
fn bounds(base: &str, path: &str, taken: &[&str], refused: &[&str]) {
    for value in taken {
        assert_eq!(told(base, path, value), None, "{path} = {value}");
    }
    for value in refused {
        assert!(told(base, path, value).is_some(), "{path} = {value} is taken");
    }
}

/// A span, which may be zero or not, and at most so long.
#[track_caller]
fn span(base: &str, path: &str, zero: bool, most: &str, beyond: &str) {
    let says = |value: &str, words: &str| told(base, path, value).is_some_and(|it| it.contains(words));
    assert_eq!(says("0 s", "the duration is zero"), !zero, "{path}");
    assert!(!says(most, "is too long"), "{path} = {most}");
    assert!(says(beyond, "is too long"), "{path} = {beyond} is taken");
}

const DAYS: [&str; 2] = ["1000000 s", "1000000.000000001 s"];
const TEN: [&str; 2] = ["10 s", "10.000000001 s"];

/// 11.5 days for what lasts, 10 s for clocks.
#[test]
fn spans_of_tcp_are_bounded() {
    for (key, zero, [most, beyond]) in [
        ("timestamp_tick", false, TEN),
        ("initial_rto", false, DAYS),
        ("min_rto", true, DAYS),
        ("max_rto", false, DAYS),
        ("clock_granularity", false, TEN),
        ("user_timeout", false, DAYS),
        ("time_wait", true, DAYS),
        ("delayed_ack", false, TEN),
        ("timer_tick", true, TEN),
        ("timer_phase", true, DAYS),
        ("max_ack_delay", true, TEN),
    ] {
        span(LINE, &format!("flow.0.tcp.{key}"), zero, most, beyond);
    }
}

/// A segment fits into an IPv4 packet; a window into the 30 bits of RFC 7323.
#[test]
fn sizes_of_tcp_are_bounded() {
    let at = |key: &str| format!("flow.0.tcp.{key}");
    bounds(LINE, &at("segment_size"), &["1 B", "65495 B"], &["0 B", "65496 B"]);
    bounds(LINE, &at("receive_buffer"), &["1460 B", "1073741824 B"], &["1459 B", "1073741825 B"]);
    bounds(LINE, &at("initial_ssthresh"), &["1 B", "1 segment"], &["0 B"]);
}

#[test]
fn spans_of_a_run_and_its_flows_are_bounded() {
    let [most, beyond] = DAYS;
    span(LINE, "run.duration", false, most, beyond);
    span(LINE, "run.sample_interval", false, most, beyond);
    for key in ["start", "start_jitter", "stop"] {
        span(LINE, &format!("flow.0.{key}"), true, most, beyond);
    }
    let link = |key: &str| format!("topology.single_hop.link.{key}");
    for key in ["delay", "reverse_delay"] {
        span(LINE, &link(key), true, "1000 s", "1000.000000001 s");
    }
    bounds(LINE, &link("rate"), &["1 bit/s", "10000 Gbit/s"], &["0 bit/s", "10001 Gbit/s"]);
    bounds(LINE, &link("loss"), &["0", "0.999"], &["1"]);
    bounds(LINE, &link("drops"), &["[1]", "[1, 2]"], &[]);
    let lossy = LINE.replace("delay = \"5 ms\"", "delay = \"5 ms\", loss = 0.5");
    // Of runs of 1 packet half can be lost: 1 / (1 + 1).
    bounds(&lossy, &link("loss_run"), &["1", "10000"], &["0.999", "10000.1"]);
    let more = LINE.replace("delay = \"5 ms\"", "delay = \"5 ms\", loss = 0.501");
    bounds(&more, &link("loss_run"), &["1.1"], &["1"]);
    bounds(LINE, &link("loss_run"), &[], &["2"]);
}

#[test]
fn numbers_of_a_cell_are_bounded() {
    let base = CELL.replace("{ technology = \"lte\" }", "{ technology = \"lte\", bandwidth = \"5 MHz\" }");
    let at = |key: &str| format!("radio.0.cr.cell.{key}");
    for (key, taken, refused) in [
        ("layers", ["1", "4"], ["0", "5"]),
        ("control_symbols", ["1", "3"], ["0", "4"]),
        ("control_blocks", ["0", "24"], ["25", "26"]),
        ("grants", ["1", "100"], ["0", "101"]),
        ("attempts", ["1", "28"], ["0", "29"]),
        ("mean_slots", ["1", "1e9"], ["0.99", "1.1e9"]),
        ("sinr", ["-30 dB", "100 dB"], ["-30.1 dB", "100.1 dB"]),
        ("uplink_sinr", ["-30 dB", "100 dB"], ["-30.1 dB", "100.1 dB"]),
        ("reordering", ["1 ns", "10 s"], ["0 s", "10.000000001 s"]),
        ("poll", ["1 ns", "10 s"], ["0 s", "10.000000001 s"]),
        ("request_period", ["1 ns", "10 s"], ["0 s", "10.000000001 s"]),
        ("coherence", ["1 ns", "10 s"], ["0 s", "10.000000001 s"]),
        ("report_age", ["0 s", "10 s"], ["10.000000001 s", "11 s"]),
        ("first_grant", ["1 B", "100000 B"], ["0 B", "100001 B"]),
    ] {
        bounds(&base, &at(key), &taken, &refused);
    }
    let with_others =
        base.replace("bandwidth = \"5 MHz\" }", "bandwidth = \"5 MHz\", others = { saturated = 1 } }");
    bounds(&with_others, &at("others.saturated"), &["0", "1000"], &["1001"]);
    bounds(&with_others, &at("others.share"), &["0", "0.999"], &["1"]);
    let moving =
        base.replace("bandwidth = \"5 MHz\" }", "bandwidth = \"5 MHz\", handover = { stations = 2 } }");
    bounds(&moving, &at("handover.stations"), &["2"], &["0", "1"]);
    bounds(&moving, &at("handover.offset"), &["0 dB", "30 dB"], &["-0.1 dB", "30.1 dB"]);
    for key in ["interruption", "time_to_trigger"] {
        bounds(&moving, &at(&format!("handover.{key}")), &["0 s", "10 s"], &["10.000000001 s"]);
    }
}

#[test]
fn numbers_of_an_ad_hoc_network_are_bounded() {
    let [most, beyond] = DAYS;
    for (key, taken, refused) in [
        ("nodes", &["1", "100"][..], &["0", "10001"][..]),
        ("route_buffer", &["1", "100000"], &["0", "100001"]),
    ] {
        bounds(AIR, &format!("topology.ad_hoc.{key}"), taken, refused);
    }
    for key in ["route_buffer_time", "location_interval"] {
        span(AIR, &format!("topology.ad_hoc.{key}"), false, most, beyond);
    }
    bounds(AIR, "mac.queue", &["1", "100000"], &["0", "100001"]);
    // Beyond a slot, 20 us, nobody would hear another in time.
    span(AIR, "mac.delay", true, "20 us", "20.001 us");
    bounds(AIR, "mac.header", &["0 B", "10000 B"], &["10001 B"]);
    bounds(AIR, "phy.range", &["1 m", "550 m"], &["0.99 m", "1.1e9 m"]);
    bounds(AIR, "phy.carrier_sense_range", &["200 m", "1000 m"], &["199.9 m"]);
    bounds(AIR, "phy.cutoff", &["0 dB", "100 dB"], &["-0.1 dB", "100.1 dB"]);
    bounds(AIR, "phy.capture", &["0 dB", "100 dB"], &["-0.1 dB", "100.1 dB"]);
    for side in ["width", "height"] {
        bounds(AIR, &format!("area.{side}"), &["0 m", "1000 m"], &["-0.1 m", "1.1e9 m"]);
    }
    let speed = "topology.ad_hoc.mobility.random_waypoint.speed";
    let pair = |low: &str, high: &str| format!("[\"{low} m/s\", \"{high} m/s\"]");
    bounds(
        AIR,
        speed,
        &[&pair("0.1", "1"), &pair("3", "3"), &pair("3", "1e6")],
        &[&pair("0.00099", "1"), &pair("3", "2.9"), &pair("3", "1.1e6")],
    );
    let rates = AIR.replace(
        "profile = \"ns2\"",
        "profile = \"ns2\", rates = [{ rate = \"1 Mbit/s\", range = \"200 m\", capture = \"4 dB\" }]",
    );
    bounds(&rates, "mac.rates.0.capture", &["0 dB", "100 dB"], &["-0.1 dB", "100.1 dB"]);
    bounds(&rates, "mac.rates.0.range", &["1 m"], &["0.99 m", "1e6 m"]);
}

#[test]
fn numbers_of_a_cr_user_are_bounded() {
    let [most, beyond] = DAYS;
    for (key, zero) in [("sensing_time", false), ("transmission_time", false)] {
        span(COGNITIVE, &format!("radio.0.cr.{key}"), zero, most, beyond);
    }
    for key in ["jitter", "switching_delay", "start"] {
        span(COGNITIVE, &format!("radio.0.cr.{key}"), true, most, beyond);
    }
    bounds(COGNITIVE, "radio.0.cr.capture", &["0 dB", "100 dB"], &["-0.1 dB", "100.1 dB"]);
    bounds(COGNITIVE, "spectrum.attenuation", &["1", "10"], &["0.99", "10.1"]);
    // 10,000 channels in all.
    bounds(COGNITIVE, "spectrum.channels_per_band", &["1"], &["0"]);
    bounds(COGNITIVE, "spectrum.bands", &["1", "10000"], &["0", "10001"]);
}

/// All primary users at (0 m, 0 m) are a slip: each of one place, of the kinds that may have it.
#[test]
fn users_at_the_corner_are_warned_of() {
    let exponential = "{ exponential = { alpha = 0.5, beta = 1.5, count = 2";
    let laws = "{ laws = { on = { exponential = \"1 s\" }, off = { exponential = \"4 s\" }, count = 2";
    let place = "[\"1 m\", \"0 m\"]";
    for (kind, field) in [(exponential, "spectrum.pu.exponential"), (laws, "spectrum.pu.laws")] {
        for (more, warned) in [
            (String::new(), true),
            (", scattered = true".to_owned(), false),
            (format!(", positions = [{place}, {place}]"), false),
            (format!(", position = {place}"), false),
        ] {
            let spectrum =
                format!("[spectrum]\nchannels = {{ uniform = \"2 Mbit/s\" }}\npu = {kind}{more} }} }}\n");
            let text = format!("{AIR}{spectrum}");
            let scenario = Scenario::parse(&text, "air.toml").unwrap();
            scenario.resolve().unwrap();
            let found = scenario.warnings();
            let at_the_corner = found.iter().find(|it| it.message.contains("at the corner of the area"));
            assert_eq!(
                at_the_corner.map(|it| it.field.as_str()),
                warned.then_some(field),
                "{more}: {found:?}"
            );
        }
    }
    // Without an area there is no corner.
    assert!(
        !with(COGNITIVE, "run.duration", "11 s").warnings().iter().any(|it| it.message.contains("corner"))
    );
}
