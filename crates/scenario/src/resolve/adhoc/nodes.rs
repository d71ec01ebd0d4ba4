//! The nodes of an ad hoc network: how many, where, and how they move.

use crate::files::{read_beside, told};
use crate::limits::{LARGEST_LOG, LONGEST, MOST_NODES};
use crate::resolve::Findings;
use crate::resolve::cognitive::position;
use crate::tree::KeyPath;
use crate::{AdHoc, MobilityModel, Motion, PlacementModel, Run, Scenario, Topology, WaypointModel};
use cogtcp_mobility::trace::{self, TraceReason};
use cogtcp_mobility::{Area, Mobility, Placement, RandomWaypoint};
use cogtcp_units::Length;
use std::sync::Arc;

/// The longest side of an area, and the longest distance.
pub(super) const LONGEST_SIDE: f64 = 1e9;

/// Nodes and their trajectories.
pub(in crate::resolve) struct Nodes {
    pub(in crate::resolve) nodes: usize,
    pub(super) area: Area,
    pub(super) motion: Motion,
}

/// The nodes of an ad hoc network; `None`: there is none, or it is wrong.
pub(in crate::resolve) fn motion(scenario: &Scenario, findings: &mut Findings) -> Option<Nodes> {
    let Topology::AdHoc(it) = &scenario.topology else { return None };
    let path = KeyPath::of("topology").key("ad_hoc");
    let before = findings.errors.len();
    let area = area(scenario, it, findings);
    let given = match &it.mobility {
        MobilityModel::Trace(file) => {
            Some(read_trace(file, scenario, &path.key("mobility").key("trace"), findings)?)
        }
        _ => None,
    };
    let most = u32::try_from(MOST_NODES).unwrap_or(u32::MAX);
    let nodes = match (it.nodes, &given) {
        (Some(nodes), _) if !(1..=most).contains(&nodes) => {
            let message = format!("{nodes} is out of range");
            findings.error(&path.key("nodes"), message, format!("write 1 to {most}"));
            return None;
        }
        (Some(nodes), Some(given)) if nodes as usize != given.len() => {
            let message = format!("there are {nodes} nodes, and the trace has {}", given.len());
            findings.error(&path.key("nodes"), message, "leave nodes out, or take another trace");
            return None;
        }
        (Some(nodes), _) => nodes as usize,
        (None, Some(given)) => given.len(),
        (None, None) => {
            let message = "the number of nodes is missing";
            findings.error(&path, message, format!("write nodes = 25, or another number from 1 to {most}"));
            return None;
        }
    };
    let motion = match (&it.mobility, given) {
        (_, Some(given)) => Motion::Given(Arc::new(given)),
        (MobilityModel::RandomWaypoint(model), _) => {
            let path = path.key("mobility").key("random_waypoint");
            Motion::Waypoint(waypoint(model, area, nodes, &scenario.run, &path, findings))
        }
        _ => Motion::Still(placement(&it.placement, area, nodes, &path.key("placement"), findings)),
    };
    findings.none_since(before).then_some(Nodes { nodes, area, motion })
}

/// The area. It must be said where something is drawn from it.
fn area(scenario: &Scenario, it: &AdHoc, findings: &mut Findings) -> Area {
    let drawn = match &it.mobility {
        MobilityModel::RandomWaypoint(_) => true,
        MobilityModel::Static => it.placement == PlacementModel::Uniform,
        MobilityModel::Trace(_) => false,
    };
    let Some(size) = scenario.area else {
        if drawn {
            findings.error(
                &KeyPath::of("topology").key("ad_hoc"),
                "the nodes are placed over an area, and the scenario has no [area]",
                "add [area] with width = \"1000 m\" and height = \"1000 m\", or write a placement or a trace",
            );
        }
        // Nothing is drawn from it.
        return Area::new(1000.0, 1000.0);
    };
    for (key, side) in [("width", size.width), ("height", size.height)] {
        if !(0.0..=LONGEST_SIDE).contains(&side.0) {
            let message = format!("a side of \"{side}\" is out of range");
            let remedy = format!("write \"0 m\" to \"{}\"", Length(LONGEST_SIDE));
            findings.error(&KeyPath::of("area").key(key), message, remedy);
        }
    }
    if size.width.0 + size.height.0 == 0.0 {
        let message = "both sides are 0 m: the area is a point";
        findings.error(&KeyPath::of("area"), message, "write one side above 0 m");
    }
    Area::new(size.width.0, size.height.0)
}

fn placement(
    model: &PlacementModel,
    area: Area,
    nodes: usize,
    path: &KeyPath,
    findings: &mut Findings,
) -> Placement {
    let mut spaced = |key: &[&str], spacing: Length| {
        if !(0.0..=LONGEST_SIDE).contains(&spacing.0) {
            let path = key.iter().fold(path.clone(), |path, key| path.key(key));
            findings.error(&path, format!("\"{spacing}\" is not a distance"), "write \"0 m\" or more");
        }
        spacing.0
    };
    let placement = match model {
        PlacementModel::Uniform => Placement::Uniform(area),
        PlacementModel::Chain(spacing) => Placement::Chain { spacing: spaced(&["chain"], *spacing) },
        PlacementModel::Grid(grid) => {
            let spacing = spaced(&["grid", "spacing"], grid.spacing);
            if grid.columns == 0 {
                let path = path.key("grid").key("columns");
                findings.error(&path, "a grid needs at least one column", "write 1 or more");
            }
            Placement::Grid { columns: grid.columns.max(1) as usize, spacing }
        }
        PlacementModel::Positions(places) => {
            let path = path.key("positions");
            if places.len() != nodes {
                let message = format!("there are {} places for {nodes} nodes", places.len());
                findings.error(&path, message, "write one place for each node");
            }
            for (number, place) in places.iter().enumerate() {
                if !place.iter().all(|side| side.0.abs() <= LONGEST_SIDE) {
                    let message = format!("node {number} has no position");
                    findings.error(&path.index(number), message, "write places within 1e9 m");
                }
            }
            Placement::Given(places.iter().map(|place| position(*place)).collect())
        }
    };
    warn_outside(&placement, area, nodes, path, findings);
    placement
}

/// Warns of nodes that stand where the area is not.
fn warn_outside(placement: &Placement, area: Area, nodes: usize, path: &KeyPath, findings: &mut Findings) {
    // Only uniform places are drawn, and these lie in the area with any seed.
    let Ok(places) = placement.place(nodes, 1) else { return };
    if let Some(node) = places.iter().position(|place| !area.contains(*place)) {
        let at = places[node];
        findings.warn(
            path,
            format!(
                "node {node} stands at ({} m, {} m), outside the area of {} m x {} m",
                at.x, at.y, area.width, area.height
            ),
            "write a larger [area], or other places; the node takes part anyway",
        );
    }
}

fn waypoint(
    model: &WaypointModel,
    area: Area,
    nodes: usize,
    run: &Run,
    path: &KeyPath,
    findings: &mut Findings,
) -> RandomWaypoint {
    let [low, high] = model.speed.map(|speed| speed.0);
    let made = RandomWaypoint {
        area,
        min_speed: low,
        max_speed: high,
        min_pause: model.pause[0],
        max_pause: model.pause[1],
        start: model.start,
    };
    if !(0.001..=1e6).contains(&low) || !(low..=1e6).contains(&high) {
        let message =
            format!("speeds from \"{}\" to \"{}\" are out of range", model.speed[0], model.speed[1]);
        let remedy = "write the least first, from \"0.001 m/s\": otherwise trips never end";
        findings.error(&path.key("speed"), message, remedy);
    } else if model.pause[0] > model.pause[1] {
        let message = "the longest pause is shorter than the shortest";
        findings.error(&path.key("pause"), message, "write the shortest first");
    } else if model.pause.iter().any(|pause| *pause > LONGEST) {
        findings.error(&path.key("pause"), "the pause is too long", format!("write at most \"{LONGEST}\""));
    } else if findings.errors.is_empty()
        // One node is enough to learn whether the model holds together.
        && let Err(error) = made.generate(nodes.min(1), run.duration, 1)
    {
        findings.error(path, error.to_string(), "");
    }
    made
}

fn read_trace(file: &str, scenario: &Scenario, path: &KeyPath, findings: &mut Findings) -> Option<Mobility> {
    let (name, text) = read_beside(&scenario.source, file, LARGEST_LOG, path, findings)?;
    let is_csv = file.to_ascii_lowercase().ends_with(".csv");
    let read = if is_csv { trace::csv::read(&name, &text) } else { trace::setdest::read(&name, &text) };
    read.map_err(|error| {
        let unquoted = error.reason.unquoted();
        // A line that is not understood has no word that could be quoted alone.
        let quoted = match error.reason {
            TraceReason::Line { .. } => unquoted.clone(),
            reason => reason.to_string(),
        };
        findings.error(path, told(&name, &text, error.line, quoted, unquoted), "");
    })
    .ok()
}
