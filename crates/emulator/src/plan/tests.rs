use super::*;
use cogtcp_scenario::Protocol;
use cogtcp_scenario::Scenario;

/// A scenario of one link and one flow of Linux's Reno with segments of 1000 bytes, in packets of 1052.
fn plan(link: &str, more: &str, tcp: &str) -> Plan {
    let text = format!(
        "name = \"plan\"\n[run]\nduration = \"1 s\"\n[topology.single_hop]\nlink = {{ {link} }}\n\
         [tcp]\nsegment_size = \"1000 B\"\ndelayed_ack = \"linux\"\n{tcp}\n{more}\n\
         [[flow]]\nname = \"flow\"\nfrom = \"sender\"\nto = \"receiver\"\ntransport = \"linux-reno\"\n"
    );
    let experiment = Scenario::parse(&text, "plan.toml").and_then(|scenario| scenario.resolve()).unwrap();
    Plan::new(experiment, false, Family::V4).unwrap()
}

/// 1052 and 40 bytes at 1 Mbit/s: 8.416 and 0.32 ms, with a delay of 1 ms each. With a radio that may have
/// twice the rate, half of the transmission time: lateness should be small beside the shortest round trip.
#[test]
fn a_round_trip_has_the_time_of_sending() {
    let rtt = |more: &str| plan("rate = \"1 Mbit/s\", delay = \"1 ms\"", more, "").rtt();
    assert_eq!(rtt(""), Duration::from_micros(2000 + 8736));
    let radio = "[[radio]]\nname = \"r\"\nlinks = [\"link\"]\nsensing = { off = \"1 s\", on = \"1 s\" }\n";
    assert_eq!(rtt(radio), Duration::from_micros(2000 + 8736));
    let channel = "channel = { range = [\"500 kbit/s\", \"2 Mbit/s\"] }\n";
    assert_eq!(rtt(&format!("{radio}{channel}")), Duration::from_micros(2000 + 4368));
}

fn rmem(tcp: &str) -> Option<String> {
    setting("ipv4.tcp_rmem", tcp)
}

fn setting(of: &str, tcp: &str) -> Option<String> {
    let plan = plan("rate = \"1 Mbit/s\", delay = \"1 ms\"", "", tcp);
    let receiver = &plan.hosts[plan.flow_ends[0][1]];
    receiver.sysctls.iter().find(|(name, _)| *name == of).map(|(_, value)| value.clone())
}

/// The kernel's own slack is the default.
#[test]
fn the_slack_of_sack_compression_is_the_models() {
    let slack = |tcp| setting("ipv4.tcp_comp_sack_slack_ns", tcp);
    assert_eq!(slack("compression_slack = \"100 us\""), None);
    assert_eq!(slack("compression_slack = \"0 s\""), Some("0".to_owned()));
}

/// The window may grow to half of the buffer, as in the model, or without tuning to the whole buffer. Of the
/// kernel's memory 111 parts of 256 are window (`receive_memory.rs`). A buffer of fixed size is the socket's.
#[test]
fn the_kernels_window_grows_as_far_as_the_models() {
    let memory = |window: u64| Some(format!("4096 131072 {}", (window * 256).div_ceil(111)));
    assert_eq!(rmem("window_tuning = true"), memory(2 << 20));
    assert_eq!(rmem("window_tuning = true\nreceive_buffer = \"6 MiB\""), memory(3 << 20));
    assert_eq!(rmem(""), memory(4 << 20));
    assert_eq!(rmem("receive_buffer = \"6 MiB\""), None);
}

/// A host has one bound: the flow whose window the model bounds lower is named.
#[test]
fn flows_that_share_a_bound_are_noted() {
    let mut experiment = plan("rate = \"1 Mbit/s\", delay = \"1 ms\"", "", "window_tuning = true").experiment;
    let mut second = experiment.flows[0].clone();
    second.name = "second".to_owned();
    let Protocol::Tcp(tcp) = &mut second.protocol else { panic!("{second:?}") };
    std::sync::Arc::make_mut(&mut tcp.receiver).buffer = 1 << 20;
    experiment.flows.push(second);
    let notes = Plan::new(experiment, false, Family::V4).unwrap().notes;
    assert!(
        notes.len() == 1 && notes[0].contains("\"second\"") && notes[0].contains("one receive window bound"),
        "{notes:?}"
    );
}

/// The kernel repairs one loss of a burst per round trip; the RFCs' NewReno times out and restarts.
#[test]
fn a_recovery_that_times_out_is_noted() {
    let notes = |tcp: &str| plan("rate = \"1 Mbit/s\", delay = \"1 ms\"", "", tcp).notes;
    let has_note = |tcp: &str| notes(tcp).iter().any(|note| note.contains("slow_but_steady"));
    assert!(has_note("recovery = \"newreno\"\nnewreno_variant = \"impatient\""));
    // Linux's presets do as the kernel does; with SACK there is nothing to say.
    assert!(!has_note("recovery = \"newreno\""));
    assert!(!has_note("newreno_variant = \"impatient\""));
}
