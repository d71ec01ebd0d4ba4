//! The grid against looking at all pairs, while nodes move.

use cogtcp_mobility::{Area, Mobility, NeighborGrid, RandomWaypoint, Start, Trajectory, Vertex};
use cogtcp_units::{Duration, Position, RandomStream, Time};

fn moving(nodes: usize, side: f64, seed: u64) -> Mobility {
    let model = RandomWaypoint {
        area: Area::new(side, side),
        min_speed: 1.0,
        max_speed: 30.0,
        min_pause: Duration::ZERO,
        max_pause: Duration::from_secs(2),
        start: Start::Stationary,
    };
    model.generate(nodes, Duration::from_secs(100), seed).unwrap()
}

fn all_pairs(mobility: &Mobility, now: Time, node: usize, range: f64) -> Vec<u32> {
    let at = mobility.position(node, now);
    let near = |other: &usize| *other != node && mobility.position(*other, now).distance(at) <= range;
    (0..mobility.len()).filter(near).map(|other| other as u32).collect()
}

#[test]
fn neighbors_are_those_within_range_at_any_time() {
    for (seed, range) in [(1, 50.0), (2, 250.0), (3, 5000.0), (4, 0.0)] {
        let mobility = moving(60, 1000.0, seed);
        let mut grid = NeighborGrid::new(&mobility, range);
        let mut draw = RandomStream::new(seed, "grid", 0);
        // Times in any order: an earlier one is no less right.
        for _ in 0..300 {
            // Up to 10 s after the end of the movement.
            let now = Time::from_nanos(draw.below(110_000_000_000));
            let node = draw.below(60) as u32;
            let found = grid.neighbors(&mobility, now, node);
            assert_eq!(found.nodes, all_pairs(&mobility, now, node as usize, range), "{now:?} {node}");
            let at = mobility.position(node as usize, now);
            let mut around = grid.near(&mobility, now, at);
            around.retain(|other| *other != node);
            assert_eq!(around, found.nodes);
        }
    }
}

/// From one look to the next change said, the neighbours stay the same; and changes are found: following them
/// from the beginning gives as many as sampling every 10 ms, or more.
#[test]
fn nobody_comes_or_goes_before_the_next_change() {
    let mobility = moving(40, 800.0, 5);
    let mut grid = NeighborGrid::new(&mobility, 200.0);
    let end = Time::from_millis(30_000);
    for node in [0_u32, 7, 23] {
        let (mut now, mut changes, mut looks) = (Time::ZERO, 0, 0);
        let mut before = grid.neighbors(&mobility, now, node);
        while before.until < end {
            assert!(before.until > now);
            for share in [1, 3, 9] {
                let within = now + (before.until - now).mul_ratio(share, 10);
                assert_eq!(all_pairs(&mobility, within, node as usize, 200.0), before.nodes, "{within:?}");
            }
            let last = Time::from_nanos(before.until.as_nanos() - 1);
            assert_eq!(all_pairs(&mobility, last.max(now), node as usize, 200.0), before.nodes);
            now = before.until;
            let after = grid.neighbors(&mobility, now, node);
            changes += usize::from(after.nodes != before.nodes);
            before = after;
            looks += 1;
        }
        let sampled: Vec<_> = (0..3000)
            .map(|i| all_pairs(&mobility, Time::from_millis(i * 10), node as usize, 200.0))
            .collect();
        let seen = sampled.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert!(changes >= seen && changes > 5, "{changes} changes, {seen} seen");
        assert!(looks < 5000, "{looks} looks in 30 s");
    }
}

/// By hand: a node passes another at 10 m/s, 30 m beside it, range 50 m: within for 80 m, from 4 s before the
/// closest point to 4 s after.
#[test]
fn a_passing_node_by_hand() {
    let vertex = |seconds: u64, x: f64| Vertex {
        time: Time::from_millis(seconds * 1000),
        position: Position::new(x, 30.0),
    };
    let passing = Trajectory::new(vec![vertex(0, -100.0), vertex(20, 100.0)]).unwrap();
    let mobility = Mobility::new(vec![Trajectory::still(Position::new(0.0, 0.0)), passing]);
    let mut grid = NeighborGrid::new(&mobility, 50.0);
    let mut changes = Vec::new();
    let (mut now, mut before) = (Time::ZERO, Vec::new());
    while now < Time::from_millis(25_000) {
        let look = grid.neighbors(&mobility, now, 0);
        if look.nodes != before {
            // Crossings are roots of a quadratic, not exact to the nanosecond.
            changes.push((now.as_secs_f64() * 1e6).round() / 1e6);
        }
        (now, before) = (look.until, look.nodes);
    }
    assert_eq!(changes, [6.0, 14.0]);
}

/// By hand: a node was sorted at 205 m, beyond the squares that a look-up of 100 m from 70 m covers; 4 s
/// later it has come to 165 m, which is within range, and the nodes are not sorted again yet.
#[test]
fn a_node_that_left_its_square_is_found() {
    let vertex = |seconds: u64, x: f64| Vertex {
        time: Time::from_millis(seconds * 1000),
        position: Position::new(x, 0.0),
    };
    let coming = Trajectory::new(vec![vertex(0, 205.0), vertex(10, 105.0)]).unwrap();
    let mobility = Mobility::new(vec![Trajectory::still(Position::new(70.0, 0.0)), coming]);
    let mut grid = NeighborGrid::new(&mobility, 100.0);
    let now = Time::from_millis(4000);
    assert_eq!(grid.near(&mobility, now, Position::new(70.0, 0.0)), [0, 1]);
}

#[test]
fn nodes_that_stand_still_never_change() {
    let places: Vec<_> =
        (0..50).map(|i| Position::new(f64::from(i % 7) * 100.0, f64::from(i / 7) * 100.0)).collect();
    let mobility = Mobility::still(&places);
    let mut grid = NeighborGrid::new(&mobility, 100.0);
    let found = grid.neighbors(&mobility, Time::from_millis(12_345), 8);
    assert_eq!((found.nodes, found.until), (vec![1, 7, 9, 15], Time::MAX));
    let one_point = Mobility::still(&[Position::new(5.0, 5.0); 4]);
    assert_eq!(NeighborGrid::new(&one_point, 0.0).neighbors(&one_point, Time::ZERO, 2).nodes, [0, 1, 3]);
    let alone = Mobility::still(&places[..1]);
    assert!(NeighborGrid::new(&alone, 1e6).neighbors(&alone, Time::ZERO, 0).nodes.is_empty());
}

/// By hand: nobody can come within 100 m of a lone node before both have gone half of the 100 m that are
/// looked at beyond the range. At 10 m/s that is 5 s.
#[test]
fn a_lone_node_need_not_look_soon() {
    let vertex = |seconds: u64, x: f64| Vertex {
        time: Time::from_millis(seconds * 1000),
        position: Position::new(x, 0.0),
    };
    let trajectory = |from: f64| Trajectory::new(vec![vertex(0, from), vertex(100, from + 1000.0)]).unwrap();
    let mobility = Mobility::new(vec![trajectory(0.0), trajectory(50_000.0)]);
    let look = NeighborGrid::new(&mobility, 100.0).neighbors(&mobility, Time::ZERO, 0);
    assert_eq!((look.nodes, look.until), (vec![], Time::from_millis(5000)));
}
