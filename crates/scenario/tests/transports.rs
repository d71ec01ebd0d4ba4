//! Transports that are not TCP, as scenarios write them.

use cogtcp_scenario::{Experiment, Protocol, Scenario, ScenarioError, Transport, all_transports};

fn text(transport: &str, more: &str) -> String {
    format!(
        r#"
name = "transports"
run = {{ duration = "10 s" }}
tcp = {{ segment_size = "500 B" }}
[topology.single_hop]
link = {{ rate = "1 Mbit/s", delay = "5 ms", queue = "9 packets" }}
[[flow]]
from = "sender"
to = "receiver"
transport = {transport}
{more}
"#
    )
}

fn read(transport: &str, more: &str) -> Result<Experiment, ScenarioError> {
    Scenario::parse(&text(transport, more), "transports.toml")?.resolve()
}

/// The data in a packet of the first flow.
fn segment_size(experiment: &Experiment) -> u32 {
    experiment.flows[0].segment_size()
}

/// A transport has TCP's segment size unless its own settings name one.
#[test]
fn a_name_has_defaults_and_a_table_has_settings() {
    let named = read("\"tfrc\"", "").unwrap();
    assert!(matches!(named.flows[0].protocol, Protocol::Other(..)), "{:?}", named.flows[0]);
    assert_eq!((named.flows[0].transport.as_str(), segment_size(&named)), ("tfrc", 500));
    let set = read("{ tfrc = { segment_size = \"1200 B\", history_discounting = false } }", "").unwrap();
    assert_eq!((set.flows[0].transport.as_str(), segment_size(&set)), ("tfrc", 1200));
    assert!(!set.is_random(), "TFRC draws nothing");
}

#[test]
fn what_is_written_is_read_again() {
    for transport in ["\"tfrc\"", "{ tfrc = { segment_size = \"1200 B\" } }", "\"newreno\""] {
        let scenario = Scenario::parse(&text(transport, ""), "transports.toml").unwrap();
        assert_eq!(Scenario::parse(&scenario.to_toml(), "again").unwrap(), scenario);
        assert_eq!(Scenario::from_json(&scenario.to_json(), "again").unwrap(), scenario);
    }
}

/// A comparison keeps the settings of a transport that is the same, and else takes the defaults.
#[test]
fn a_comparison_keeps_settings() {
    let own = "{ tfrc = { segment_size = \"1200 B\" } }";
    let scenario = Scenario::parse(&text(own, ""), "transports.toml").unwrap();
    let size = |name: &str| segment_size(&scenario.with_transport(name).unwrap().resolve().unwrap());
    assert_eq!((size("tfrc"), size("newreno")), (1200, 500));
    let newreno = scenario.with_transport("newreno").unwrap();
    assert_eq!(newreno.flow[0].transport, Transport::Named("newreno".to_owned()));
}

/// The smallest and the largest segment that an IPv4 packet can carry.
#[test]
fn segments_at_their_bounds_are_read() {
    for (size, bytes) in [("1 B", 1), ("65482 B", 65_482)] {
        for transport in ["tfrc", "tfrc-cr"] {
            let settings = format!("{{ {transport} = {{ segment_size = \"{size}\" }} }}");
            assert_eq!(segment_size(&read(&settings, "").unwrap()), bytes, "{settings}");
        }
    }
}

#[test]
fn what_is_wrong_is_said_where_it_is() {
    for (transport, more, field, words) in [
        ("\"tfrk\"", "", "transport", "\"tfrc\""),
        ("{ tfrc = { segment_size = \"0 B\" } }", "", "transport.tfrc.segment_size", "out of range"),
        ("{ tfrc = { segment_size = \"65483 B\" } }", "", "transport.tfrc.segment_size", "65482 B"),
        ("{ tfrc = { segmentsize = \"9 B\" } }", "", "segmentsize", "segment_size"),
        ("\"tfrc\"", "tcp = { recovery = \"sack\" }", "flow.0.tcp", "settings of TCP"),
        ("\"tfrc\"", "traffic = { size = \"1 MB\" }", "traffic.size", "does not retransmit lost data"),
        (
            "\"tfrc\"",
            "traffic = { video = { rate = \"1 Mbit/s\" } }",
            "traffic.video",
            "does not retransmit lost data",
        ),
    ] {
        let error = read(transport, more).unwrap_err().to_string();
        assert!(error.contains(field) && error.contains(words), "{transport} {more}\n{error}");
    }
}

#[test]
fn all_transports_can_be_named() {
    let all = all_transports();
    assert!(all.iter().any(|(name, _)| *name == "tfrc") && all.iter().any(|(name, _)| *name == "cubic"));
    for (name, summary) in all {
        assert!(read(&format!("\"{name}\""), "").is_ok() && !summary.is_empty(), "{name}");
    }
}
