//! Trajectories of nodes.

use cogtcp_units::{Duration, Position, Time};

/// A place at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vertex {
    /// When.
    pub time: Time,
    /// Where.
    pub position: Position,
}

/// The trajectory of one node: straight lines at constant speed between vertices. Before the first vertex it
/// is there, after the last it stays. Two vertices at one place are a pause.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    vertices: Vec<Vertex>,
}

/// Vertices that are no trajectory.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TrajectoryError {
    /// Nothing says where the node is.
    #[error("a trajectory needs at least one vertex")]
    Empty,
    /// Two vertices at one time, or an earlier one after a later.
    #[error("the times of a trajectory's vertices must rise")]
    NotRising,
    /// A coordinate that is no number.
    #[error("a coordinate is not finite")]
    NotFinite,
}

impl Trajectory {
    /// The trajectory through these vertices.
    pub fn new(vertices: Vec<Vertex>) -> Result<Self, TrajectoryError> {
        if vertices.is_empty() {
            return Err(TrajectoryError::Empty);
        }
        if vertices.windows(2).any(|pair| pair[0].time >= pair[1].time) {
            return Err(TrajectoryError::NotRising);
        }
        let finite = |at: Position| at.x.is_finite() && at.y.is_finite();
        if !vertices.iter().all(|vertex| finite(vertex.position)) {
            return Err(TrajectoryError::NotFinite);
        }
        Ok(Self { vertices })
    }

    /// A node that does not move.
    pub fn still(position: Position) -> Self {
        Self { vertices: vec![Vertex { time: Time::ZERO, position }] }
    }

    /// The trajectory up to `end`, where the node then stays.
    #[must_use]
    pub fn cut(mut self, end: Time) -> Self {
        let position = self.position(end);
        let kept = self.vertices.partition_point(|vertex| vertex.time < end);
        if kept < self.vertices.len() {
            self.vertices.truncate(kept);
            self.vertices.push(Vertex { time: end, position });
        }
        self
    }

    /// The vertices, by time.
    pub fn vertices(&self) -> &[Vertex] {
        &self.vertices
    }

    /// Number of the last vertex at or before `at`, if there is one.
    fn leg(&self, at: Time) -> Option<usize> {
        self.vertices.partition_point(|vertex| vertex.time <= at).checked_sub(1)
    }

    /// Where the node is at `at`.
    pub fn position(&self, at: Time) -> Position {
        let Some(leg) = self.leg(at) else { return self.vertices[0].position };
        let from = self.vertices[leg];
        let Some(to) = self.vertices.get(leg + 1) else { return from.position };
        let share = (at - from.time).as_nanos() as f64 / (to.time - from.time).as_nanos() as f64;
        Position::new(
            from.position.x + (to.position.x - from.position.x) * share,
            from.position.y + (to.position.y - from.position.y) * share,
        )
    }

    /// How fast and where to the node moves from `at` on, m/s east and north.
    pub fn velocity(&self, at: Time) -> (f64, f64) {
        let pair = self.leg(at).and_then(|leg| Some((self.vertices[leg], *self.vertices.get(leg + 1)?)));
        pair.map_or((0.0, 0.0), |(from, to)| {
            let seconds = (to.time - from.time).as_secs_f64();
            ((to.position.x - from.position.x) / seconds, (to.position.y - from.position.y) / seconds)
        })
    }

    /// Speed from `at` on, m/s.
    pub fn speed(&self, at: Time) -> f64 {
        let (east, north) = self.velocity(at);
        libm::hypot(east, north)
    }

    /// When the velocity may next change after `at`; [`Time::MAX`]: never.
    pub fn next_turn(&self, at: Time) -> Time {
        let next = self.vertices.partition_point(|vertex| vertex.time <= at);
        self.vertices.get(next).map_or(Time::MAX, |vertex| vertex.time)
    }

    /// Greatest speed anywhere on the trajectory, m/s.
    pub fn max_speed(&self) -> f64 {
        let legs = self.vertices.windows(2);
        legs.map(|leg| leg[0].position.distance(leg[1].position) / (leg[1].time - leg[0].time).as_secs_f64())
            .fold(0.0, f64::max)
    }

    /// Distance up to `until`, m.
    pub fn travelled(&self, until: Time) -> f64 {
        let end = self.vertices.partition_point(|vertex| vertex.time <= until);
        let whole: f64 =
            self.vertices[..end].windows(2).map(|leg| leg[0].position.distance(leg[1].position)).sum();
        let last = self.vertices[..end].last();
        whole + last.map_or(0.0, |vertex| vertex.position.distance(self.position(until)))
    }

    /// Time at speed 0 up to `until`.
    pub fn paused(&self, until: Time) -> Duration {
        let mut paused = Duration::ZERO;
        let mut at = Time::ZERO;
        while at < until {
            let next = self.next_turn(at).min(until);
            if self.speed(at) == 0.0 {
                paused += next - at;
            }
            at = next;
        }
        paused
    }
}

/// The trajectories of all nodes, numbered from 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mobility {
    trajectories: Vec<Trajectory>,
}

impl Mobility {
    /// Nodes with these trajectories.
    pub fn new(trajectories: Vec<Trajectory>) -> Self {
        Self { trajectories }
    }

    /// Nodes that stand still.
    pub fn still(positions: &[Position]) -> Self {
        Self::new(positions.iter().map(|position| Trajectory::still(*position)).collect())
    }

    /// The trajectories, by node.
    pub fn trajectories(&self) -> &[Trajectory] {
        &self.trajectories
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.trajectories.len()
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.trajectories.is_empty()
    }

    /// Where `node` is at `at`.
    ///
    /// # Panics
    ///
    /// If the node is unknown.
    pub fn position(&self, node: usize, at: Time) -> Position {
        self.trajectories[node].position(at)
    }

    /// Greatest speed of any node at any time, m/s.
    pub fn max_speed(&self) -> f64 {
        self.trajectories.iter().map(Trajectory::max_speed).fold(0.0, f64::max)
    }

    /// When the last node comes to its last place.
    pub fn end(&self) -> Time {
        let last = |trajectory: &Trajectory| trajectory.vertices.last().map(|vertex| vertex.time);
        self.trajectories.iter().filter_map(last).max().unwrap_or(Time::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vertex(seconds: u64, x: f64, y: f64) -> Vertex {
        Vertex { time: Time::from_millis(seconds * 1000), position: Position::new(x, y) }
    }

    /// 5 m/s for 2 s, a pause of 3 s, then 2 m/s north.
    fn trajectory() -> Trajectory {
        let corner = vertex(3, 10.0, 0.0);
        Trajectory::new(vec![vertex(1, 0.0, 0.0), corner, vertex(6, 10.0, 0.0), vertex(11, 10.0, 10.0)])
            .unwrap()
    }

    #[test]
    fn positions_by_hand() {
        let trajectory = trajectory();
        for (ms, x, y) in
            [(0, 0.0, 0.0), (1000, 0.0, 0.0), (1500, 2.5, 0.0), (3000, 10.0, 0.0), (5999, 10.0, 0.0)]
        {
            assert_eq!(trajectory.position(Time::from_millis(ms)), Position::new(x, y), "{ms} ms");
        }
        assert_eq!(trajectory.position(Time::from_millis(7000)), Position::new(10.0, 2.0));
        assert_eq!(trajectory.position(Time::MAX), Position::new(10.0, 10.0));
        let speeds = [0, 1000, 2999, 3000, 6000, 11_000].map(|ms| trajectory.speed(Time::from_millis(ms)));
        assert_eq!(speeds, [0.0, 5.0, 5.0, 0.0, 2.0, 0.0]);
        assert_eq!(trajectory.next_turn(Time::from_millis(3000)), Time::from_millis(6000));
        assert_eq!(trajectory.next_turn(Time::from_millis(11_000)), Time::MAX);
        assert_eq!((trajectory.max_speed(), trajectory.travelled(Time::from_millis(7000))), (5.0, 12.0));
        assert_eq!(trajectory.paused(Time::from_millis(12_000)), Duration::from_secs(1 + 3 + 1));
    }

    #[test]
    fn a_path_can_be_cut() {
        let cut = trajectory().cut(Time::from_millis(2000));
        assert_eq!(cut.vertices(), [vertex(1, 0.0, 0.0), vertex(2, 5.0, 0.0)]);
        assert_eq!(trajectory().cut(Time::from_millis(3000)).vertices(), &trajectory().vertices()[..2]);
        assert_eq!(trajectory().cut(Time::from_millis(12_000)), trajectory());
        assert_eq!(trajectory().cut(Time::ZERO).vertices(), [vertex(0, 0.0, 0.0)]);
    }

    #[test]
    fn what_is_no_path_is_refused() {
        assert_eq!(Trajectory::new(vec![]), Err(TrajectoryError::Empty));
        assert_eq!(
            Trajectory::new(vec![vertex(1, 0.0, 0.0), vertex(1, 1.0, 0.0)]),
            Err(TrajectoryError::NotRising)
        );
        assert_eq!(Trajectory::new(vec![vertex(1, f64::NAN, 0.0)]), Err(TrajectoryError::NotFinite));
    }
}
