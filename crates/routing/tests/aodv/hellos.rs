//! Hellos and local connectivity: sections 6.9 and 6.10.

use crate::aodv::harness::*;
use cogtcp_routing::message::Hello;
use cogtcp_routing::{AodvConfig, LossCause, RoutingEvent, RoutingMessage};
use cogtcp_units::Duration;

fn with_hellos() -> AodvConfig {
    AodvConfig { hello: true, hello_always: true, ..rfc() }
}

/// 6.9: every HELLO_INTERVAL a reply about oneself with time to live 1 and a life of ALLOWED_HELLO_LOSS *
/// HELLO_INTERVAL.
#[test]
fn hellos_go_out_every_interval() {
    let mut node = TestNode::new(with_hellos());
    let mut times = Vec::new();
    for now in 0..5000 {
        node.at(now);
        for packet in node.sent() {
            assert_eq!((packet.to, packet.ttl, packet.bytes), (ALL, 1, 48));
            let hello = Hello { sequence: 0, lifetime: Duration::from_secs(2) };
            assert_eq!(packet.message, RoutingMessage::Hello(hello));
            times.push(now);
        }
    }
    assert_eq!(times.len(), 5);
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] == 1000), "{times:?}");
}

/// 6.9: a broadcast within the last interval takes the hello's place.
#[test]
fn a_request_takes_the_place_of_a_hello() {
    let mut node = TestNode::new(with_hellos());
    let first = node.aodv.poll_timeout().as_nanos() / 1_000_000 + 1;
    node.at(first).sent();
    node.at(first + 500);
    node.data(TARGET);
    assert_eq!(node.sent().len(), 1);
    let mut hellos = Vec::new();
    for now in first + 501..first + 4500 {
        node.at(now);
        let hello = node.sent().iter().any(|packet| matches!(packet.message, RoutingMessage::Hello(_)));
        hellos.extend(hello.then_some(now - first));
    }
    // The requests of the search: 500, 740, 1140, 1700, 2420 ms. Hellos are due at 1000, 2000, 3000 and have
    // a request within a second before them; the first that does not is due at 4000.
    assert_eq!(hellos, [4000]);
}

/// 6.9: only nodes on an active route say hello.
#[test]
fn nodes_off_the_routes_are_silent() {
    let config = AodvConfig { hello_always: false, ..with_hellos() };
    let mut node = TestNode::new(config);
    node.hello(A, 3);
    node.at(1500);
    assert!(node.sent().is_empty());
    node.reply(A, rrep(SELF, 3, 9));
    node.data(TARGET);
    node.at(2600);
    assert!(!node.sent().is_empty());
}

/// 6.9: a node is on a route too by which only others send: it has precursors.
#[test]
fn nodes_with_precursors_say_hello() {
    let config = AodvConfig { hello_always: false, ..with_hellos() };
    let mut node = TestNode::new(config);
    node.request(A, 5, rreq(2, 1, 40, None)).reply(B, rrep(SOURCE, 3, 9));
    node.sent();
    node.at(2600);
    let sent = node.sent();
    assert!(sent.iter().any(|packet| matches!(packet.message, RoutingMessage::Hello(_))), "{sent:?}");
}

/// 6.9: a hello makes or renews the route to the neighbour: its number, and a life of at least its lifetime.
#[test]
fn a_hello_makes_a_route_to_the_neighbor() {
    let mut node = TestNode::new(with_hellos());
    node.at(100).hello(A, 7);
    // ACTIVE_ROUTE_TIMEOUT, 3 s, is longer than the 2 s of the hello.
    assert_eq!((node.route(A), node.expires(A)), (Some((A, 1, Some(7))), 3100));
    node.at(200).hello(A, 6);
    assert_eq!(node.route(A), Some((A, 1, Some(7))), "an older number does not count");
}

/// 6.9: a neighbour that said hello and then nothing for ALLOWED_HELLO_LOSS * HELLO_INTERVAL is gone; any
/// message counts.
#[test]
fn a_silent_neighbor_is_lost() {
    let mut node = TestNode::new(with_hellos());
    node.hello(A, 7).reply(A, rrep(SELF, 3, 9));
    node.data(TARGET);
    node.at(1500).hear(A, ALL, 1, RoutingMessage::ReplyAck);
    node.at(3499);
    node.events();
    assert!(node.route(TARGET).is_some());
    node.at(3500);
    assert_eq!((node.route(TARGET), node.route(A)), (None, None));
    let lost = RoutingEvent::RouteLost { destination: TARGET, cause: LossCause::LinkBroken };
    assert!(node.events().contains(&lost));
}

/// A data packet from the neighbour shows too that it is there.
#[test]
fn data_shows_that_a_neighbor_is_there() {
    let mut node = TestNode::new(with_hellos());
    node.hello(A, 7).reply(B, rrep(SELF, 3, 9));
    node.at(1900);
    node.relay(SOURCE, TARGET, A);
    node.at(3800);
    assert!(node.route(A).is_some());
    node.at(3900);
    assert!(node.route(A).is_none());
}

/// 6.9: who never said hello is not missed.
#[test]
fn only_neighbors_that_say_hello_are_missed() {
    let mut node = TestNode::new(with_hellos());
    node.reply(A, rrep(SELF, 3, 9));
    node.at(5000);
    assert!(node.route(TARGET).is_some());
}

/// 6.9: the route to a neighbour lives as long as its hello says, where that is longer than
/// ACTIVE_ROUTE_TIMEOUT.
#[test]
fn a_hello_says_how_long_the_route_lives() {
    let mut node = TestNode::new(with_hellos());
    let hello = Hello { sequence: 7, lifetime: Duration::from_secs(5) };
    node.at(100).hear(A, ALL, 1, RoutingMessage::Hello(hello));
    assert_eq!(node.expires(A), 5100);
}

/// 6.9: a neighbour is missed that said a hello within DELETE_PERIOD (15 s); of one that has only sent other
/// things since then it is not known that it would say another.
#[test]
fn a_neighbor_that_says_hello_no_more_is_not_missed() {
    for (last_hello, missed) in [(0, false), (4, true)] {
        let mut node = TestNode::new(with_hellos());
        let reply =
            cogtcp_routing::message::RouteReply { lifetime: Duration::from_secs(60), ..rrep(SELF, 3, 9) };
        node.hello(A, 7).reply(A, reply);
        for second in 1..=16 {
            node.at(second * 1000);
            if second == last_hello {
                node.hello(A, 7);
            } else {
                node.hear(A, ALL, 1, RoutingMessage::ReplyAck);
            }
        }
        // The neighbour was last heard at 16 s.
        node.at(17_999);
        assert!(node.route(TARGET).is_some());
        node.at(18_001);
        assert_eq!(node.route(TARGET).is_none(), missed, "last hello at {last_hello} s");
    }
}
