//! Queue disciplines on a bottleneck: what they are for, against drop-tail.

use crate::support::*;

/// `flows` NewReno flows for 60 s over 10 Mbit/s and 40 ms of round trip, with a queue that would hold a
/// second; `first` is what the first flow sends.
fn bottleneck(queue: &str, flows: u32, rest: &str) -> String {
    format!(
        r#"
name = "queues"
run = {{ duration = "60 s", warmup = "10 s" }}
[tcp]
segment_size = "1000 B"
receive_buffer = "10 MB"
[topology.dumbbell]
pairs = {flows}
access = {{ rate = "1 Gbit/s", delay = "1 ms" }}
bottleneck = {{ rate = "10 Mbit/s", delay = "18 ms", queue = {queue}, reverse_queue = "1000 packets" }}
[[flow]]
count = {flows}
from = "s*"
to = "d*"
transport = "newreno"
stagger = "77 ms"
{rest}
"#
    )
}

/// The row of `links` for the bottleneck's forward direction.
fn at_bottleneck(run: &cogtcp_records::Run, name: &str) -> f64 {
    let row = (0..run.links.len()).find(|row| run.links.text("link", *row) == Some("bottleneck")).unwrap();
    run.links.number(name, row).unwrap()
}

/// Every discipline keeps the waiting time a fraction of drop-tail's, by early drops, at little loss of
/// throughput (most with RED, whose thresholds are far below the 50 packets that the path holds).
#[test]
fn disciplines_keep_the_queue_short() {
    let plain = run_text(&bottleneck("\"1000 packets\"", 4, ""));
    let standing = first(&plain.flows, "queuing_delay_mean_s");
    assert!(standing > 0.2, "{standing}");
    assert_eq!(at_bottleneck(&plain, "drops_early"), 0.0);
    for queue in ["red", "codel", "fq_codel"] {
        let run = run_text(&bottleneck(&format!("\"{queue}\""), 4, ""));
        let waited = first(&run.flows, "queuing_delay_mean_s");
        assert!(waited < 0.1 * standing, "{queue}: {waited} against {standing}");
        assert!(at_bottleneck(&run, "utilisation") > 0.75, "{queue}: {}", at_bottleneck(&run, "utilisation"));
        assert!(at_bottleneck(&run, "drops_early") > 20.0, "{queue}");
    }
}

/// The waiting time under CoDel follows its target, and stays far below what the queue may hold. Ten flows
/// share a link direction of 50 packets, so windows are small and each loss is felt: the median lies above
/// the target.
#[test]
fn the_wait_under_codel_follows_its_target() {
    let median = |target: &str| {
        let queue = format!("{{ codel = {{ target = \"{target}\" }} }}");
        first(&run_text(&bottleneck(&queue, 10, "")).flows, "queuing_delay_p50_s")
    };
    let (short, long) = (median("5 ms"), median("20 ms"));
    assert!((0.002..0.020).contains(&short), "{short}");
    assert!((0.010..0.040).contains(&long) && long > 1.5 * short, "{long} and {short}");
}

/// RFC 8290: a flow that sends little does not wait behind those that fill the queue, and those share
/// equally.
#[test]
fn fq_codel_keeps_flows_apart() {
    let sparse = "[[flow]]\nname = \"sparse\"\nfrom = \"s1\"\nto = \"d1\"\ntransport = \"newreno\"\n\
                  traffic = { rate = \"100 kbit/s\" }\n";
    let sparse_waits = |queue: &str| {
        let run = run_text(&bottleneck(queue, 4, sparse));
        (run.flows.number("queuing_delay_p95_s", 4).unwrap(), run)
    };
    let ((plain, _), (fair, run)) = (sparse_waits("\"200 packets\""), sparse_waits("\"fq_codel\""));
    // At most a packet of each of the others is ahead: 4 x 0.83 ms.
    assert!(fair < 0.005 && plain > 0.05, "{fair} and {plain}");
    let shares = &column(&run.flows, "goodput_bps")[..4];
    let (least, most) = shares.iter().fold((f64::MAX, 0.0_f64), |(a, b), x| (a.min(*x), b.max(*x)));
    assert!(most / least < 1.05, "{shares:?}");
}

/// Drops of a discipline stand in the events at their time, with their cause.
#[test]
fn early_drops_are_recorded() {
    let run = run_traced(&bottleneck("\"codel\"", 4, ""));
    let early = (0..run.events.len()).filter(|row| run.events.text("detail", *row) == Some("early")).count();
    assert!(early as f64 >= at_bottleneck(&run, "drops_early") && early > 20, "{early}");
}

/// A discipline in front of a link that senses: it waits like any queue, and drops after the silence.
#[test]
fn disciplines_wait_out_silences() {
    for queue in ["red", "codel", "fq_codel"] {
        let radio = "[[radio]]\nname = \"r\"\nlinks = [\"bottleneck\"]\n\
                     sensing = { off = \"100 ms\", on = \"1 s\" }\nsilence = \"hold\"\n";
        let run = run_text(&bottleneck(&format!("\"{queue}\""), 4, radio));
        assert!(at_bottleneck(&run, "silence_s") > 4.0);
        let used = at_bottleneck(&run, "utilisation");
        assert!((0.5..=1.0001).contains(&used), "{queue}: {used}");
    }
}
