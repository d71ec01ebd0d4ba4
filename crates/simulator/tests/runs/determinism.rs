//! The same experiment and seed give the same bytes; what is random is keyed by its own name.

use crate::support::*;
use cogtcp_scenario::{STARTERS, Scenario, starter};
use cogtcp_simulator::{RunOptions, TraceLevel, run};

fn scenario(transport: &str) -> String {
    format!(
        r#"
name = "determinism"
[run]
duration = "60 s"
seed = 7
[topology.dumbbell]
pairs = 3
access = {{ rate = "100 Mbit/s", delay = "5 ms", queue = "1000 packets" }}
bottleneck = {{ rate = "5 Mbit/s", delay = "20 ms", queue = "40 packets", loss = "0.5 %" }}
[[radio]]
name = "radio"
links = ["bottleneck"]
sensing = {{ off = {{ exponential = "200 ms" }}, on = "2 s" }}
pu = {{ interarrival = "6 s", switching = "100 ms" }}
channel = {{ range = ["2 Mbit/s", "8 Mbit/s"] }}
[[flow]]
count = 3
from = "s*"
to = "d*"
transport = "{transport}"
stagger = "1 s"
"#
    )
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let (first, second) = (run_traced(&scenario("sack")), run_traced(&scenario("sack")));
    // Debug output prints floats exactly, and compares not-a-number with itself.
    assert_eq!(format!("{first:?}"), format!("{second:?}"));
}

#[test]
fn tracing_does_not_change_the_run() {
    let experiment = experiment(&scenario("newreno"));
    let runs: Vec<_> = [TraceLevel::None, TraceLevel::Series, TraceLevel::Full, TraceLevel::Packets]
        .into_iter()
        .map(|trace| run(&experiment, &RunOptions { trace, ..RunOptions::default() }).unwrap())
        .collect();
    for traced in &runs[1..] {
        assert_eq!((traced.digest, traced.engine_events), (runs[0].digest, runs[0].engine_events));
        assert_eq!(
            format!("{:?} {:?}", traced.flows, traced.links),
            format!("{:?} {:?}", runs[0].flows, runs[0].links)
        );
    }
    // Each packet that arrives at its host is an event.
    let arrived: f64 = column(&runs[0].flows, "sent_segments").iter().sum::<f64>()
        - column(&runs[0].flows, "drops").iter().sum::<f64>();
    assert!(runs[0].engine_events as f64 >= arrived - 100.0, "{}", runs[0].engine_events);
    assert!(runs[0].flow_series.is_empty() && runs[0].events.is_empty());
    assert!(!runs[1].flow_series.is_empty() && runs[1].events.is_empty());
    assert!(!runs[2].link_series.is_empty() && !runs[2].events.is_empty() && runs[2].packets.is_empty());
    assert_eq!(format!("{:?}", runs[3].events), format!("{:?}", runs[2].events));
    assert!(!runs[3].packets.is_empty());
}

#[test]
fn another_seed_gives_another_run() {
    let experiment = experiment(&scenario("sack"));
    let digest =
        |seed| run(&experiment, &RunOptions { seed: Some(seed), ..RunOptions::default() }).unwrap().digest;
    assert_eq!(digest(7), run(&experiment, &RunOptions::default()).unwrap().digest);
    assert_ne!(digest(7), digest(8));
}

/// Common random numbers: what the radio meets does not depend on the transport.
#[test]
fn the_transport_moves_no_primary_user() {
    let runs = ["tahoe", "newreno", "sack"].map(|transport| run_traced(&scenario(transport)));
    for kind in ["pu_arrival", "sensing_start", "handoff"] {
        let times = event_times(&runs[0], kind);
        assert!(times.len() > 3, "{kind}: {times:?}");
        for other in &runs[1..] {
            assert_eq!(event_times(other, kind), times, "{kind}");
        }
    }
    assert_ne!(runs[0].digest, runs[1].digest);
}

/// A link's losses depend on its name alone: a second, idle pair changes nothing for the first flow.
#[test]
fn an_unused_link_changes_nothing() {
    let text = |pairs: u32| {
        format!(
            r#"
name = "pairs"
[run]
duration = "30 s"
[topology.dumbbell]
pairs = {pairs}
access = {{ rate = "100 Mbit/s", delay = "5 ms", queue = "1000 packets" }}
bottleneck = {{ rate = "5 Mbit/s", delay = "20 ms", queue = "40 packets", loss = "0.5 %" }}
[[flow]]
from = "s1"
to = "d1"
transport = "sack"
"#
        )
    };
    let (one, three) = (run_text(&text(1)), run_text(&text(3)));
    assert_eq!(format!("{:?}", one.flows), format!("{:?}", three.flows));
}

/// What is said to be left to chance is, and what is not is not: of everything shipped.
#[test]
fn seeds_differ_where_something_is_random() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let shipped = files.filter(|path| path.extension().is_some_and(|it| it == "toml"));
    let mut scenarios: Vec<Scenario> = shipped.map(|path| Scenario::read(&path).unwrap()).collect();
    scenarios
        .extend(STARTERS.iter().map(|(kind, _)| Scenario::parse(&starter(kind).unwrap(), kind).unwrap()));
    let mut seen = [0, 0];
    for scenario in scenarios {
        let short = scenario.set("run.duration", "45 s").unwrap().resolve().unwrap();
        let digest =
            |seed| run(&short, &RunOptions { seed: Some(seed), ..RunOptions::default() }).unwrap().digest;
        let first = digest(1);
        let differ = (2..6).any(|seed| digest(seed) != first);
        // In 45 s not everything random needs to happen.
        assert!(short.is_random() || !differ, "{}", scenario.name);
        seen[usize::from(short.is_random())] += usize::from(short.is_random() == differ);
    }
    assert!(seen[0] >= 1 && seen[1] >= 5, "{seen:?}");
}
