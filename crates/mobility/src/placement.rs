//! Where nodes stand.

use crate::Area;
use cogtcp_units::{Position, RandomStream};

/// How nodes are placed.
#[derive(Clone, Debug, PartialEq)]
pub enum Placement {
    /// In rows of `columns`, `spacing` metres apart, the first at (0, 0).
    Grid {
        /// Nodes in a row.
        columns: usize,
        /// Metres between neighbours.
        spacing: f64,
    },
    /// Each by itself, uniform over the area.
    Uniform(Area),
    /// In a line to the east, `spacing` metres apart, the first at (0, 0).
    Chain {
        /// Metres between neighbours.
        spacing: f64,
    },
    /// At these places.
    Given(Vec<Position>),
}

/// A placement that cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum PlacementError {
    /// A grid without columns.
    #[error("a grid needs at least one column")]
    NoColumns,
    /// Not a distance.
    #[error("the spacing is {0} m: it must be a number from 0")]
    Spacing(f64),
    /// Not an area.
    #[error("the area must have sides from 0 to 1e9 m, not both 0")]
    Area,
    /// More nodes than places.
    #[error("{nodes} nodes and {places} places; give each node one")]
    Places {
        /// Nodes to place.
        nodes: usize,
        /// Places given.
        places: usize,
    },
}

impl Placement {
    /// The places of `nodes` nodes. Node i draws from its own stream: more nodes move none.
    pub fn place(&self, nodes: usize, seed: u64) -> Result<Vec<Position>, PlacementError> {
        let spaced = |spacing: f64| {
            if spacing.is_finite() && spacing >= 0.0 {
                Ok(spacing)
            } else {
                Err(PlacementError::Spacing(spacing))
            }
        };
        match self {
            Self::Grid { columns: 0, .. } => Err(PlacementError::NoColumns),
            Self::Grid { columns, spacing } => {
                let spacing = spaced(*spacing)?;
                let place = |i: usize| ((i % columns) as f64 * spacing, (i / columns) as f64 * spacing);
                Ok((0..nodes).map(place).map(|(x, y)| Position::new(x, y)).collect())
            }
            Self::Uniform(area) if !area.is_valid() => Err(PlacementError::Area),
            Self::Uniform(area) => {
                let place = |i| area.uniform(&mut RandomStream::new(seed, "mobility/placement", i as u64));
                Ok((0..nodes).map(place).collect())
            }
            Self::Chain { spacing } => {
                let spacing = spaced(*spacing)?;
                Ok((0..nodes).map(|i| Position::new(i as f64 * spacing, 0.0)).collect())
            }
            Self::Given(places) if places.len() != nodes => {
                Err(PlacementError::Places { nodes, places: places.len() })
            }
            Self::Given(places) => Ok(places.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_by_hand() {
        let at =
            |places: &[(f64, f64)]| places.iter().map(|(x, y)| Position::new(*x, *y)).collect::<Vec<_>>();
        let grid = Placement::Grid { columns: 2, spacing: 10.0 };
        assert_eq!(grid.place(3, 1).unwrap(), at(&[(0.0, 0.0), (10.0, 0.0), (0.0, 10.0)]));
        let chain = Placement::Chain { spacing: 200.0 };
        assert_eq!(chain.place(3, 1).unwrap(), at(&[(0.0, 0.0), (200.0, 0.0), (400.0, 0.0)]));
        assert!(chain.place(0, 1).unwrap().is_empty());
        let given = Placement::Given(at(&[(1.0, 2.0)]));
        assert_eq!(given.place(1, 1).unwrap(), at(&[(1.0, 2.0)]));
        assert_eq!(given.place(2, 1), Err(PlacementError::Places { nodes: 2, places: 1 }));
    }

    #[test]
    fn uniform_places_are_of_the_seed_and_the_node() {
        let area = Area::new(1000.0, 500.0);
        let (few, many) =
            (Placement::Uniform(area).place(5, 7).unwrap(), Placement::Uniform(area).place(50, 7).unwrap());
        assert_eq!(few[..], many[..5]);
        assert_ne!(few, Placement::Uniform(area).place(5, 8).unwrap());
        assert!(many.iter().all(|place| area.contains(*place)));
        // Mean of 2000 uniform x: five standard errors are 5 * 288.7 / sqrt(2000) = 32 m.
        let all = Placement::Uniform(area).place(2000, 1).unwrap();
        assert!((all.iter().map(|place| place.x).sum::<f64>() / 2000.0 - 500.0).abs() < 32.0);
    }

    #[test]
    fn what_cannot_be_placed_is_refused() {
        assert_eq!(Placement::Grid { columns: 0, spacing: 1.0 }.place(1, 1), Err(PlacementError::NoColumns));
        assert_eq!(Placement::Chain { spacing: -1.0 }.place(1, 1), Err(PlacementError::Spacing(-1.0)));
        assert_eq!(Placement::Uniform(Area::new(0.0, 0.0)).place(1, 1), Err(PlacementError::Area));
        assert_eq!(Placement::Uniform(Area::new(f64::NAN, 1.0)).place(1, 1), Err(PlacementError::Area));
    }
}
