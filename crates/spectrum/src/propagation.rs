//! Where things are and how loud they are there.

pub use cogtcp_units::Position;

/// The generalised free-space model of MSWiM 2009, equation 2: `P_r = P_t / d^a * k`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Propagation {
    /// Attenuation factor a: 2 in free space, 3 to 4 over ground.
    pub attenuation: f64,
}

impl Default for Propagation {
    /// Free space. The paper does not print its attenuation factor.
    fn default() -> Self {
        Self { attenuation: 2.0 }
    }
}

impl Propagation {
    /// Power in watts that arrives from a sender of `power` watts at `distance` metres through overlap factor
    /// `k`. Nearer than 1 m it does not grow further: the formula has its pole there, physics has not.
    pub fn received(&self, power: f64, distance: f64, overlap: f64) -> f64 {
        power / libm::pow(distance.max(1.0), self.attenuation) * overlap
    }

    /// Distance in metres at which `power` watts have faded to `sensitivity` watts on the central channel.
    pub fn range(&self, power: f64, sensitivity: f64) -> f64 {
        libm::pow(power / sensitivity, 1.0 / self.attenuation)
    }

    /// Power in watts that fades to `sensitivity` watts at `range` metres.
    pub fn power_for(&self, range: f64, sensitivity: f64) -> f64 {
        sensitivity * libm::pow(range, self.attenuation)
    }
}

/// The overlap factor k of a channel `spacing` channels away from the PU's central channel: 1, 0.5, 0.25 for
/// 0, 1 and 2 (MSWiM 2009, section 3). Further away the PU is not heard.
pub const fn overlap_factor(spacing: u32) -> f64 {
    match spacing {
        0 => 1.0,
        1 => 0.5,
        2 => 0.25,
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equation_2() {
        let free_space = Propagation::default();
        // 0.1 W at 500 m, a = 2: 0.1 / 250,000.
        assert!((free_space.received(0.1, 500.0, 1.0) - 4e-7).abs() < 1e-20);
        assert!((free_space.received(0.1, 500.0, overlap_factor(2)) - 1e-7).abs() < 1e-20);
        let ground = Propagation { attenuation: 4.0 };
        assert!((ground.received(1.0, 10.0, overlap_factor(1)) - 0.5e-4).abs() < 1e-18);
        assert_eq!(ground.received(1.0, 0.0, 1.0), 1.0);
        assert_eq!(overlap_factor(3), 0.0);
        assert!((free_space.range(0.1, 4e-7) - 500.0).abs() < 1e-9);
        assert!((ground.power_for(ground.range(0.3, 1e-9), 1e-9) - 0.3).abs() < 1e-12);
    }
}
