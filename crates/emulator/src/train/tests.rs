//! The train under a clock made by hand.

use super::*;
use crate::Family;
use crate::clock::{Clock, Watch};
use crate::network::EmulatedNetwork;
use crate::observer::Observer;
use cogtcp_scenario::Scenario;
use cogtcp_transport::SeqNumber;

/// A download over a radio with an outage from 6 s to 8 s, to a client at the router or behind a LAN.
fn train(topology: &str, radio: &str, to: &str) -> Train {
    let text = format!(
        "name = \"t\"\n[run]\nduration = \"10 s\"\n{topology}\n[[radio]]\nname = \"r\"\nlinks = [\"{radio}\"]\n\
         silence = \"drop\"\nsensing = {{ off = \"2 s\", on = \"60 s\", start = \"6 s\" }}\n\
         [train]\nrouter = \"router\"\nradio = \"r\"\ntu_advance = 2.0\n\
         [[flow]]\nfrom = \"source\"\nto = \"{to}\"\ntransport = \"linux-reno\"\n"
    );
    let experiment = Scenario::parse(&text, "t.toml").and_then(|scenario| scenario.resolve()).unwrap();
    let plan = Plan::new(experiment, false, Family::V4).unwrap();
    Train::new(&plan, 1, Time::from_millis(10_000)).unwrap()
}

const AT_ROUTER: &str = "[topology.graph]\nnodes = [\"source\", \"router\"]\n\
    links = [{ name = \"air\", from = \"source\", to = \"router\", rate = \"10 Mbit/s\", delay = \"25 ms\" }]";
const LAN: &str = "[topology.graph]\nnodes = [\"source\", \"router\", \"client\"]\nlinks = [\n\
    { name = \"air\", from = \"source\", to = \"router\", rate = \"10 Mbit/s\", delay = \"25 ms\" },\n\
    { name = \"lan\", from = \"router\", to = \"client\", rate = \"10 Mbit/s\", delay = \"5 ms\" }]";

fn ms(millis: u64) -> Time {
    Time::from_millis(millis)
}

/// From the server at `host`, which listens for the first flow, to the source.
fn end(host: usize, port: u16) -> SocketAddr {
    (packet::address(host), port).into()
}

fn ends(host: usize) -> PacketEnds {
    PacketEnds { from: end(host, packet::FIRST_PORT), to: end(0, 40_000) }
}

fn packet_of(ends: PacketEnds, flags: Flags, window: u16) -> Vec<u8> {
    let segment = Segment::new(SeqNumber::new(100), SeqNumber::new(200), 0, window, flags);
    segments::acknowledgement(ends, &segment)
}

fn window(bytes: &[u8]) -> u16 {
    segments::read(bytes).unwrap().1.window
}

/// The three packets of a handshake, 50 ms long for the server, and an ACK with a window of 1000.
fn connect(train: &mut Train, host: usize) {
    train.incoming(ms(1), host, &mut packet_of(ends(host).reversed(), Flags::SYN, 9));
    train.outgoing(ms(1), host, &mut packet_of(ends(host), Flags::SYN | Flags::ACK, 9));
    train.incoming(ms(51), host, &mut packet_of(ends(host).reversed(), Flags::ACK, 9));
    let mut ack = packet_of(ends(host), Flags::ACK, 1000);
    train.outgoing(ms(52), host, &mut ack);
    assert_eq!(window(&ack), 1000);
}

/// What it sends when it is asked at `now`.
fn sent(train: &mut Train, now: Time) -> Vec<Sent> {
    train.step(now);
    std::iter::from_fn(|| train.poll()).collect()
}

#[test]
fn a_client_at_the_router_is_frozen_and_thawed() {
    let mut train = train(AT_ROUTER, "air", "router");
    assert_eq!((train.at, &train.clients[..], train.holds()), (1, &[1][..], Some(1)));
    // Told without a message.
    assert!(sent(&mut train, ms(0)).is_empty());
    connect(&mut train, 1);
    assert!(sent(&mut train, ms(1000)).is_empty());
    assert_eq!(train.router.machine.rtt_tcp(), Duration::from_millis(50));
    // Two of it ahead.
    assert!(sent(&mut train, ms(5899)).is_empty());
    let warned = sent(&mut train, ms(5900));
    assert_eq!(warned.len(), ConnectionManager::FREEZE_ACKS);
    for ack in &warned {
        let Sent::From(1, bytes) = ack else { panic!("{ack:?}") };
        let (connection, segment) = segments::read(bytes).unwrap();
        assert_eq!((connection, segment.window, segment.ack), (ends(1), 0, SeqNumber::new(200)));
    }
    let mut ack = packet_of(ends(1), Flags::ACK, 800);
    train.outgoing(ms(6500), 1, &mut ack);
    assert_eq!(window(&ack), 0);
    // What comes to it is left alone, and so is what others send.
    let mut data = packet_of(ends(1).reversed(), Flags::ACK, 77);
    train.incoming(ms(6500), 1, &mut data);
    assert_eq!(window(&data), 77);
    train.outgoing(ms(6500), 0, &mut data);
    assert_eq!(window(&data), 77);
    // TD_advance is half of the outage: at 7 s, held by the router until 8 s.
    let cleared = sent(&mut train, ms(7000));
    assert_eq!(cleared.len(), ConnectionManager::THAW_ACKS);
    assert!(cleared.iter().all(|ack| matches!(ack, Sent::From(1, bytes) if window(bytes) == 800)));
    assert_eq!(train.frozen(0, ms(9000)), Some((0, Duration::from_millis(1100))));
    let kinds: Vec<EventKind> = train.events.iter().map(|it| it.kind).collect();
    let told = [EventKind::TriggerDown, EventKind::Freeze, EventKind::TriggerUp, EventKind::Thaw];
    assert_eq!(kinds, told);
    // Closed from both ends, it is no connection any more.
    train.outgoing(ms(9000), 1, &mut packet_of(ends(1), Flags::FIN | Flags::ACK, 5));
    train.incoming(ms(9000), 1, &mut packet_of(ends(1).reversed(), Flags::FIN | Flags::ACK, 5));
    assert!(train.connections.is_empty());
}

/// What the train sends reaches its other host after 5 ms, and no kernel.
#[test]
fn messages_cross_the_lan() {
    let mut train = train(LAN, "air", "client");
    assert_eq!((train.at, &train.clients[..]), (1, &[2][..]));
    connect(&mut train, 2);
    let requests = sent(&mut train, ms(100));
    let [Sent::From(1, request)] = &requests[..] else { panic!("{requests:?}") };
    assert_eq!(request.len(), 64);
    assert!(train.incoming(ms(105), 2, &mut request.clone()));
    let replies: Vec<Sent> = std::iter::from_fn(|| train.poll()).collect();
    let [Sent::From(2, reply)] = &replies[..] else { panic!("{replies:?}") };
    assert!(train.incoming(ms(110), 1, &mut reply.clone()));
    assert_eq!(train.router.machine.rtt_tcp(), Duration::from_millis(50));
    assert_eq!(train.router.machine.rtt_local(), Duration::from_millis(10));
    assert_eq!(train.router.message_bytes, 128);
    let warned = sent(&mut train, ms(5900));
    let Some(Sent::From(1, down)) = warned.last() else { panic!("{warned:?}") };
    // Frozen when the message has come, not when it left.
    let mut ack = packet_of(ends(2), Flags::ACK, 800);
    train.outgoing(ms(5901), 2, &mut ack);
    assert_eq!(window(&ack), 800);
    assert!(train.incoming(ms(5905), 2, &mut down.clone()));
    train.outgoing(ms(5906), 2, &mut ack);
    assert_eq!(window(&ack), 0);
    assert_eq!(std::iter::from_fn(|| train.poll()).count(), ConnectionManager::FREEZE_ACKS);
    // A datagram of somebody else's passes.
    let other = PacketEnds { from: end(1, 5), to: end(2, wire::PORT) };
    let mut bytes = headers::write_udp(other, &wire::encode(RouterMessage::GoingUp, ms(0)));
    assert!(!train.incoming(ms(5907), 2, &mut bytes));
}

/// An upload is held beside it: the ACKs that arrive are closed, and one is made for its kernel.
#[test]
fn a_program_is_held_both_ways() {
    let mut train = train(AT_ROUTER, "air", "router");
    let connection = PacketEnds { from: end(1, 40_001), to: end(0, 80) };
    train.outgoing(ms(1), 1, &mut packet_of(connection, Flags::SYN, 9));
    train.incoming(ms(51), 1, &mut packet_of(connection.reversed(), Flags::SYN | Flags::ACK, 9));
    train.outgoing(ms(52), 1, &mut packet_of(connection, Flags::ACK, 500));
    train.incoming(ms(102), 1, &mut packet_of(connection.reversed(), Flags::ACK, 600));
    sent(&mut train, ms(1000));
    let warned = sent(&mut train, ms(5950));
    let into: Vec<&Sent> = warned.iter().filter(|it| matches!(it, Sent::Into(..))).collect();
    let [Sent::Into(1, bytes)] = into[..] else { panic!("{warned:?}") };
    assert_eq!(
        segments::read(bytes).map(|(connection, it)| (connection, it.window)),
        Some((connection.reversed(), 0))
    );
    assert_eq!(warned.len(), 1 + ConnectionManager::FREEZE_ACKS);
    let mut ack = packet_of(connection.reversed(), Flags::ACK, 600);
    train.incoming(ms(6000), 1, &mut ack);
    assert_eq!(window(&ack), 0);
    let mut own = packet_of(connection, Flags::ACK, 500);
    train.outgoing(ms(6000), 1, &mut own);
    assert_eq!(window(&own), 0);
    // A reset ends it.
    train.incoming(ms(6001), 1, &mut packet_of(connection.reversed(), Flags::RST, 0));
    assert!(train.connections.is_empty());
}

/// Falling levels announce outages of unknown end: only the link tells the router when such an outage is
/// over. Network and observer are a run's; hosts are missing.
#[test]
fn a_link_that_is_up_again_ends_an_outage_of_unknown_end() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/train-journey.toml");
    let scenario = Scenario::read(std::path::Path::new(file)).unwrap();
    let scenario = scenario.set("train.prediction", "{ signal_strength = {} }").unwrap();
    let plan = Plan::new(scenario.resolve().unwrap(), true, Family::V4).unwrap();
    let end = Time::ZERO + plan.experiment.run.duration;
    let mut network = EmulatedNetwork::new(&plan.experiment, plan.routes.clone(), 1, end).unwrap();
    let mut observer = Observer::new(
        (Vec::new(), Vec::new()),
        plan.ports(),
        Watch::asking(Clock::start()),
        Vec::new(),
        Vec::new(),
        None,
    );
    let mut train = Train::new(&plan, 1, end).unwrap();
    train.listen(network.network.boards());
    observer.train = Some(train);
    loop {
        let train = observer.train.as_mut().unwrap();
        let now = network.next_change().min(train.next());
        if now > end {
            break;
        }
        network.play(now, &mut observer);
        let train = observer.train.as_mut().unwrap();
        train.step(now);
        train.outbox.clear();
    }
    let train = observer.train.unwrap();
    let predicted = train.router.machine.predicted();
    let announced: Vec<_> = predicted.iter().filter(|it| it.warned.is_some()).collect();
    let of_unknown_end = announced.iter().filter(|it| it.prediction.end.is_none()).count();
    assert!(of_unknown_end >= 3, "{predicted:?}");
    // The next announcement takes the place of one that is not over.
    let last = announced.last().unwrap();
    assert!(last.cleared.is_some(), "{last:?}");
    // Each outage that came after its announcement has ended with the link.
    let ended = announced.iter().filter_map(|it| it.cleared);
    let ended: Vec<Time> =
        ended.filter(|at| train.router.outages.iter().any(|outage| outage.end == *at)).collect();
    assert!(ended.len() >= 3, "{ended:?}");
}
