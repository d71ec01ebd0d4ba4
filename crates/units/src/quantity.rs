//! Reading and writing "number unit" text: the one place where units are spelled.

use std::fmt;

/// A text that is not a quantity of the expected kind. The message says what would be right.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct QuantityError(pub(crate) String);

/// One kind of quantity: its name, an example, and its units with their size in the base unit, smallest
/// first. The first spelling of a size is the one written; later spellings of the same size are aliases.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) example: &'static str,
    pub(crate) units: &'static [(&'static str, u64)],
}

impl Kind {
    /// Parses `text` to an integer number of base units, rounding to the nearest.
    pub(crate) fn parse(&self, text: &str) -> Result<u64, QuantityError> {
        let (number, unit) = split(text);
        let wrong = |why: &str| {
            QuantityError(format!(
                "\"{text}\" is not {}: {why}; write a number and a unit, for example \"{}\"",
                self.name, self.example
            ))
        };
        if number.is_empty() {
            return Err(wrong("it has no number"));
        }
        if unit.is_empty() {
            return Err(wrong(&format!("it has no unit (one of {})", self.unit_names())));
        }
        let value: f64 = number.parse().map_err(|_| wrong(&format!("\"{number}\" is not a number")))?;
        if !value.is_finite() {
            return Err(wrong("it is not finite"));
        }
        if value < 0.0 {
            return Err(wrong("it is negative"));
        }
        let Some(&(_, size)) = self.units.iter().find(|(name, _)| *name == unit) else {
            return Err(wrong(&format!("unknown unit \"{unit}\" (one of {})", self.unit_names())));
        };
        let scaled = value * size as f64;
        // 2^63: the largest value kept, so that sums of two never overflow.
        if scaled >= 9.2e18 {
            return Err(wrong("it is too large"));
        }
        // The cast cuts off, so half a unit more rounds to the nearest.
        let rounded = (scaled + 0.5) as u64;
        if rounded == 0 && value > 0.0 {
            return Err(wrong(&format!("it is smaller than 1 {}", self.units[0].0)));
        }
        Ok(rounded)
    }

    /// Writes `value` in the largest unit that needs no more than three decimals.
    pub(crate) fn format(&self, value: u64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut best = self.units[0];
        for &(name, size) in self.units {
            let seen = best.1 == size && name != best.0;
            // 128 bits: a thousand times the largest value does not fit 64.
            if !seen && value >= size && (u128::from(value) * 1000) % u128::from(size) == 0 {
                best = (name, size);
            }
        }
        let (name, size) = best;
        let whole = value / size;
        let thousandths = (u128::from(value % size) * 1000 / u128::from(size)) as u64;
        if thousandths == 0 {
            write!(f, "{whole} {name}")
        } else {
            let decimals = format!("{thousandths:03}");
            write!(f, "{whole}.{} {name}", decimals.trim_end_matches('0'))
        }
    }

    /// A regular expression for JSON Schema.
    pub(crate) fn pattern(&self) -> String {
        let names: Vec<_> = self.units.iter().map(|(name, _)| *name).collect();
        format!("^ *[0-9.]+([eE][+-]?[0-9]+)? *({}) *$", names.join("|"))
    }

    fn unit_names(&self) -> String {
        let mut names = Vec::new();
        let mut last = 0;
        for &(name, size) in self.units {
            if size != last {
                names.push(name);
            }
            last = size;
        }
        names.join(", ")
    }
}

/// Splits "10 Mbit/s" in number and unit; the blank between is optional.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let bytes = text.as_bytes();
    let mut end = 0;
    while end < bytes.len() {
        let c = bytes[end];
        let exponent = matches!(c, b'e' | b'E')
            && end > 0
            && bytes.get(end + 1).is_some_and(|n| n.is_ascii_digit() || matches!(n, b'+' | b'-'));
        let sign = matches!(c, b'+' | b'-') && (end == 0 || matches!(bytes[end - 1], b'e' | b'E'));
        if !(c.is_ascii_digit() || c == b'.' || exponent || sign) {
            break;
        }
        end += 1;
    }
    (&text[..end], text[end..].trim_start())
}

/// Gives an integer quantity its text form: `FromStr`, `Display`, serde as a string, JSON Schema.
macro_rules! text_quantity {
    ($type:ident, $kind:expr) => {
        impl std::str::FromStr for $type {
            type Err = $crate::QuantityError;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $kind.parse(text).map($type)
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $kind.format(self.0, f)
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }

        $crate::text_form!(
            $type,
            format!("{}, for example \"{}\"", $kind.name, $kind.example),
            format!("{} in quotes and with its unit, for example \"{}\"", $kind.name, $kind.example),
            $kind.pattern()
        );
    };
}
pub(crate) use text_quantity;

#[cfg(test)]
mod tests {
    use crate::{Bytes, Duration, Rate};

    #[test]
    fn reads_units_with_and_without_blank() {
        assert_eq!("40 ms".parse::<Duration>(), Ok(Duration::from_millis(40)));
        assert_eq!("0.1s".parse::<Duration>(), Ok(Duration::from_millis(100)));
        assert_eq!("1e3 us".parse::<Duration>(), Ok(Duration::from_millis(1)));
        assert_eq!("10 Mbit/s".parse::<Rate>(), Ok(Rate::from_bits_per_second(10_000_000)));
        assert_eq!("10 Mbps".parse::<Rate>(), Ok(Rate::from_bits_per_second(10_000_000)));
        assert_eq!("64 KiB".parse::<Bytes>(), Ok(Bytes::new(65_536)));
    }

    #[test]
    fn says_what_would_be_right() {
        let message = "10".parse::<Rate>().unwrap_err().to_string();
        assert!(message.contains("no unit") && message.contains("\"10 Mbit/s\""), "{message}");
        let message = "-1 s".parse::<Duration>().unwrap_err().to_string();
        assert!(message.contains("negative"), "{message}");
        let message = "5 parsec".parse::<Duration>().unwrap_err().to_string();
        assert!(
            message.contains("unknown unit \"parsec\"") && message.contains("ns, us, ms, s"),
            "{message}"
        );
        assert!("nan s".parse::<Duration>().is_err());
        assert!("1e300 s".parse::<Duration>().is_err());
        assert!("0.1 ns".parse::<Duration>().is_err());
        assert!("".parse::<Duration>().is_err());
    }

    #[test]
    fn text_round_trips() {
        for ns in
            [0, 1, 999, 1_000, 1_500_000, 100_000_000, 60_000_000_000, 86_400_000_000_001, 3_600_000_000_000]
        {
            let duration = Duration::from_nanos(ns);
            assert_eq!(duration.to_string().parse::<Duration>(), Ok(duration), "{duration}");
        }
        assert_eq!(Duration::from_millis(1500).to_string(), "1.5 s");
        assert_eq!(Rate::from_bits_per_second(1_100_000).to_string(), "1.1 Mbit/s");
        assert_eq!(Bytes::new(1000).to_string(), "1 kB");
    }
}
