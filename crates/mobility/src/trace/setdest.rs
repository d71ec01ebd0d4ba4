//! The format of ns-2's `setdest` (`indep-utils/cmu-scen-gen/setdest`).
//!
//! `$node_(i) set X_ x` (and `Y_`, `Z_`) places a node. `$ns_ at t "$node_(i) setdest x y v"` moves it from
//! its place at t towards (x, y) at v m/s, where it stays; a later order interrupts a trip. Speed 0 stops it.
//! Skipped are comments, lines about `$god_` (hop counts for another part of ns-2), and `initial_node_pos`, the
//! size of a node in a drawing. The variables may have other names. A file may number its nodes from 1: its node
//! 1 then is the first.

use super::{FileLine, MOST_VERTICES, TraceError, TraceReason, shorten};
use crate::{Mobility, Trajectory, Vertex};
use cogtcp_units::{Duration, Position, Time, write_seconds};
use std::collections::BTreeMap;
use std::fmt::Write;

const EXPECTED: &str = "$node_(0) set X_ 10, or $ns_ at 1.5 \"$node_(0) setdest 10 20 3\"";

/// A node as it is read.
#[derive(Default)]
struct SetdestNode {
    /// Where the file first speaks of it.
    line: usize,
    x: Option<f64>,
    y: Option<f64>,
    vertices: Vec<Vertex>,
    /// The last order's time, with a place for it.
    ordered: Option<Time>,
}

/// Reads a file of orders. `file` names it in errors.
pub fn read(file: &str, text: &str) -> Result<Mobility, TraceError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut nodes: BTreeMap<u32, SetdestNode> = BTreeMap::new();
    let mut last = FileLine { file, line: 1 };
    let mut count = 0;
    for (index, line) in text.lines().enumerate() {
        let place = FileLine { file, line: index + 1 };
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') || line.starts_with("$god_") {
            continue;
        }
        last = place;
        count += read_line(place, line, &mut nodes)?;
        if count > MOST_VERTICES {
            return Err(
                place.error(TraceReason::TooMany { what: "corners of trajectories", most: MOST_VERTICES })
            );
        }
    }
    if nodes.is_empty() {
        return Err(last.error(TraceReason::Empty(EXPECTED)));
    }
    let mut trajectories = Vec::new();
    // From 1, as hand-written files have it; a file that begins later lacks nodes.
    let first = u32::from(!nodes.contains_key(&0) && nodes.contains_key(&1));
    for (expected, (number, node)) in (first..).zip(nodes) {
        if number != expected {
            return Err(last.error(TraceReason::MissingNode(expected)));
        }
        let begin = node.begin(number).map_err(|reason| FileLine { file, line: node.line }.error(reason))?;
        let vertices = if node.vertices.is_empty() { vec![begin] } else { node.vertices };
        let wrong = |error| last.error(TraceReason::Trajectory { node: number, error });
        trajectories.push(Trajectory::new(vertices).map_err(wrong)?);
    }
    Ok(Mobility::new(trajectories))
}

/// Reads one line, and returns how many corners it adds.
fn read_line(
    place: FileLine<'_>,
    line: &str,
    nodes: &mut BTreeMap<u32, SetdestNode>,
) -> Result<usize, TraceError> {
    let not_understood = || place.error(TraceReason::Line { text: shorten(line), expected: EXPECTED });
    let words: Vec<&str> = line.split_whitespace().collect();
    match words[..] {
        // The size of the node in a drawing: it moves nothing.
        [_, "initial_node_pos", node, _] if line.starts_with('$') => {
            place.node(subject_number(node).ok_or_else(not_understood)?)?;
            Ok(0)
        }
        [subject, "set", axis, value] => {
            let number = place.node(subject_number(subject).ok_or_else(not_understood)?)?;
            let node = nodes
                .entry(number)
                .or_insert_with(|| SetdestNode { line: place.line, ..SetdestNode::default() });
            let value = place.metres("the coordinate", value)?;
            let coordinate = match axis {
                "X_" => &mut node.x,
                "Y_" => &mut node.y,
                // Nodes are in a plane.
                "Z_" => return Ok(0),
                _ => return Err(not_understood()),
            };
            if coordinate.replace(value).is_some() || !node.vertices.is_empty() {
                return Err(place.error(TraceReason::PlacedTwice(number)));
            }
            Ok(0)
        }
        [_, "at", at, ref order @ ..] if line.starts_with('$') => {
            let time = place.seconds("the time", at)?;
            let order: Vec<&str> =
                order.iter().map(|word| word.trim_matches('"')).filter(|word| !word.is_empty()).collect();
            match order[..] {
                [subject, ..] if subject.starts_with("$god_") => Ok(0),
                [subject, "setdest", x, y, speed] => {
                    let number = place.node(subject_number(subject).ok_or_else(not_understood)?)?;
                    let to = Position::new(place.metres("x", x)?, place.metres("y", y)?);
                    let speed = speed.parse().ok().filter(|value: &f64| (0.0..=1e6).contains(value));
                    let speed = place.field("the speed", order[4], "m/s, from 0 to 1e6", speed)?;
                    let node = nodes
                        .entry(number)
                        .or_insert_with(|| SetdestNode { line: place.line, ..SetdestNode::default() });
                    node.order(place, number, time, to, speed)
                }
                [subject, "set", "X_" | "Y_" | "Z_", _] => {
                    let number = place.node(subject_number(subject).ok_or_else(not_understood)?)?;
                    Err(place.error(TraceReason::Jump(number)))
                }
                _ => Err(not_understood()),
            }
        }
        _ => Err(not_understood()),
    }
}

/// The 3 of `$node_(3)`.
fn subject_number(word: &str) -> Option<&str> {
    word.strip_prefix('$')?.strip_suffix(')')?.split_once('(').map(|(_, number)| number)
}

impl SetdestNode {
    /// Where the node `number` is at the beginning.
    fn begin(&self, number: u32) -> Result<Vertex, TraceReason> {
        let half = |there, missing| TraceReason::HalfPlace { node: number, there, missing };
        match (self.x, self.y) {
            (Some(x), Some(y)) => Ok(Vertex { time: Time::ZERO, position: Position::new(x, y) }),
            (Some(_), None) => Err(half("X_", "Y_")),
            (None, Some(_)) => Err(half("Y_", "X_")),
            (None, None) => Err(TraceReason::NoPlace(number)),
        }
    }

    /// From `time` on the node goes to `to`.
    fn order(
        &mut self,
        place: FileLine<'_>,
        number: u32,
        time: Time,
        to: Position,
        speed: f64,
    ) -> Result<usize, TraceError> {
        let begin = self.begin(number).map_err(|reason| place.error(reason))?;
        // Two orders at one time are in order: the later line holds.
        if self.ordered.is_some_and(|last| last > time) {
            return Err(place.error(TraceReason::Unsorted(number)));
        }
        self.ordered = Some(time);
        let before = self.vertices.len();
        if self.vertices.is_empty() {
            self.vertices.push(begin);
        }
        let from = self.cut(time);
        let way = from.distance(to);
        if speed > 0.0 && way > 0.0 {
            // The times of a trajectory rise.
            let takes = Duration::from_secs_f64(way / speed).max(Duration::from_nanos(1));
            self.vertices.push(Vertex { time: time + takes, position: to });
        }
        // A cut may take more corners away than come.
        Ok(self.vertices.len().saturating_sub(before))
    }

    /// Ends the trajectory at `time`, in the middle of a trip or after a stay there, and returns where.
    fn cut(&mut self, time: Time) -> Position {
        let Some(last) = self.vertices.last().copied() else { return Position::default() };
        if last.time == time {
            return last.position;
        }
        if last.time < time {
            self.vertices.push(Vertex { time, position: last.position });
            return last.position;
        }
        // Only the last trip can reach beyond `time`, because orders come by time.
        self.vertices.pop();
        let Some(from) = self.vertices.last().copied().filter(|from| from.time < time) else {
            return self.vertices.last().map_or(last.position, |from| from.position);
        };
        let share = (time - from.time).as_nanos() as f64 / (last.time - from.time).as_nanos() as f64;
        let (dx, dy) = (last.position.x - from.position.x, last.position.y - from.position.y);
        let position = Position::new(from.position.x + dx * share, from.position.y + dy * share);
        self.vertices.push(Vertex { time, position });
        position
    }
}

/// Writes a file of orders that ns-2 and ns-3 read. A trajectory that begins after time 0 stands at its first
/// place until then.
pub fn write(mobility: &Mobility) -> String {
    let nodes = mobility.len();
    let mut text = format!("#\n# nodes: {nodes}, max speed: {:.2}\n#\n", mobility.max_speed());
    // Writing to a String cannot fail.
    for (node, trajectory) in mobility.trajectories().iter().enumerate() {
        let Position { x, y } = trajectory.vertices()[0].position;
        let _ =
            writeln!(text, "$node_({node}) set X_ {x}\n$node_({node}) set Y_ {y}\n$node_({node}) set Z_ 0");
    }
    for (node, trajectory) in mobility.trajectories().iter().enumerate() {
        for leg in trajectory.vertices().windows(2) {
            let (from, to) = (leg[0], leg[1]);
            if from.position == to.position {
                continue;
            }
            let speed = from.position.distance(to.position) / (to.time - from.time).as_secs_f64();
            let Position { x, y } = to.position;
            let _ = writeln!(
                text,
                "$ns_ at {} \"$node_({node}) setdest {x} {y} {speed}\"",
                write_seconds(from.time)
            );
        }
    }
    text
}
