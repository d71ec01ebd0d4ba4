//! Movement as CSV: a header `node,time,x,y` (s, m), then a row for every corner of a trajectory, each node's
//! by time.
//!
//! Between two corners a node moves in a straight line at constant speed. Columns may stand in any order,
//! further ones are ignored; `#` begins a comment line.

use super::{FileLine, MOST_VERTICES, TraceError, TraceReason, shorten};
use crate::{Mobility, Trajectory, Vertex};
use cogtcp_units::{Position, write_seconds};
use std::collections::BTreeMap;
use std::fmt::Write;

const HEADER: &str = "a header with the columns node, time, x and y";

/// Reads a CSV file. `file` names it in errors.
pub fn read(file: &str, text: &str) -> Result<Mobility, TraceError> {
    // The byte order mark that spreadsheets write.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines =
        text.lines().enumerate().map(|(index, line)| (FileLine { file, line: index + 1 }, line.trim()));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let Some((place, header)) = lines.next() else {
        return Err(FileLine { file, line: 1 }.error(TraceReason::Empty(HEADER)));
    };
    let columns = columns(place, header)?;
    let mut nodes: BTreeMap<u32, Vec<Vertex>> = BTreeMap::new();
    let mut count = 0;
    let mut last = place;
    for (place, line) in lines {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let field = |column: usize| fields.get(column).copied().unwrap_or("");
        let node = place.node(field(columns[0]))?;
        let time = place.seconds("time", field(columns[1]))?;
        let position =
            Position::new(place.metres("x", field(columns[2]))?, place.metres("y", field(columns[3]))?);
        let vertices = nodes.entry(node).or_default();
        if vertices.last().is_some_and(|last| last.time >= time) {
            return Err(place.error(TraceReason::Unsorted(node)));
        }
        vertices.push(Vertex { time, position });
        count += 1;
        if count > MOST_VERTICES {
            return Err(place.error(TraceReason::TooMany { what: "rows", most: MOST_VERTICES }));
        }
        last = place;
    }
    if nodes.is_empty() {
        return Err(last.error(TraceReason::Empty("a row node,time,x,y")));
    }
    let mut trajectories = Vec::new();
    for (expected, (node, vertices)) in (0..).zip(nodes) {
        if node != expected {
            return Err(last.error(TraceReason::MissingNode(expected)));
        }
        trajectories.push(
            Trajectory::new(vertices).map_err(|error| last.error(TraceReason::Trajectory { node, error }))?,
        );
    }
    Ok(Mobility::new(trajectories))
}

/// Where node, time, x and y stand. `time_s`, `x_m` and `y_m` are understood too.
fn columns(place: FileLine<'_>, header: &str) -> Result<[usize; 4], TraceError> {
    let names: Vec<String> = header.split(',').map(|name| name.trim().to_ascii_lowercase()).collect();
    let find = |short: &str, long: &str| names.iter().position(|name| name == short || name == long);
    let found = [find("node", "node"), find("time", "time_s"), find("x", "x_m"), find("y", "y_m")];
    match found {
        [Some(node), Some(time), Some(x), Some(y)] => Ok([node, time, x, y]),
        _ => Err(place.error(TraceReason::Line { text: shorten(header), expected: HEADER })),
    }
}

/// Writes a CSV file. Reading it gives the same trajectories, to the last bit.
pub fn write(mobility: &Mobility) -> String {
    let mut text = String::from("node,time,x,y\n");
    for (node, trajectory) in mobility.trajectories().iter().enumerate() {
        for Vertex { time, position } in trajectory.vertices() {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{node},{},{},{}", write_seconds(*time), position.x, position.y);
        }
    }
    text
}
