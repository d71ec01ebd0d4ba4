//! What a run costs: tables of time per packet hop and of memory per flow. Nothing here passes or fails.
//!
//! Times are the least of several repetitions, in the engine (setup and report included, process start and scenario
//! parsing not). Costs per hop are computed from CPU time where the system tells it (Linux), so that a busy machine
//! disturbs them less.
//!
//! The same dumbbell then follows in pairs with other simulators, as whole processes: ns-2, where `ns` is on the PATH, and
//! htsim, where `benches/htsim.sh` has built `htsim-dumbbell` (`HTSIM_DUMBBELL`, or on the PATH). Last comes the process
//! `.venv/bin/cogtcp run sensed-link` beside ns-2's.

#![allow(clippy::disallowed_types, reason = "a benchmark measures wall time")]
#![allow(unsafe_code, reason = "for a counting allocator, and the processor time of child processes")]

#[path = "allocations.rs"]
mod allocations;
#[path = "pairs.rs"]
mod pairs;
#[path = "used.rs"]
mod used;

use cogtcp_records::Run;
use cogtcp_scenario::{Experiment, Scenario};
use cogtcp_simulator::{RunOptions, TraceLevel, run};
use pairs::{Cost, Pairs};
use std::process::Command;
use std::time::Instant;

fn main() {
    // `cargo bench` adds "--bench".
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let quick = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => false,
        ["--quick"] => true,
        ["--memory"] => return memory(),
        ["--beside"] => return beside(false),
        // One experiment and no table, for a profiler and for comparisons of two builds.
        ["--profile"] => return profile("2", "200", "20"),
        ["--profile-many"] => return profile("2000", "2", "1"),
        ["--profile", flows, seconds, repetitions] => return profile(flows, seconds, repetitions),
        ["--profile-radio"] => return cognitive_radio(1),
        ["--used"] => return used::table(9),
        ["--digests"] => return used::digests(),
        ["--profile-used", scenario, transport, seconds] => {
            return used::profile(scenario, transport, seconds);
        }
        _ => {
            eprintln!(
                "usage: engine [--quick | --memory | --beside | --used | --digests | --profile | --profile-many | \
                 --profile FLOWS SECONDS REPETITIONS | --profile-radio | --profile-used SCENARIO TRANSPORT SECONDS]"
            );
            std::process::exit(2);
        }
    };
    let repetitions = if quick { 3 } else { 9 };
    single_run(repetitions);
    scaling(if quick { 1 } else { 3 });
    memory();
    cognitive_radio(repetitions);
    used::table(repetitions);
    beside(quick);
}

/// `flows` saturated NewReno flows over a dumbbell whose bottleneck has 5 Mbit/s and 50 packets of queue for each.
fn dumbbell(flows: u64, duration: &str, tcp: &str) -> Experiment {
    let (rate, queue, stagger) = (5 * flows, 50 * flows, if flows > 2 { 1_000_000 / flows } else { 0 });
    let text = format!(
        r#"
name = "dumbbell"
[run]
duration = "{duration}"
sample_interval = "100 ms"
[tcp]
segment_size = "1000 B"
initial_window = "10 segments"
min_rto = "1 s"
delayed_ack = "off"
receive_buffer = "64 MB"
newreno_variant = "slow_but_steady"
{tcp}
[topology.dumbbell]
pairs = {flows}
access = {{ rate = "100 Mbit/s", delay = "5 ms", queue = "1000 packets" }}
bottleneck = {{ rate = "{rate} Mbit/s", delay = "40 ms", queue = "{queue} packets" }}
[[flow]]
count = {flows}
from = "s*"
to = "d*"
transport = "newreno"
stagger = "{stagger} us"
"#
    );
    match Scenario::parse(&text, "bench").and_then(|scenario| scenario.resolve()) {
        Ok(experiment) => experiment,
        Err(error) => panic!("the benchmark's scenario: {error}"),
    }
}

/// A NewReno flow over one link between two CR users, which sense, contend and answer frames (`[radio.cr]`).
fn cognitive_radio(repetitions: u32) {
    let text = r#"
name = "radio"
[run]
duration = "600 s"
[tcp]
segment_size = "1000 B"
delayed_ack = "off"
max_window = "20 segments"
[topology.single_hop]
link = { rate = "1 Mbit/s", delay = "1 us", queue = "50 packets" }
[spectrum]
bands = 5
channels_per_band = 1
channels = { uniform = "1 Mbit/s" }
pu = { exponential = { alpha = 0.5, beta = 0.5 } }
[[radio]]
name = "cr"
links = ["link"]
[radio.cr]
sensing_time = "200 ms"
transmission_time = "1 s"
switching_delay = "1 ms"
detector = { map = { snr = "-20 dB", bandwidth = "1 MHz" } }
policy = "round_robin"
[[flow]]
from = "sender"
to = "receiver"
transport = "newreno"
"#;
    let experiment = match Scenario::parse(text, "bench").and_then(|scenario| scenario.resolve()) {
        Ok(experiment) => experiment,
        Err(error) => panic!("the benchmark's scenario: {error}"),
    };
    let (_, cpu, run) = time(&experiment, TraceLevel::None, repetitions);
    // Each packet over the link is an exchange, or several.
    let (per_packet, packets) = (cpu * 1e9 / run.packet_hops as f64, run.packet_hops);
    println!("\nTwo CR users, 600 s: {per_packet:.0} ns a packet, {packets} packets");
}

/// Least wall time and least CPU time of `repetitions` runs in seconds, and the last run.
fn time(experiment: &Experiment, trace: TraceLevel, repetitions: u32) -> (f64, f64, Run) {
    let (mut wall, mut cpu) = (f64::INFINITY, f64::INFINITY);
    let mut last = None;
    for _ in 0..repetitions {
        let (start, cpu_start) = (Instant::now(), cpu_seconds());
        let result = run(experiment, &RunOptions { trace, ..RunOptions::default() });
        wall = wall.min(start.elapsed().as_secs_f64());
        cpu = cpu.min(cpu_seconds().zip(cpu_start).map_or(wall, |(end, start)| end - start));
        last = result.ok();
    }
    (wall, cpu, last.expect("the benchmark's scenario runs"))
}

/// CPU time of this thread so far, as Linux tells it.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

fn single_run(repetitions: u32) {
    println!("Dumbbell, 2 NewReno flows, 200 s simulated (least of {repetitions})");
    println!("trace                wall s      cpu s   ns per hop     events/s       hops    ratio");
    let experiment = dumbbell(2, "200 s", "");
    let mut base = 0.0;
    for (name, trace) in
        [("none", TraceLevel::None), ("series", TraceLevel::Series), ("series + events", TraceLevel::Full)]
    {
        let (wall, cpu, run) = time(&experiment, trace, repetitions);
        if trace == TraceLevel::None {
            base = cpu;
        }
        let (per_hop, rate) = (cpu * 1e9 / run.packet_hops as f64, run.engine_events as f64 / cpu);
        let (hops, ratio) = (run.packet_hops, cpu / base);
        println!("{name:<16} {wall:>10.4} {cpu:>10.4} {per_hop:>12.1} {rate:>12.3e} {hops:>10} {ratio:>8.2}");
        if trace == TraceLevel::Full {
            let goodput = |row| run.flows.number("goodput_bps", row).unwrap_or(f64::NAN) / 1e6;
            println!("goodput {:.3} + {:.3} Mbit/s, digest {:016x}", goodput(0), goodput(1), run.digest);
        }
    }
}

fn scaling(repetitions: u32) {
    println!("\nFlows, bottleneck scaled with them (least of {repetitions})");
    println!("flows     simulated     wall s      cpu s       hops   ns per hop    ratio");
    let mut base = 0.0;
    for (flows, duration) in [(2, "200 s"), (20, "60 s"), (200, "20 s"), (2000, "6 s")] {
        let (wall, cpu, run) = time(&dumbbell(flows, duration, ""), TraceLevel::None, repetitions);
        let per_hop = cpu * 1e9 / run.packet_hops as f64;
        if flows == 2 {
            base = per_hop;
        }
        let (hops, ratio) = (run.packet_hops, per_hop / base);
        println!(
            "{flows:<8} {duration:>10} {wall:>10.3} {cpu:>10.3} {hops:>10} {per_hop:>12.1} {ratio:>8.2}"
        );
    }
}

fn memory() {
    println!("\nMemory");
    // A window of two segments: what is left is the flow itself. On one link, then with its own access links.
    for (what, own_links) in [("on a shared link", false), ("with its own 4 access link directions", true)] {
        let peak = |flows| {
            let tcp = "max_window = \"2 segments\"";
            let mut experiment = dumbbell(flows, "5 s", tcp);
            if !own_links {
                let (from, to) = (experiment.flows[0].from, experiment.flows[0].to);
                experiment.flows.iter_mut().for_each(|flow| (flow.from, flow.to) = (from, to));
                experiment.network.links.retain(|link| {
                    [&link.from, &link.to].iter().all(|node| ends_of(&experiment.network.nodes, **node))
                });
            }
            allocations::peak(|| run(&experiment, &RunOptions::default()))
        };
        let (few, many) = (peak(1000), peak(2000));
        println!("per flow with a window of 2 segments, {what}: {} B", (many - few) / 1000);
    }
    let allocations = |duration| {
        let experiment = dumbbell(2, duration, "");
        let before = allocations::count();
        let hops = run(&experiment, &RunOptions::default()).map_or(0, |run| run.packet_hops);
        (allocations::count() - before, hops)
    };
    let (short, long) = (allocations("100 s"), allocations("200 s"));
    println!(
        "allocations from 100 s to 200 s of the dumbbell: {} in {} hops",
        long.0 - short.0,
        long.1 - short.1
    );
}

/// Whether a node is a router or an end of the first flow.
fn ends_of(nodes: &[String], node: usize) -> bool {
    ["s1", "d1", "r1", "r2"].contains(&nodes[node].as_str())
}

/// Runs the dumbbell, and the process of a scenario, in turn with other simulators.
fn beside(quick: bool) {
    let ns2 = |flows: u64, seconds: f64| {
        let mut command = Command::new("ns");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/ns2-dumbbell.tcl");
        command.arg(script).args([flows.to_string(), seconds.to_string()]);
        command
    };
    let htsim = |flows: u64, seconds: f64| {
        let mut command =
            Command::new(std::env::var_os("HTSIM_DUMBBELL").unwrap_or_else(|| "htsim-dumbbell".into()));
        command.args([flows.to_string(), seconds.to_string()]);
        command
    };
    println!(
        "\nDumbbell in other simulators, whole process / engine: processor time in pairs, median (least to most){}",
        if quick { "; 2,000 flows without --quick only" } else { "" }
    );
    println!(
        "        flows  simulated  pairs  process, s                 start, s  hops  ratio                   per hop, without start"
    );
    dumbbells("ns-2", "", quick, ns2);
    dumbbells("htsim", " (benches/htsim.sh builds it)", quick, htsim);
    process_of_a_run(if quick { 3 } else { 9 }, || pairs::process(&mut ns2(2, 200.0)));
}

/// Prints pairs of another simulator's dumbbell and ours.
fn dumbbells(name: &str, hint: &str, quick: bool, command: impl Fn(u64, f64) -> Command) {
    let run_theirs = |flows, seconds| {
        let (seconds, output) = pairs::process(&mut command(flows, seconds))?;
        let work = output.trim().parse().map_err(|_| format!("unexpected output: {output}"))?;
        Ok(Cost { seconds, work })
    };
    let sizes: &[(u64, f64, u32)] = match quick {
        true => &[(2, 200.0, 3), (20, 20.0, 3), (200, 3.0, 3)],
        // ns-2 takes 10 s to set up 2,000 flows.
        false => &[(2, 200.0, 9), (20, 60.0, 5), (200, 10.0, 5), (2000, 3.0, 3)],
    };
    for &(flows, seconds, count) in sizes {
        let experiment = dumbbell(flows, &format!("{seconds} s"), "");
        let ours = || {
            let (_, cpu, run) = time(&experiment, TraceLevel::None, 1);
            Cost { seconds: cpu, work: run.packet_hops as f64 }
        };
        // Without a simulation: what the process and its network take to start, the least of two.
        let start = || run_theirs(flows, 1e-6).map(|cost| cost.seconds);
        let result = start().and_then(|first| {
            let start = first.min(start()?);
            Ok((start, Pairs::take(count, || run_theirs(flows, seconds), ours)?))
        });
        match result {
            Ok((start, pairs)) => println!(
                "{name:<7} {flows:<6} {seconds:>7} s {count:>6}  {:<26.3}{start:>9.2} {:>5.2}  {:<23} {}",
                pairs.theirs(),
                pairs.work().median,
                pairs.whole(),
                pairs.for_work(start)
            ),
            Err(reason) => return println!("{name:<7} left out, {reason}{hint}"),
        }
    }
}

/// Prints the processor time of the process `cogtcp run sensed-link`, in pairs with ns-2's dumbbell of 2 flows where ns-2 runs.
fn process_of_a_run(count: u32, mut ns2: impl FnMut() -> Result<(f64, String), String>) {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.venv/bin/cogtcp");
    if !std::path::Path::new(program).exists() {
        return println!("\nProcess `cogtcp run sensed-link`: left out, no .venv/bin/cogtcp (make setup)");
    }
    let out = std::env::temp_dir().join(format!("cogtcp-bench-{}", std::process::id()));
    let own = || {
        let mut command = Command::new(program);
        command.args(["run", "sensed-link", "--force", "--out"]).arg(&out);
        pairs::process(&mut command).map(|(seconds, _)| seconds)
    };
    // The first run stores Python's byte code.
    let first = own();
    let ns2_runs = ns2().is_ok();
    let pairs = first.and_then(|_| {
        let theirs = || Ok(Cost { seconds: if ns2_runs { ns2()?.0 } else { f64::NAN }, work: f64::NAN });
        Pairs::take(count, theirs, || Cost { seconds: own().unwrap_or(f64::NAN), work: f64::NAN })
    });
    // It is a temporary folder: a failure to remove it harms nothing.
    let _ = std::fs::remove_dir_all(&out);
    match pairs {
        Ok(pairs) if ns2_runs => println!(
            "\nProcess `cogtcp run sensed-link`: {} s; ns-2's dumbbell of 2 flows, 200 s: {} s; ns-2 / cogtcp {}",
            pairs.ours(),
            pairs.theirs(),
            pairs.whole()
        ),
        Ok(pairs) => println!("\nProcess `cogtcp run sensed-link`: {} s; no ns-2 beside it", pairs.ours()),
        Err(reason) => println!("\nProcess `cogtcp run sensed-link`: left out, {reason}"),
    }
}

/// The least cost of `repetitions` runs of one experiment.
fn profile(flows: &str, seconds: &str, repetitions: &str) {
    let (Ok(flows), Ok(repetitions)) = (flows.parse(), repetitions.parse()) else {
        eprintln!("write whole numbers of flows and of repetitions");
        std::process::exit(2);
    };
    let experiment = dumbbell(flows, &format!("{seconds} s"), "");
    let (_, cpu, run) = time(&experiment, TraceLevel::None, repetitions);
    println!("{:.2} ns per hop, {} hops", cpu * 1e9 / run.packet_hops as f64, run.packet_hops);
}
