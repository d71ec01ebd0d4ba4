//! Powers and power ratios.

use crate::QuantityError;
use std::fmt;

/// A power in watts. Written `"100 mW"`, `"1 W"` or `"20 dBm"`.
#[derive(Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct Power(f64);

impl Power {
    /// `watts` watts; must be finite and not negative.
    pub fn from_watts(watts: f64) -> Self {
        debug_assert!(watts.is_finite() && watts >= 0.0, "a power is finite and not negative: {watts}");
        Self(watts)
    }

    /// `dbm` decibels above one milliwatt.
    pub fn from_dbm(dbm: f64) -> Self {
        Self(libm::pow(10.0, dbm / 10.0) / 1000.0)
    }

    /// Watts.
    pub const fn watts(self) -> f64 {
        self.0
    }

    /// Decibels above one milliwatt; negative infinity for no power.
    pub fn dbm(self) -> f64 {
        10.0 * libm::log10(self.0 * 1000.0)
    }
}

impl std::str::FromStr for Power {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let wrong = |why: &str| {
            QuantityError(format!("\"{text}\" is not a power: {why}; for example \"100 mW\" or \"20 dBm\""))
        };
        let trimmed = text.trim();
        // "W" last: most other units end with it.
        for (unit, scale) in [("dBm", 0.0), ("nW", 1e-9), ("uW", 1e-6), ("mW", 1e-3), ("kW", 1e3), ("W", 1.0)]
        {
            let Some(number) = trimmed.strip_suffix(unit) else { continue };
            let value: f64 = number.trim().parse().map_err(|_| wrong("it has no number"))?;
            let power = if unit == "dBm" { Self::from_dbm(value) } else { Self(value * scale) };
            if !power.0.is_finite() || power.0 < 0.0 {
                return Err(wrong("it is negative or not finite"));
            }
            return Ok(power);
        }
        Err(wrong("unknown unit (one of nW, uW, mW, W, kW, dBm)"))
    }
}

impl fmt::Display for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} W", self.0)
    }
}

impl fmt::Debug for Power {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

crate::text_form!(
    Power,
    "a power, for example \"100 mW\" or \"20 dBm\"",
    "a power in quotes and with its unit, for example \"100 mW\"",
    "^ *-?[0-9.]+([eE][+-]?[0-9]+)? *(nW|uW|mW|W|kW|dBm) *$"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dbm_and_watts_agree() {
        assert_eq!("0 dBm".parse::<Power>().unwrap(), Power::from_watts(0.001));
        assert!(("24.5 dBm".parse::<Power>().unwrap().watts() - 0.2818).abs() < 1e-3);
        assert!("-3 W".parse::<Power>().is_err());
        assert!("5 V".parse::<Power>().is_err());
    }
}
