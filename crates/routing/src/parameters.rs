//! Parameters of a routing protocol: what it declares and what a user sets.

use crate::registry::RoutingError;
use cogtcp_units::Duration;
use std::collections::BTreeMap;

/// A parameter's value.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValue {
    /// A number, in the unit its specification names.
    Number(f64),
    /// A switch.
    Flag(bool),
    /// One of a set of words.
    Text(String),
}

impl std::fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Text(text) => write!(f, "\"{text}\""),
        }
    }
}

/// What a parameter may be. Its default is in [`ParameterSpec::default`], in words, because it may depend on a profile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterKind {
    /// A number in `min..=max`.
    Number {
        /// Least value.
        min: f64,
        /// Greatest value.
        max: f64,
    },
    /// A whole number in `min..=max`.
    Whole {
        /// Least value.
        min: u32,
        /// Greatest value.
        max: u32,
    },
    /// A switch.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// One parameter of a routing protocol.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParameterSpec {
    /// Its key.
    pub name: &'static str,
    /// Meaning and source.
    pub summary: &'static str,
    /// Unit of a number; empty for a pure number.
    pub unit: &'static str,
    /// What it may be.
    pub kind: ParameterKind,
    /// Its value when not set, in words.
    pub default: &'static str,
}

/// A table of parameters by name: only those that were set.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parameters(BTreeMap<String, ParameterValue>);

impl Parameters {
    /// An empty table: every parameter at its default.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `name`.
    pub fn set(&mut self, name: &str, value: ParameterValue) {
        self.0.insert(name.to_owned(), value);
    }

    /// The same table with the number `name` set.
    pub fn with_number(mut self, name: &str, value: f64) -> Self {
        self.set(name, ParameterValue::Number(value));
        self
    }

    /// The same table with the switch `name` set.
    pub fn with_flag(mut self, name: &str, value: bool) -> Self {
        self.set(name, ParameterValue::Flag(value));
        self
    }

    /// The same table with the word `name` set.
    pub fn with_text(mut self, name: &str, value: &str) -> Self {
        self.set(name, ParameterValue::Text(value.to_owned()));
        self
    }

    /// All that is set, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ParameterValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The number `name`, if set.
    pub fn number(&self, name: &str) -> Option<f64> {
        match self.0.get(name) {
            Some(ParameterValue::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// The whole number `name`, if set.
    pub fn whole(&self, name: &str) -> Option<u32> {
        self.number(name).map(|number| number as u32)
    }

    /// The span `name`, which is set in seconds, if set.
    pub fn seconds(&self, name: &str) -> Option<Duration> {
        self.number(name).map(Duration::from_secs_f64)
    }

    /// The switch `name`, if set.
    pub fn flag(&self, name: &str) -> Option<bool> {
        match self.0.get(name) {
            Some(ParameterValue::Flag(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// The word `name`, if set.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name) {
            Some(ParameterValue::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Checks every value against `specs`: known, of its kind, in range.
    pub fn check(&self, protocol: &str, specs: &[ParameterSpec]) -> Result<(), RoutingError> {
        for (name, value) in self.iter() {
            let Some(spec) = specs.iter().find(|spec| spec.name == name) else {
                return Err(RoutingError::UnknownParameter {
                    protocol: protocol.to_owned(),
                    parameter: name.to_owned(),
                    known: specs.iter().map(|spec| spec.name).collect::<Vec<_>>().join(", "),
                });
            };
            let wrong = spec.kind.right(value).map(|right| RoutingError::BadParameter {
                protocol: protocol.to_owned(),
                parameter: name.to_owned(),
                value: value.to_string(),
                right,
            });
            if let Some(error) = wrong {
                return Err(error);
            }
        }
        Ok(())
    }
}

impl ParameterKind {
    /// What would be right in place of `value`; `None` if it is right.
    fn right(&self, value: &ParameterValue) -> Option<String> {
        let (fits, right) = match (self, value) {
            (Self::Number { min, max }, ParameterValue::Number(number)) => {
                ((*min..=*max).contains(number), format!("a number from {min} to {max}"))
            }
            (Self::Number { min, max }, _) => (false, format!("a number from {min} to {max}")),
            (Self::Whole { min, max }, ParameterValue::Number(number)) => {
                let fits = (f64::from(*min)..=f64::from(*max)).contains(number) && number.trunc() == *number;
                (fits, format!("a whole number from {min} to {max}"))
            }
            (Self::Whole { min, max }, _) => (false, format!("a whole number from {min} to {max}")),
            (Self::Flag, value) => (matches!(value, ParameterValue::Flag(_)), String::from("true or false")),
            (Self::Choice(words), value) => {
                let fits = matches!(value, ParameterValue::Text(text) if words.contains(&text.as_str()));
                (fits, format!("one of {}", words.join(", ")))
            }
        };
        (!fits).then_some(right)
    }
}
