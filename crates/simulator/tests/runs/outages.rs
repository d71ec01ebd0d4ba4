//! What the network says of an outage besides a router's warnings: ICMP, ECN, reports.

use crate::support::*;
use cogtcp_records::Run;

/// A download through a radio at a train's router, with outages of 3 s every 30 s from 20 s on.
fn download(transport: &str, radio: &str, link: &str, rest: &str) -> Run {
    download_over(transport, radio, link, "", rest)
}

/// With more settings of the wire in front of the radio.
fn download_over(transport: &str, radio: &str, link: &str, wire: &str, rest: &str) -> Run {
    run_traced(&scenario(transport, radio, link, wire, rest))
}

fn scenario(transport: &str, radio: &str, link: &str, wire: &str, rest: &str) -> String {
    format!(
        r#"
name = "outages"
[run]
duration = "195 s"
[tcp]
segment_size = "1000 B"
delayed_ack = "off"
timestamps = true
restart_after_idle = false
max_window = "40 segments"
[topology.graph]
nodes = ["source", "node-b", "router", "client"]
links = [
  {{ name = "wire", from = "source", to = "node-b", rate = "100 Mbit/s", delay = "50 ms"{wire} }},
  {{ name = "radio", from = "node-b", to = "router", rate = "2 Mbit/s", delay = "30 ms", queue = "50 packets"{link} }},
  {{ name = "lan", from = "router", to = "client", rate = "100 Mbit/s", delay = "10 ms" }},
]
[[radio]]
name = "cr"
links = ["radio"]
silence = "drop"
{radio}
sensing = {{ off = "3 s", on = "27 s", start = "20 s" }}
{rest}
[[flow]]
name = "flow"
from = "source"
to = "client"
transport = "{transport}"
"#
    )
}

/// The frame on the air when an outage begins is lost; 30 ms later Node B knows, and 50 ms after that the
/// source. A second message follows a second later at the earliest, if something still comes to be lost.
#[test]
fn the_source_hears_that_the_train_is_unreachable() {
    for transport in ["newreno", "atcp"] {
        let run = download(transport, "unreachable = true", "", "");
        let (starts, told) = (event_times(&run, "sensing_start"), event_times(&run, "unreachable"));
        assert_eq!(starts.len(), 6);
        for start in &starts {
            let first = told.iter().find(|time| *time > start).unwrap() - start;
            // A frame of 1052 bytes takes 4.2 ms of the radio, the message 5 us of the wire.
            assert!((0.080..0.0848).contains(&first), "{first}");
        }
        assert!(told.windows(2).all(|pair| pair[1] - pair[0] >= 0.999), "{told:?}");
        // Plain TCP does not listen: it times out and probes nothing.
        let stopped = event_times(&run, "zero_window").len();
        if transport == "newreno" {
            assert!(first(extension(&run, "tcp_flows"), "rtos") >= 6.0);
            assert_eq!(stopped, 0);
        } else {
            assert!(stopped >= 6, "{stopped}");
            assert_eq!(first(extension(&run, "tcp_flows"), "rtos"), 0.0);
        }
    }
}

/// Where nobody asked for messages there are none, and where nothing is lost.
#[test]
fn no_messages_without_need() {
    assert!(event_times(&download("atcp", "", "", ""), "unreachable").is_empty());
}

/// ATCP's window follows the marks of a queue of 50 packets that marks from 20 on: no packet is dropped at
/// the queue any more. Without marks nothing tells it of congestion.
#[test]
fn marks_hold_a_window_that_losses_do_not() {
    let drops = |link: &str| {
        let text = single_hop(
            "120 s",
            "20 s",
            "atcp",
            &format!(r#"rate = "2 Mbit/s", delay = "90 ms", queue = "50 packets"{link}"#),
            "",
        );
        let run = run_text(&text);
        (first(&run.links, "drops_queue"), first(&run.flows, "goodput_bps"))
    };
    let (marked, goodput) = drops(", mark = \"20 packets\"");
    assert_eq!(marked, 0.0);
    // Halved from 45 + 20 segments: 32 of the 45 that fill the path.
    assert!(goodput > 1.5e6, "{goodput}");
    let (unmarked, _) = drops("");
    assert!(unmarked > 100.0, "{unmarked}");
}

/// With ECN a queue of 50 packets that marks from 20 on drops nothing after slow start's overshoot, and
/// NewReno halves once for each sawtooth; without ECN the same marks change nothing and the queue drops.
#[test]
fn ecn_takes_the_place_of_drops() {
    let outcome = |ecn: bool| {
        let link = r#"rate = "10 Mbit/s", delay = "20 ms", queue = "50 packets", mark = "20 packets""#;
        let text = single_hop("60 s", "10 s", "newreno", link, "");
        let text = text.replacen("[tcp]", &format!("[tcp]\necn = {ecn}"), 1);
        assert!(text.contains("ecn = "), "{text}");
        let run = run_traced(&text);
        let echoes = event_times(&run, "ecn_reduction").into_iter().filter(|time| *time > 10.0).count();
        (first(&run.links, "drops_queue"), echoes, first(&run.flows, "goodput_bps"))
    };
    let (drops, echoes, goodput) = outcome(true);
    assert_eq!(drops, 0.0);
    // 50 + 20 segments halve to 35: a sawtooth of 35 round trips of 40 to 56 ms, so 25 to 36 of them in 50 s.
    assert!((20..=50).contains(&echoes), "{echoes}");
    assert!(goodput > 8.5e6, "{goodput}");
    let (drops, echoes, _) = outcome(false);
    assert!(drops > 0.0 && echoes == 0, "{drops} {echoes}");
}

/// A source that wants reports gets them on the router's warnings, and is not held.
#[test]
fn reports_take_the_place_of_a_closed_window() {
    let train = "[train]\nrouter = \"router\"\nradio = \"cr\"";
    let reported = download("satcp", "", "", train);
    assert_eq!(event_times(&reported, "trigger_down").len(), 6);
    assert!(event_times(&reported, "freeze").is_empty() && event_times(&reported, "zero_window").is_empty());
    assert_eq!(first(extension(&reported, "trains"), "window_probes"), 0.0);
    // The window after a timeout: as it was with reports, one segment without.
    let unheeded = download("satcp", "", "", &format!("{train}\nconnection_manager = false"));
    let after = |run: &Run| {
        let rows = 0..run.events.len();
        let rto = rows.filter(|row| run.events.text("kind", *row) == Some("rto"));
        rto.filter_map(|row| run.events.number("value", row)).fold(0.0, f64::max)
    };
    assert!(after(&reported) > 30.0, "{}", after(&reported));
    assert_eq!(after(&unheeded), 1.0);
}

/// A sender beside a radio that destroys packets for 1.5 s of every 6.5 s: the timeouts of these silences
/// leave one that reads its node's board its window, and CUBIC one segment. At the other end of the same link
/// nobody tells it, and it is CUBIC.
#[test]
fn a_sender_beside_the_radio_hears_of_its_silences() {
    let windows = |transport: &str, from: &str, to: &str| {
        let text = format!(
            "name = \"beside\"\nrun = {{ duration = \"60 s\" }}\n\
             [topology.graph]\nnodes = [\"cr\", \"base\", \"far\"]\nlinks = [\
             {{ name = \"air\", from = \"cr\", to = \"base\", rate = \"2 Mbit/s\", delay = \"20 ms\" }}, \
             {{ from = \"base\", to = \"far\", rate = \"10 Mbit/s\", delay = \"5 ms\" }}]\n\
             [[radio]]\nname = \"r\"\nlinks = [\"air\"]\nsilence = \"drop\"\n\
             sensing = {{ off = \"1500 ms\", on = \"5 s\" }}\n\
             [[flow]]\nfrom = \"{from}\"\nto = \"{to}\"\ntransport = \"{transport}\"\ntcp = {{ max_window = \"30 segments\" }}\n"
        );
        let run = run_traced(&text);
        let rows = 0..run.events.len();
        let rto = rows.filter(|row| run.events.text("kind", *row) == Some("rto"));
        rto.filter_map(|row| run.events.number("value", row)).collect::<Vec<f64>>()
    };
    let beside = windows("satcp", "cr", "far");
    assert!(beside.len() >= 8 && beside.iter().all(|cwnd| *cwnd > 10.0), "{beside:?}");
    let cubic = windows("cubic", "cr", "far");
    assert!(cubic.len() >= 8 && cubic.iter().all(|cwnd| *cwnd == 1.0), "{cubic:?}");
    assert_eq!(windows("satcp", "far", "cr"), windows("cubic", "far", "cr"));
}

/// A lost ICMP message is about a flow, in the events as in the packets. It is the one packet of 56 bytes: an
/// ACK has 52.
#[test]
fn a_lost_message_names_the_flow_that_it_is_about() {
    let run = download("newreno", "unreachable = true", "", "");
    assert_eq!(lost_messages(&run), [""; 0]);

    let lossy = download_over("newreno", "unreachable = true", "", ", reverse_loss = \"40 %\"", "");
    let lost = lost_messages(&lossy);
    assert!(!lost.is_empty() && lost.iter().all(|flow| flow == "flow"), "{lost:?}");
}

/// The flows of the ICMP messages that were lost on the wire.
fn lost_messages(run: &Run) -> Vec<String> {
    let events = &run.events;
    let is_lost = |row: &usize| {
        let is = |column, text| events.text(column, *row) == Some(text);
        is("kind", "drop") && is("entity", "wire/reverse") && events.number("value", *row) == Some(56.0)
    };
    let rows = (0..events.len()).filter(is_lost);
    rows.map(|row| events.text("flow", row).unwrap().to_owned()).collect()
}

/// A link that goes down destroys what waits and what is under way when the outage begins: the source hears
/// of it then, 50 ms and 5 us off, and each packet is lost at that instant. Those that come later are
/// refused.
#[test]
fn a_link_that_goes_down_tells_at_once() {
    let text = scenario("newreno", "unreachable = true", "", "", "");
    let text = text.replacen("silence = \"drop\"", "silence = \"down\"", 1);
    let run = run_traced(&text);
    let (starts, told) = (event_times(&run, "sensing_start"), event_times(&run, "unreachable"));
    let lost_at = |start: f64| {
        let rows = 0..run.events.len();
        let is = |row: &usize| {
            run.events.text("detail", *row) == Some("silence")
                && run.events.number("time_s", *row) == Some(start)
        };
        rows.filter(is).count()
    };
    assert_eq!(starts.len(), 6);
    for start in &starts {
        let first = told.iter().find(|time| *time > start).unwrap() - start;
        assert!((first - 0.050_004_48).abs() < 1e-8, "{first}");
        // 40 segments fill the window; the path without the radio holds 120 ms of 180.
        assert!((10..=40).contains(&lost_at(*start)), "{}", lost_at(*start));
    }
    assert!(first(extension(&run, "tcp_flows"), "rtos") >= 6.0);
}

/// Only a link that goes down has something to flush.
#[test]
fn flush_without_down_is_refused() {
    let text = scenario("newreno", "flush = \"wire\"", "", "", "");
    let error =
        cogtcp_scenario::Scenario::parse(&text, "t").and_then(|scenario| scenario.resolve()).unwrap_err();
    assert!(
        error.to_string().contains("flush") && error.to_string().contains("silence = \"down\""),
        "{error}"
    );
}
