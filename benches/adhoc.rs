//! What a frame on the air costs as an ad hoc network grows. A table; nothing here passes or fails.
//!
//!   cargo bench -p cogtcp-simulator --bench adhoc [-- --quick | --ns2 | --memory | NODES [SECONDS [SPEED [LAYOUT]]]]
//!
//! Whole runs: 25 nodes a square kilometre that stand or walk at up to 4 m/s, ns-2's radio and rules, AODV, and 8 NewReno flows for
//! every 25 nodes between nodes that a seed draws. Processor time of the run, setup and report included, over all frames that were
//! put on the air: RTS, CTS, data, ACKs, and the broadcasts of AODV. Two layouts:
//!
//! - `islands`: square kilometres of 25 nodes each, out of reach of each other, with flows within them. A frame is the same work in
//!   a network of any size: what grows is what the engine itself makes of size (caches, heaps, tables by number).
//! - `area`: one square. Here the work grows too: a small one is mostly border, where fewer hear a frame (`hear` says how many on
//!   average), and a search for a route in a large one is a flood of broadcasts (`floods` is their share of the frames), which each
//!   neighbour's routing receives.
//!
//! Where ns-2 (`ns`) is on the PATH, its processor time for the same 25 nodes follows, as a whole process, in pairs with runs
//! here: the same walks, flows, radio and rules.
//!
//! `--quick`: small networks, once each. `--ns2`: the pairs alone. `--memory`: memory of 1,000 nodes alone. With NODES one run,
//! for a profiler: divide its instructions by its frames. The digest tells whether two builds did the same.

#![allow(clippy::disallowed_types, reason = "a benchmark measures processor time")]
#![allow(unsafe_code, reason = "for a counting allocator, and the processor time of child processes")]

#[path = "allocations.rs"]
mod allocations;
#[path = "pairs.rs"]
mod pairs;

use cogtcp_mobility::{Area, Mobility, RandomWaypoint, Start, Trajectory, Vertex};
use cogtcp_records::Run;
use cogtcp_scenario::{Experiment, Motion, Scenario};
use cogtcp_simulator::{RunOptions, TraceLevel, run};
use cogtcp_units::{Duration, Position, RandomStream};
use pairs::Pairs;
use std::fmt::Write;
use std::process::Command;
use std::sync::Arc;

/// ns-2's carrier-sense range, within which a frame is in the air, m.
const HEARD: f64 = 550.0;

/// Nodes of an island, the side of one, and from one to the next, m.
const ISLAND: u64 = 25;
const SIDE: f64 = 1000.0;
const APART: f64 = 2000.0;

/// Where nodes are.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Layout {
    Area,
    Islands,
}

/// What a run cost.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    frames: f64,
    /// Nanoseconds a frame.
    nanos: f64,
    /// How many others are in reach of who sends a frame.
    hear: f64,
    /// Share of the frames that AODV broadcasts.
    floods: f64,
    digest: u64,
}

fn main() {
    // `cargo bench` adds "--bench".
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--quick"] => return tables(&[25, 100], 30.0, 1),
        ["--ns2"] => return [0.0, 4.0].into_iter().for_each(|speed| beside_ns2(speed, 9)),
        ["--memory"] => return memory(),
        _ => {}
    }
    let islands = arguments.iter().any(|argument| argument == "islands");
    let numbers = arguments.iter().filter(|argument| !["area", "islands"].contains(&argument.as_str()));
    let numbers: Result<Vec<f64>, _> = numbers.map(|argument| argument.parse()).collect();
    let Ok(numbers) = numbers else {
        eprintln!("usage: adhoc [--quick | --ns2 | --memory | NODES [SECONDS [SPEED [area|islands]]]]");
        std::process::exit(2);
    };
    let at = |place: usize, otherwise: f64| numbers.get(place).copied().unwrap_or(otherwise);
    if let Some(nodes) = numbers.first() {
        let layout = if islands { Layout::Islands } else { Layout::Area };
        let cost = measure(*nodes as u64, at(1, 100.0), at(2, 4.0), layout);
        let Cost { frames, nanos, hear, floods, digest } = cost;
        println!(
            "{frames} frames, {nanos:.0} ns per frame, {hear:.1} hear one, {floods:.2} floods, {digest:016x}"
        );
        return;
    }
    tables(&[25, 100, 400, 1000], 100.0, 3);
}

/// What a frame costs in networks of these sizes, the least of so many runs each, then ns-2 beside the smallest.
fn tables(sizes: &[u64], seconds: f64, repetitions: u32) {
    println!("layout   m/s  nodes   frames   hear floods   ns per frame   to 25   ns per hearer   to 25");
    for layout in [Layout::Islands, Layout::Area] {
        for speed in [0.0, 4.0] {
            let mut first = Cost::default();
            for &nodes in sizes {
                let runs = (0..repetitions).map(|_| measure(nodes, seconds, speed, layout));
                let cost = runs.min_by(|a, b| a.nanos.total_cmp(&b.nanos)).unwrap_or_default();
                first = if nodes == 25 { cost } else { first };
                let Cost { frames, nanos, hear, floods, .. } = cost;
                let (each, first_each) = (nanos / hear, first.nanos / first.hear);
                let name = format!("{layout:?}").to_lowercase();
                let (to_first, each_to_first) = (nanos / first.nanos, each / first_each);
                println!(
                    "{name:<8} {speed:<4} {nodes:<5} {frames:>8} {hear:>6.1} {floods:>6.2} {nanos:>14.0} {to_first:>7.2} {each:>15.1} {each_to_first:>7.2}"
                );
            }
        }
    }
    memory();
    for speed in [0.0, 4.0] {
        beside_ns2(speed, 2 + repetitions);
    }
}

/// Prints the most memory that networks of 1,000 nodes take in a run, their walks and report included.
fn memory() {
    const NODES: u64 = 1000;
    println!();
    for (layout, name) in [(Layout::Islands, "islands"), (Layout::Area, "one area")] {
        for speed in [0.0, 4.0] {
            let bytes = allocations::peak(|| timed(&network(NODES, 10.0, speed, layout)));
            println!(
                "memory of {NODES} nodes in {name} at {speed} m/s, 10 s: {:.1} MB, {} B a node",
                bytes as f64 / 1e6,
                bytes / NODES
            );
        }
    }
}

/// Pairs of a run of one island here and one of ns-2.
fn beside_ns2(speed: f64, count: u32) {
    const SECONDS: f64 = 100.0;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/cogtcp/kernel/validation/ns2/mobile.tcl");
    let movement = std::env::temp_dir().join(format!("cogtcp-adhoc-{}.tcl", std::process::id()));
    std::fs::write(&movement, setdest(&islands(1, SECONDS, speed))).expect("a temporary file");
    let flows = flows(ISLAND, Layout::Islands).into_iter();
    let flows = flows.map(|(from, to, start)| format!("{{{from} {to} {}}}", start as f64 / 1000.0));
    let arguments = [
        script.to_owned(),
        "1".to_owned(),
        SECONDS.to_string(),
        movement.display().to_string(),
        ISLAND.to_string(),
        SIDE.to_string(),
        SIDE.to_string(),
        flows.collect::<Vec<_>>().join(" "),
    ];
    let theirs = || {
        let (seconds, output) = pairs::process(Command::new("ns").args(&arguments))?;
        // "flow PACKETS TIMEOUTS" for each flow.
        let packets = output.lines().filter_map(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
        Ok(pairs::Cost { seconds, work: packets.sum() })
    };
    let pairs = Pairs::take(count, theirs, || {
        let (run, seconds) = timed(&network(ISLAND, SECONDS, speed, Layout::Islands));
        let delivered = (0..run.flows.len()).filter_map(|row| run.flows.number("delivered_bytes", row));
        pairs::Cost { seconds, work: delivered.sum::<f64>() / 1000.0 }
    });
    // It is a temporary file: a failure to remove it harms nothing.
    let _ = std::fs::remove_file(&movement);
    match pairs {
        Ok(pairs) => println!(
            "\nns-2, the same 25 nodes at {speed} m/s, whole process: {} s of CPU, {} s here; {:.2} times our packets\n\
             ns-2 / engine, {count} pairs, median (least to most): {}, per packet {}",
            pairs.theirs(),
            pairs.ours(),
            pairs.work().median,
            pairs.whole(),
            pairs.for_work(0.0)
        ),
        Err(reason) => println!("\nns-2 left out, {reason}"),
    }
}

/// Walks as a file of setdest.
fn setdest(mobility: &Mobility) -> String {
    let mut text = String::new();
    for (node, trajectory) in mobility.trajectories().iter().enumerate() {
        let vertices = trajectory.vertices();
        for axis in [("X_", vertices[0].position.x), ("Y_", vertices[0].position.y), ("Z_", 0.0)] {
            let _ = writeln!(text, "$node_({node}) set {} {:.9}", axis.0, axis.1);
        }
        for leg in vertices.windows(2) {
            let (start, end) = (leg[0].time.as_secs_f64(), leg[1].time.as_secs_f64());
            let (from, to) = (leg[0].position, leg[1].position);
            let length = (to.x - from.x).hypot(to.y - from.y);
            if length > 0.0 {
                let speed = length / (end - start);
                let _ = writeln!(
                    text,
                    "$ns_ at {start:.9} \"$node_({node}) setdest {:.9} {:.9} {speed:.9}\"",
                    to.x, to.y
                );
            }
        }
    }
    text
}

fn measure(nodes: u64, seconds: f64, speed: f64, layout: Layout) -> Cost {
    let (run, spent) = timed(&network(nodes, seconds, speed, layout));
    let frames = column(&run, "frames").iter().sum::<f64>();
    let floods = column(&run, "routing_sent").iter().sum::<f64>() / frames;
    Cost { frames, nanos: spent * 1e9 / frames, hear: reached(&run), floods, digest: run.digest }
}

/// A run, and its processor time in seconds.
fn timed(experiment: &Experiment) -> (Run, f64) {
    let options = RunOptions { trace: TraceLevel::None, ..RunOptions::default() };
    let start = processor_seconds();
    let result = run(experiment, &options);
    let spent = processor_seconds() - start;
    (result.expect("the benchmark's scenario runs"), spent)
}

/// From, to and start of each flow, milliseconds.
fn flows(nodes: u64, layout: Layout) -> Vec<(u64, u64, u64)> {
    let mut draw = RandomStream::new(1, "bench", nodes);
    let flow = |flow| {
        // Within an island, eight in each; else anywhere.
        let (base, among) = match layout {
            Layout::Area => (0, nodes),
            Layout::Islands => (flow / 8 * ISLAND, ISLAND),
        };
        let from = draw.below(among);
        let to = base + (from + 1 + draw.below(among - 1)) % among;
        (base + from, to, 100 + draw.below(1000))
    };
    (0..nodes * 8 / ISLAND).map(flow).collect()
}

fn network(nodes: u64, seconds: f64, speed: f64, layout: Layout) -> Experiment {
    let side = SIDE * (nodes as f64 / ISLAND as f64).sqrt();
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
    for (flow, (from, to, start)) in flows(nodes, layout).into_iter().enumerate() {
        text += &format!(
            "[[flow]]\nname = \"f{flow}\"\nfrom = \"n{from}\"\nto = \"n{to}\"\ntransport = \"newreno\"\nstart = \"{start} ms\"\n"
        );
    }
    let mut experiment = match Scenario::parse(&text, "bench").and_then(|scenario| scenario.resolve()) {
        Ok(experiment) => experiment,
        Err(error) => panic!("the benchmark's scenario: {error}"),
    };
    if let (Layout::Islands, Some(spec)) = (layout, &mut experiment.adhoc) {
        spec.motion = Motion::Given(Arc::new(islands(nodes / ISLAND, seconds, speed)));
    }
    experiment
}

/// Islands in rows, each with nodes of its own.
fn islands(count: u64, seconds: f64, speed: f64) -> Mobility {
    let columns = (count as f64).sqrt().ceil() as u64;
    let span = Duration::from_nanos((seconds * 1e9) as u64);
    let waypoint = RandomWaypoint {
        area: Area::new(SIDE, SIDE),
        min_speed: speed / 1.6,
        max_speed: speed,
        min_pause: Duration::from_secs(3),
        max_pause: Duration::from_secs(3),
        start: Start::Stationary,
    };
    let mut trajectories = Vec::new();
    for island in 0..count {
        let (east, north) = ((island % columns) as f64 * APART, (island / columns) as f64 * APART);
        let shifted = |at: Position| Position::new(at.x + east, at.y + north);
        if speed == 0.0 {
            let mut draw = RandomStream::new(1, "bench/island", island);
            let mut place = || Position::new(draw.uniform_in(0.0, SIDE), draw.uniform_in(0.0, SIDE));
            trajectories.extend((0..ISLAND).map(|_| Trajectory::still(shifted(place()))));
            continue;
        }
        let walks = waypoint.generate(ISLAND as usize, span, 1 + island).expect("a random waypoint");
        for trajectory in walks.trajectories() {
            let corners = trajectory.vertices().iter();
            let corners = corners.map(|vertex| Vertex { position: shifted(vertex.position), ..*vertex });
            trajectories.push(Trajectory::new(corners.collect()).expect("corners in the order of time"));
        }
    }
    Mobility::new(trajectories)
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
