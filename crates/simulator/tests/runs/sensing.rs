//! What silences do to a connection. The link senses once every 10 s from 10 s on; the least RTO is 1 s and
//! the round-trip time well under it.

use crate::support::*;

fn sensed(off: &str, silence: &str) -> String {
    let link = r#"rate = "2 Mbit/s", delay = "20 ms", queue = "30 packets""#;
    let rest = "max_window = \"20 segments\"\nmin_rto = \"1 s\"";
    let text = single_hop("65 s", "0 s", "newreno", link, rest);
    format!(
        r#"{text}
[[radio]]
name = "radio"
links = ["link"]
silence = "{silence}"
sensing = {{ off = "{off}", on = "10 s", start = "10 s" }}
"#
    )
}

/// The window fits path and queue, so nothing is lost: a silence shorter than the RTO only delays.
#[test]
fn a_hold_shorter_than_the_rto_causes_none() {
    let run = run_traced(&sensed("500 ms", "hold"));
    assert_eq!(first(&run.radios, "sensings"), 6.0);
    assert_eq!(first(extension(&run, "tcp_flows"), "rtos"), 0.0);
    assert_eq!(first(&run.flows, "retransmitted_segments"), 0.0);
    assert!(first(&run.flows, "rtt_max_s") > 0.5);
}

/// A silence of 1.6 s: the RTO (1 s) expires once in each, the next would only after 1 + 2 s. Nothing was
/// lost, so every one of them is spurious.
#[test]
fn a_hold_longer_than_the_rto_causes_one_each_and_all_are_spurious() {
    let run = run_traced(&sensed("1600 ms", "hold"));
    let (starts, ends) = (event_times(&run, "sensing_start"), event_times(&run, "sensing_end"));
    let rtos = event_times(&run, "rto");
    assert_eq!((starts.len(), ends.len()), (5, 5));
    for (start, end) in starts.iter().zip(&ends) {
        let inside = rtos.iter().filter(|time| (*start..*end).contains(*time)).count();
        assert_eq!(inside, 1, "in {start}..{end} of {rtos:?}");
    }
    assert_eq!(first(extension(&run, "tcp_flows"), "rtos"), 5.0);
    assert_eq!(first(extension(&run, "tcp_flows"), "spurious_rtos"), 5.0);
    assert_eq!(first(&run.links, "drops_queue"), 0.0);
}

/// The same silences when they destroy what is sent into them: the timeouts are genuine.
#[test]
fn a_drop_longer_than_the_rto_causes_genuine_timeouts() {
    let run = run_traced(&sensed("1600 ms", "drop"));
    assert!(first(extension(&run, "tcp_flows"), "rtos") >= 5.0);
    assert!(first(&run.links, "drops_silence") > 0.0);
    assert!(
        first(extension(&run, "tcp_flows"), "spurious_rtos") < first(extension(&run, "tcp_flows"), "rtos")
    );
    let times = event_times(&run, "drop");
    assert!(!times.is_empty());
}

/// Utilisation refers to the capacity that the silences leave.
#[test]
fn utilisation_counts_available_capacity() {
    let run = run_text(&sensed("500 ms", "hold"));
    // 65 s with six silences of 0.5 s, the last one whole.
    assert_eq!(first(&run.links, "silence_s"), 3.0);
    // The frame on the air when a silence begins completes, and counts as capacity: less than one for each
    // silence.
    let completing = first(&run.links, "capacity_bytes") - 62.0 * 250_000.0;
    assert!(completing > 0.0 && completing < 6.0 * 1040.0, "{completing}");
    assert_eq!(first(&run.links, "channel_bytes"), 65.0 * 250_000.0);
    assert_eq!(first(&run.radios, "sensing_s"), 3.0);
    assert_eq!(first(&run.radios, "transmitting_s"), 62.0);
    // A window of 20 fills a path of 10 packets: the link idles only in the first slow start, after silences
    // it is busy at once.
    assert_close(first(&run.links, "utilisation"), 1.0, 0.01);
}

/// A channel of another rate after each interruption: capacity follows it, and so does the series.
#[test]
fn the_rate_after_an_interruption_is_the_channels() {
    let link = r#"rate = "10 Mbit/s", delay = "20 ms", queue = "50 packets""#;
    let text = single_hop("100 s", "0 s", "sack", link, "");
    let run = run_traced(&format!(
        r#"{text}
[[radio]]
name = "radio"
links = ["link"]
sensing = {{ off = "100 ms", on = "5 s" }}
channel = {{ set = ["2 Mbit/s", "4 Mbit/s"] }}
"#
    ));
    let rates: Vec<f64> = (0..run.link_series.len())
        .filter(|row| run.link_series.text("direction", *row) == Some("forward"))
        .map(|row| run.link_series.number("rate_bps", row).unwrap())
        .collect();
    for rate in &rates {
        assert!([10e6, 0.0, 2e6, 4e6].contains(rate), "{rate}");
    }
    assert!(rates.contains(&2e6) && rates.contains(&4e6));
    assert_eq!(rates[0], 10e6);
    let capacity = first(&run.links, "capacity_bytes") * 8.0;
    assert!((200e6..450e6).contains(&capacity), "{capacity}");
    assert!(first(&run.links, "utilisation") > 0.8);
}

/// Several links gated by one radio fall silent together.
#[test]
fn one_radio_gates_several_links() {
    let run = run_text(
        r#"
name = "chain"
[run]
duration = "20 s"
[topology.chain]
hops = 2
link = { rate = "2 Mbit/s", delay = "5 ms", queue = "20 packets" }
[[radio]]
name = "radio"
links = ["hop1", "hop2"]
sensing = { off = "200 ms", on = "1800 ms" }
[[flow]]
from = "n0"
to = "n2"
transport = "newreno"
"#,
    );
    let silence = column(&run.links, "silence_s");
    assert_eq!(silence.len(), 4);
    assert!(silence.iter().all(|s| *s == silence[0] && *s > 1.9), "{silence:?}");
}

/// A CR user without a MAC, t_s = 50 ms and T_p = 950 ms from 1 s on, with perfect sensing among `pu`.
fn without_a_mac(silence: &str, pu: &str) -> String {
    let link = r#"rate = "1 Mbit/s", delay = "15 ms", queue = "60 packets""#;
    let text = single_hop("65 s", "5 s", "newreno", link, "min_rto = \"200 ms\"");
    format!(
        r#"{text}
[spectrum]
bands = 3
channels = {{ uniform = "20 Mbit/s" }}
pu = {pu}
[[radio]]
name = "radio"
links = ["link"]
silence = "{silence}"
[radio.cr]
access = "none"
detector = "perfect"
sensing_time = "50 ms"
transmission_time = "950 ms"
start = "1 s"
"#
    )
}

/// Without primary users it is the cycle with these times, to the last number.
#[test]
fn a_cr_user_without_a_mac_and_without_pus_is_the_cycle() {
    for silence in ["hold", "drop", "refuse"] {
        let link = r#"rate = "20 Mbit/s", delay = "15 ms", queue = "60 packets""#;
        let text = single_hop("65 s", "5 s", "newreno", link, "min_rto = \"200 ms\"");
        let sensing = "sensing = { off = \"50 ms\", on = \"950 ms\", start = \"1 s\" }";
        let text = format!(
            "{text}[[radio]]\nname = \"radio\"\nlinks = [\"link\"]\nsilence = \"{silence}\"\n{sensing}\n"
        );
        let (cycle, user) = (run_traced(&text), run_traced(&without_a_mac(silence, "\"none\"")));
        for name in ["goodput_bps", "rtt_max_s", "retransmitted_segments", "delivered_bytes"] {
            assert_eq!(first(&cycle.flows, name), first(&user.flows, name), "{silence}: {name}");
        }
        let [of_cycle, of_user] = [&cycle, &user].map(|run| first(extension(run, "tcp_flows"), "rtos"));
        assert_eq!(of_cycle, of_user, "{silence}");
        assert_eq!(first(&cycle.radios, "sensings"), first(&user.radios, "sensings"), "{silence}");
        assert!(first(&user.flows, "goodput_bps") > 1e6, "{silence}");
    }
}

/// What primary users destroy is a loss by interference, in the counts of the link and in the budget of its
/// time. The radio interferes only while it is exposed; the budget's check (a debug build makes it) finds the
/// states to sum to the span.
#[test]
fn primary_users_and_a_cr_user_without_a_mac_destroy_each_others_frames() {
    let pu = r#"{ laws = { on = { deterministic = "5 s" }, off = { exponential = "5 s" } } }"#;
    for silence in ["hold", "drop", "refuse"] {
        let run = run_traced(&without_a_mac(silence, pu));
        let (interfered, exposed) =
            (first(&run.radios, "pu_interfered_share"), first(&run.radios, "pu_exposed_share"));
        assert!(0.0 < interfered && interfered <= exposed, "{silence}: {interfered} of {exposed}");
        let lost = first(&run.links, "drops_interference");
        assert!(lost > 3.0, "{silence}: {lost}");
        // Data of 1040 bytes at 20 Mbit/s; those lost at the ends of the measured span may be counted in one
        // of the two alone.
        let spent = first(extension(&run, "budget"), "interference_s");
        assert_close(spent, lost * 1040.0 * 8.0 / 20e6, 0.02);
    }
}
