//! Who is near whom.

use crate::Mobility;
use cogtcp_units::{Duration, Position, Time};
use std::collections::BTreeMap;

/// Nodes sorted into squares, so that those within range are found without looking at all.
///
/// The squares hold the nodes at one instant. Nodes leave them no faster than the fastest node moves, so a
/// look-up searches wider by that much. The nodes are sorted again when that has reached half a square. So a
/// look-up is always right, and looks at the nodes of a few squares only.
#[derive(Clone, Debug)]
pub struct NeighborGrid {
    range: f64,
    side: f64,
    max_speed: f64,
    /// When the nodes were sorted.
    sorted: Time,
    squares: BTreeMap<(i64, i64), Vec<u32>>,
}

/// Who is within range of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Neighbors {
    /// The others within range (at most that far), by number.
    pub nodes: Vec<u32>,
    /// Nobody comes or goes before this; at this time somebody may. [`Time::MAX`]: never.
    pub until: Time,
}

impl NeighborGrid {
    /// Nodes sorted at time 0, to look for neighbours within `range` metres. Memory goes with the number of
    /// nodes.
    pub fn new(mobility: &Mobility, range: f64) -> Self {
        // Any side will do where nobody, or everybody, is in range.
        let side = if range > 0.0 && range.is_finite() { range } else { 1.0 };
        let mut grid = Self {
            range,
            side,
            max_speed: mobility.max_speed(),
            sorted: Time::ZERO,
            squares: BTreeMap::new(),
        };
        grid.sort(mobility, Time::ZERO);
        grid
    }

    /// The range, m.
    pub fn range(&self) -> f64 {
        self.range
    }

    fn square(&self, at: Position) -> (i64, i64) {
        ((at.x / self.side).floor() as i64, (at.y / self.side).floor() as i64)
    }

    fn sort(&mut self, mobility: &Mobility, now: Time) {
        self.sorted = now;
        self.squares.clear();
        for (node, trajectory) in mobility.trajectories().iter().enumerate() {
            self.squares.entry(self.square(trajectory.position(now))).or_default().push(node as u32);
        }
    }

    /// How far a node may be from where it was sorted, m.
    fn drift(&self, now: Time) -> f64 {
        // A little more than the product, against its rounding.
        self.max_speed * (now.as_secs_f64() - self.sorted.as_secs_f64()).abs() * (1.0 + 1e-9)
    }

    /// All nodes that may be within `reach` metres of `at`, sorted by number.
    fn candidates(&self, at: Position, reach: f64) -> Vec<u32> {
        let (west, south) = self.square(Position::new(at.x - reach, at.y - reach));
        let (east, north) = self.square(Position::new(at.x + reach, at.y + reach));
        let mut found = Vec::new();
        // More squares than are taken: look at those that are.
        let squares = |from: i64, to: i64| to.saturating_sub(from).saturating_add(1);
        if squares(west, east).saturating_mul(squares(south, north)) as u64 > self.squares.len() as u64 {
            let inside = |x: i64, y: i64| (west..=east).contains(&x) && (south..=north).contains(&y);
            found.extend(
                self.squares.iter().filter(|((x, y), _)| inside(*x, *y)).flat_map(|(_, nodes)| nodes),
            );
        } else {
            for x in west..=east {
                // The squares of a column lie together in the map.
                found.extend(self.squares.range((x, south)..=(x, north)).flat_map(|(_, nodes)| nodes));
            }
        }
        found.sort_unstable();
        found
    }

    /// Brings the squares up to `now` if nodes have left theirs by far.
    fn refresh(&mut self, mobility: &Mobility, now: Time) {
        if self.drift(now) > self.side / 2.0 {
            self.sort(mobility, now);
        }
    }

    /// The nodes at most `range` metres from a place at `now`, by number. `mobility` is what the grid was
    /// made of.
    pub fn near(&mut self, mobility: &Mobility, now: Time, at: Position) -> Vec<u32> {
        self.refresh(mobility, now);
        let mut near = self.candidates(at, self.range + self.drift(now));
        near.retain(|node| mobility.position(*node as usize, now).distance(at) <= self.range);
        near
    }

    /// Who is within range of `node` at `now`, and until when that cannot change.
    ///
    /// # Panics
    ///
    /// If the node is unknown.
    pub fn neighbors(&mut self, mobility: &Mobility, now: Time, node: u32) -> Neighbors {
        self.refresh(mobility, now);
        let own = &mobility.trajectories()[node as usize];
        let at = own.position(now);
        // Whoever is not within this margin cannot be within range before both have gone half of it.
        let margin = self.side;
        let mut until = match self.max_speed {
            speed if speed > 0.0 => now + Duration::from_secs_f64(margin / (2.0 * speed)),
            _ => Time::MAX,
        };
        let mut nodes = Vec::new();
        for other in self.candidates(at, self.range + margin + self.drift(now)) {
            if other == node {
                continue;
            }
            let trajectory = &mobility.trajectories()[other as usize];
            let place = trajectory.position(now);
            let is_near = place.distance(at) <= self.range;
            if is_near {
                nodes.push(other);
            }
            let turn = own.next_turn(now).min(trajectory.next_turn(now));
            let (mine, its) = (own.velocity(now), trajectory.velocity(now));
            let gap = (place.x - at.x, place.y - at.y);
            let closing = (its.0 - mine.0, its.1 - mine.1);
            until = until.min(turn).min(now + crossing(gap, closing, self.range, is_near));
        }
        // Time goes on, however near the next change is.
        Neighbors { nodes, until: until.max(now + Duration::from_nanos(1)) }
    }
}

/// When a pair, now within range or not, changes that: its gap (m) changes at a constant velocity (m/s).
/// Rounded down.
fn crossing(gap: (f64, f64), velocity: (f64, f64), range: f64, is_near: bool) -> Duration {
    // |gap + velocity t|^2 = range^2: a t^2 + 2 b t + c = 0.
    let a = velocity.0 * velocity.0 + velocity.1 * velocity.1;
    let b = gap.0 * velocity.0 + gap.1 * velocity.1;
    let c = gap.0 * gap.0 + gap.1 * gap.1 - range * range;
    let discriminant = b * b - a * c;
    // They do not approach, or pass each other by.
    if a == 0.0 || (!is_near && (b >= 0.0 || discriminant < 0.0)) {
        return Duration::MAX;
    }
    // Who is near leaves at the greater root, who is not comes at the lesser. At the border itself a root may
    // be a little below 0: then it is now.
    let root = libm::sqrt(discriminant.max(0.0));
    let seconds = if is_near { (root - b) / a } else { (-b - root) / a };
    // A little less than the root, against its rounding: early is right, late is not.
    Duration::from_nanos((seconds.max(0.0) * 1e9 * (1.0 - 1e-12)) as u64)
}
