//! Connections by hand. 10 Mbit/s and 40 ms: a 1000-byte segment (1040 on the wire) takes 832 us to transmit,
//! a pure acknowledgement (40 bytes) 32 us, a SYN or SYN-ACK with MSS and window scale (4 bytes each) 38.4
//! us.

use crate::support::*;

const DATA: f64 = 832e-6;
const ACK: f64 = 32e-6;
const SYN: f64 = 38.4e-6;
const DELAY: f64 = 40e-3;

fn transfer(segments: u64, initial_window: u64) -> f64 {
    let link = r#"rate = "10 Mbit/s", delay = "40 ms", queue = "1000 packets""#;
    let rest = format!("initial_window = \"{initial_window} segments\"\nmax_window = \"1000 segments\"");
    let text = single_hop("20 s", "0 s", "newreno", link, &rest);
    let run = run_text(&format!("{text}traffic = {{ size = \"{} B\" }}\n", segments * 1000));
    assert_eq!(first(&run.flows, "delivered_bytes"), 1000.0 * segments as f64);
    assert_eq!(first(&run.flows, "retransmitted_segments"), 0.0);
    first(&run.flows, "completion_s")
}

/// One segment: SYN, SYN-ACK, then the handshake's ACK just ahead of the data.
#[test]
fn one_segment() {
    let theory = 2.0 * (SYN + DELAY) + ACK + DATA + DELAY;
    let measured = transfer(1, 1);
    assert!((measured - theory).abs() < 1e-9, "{measured}, {theory}");
}

/// Slow start from 1 segment, every segment acknowledged: flights of 1, 2, 4, 8 segments, so 15 segments take
/// three more round trips (segment out, its ACK back), and the last flight's other seven segments follow the
/// first back to back.
#[test]
fn slow_start_doubles_every_round_trip() {
    let measured = transfer(15, 1) - transfer(1, 1);
    let round = DATA + DELAY + ACK + DELAY;
    // Flights of two and more leave as the ACKs of the previous flight arrive: pairs spaced by DATA. The last
    // segment of flight n is delivered (2^n - 1) transmissions after the first one of its flight.
    let theory = 3.0 * round + 7.0 * DATA;
    assert!((measured - theory).abs() < 1e-8, "{measured}, theory {theory}");
}

/// The same with an initial window of 10: ten segments back to back.
#[test]
fn the_initial_window_leaves_back_to_back() {
    let measured = transfer(10, 10) - transfer(1, 10);
    assert!((measured - 9.0 * DATA).abs() < 1e-8, "{measured}");
}

/// A window of 20 segments on an idle path: one window per round trip.
#[test]
fn the_window_cap_limits_goodput_to_window_over_rtt() {
    let link = r#"rate = "10 Mbit/s", delay = "40 ms", queue = "1000 packets""#;
    let run = run_text(&single_hop("60 s", "10 s", "newreno", link, "max_window = \"20 segments\""));
    let rtt = DATA + ACK + 2.0 * DELAY;
    assert_close(first(&run.flows, "goodput_bps"), 20.0 * 8000.0 / rtt, 0.003);
    assert_eq!(first(&run.flows, "rtt_min_s"), rtt);
    assert_eq!(first(&run.links, "drops_queue"), 0.0);
}

/// Over three hops of a chain every packet is stored and forwarded three times.
#[test]
fn a_chain_adds_up_its_hops() {
    let text = r#"
name = "chain"
[run]
duration = "5 s"
warmup = "1 s"
[tcp]
segment_size = "1000 B"
delayed_ack = "off"
max_window = "1 segment"
[topology.chain]
hops = 3
link = { rate = "10 Mbit/s", delay = "7 ms", queue = "10 packets" }
[[flow]]
from = "n0"
to = "n3"
transport = "newreno"
"#;
    let run = run_text(text);
    let rtt = 3.0 * (DATA + 7e-3 + ACK + 7e-3);
    assert!((first(&run.flows, "rtt_min_s") - rtt).abs() < 1e-9);
    assert!((first(&run.flows, "rtt_max_s") - rtt).abs() < 1e-9);
    assert_eq!(first(&run.flows, "queuing_delay_p99_s"), 0.0);
}

/// A second flow starts later and stops earlier; its row counts its own span.
#[test]
fn start_and_stop_bound_the_measured_span() {
    let text = r#"
name = "spans"
[run]
duration = "30 s"
warmup = "5 s"
[topology.dumbbell]
pairs = 2
access = { rate = "100 Mbit/s", delay = "5 ms", queue = "1000 packets" }
bottleneck = { rate = "10 Mbit/s", delay = "40 ms", queue = "100 packets" }
[[flow]]
from = "s1"
to = "d1"
transport = "newreno"
[[flow]]
from = "s2"
to = "d2"
transport = "newreno"
start = "10 s"
stop = "22 s"
"#;
    let run = run_traced(text);
    assert_eq!(column(&run.flows, "measured_s"), [25.0, 12.0]);
    assert_eq!(
        (event_times(&run, "flow_start"), event_times(&run, "flow_stop")),
        (vec![0.0, 10.0], vec![22.0])
    );
    let closed = event_times(&run, "closed");
    assert!(closed.len() <= 1 && closed.iter().all(|time| *time > 22.0), "{closed:?}");
    let mut last = (0..run.flow_series.len())
        .filter(|row| run.flow_series.text("flow", *row) == Some("f2"))
        .map(|row| run.flow_series.number("goodput_bps", row).unwrap());
    assert_eq!(last.next_back(), Some(0.0), "nothing is delivered long after the stop");
}

/// A rate-limited application is delivered at its rate when the link has room.
#[test]
fn a_rate_limited_application_gets_its_rate() {
    let link = r#"rate = "10 Mbit/s", delay = "10 ms", queue = "100 packets""#;
    let text = single_hop("100 s", "10 s", "newreno", link, "");
    let run = run_text(&format!("{text}traffic = {{ rate = \"1 Mbit/s\" }}\n"));
    assert_close(first(&run.flows, "goodput_bps"), 1e6, 0.001);
    assert_close(first(&run.links, "utilisation"), 0.104, 0.01);
}
