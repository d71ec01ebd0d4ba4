//! The rectangle in which nodes are.

use cogtcp_units::{Position, RandomStream};

/// A rectangle with one corner at (0, 0), in metres. One side may be 0: a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// East side, m.
    pub width: f64,
    /// North side, m.
    pub height: f64,
}

impl Area {
    /// The area of these sides in metres.
    pub const fn new(width: f64, height: f64) -> Self {
        Self { width, height }
    }

    /// Whether both sides are finite and not negative, and not both 0.
    pub fn is_valid(self) -> bool {
        // NaN and infinity lie in no range.
        let fits = |side: f64| (0.0..=1e9).contains(&side);
        fits(self.width) && fits(self.height) && self.width + self.height > 0.0
    }

    /// Whether a place lies in it.
    pub fn contains(self, at: Position) -> bool {
        (0.0..=self.width).contains(&at.x) && (0.0..=self.height).contains(&at.y)
    }

    /// A place by the uniform law.
    pub fn uniform(self, draw: &mut RandomStream) -> Position {
        Position::new(draw.uniform_in(0.0, self.width), draw.uniform_in(0.0, self.height))
    }

    /// The longest distance in it, m.
    pub fn diagonal(self) -> f64 {
        libm::hypot(self.width, self.height)
    }

    /// Mean distance of two places drawn uniformly, m: Ghosh, Bulletin of the Calcutta Mathematical Society
    /// 43, 1951; a third of the length for a line.
    pub fn mean_distance(self) -> f64 {
        let (a, b) = (self.width, self.height);
        if a == 0.0 || b == 0.0 {
            return (a + b) / 3.0;
        }
        let d = self.diagonal();
        let (a2, b2) = (a * a, b * b);
        (a2 * a / b2 + b2 * b / a2 + d * (3.0 - a2 / b2 - b2 / a2)) / 15.0
            + (b2 / a * libm::acosh(d / b) + a2 / b * libm::acosh(d / a)) / 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The unit square's 0.521405433; a line's third; and 200,000 pairs in a rectangle of 3 to 1, to five
    /// standard errors.
    #[test]
    fn mean_distances() {
        assert!((Area::new(1.0, 1.0).mean_distance() - 0.521_405_433_164_720_7).abs() < 1e-12);
        assert!((Area::new(1000.0, 1000.0).mean_distance() - 521.405_433_164_72).abs() < 1e-8);
        assert!((Area::new(0.0, 6.0).mean_distance() - 2.0).abs() < 1e-12);
        let (area, mut draw) = (Area::new(3.0, 1.0), RandomStream::new(1, "area", 0));
        let pairs: Vec<f64> =
            (0..200_000).map(|_| area.uniform(&mut draw).distance(area.uniform(&mut draw))).collect();
        let mean = pairs.iter().sum::<f64>() / pairs.len() as f64;
        let variance = pairs.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / pairs.len() as f64;
        let error = (variance / pairs.len() as f64).sqrt();
        assert!((mean - area.mean_distance()).abs() < 5.0 * error, "{mean} {}", area.mean_distance());
    }
}
