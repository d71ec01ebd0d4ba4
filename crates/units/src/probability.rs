//! Probabilities.

use crate::QuantityError;
use std::fmt;

/// A probability in [0, 1]. Written as a number (`0.01`) or a percentage (`"1 %"`).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Probability(f64);

impl Probability {
    /// Never.
    pub const ZERO: Self = Self(0.0);
    /// Always.
    pub const ONE: Self = Self(1.0);

    /// The probability `value`, or an error outside [0, 1].
    pub fn new(value: f64) -> Result<Self, QuantityError> {
        if (0.0..=1.0).contains(&value) {
            Ok(Self(value))
        } else {
            Err(QuantityError(format!(
                "{value} is not a probability: it must lie in 0 to 1, or \"0 %\" to \"100 %\""
            )))
        }
    }

    /// The value in [0, 1].
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl std::str::FromStr for Probability {
    type Err = QuantityError;
    fn from_str(text: &str) -> Result<Self, QuantityError> {
        let trimmed = text.trim();
        let (number, scale) = match trimmed.strip_suffix('%') {
            Some(number) => (number.trim(), 0.01),
            None => (trimmed, 1.0),
        };
        let value: f64 = number
            .parse()
            .map_err(|_| QuantityError(format!("\"{text}\" is not a probability: write 0.01 or \"1 %\"")))?;
        Self::new(value * scale)
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl serde::Serialize for Probability {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

impl<'de> serde::Deserialize<'de> for Probability {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Probability;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a probability: a number in 0 to 1, or a percentage as \"1 %\"")
            }
            fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Probability, E> {
                Probability::new(value).map_err(E::custom)
            }
            fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Probability, E> {
                self.visit_f64(value as f64)
            }
            fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Probability, E> {
                self.visit_f64(value as f64)
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Probability, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl schemars::JsonSchema for Probability {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Probability".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "a probability: a number in 0 to 1, or a percentage as \"1 %\"",
            "anyOf": [
                { "type": "number", "minimum": 0, "maximum": 1 },
                { "type": "string", "pattern": "^ *[0-9.]+ *%? *$" },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_and_number() {
        assert_eq!("1 %".parse::<Probability>().unwrap().get(), 0.01);
        assert_eq!("0.5".parse::<Probability>().unwrap().get(), 0.5);
        assert!("101 %".parse::<Probability>().is_err());
        assert!(Probability::new(f64::NAN).is_err());
    }
}
