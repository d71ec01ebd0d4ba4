//! The measurements against one another and against hand-computed cases.

use crate::support::*;

/// After the warm-up of a steady transfer, the counts are those of the measured span alone.
#[test]
fn warm_up_is_not_counted() {
    let link = r#"rate = "10 Mbit/s", delay = "40 ms", queue = "1000 packets""#;
    let run = run_text(&single_hop("40 s", "30 s", "newreno", link, "max_window = \"20 segments\""));
    let rtt = 832e-6 + 32e-6 + 80e-3;
    let windows = 10.0 / rtt;
    assert!((first(&run.flows, "sent_segments") - 20.0 * windows).abs() <= 20.0);
    assert!((first(&run.flows, "delivered_bytes") / 1000.0 - 20.0 * windows).abs() <= 20.0);
    assert_eq!(first(&run.flows, "measured_s"), 10.0);
    assert_eq!(first(&run.flows, "delivery_ratio"), 1.0);
}

/// A queue that was long in the warm-up only: its greatest length is of the measured time. 3 Mbit/s on a link of
/// 1 Mbit/s fill it up to 2 s; from 5 s on each packet comes alone.
#[test]
fn the_greatest_queue_is_of_the_measured_time() {
    let text = |warmup: &str| {
        let udp =
            |rest: &str| format!("[[udp]]\nfrom = \"sender\"\nto = \"receiver\"\nsize = \"972 B\"\n{rest}\n");
        format!(
            "name = \"queue\"\n[run]\nduration = \"10 s\"\nwarmup = \"{warmup}\"\n[topology.single_hop]\n\
             link = {{ rate = \"1 Mbit/s\", delay = \"5 ms\", queue = \"50 packets\" }}\n[[flow]]\n\
             from = \"sender\"\nto = \"receiver\"\ntransport = \"newreno\"\ntraffic = {{ size = \"1 kB\" }}\n{}{}",
            udp("pattern = { constant = \"3 Mbit/s\" }\nstop = \"2 s\""),
            udp("pattern = { constant = \"100 kbit/s\" }\nstart = \"1 s\""),
        )
    };
    let longest = |warmup: &str| first(&run_text(&text(warmup)).links, "queue_max_packets");
    assert_eq!(longest("0 s"), 50.0);
    assert!(longest("5 s") <= 1.0);
}

/// A window of 20 in a link direction of 10: ten packets wait, always. Queuing delay and mean queue follow
/// (Little).
#[test]
fn queuing_delay_and_mean_queue_agree() {
    // 1 Mbit/s: a segment takes 8.32 ms, an ACK 0.32 ms; 37.28 ms each way: a round trip is 10 segment times.
    let link = r#"rate = "1 Mbit/s", delay = "37.28 ms", queue = "1000 packets""#;
    let run = run_text(&single_hop("120 s", "20 s", "newreno", link, "max_window = \"20 segments\""));
    assert_close(first(&run.flows, "rtt_mean_s"), 20.0 * 8.32e-3, 0.001);
    assert_close(first(&run.flows, "queuing_delay_mean_s"), 10.0 * 8.32e-3, 0.001);
    assert_close(first(&run.flows, "queuing_delay_p50_s"), 10.0 * 8.32e-3, 0.02);
    assert_close(first(&run.links, "queue_mean_packets"), 10.0, 0.01);
}

/// Delivery ratio and drops of a lossy link agree with the link's own count.
#[test]
fn the_delivery_ratio_is_the_links() {
    let link =
        r#"rate = "5 Mbit/s", delay = "10 ms", queue = "500 packets", loss = "3 %", reverse_loss = "0 %""#;
    let run = run_text(&single_hop("300 s", "0 s", "sack", link, ""));
    let (lost, offered) = (first(&run.links, "drops_loss"), first(&run.links, "offered_packets"));
    assert_eq!(first(&run.flows, "drops"), lost);
    assert_close(first(&run.flows, "delivery_ratio"), 1.0 - lost / offered, 0.001);
    assert_close(first(&run.flows, "delivery_ratio"), 0.97, 0.01);
    let retransmitted = first(&run.flows, "retransmitted_segments");
    assert!(retransmitted >= lost * 0.95, "{retransmitted} retransmitted, {lost} lost");
}

/// The series' goodput sums to what the summary says was delivered.
#[test]
fn series_and_summary_agree() {
    let link = r#"rate = "5 Mbit/s", delay = "10 ms", queue = "20 packets", loss = "0.2 %""#;
    let run = run_traced(&single_hop("30 s", "0 s", "newreno", link, ""));
    let sampled: f64 = column(&run.flow_series, "goodput_bps").iter().sum::<f64>() * 0.1 / 8.0;
    assert_close(sampled, first(&run.flows, "delivered_bytes"), 1e-9);
    let carried: f64 = (0..run.link_series.len())
        .filter(|row| run.link_series.text("direction", *row) == Some("forward"))
        .map(|row| run.link_series.number("throughput_bps", row).unwrap() * 0.1 / 8.0)
        .sum();
    assert_close(carried, first(&run.links, "carried_bytes"), 1e-9);
    let events = |kind| event_times(&run, kind).len() as f64;
    assert_eq!(events("rto"), first(extension(&run, "tcp_flows"), "rtos"));
    assert_eq!(events("fast_retransmit"), first(extension(&run, "tcp_flows"), "fast_retransmits"));
    assert_eq!(run.flow_series.len(), 300);
    assert_eq!(run.link_series.len(), 600);
}

/// A control shows its state at every sampling instant: here the bandwidth that its first packets met and the
/// least RTT.
#[test]
fn controls_show_their_state() {
    let link = r#"rate = "5 Mbit/s", delay = "50 ms", queue = "100 packets""#;
    let run = run_traced(&single_hop("10 s", "0 s", "c2", link, ""));
    let of = |variable: &str| -> Vec<f64> {
        (0..run.control_series.len())
            .filter(|row| run.control_series.text("variable", *row) == Some(variable))
            .map(|row| run.control_series.number("value", row).unwrap())
            .collect()
    };
    assert_eq!((of("n").len(), of("zone").len()), (100, 100));
    // 1000 of 1040 bytes are payload, and 100 ms the path's.
    assert_close(of("bandwidth_bps")[99], 5e6 / 1.04, 1e-3);
    assert_close(of("dp_s")[99], 0.1 + 1080.0 * 8.0 / 5e6, 1e-3);
    let silent = run_traced(&single_hop("1 s", "0 s", "newreno", link, ""));
    assert!(silent.control_series.is_empty(), "Reno has nothing to show");
}

/// Carried bytes count the frame on the air by its part. At 1040 B/s and without propagation: the link
/// carries the SYN, is idle for the SYN-ACK (48 bytes), carries an ACK and a segment (1 s), is idle for its
/// acknowledgement (40 bytes), and is within the second segment when the run ends.
#[test]
fn the_frame_on_the_air_counts_by_its_part() {
    let link = r#"rate = "8.32 kbit/s", delay = "0 ms", queue = "10 packets""#;
    let text = single_hop("1.6 s", "0 s", "newreno", link, "max_window = \"1 segment\"\nmin_rto = \"30 s\"");
    let carried = first(&run_text(&text).links, "carried_bytes");
    assert_close(carried, 1.6 * 1040.0 - 48.0 - 40.0, 1e-6);
}

/// What a link counted after a warm-up is what the whole run counted less what a run counted that ends there:
/// every count of the table of links.
#[test]
fn counts_of_links_are_differences() {
    let link = r#"rate = "5 Mbit/s", delay = "10 ms", queue = { red = { ecn = true } }, loss = "1 %""#;
    let text = |duration: &str, warmup: &str| {
        let radio = "[[radio]]\nname = \"r\"\nlinks = [\"link\"]\nsilence = \"drop\"\nsensing = { on = \"2 s\", off = \"50 ms\" }\n";
        single_hop(duration, warmup, "newreno", link, "ecn = true") + radio
    };
    // No event is due at just this time, at which the warm-up ends before all else and a run after all else.
    let cut = "7.0000123 s";
    let [whole, begun, rest] = [("20 s", "0 s"), (cut, "0 s"), ("20 s", cut)]
        .map(|(duration, warmup)| run_text(&text(duration, warmup)).links);
    for name in [
        "offered_packets",
        "delivered_packets",
        "drops_queue",
        "drops_loss",
        "drops_silence",
        "drops_early",
        "marked_packets",
        "silence_s",
        "carried_bytes",
        "capacity_bytes",
        "channel_bytes",
    ] {
        let [whole, begun, rest] = [&whole, &begun, &rest].map(|links| column(links, name));
        for (row, rest) in rest.iter().enumerate() {
            let difference = whole[row] - begun[row];
            assert!(
                (difference - rest).abs() < 1e-6 * whole[row].max(1.0),
                "{name}: {difference} and {rest}"
            );
        }
    }
    assert!(["drops_loss", "drops_silence", "marked_packets"].iter().all(|name| first(&begun, name) > 0.0));
}

/// The least round-trip time is that of data: a handshake, whose packets are short, is no sample. 100 kbit/s:
/// a segment of 1040 bytes takes 83.2 ms, an acknowledgement 3.2 ms, the distance 5 ms twice.
#[test]
fn a_handshake_is_no_sample_of_the_round_trip() {
    let link = r#"rate = "100 kbit/s", delay = "5 ms", queue = "50 packets""#;
    let run = run_text(&single_hop("20 s", "0 s", "newreno", link, ""));
    let least = first(&run.flows, "rtt_min_s");
    assert!((least - 0.0964).abs() < 1e-6, "{least}");
}

/// Queuing delay is that of data: not of the SYN, nor of the acknowledgement that ends the handshake, which
/// leaves just before the first segment and makes it wait 32 us at 10 Mbit/s. A segment of one byte is data.
#[test]
fn queuing_delay_is_that_of_data() {
    let link = r#"rate = "10 Mbit/s", delay = "40 ms", queue = "1000 packets""#;
    for size in ["1 B", "1000 B"] {
        let text =
            single_hop("2 s", "0 s", "newreno", link, "") + &format!("traffic = {{ size = \"{size}\" }}\n");
        let flows = run_text(&text).flows;
        assert_close(first(&flows, "queuing_delay_mean_s"), 32e-6, 1e-6);
    }
}

/// Queuing delay is that of the measured span: another flow fills the queue, and stops before the warm-up
/// ends.
#[test]
fn queuing_delay_of_the_warm_up_is_not_counted() {
    let text = r#"
name = "one-stops"
[run]
duration = "40 s"
warmup = "30 s"
[tcp]
segment_size = "1000 B"
delayed_ack = "off"
[topology.single_hop]
link = { rate = "1 Mbit/s", delay = "10 ms", queue = "50 packets" }
[[flow]]
from = "sender"
to = "receiver"
transport = "newreno"
tcp = { max_window = "1 segment" }
[[flow]]
from = "sender"
to = "receiver"
transport = "newreno"
stop = "15 s"
"#;
    let while_both = run_text(&text.replace("warmup = \"30 s\"", "warmup = \"1 s\"")).flows;
    // While both run, each of its segments waits for up to 0.4 s.
    assert!(first(&while_both, "queuing_delay_mean_s") > 0.002);
    assert_eq!(first(&run_text(text).flows, "queuing_delay_mean_s"), 0.0);
}

/// Two flows whose routes part: each link behind the fork carries the packets of its own flow, and the link
/// before it both.
#[test]
fn packets_go_by_the_links_of_their_own_flow() {
    let text = r#"
name = "fork"
[run]
duration = "10 s"
[tcp]
segment_size = "1000 B"
delayed_ack = "off"
[topology.graph]
nodes = ["a", "b", "c", "d"]
links = [
  { name = "ab", from = "a", to = "b", rate = "10 Mbit/s", delay = "5 ms" },
  { name = "bc", from = "b", to = "c", rate = "10 Mbit/s", delay = "5 ms" },
  { name = "bd", from = "b", to = "d", rate = "10 Mbit/s", delay = "5 ms" },
]
[[flow]]
from = "a"
to = "c"
transport = "newreno"
traffic = { size = "5 kB" }
[[flow]]
from = "a"
to = "d"
transport = "newreno"
traffic = { size = "20 kB" }
"#;
    let links = run_text(text).links;
    let carried: Vec<(String, f64)> = (0..links.len())
        .filter(|row| links.text("direction", *row) == Some("forward"))
        .map(|row| {
            (links.text("link", row).unwrap().to_owned(), links.number("delivered_packets", row).unwrap())
        })
        .collect();
    // SYN, two ACKs of SYN-ACK and FIN, and the segments.
    let [first, second] = [5.0 + 3.0, 20.0 + 3.0];
    let expected = [("ab", first + second), ("bc", first), ("bd", second)]
        .map(|(name, packets)| (name.to_owned(), packets));
    assert_eq!(carried, expected);
}
