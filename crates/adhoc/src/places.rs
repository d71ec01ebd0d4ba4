//! Where nodes are, for the medium.

use cogtcp_mobility::Mobility;
use cogtcp_units::{Position, Time};
use cogtcp_wireless::Positions;
use std::sync::Arc;

/// The paths of all nodes, and on which leg each was last: times hardly ever run backwards.
#[derive(Clone, Debug)]
pub struct Places {
    mobility: Arc<Mobility>,
    legs: Vec<u32>,
    max_speed: f64,
}

impl Places {
    /// The places of nodes on these paths.
    pub fn new(mobility: Arc<Mobility>) -> Self {
        Self { legs: vec![0; mobility.len()], max_speed: mobility.max_speed(), mobility }
    }

    /// The paths.
    pub fn mobility(&self) -> &Arc<Mobility> {
        &self.mobility
    }
}

impl Positions for Places {
    fn position(&mut self, node: u32, now: Time) -> Position {
        let vertices = self.mobility.paths()[node as usize].vertices();
        let leg = &mut self.legs[node as usize];
        while vertices.get(*leg as usize + 1).is_some_and(|next| next.time <= now) {
            *leg += 1;
        }
        while *leg > 0 && vertices[*leg as usize].time > now {
            *leg -= 1;
        }
        let from = vertices[*leg as usize];
        match vertices.get(*leg as usize + 1) {
            Some(to) if from.time < now => {
                // As `Path::position` has it, to the last bit.
                let share = (now - from.time).as_nanos() as f64 / (to.time - from.time).as_nanos() as f64;
                Position::new(
                    from.position.x + (to.position.x - from.position.x) * share,
                    from.position.y + (to.position.y - from.position.y) * share,
                )
            }
            _ => from.position,
        }
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

    /// Whatever the order of the questions, the answers are those of the paths.
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
        let mut places = Places::new(Arc::clone(&mobility));
        let mut draw = RandomStream::new(1, "places", 0);
        for _ in 0..5000 {
            let (node, at) = (draw.below(4) as u32, Time::from_nanos(draw.below(210_000_000_000)));
            assert_eq!(places.position(node, at), mobility.position(node as usize, at));
        }
    }
}
