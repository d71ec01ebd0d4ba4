//! Both ends over a link made by hand.

#[path = "../../../units/tests/support/committed.rs"]
mod committed;
mod conformance;
mod net;

use cogtcp_endpoint::{EndpointEvent, LogEntry, Supply, Waiting};
use cogtcp_quic::wire::PacketKind;
use cogtcp_quic::{QuicSettings, kinds};
use cogtcp_units::{Bytes, Duration, Rate, Time};
use net::{Net, Path};

fn settings(control: &str) -> QuicSettings {
    QuicSettings { control: control.to_owned(), ..QuicSettings::default() }
}

fn path() -> Path {
    Path { rate: Rate::from_bits_per_second(8_000_000), delay: Duration::from_millis(20), queue: 40 }
}

#[test]
fn the_handshake_takes_one_round_trip() {
    let mut net = Net::new(&settings("quinn-newreno"), 1, path());
    net.sender.supply(Time::ZERO, Supply::Bytes(3000));
    net.open();
    net.sender.close(Time::ZERO);
    net.run(Time::from_millis(500));
    let connected = net.event(EndpointEvent::Connected).unwrap();
    // A round trip of 40 ms, and the transmission of an Initial of 1200 B with 28 B of UDP and IPv4 at 8
    // Mbit/s; the way back has no rate.
    assert_eq!(connected, Time::from_nanos(41_228_000));
    assert_eq!(net.counts()["handshake_s"], 0.041_228);
    assert_eq!(net.receiver.progress().delivered_bytes, 3000);
    assert!(net.event(EndpointEvent::Closed).is_some());
    // Both ends' Initials fill datagrams of 1200 B (RFC 9000, section 14.1).
    let initials = net.sent.iter().filter(|(_, _, datagram)| kinds(datagram)[0] == PacketKind::Initial);
    assert!(initials.clone().count() >= 2);
    assert!(initials.clone().next().unwrap().2.payload_size() >= 1200);
    assert!(net.sent.iter().all(|(_, _, datagram)| !kinds(datagram).contains(&PacketKind::ZeroRtt)));
}

#[test]
fn early_data_leaves_in_the_first_flight() {
    let mut net = Net::new(&QuicSettings { zero_rtt: true, ..settings("quinn-newreno") }, 1, path());
    net.sender.supply(Time::ZERO, Supply::Bytes(3000));
    net.open();
    net.sender.close(Time::ZERO);
    net.run(Time::from_millis(35));
    assert_eq!(net.receiver.progress().delivered_bytes, 3000, "half a round trip suffices");
    net.run(Time::from_secs_f64(1.0));
    assert!(net.event(EndpointEvent::Closed).is_some());
    assert!(net.sent.iter().any(|(_, _, datagram)| kinds(datagram).contains(&PacketKind::ZeroRtt)));
}

#[test]
fn a_saturated_stream_fills_the_link() {
    for control in
        ["quinn-newreno", "quinn-cubic", "newreno", "cubic", "westwood", "vegas", "compound", "c2", "bbr"]
    {
        let mut net = Net::new(&settings(control), 1, path());
        net.sender.supply(Time::ZERO, Supply::Saturated(true));
        net.open();
        net.run(Time::from_secs_f64(20.0));
        let delivered = net.receiver.progress().delivered_bytes as f64 * 8.0 / 20.0;
        assert!(delivered > 0.85 * 8e6, "{control}: {delivered}");
        assert!(delivered < 8e6 * 1.0, "{control}: {delivered}");
        let (sender, receiver) = (net.sender.progress(), net.receiver.progress());
        assert!(receiver.received_bytes + receiver.duplicate_bytes <= sender.sent_bytes);
        assert!(receiver.duplicate_bytes <= sender.sent_bytes / 100);
        assert!(sender.window_bytes.unwrap() >= 2 * 1472);
        assert!(sender.smoothed_rtt.unwrap() >= Duration::from_millis(40));
    }
}

#[test]
fn a_silence_expires_probes_and_keeps_the_window() {
    let mut net = Net::new(&settings("quinn-newreno"), 1, path());
    net.sender.supply(Time::ZERO, Supply::Saturated(true));
    net.open();
    net.run(Time::from_secs_f64(4.99));
    let before = net.sender.progress();
    net.silent = Some((Time::from_millis(5000), Time::from_millis(5400)));
    net.run(Time::from_secs_f64(5.4));
    let during = net.sender.progress();
    assert!(during.timeouts > before.timeouts);
    assert_eq!(
        during.window_bytes, before.window_bytes,
        "a probe timeout leaves the window alone (RFC 9002, section 6.2)"
    );
    net.run(Time::from_secs_f64(10.0));
    assert!(net.sender.progress().lost_packets > before.lost_packets);
}

#[test]
fn messages_have_streams_of_their_own() {
    let mut net = Net::new(&settings("quinn-newreno"), 1, path());
    net.open();
    for _ in 0..10 {
        net.sender.supply(Time::ZERO, Supply::Message(10_000));
    }
    net.run(Time::from_secs_f64(2.0));
    assert_eq!(net.receiver.progress().delivered_bytes, 100_000);
    assert_eq!(net.streams().len(), 10);
}

#[test]
fn a_connection_closes_and_opens_again() {
    let mut net = Net::new(&QuicSettings { zero_rtt: true, ..settings("c2") }, 1, path());
    let mut delivered = 0;
    for round in 1..=3u64 {
        let at = net.now;
        net.sender.supply(at, Supply::Bytes(20_000));
        net.sender.open(at);
        net.sender.close(at);
        net.run(at + Duration::from_secs(2));
        delivered += 20_000;
        assert_eq!(net.receiver.progress().delivered_bytes, delivered);
        let closed = net.events.iter().filter(|(_, event)| *event == EndpointEvent::Closed).count();
        assert_eq!(closed as u64, round);
    }
}

/// The client's address changes once in a run, so long after the first connection opened: here in the second.
#[test]
fn an_address_changes_once_counted_from_the_first_connection() {
    let rebinds_after = Some(Duration::from_millis(1500));
    let mut net = Net::new(&QuicSettings { rebinds_after, ..settings("quinn-newreno") }, 1, path());
    for (opens, bytes) in [(0, 3000), (1000, 2_000_000), (5000, 3000)] {
        let at = Time::from_millis(opens);
        net.run(at);
        net.sender.supply(at, Supply::Bytes(bytes));
        net.sender.open(at);
        net.sender.close(at);
    }
    net.run(Time::from_millis(6000));
    let moved = net.sent.iter().position(|(_, out, sent)| *out && sent.port == 1).unwrap();
    assert!((1500..2000).contains(&(net.sent[moved].0.as_nanos() / 1_000_000)), "{:?}", net.sent[moved].0);
    assert!(net.sent[moved..].iter().all(|(_, out, sent)| !out || sent.port == 1));
    assert_eq!(net.counts()["connections"], 3.0);
}

#[test]
fn the_same_seed_sends_the_same_bytes() {
    let run = |seed| {
        let mut net = Net::new(&settings("quinn-cubic"), seed, path());
        net.loss = Some((7, 100));
        net.sender.supply(Time::ZERO, Supply::Saturated(true));
        net.open();
        net.run(Time::from_secs_f64(3.0));
        net.sent
    };
    assert!(run(5) == run(5));
    assert!(run(5) != run(6));
}

#[test]
fn fewer_acknowledgements_where_the_sender_asks() {
    let acknowledgements = |ack_frequency| {
        let mut net = Net::new(&QuicSettings { ack_frequency, ..settings("quinn-newreno") }, 1, path());
        net.sender.supply(Time::ZERO, Supply::Saturated(true));
        net.open();
        net.run(Time::from_secs_f64(5.0));
        net.receiver.progress().sent_packets as f64 / net.sender.progress().sent_packets as f64
    };
    let (every_second, tenth) = (acknowledgements(None), acknowledgements(Some(10)));
    assert!((0.45..0.6).contains(&every_second), "{every_second}");
    assert!((0.08..0.15).contains(&tenth), "{tenth}");
}

#[test]
fn a_reordered_packet_is_a_spurious_loss() {
    let mut net = Net::new(&settings("quinn-newreno"), 1, path());
    net.sender.supply(Time::ZERO, Supply::Saturated(true));
    net.open();
    net.run(Time::from_secs_f64(3.0));
    let before = net.counts();
    // One packet is 15 ms late, behind more than three others.
    net.late = Some(Duration::from_millis(15));
    net.run(Time::from_secs_f64(3.2));
    let counts = net.counts();
    let more = |name| counts[name] - before[name];
    assert_eq!((more("lost_packets"), more("spurious_losses")), (1.0, 1.0));
}

/// A datagram may be as large as is set, whatever quinn's own limit of 1472 B.
#[test]
fn datagrams_have_the_size_that_is_set() {
    for size in [1200, 1472, 9000] {
        let of_size = QuicSettings { max_datagram_size: Some(Bytes::new(size)), ..settings("quinn-newreno") };
        let mut net = Net::new(&of_size, 1, path());
        net.sender.supply(Time::ZERO, Supply::Bytes(200_000));
        net.open();
        net.run(Time::from_millis(700));
        let largest = net.sent.iter().map(|(_, _, datagram)| datagram.payload_size()).max();
        assert_eq!(largest, Some(size as u32));
    }
}

/// RFC 9002, section 7.1: a mark that comes back reduces the window, and no packet is lost. Without ECN no packet
/// is ECN-capable.
#[test]
fn a_mark_reduces_the_window() {
    let after = |marks| {
        let mut net = Net::new(&QuicSettings { ecn: true, ..settings("quinn-newreno") }, 1, path());
        net.sender.supply(Time::ZERO, Supply::Saturated(true));
        net.open();
        net.run(Time::from_millis(100));
        net.marks = marks;
        net.run(Time::from_millis(180));
        let progress = net.sender.progress();
        assert_eq!((progress.lost_packets, progress.resent_packets), (0, 0));
        assert_eq!(net.capable, progress.sent_packets);
        (progress.window_bytes, net.event(EndpointEvent::Loss).is_some_and(|at| at > Time::from_millis(140)))
    };
    let ((marked, told), (unmarked, not_told)) = (after(true), after(false));
    assert!(marked < unmarked && told && !not_told, "{marked:?} {unmarked:?}");
    let mut plain = Net::new(&settings("quinn-newreno"), 1, path());
    plain.sender.supply(Time::ZERO, Supply::Saturated(true));
    plain.open();
    plain.marks = true;
    plain.run(Time::from_millis(180));
    assert_eq!((plain.capable, plain.event(EndpointEvent::Loss)), (0, None));
}

/// RFC 9000, section 10.1: each end is over so long after its last packet, and says so once.
#[test]
fn an_idle_connection_ends_at_both_ends() {
    let idle = QuicSettings { idle_timeout: Some(Duration::from_secs(30)), ..settings("quinn-newreno") };
    let mut net = Net::new(&idle, 1, path());
    net.sender.supply(Time::ZERO, Supply::Bytes(3000));
    net.open();
    net.run(Time::from_secs_f64(29.0));
    let kinds = |events: &[(Time, EndpointEvent)]| events.iter().map(|(_, event)| *event).collect::<Vec<_>>();
    assert_eq!(kinds(&net.events), [EndpointEvent::Connected]);
    assert_eq!(kinds(&net.told), [EndpointEvent::Connected]);
    net.run(Time::from_secs_f64(40.0));
    let both = [EndpointEvent::Connected, EndpointEvent::Closed];
    assert_eq!((kinds(&net.events), kinds(&net.told)), (both.to_vec(), both.to_vec()));
    let closed = [&net.events, &net.told].map(|events| events[1].0);
    assert!(closed.iter().all(|at| (30_000..30_200).contains(&(at.as_nanos() / 1_000_000))), "{closed:?}");
    assert_eq!(net.sender.progress().waiting, Waiting::Nothing);
}

/// What a connection waits for, in the order in which it is asked.
#[test]
fn a_connection_says_what_it_waits_for() {
    let narrow = QuicSettings { receive_window: Bytes::new(16_384), ..settings("quinn-newreno") };
    for (settings, full) in [(narrow, Waiting::Receiver), (settings("quinn-newreno"), Waiting::Window)] {
        let mut net = Net::new(&settings, 1, path());
        assert_eq!(net.sender.progress().waiting, Waiting::Nothing);
        net.open();
        net.run(Time::from_millis(200));
        assert_eq!(net.sender.progress().waiting, Waiting::Application);
        // Data that has not left, of messages and of the stream.
        for what in [Supply::Bytes(300_000), Supply::Message(300_000)] {
            net.sender.supply(net.now, what);
            net.run(net.now + Duration::from_millis(20));
            assert_ne!(net.sender.progress().waiting, Waiting::Application);
            net.run(net.now + Duration::from_secs(5));
            assert_eq!(net.sender.progress().waiting, Waiting::Application);
        }
        net.sender.supply(net.now, Supply::Saturated(true));
        net.run(Time::from_millis(10_500));
        assert_eq!(net.sender.progress().waiting, full);
        net.silent = Some((Time::from_millis(10_500), Time::from_millis(12_000)));
        net.run(Time::from_millis(11_900));
        assert_eq!(net.sender.progress().waiting, Waiting::Timeout);
        net.run(Time::from_millis(19_000));
        assert_eq!(net.sender.progress().waiting, full);
        // What was kept ready and has not left was never written: the rest is a window.
        let before = net.receiver.progress().delivered_bytes;
        net.sender.supply(net.now, Supply::Saturated(false));
        net.run(Time::from_millis(19_500));
        assert_eq!(net.sender.progress().waiting, Waiting::Application);
        assert!(net.receiver.progress().delivered_bytes < before + 200_000);
        net.sender.close(net.now);
        net.run(Time::from_millis(19_600));
        assert_eq!(net.sender.progress().waiting, Waiting::Nothing);
    }
}

/// A control that paces (BBR) spreads packets over time: no two data packets leave at one instant, and none
/// earlier than the one before it takes at the rate shown then.
#[test]
fn a_control_that_paces_spreads_packets() {
    let mut net = Net::new(&settings("bbr"), 1, path());
    net.sender.supply(Time::ZERO, Supply::Saturated(true));
    net.open();
    net.run(Time::from_secs_f64(2.0));
    let mut shown = std::collections::BTreeMap::new();
    net.sender.observe(&mut |name, value| {
        shown.insert(name, value);
    });
    assert!((4e6..16e6).contains(&shown["pacing_rate_bps"]), "{shown:?}");
    let late = net.sent.iter().filter(|(at, out, _)| *out && *at > Time::from_secs_f64(1.5));
    let times: Vec<Time> = late.map(|(at, ..)| *at).collect();
    let least = times.windows(2).map(|pair| pair[1].saturating_since(pair[0])).min();
    // 1472 B take 1.47 ms at 8 Mbit/s; BBR probes with 1.25 times the rate.
    assert!(least.unwrap() >= Duration::from_micros(1100), "{least:?}");
    let mut unpaced = Net::new(&settings("quinn-newreno"), 1, path());
    unpaced.open();
    unpaced.sender.observe(&mut |name, value| {
        assert!(value.is_nan(), "{name}");
    });
}

/// The log tells what the counters count: packets, losses, probe timeouts, and the ends of both connections.
#[test]
fn a_log_tells_what_counters_count() {
    let mut net = Net::new(&QuicSettings { zero_rtt: true, ..settings("quinn-newreno") }, 1, path());
    net.sender.keep_log();
    net.receiver.keep_log();
    for opens in [0, 5000] {
        let at = Time::from_millis(opens);
        net.run(at);
        net.sender.supply(at, Supply::Bytes(700_000));
        net.sender.open(at);
        net.sender.close(at);
        net.silent = Some((Time::from_millis(opens + 100), Time::from_millis(opens + 400)));
        net.run(at + Duration::from_secs(4));
    }
    let (sent, received) = (net.sender.take_log(), net.receiver.take_log());
    let count = |log: &[LogEntry], name: &str, data: &str| {
        log.iter().filter(|entry| entry.name[5..] == *name && entry.data.contains(data)).count()
    };
    let (counts, progress) = (net.counts(), net.sender.progress());
    assert!(counts["probe_timeouts"] > 0.0 && counts["lost_packets"] > 0.0, "{counts:?}");
    assert_eq!(counts["connections"], 2.0);
    let early = net.sent.iter().filter(|(.., datagram)| kinds(datagram).contains(&PacketKind::ZeroRtt));
    assert_eq!(counts["zero_rtt_packets"], early.count() as f64);
    assert_eq!(count(&sent, "timer_updated", "pto") as f64, counts["probe_timeouts"]);
    assert_eq!(progress.timeouts as f64, counts["probe_timeouts"]);
    assert_eq!(count(&sent, "packet_lost", "") as f64, counts["lost_packets"]);
    for (log, initiator) in [(&sent, "local"), (&received, "remote")] {
        assert_eq!(count(log, "connection_started", ""), 2);
        assert_eq!(count(log, "connection_state_updated", "handshake_complete"), 2);
        assert_eq!((count(log, "connection_closed", initiator), count(log, "connection_closed", "")), (2, 2));
        let names: std::collections::BTreeSet<&str> = log.iter().map(|entry| &*entry.connection).collect();
        assert_eq!(names.len(), 2, "{names:?}");
        assert!(log.windows(2).all(|pair| pair[0].at <= pair[1].at));
    }
    // Datagrams hold one packet or several; each packet has one entry.
    let packets =
        |out: bool| net.sent.iter().filter(|sent| sent.1 == out).map(|sent| kinds(&sent.2).len()).sum();
    let sums: [usize; 2] = [packets(true), packets(false)];
    assert_eq!([&sent, &received].map(|log| count(log, "packet_sent", "")), sums);
    // RFC 9002, section 7.6: persistent congestion, which a silence of more than three probe timeouts is, lies
    // in a recovery period and leaves slow start; a connection begins in it.
    let states: Vec<&str> = sent
        .iter()
        .filter(|entry| entry.name == "quic:congestion_state_updated")
        .map(|entry| entry.data.rsplit('"').nth(1).unwrap())
        .collect();
    let each = ["slow_start", "persistent_congestion", "recovery", "slow_start", "congestion_avoidance"];
    assert_eq!((states, counts["persistent_congestion"]), ([each, each].concat(), 2.0));
    assert!(net.sender.take_log().is_empty());
}

/// Data for ever that is taken back at once: the block that quinn has taken leaves, what was kept ready was never
/// written.
#[test]
fn what_is_taken_back_was_never_written() {
    let mut net = Net::new(&settings("quinn-newreno"), 1, path());
    net.open();
    net.run(Time::from_millis(200));
    net.sender.supply(net.now, Supply::Saturated(true));
    net.sender.supply(net.now, Supply::Saturated(false));
    // Ten datagrams of the block leave at once (RFC 9002, section 7.2), the rest waits for the window.
    net.run(Time::from_millis(220));
    assert_eq!(net.sender.progress().waiting, Waiting::Window);
    net.run(Time::from_millis(2000));
    assert_eq!(net.receiver.progress().delivered_bytes, 16_384);
    net.sender.close(net.now);
    net.run(Time::from_millis(2100));
    assert_eq!(net.sender.progress().waiting, Waiting::Nothing);
}

/// A connection that died while it probed leaves nothing to the next: that begins without a timeout, and its streams
/// at their first byte.
#[test]
fn a_new_connection_has_nothing_of_the_old() {
    let idle = QuicSettings { idle_timeout: Some(Duration::from_secs(5)), ..settings("quinn-newreno") };
    let mut net = Net::new(&idle, 1, path());
    net.silent = Some((Time::from_millis(100), Time::from_millis(20_000)));
    net.sender.supply(Time::ZERO, Supply::Bytes(200_000));
    net.open();
    net.run(Time::from_millis(3000));
    assert_eq!(net.sender.progress().waiting, Waiting::Timeout);
    net.run(Time::from_millis(25_000));
    assert_eq!(net.event(EndpointEvent::Closed).map(|at| at < Time::from_millis(5200)), Some(true));
    let (probes, arrived) = (net.counts()["probe_timeouts"], net.receiver.progress().delivered_bytes);
    assert!(probes > 0.0 && arrived > 3000);
    net.sender.supply(net.now, Supply::Bytes(3000));
    net.open();
    net.run(Time::from_millis(25_010));
    assert_eq!((net.sender.progress().waiting, net.counts()["probe_timeouts"]), (Waiting::Window, probes));
    net.run(Time::from_millis(26_000));
    assert_eq!(net.receiver.progress().delivered_bytes, arrived + 3000);
    assert_eq!(
        (net.sender.progress().waiting, net.counts()["probe_timeouts"]),
        (Waiting::Application, probes)
    );
}
