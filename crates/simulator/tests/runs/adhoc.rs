//! Ad hoc networks end to end: transports and applications over several hops.

use crate::support::*;
use cogtcp_records::{Run, Table};
use cogtcp_simulator::{RunOptions, TraceLevel, run};

/// Nodes in a line, 200 m apart: each hears only the next.
fn chain(nodes: usize, rest: &str, flows: &str) -> String {
    format!(
        r#"
name = "chain"
{rest}
[run]
duration = "30 s"
warmup = "5 s"
[topology.ad_hoc]
nodes = {nodes}
placement = {{ chain = "200 m" }}
{flows}
"#
    )
}

fn flow(from: usize, to: usize, more: &str) -> String {
    format!("[[flow]]\nfrom = \"n{from}\"\nto = \"n{to}\"\ntransport = \"newreno\"\n{more}\n")
}

/// The row of a stream in `streams`, by column.
fn stream(run: &Run, stream: &str, column: &str) -> f64 {
    let streams = extension(run, "streams");
    let row = (0..streams.len()).find(|row| streams.text("stream", *row) == Some(stream)).unwrap();
    streams.number(column, row).unwrap()
}

/// TCP over one to four hops: each more divides what is delivered, as all nodes of a string share the medium,
/// and hops are counted.
#[test]
fn tcp_over_more_hops_delivers_less() {
    let mut before = f64::INFINITY;
    for hops in 1..=4 {
        let run = run_text(&chain(hops + 1, "routing = \"static\"", &flow(0, hops, "")));
        let goodput = first(&run.flows, "goodput_bps");
        assert!(goodput < 0.9 * before && goodput > 100e3, "{hops} hops: {goodput} after {before}");
        assert_eq!(stream(&run, "data", "hops_mean"), hops as f64);
        assert_eq!(stream(&run, "acknowledgements", "hops_max"), hops as f64);
        assert_eq!(stream(&run, "data", "rerouted_packets"), 0.0);
        assert!(first(&run.flows, "efficiency").is_nan(), "no bottleneck of known capacity");
        assert!(run.flows.text("bottleneck", 0) == Some("") && run.links.is_empty() && run.budget.is_empty());
        before = goodput;
    }
    // 1460 bytes at 2 Mbit/s with RTS, CTS and ACK at 1 Mbit/s, and an acknowledgement of TCP for every
    // second: some 1.2 Mbit/s.
    let one = run_text(&chain(2, "routing = \"static\"", &flow(0, 1, "")));
    assert!(
        (1.0e6..1.4e6).contains(&first(&one.flows, "goodput_bps")),
        "{}",
        first(&one.flows, "goodput_bps")
    );
}

/// Every preset, and every kind of traffic.
#[test]
fn every_transport_and_traffic_goes_over_it() {
    for preset in cogtcp_transport::Preset::all().iter().map(|preset| preset.name) {
        let text = chain(4, "", &flow(0, 3, "").replace("newreno", preset));
        let run = run_text(&text);
        assert!(first(&run.flows, "goodput_bps") > 50e3, "{preset}: {}", first(&run.flows, "goodput_bps"));
    }
    let traffic = [
        "traffic = { size = \"100 kB\" }",
        "traffic = { rate = \"50 kbit/s\" }",
        "traffic = { requests = { response = { fixed = \"20 kB\" } } }",
        "traffic = { video = { rate = \"100 kbit/s\" } }",
    ];
    let flows: Vec<String> = traffic.iter().map(|more| flow(0, 3, more)).collect();
    let udp =
        "[[udp]]\nname = \"voice\"\nfrom = \"3\"\nto = \"n0\"\npattern = { constant = \"20 kbit/s\" }\n";
    let run = run_text(&chain(4, "", &(flows.concat() + udp)));
    assert!(column(&run.flows, "goodput_bps").iter().skip(1).all(|goodput| *goodput > 10e3));
    assert!(first(&run.flows, "completion_s") < 20.0);
    assert!(first(extension(&run, "datagrams"), "received_packets") > 50.0);
    assert!(first(extension(&run, "request_flows"), "answered_requests") > 5.0);
    assert_eq!(stream(&run, "datagrams", "hops_mean"), 3.0);
    assert!(stream(&run, "requests", "delivered_packets") > 5.0);
}

const MOBILE: &str = r#"
name = "mobile"
[run]
duration = "30 s"
warmup = "3 s"
[area]
width = "800 m"
height = "500 m"
[topology.ad_hoc]
nodes = 15
mobility = { random_waypoint = { speed = ["5 m/s", "20 m/s"] } }
[[flow]]
from = "n0"
to = "n7"
transport = "newreno"
[[flow]]
from = "n3"
to = "n9"
transport = "sack"
[[udp]]
from = "n1"
to = "n2"
pattern = { poisson = "40 kbit/s" }
"#;

const SENSING: &str = r#"
[spectrum]
bands = 3
channels = { uniform = "2 Mbit/s" }
[spectrum.pu.exponential]
alpha = 0.5
beta = 0.2
count = 6
scattered = true
reach = { range = "250 m" }
[cr]
sensing_time = "100 ms"
transmission_time = "900 ms"
detector = "perfect"
"#;

fn settings() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for routing in ["aodv", "static", "cr_aodv", "search"] {
        for more in ["", "radios = \"three\""] {
            for cr in ["", SENSING] {
                let text = MOBILE.replace("nodes = 15", &format!("nodes = 15\n{more}"));
                let text = text.replace("[run]", &format!("routing = \"{routing}\"\n[run]")) + cr;
                all.push((format!("{routing} {more} {}", cr.len()), text));
            }
        }
    }
    all
}

/// Twice the same scenario and seed, with traces and without: the same events and tables. Another seed:
/// others.
#[test]
fn runs_are_reproducible_and_not_moved_by_traces() {
    for (what, text) in settings() {
        let (once, twice, traced) = (run_text(&text), run_text(&text), run_traced(&text));
        assert_eq!(once.digest, twice.digest, "{what}");
        assert_eq!(once.extensions.len(), twice.extensions.len(), "{what}");
        for (one, two) in once.extensions.iter().zip(&twice.extensions) {
            assert!(is_same_table(one, two), "{}: {what}", one.name);
        }
        assert_eq!(once.digest, traced.digest, "{what}");
        assert!(is_same_table(&once.flows, &traced.flows), "{what}");
        let other = run(&experiment(&text), &RunOptions { seed: Some(77), ..RunOptions::default() }).unwrap();
        assert_ne!(once.digest, other.digest, "{what}");
        assert!(experiment(&text).is_random());
    }
}

fn sum(table: &Table, name: &str) -> f64 {
    column(table, name).iter().sum()
}

/// Drops by cause, by layer, by flow and by node are the same drops. (Conservation itself is checked in every
/// run.)
#[test]
fn drops_add_up() {
    let mut total = 0.0;
    for (what, text) in settings() {
        let run = run_text(&text.replace("warmup = \"3 s\"", ""));
        let drops = sum(extension(&run, "drops"), "packets");
        let streams = extension(&run, "streams");
        let layers = ["drops_routing", "drops_queue", "drops_mac"].map(|layer| sum(streams, layer));
        assert_eq!(layers.iter().sum::<f64>(), drops, "{what}");
        assert_eq!(sum(extension(&run, "nodes"), "dropped"), drops, "{what}");
        let flows = sum(&run.flows, "drops") + sum(&run.flows, "ack_drops");
        assert_eq!(flows + sum(extension(&run, "datagrams"), "drops"), drops, "{what}");
        let nodes = extension(&run, "nodes");
        assert_eq!(sum(streams, "delivered_packets"), sum(nodes, "delivered"), "{what}");
        assert_eq!(sum(extension(&run, "routing"), "overhead_packets"), sum(nodes, "routing_sent"), "{what}");
        total += drops;
    }
    assert!(total > 100.0, "a test without drops would hold anything: {total}");
}

/// What only runs with series have: places every second, and routes that lead from the sender to the
/// receiver.
#[test]
fn a_trace_has_places_and_routes() {
    let options = RunOptions { trace: TraceLevel::Series, ..RunOptions::default() };
    let run = run(&experiment(MOBILE), &options).unwrap();
    let (positions, routes) = (extension(&run, "positions"), extension(&run, "routes"));
    assert_eq!(positions.len(), 15 * 31);
    assert!(!routes.is_empty());
    for row in 0..routes.len() {
        let route: Vec<&str> = routes.text("route", row).unwrap().split(' ').collect();
        assert_eq!(route.len() as f64, routes.number("hops", row).unwrap() + 1.0);
        if routes.text("stream", row) == Some("data") && routes.text("flow", row) == Some("f1") {
            assert_eq!((route[0], route[route.len() - 1]), ("n0", "n7"));
        }
    }
    assert!(extension(&run_text(MOBILE), "positions").is_empty());
    // Samples further apart than a second: positions too.
    let rarely = MOBILE.replace("warmup = \"3 s\"", "warmup = \"3 s\"\nsample_interval = \"5 s\"");
    assert_eq!(extension(&run_traced(&rarely), "positions").len(), 15 * 7);
    let traced = run_traced(MOBILE);
    let searches = column(extension(&traced, "searches"), "start_s");
    assert!(!searches.is_empty());
    for start in searches {
        assert!(event_times(&traced, "search_start").contains(&start));
    }
}

/// Nodes that sense have rows among the radios, and those that hand off say where they listen.
#[test]
fn sensing_nodes_are_radios() {
    let text = MOBILE.to_owned() + SENSING;
    let run = run_traced(&text);
    assert_eq!(run.radios.len(), 15);
    assert_eq!(run.radios.text("radio", 3), Some("n3"));
    let sensed = column(&run.radios, "sensing_s");
    assert!(sensed.iter().all(|sensed| (2.5..8.0).contains(sensed)), "{sensed:?}");
    assert!(sum(&run.radios, "handoffs") > 3.0);
    assert_eq!(sum(&run.radios, "handoffs"), sum(extension(&run, "nodes"), "handoffs"));
    assert!(!event_times(&run, "pu_on").is_empty() && !event_times(&run, "handoff").is_empty());
    assert!(sum(&run.radios, "pu_airtime_s") > 0.0);
}

/// What a scenario says of waves and rates reaches the medium: obstacles and fading lose frames over a hop
/// that is sure without them, rates that adapt are faster near by, and of a sender at twice the distance two
/// rays leave a sixteenth (12 dB), free space a quarter (6 dB, where 10 are needed).
#[test]
fn waves_and_rates_of_a_scenario_are_those_of_its_run() {
    let of = |distance: u32, mac: &str, phy: &str| {
        let tables = format!("[mac]\n{mac}\n[phy]\n{phy}\n");
        let text = chain(4, "", &(tables + &flow(0, 1, ""))).replace("200 m", &format!("{distance} m"));
        run_text(&text)
    };
    let goodput = |run: &Run| first(&run.flows, "goodput_bps");
    // Lost for other reasons than that two sent at once.
    let lost = |run: &Run| {
        let nodes = extension(run, "nodes");
        sum(nodes, "attempts_garbled") + sum(nodes, "attempts_out_of_reach")
    };
    let plain = of(200, "", "");
    assert_eq!(lost(&plain), 0.0);
    let mut digests = vec![plain.digest];
    for phy in [
        "fading = \"rayleigh\"",
        "fading = { nakagami = { m = 3 } }",
        "shadowing = { deviation = \"6 dB\", per_pair = false }",
    ] {
        let run = of(200, "", phy);
        assert!(lost(&run) > 50.0 && goodput(&run) < 0.95 * goodput(&plain), "{phy}");
        digests.push(run.digest);
    }
    let hidden = |phy: &str| {
        let mac = "[mac]\nrts_threshold = \"3 kB\"\n[phy]\n";
        let run = run_text(&chain(4, "", &format!("{mac}{phy}\n{}{}", flow(0, 1, ""), flow(3, 2, ""))));
        column(&run.flows, "goodput_bps").into_iter().fold(f64::INFINITY, f64::min)
    };
    assert!(hidden("") > 100e3);
    assert!(hidden("path_loss = { free_space = \"914 MHz\" }") < 10e3);
    let rates = "rates = [{ rate = \"1 Mbit/s\", capture = \"4 dB\", range = \"250 m\" }, \
        { rate = \"11 Mbit/s\", capture = \"16 dB\", range = \"100 m\" }]\n";
    for control in ["{ minstrel = {} }", "{ arf = {} }"] {
        let adapting = format!("{rates}rate_control = {control}");
        let near = of(80, &adapting, "");
        assert!(goodput(&near) > 1.5 * goodput(&of(80, rates, "")), "{control}: {}", goodput(&near));
        assert!(
            goodput(&of(200, &adapting, "")) < 0.8 * goodput(&plain),
            "{control}: at most 1 Mbit/s there"
        );
        digests.push(near.digest);
    }
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), 6, "each is another run");
}

/// Without flows there is something to see: hellos, one a second from every node, and movement. One node will
/// do.
#[test]
fn nodes_without_flows_say_hello() {
    let hellos = "routing = { aodv = { hello = true, hello_always = true, jitter = \"0 s\" } }";
    for nodes in [1, 5] {
        let run = run_traced(&chain(nodes, hellos, ""));
        assert!(run.flows.is_empty() && extension(&run, "streams").is_empty());
        assert_eq!(extension(&run, "positions").len(), nodes * 31);
        let sent = first(extension(&run, "routing"), "overhead_packets");
        // 25 s are measured.
        assert!((sent - 25.0 * nodes as f64).abs() <= nodes as f64, "{sent} of {nodes}");
        let none = run_traced(&chain(nodes, "", ""));
        assert_eq!(first(extension(&none, "routing"), "overhead_packets"), 0.0);
    }
}

/// Recording every frame changes nothing; they stand in the order of their starts, and those of data carry
/// what hosts sent.
#[test]
fn frames_are_recorded_and_change_nothing() {
    let recorded = |trace| run(&experiment(MOBILE), &RunOptions { trace, ..RunOptions::default() }).unwrap();
    let (frames, without) = (recorded(TraceLevel::Packets), recorded(TraceLevel::Full));
    assert_eq!(frames.digest, without.digest);
    assert!(without.extensions.iter().all(|table| table.name != "frames"));
    let table = extension(&frames, "frames");
    let starts: Vec<f64> = (0..table.len()).filter_map(|row| table.number("time_s", row)).collect();
    assert!(starts.len() > 1000 && starts.is_sorted());
    for kind in ["tcp", "routing"] {
        assert!((0..table.len()).any(|row| table.text("protocol", row) == Some(kind)), "{kind}");
    }
    // Only TCP has numbers and windows.
    for row in (0..table.len()).filter(|row| table.text("protocol", *row) != Some("tcp")) {
        for name in ["ack", "window"] {
            assert_eq!(table.number(name, row), Some(0.0), "{name} of {:?}", table.text("protocol", row));
        }
    }
}

/// A mark that a packet got on a wire before the gateway is on it in the air: congestion experienced, of TCP
/// and of QUIC.
#[test]
fn frames_keep_the_marks_of_wires() {
    for transport in ["transport = \"newreno\"\ntcp.ecn = true", "transport = { quic = { ecn = true } }"] {
        let wired = r#"
[topology.ad_hoc.wired]
nodes = ["server"]
links = [{ name = "wire", from = "n0", to = "server", rate = "1 Mbit/s", delay = "5 ms", mark = "1 packet" }]
"#;
        let flows = format!("{wired}[[flow]]\nfrom = \"server\"\nto = \"n1\"\n{transport}\n");
        let options = RunOptions { trace: TraceLevel::Packets, ..RunOptions::default() };
        let run = run(&experiment(&chain(2, "", &flows)), &options).unwrap();
        let (packets, frames) = (&run.packets, extension(&run, "frames"));
        let marked = |table: &Table| (0..table.len()).any(|row| table.number("ecn", row) == Some(3.0));
        assert!(marked(packets), "{transport}: on the wire");
        assert!(marked(frames), "{transport}: in the air");
    }
}
