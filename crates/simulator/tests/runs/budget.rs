//! Where the time of the bottleneck went: shares that can be worked out by hand.

use crate::support::*;
use cogtcp_records::Run;

const STATES: [&str; 20] = [
    "delivered_s",
    "headers_s",
    "duplicate_s",
    "lost_s",
    "other_s",
    "silent_s",
    "timeout_s",
    "growing_s",
    "receiver_s",
    "application_s",
    "upstream_s",
    "mac_s",
    "contention_s",
    "retry_s",
    "interference_s",
    "pattern_s",
    "grant_s",
    "harq_s",
    "users_s",
    "handover_s",
];

/// The states sum to the span.
#[track_caller]
fn check_sum(run: &Run) {
    for row in 0..run.budget.len() {
        let sum: f64 = STATES.iter().map(|name| run.budget.number(name, row).unwrap()).sum();
        assert_close(sum, run.budget.number("measured_s", row).unwrap(), 1e-12);
    }
}

/// The states that are not zero are those named, and no other.
#[track_caller]
fn only(run: &Run, names: &[&str]) {
    check_sum(run);
    for name in STATES {
        let value = first(&run.budget, name);
        assert_eq!(value > 0.0, names.contains(&name), "{name}: {value} s");
    }
}

/// A window of one segment is stop and wait: 8 Mbit/s carries 1040 bytes in 1.04 ms, the ACK of 40 bytes in
/// 0.04 ms; the round takes those and twice 10 ms. What is idle the receiver's window makes so.
#[test]
fn stop_and_wait_by_hand() {
    let tcp = "max_window = \"1 segment\"";
    let text = single_hop(
        "20 s",
        "2 s",
        "newreno",
        "rate = \"8 Mbit/s\", delay = \"10 ms\", queue = \"50 packets\"",
        tcp,
    );
    let run = run_text(&text);
    only(&run, &["delivered_s", "headers_s", "receiver_s"]);
    let round = 1.04e-3 + 0.04e-3 + 0.02;
    let share = |name: &str| first(&run.budget, name) / 18.0;
    // The span cuts a round at each end.
    assert_close(share("delivered_s"), 1e-3 / round, 2e-3);
    assert_close(share("headers_s"), 0.04e-3 / round, 2e-3);
    assert_close(share("receiver_s"), 0.02004 / round, 2e-3);
    assert_close(first(&run.flows, "efficiency"), share("delivered_s"), 2e-3);
}

/// Slow start of a short flow, without loss, over a link that it cannot fill: all that is idle is growing,
/// but for the time after the last segment.
#[test]
fn a_window_that_grows_leaves_the_link_idle() {
    let link = "rate = \"80 Mbit/s\", delay = \"50 ms\", queue = \"1000 packets\"";
    let text = single_hop("20 s", "0 s", "newreno", link, "")
        .replace("transport =", "traffic = { size = \"60 kB\" }\ntransport =");
    let run = run_text(&text);
    only(&run, &["delivered_s", "headers_s", "growing_s", "application_s"]);
    // The last segment propagates, and nothing is left to be sent.
    assert_close(first(&run.budget, "application_s"), 0.05, 1e-9);
    assert_close(first(&run.budget, "measured_s"), first(&run.flows, "completion_s"), 1e-12);
    assert_close(first(&run.budget, "delivered_s"), 60_000.0 * 8.0 / 80e6, 1e-6);
}

/// An application of 800 kbit/s on 8 Mbit/s: a tenth is delivered, and the rest it leaves.
#[test]
fn an_application_leaves_the_link_idle() {
    let link = "rate = \"8 Mbit/s\", delay = \"1 ms\", queue = \"50 packets\"";
    let text = single_hop("20 s", "2 s", "newreno", link, "")
        .replace("transport =", "traffic = { rate = \"800 kbit/s\" }\ntransport =");
    let run = run_text(&text);
    only(&run, &["delivered_s", "headers_s", "application_s"]);
    assert_close(first(&run.budget, "delivered_s"), 1.8, 2e-3);
    assert_close(first(&run.budget, "application_s"), 18.0 - 1.8 * 1.04, 2e-3);
}

/// A small receive buffer: no more than 8 kB are under way, of the 26 kB that the way takes.
#[test]
fn a_small_receive_buffer_leaves_the_link_idle() {
    let link = "rate = \"8 Mbit/s\", delay = \"12 ms\", queue = \"50 packets\"";
    let text = single_hop("20 s", "2 s", "newreno", link, "").replace("100 MB", "8 kB");
    let run = run_text(&text);
    only(&run, &["delivered_s", "headers_s", "receiver_s"]);
    let share = 8000.0 / ((2.0 * 0.012 + 1.04e-3 + 0.04e-3) * 1e6);
    assert_close(first(&run.budget, "delivered_s") / 18.0, share, 5e-3);
}

/// The link is silent for 100 ms in every 1.1 s. A window that outlasts it loses nothing in hold mode but to
/// spurious timeouts; a least timeout of a second keeps those away: the queue keeps the link busy all the
/// rest.
#[test]
fn a_silence_that_holds_costs_its_own_time() {
    let radio = "\n[[radio]]\nname = \"r\"\nlinks = [\"link\"]\nsilence = \"hold\"\nsensing = { on = \"1 s\", off = \"100 ms\" }\n";
    let link = "rate = \"2 Mbit/s\", delay = \"10 ms\", queue = \"1000 packets\"";
    let text = single_hop("62 s", "7 s", "newreno", link, "min_rto = \"1 s\"\nmax_window = \"100 segments\"")
        + radio;
    let run = run_text(&text);
    only(&run, &["delivered_s", "headers_s", "silent_s"]);
    // 55 s are 50 periods. A frame that completes into a silence is no silence: at most one of 4.16 ms in
    // each.
    let silent = first(&run.budget, "silent_s");
    assert!((5.0 - 50.0 * 4.16e-3..=5.0).contains(&silent), "{silent}");
}

/// A silence of 2 s that drops: all that was sent into it dies, the timer expires in it, and again after the
/// silence. Worked out by hand for a window of one segment: it is silent from 10 to 12 s, and the timeouts
/// come at 1, 2, 4 s intervals.
#[test]
fn a_silence_that_drops_costs_the_wait_for_the_timeout() {
    let radio = "\n[[radio]]\nname = \"r\"\nlinks = [\"link\"]\nsilence = \"drop\"\nsensing = { on = \"10 s\", off = \"2 s\" }\n";
    let link = "rate = \"8 Mbit/s\", delay = \"10 ms\", queue = \"50 packets\"";
    let text =
        single_hop("15 s", "0 s", "newreno", link, "min_rto = \"1 s\"\nmax_window = \"1 segment\"") + radio;
    let run = run_traced(&text);
    check_sum(&run);
    assert_close(first(&run.budget, "silent_s"), 2.0, 1e-12);
    // Rounds of 21.08 ms begin when SYN and SYN-ACK have crossed, 20.08 ms or a little more with their
    // options: the last frame before the silence ends at 9.992 s. From there to the retransmission that gets
    // through, the silence apart.
    let timeouts = event_times(&run, "rto");
    let after = timeouts.iter().find(|time| **time > 12.0).unwrap();
    let waited = first(&run.budget, "timeout_s");
    assert!((waited - (0.008 + after - 12.0)).abs() < 1e-4, "{waited}");
    // After it, as before the silence: stop and wait.
    let idle = (15.0 - 2.0 - waited) * 0.02004 / 0.02108;
    assert_close(first(&run.budget, "receiver_s"), idle, 5e-3);
}

/// Of frames that chance takes the time counts as lost, in the proportion of the chance.
#[test]
fn losses_by_chance_take_their_share() {
    let link = "rate = \"8 Mbit/s\", delay = \"1 ms\", queue = \"50 packets\", loss = \"5 %\"";
    let run = run_text(&single_hop("200 s", "2 s", "sack", link, ""));
    check_sum(&run);
    let [delivered, headers, duplicate, lost] =
        ["delivered_s", "headers_s", "duplicate_s", "lost_s"].map(|name| first(&run.budget, name));
    assert_close(lost / (delivered + headers + duplicate + lost), 0.05, 0.05);
    assert!(first(&run.budget, "timeout_s") > 0.0 && first(&run.budget, "growing_s") > 0.0);
}

/// Two links of one rate: the second is idle while the first is silent, and what comes next had waited there.
#[test]
fn a_silence_upstream_is_told_apart() {
    let text = r#"
name = "two"
[run]
duration = "62 s"
warmup = "7 s"
[tcp]
segment_size = "1000 B"
delayed_ack = "off"
min_rto = "1 s"
max_window = "100 segments"
receive_buffer = "10 MB"
[topology.chain]
hops = 2
link = { rate = "2 Mbit/s", delay = "5 ms", queue = "1000 packets" }
[[radio]]
name = "a"
links = ["hop1"]
silence = "hold"
sensing = { on = "1 s", off = "100 ms" }
[[radio]]
name = "b"
links = ["hop2"]
silence = "hold"
sensing = { on = "1 s", off = "50 ms", start = "random" }
[[flow]]
from = "n0"
to = "n2"
transport = "newreno"
"#;
    let run = run_text(&text.replace(", start = \"random\"", ""));
    check_sum(&run);
    let row = (0..run.budget.len()).find(|row| run.budget.text("link", *row) == Some("hop1"));
    let hop1 = row.expect("the link that is silent for longer is the bottleneck");
    let number = |name: &str| run.budget.number(name, hop1).unwrap();
    assert!(number("silent_s") > 4.7 && number("upstream_s") == 0.0, "{}", number("silent_s"));
}

/// Two flows and one bottleneck: one row, and each idle time is the doing of the packet that ends it.
#[test]
fn flows_that_share_a_bottleneck_share_its_budget() {
    let text = r#"
name = "shared"
[run]
duration = "30 s"
warmup = "3 s"
[topology.dumbbell]
pairs = 2
access = { rate = "100 Mbit/s", delay = "1 ms" }
bottleneck = { rate = "4 Mbit/s", delay = "20 ms", queue = "20 packets" }
[[flow]]
count = 2
from = "s*"
to = "d*"
transport = "newreno"
[[udp]]
from = "s1"
to = "d1"
size = "972 B"
pattern = { constant = "1 Mbit/s" }
"#;
    let run = run_text(text);
    check_sum(&run);
    assert_eq!((run.budget.len(), first(&run.budget, "flows")), (1, 2.0));
    // UDP takes a quarter of the link, of 1,000 bytes of which some are its header.
    assert_close(first(&run.budget, "other_s") / 27.0, 0.25, 0.06);
    let efficiency: f64 = column(&run.flows, "efficiency").iter().sum();
    assert_close(first(&run.budget, "delivered_s") / 27.0, efficiency, 5e-3);
}

/// Nothing is measured where no flow runs.
#[test]
fn a_flow_that_begins_after_the_warm_up_begins_the_span() {
    let link = "rate = \"8 Mbit/s\", delay = \"1 ms\", queue = \"50 packets\"";
    let text = single_hop("20 s", "2 s", "newreno", link, "")
        .replace("transport =", "start = \"5 s\"\nstop = \"9 s\"\ntransport =");
    let run = run_text(&text);
    check_sum(&run);
    assert_eq!(first(&run.budget, "measured_s"), 4.0);
}

/// The budget of a span is that of the whole run less that of what was before: what is carried twice or lost
/// in the warm-up is not counted after it. Acknowledgements are lost too, so that much is carried twice.
#[test]
fn budgets_are_differences() {
    let link =
        r#"rate = "5 Mbit/s", delay = "10 ms", queue = "20 packets", loss = "5 %", reverse_loss = "10 %""#;
    let cut = "9.0000123 s";
    let [whole, begun, rest] = [("30 s", "0 s"), (cut, "0 s"), ("30 s", cut)].map(|(duration, warmup)| {
        let run = run_text(&single_hop(duration, warmup, "tahoe", link, "max_window = \"30 segments\""));
        check_sum(&run);
        run.budget
    });
    for name in STATES {
        let [whole, begun, rest] = [&whole, &begun, &rest].map(|budget| first(budget, name));
        // A frame on the air at the cut takes 1.664 ms.
        assert!((whole - begun - rest).abs() < 2e-3, "{name}: {whole} less {begun} and {rest}");
    }
    for name in ["duplicate_s", "lost_s", "timeout_s"] {
        assert!(first(&begun, name) > 0.01, "{name}: {}", first(&begun, name));
    }
}

/// What a flow waits for when its span ends is told by its own packets, whichever flow it is: the second
/// flow's link has destroyed all that it sent since 10 s, and its timer has not expired.
#[test]
fn a_flow_whose_packets_were_destroyed_waits_for_its_timer() {
    let text = r#"
name = "two-links"
[run]
duration = "10.9 s"
[tcp]
segment_size = "1000 B"
delayed_ack = "off"
min_rto = "1 s"
max_window = "5 segments"
[topology.graph]
nodes = ["a", "b", "c"]
links = [
  { name = "ab", from = "a", to = "b", rate = "8 Mbit/s", delay = "10 ms" },
  { name = "bc", from = "b", to = "c", rate = "8 Mbit/s", delay = "10 ms" },
]
[[radio]]
name = "r"
links = ["bc"]
silence = "drop"
sensing = { on = "10 s", off = "500 ms" }
[[flow]]
from = "a"
to = "b"
transport = "newreno"
[[flow]]
from = "b"
to = "c"
transport = "newreno"
"#;
    let run = run_text(text);
    check_sum(&run);
    let of = |link: &str, name: &str| {
        let row = (0..run.budget.len()).find(|row| run.budget.text("link", *row) == Some(link));
        run.budget.number(name, row.expect("a row for each bottleneck")).unwrap()
    };
    assert_close(of("bc", "silent_s"), 0.5, 0.02);
    // From the end of the silence to that of the run.
    assert_close(of("bc", "timeout_s"), 0.4, 0.05);
    assert_eq!((of("ab", "silent_s"), of("ab", "timeout_s")), (0.0, 0.0));
}

/// A SYN that a silence destroyed: the link is idle as the timer of the SYN has yet to expire, whatever
/// window will be offered.
#[test]
fn a_lost_syn_waits_for_its_timer() {
    let radio = "\n[[radio]]\nname = \"r\"\nlinks = [\"link\"]\nsilence = \"drop\"\nsensing = { on = \"100 s\", off = \"500 ms\", start = \"0 s\" }\n";
    let link = "rate = \"8 Mbit/s\", delay = \"1 ms\", queue = \"50 packets\"";
    let run = run_text(&(single_hop("20 s", "0 s", "newreno", link, "") + radio));
    // RFC 6298: 1 s, and the second SYN passes.
    assert_close(first(&run.budget, "silent_s"), 0.5, 1e-3);
    assert_close(first(&run.budget, "timeout_s"), 0.5, 0.01);
    assert_eq!(first(&run.budget, "receiver_s"), 0.0);
    check_sum(&run);
}

/// The warm-up ends while a frame is on the air that a silence destroys: what was sent of it by then is taken
/// from no other frame, neither in the budget (a debug build checks it) nor in the link's utilisation.
#[test]
fn a_span_may_begin_in_a_frame_that_a_silence_destroys() {
    let link = "rate = \"8 Mbit/s\", delay = \"20 ms\", queue = \"40 packets\"";
    for transport in ["newreno", "linux-bbr", "quic-c2"] {
        for (silence, warmup) in
            [("drop", "5 s"), ("drop", "4999500 us"), ("down", "5 s"), ("down", "4999500 us")]
        {
            let radio = format!(
                "\n[[radio]]\nname = \"r\"\nlinks = [\"link\"]\nsilence = \"{silence}\"\n\
                 sensing = {{ on = \"5 s\", off = \"500 ms\" }}\n"
            );
            // No queue overflows: what was carried was not lost.
            let text = single_hop("15 s", warmup, transport, link, "max_window = \"30 segments\"") + &radio;
            let run = run_text(&text);
            if transport != "newreno" || silence != "drop" {
                continue;
            }
            let carried = first(&run.links, "utilisation") * first(&run.links, "capacity_bytes");
            let sent: f64 = ["delivered_s", "headers_s", "duplicate_s", "other_s"]
                .iter()
                .map(|state| first(&run.budget, state) * 1e6)
                .sum();
            assert!((carried - sent).abs() < 1.0, "{warmup}: {carried} bytes, in the time of {sent}");
        }
    }
}

/// Two seconds of each three refuse, behind a queue that waits for longer than CoDel wants. The transmitter
/// empties the queue, CoDel drops a part of it, and the rest of the silence is silent.
#[test]
fn what_codel_drops_in_a_silence_takes_no_time() {
    let radio = "\n[[radio]]\nname = \"r\"\nlinks = [\"link\"]\nsilence = \"refuse\"\nsensing = { on = \"1 s\", off = \"2 s\" }\n";
    let link = "rate = \"2 Mbit/s\", delay = \"10 ms\", queue = { codel = { interval = \"20 ms\" } }";
    let run = run_text(&(single_hop("60 s", "0 s", "newreno", link, "max_window = \"900 segments\"") + radio));
    check_sum(&run);
    let drops = column(&run.links, "drops_early")[0];
    assert!(drops > 10.0, "{drops}");
    // What the link carried takes its time, and all else is no transmission.
    let spent: f64 = ["delivered_s", "headers_s", "duplicate_s", "lost_s", "other_s"]
        .iter()
        .map(|name| first(&run.budget, name))
        .sum();
    assert_close(spent, column(&run.links, "carried_bytes")[0] * 8.0 / 2e6, 1e-6);
}
