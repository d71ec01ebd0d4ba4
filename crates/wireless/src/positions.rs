//! Where the nodes are. The medium asks; who moves them is somebody else's business.

use cogtcp_units::Position;
use cogtcp_units::Time;

/// Knows where every node is at a time. Times never decrease from call to call by more than the propagation
/// delay.
pub trait Positions {
    /// Where `node` is at `now`.
    fn position(&mut self, node: u32, now: Time) -> Position;

    /// No node ever moves faster, m/s. Zero: nobody moves, and the medium works out who hears whom once.
    fn max_speed(&self) -> f64;
}

/// Nodes that stay where they are, by their number.
impl Positions for Vec<Position> {
    fn position(&mut self, node: u32, _now: Time) -> Position {
        self[node as usize]
    }

    fn max_speed(&self) -> f64 {
        0.0
    }
}
