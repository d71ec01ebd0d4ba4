//! Transports that are not TCP, end to end.

use crate::support::*;
use cogtcp_records::Run;
use cogtcp_scenario::Scenario;
use cogtcp_simulator::{RunOptions, TraceLevel, run};

const LINK: &str = "rate = \"8 Mbit/s\", delay = \"20 ms\", queue = \"40 packets\"";

fn tfrc(duration: &str, link: &str, rest: &str) -> String {
    single_hop(duration, "10 s", "tfrc", link, rest)
}

/// The values of one variable of the first flow, by time.
fn observed(run: &Run, name: &str) -> Vec<(f64, f64)> {
    let series = &run.control_series;
    (0..series.len())
        .filter(|row| series.text("variable", *row) == Some(name))
        .map(|row| (series.number("time_s", row).unwrap(), series.number("value", row).unwrap()))
        .collect()
}

/// Equation 3.1 of RFC 5348 with 1000-byte segments, in bit/s.
fn equation(rtt: f64, p: f64) -> f64 {
    8000.0 / (rtt * (2.0 * p / 3.0).sqrt() + 12.0 * rtt * (3.0 * p / 8.0).sqrt() * p * (1.0 + 32.0 * p * p))
}

/// A link that loses 1 % of all packets: what is delivered is the rate that the equation gives for the loss
/// events and round trips of the run. The mean of a concave function of varying losses lies above the
/// function of the mean, hence 10 %.
#[test]
fn tfrc_delivers_what_its_equation_allows() {
    let text = tfrc("200 s", "rate = \"50 Mbit/s\", delay = \"50 ms\", loss = 0.01", "");
    let run = run_traced(&text);
    let after = |name: &str| -> Vec<f64> {
        observed(&run, name).into_iter().filter(|(at, _)| *at > 10.0).map(|(_, value)| value).collect()
    };
    let (rtts, rates, ps) = (after("smoothed_rtt_s"), after("allowed_rate_bps"), after("loss_event_rate"));
    assert!(rates.len() > 1000, "{}", rates.len());
    for ((rtt, rate), p) in rtts.iter().zip(&rates).zip(&ps) {
        assert!(*rate <= 1.000_001 * equation(*rtt, *p), "{rate} for {p} and {rtt}");
    }
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    assert_close(first(&run.flows, "goodput_bps"), 0.99 * mean, 0.02);
    let p = ps.iter().sum::<f64>() / ps.len() as f64;
    assert_close(mean, equation(0.1001, p), 0.1);
    // Losses are not retransmitted.
    assert_eq!(first(&run.flows, "retransmitted_segments"), 0.0);
    assert_close(first(&run.flows, "delivery_ratio"), 0.99, 0.003);
}

/// Both kinds of transport in one run: each gets a share of the bottleneck, each has the columns that it has.
#[test]
fn tfrc_and_tcp_share_a_bottleneck() {
    let text = tfrc("200 s", LINK, "");
    let text = format!("{text}\n[[flow]]\nfrom = \"sender\"\nto = \"receiver\"\ntransport = \"newreno\"\n");
    let run = run_traced(&text);
    let [tfrc, tcp] = [0, 1].map(|row| run.flows.number("goodput_bps", row).unwrap());
    assert!(tfrc > 0.25 * tcp && tcp > 0.25 * tfrc, "{tfrc} and {tcp}");
    assert!(tfrc + tcp > 0.85 * 8e6, "{tfrc} and {tcp}");
    assert_eq!(run.flows.text("transport", 0), Some("tfrc"));
    let of_tcp = extension(&run, "tcp_flows");
    assert_eq!(
        (of_tcp.len(), of_tcp.text("flow", 0), of_tcp.text("congestion", 0)),
        (1, Some("f2"), Some("aimd"))
    );
    let of_tfrc = |row: usize| run.flow_series.text("flow", row) == Some("f1");
    for row in 0..run.flow_series.len() {
        let window = run.flow_series.number("cwnd_segments", row).unwrap();
        assert_eq!(window.is_nan(), of_tfrc(row), "a rate-based transport has no window");
    }
    assert!((0..run.flow_series.len()).any(of_tfrc));
}

/// A packet of several segments waits for an ACK that is near, also where the peer's window cuts it short
/// (`tcp_tso_should_defer`). cwnd does not limit then: in slow start it ends at twice what is outstanding
/// (`tcp_is_cwnd_limited`), here 200 segments, so 400 and what the last ACKs add.
#[test]
fn the_peers_window_ends_the_growth_of_cwnd() {
    let link = "rate = \"60 Mbit/s\", delay = \"20 ms\", queue = \"400 packets\"";
    let text = single_hop("20 s", "1 s", "linux-reno", link, "").replace("100 MB", "200 kB");
    let run = run_traced(&text.replace("delayed_ack = \"off\"", "delayed_ack = \"linux\""));
    let most = |name: &str| {
        let of = |row| run.flow_series.number(name, row).unwrap();
        (0..run.flow_series.len()).map(of).fold(0.0, f64::max)
    };
    assert_eq!(most("in_flight_segments"), 200.0);
    assert!(most("cwnd_segments") <= 404.0, "{}", most("cwnd_segments"));
}

/// An application slower than the link gets its rate, and the link waits for the application.
#[test]
fn a_slow_application_gets_its_rate() {
    let run =
        run_text(&tfrc("60 s", LINK, "").replace("\"tfrc\"", "\"tfrc\"\ntraffic = { rate = \"1 Mbit/s\" }"));
    assert_close(first(&run.flows, "goodput_bps"), 1e6, 2e-3);
    assert_close(first(&run.budget, "application_s"), 50.0 * (1.0 - 1.053 / 8.0), 5e-3);
}

/// A radio that is silent for seconds: the nofeedback timer expires, and the budget counts the waiting for
/// it.
#[test]
fn silences_expire_the_nofeedback_timer() {
    let radio =
        "[[radio]]\nname = \"radio\"\nlinks = [\"link\"]\nsensing = { off = \"4 s\", on = \"20 s\" }\n";
    let run = run_traced(&tfrc("100 s", LINK, radio));
    let expired = event_times(&run, "timeout");
    assert!(!expired.is_empty() && event_times(&run, "rto").is_empty(), "{expired:?}");
    assert!(first(&run.flows, "goodput_bps") > 1e6);
}

/// Four nodes of an ad hoc network in a line.
const CHAIN: &str = r#"
name = "chain"
routing = "aodv"
run = { duration = "30 s", warmup = "5 s" }
[topology.ad_hoc]
nodes = 4
placement = { chain = "200 m" }
[[flow]]
from = "n0"
to = "n3"
transport = "tfrc"
"#;

/// Frames over the air belong to their flow, and the columns of TCP's header are empty or zero for another
/// transport.
#[test]
fn frames_of_another_transport_have_no_header_of_tcp() {
    let options = RunOptions { trace: TraceLevel::Packets, ..RunOptions::default() };
    let both = format!("{CHAIN}[[flow]]\nfrom = \"n0\"\nto = \"n3\"\ntransport = \"newreno\"\n");
    let run = run(&experiment(&both.replace("30 s", "8 s").replace("5 s", "1 s")), &options).unwrap();
    let frames = extension(&run, "frames");
    let mut seen = [0, 0];
    for row in (0..frames.len()).filter(|row| frames.text("flow", *row).is_some_and(|flow| !flow.is_empty()))
    {
        let is_tcp = frames.text("protocol", row) == Some("tcp");
        assert_eq!(frames.text("flow", row), Some(if is_tcp { "f2" } else { "f1" }));
        seen[usize::from(is_tcp)] += 1;
        assert_eq!(frames.text("flags", row) == Some(""), !is_tcp);
        for name in ["seq", "ack", "window"] {
            assert!(is_tcp || frames.number(name, row) == Some(0.0), "{name}");
        }
        for name in ["mss", "tsval"] {
            assert!(is_tcp || frames.number(name, row).unwrap().is_nan(), "{name}");
        }
    }
    assert!(seen.iter().all(|frames| *frames > 100), "{seen:?}");
}

/// The same bytes from the same seed, traced or not; and in an ad hoc network of three hops.
#[test]
fn runs_are_reproducible_and_not_moved_by_traces() {
    for text in [tfrc("30 s", LINK, ""), CHAIN.to_owned()] {
        let (plain, traced) = (run_text(&text), run_traced(&text));
        assert_eq!(plain.digest, traced.digest);
        assert_eq!(first(&plain.flows, "delivered_bytes"), first(&traced.flows, "delivered_bytes"));
        assert!(first(&plain.flows, "goodput_bps") > 50e3, "{text}");
    }
}

/// Packets of both kinds in one table; what TCP's headers say stands beside it, for TCP's packets alone.
#[test]
fn segments_are_those_of_tcp() {
    let text = tfrc("20 s", LINK, "");
    let text = format!("{text}\n[[flow]]\nfrom = \"sender\"\nto = \"receiver\"\ntransport = \"newreno\"\n");
    let options = RunOptions { trace: TraceLevel::Packets, ..RunOptions::default() };
    let both = run(&experiment(&text), &options).unwrap();
    let of_tcp: Vec<f64> = (0..both.packets.len())
        .filter(|row| both.packets.text("protocol", *row) == Some("tcp"))
        .map(|row| row as f64)
        .collect();
    assert_eq!(column(extension(&both, "tcp_segments"), "packet"), of_tcp);
    assert!(!of_tcp.is_empty() && of_tcp.len() < both.packets.len());
    let alone = run(&experiment(&tfrc("20 s", LINK, "")), &options).unwrap();
    assert!(alone.table("tcp_segments").is_none() && alone.table("tcp_flows").is_none());
}

/// A comparison gives every flow the transport, and packets of one size.
#[test]
fn a_comparison_sets_the_transport() {
    let text = single_hop("20 s", "5 s", "newreno", LINK, "");
    let scenario = Scenario::parse(&text, "test.toml").unwrap().with_transport("tfrc").unwrap();
    let options = RunOptions { trace: TraceLevel::Packets, ..RunOptions::default() };
    let run = run(&scenario.resolve().unwrap(), &options).unwrap();
    assert_eq!(run.flows.text("transport", 0), Some("tfrc"));
    // 1000 bytes of data, 25 of TFRC, 28 of UDP and IPv4.
    let data = (0..run.packets.len()).find(|row| run.packets.text("source", *row) == Some("sender")).unwrap();
    assert_eq!(run.packets.number("wire_bytes", data), Some(1053.0));
}

fn quic(transport: &str, duration: &str, link: &str, traffic: &str) -> String {
    format!(
        "name = \"quic\"\nrun = {{ duration = \"{duration}\", warmup = \"5 s\" }}\n[topology.single_hop]\nlink = {{ {link} }}\n\
         [[flow]]\nfrom = \"sender\"\nto = \"receiver\"\ntransport = {transport}\n{traffic}"
    )
}

/// The first row of the table of QUIC flows.
fn of_quic(run: &Run, name: &str) -> f64 {
    first(extension(run, "quic_flows"), name)
}

/// RFC 9002's NewReno and RFC 6675's over a clear link deliver the same share of the capacity without
/// headers.
#[test]
fn quic_and_sack_deliver_alike_over_a_clear_link() {
    let link = "rate = \"10 Mbit/s\", delay = \"20 ms\", queue = \"60 packets\"";
    // Of 1500 bytes on the wire QUIC carries 1444 (28 of UDP and IPv4, 1 + 8 + 1 of the short header, 2 of
    // the frame, its offset apart, 16 of the tag), TCP 1460 less its options.
    let runs = ["\"quic-quinn-newreno\"", "\"quic-newreno\"", "\"sack\""]
        .map(|transport| run_text(&quic(transport, "105 s", link, "")));
    let [own, ours, sack] = [0, 1, 2].map(|n| first(&runs[n].flows, "goodput_bps"));
    assert_close(own / 1438.0, sack / 1460.0, 0.02);
    assert_close(ours / 1438.0, sack / 1460.0, 0.02);
    assert_eq!(of_quic(&runs[0], "persistent_congestion"), 0.0);
    assert!(of_quic(&runs[0], "lost_packets") > 10.0);
    assert!(runs[2].table("quic_flows").is_none());
}

/// Requests are streams of one connection, or have a connection each.
#[test]
fn requests_over_quic() {
    let link = "rate = \"10 Mbit/s\", delay = \"20 ms\", queue = \"60 packets\"";
    let requests = |connection: &str| {
        format!(
            "traffic = {{ requests = {{ response = {{ fixed = \"20 kB\" }}, pace = {{ think = {{ fixed = \"500 ms\" }} }}, connection = \"{connection}\" }} }}"
        )
    };
    let [kept, new] =
        ["persistent", "new"].map(|how| run_text(&quic("\"quic\"", "30 s", link, &requests(how))));
    assert_eq!(of_quic(&kept, "connections"), 1.0);
    assert!(of_quic(&new, "connections") >= 45.0, "{}", of_quic(&new, "connections"));
    assert!(first(&kept.flows, "delivered_bytes") >= 42.0 * 20_000.0);
    assert!(first(&new.flows, "delivered_bytes") >= 38.0 * 20_000.0);
}

/// A file ends with its last byte; early data saves one round trip.
#[test]
fn a_file_over_quic_and_over_resumed_quic() {
    let link = "rate = \"10 Mbit/s\", delay = \"100 ms\", queue = \"60 packets\"";
    let [fresh, resumed] = ["\"quic\"", "{ quic = { zero_rtt = true } }"].map(|transport| {
        first(
            &run_text(&quic(transport, "30 s", link, "traffic = { size = \"50 kB\" }")).flows,
            "completion_s",
        )
    });
    assert!((fresh - resumed - 0.2).abs() < 0.01, "{fresh} and {resumed}");
}

/// Silences that destroy packets: probe timeouts expire, and the same seed gives the same run.
#[test]
fn quic_over_silences_is_reproducible() {
    let radio = "\n[[radio]]\nname = \"radio\"\nlinks = [\"link\"]\nsilence = \"drop\"\nsensing = { off = \"500 ms\", on = \"5 s\" }\n";
    let text = quic("\"quic-c2\"", "60 s", LINK, "") + radio;
    let [one, two] = [run_text(&text), run_traced(&text)];
    assert_eq!(one.digest, two.digest);
    assert!(of_quic(&one, "probe_timeouts") >= 10.0, "{}", of_quic(&one, "probe_timeouts"));
    assert!(first(&one.flows, "goodput_bps") > 3e6, "{}", first(&one.flows, "goodput_bps"));
    assert!(event_times(&two, "timeout").len() >= 10);
}

/// QUIC over an ad hoc network, beside TCP.
#[test]
fn quic_over_an_ad_hoc_network() {
    let chain = CHAIN.replace("tfrc", "quic");
    assert!(first(&run_text(&chain).flows, "goodput_bps") > 50e3);
}

/// One band: while a primary user is there, nothing passes. TFRC-CR pauses, restarts at 300 B/s, and sends
/// less into the silences than TFRC; without primary users it asks a database without entries.
#[test]
fn tfrc_cr_pauses_for_primary_users() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/cr-single-hop.toml");
    let text = std::fs::read_to_string(file).unwrap();
    let text =
        text.replace("bands = 5", "bands = 1").replace("alpha = 0.5, beta = 0.5", "alpha = 0.1, beta = 0.1");
    let scenario = Scenario::parse(&text, "one band").unwrap();
    let series = RunOptions { trace: TraceLevel::Series, ..RunOptions::default() };
    let play = |transport: &str| {
        run(&scenario.with_transport(transport).unwrap().resolve().unwrap(), &series).unwrap()
    };
    let (cr, plain) = (play("tfrc-cr"), play("tfrc"));
    let restarts =
        |run: &Run| observed(run, "allowed_rate_bps").iter().filter(|(_, rate)| *rate == 2400.0).count();
    assert!(restarts(&cr) >= 3 && restarts(&plain) == 0, "{} and {}", restarts(&cr), restarts(&plain));
    // TFRC takes the silences for congestion: its rate stays near a packet in a minute.
    let [ours, theirs] = [&cr, &plain].map(|run| first(&run.flows, "goodput_bps"));
    assert!(ours > 150e3 && ours > 2.0 * theirs, "{ours} and {theirs}");
    let alone = run_text(&single_hop("60 s", "10 s", "tfrc-cr", LINK, ""));
    assert!(first(&alone.flows, "goodput_bps") > 5e6);
}

/// A scenario of two links in a row, of 8 and 4 Mbit/s, with a flow of `transport`.
fn two_links(transport: &str) -> String {
    let links = r#"
name = "two-links"
run = { duration = "60 s", warmup = "10 s" }
tcp = { segment_size = "1000 B" }
[topology.graph]
nodes = ["a", "b", "c"]
links = [
  { name = "ab", from = "a", to = "b", rate = "8 Mbit/s", delay = "10 ms", queue = "50 packets" },
  { name = "bc", from = "b", to = "c", rate = "4 Mbit/s", delay = "10 ms", queue = "50 packets" },
]
[[flow]]
from = "a"
to = "c"
"#;
    format!("{links}transport = \"{transport}\"\n")
}

/// Over two links in a row the nodes' stamps bring ATP to the slower one's rate, beside a TCP
/// that nobody stamps. The same over a link that is silent.
#[test]
fn atp_takes_the_rate_of_the_slowest_hop() {
    let text = two_links("atp");
    let run = run_text(&text);
    let goodput = first(&run.flows, "goodput_bps");
    // 1000 bytes of data, 29 of ATP and 28 of headers: at most 3.78 Mbit/s.
    assert!((3.3e6..=3.79e6).contains(&goodput), "{goodput}");
    assert_eq!(first(&run.flows, "drops"), 0.0, "the rate leaves queues short");
    let radio =
        "[[radio]]\nname = \"radio\"\nlinks = [\"bc\"]\nsensing = { off = \"200 ms\", on = \"1 s\" }\n";
    let silent = run_text(&format!("{text}{radio}"));
    // Silences count as waiting in the queue, so the rate stays far below the link's; it does not collapse.
    let held = first(&silent.flows, "goodput_bps");
    assert!((100e3..2e6).contains(&held), "{held}");
}

/// Three hops of an ad hoc network: nodes stamp over the air too. A size arrives whole, over a CR channel as
/// well.
#[test]
fn atp_crosses_an_ad_hoc_network() {
    let text = CHAIN.replace("\"tfrc\"", "\"atp\"");
    let run = run_text(&text);
    let goodput = first(&run.flows, "goodput_bps");
    assert!(goodput > 100e3, "{goodput}");
    assert_eq!(run.digest, run_text(&text).digest);
    let sized = run_text(
        &format!("{text}traffic = {{ size = \"100 kB\" }}\n").replace("warmup = \"5 s\"", "warmup = \"0 s\""),
    );
    assert_eq!(first(&sized.flows, "delivered_bytes"), 100e3);
}

/// The second of two links senses for longer than the retransmission timeout. Its node tells TP-CRAHN's
/// sender, whose timer then means nothing; ATP and TP-CRAHN alike deliver over it.
#[test]
fn tp_crahn_hears_a_node_on_the_route() {
    let radio =
        "[[radio]]\nname = \"radio\"\nlinks = [\"bc\"]\nsensing = { off = \"1500 ms\", on = \"6 s\" }\n";
    let heard = run_traced(&format!("{}{radio}", two_links("tp-crahn")));
    assert!(event_times(&heard, "timeout").is_empty(), "{:?}", event_times(&heard, "timeout"));
    assert!(first(&heard.flows, "goodput_bps") > 2e6, "{}", first(&heard.flows, "goodput_bps"));
    // Three hops over the air.
    let chain = CHAIN.replace("\"tfrc\"", "\"tp-crahn\"");
    let run = run_text(&chain);
    assert!(first(&run.flows, "goodput_bps") > 100e3, "{}", first(&run.flows, "goodput_bps"));
    assert_eq!(run.digest, run_text(&chain).digest);
}

/// An ACK may show QUIC that a packet is overdue, so that its timer lies in the past: it is due now.
#[test]
fn a_timer_in_the_past_is_due_now() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/heterogeneous-channels.toml");
    let text = std::fs::read_to_string(file).unwrap();
    let (head, _) = text.split_once("[[flow]]").unwrap();
    let flows =
        |transport: &str| format!("[[flow]]\nfrom = \"s*\"\nto = \"d*\"\ntransport = \"{transport}\"\n");
    let text = format!("{head}{}{}", flows("quic"), flows("cubic"));
    let scenario = Scenario::parse(&text, "quic and cubic").unwrap();
    let options = RunOptions { seed: Some(2), ..RunOptions::default() };
    // A debug assertion of the event loop looks at the order of time.
    let found = run(&scenario.resolve().unwrap(), &options).unwrap();
    assert!(first(&found.flows, "goodput_bps") > 1e6);
}
