//! Networks that stand still, fall apart and heal.

use crate::world::air::{Setting, World};
use cogtcp_routing::{MessageKind, NodeAddress, RoutingEvent, RoutingSpec};
use cogtcp_units::{Duration, Position, Time};

fn still(nodes: u32) -> World {
    let setting = Setting {
        routing: RoutingSpec::default(),
        nodes,
        side: 200.0,
        delay: Duration::from_millis(2),
        loss: 0.0,
        feedback: true,
        speed: 0.0,
        traffic: false,
    };
    World::new(setting, 3)
}

/// A chain of 200 m steps: each hears only the next.
fn chain(world: &mut World) {
    for (number, position) in world.positions.iter_mut().enumerate() {
        *position = Position::new(number as f64 * 200.0, 0.0);
    }
}

fn seconds(seconds: u64) -> Time {
    Time::from_millis(seconds * 1000)
}

/// Sends `count` packets from the first to the last node, 50 ms apart, and returns how many arrive.
fn deliver(world: &mut World, count: u64, to: u32) -> u64 {
    let before = world.delivered;
    for _ in 0..count {
        world.send(0, to);
        let next = world.now + Duration::from_millis(50);
        world.run(next);
    }
    world.run(world.now + Duration::from_millis(500));
    world.delivered - before
}

#[test]
fn a_chain_of_six_finds_the_shortest_path() {
    let mut world = still(6);
    chain(&mut world);
    world.send(0, 5);
    world.run(seconds(3));
    let route = world.nodes[0].route(world.now, NodeAddress::new(5)).unwrap();
    assert_eq!((route.next_hop, route.hops), (NodeAddress::new(1), 5));
    let found = |(node, event): &(usize, RoutingEvent)| {
        *node == 0
            && matches!(event, RoutingEvent::RouteFound { destination, hops: 5, .. } if destination.number() == 5)
    };
    assert!(world.happened.iter().any(found));
}

/// Two nodes alone: the neighbour is found by the first ring, without anybody else.
#[test]
fn two_nodes() {
    let mut world = still(2);
    assert_eq!(deliver(&mut world, 10, 1), 10);
    let requests = |node: usize| world.nodes[node].stats().of(MessageKind::Request);
    assert_eq!((requests(0), requests(1)), (1, 0));
}

/// The chain breaks in the middle: searches fail; it heals: packets arrive again, within the time of a
/// search.
#[test]
fn a_partition_heals() {
    let mut world = still(6);
    chain(&mut world);
    assert_eq!(deliver(&mut world, 20, 5), 20);
    for number in 3..6 {
        world.positions[number].y = 5000.0;
    }
    world.happened.clear();
    let apart = world.delivered;
    for _ in 0..300 {
        world.send(0, 5);
        world.run(world.now + Duration::from_millis(50));
    }
    let failed = RoutingEvent::DiscoveryFailed { destination: NodeAddress::new(5) };
    assert!(world.happened.iter().any(|(node, event)| *node == 0 && *event == failed));
    assert_eq!(world.delivered, apart);
    assert_eq!(world.nodes[0].route(world.now, NodeAddress::new(5)), None);
    for number in 3..6 {
        world.positions[number].y = 0.0;
    }
    // A search that nobody answers ends after 10.32 s: the last one is over.
    world.run(world.now + Duration::from_secs(12));
    assert_eq!(deliver(&mut world, 40, 5), 40);
}

/// All nodes on one point: everybody is everybody's neighbour.
#[test]
fn nodes_on_one_point() {
    let mut world = still(8);
    for position in &mut world.positions {
        *position = Position::new(10.0, 10.0);
    }
    assert_eq!(deliver(&mut world, 20, 7), 20);
    let route = world.nodes[0].route(world.now, NodeAddress::new(7)).unwrap();
    assert_eq!((route.next_hop, route.hops), (NodeAddress::new(7), 1));
}

/// One node alone: searches fail, and nothing else happens.
#[test]
fn one_node_alone() {
    let mut world = still(2);
    world.positions[1] = Position::new(9000.0, 0.0);
    assert_eq!(deliver(&mut world, 3, 1), 0);
    world.run(seconds(60));
    let stats = world.nodes[0].stats();
    assert_eq!((stats.discoveries, stats.failed, stats.found), (1, 1, 0));
}
