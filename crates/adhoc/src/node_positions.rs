//! Where nodes are, for the medium.

use cogtcp_mobility::{Mobility, Vertex};
use cogtcp_units::{Position, Time};
use cogtcp_wireless::Positions;
use std::sync::Arc;

/// The trajectories of all nodes, and the leg on which each was last: times hardly ever run backwards.
#[derive(Clone, Debug)]
pub struct NodePositions {
    mobility: Arc<Mobility>,
    legs: Vec<Leg>,
    max_speed: f64,
}

/// A straight piece of a trajectory, all that a place on it takes: one line of cache, since every frame asks
/// for everybody nearby.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Leg {
    /// Its number, by the vertex at which it begins.
    number: u32,
    /// From when until when the node is on it. Before the first vertex it stands there, after the last as
    /// well.
    from: Time,
    until: Time,
    start: Position,
    /// From its start to its end, m, and the time that takes, ns.
    shift: (f64, f64),
    span: f64,
}

impl Leg {
    fn new(vertices: &[Vertex], number: u32) -> Self {
        let from = vertices[number as usize];
        let leg = Self {
            number,
            from: from.time,
            until: Time::MAX,
            start: from.position,
            shift: (0.0, 0.0),
            // Anything but zero: the node stays at the start.
            span: 1.0,
        };
        let Some(to) = vertices.get(number as usize + 1) else { return leg };
        let (there, here) = (to.position, from.position);
        let shift = (there.x - here.x, there.y - here.y);
        Self { until: to.time, shift, span: (to.time - from.time).as_nanos() as f64, ..leg }
    }

    /// As `Trajectory::position` has it, to the last bit.
    #[inline]
    fn position(&self, now: Time) -> Position {
        let share = now.saturating_since(self.from).as_nanos() as f64 / self.span;
        Position::new(self.start.x + self.shift.0 * share, self.start.y + self.shift.1 * share)
    }
}

impl NodePositions {
    /// The places of nodes on these trajectories.
    pub fn new(mobility: Arc<Mobility>) -> Self {
        let legs =
            mobility.trajectories().iter().map(|trajectory| Leg::new(trajectory.vertices(), 0)).collect();
        Self { legs, max_speed: mobility.max_speed(), mobility }
    }

    /// The node is on another leg.
    #[cold]
    fn turn(&mut self, node: u32, now: Time) {
        let vertices = self.mobility.trajectories()[node as usize].vertices();
        let leg = &mut self.legs[node as usize];
        let mut number = leg.number;
        while vertices.get(number as usize + 1).is_some_and(|next| next.time <= now) {
            number += 1;
        }
        while number > 0 && vertices[number as usize].time > now {
            number -= 1;
        }
        *leg = Leg::new(vertices, number);
    }

    /// The trajectories.
    pub fn mobility(&self) -> &Arc<Mobility> {
        &self.mobility
    }
}

impl Positions for NodePositions {
    fn position(&mut self, node: u32, now: Time) -> Position {
        let leg = &self.legs[node as usize];
        if now >= leg.until || (now < leg.from && leg.number > 0) {
            self.turn(node, now);
        }
        self.legs[node as usize].position(now)
    }

    fn max_speed(&self) -> f64 {
        self.max_speed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_mobility::{Area, RandomWaypoint, Start};
    use cogtcp_units::{Duration, RandomStream};

    /// In any order of questions, answers follow the trajectories.
    #[test]
    fn places_are_those_of_the_paths() {
        let waypoint = RandomWaypoint {
            area: Area::new(300.0, 200.0),
            min_speed: 1.0,
            max_speed: 20.0,
            min_pause: Duration::ZERO,
            max_pause: Duration::from_secs(2),
            start: Start::Stationary,
        };
        let mobility = Arc::new(waypoint.generate(4, Duration::from_secs(200), 3).unwrap());
        let mut places = NodePositions::new(Arc::clone(&mobility));
        let mut draw = RandomStream::new(1, "places", 0);
        for _ in 0..5000 {
            let (node, at) = (draw.below(4) as u32, Time::from_nanos(draw.below(210_000_000_000)));
            assert_eq!(places.position(node, at), mobility.position(node as usize, at));
        }
    }
}
