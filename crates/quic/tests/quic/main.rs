//! Both ends over a link made by hand.

#[path = "../../../units/tests/support/committed.rs"]
mod committed;
mod conformance;
mod net;

use cogtcp_endpoint::{EndpointEvent, Supply};
use cogtcp_quic::wire::PacketKind;
use cogtcp_quic::{QuicSettings, kinds};
use cogtcp_units::{Duration, Rate, Time};
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
