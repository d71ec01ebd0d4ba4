//! A document, TOML or JSON, as a tree whose every key and value knows where it stands in the text.

mod deserialize;
mod edit;

pub(crate) use deserialize::deserialize;

use std::fmt;
use std::ops::Range;

/// Byte range in the text.
pub(crate) type Span = Range<usize>;

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct SpannedValue {
    /// Where it stands; none for a document that is no TOML text, and for values set from outside.
    pub(crate) span: Option<Span>,
    /// The value.
    pub(crate) value: Value,
}

/// What both TOML and JSON can say.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// Text.
    Text(String),
    /// A whole number; `None` when it is beyond 128 bits.
    Integer(Option<i128>),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// True or false.
    Boolean(bool),
    /// A TOML date or time, which no field takes.
    Date(String),
    /// A list.
    Array(Vec<SpannedValue>),
    /// Keys and values, in the order of the text.
    Table(Vec<Entry>),
}

/// One key of a table and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The key.
    pub(crate) key: String,
    /// Where the key stands.
    pub(crate) key_span: Option<Span>,
    /// The value.
    pub(crate) node: SpannedValue,
}

/// One step from a value into it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Step {
    /// To the value of this key.
    Key(String),
    /// To this element, from 0.
    Index(usize),
}

/// The path from the root to a value, written "flow.0.to".
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct KeyPath(pub(crate) Vec<Step>);

impl KeyPath {
    /// The path of `keys`, each an index if it reads as one.
    pub(crate) fn of(text: &str) -> Self {
        Self(text.split('.').filter(|step| !step.is_empty()).map(Step::of).collect())
    }

    /// This path, one step on.
    pub(crate) fn key(&self, key: &str) -> Self {
        let mut longer = self.clone();
        longer.0.push(Step::Key(key.to_owned()));
        longer
    }

    /// This path, and on from it along `text`.
    pub(crate) fn join(&self, text: &str) -> Self {
        Self([&self.0[..], &Self::of(text).0].concat())
    }

    /// This path, one element in.
    pub(crate) fn index(&self, index: usize) -> Self {
        let mut longer = self.clone();
        longer.0.push(Step::Index(index));
        longer
    }
}

impl Step {
    fn of(text: &str) -> Self {
        text.parse().map_or_else(|_| Self::Key(text.to_owned()), Self::Index)
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            match step {
                Step::Key(key) => f.write_str(key)?,
                Step::Index(index) => write!(f, "{index}")?,
            }
        }
        Ok(())
    }
}

impl SpannedValue {
    /// A value without a place.
    pub(crate) fn bare(value: Value) -> Self {
        Self { span: None, value }
    }

    /// Reads a TOML text. The errors are the syntax errors, in the order of the text.
    pub(crate) fn from_toml(text: &str) -> Result<Self, Vec<toml::de::Error>> {
        let (root, errors) = toml::de::DeTable::parse_recoverable(text);
        if errors.is_empty() {
            let span = root.span();
            Ok(Self { span: Some(span), value: Value::of_toml_table(root.into_inner()) })
        } else {
            Err(errors)
        }
    }

    /// Reads one TOML value, as it may stand after an equals sign.
    pub(crate) fn from_toml_value(text: &str) -> Option<Self> {
        let value = toml::de::DeValue::parse(text).ok()?;
        let mut node = Self::of_toml(value);
        node.forget_place();
        Some(node)
    }

    fn of_toml(value: toml::Spanned<toml::de::DeValue<'_>>) -> Self {
        use toml::de::DeValue;
        let span = value.span();
        let value = match value.into_inner() {
            DeValue::String(text) => Value::Text(text.into_owned()),
            DeValue::Integer(integer) => {
                Value::Integer(i128::from_str_radix(integer.as_str(), integer.radix()).ok())
            }
            // The parser has checked the digits; "inf" and "nan" are floats too.
            DeValue::Float(float) => Value::Float(float.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(value) => Value::Boolean(value),
            DeValue::Datetime(date) => Value::Date(date.to_string()),
            DeValue::Array(array) => Value::Array(array.into_iter().map(Self::of_toml).collect()),
            DeValue::Table(table) => Value::of_toml_table(table),
        };
        Self { span: Some(span), value }
    }

    /// Takes a JSON value. Keys with null are left out: null means "not set".
    pub(crate) fn from_json(value: serde_json::Value) -> Self {
        use serde_json::Value as Json;
        Self::bare(match value {
            // Only in a list: there nothing can be left out.
            Json::Null => Value::Text("null".to_owned()),
            Json::Bool(value) => Value::Boolean(value),
            // As an integer where it is one: floats lose digits of large seeds.
            Json::Number(number) => match (number.as_i128(), number.as_f64()) {
                (Some(integer), _) => Value::Integer(Some(integer)),
                (None, Some(float)) => Value::Float(float),
                (None, None) => Value::Integer(None),
            },
            Json::String(text) => Value::Text(text),
            Json::Array(array) => Value::Array(array.into_iter().map(Self::from_json).collect()),
            Json::Object(object) => Value::Table(
                object
                    .into_iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(key, value)| Entry { key, key_span: None, node: Self::from_json(value) })
                    .collect(),
            ),
        })
    }

    /// The value at `path`, or the last on the way to it.
    pub(crate) fn nearest(&self, path: &KeyPath) -> &Self {
        let mut node = self;
        for step in &path.0 {
            let next = match (&node.value, step) {
                (Value::Table(entries), Step::Key(key)) => {
                    entries.iter().find(|entry| entry.key == *key).map(|entry| &entry.node)
                }
                (Value::Array(elements), Step::Index(index)) => elements.get(*index),
                _ => None,
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        node
    }

    /// Takes every place off: the tree no longer stands for a text.
    pub(crate) fn forget_place(&mut self) {
        self.span = None;
        match &mut self.value {
            Value::Array(elements) => elements.iter_mut().for_each(Self::forget_place),
            Value::Table(entries) => {
                for entry in entries {
                    entry.key_span = None;
                    entry.node.forget_place();
                }
            }
            _ => {}
        }
    }
}

impl Value {
    fn of_toml_table(table: toml::de::DeTable<'_>) -> Self {
        let mut entries: Vec<Entry> = table
            .into_iter()
            .map(|(key, value)| Entry {
                key_span: Some(key.span()),
                key: key.into_inner().into_owned(),
                node: SpannedValue::of_toml(value),
            })
            .collect();
        // The parser's table is in the order of keys; errors are reported in the order of the text.
        entries.sort_by_key(|entry| entry.key_span.as_ref().map(|span| span.start));
        Self::Table(entries)
    }
}
