//! Quantities that are real numbers: lengths, ratios in decibels, frequencies, speeds, accelerations.

use std::fmt;
use std::str::FromStr;

/// A length in metres, or a coordinate, which may be negative. Written `"250 m"` or `"1.5 km"`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Length(pub f64);

/// A ratio in decibels. Written `"-20 dB"`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Decibel(pub f64);

impl Decibel {
    /// The ratio itself.
    pub fn linear(self) -> f64 {
        libm::pow(10.0, self.0 / 10.0)
    }
}

/// A frequency or bandwidth in hertz. Written `"1 MHz"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frequency(pub f64);

/// A speed in metres per second. Written `"160 km/h"` or `"40 m/s"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed(pub f64);

/// An acceleration in metres per second squared. Written `"0.5 m/s^2"`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acceleration(pub f64);

/// A number with one of `units`, returned in the first of these.
fn parse(text: &str, what: &str, example: &str, units: &[(&str, f64)]) -> Result<f64, String> {
    let wrong =
        |why: &str| format!("\"{text}\" is not {what}: {why}; write a number and a unit, as \"{example}\"");
    let trimmed = text.trim();
    let names = || units.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    // The longest, since "km" ends with "m" too.
    let (unit, scale) = units
        .iter()
        .filter(|(name, _)| trimmed.ends_with(name))
        .max_by_key(|(name, _)| name.len())
        .ok_or_else(|| wrong(&format!("its unit is none of {}", names())))?;
    let number = trimmed[..trimmed.len() - unit.len()].trim();
    let value: f64 = number.parse().map_err(|_| wrong("it has no number"))?;
    let value = value * scale;
    if value.is_finite() && value.abs() <= 1e15 { Ok(value) } else { Err(wrong("it is too large")) }
}

macro_rules! quantity {
    ($type:ident, $what:literal, $example:literal, $units:expr, $pattern:literal) => {
        impl FromStr for $type {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                parse(text, $what, $example, &$units).map(Self)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let (unit, scale): (&str, f64) = $units
                    .into_iter()
                    .rev()
                    .find(|(_, scale): &(&str, f64)| self.0 != 0.0 && (self.0 / scale).fract() == 0.0)
                    .unwrap_or($units[0]);
                write!(f, "{} {unit}", self.0 / scale)
            }
        }

        $crate::text_form!(
            $type,
            concat!($what, ", for example \"", $example, "\""),
            concat!($what, " as \"", $example, "\""),
            $pattern
        );
    };
}

quantity!(
    Length,
    "a length",
    "250 m",
    [("m", 1.0), ("km", 1000.0)],
    "^ *-?[0-9.]+([eE][+-]?[0-9]+)? *(m|km) *$"
);
quantity!(Decibel, "a ratio in decibels", "-20 dB", [("dB", 1.0)], "^ *-?[0-9.]+([eE][+-]?[0-9]+)? *dB *$");
quantity!(
    Frequency,
    "a frequency",
    "1 MHz",
    [("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)],
    "^ *[0-9.]+([eE][+-]?[0-9]+)? *(Hz|kHz|MHz|GHz) *$"
);
quantity!(
    Speed,
    "a speed",
    "160 km/h",
    [("m/s", 1.0), ("km/h", 1.0 / 3.6)],
    "^ *[0-9.]+([eE][+-]?[0-9]+)? *(m/s|km/h) *$"
);
quantity!(
    Acceleration,
    "an acceleration",
    "0.5 m/s^2",
    [("m/s^2", 1.0)],
    "^ *[0-9.]+([eE][+-]?[0-9]+)? *m/s\\^2 *$"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_and_written() {
        for (text, metres) in [("250 m", 250.0), ("1.5km", 1500.0), ("-3 m", -3.0), ("1e2 m", 100.0)] {
            assert_eq!(text.parse(), Ok(Length(metres)));
        }
        assert_eq!("-22.5 dB".parse(), Ok(Decibel(-22.5)));
        assert_eq!("2 MHz".parse(), Ok(Frequency(2e6)));
        let written = [Length(0.0).to_string(), Length(2000.0).to_string(), Frequency(1e6).to_string()];
        assert_eq!(written, ["0 m", "2 km", "1 MHz"]);
        assert_eq!(Frequency(2.5e5).to_string(), "250 kHz");
        assert_eq!(("36 km/h".parse(), "0.5 m/s^2".parse()), (Ok(Speed(10.0)), Ok(Acceleration(0.5))));
        assert_eq!(("1e15 m".parse(), "-1e12 km".parse()), (Ok(Length(1e15)), Ok(Length(-1e15))));
        for text in ["250", "m", "3 miles", "", "1e99 m", "nan m", "1.0000000001e15 m", "-1.1e15 m"] {
            let error = text.parse::<Length>().unwrap_err();
            assert!(error.contains("as \"250 m\""), "{error}");
        }
    }
}
