//! UDP sources against what can be counted by hand, and against TCP.

use crate::support::*;

fn scenario(link: &str, sources: &str, rest: &str) -> String {
    format!(
        r#"
name = "udp"
run = {{ duration = "20 s", warmup = "2 s" }}
[topology.single_hop]
link = {{ {link} }}
[[flow]]
from = "sender"
to = "receiver"
transport = "newreno"
start = "1 s"
{rest}
{sources}
"#
    )
}

const SMALL_FLOW: &str = "traffic = { size = \"1 B\" }";

fn source(pattern: &str) -> String {
    format!("[[udp]]\nfrom = \"sender\"\nto = \"receiver\"\nsize = \"972 B\"\npattern = {pattern}\n")
}

/// A call by G.711 over an idle link: 200 B with headers take 0.2 ms and 5 ms. With the codec's 20 ms that is
/// 25.2 ms from mouth to ear, below the 100 ms from which delay impairs: R = 93.2, 1 + 3.262 + 93.2 x 33.2 x
/// 6.8 x 7e-6 = 4.4093.
#[test]
fn a_call_over_an_idle_link_is_as_good_as_its_codec() {
    let call = "[[udp]]\nfrom = \"sender\"\nto = \"receiver\"\npattern = { call = { codec = \"g711\" } }\n";
    let run = run_text(&scenario("rate = \"8 Mbit/s\", delay = \"5 ms\"", call, SMALL_FLOW));
    assert_close(first(extension(&run, "datagrams"), "delay_p95_s"), 0.0052, 0.016);
    let calls = extension(&run, "calls");
    assert_close(first(calls, "mouth_to_ear_s"), 0.0252, 0.016);
    assert_close(first(calls, "rating"), 93.2, 1e-9);
    assert_close(first(calls, "mos"), 4.4093, 1e-4);
    assert_eq!(first(calls, "missing_ratio"), 0.0);
}

/// 1000 bytes with headers every 9.72 ms over an idle link of 8 Mbit/s and 5 ms: 6 ms each, 800 kbit/s of
/// payload, no jitter.
#[test]
fn a_constant_rate_over_an_idle_link_is_exact() {
    let text = scenario(
        "rate = \"8 Mbit/s\", delay = \"5 ms\"",
        &source("{ constant = \"800 kbit/s\" }"),
        SMALL_FLOW,
    );
    let run = run_text(&text);
    for name in ["delay_mean_s", "delay_max_s"] {
        assert_close(first(extension(&run, "datagrams"), name), 0.006, 1e-9);
    }
    assert_close(first(extension(&run, "datagrams"), "goodput_bps"), 800e3, 0.001);
    assert_eq!(
        (first(extension(&run, "datagrams"), "jitter_s"), first(extension(&run, "datagrams"), "drops")),
        (0.0, 0.0)
    );
    let sent = first(extension(&run, "datagrams"), "sent_packets");
    assert!((1851.0..=1853.0).contains(&sent), "{sent}");
}

/// M/D/1: packets of 1 ms come at random at half the link's rate. They wait for rho / (2 (1 - rho)) = 0.5 ms
/// on average (Pollaczek and Khinchine).
#[test]
fn poisson_arrivals_wait_as_in_theory() {
    let text = scenario(
        "rate = \"8 Mbit/s\", delay = \"0 ms\", queue = \"1000 packets\"",
        &source("{ poisson = \"3.888 Mbit/s\" }"),
        SMALL_FLOW,
    );
    let text = text.replace("20 s", "400 s");
    assert_close(first(extension(&run_text(&text), "datagrams"), "delay_mean_s"), 0.0015, 0.02);
}

/// Cross traffic takes its share from TCP: what UDP gets, TCP does not.
#[test]
fn cross_traffic_takes_its_share() {
    let link = "rate = \"10 Mbit/s\", delay = \"10 ms\", queue = \"50 packets\"";
    let alone = run_text(&scenario(link, "", ""));
    assert_eq!(alone.table("datagrams"), None);
    let pattern = "{ on_off = { rate = \"8 Mbit/s\", on = { pareto = { mean = \"500 ms\", shape = 1.5 } }, \
                   off = { exponential = \"500 ms\" } } }";
    let run = run_text(&scenario(link, &source(pattern), ""));
    let (tcp, udp) = (first(&run.flows, "goodput_bps"), first(extension(&run, "datagrams"), "goodput_bps"));
    assert!(
        (1e6..8e6).contains(&udp) && tcp < first(&alone.flows, "goodput_bps") - 0.5 * udp,
        "{tcp} and {udp}"
    );
    assert!(
        first(extension(&run, "datagrams"), "loss_ratio") > 0.0 && first(&run.links, "utilisation") > 0.7
    );
    assert!(first(&run.links, "utilisation") <= 1.0);
}

/// A silent link holds packets or destroys them; every one is accounted for (the simulator checks it).
#[test]
fn silences_delay_or_destroy() {
    let radio = |silence: &str| {
        format!(
            "[[radio]]\nname = \"r\"\nlinks = [\"link\"]\nsilence = \"{silence}\"\nsensing = {{ off = \"200 ms\", on = \"800 ms\" }}\n"
        )
    };
    let link = "rate = \"8 Mbit/s\", delay = \"5 ms\", queue = \"1000 packets\"";
    let with = |silence| {
        let sources = source("{ constant = \"800 kbit/s\" }") + &radio(silence);
        run_text(&scenario(link, &sources, SMALL_FLOW))
    };
    let (hold, drop) = (with("hold"), with("drop"));
    assert!(
        first(extension(&hold, "datagrams"), "delay_max_s") > 0.19
            && first(extension(&hold, "datagrams"), "drops") == 0.0
    );
    assert_close(first(extension(&drop, "datagrams"), "loss_ratio"), 0.2, 0.06);
}

/// Two sources, of which the second loses packets before the warm-up ends and after: each row counts its own
/// drops, those of the measured span alone.
#[test]
fn drops_are_those_of_each_source_since_the_warm_up() {
    let sources = source("{ constant = \"80 kbit/s\" }") + &source("{ constant = \"12 Mbit/s\" }");
    let text =
        scenario("rate = \"8 Mbit/s\", delay = \"5 ms\", queue = \"20 packets\"", &sources, SMALL_FLOW);
    let cut = "7.0000123 s";
    let drops = |duration: &str, warmup: &str| {
        let text = text.replace("20 s", duration).replace("2 s", warmup);
        column(extension(&run_text(&text), "datagrams"), "drops")
    };
    let (whole, begun, rest) = (drops("20 s", "0 s"), drops(cut, "0 s"), drops("20 s", cut));
    for source in 0..2 {
        assert_eq!(rest[source], whole[source] - begun[source], "source {source}");
    }
    assert!(begun[1] > 1000.0 && begun[0] < begun[1] / 10.0, "{begun:?}");
}
