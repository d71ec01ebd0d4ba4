//! Forwarding node by node, by tables, against ways that were read off them once.

use crate::support::*;
use cogtcp_records::Run;
use cogtcp_simulator::{RunOptions, TraceLevel, run};

fn by_tables(text: &str) -> Run {
    let options = RunOptions { trace: TraceLevel::Packets, forward_by_tables: true, ..RunOptions::default() };
    run(&experiment(text), &options).unwrap()
}

fn resolved(text: &str) -> Run {
    run(&experiment(text), &RunOptions { trace: TraceLevel::Packets, ..RunOptions::default() }).unwrap()
}

/// Flows both ways over a graph with two ways of one length, and messages of a train: the same run to the last packet.
#[test]
fn tables_lead_where_resolved_ways_lead() {
    let link = |from: &str, to: &str| {
        format!(
            "{{ from = \"{from}\", to = \"{to}\", rate = \"2 Mbit/s\", delay = \"5 ms\", queue = \"20 packets\" }}"
        )
    };
    let links =
        [link("a", "x"), link("a", "y"), link("x", "z"), link("y", "z"), link("z", "b"), link("x", "c")];
    let graph = format!(
        r#"
name = "graph"
run = {{ duration = "10 s" }}
[topology.graph]
nodes = ["a", "x", "y", "z", "b", "c"]
links = [{}]
[[flow]]
from = "a"
to = "b"
transport = "sack"
[[flow]]
from = "b"
to = "c"
transport = "reno"
[[flow]]
from = "c"
to = "y"
transport = "newreno"
"#,
        links.join(", ")
    );
    let train = include_str!("../../../../scenarios/train.toml").replace("200 s", "30 s");
    for text in [graph, train] {
        let (tables, once) = (by_tables(&text), resolved(&text));
        assert!(tables.packet_hops > 1000);
        assert_eq!(format!("{tables:?}"), format!("{once:?}"));
    }
}

/// A chain of 70 links: a packet that is forwarded by tables is dropped at its 64th hop, and each is accounted for.
#[test]
fn a_time_to_live_ends() {
    let text = r#"
name = "chain"
run = { duration = "20 s" }
[topology.chain]
hops = 70
link = { rate = "10 Mbit/s", delay = "1 ms" }
[[flow]]
from = "n0"
to = "n70"
transport = "reno"
"#;
    let run = by_tables(text);
    assert_eq!(first(&run.flows, "delivered_bytes"), 0.0);
    let died: Vec<_> = (0..run.events.len())
        .filter(|row| run.events.text("detail", *row) == Some("expired"))
        .map(|row| run.events.text("entity", row).unwrap().to_owned())
        .collect();
    assert!(died.len() > 3 && died.iter().all(|link| link == "hop64"), "{died:?}");
}
