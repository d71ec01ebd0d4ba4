//! Where nodes are at which time: placements, random waypoint, trace files, and who is near whom. Pure.
//!
//! Reading order:
//!
//! - [`Path`]: the way of one node, piecewise linear, exact at every nanosecond; [`Mobility`]: the paths of
//!   all nodes.
//! - [`Placement`]: nodes that stand still. [`RandomWaypoint`]: nodes that move, from the stationary law or
//!   not.
//! - [`trace`]: the ns-2 `setdest` format and CSV, over text.
//! - [`NeighborGrid`]: who is within range, and until when that cannot change.

mod area;
mod grid;
mod path;
mod placement;
pub mod trace;
mod waypoint;

pub use area::Area;
pub use grid::{NeighborGrid, Neighbors};
pub use path::{Mobility, Path, PathError, Vertex};
pub use placement::{Placement, PlacementError};
pub use waypoint::{RandomWaypoint, Start, WaypointError};
