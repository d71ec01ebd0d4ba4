//! Choosing the next node of a request: the focus region and the route around a primary user.

use crate::NodeAddress;
use cogtcp_units::Position;

/// A neighbour that may take a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) node: NodeAddress,
    pub(crate) position: Position,
}

/// Direction from one place to another, radians counter-clockwise from the east.
fn direction(from: Position, to: Position) -> f64 {
    libm::atan2(to.y - from.y, to.x - from.x)
}

/// An angle in [0, 2 pi).
fn turn(angle: f64) -> f64 {
    let full = std::f64::consts::TAU;
    let turned = libm::fmod(angle, full);
    if turned < 0.0 { turned + full } else { turned }
}

/// Returns the candidate nearest to the target, if nearer than `here`, in the focus region. The region is the
/// sector of `half_angle` radians on either side of the line from `here` to the target. Ties go to the lowest
/// number.
pub(crate) fn greedy(
    here: Position,
    target: Position,
    half_angle: f64,
    candidates: &[Candidate],
) -> Option<NodeAddress> {
    let line = direction(here, target);
    let own = here.distance(target);
    let in_focus = |candidate: &&Candidate| {
        let off = turn(direction(here, candidate.position) - line);
        let off = off.min(std::f64::consts::TAU - off);
        // Only progress: greedy forwarding never goes in a circle.
        candidate.position.distance(target) < own && off <= half_angle
    };
    let nearest = candidates.iter().filter(in_focus).min_by(|a, b| {
        let by_distance = a.position.distance(target).total_cmp(&b.position.distance(target));
        by_distance.then(a.node.cmp(&b.node))
    });
    nearest.map(|candidate| candidate.node)
}

/// The right-hand rule: the first candidate counter-clockwise from the direction of `reference`. Coming from
/// a node this is the direction back to it; at the decision point that to the target.
pub(crate) fn around(here: Position, reference: Position, candidates: &[Candidate]) -> Option<NodeAddress> {
    let zero = direction(here, reference);
    let angle = |candidate: &Candidate| {
        let turned = turn(direction(here, candidate.position) - zero);
        // Straight at the reference is a full turn: the last choice.
        if turned < 1e-9 { std::f64::consts::TAU } else { turned }
    };
    let first = candidates.iter().min_by(|a, b| angle(a).total_cmp(&angle(b)).then(a.node.cmp(&b.node)));
    first.map(|candidate| candidate.node)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(node: u32, x: f64, y: f64) -> Candidate {
        Candidate { node: NodeAddress::new(node), position: Position::new(x, y) }
    }

    /// From (0, 0) to (100, 0), half-angle 45 degrees.
    #[test]
    fn greedy_stays_in_the_focus_region() {
        let (here, target) = (Position::new(0.0, 0.0), Position::new(100.0, 0.0));
        let choose = |candidates: &[Candidate]| {
            greedy(here, target, std::f64::consts::FRAC_PI_4, candidates).map(NodeAddress::number)
        };
        assert_eq!(choose(&[at(1, 20.0, 0.0), at(2, 40.0, 30.0), at(3, 30.0, -20.0)]), Some(2));
        // 40 east and 41 north is outside; nearer but behind is not nearer.
        assert_eq!(choose(&[at(1, 40.0, 41.0), at(2, -10.0, 0.0)]), None);
        assert_eq!(choose(&[at(1, 40.0, 40.0)]), Some(1), "the border belongs to it");
        assert_eq!(choose(&[at(7, 40.0, 10.0), at(5, 40.0, -10.0)]), Some(5));
        // Straight on, but farther beyond the target than here is before it.
        assert_eq!(choose(&[at(1, 250.0, 0.0)]), None);
        // As far from the target as here, 60 and 80 off it: that is no progress.
        let wide = std::f64::consts::PI;
        assert_eq!(greedy(here, target, wide, &[at(1, 40.0, 80.0)]), None);
        assert!(greedy(here, target, wide, &[at(1, 41.0, 80.0)]).is_some());
        assert_eq!(choose(&[]), None);
    }

    /// The destination is east; neighbours north, west and south: counter-clockwise from the east comes north
    /// first.
    #[test]
    fn around_turns_counter_clockwise() {
        let (here, target) = (Position::new(0.0, 0.0), Position::new(100.0, 0.0));
        let ring = [at(1, 0.0, -10.0), at(2, -10.0, 0.0), at(3, 0.0, 10.0)];
        assert_eq!(around(here, target, &ring).map(NodeAddress::number), Some(3));
        // Coming from the north: the next counter-clockwise is west.
        assert_eq!(around(here, Position::new(0.0, 10.0), &ring[..2]).map(NodeAddress::number), Some(2));
        assert_eq!(
            around(here, target, &[at(9, 50.0, 0.0), at(4, 0.0, -1.0)]).map(NodeAddress::number),
            Some(4)
        );
    }
}
