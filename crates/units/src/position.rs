//! Places in the plane.

/// A place in the plane, in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Position {
    /// East, m.
    pub x: f64,
    /// North, m.
    pub y: f64,
}

impl Position {
    /// The place (`x`, `y`) in metres.
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// Distance in metres.
    pub fn distance(self, other: Self) -> f64 {
        libm::hypot(self.x - other.x, self.y - other.y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_of_a_right_triangle() {
        assert_eq!(Position::new(0.0, 3.0).distance(Position::new(4.0, 0.0)), 5.0);
    }
}
