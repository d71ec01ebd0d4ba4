//! Who is near: a grid of squares over the plane, so that a frame looks at its neighbourhood and not at
//! everybody.
//!
//! Moving nodes are put in their squares now and then. Between two times they move at most by a slack, by
//! which searches are wider. A node that is found is asked for its true position.

use cogtcp_units::Position;
use cogtcp_units::{Duration, Time};

/// Squares are never more than this many for each point.
const SQUARES_PER_POINT: usize = 4;

/// Points go this share of the reach before they are sorted again: a wider search finds more who are not in
/// reach, a narrower one is out of date sooner.
const SLACK: f64 = 0.05;

/// Points in squares.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    origin: Position,
    side: f64,
    columns: usize,
    rows: usize,
    /// Where the points of each square begin in `members`.
    starts: Vec<u32>,
    members: Vec<u32>,
    /// How far a point may have gone from where it was, m.
    pub(crate) slack: f64,
    /// When the squares are out of date.
    pub(crate) expires: Time,
}

impl Grid {
    /// Squares for searches of `reach` metres among points that move with at most `speed` m/s from `now` on.
    pub(crate) fn build(&mut self, points: &[Position], reach: f64, speed: f64, now: Time) {
        self.slack = if speed > 0.0 { reach * SLACK } else { 0.0 };
        self.expires = match speed > 0.0 {
            // At least 1 ns, so that squares drawn now hold now.
            true => now + Duration::from_secs_f64(self.slack / speed).max(Duration::from_nanos(1)),
            false => Time::MAX,
        };
        let least =
            |coordinate: fn(&Position) -> f64| points.iter().map(coordinate).fold(f64::INFINITY, f64::min);
        let most = |coordinate: fn(&Position) -> f64| {
            points.iter().map(coordinate).fold(f64::NEG_INFINITY, f64::max)
        };
        let (left, right) = (least(|p| p.x), most(|p| p.x));
        let (bottom, top) = (least(|p| p.y), most(|p| p.y));
        self.origin = Position::new(left, bottom);
        let limit = (points.len() * SQUARES_PER_POINT).max(1);
        // Half the reach: 25 squares around a point cover little more than its disc.
        // Without any reach squares still have a size.
        self.side = (reach / 2.0).max(1e-3);
        loop {
            // Without points the span is minus infinity.
            let across = |span: f64| (span / self.side).max(0.0) + 1.0;
            // As floats: the product of far apart points passes any integer.
            if across(right - left) * across(top - bottom) <= limit as f64 || points.len() < 2 {
                self.columns = across(right - left) as usize;
                self.rows = across(top - bottom) as usize;
                break;
            }
            self.side *= 1.5;
        }
        if points.is_empty() {
            (self.columns, self.rows) = (0, 0);
        }
        self.sort(points);
    }

    /// Counting sort of the points by square: in a square they stay in the order of their numbers.
    fn sort(&mut self, points: &[Position]) {
        self.starts.clear();
        self.starts.resize(self.columns * self.rows + 1, 0);
        let squares: Vec<usize> = points.iter().map(|point| self.square(*point)).collect();
        for square in &squares {
            self.starts[square + 1] += 1;
        }
        for square in 1..self.starts.len() {
            self.starts[square] += self.starts[square - 1];
        }
        let mut next = self.starts.clone();
        self.members.clear();
        self.members.resize(points.len(), 0);
        for (point, square) in squares.into_iter().enumerate() {
            self.members[next[square] as usize] = point as u32;
            next[square] += 1;
        }
    }

    fn square(&self, point: Position) -> usize {
        let index = |offset: f64, count: usize| ((offset / self.side) as usize).min(count.saturating_sub(1));
        let column = index(point.x - self.origin.x, self.columns);
        index(point.y - self.origin.y, self.rows) * self.columns + column
    }

    /// Calls `visit` with every point that was within `reach` of `centre` when the squares were drawn, and
    /// some others. To get the present points, a caller adds the slack of both ends.
    pub(crate) fn near(&self, centre: Position, reach: f64, mut visit: impl FnMut(u32)) {
        if self.columns == 0 {
            return;
        }
        let index = |offset: f64, count: usize| ((offset / self.side).max(0.0) as usize).min(count - 1);
        let columns = |x: f64| index(x - self.origin.x, self.columns);
        let rows = |y: f64| index(y - self.origin.y, self.rows);
        let (first, last) = (columns(centre.x - reach), columns(centre.x + reach));
        for row in rows(centre.y - reach)..=rows(centre.y + reach) {
            // The squares of a row lie side by side, and so do their members: one slice per row.
            let from = self.starts[row * self.columns + first];
            let until = self.starts[row * self.columns + last + 1];
            self.members[from as usize..until as usize].iter().for_each(|point| visit(*point));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cogtcp_units::RandomStream;

    fn found(grid: &Grid, centre: Position, reach: f64) -> Vec<u32> {
        let mut found = Vec::new();
        grid.near(centre, reach, |point| found.push(point));
        found
    }

    /// There are as many squares as four a point allow, and no more: they grow until they are.
    #[test]
    fn squares_are_as_many_as_the_points_allow() {
        let drawn = |far: f64| {
            let mut grid = Grid::default();
            grid.build(&[Position::new(0.0, 0.0), Position::new(far, 0.0)], 2.0, 0.0, Time::ZERO);
            (grid.side, grid.columns, grid.rows)
        };
        // Two points: 8 squares of half the reach, 1 m. One metre more, and they are of 1.5 m.
        assert_eq!(drawn(7.0), (1.0, 8, 1));
        assert_eq!(drawn(8.0), (1.5, 6, 1));
    }

    /// Without any reach a point finds those at its place.
    #[test]
    fn a_reach_of_nothing_finds_what_is_there() {
        let mut grid = Grid::default();
        grid.build(
            &[Position::new(0.0, 0.0), Position::new(5.0, 1.0), Position::new(5.0, 1.0)],
            0.0,
            0.0,
            Time::ZERO,
        );
        assert_eq!(found(&grid, Position::new(5.0, 1.0), 0.0), [1, 2]);
        assert_eq!((grid.slack, grid.expires), (0.0, Time::MAX));
    }

    /// Squares of points that move hold until a point may have left the slack, a nanosecond at least.
    #[test]
    fn squares_of_moving_points_are_out_of_date_in_time() {
        let drawn = |reach: f64, speed: f64| {
            let mut grid = Grid::default();
            grid.build(&[Position::new(0.0, 0.0)], reach, speed, Time::from_millis(500));
            (grid.slack, grid.expires)
        };
        let (slack, expires) = drawn(100.0, 4.0);
        assert_eq!(
            (slack, expires),
            (100.0 * SLACK, Time::from_millis(500) + Duration::from_secs_f64(slack / 4.0))
        );
        assert_eq!(drawn(100.0, 1e30).1, Time::from_nanos(500_000_001));
    }

    /// Everybody within reach is found, wherever one stands: inside, on the border, far outside.
    #[test]
    fn nobody_within_reach_is_missed() {
        let mut stream = RandomStream::new(1, "grid", 0);
        for (side, reach, speed) in
            [(1000.0, 100.0, 0.0), (1000.0, 250.0, 4.0), (10.0, 300.0, 0.0), (1e7, 50.0, 1.0)]
        {
            let mut at = || Position::new(stream.uniform_in(-side, side), stream.uniform_in(-side, side));
            let points: Vec<Position> = (0..300).map(|_| at()).collect();
            let mut grid = Grid::default();
            grid.build(&points, reach, speed, Time::ZERO);
            let outside = Position::new(3.0 * side, -3.0 * side);
            for centre in points.iter().copied().chain([outside]) {
                let found = found(&grid, centre, reach);
                let near = |p: &Position| p.distance(centre) <= reach;
                let missed =
                    points.iter().enumerate().filter(|(n, p)| near(p) && !found.contains(&(*n as u32)));
                assert_eq!(missed.count(), 0);
            }
        }
    }

    #[test]
    fn points_on_one_place_and_no_points() {
        let mut grid = Grid::default();
        grid.build(&[], 100.0, 0.0, Time::ZERO);
        assert!(found(&grid, Position::default(), 100.0).is_empty());
        grid.build(&[Position::new(5.0, 5.0); 10], 100.0, 2.0, Time::ZERO);
        assert_eq!(found(&grid, Position::new(5.0, 5.0), 0.0).len(), 10);
        assert_eq!(grid.expires, Time::from_millis(2500), "5 m of slack at 2 m/s");
    }

    /// A search looks at a share of the plane that does not grow with it.
    #[test]
    fn a_search_costs_what_is_near() {
        let count = |nodes: usize, side: f64| {
            let mut stream = RandomStream::new(2, "grid", 0);
            let mut at = || Position::new(stream.uniform_in(0.0, side), stream.uniform_in(0.0, side));
            let points: Vec<Position> = (0..nodes).map(|_| at()).collect();
            let mut grid = Grid::default();
            grid.build(&points, 100.0, 0.0, Time::ZERO);
            found(&grid, Position::new(side / 2.0, side / 2.0), 100.0).len()
        };
        let (small, large) = (count(1000, 1000.0), count(16_000, 4000.0));
        assert!(small < 120 && large < 120, "{small} {large}: 25 squares of 50 m hold 62 on average");
    }
}
