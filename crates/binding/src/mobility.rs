//! Mobility, without a network.

use crate::errors::{input_error, located_error};
use cogtcp_mobility::trace::{csv, setdest};
use cogtcp_mobility::{Area, NeighborGrid, Placement, RandomWaypoint, Start};
use cogtcp_units::{Duration, Time};
use pyo3::prelude::*;

/// The trajectories of nodes. Immutable.
#[pyclass(frozen, module = "cogtcp._core")]
#[derive(Debug)]
pub(crate) struct Mobility {
    mobility: cogtcp_mobility::Mobility,
    end: Time,
}

/// Time in s and place in m.
type Corner = (f64, f64, f64);
/// Of a node: distance in m, time at speed 0 in s, greatest speed in m/s.
type Stats = (f64, f64, f64);
/// At an instant: links between nodes within range, nodes without any, and nodes of the largest connected
/// part.
type Connectivity = (usize, usize, usize);

#[pymethods]
impl Mobility {
    /// Reads a file of movement: `setdest` or `csv`. `file` is what errors call it.
    #[staticmethod]
    fn read(py: Python<'_>, text: &str, file: &str, format: &str) -> PyResult<Self> {
        let parse = if format == "csv" { csv::read } else { setdest::read };
        let mobility = py
            .detach(|| parse(file, text))
            .map_err(|error| located_error(py, &error.file, error.line, &error.reason.to_string(), text))?;
        let end = mobility.end();
        Ok(Self { mobility, end })
    }

    /// Random waypoint over an area in m, with speeds in m/s and pauses in s, from 0 to `duration` in s.
    #[staticmethod]
    #[expect(clippy::too_many_arguments, reason = "the arguments of one call from Python, by keyword there")]
    fn random_waypoint(
        py: Python<'_>,
        nodes: usize,
        area: (f64, f64),
        speed: (f64, f64),
        pause: (f64, f64),
        stationary: bool,
        duration: f64,
        seed: u64,
    ) -> PyResult<Self> {
        let model = RandomWaypoint {
            area: Area::new(area.0, area.1),
            min_speed: speed.0,
            max_speed: speed.1,
            min_pause: Duration::from_secs_f64(pause.0),
            max_pause: Duration::from_secs_f64(pause.1),
            start: if stationary { Start::Stationary } else { Start::Naive },
        };
        let span = Duration::from_secs_f64(duration);
        let mobility = py.detach(|| model.generate(nodes, span, seed));
        let mobility = mobility.map_err(|error| input_error(py, &error.to_string()))?;
        Ok(Self { mobility, end: Time::ZERO + span })
    }

    /// Nodes that stand still: a `grid` of so many columns, a `chain`, or `uniform` over an area; distances
    /// in m.
    #[staticmethod]
    fn place(
        py: Python<'_>,
        placement: &str,
        nodes: usize,
        area: (f64, f64),
        columns: usize,
        spacing: f64,
        seed: u64,
    ) -> PyResult<Self> {
        let placement = match placement {
            "grid" => Placement::Grid { columns, spacing },
            "chain" => Placement::Chain { spacing },
            _ => Placement::Uniform(Area::new(area.0, area.1)),
        };
        let places = placement.place(nodes, seed).map_err(|error| input_error(py, &error.to_string()))?;
        Ok(Self { mobility: cogtcp_mobility::Mobility::still(&places), end: Time::ZERO })
    }

    /// The trajectories as text: `setdest` or `csv`.
    fn write(&self, py: Python<'_>, format: &str) -> String {
        let write = if format == "csv" { csv::write } else { setdest::write };
        py.detach(|| write(&self.mobility))
    }

    /// Number of nodes.
    #[getter]
    fn nodes(&self) -> usize {
        self.mobility.len()
    }

    /// The end, s: as generated, or when the last node comes to its last place.
    #[getter]
    fn end(&self) -> f64 {
        self.end.as_secs_f64()
    }

    /// The corners of every node's trajectory.
    #[getter]
    fn paths(&self) -> Vec<Vec<Corner>> {
        let corner = |vertex: &cogtcp_mobility::Vertex| {
            (vertex.time.as_secs_f64(), vertex.position.x, vertex.position.y)
        };
        self.mobility
            .trajectories()
            .iter()
            .map(|trajectory| trajectory.vertices().iter().map(corner).collect())
            .collect()
    }

    /// Where every node is at `at`, s.
    fn positions(&self, at: f64) -> Vec<(f64, f64)> {
        let at = Time::from_secs_f64(at);
        let place = |trajectory: &cogtcp_mobility::Trajectory| trajectory.position(at);
        self.mobility.trajectories().iter().map(place).map(|place| (place.x, place.y)).collect()
    }

    /// What every node does up to `until`, s.
    fn stats(&self, until: f64) -> Vec<Stats> {
        let until = Time::from_secs_f64(until);
        let of = |trajectory: &cogtcp_mobility::Trajectory| {
            (trajectory.travelled(until), trajectory.paused(until).as_secs_f64(), trajectory.max_speed())
        };
        self.mobility.trajectories().iter().map(of).collect()
    }

    /// Who is within `range` m of whom at each of these times, s.
    fn connectivity(&self, py: Python<'_>, range: f64, times: Vec<f64>) -> Vec<Connectivity> {
        py.detach(|| {
            let mut grid = NeighborGrid::new(&self.mobility, range);
            times.iter().map(|at| connected(&mut grid, &self.mobility, Time::from_secs_f64(*at))).collect()
        })
    }
}

/// Links, nodes without any, and the size of the largest connected part at `now`.
fn connected(grid: &mut NeighborGrid, mobility: &cogtcp_mobility::Mobility, now: Time) -> Connectivity {
    let near: Vec<Vec<u32>> =
        (0..mobility.len() as u32).map(|node| grid.neighbors(mobility, now, node).nodes).collect();
    let links = near.iter().map(Vec::len).sum::<usize>() / 2;
    let alone = near.iter().filter(|neighbors| neighbors.is_empty()).count();
    let mut seen = vec![false; near.len()];
    let mut largest = 0;
    for start in 0..near.len() {
        let (mut open, mut size) = (vec![start as u32], 0);
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut seen[node as usize], true) {
                size += 1;
                open.extend(&near[node as usize]);
            }
        }
        largest = largest.max(size);
    }
    (links, alone, largest)
}
