//! What every connection must hold, under patterns of loss and silence that are drawn.

use crate::committed::{compare_cases, hash};
use crate::net::{Net, Path};
use cogtcp_endpoint::{EndpointEvent, Supply};
use cogtcp_quic::QuicSettings;
use cogtcp_units::{Duration, RandomStream, Rate, Time};

/// Every case: a path, losses both ways and a silence are drawn; two files go over two connections.
///
/// Held: all bytes arrive, once; both connections close; no end asks for the same time without end
/// (`Net::run`); the sender sent what the receiver saw and the path dropped; the link carries no more than
/// its rate; what is in flight is bounded by the window.
fn play(case: u64, control: &str) -> u64 {
    let mut draw = RandomStream::new(case, "quic conformance", 0);
    let path = Path {
        rate: Rate::from_bits_per_second(100_000 + draw.below(20_000_000)),
        delay: Duration::from_micros(100 + draw.below(200_000)),
        queue: 2 + draw.below(60) as usize,
    };
    let settings = QuicSettings {
        control: control.to_owned(),
        zero_rtt: draw.below(2) == 0,
        ack_frequency: (draw.below(3) == 0).then(|| 1 + draw.below(10) as u32),
        rebinds_after: (draw.below(4) == 0).then(|| Duration::from_nanos(1 + draw.below(5_000_000_000))),
        ..QuicSettings::default()
    };
    let mut net = Net::new(&settings, case, path);
    net.keeps = false;
    net.loss = Some((draw.below(30), draw.below(300)));
    let from = Time::from_nanos(draw.below(2_000_000_000));
    net.silent = Some((from, from + Duration::from_nanos(draw.below(20_000_000_000))));
    let size = 1 + draw.below(60_000);
    let mut from_link = 0;
    for round in 1..=2 {
        let begin = net.now;
        net.sender.supply(begin, Supply::Bytes(size));
        net.sender.supply(begin, Supply::Message(size));
        net.sender.open(begin);
        net.sender.close(begin);
        let closed =
            |net: &Net| net.events.iter().filter(|(_, event)| *event == EndpointEvent::Closed).count();
        // A silence of 20 s lets the probe timeout back off to about as much; then losses of 30 % slow the
        // rest.
        let deadline = begin + Duration::from_secs(3_000);
        while closed(&net) < round && net.now < deadline {
            net.run(net.now + Duration::from_secs(1));
            let progress = net.sender.progress();
            // Probes and the handshake may exceed the window; it may have fallen below what was in flight.
            assert!(progress.in_flight_bytes.unwrap() <= 1 << 20, "case {case}: {progress:?}");
        }
        assert_eq!(
            closed(&net),
            round,
            "case {case}, {control}: no end after {:?}; {settings:?} {path:?}",
            net.now
        );
        let delivered = net.receiver.progress();
        assert_eq!(delivered.delivered_bytes, 2 * size * round as u64, "case {case}");
        assert_eq!(delivered.received_bytes, delivered.delivered_bytes, "case {case}");
        assert!(delivered.received_bytes + delivered.duplicate_bytes <= net.sender.progress().sent_bytes);
        let seconds = net.now.as_secs_f64() + net.backlog().as_secs_f64();
        assert!(net.on_link as f64 * 8.0 <= path.rate.bits_per_second() as f64 * seconds + 8.0);
        assert!(net.on_link >= from_link);
        from_link = net.on_link;
    }
    let told = (&net.events, net.sender.progress(), net.receiver.progress(), net.counts());
    hash(format!("{told:?}").as_bytes())
}

/// 1,000 cases over all kinds of controls.
#[test]
fn any_pattern_of_loss_and_silence_ends() {
    let controls = [
        "quinn-newreno",
        "quinn-cubic",
        "c2",
        "westwood",
        "vegas",
        "compound",
        "cubic",
        "bbr",
        "newreno",
        "linux-bbr",
    ];
    // The reports of both ends are committed.
    compare_cases("cases", (0..1000).map(|case| play(case, controls[case as usize % controls.len()])));
}

/// An idle connection asks for nothing after its last acknowledgement.
#[test]
fn an_idle_connection_sleeps() {
    let path =
        Path { rate: Rate::from_bits_per_second(1_000_000), delay: Duration::from_millis(50), queue: 10 };
    let mut net = Net::new(&QuicSettings::default(), 3, path);
    net.sender.supply(Time::ZERO, Supply::Bytes(5000));
    net.open();
    net.run(Time::from_secs_f64(5.0));
    assert_eq!((net.sender.poll_timeout(), net.receiver.poll_timeout()), (Time::MAX, Time::MAX));
    assert_eq!(net.receiver.progress().delivered_bytes, 5000);
}

#[test]
fn a_peer_that_never_answers_is_asked_ever_more_rarely() {
    let path =
        Path { rate: Rate::from_bits_per_second(1_000_000), delay: Duration::from_millis(50), queue: 10 };
    let mut net = Net::new(&QuicSettings::default(), 3, path);
    net.silent = Some((Time::ZERO, Time::MAX));
    net.sender.supply(Time::ZERO, Supply::Saturated(true));
    net.open();
    net.run(Time::from_secs_f64(600.0));
    // The first probe timeout is 3 x 333 ms (RFC 9002, section 6.2.2), and each doubles: 1, 2, 4, ... 512 s.
    assert_eq!(net.sender.progress().timeouts, 9);
    let gaps: Vec<_> = net.sent.windows(2).map(|pair| pair[1].0.saturating_since(pair[0].0)).collect();
    assert!(gaps.iter().max().unwrap() >= &Duration::from_secs(200));
    // A time-out of idleness ends it where one is set.
    let settings = QuicSettings { idle_timeout: Some(Duration::from_secs(30)), ..QuicSettings::default() };
    let mut net = Net::new(&settings, 3, path);
    net.silent = Some((Time::ZERO, Time::MAX));
    net.sender.supply(Time::ZERO, Supply::Saturated(true));
    net.open();
    net.run(Time::from_secs_f64(600.0));
    assert_eq!(net.event(EndpointEvent::Closed), Some(Time::from_millis(30_000)));
}
