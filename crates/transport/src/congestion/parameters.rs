//! Parameters of a congestion control: what it declares and what a user sets.

use cogtcp_units::{WrongSetting, among};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The value of a parameter of a congestion control: a number, true or false, or a word.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
#[serde(untagged, expecting = "this is not a parameter; write a number, true or false, or a word in quotes")]
#[schemars(rename = "Parameter")]
pub enum ParameterValue {
    /// Yes or no.
    Flag(bool),
    /// A number, in the parameter's unit.
    Number(#[serde(deserialize_with = "finite")] f64),
    /// One of the parameter's words.
    Text(String),
}

/// A number that JSON can say too.
fn finite<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(deserializer)?;
    if number.is_finite() { Ok(number) } else { Err(serde::de::Error::custom("the number is not finite")) }
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

/// What a parameter may be, with its default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterKind {
    /// A number in `min..=max`.
    Number {
        /// Value when not set.
        default: f64,
        /// Least value.
        min: f64,
        /// Greatest value.
        max: f64,
    },
    /// A switch.
    Flag {
        /// Value when not set.
        default: bool,
    },
    /// One of `choices`.
    Choice {
        /// Value when not set.
        default: &'static str,
        /// The words allowed.
        choices: &'static [&'static str],
    },
}

/// One parameter of a congestion control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParameterSpec {
    /// Its key.
    pub name: &'static str,
    /// Meaning and source.
    pub summary: &'static str,
    /// Unit of a number; empty for a pure number.
    pub unit: &'static str,
    /// Kind, default and range.
    pub kind: ParameterKind,
}

/// A table of parameters by name.
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

    /// This table with the number `name` set.
    pub fn with_number(mut self, name: &str, value: f64) -> Self {
        self.set(name, ParameterValue::Number(value));
        self
    }

    /// The value of `name`, if set.
    pub fn get(&self, name: &str) -> Option<&ParameterValue> {
        self.0.get(name)
    }

    /// All that is set, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ParameterValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number `name` of a table that went through [`Parameters::resolve`]; NaN if the specification has
    /// no such number.
    pub fn number(&self, name: &str) -> f64 {
        match self.0.get(name) {
            Some(ParameterValue::Number(number)) => *number,
            _ => f64::NAN,
        }
    }

    /// The switch `name` of a resolved table; false if the specification has no such switch.
    pub fn flag(&self, name: &str) -> bool {
        matches!(self.0.get(name), Some(ParameterValue::Flag(true)))
    }

    /// The word `name` of a resolved table; empty if the specification has no such choice.
    pub fn text(&self, name: &str) -> &str {
        match self.0.get(name) {
            Some(ParameterValue::Text(text)) => text,
            _ => "",
        }
    }

    /// Checks the table against `specs` and fills in the defaults.
    pub fn resolve(&self, control: &str, specs: &[ParameterSpec]) -> Result<Self, WrongSetting> {
        for (name, _) in self.iter() {
            if !specs.iter().any(|spec| spec.name == name) {
                let names: Vec<_> = specs.iter().map(|spec| spec.name).collect();
                let message = format!("congestion control \"{control}\" has no parameter \"{name}\"");
                return Err(WrongSetting::new(name, message, among(name, &names)));
            }
        }
        let mut full = Self::new();
        for spec in specs {
            full.set(spec.name, spec.value_of(control, self.get(spec.name))?);
        }
        Ok(full)
    }
}

impl ParameterSpec {
    /// A number with its unit, default, least and greatest value.
    pub const fn number(name: &'static str, unit: &'static str, [default, min, max]: [f64; 3]) -> Self {
        Self { name, summary: "", unit, kind: ParameterKind::Number { default, min, max } }
    }

    /// One of several words.
    pub const fn choice(name: &'static str, default: &'static str, choices: &'static [&'static str]) -> Self {
        Self { name, summary: "", unit: "", kind: ParameterKind::Choice { default, choices } }
    }

    /// A switch.
    pub const fn flag(name: &'static str, default: bool) -> Self {
        Self { name, summary: "", unit: "", kind: ParameterKind::Flag { default } }
    }

    /// Sets what it is, in a line.
    #[must_use]
    pub const fn described(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    fn value_of(&self, control: &str, set: Option<&ParameterValue>) -> Result<ParameterValue, WrongSetting> {
        let wrong = |value: &ParameterValue, right: String| {
            let message = format!("congestion control \"{control}\" does not take {value}");
            WrongSetting::new(self.name, message, format!("write {right}"))
        };
        Ok(match (self.kind, set) {
            (ParameterKind::Number { default, .. }, None) => ParameterValue::Number(default),
            (ParameterKind::Flag { default }, None) => ParameterValue::Flag(default),
            (ParameterKind::Choice { default, .. }, None) => ParameterValue::Text(default.to_owned()),
            (ParameterKind::Number { min, max, .. }, Some(value)) => match value {
                ParameterValue::Number(number) if (min..=max).contains(number) => value.clone(),
                _ => return Err(wrong(value, format!("a number from {min} to {max}"))),
            },
            (ParameterKind::Flag { .. }, Some(value)) => match value {
                ParameterValue::Flag(_) => value.clone(),
                _ => return Err(wrong(value, "true or false".to_owned())),
            },
            (ParameterKind::Choice { choices, .. }, Some(value)) => match value {
                ParameterValue::Text(text) if choices.contains(&text.as_str()) => value.clone(),
                _ => return Err(wrong(value, format!("one of {}", choices.join(", ")))),
            },
        })
    }
}
