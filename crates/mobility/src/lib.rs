//! Where nodes are at which time: placements, random waypoint, trace files, and who is near whom. Pure.
//!
//! Reading order:
//!
//! - [`Trajectory`]: the trajectory of one node, piecewise linear, exact at every nanosecond; [`Mobility`]:
//!   the trajectories of all nodes.
//! - [`Placement`]: nodes that stand still. [`RandomWaypoint`]: nodes that move, from the stationary law or
//!   not.
//! - [`trace`]: the ns-2 `setdest` format and CSV, over text.
//! - [`NeighborGrid`]: who is within range, and until when that cannot change.

mod area;
mod grid;
mod placement;
pub mod trace;
mod trajectory;
mod waypoint;

pub use area::Area;
pub use grid::{NeighborGrid, Neighbors};
pub use placement::{Placement, PlacementError};
pub use trajectory::{Mobility, Trajectory, TrajectoryError, Vertex};
pub use waypoint::{RandomWaypoint, Start, WaypointError};
