//! What theory says of TCP, within stated tolerances.

use crate::support::*;

/// A saturated flow with a buffer of more than a bandwidth-delay product keeps the link busy: goodput is the
/// rate times payload over wire size.
#[test]
fn a_saturated_flow_fills_the_link() {
    for transport in ["newreno", "sack"] {
        let link = r#"rate = "10 Mbit/s", delay = "10 ms", queue = "60 packets""#;
        let run = run_text(&single_hop("120 s", "20 s", transport, link, ""));
        assert_close(first(&run.flows, "goodput_bps"), 10e6 * 1000.0 / 1040.0, 0.005);
        assert_close(first(&run.links, "utilisation"), 1.0, 0.005);
        assert_close(first(&run.flows, "efficiency"), 1000.0 / 1040.0, 0.005);
    }
}

/// Two flows of one round-trip time share a bottleneck fairly in the long run.
#[test]
fn two_flows_share_fairly() {
    let text = r#"
name = "share"
[run]
duration = "400 s"
warmup = "50 s"
[tcp]
segment_size = "1000 B"
[topology.dumbbell]
pairs = 2
access = { rate = "100 Mbit/s", delay = "5 ms", queue = "1000 packets" }
bottleneck = { rate = "10 Mbit/s", delay = "20 ms", queue = "60 packets", loss = "0.01 %" }
[[flow]]
count = 2
from = "s*"
to = "d*"
transport = "sack"
stagger = "3 s"
"#;
    let run = run_text(text);
    assert!(run.fairness > 0.97, "{}: {:?}", run.fairness, column(&run.flows, "goodput_bps"));
    let sum: f64 = column(&run.flows, "goodput_bps").iter().sum();
    assert_close(sum, 10e6 * 1000.0 / 1040.0, 0.02);
}

/// The square-root law of Mathis et al. 1997 for periodic loss, MSS / RTT * sqrt(3 / (2 p)) with one ACK per
/// segment, on a link that is never full. Random loss and the granularity of the window put TCP under it, the
/// more the larger p; the literature finds 10 to 20 % for p about 1e-3.
#[test]
fn goodput_follows_the_square_root_law() {
    for (loss, low, high) in [("0.05 %", 0.80, 1.08), ("0.2 %", 0.80, 1.08), ("0.8 %", 0.75, 1.05)] {
        let link = format!(
            r#"rate = "1 Gbit/s", delay = "50 ms", queue = "100000 packets", loss = "{loss}", reverse_loss = "0 %""#
        );
        let run = run_text(&single_hop("1500 s", "20 s", "sack", &link, ""));
        let p: f64 = loss.trim_end_matches(" %").parse::<f64>().unwrap() / 100.0;
        let rtt = first(&run.flows, "rtt_mean_s");
        let theory = 8000.0 / rtt * (1.5 / p).sqrt();
        let ratio = first(&run.flows, "goodput_bps") / theory;
        assert!((low..high).contains(&ratio), "p = {p}: {ratio:.3} of the law");
        // The link's loss is the law's p: five standard deviations of a binomial.
        let (lost, sent) =
            (run.links.number("drops_loss", 0).unwrap(), run.links.number("offered_packets", 0).unwrap());
        assert!((lost - p * sent).abs() < 5.0 * (p * sent).sqrt(), "{lost} of {sent} lost");
    }
}

/// A longer round trip gets less of a shared drop-tail bottleneck.
#[test]
fn the_longer_round_trip_gets_less() {
    let text = r#"
name = "rtt"
[run]
duration = "300 s"
warmup = "30 s"
[topology.dumbbell]
pairs = 2
access = { rate = "100 Mbit/s", delay = "5 ms", queue = "1000 packets" }
access_delays = ["2 ms", "50 ms"]
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", queue = "50 packets", loss = "0.01 %" }
[[flow]]
count = 2
from = "s*"
to = "d*"
transport = "sack"
"#;
    let run = run_text(text);
    let goodput = column(&run.flows, "goodput_bps");
    let rtt = column(&run.flows, "rtt_min_s");
    assert!(rtt[1] > 2.0 * rtt[0], "{rtt:?}");
    assert!(goodput[0] > 1.3 * goodput[1], "{goodput:?}");
}
