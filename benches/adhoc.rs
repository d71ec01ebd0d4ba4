//! What a frame on the air costs as an ad hoc network grows. A table; nothing here passes or fails.
//!
//!   cargo bench -p cogtcp-simulator --bench adhoc [-- NODES [SECONDS [SPEED]]]
//!
//! Whole runs: 25 nodes a square kilometre that walk at up to 4 m/s, ns-2's radio and rules, AODV, and 8 NewReno flows for every 25 nodes between
//! nodes that a seed draws. Processor time of the run, setup and report included, over all frames that were put on the air: RTS,
//! CTS, data, ACKs, and the broadcasts of AODV. A small network is mostly border, where fewer hear a frame: `hear` says how many
//! on average, as a large network has no such luck. With NODES one run, for a profiler: divide its instructions by its frames.

#![allow(clippy::disallowed_types, reason = "a benchmark measures processor time")]

use cogtcp_records::Run;
use cogtcp_scenario::{Experiment, Scenario};
use cogtcp_simulator::{RunOptions, TraceLevel, run};
use cogtcp_units::RandomStream;

/// ns-2's carrier-sense range, within which a frame is in the air, m.
const HEARD: f64 = 550.0;

fn main() {
    // `cargo bench` adds "--bench".
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let numbers: Result<Vec<f64>, _> = arguments.iter().map(|argument| argument.parse()).collect();
    let Ok(numbers) = numbers else {
        eprintln!("usage: adhoc [NODES [SECONDS [SPEED]]]");
        std::process::exit(2);
    };
    let at = |place: usize, otherwise: f64| numbers.get(place).copied().unwrap_or(otherwise);
    if let Some(nodes) = numbers.first() {
        let (frames, nanos, hear) = measure(*nodes as u64, at(1, 100.0), at(2, 4.0));
        println!("{frames} frames, {nanos:.0} ns per frame, {hear:.1} hear one");
        return;
    }
    println!("nodes    m/s      frames     hear   ns per frame    to 25   ns per hearer    to 25");
    for speed in [0.0, 4.0] {
        let mut first = (0.0, 0.0);
        for nodes in [25, 100, 400, 1000] {
            // Seconds so that all rows have frames enough; the least of three.
            let runs = (0..3).map(|_| measure(nodes, 100.0, speed));
            let (frames, nanos, hear) = runs.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
            let each = nanos / hear;
            first = if nodes == 25 { (nanos, each) } else { first };
            let (ratio, ratio_each) = (nanos / first.0, each / first.1);
            println!(
                "{nodes:<8} {speed:<4} {frames:>10} {hear:>8.1} {nanos:>14.0} {ratio:>8.2} {each:>15.1} {ratio_each:>8.2}"
            );
        }
    }
}

/// Frames, nanoseconds for each, and how many stations are in reach of one.
fn measure(nodes: u64, seconds: f64, speed: f64) -> (f64, f64, f64) {
    let experiment = network(nodes, seconds, speed);
    let options = RunOptions { trace: TraceLevel::None, ..RunOptions::default() };
    let start = processor_seconds();
    let result = run(&experiment, &options);
    let spent = processor_seconds() - start;
    let run = result.expect("the benchmark's scenario runs");
    let frames = column(&run, "frames").iter().sum::<f64>();
    (frames, spent * 1e9 / frames, reached(&run))
}

fn network(nodes: u64, seconds: f64, speed: f64) -> Experiment {
    let side = 1000.0 * (nodes as f64 / 25.0).sqrt();
    let mobility = match speed > 0.0 {
        true => format!(
            "{{ random_waypoint = {{ speed = [\"{:.1} m/s\", \"{speed:.1} m/s\"], pause = [\"3 s\", \"3 s\"] }} }}",
            speed / 1.6
        ),
        false => "\"static\"".to_owned(),
    };
    let mut text = format!(
        r#"
name = "adhoc"
routing = {{ aodv = {{ profile = "ns2" }} }}
[run]
duration = "{seconds} s"
[area]
width = "{side:.0} m"
height = "{side:.0} m"
[topology.ad_hoc]
nodes = {nodes}
mobility = {mobility}
[mac]
profile = "ns2"
rate = "2 Mbit/s"
"#
    );
    let mut draw = RandomStream::new(1, "bench", nodes);
    for flow in 0..nodes * 8 / 25 {
        let from = draw.below(nodes);
        let to = (from + 1 + draw.below(nodes - 1)) % nodes;
        let start = 100 + draw.below(1000);
        text += &format!(
            "[[flow]]\nname = \"f{flow}\"\nfrom = \"n{from}\"\nto = \"n{to}\"\ntransport = \"newreno\"\nstart = \"{start} ms\"\n"
        );
    }
    match Scenario::parse(&text, "bench").and_then(|scenario| scenario.resolve()) {
        Ok(experiment) => experiment,
        Err(error) => panic!("the benchmark's scenario: {error}"),
    }
}

fn column(run: &Run, name: &str) -> Vec<f64> {
    let nodes = run.extensions.iter().find(|table| table.name == "nodes");
    let nodes = nodes.expect("an ad hoc network has nodes");
    (0..nodes.len()).map(|row| nodes.number(name, row).unwrap_or(f64::NAN)).collect()
}

/// Others within carrier sense of who sends a frame, on average over all frames, by the places at the start.
fn reached(run: &Run) -> f64 {
    let [x, y, frames] = ["start_x_m", "start_y_m", "frames"].map(|name| column(run, name));
    let near = |a: usize| {
        let within = |b: &usize| *b != a && (x[a] - x[*b]).hypot(y[a] - y[*b]) <= HEARD;
        (0..x.len()).filter(within).count() as f64
    };
    let all: f64 = frames.iter().sum();
    (0..x.len()).map(|node| near(node) * frames[node]).sum::<f64>() / all
}

/// Processor time of this thread so far, as Linux tells it: other load does not count.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    text.split_whitespace().next().and_then(|nanos| nanos.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e9
}
