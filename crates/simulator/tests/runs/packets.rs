//! The trace of packets, and drops by number, by hand. 10 Mbit/s and 40 ms as in `timing.rs`.

use crate::support::*;
use cogtcp_records::{Run, Table};
use cogtcp_simulator::{RunOptions, TraceLevel, run};

fn traced(text: &str) -> Run {
    run(&experiment(text), &RunOptions { trace: TraceLevel::Packets, ..RunOptions::default() }).unwrap()
}

fn number(table: &Table, column: &str, row: usize) -> u64 {
    table.number(column, row).unwrap() as u64
}

/// `event source flags seq:payload` of every row, with its time in nanoseconds.
fn rows(run: &Run) -> Vec<(u64, String)> {
    // All packets are TCP's: the tables have the same rows.
    let (packets, segments) = (&run.packets, extension(run, "tcp_segments"));
    let text = |column: &str, row: usize| packets.text(column, row).unwrap();
    (0..packets.len())
        .map(|row| {
            let line = format!(
                "{} {} {} {}:{}",
                text("event", row),
                text("source", row),
                segments.text("flags", row).unwrap(),
                number(segments, "seq", row),
                number(packets, "payload_bytes", row),
            );
            ((run.packets.number("time_s", row).unwrap() * 1e9).round() as u64, line)
        })
        .collect()
}

fn transfer(segments: u64, link: &str) -> String {
    let link = format!("rate = \"10 Mbit/s\", delay = \"40 ms\", queue = \"1000 packets\"{link}");
    let text = single_hop("20 s", "0 s", "newreno", &link, "initial_window = \"10 segments\"");
    format!("{text}traffic = {{ size = \"{} B\" }}\n", segments * 1000)
}

/// The handshake and one segment with its FIN.
#[test]
fn a_row_for_each_packet_and_event() {
    let run = traced(&transfer(1, ""));
    let (syn, ack, data, delay) = (38_400, 32_000, 832_000, 40_000_000);
    let connected = 2 * (syn + delay);
    let expected = [
        (0, "queued sender S 0:0"),
        (syn + delay, "received sender S 0:0"),
        (syn + delay, "queued receiver S. 0:0"),
        (connected, "received receiver S. 0:0"),
        (connected, "queued sender . 1:0"),
        (connected, "queued sender FP. 1:1000"),
        (connected + ack + delay, "received sender . 1:0"),
        (connected + ack + data + delay, "received sender FP. 1:1000"),
    ];
    let found = rows(&run);
    for (row, (time, line)) in expected.into_iter().enumerate() {
        assert_eq!((found[row].0, found[row].1.as_str()), (time, line), "row {row}");
    }
    assert_eq!((number(&run.packets, "wire_bytes", 0), number(&run.packets, "wire_bytes", 5)), (48, 1040));
}

/// The third packet forward is the first segment, the first in reverse the SYN-ACK.
#[test]
fn drops_are_counted_from_the_first_packet() {
    let lost = |link: &str| -> Vec<String> {
        let run = traced(&transfer(5, link));
        assert_eq!(first(&run.flows, "delivered_bytes"), 5000.0);
        rows(&run).into_iter().map(|(_, line)| line).filter(|line| line.starts_with("dropped")).collect()
    };
    assert_eq!(lost(", drops = [3, 5]"), ["dropped sender . 1:1000", "dropped sender . 2001:1000"]);
    assert_eq!(lost(", reverse_drops = [1]"), ["dropped receiver S. 0:0"]);
    assert!(lost("").is_empty());
}

/// Every packet that a link took has been handed over or lost, or was under way at the end.
#[test]
fn every_packet_is_accounted_for() {
    let link = r#"rate = "1 Mbit/s", delay = "40 ms", queue = "5 packets", loss = "1 %""#;
    let run = traced(&single_hop("20 s", "0 s", "sack", link, ""));
    let count = |event: &str, cause: &str| {
        (0..run.packets.len())
            .filter(|row| {
                run.packets.text("event", *row) == Some(event)
                    && run.packets.text("cause", *row) == Some(cause)
            })
            .count()
    };
    let [queued, received, lost] = [count("queued", ""), count("received", ""), count("dropped", "loss")];
    let sum = |name: &str| column(&run.links, name).into_iter().sum::<f64>();
    assert_eq!(received as f64, sum("delivered_packets"));
    assert_eq!((lost as f64, count("dropped", "queue") as f64), (sum("drops_loss"), sum("drops_queue")));
    assert!(lost > 0 && count("dropped", "queue") > 0);
    // What was under way at the end was taken and neither handed over nor lost.
    assert_eq!(queued as f64, sum("offered_packets") - sum("drops_queue"));
    assert!(queued >= received + lost);
}
