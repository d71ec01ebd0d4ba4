//! Links over satellites in whole runs.

use crate::support::*;

fn satellite(silence: &str, leo: &str) -> String {
    let link = "rate = \"10 Mbit/s\", delay = \"25 ms\", queue = \"200 packets\"";
    let flow = "max_window = \"10 segments\"";
    let text = single_hop("60 s", "0 s", "newreno", link, flow);
    format!(
        "{text}\n[[radio]]\nname = \"satellite\"\nlinks = [\"link\"]\nsilence = \"{silence}\"\nleo = {leo}\n"
    )
}

/// Ten segments in flight over 20 to 60 ms each way: the round-trip times have the bounds of the delay, and
/// no segment is retransmitted, though the delay falls and rises under packets that are under way. A packet
/// of 1000 bytes and headers takes about 1 ms.
#[test]
fn round_trip_times_follow_the_delay_and_nothing_is_reordered() {
    let leo = "{ period = \"2 s\", outage = \"0 s\", delay = [\"20 ms\", \"60 ms\"] }";
    let run = run_traced(&satellite("hold", leo));
    let (least, most) = (first(&run.flows, "rtt_min_s"), first(&run.flows, "rtt_max_s"));
    assert!((0.040..0.050).contains(&least), "{least}");
    assert!((0.110..0.140).contains(&most), "{most}");
    assert_eq!(first(&run.flows, "retransmitted_segments"), 0.0);
    assert_eq!(first(&run.radios, "handoffs"), 30.0);
}

/// Outages of 100 ms each 5 s that hold packets silence the link for a fiftieth of the time; those that drop
/// them lose some.
#[test]
fn an_outage_holds_or_drops() {
    let leo = "{ period = \"5 s\", start = \"5 s\", outage = \"100 ms\", delay = [\"20 ms\", \"20 ms\"] }";
    let held = run_traced(&satellite("hold", leo));
    assert_close(first(&held.radios, "switching_s"), 1.1, 1e-9);
    assert_eq!(first(&held.links, "drops_silence"), 0.0);
    let dropped = run_traced(&satellite("drop", leo));
    assert!(first(&dropped.links, "drops_silence") > 0.0);
    assert!(first(&dropped.flows, "goodput_bps") < first(&held.flows, "goodput_bps"));
}

/// The spike at the edges of a period is more delay, in both directions.
#[test]
fn the_edges_of_a_period_have_more_delay() {
    let leo =
        |spike| format!("{{ outage = \"10 ms\", delay = [\"20 ms\", \"20 ms\"], spike = \"{spike}\" }}");
    let most = |spike| first(&run_traced(&satellite("hold", &leo(spike))).flows, "rtt_max_s");
    let (plain, spiked) = (most("0 ms"), most("30 ms"));
    assert!((0.050..0.065).contains(&(spiked - plain)), "{plain} {spiked}");
}
