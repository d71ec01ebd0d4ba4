//! Values that are written as a text: one macro for all of them, in every crate.

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, Unexpected, Visitor};
use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;

/// Serde and a JSON Schema for a type that is a text in scenarios: it is read by `FromStr` and written by
/// `Display`.
///
/// `description` says what it is. `expecting` says what would be right in place of a value of another kind
/// (default: the description); `pattern` is the regular expression of the texts. The crate that uses it
/// depends on serde and schemars.
#[macro_export]
macro_rules! text_form {
    ($type:ident, $description:expr, $pattern:expr) => {
        $crate::text_form!($type, $description, $description, $pattern);
    };
    ($type:ident, $description:expr, $expecting:expr, $pattern:expr) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::deserialize_text(deserializer, &$expecting)
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "description": $description, "pattern": $pattern })
            }
        }
    };
}

/// Reads a text by `FromStr`; anything else is met with what is `expected`.
pub fn deserialize_text<'de, D, T>(deserializer: D, expected: &dyn Display) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    struct Text<'a, T>(&'a dyn Display, PhantomData<T>);
    impl<T: FromStr<Err: Display>> Visitor<'_> for Text<'_, T> {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.fmt(f)
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
    }
    deserializer.deserialize_any(Text(expected, PhantomData))
}

/// Reads a text by `FromStr`, or a table of one key as the enum `Table`; more keys than one are met with what
/// is `alone`.
pub fn deserialize_text_or_table<'de, D, T, Table>(
    deserializer: D,
    expected: &dyn Display,
    alone: &str,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display> + From<Table>,
    Table: Deserialize<'de>,
{
    struct Form<'a, T, Table>(&'a dyn Display, &'a str, PhantomData<(T, Table)>);
    impl<'de, T: FromStr<Err: Display> + From<Table>, Table: Deserialize<'de>> Visitor<'de>
        for Form<'_, T, Table>
    {
        type Value = T;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.fmt(f)
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            text.parse().map_err(E::custom)
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
            // Here serde's own message would be about an enum, of which the user knows nothing.
            if map.size_hint() == Some(0) {
                return Err(Error::invalid_value(Unexpected::Map, &self));
            }
            let table = Table::deserialize(MapAccessDeserializer::new(&mut map))?;
            match map.next_key::<IgnoredAny>()? {
                None => Ok(table.into()),
                Some(_) => Err(Error::custom(self.1)),
            }
        }
    }
    deserializer.deserialize_any(Form(expected, alone, PhantomData))
}

/// The whole number at the beginning of a text and the unit behind it: `"10 segments"`.
pub fn count_and_unit(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let count = text[..end].parse().ok()?;
    Some((count, text[end..].trim()))
}

/// A quantity that models keep as a plain number, in the unit that its type says.
pub trait Quantity: Sized {
    /// The number.
    fn number(&self) -> f64;

    /// The quantity of this number.
    fn of_number(number: f64) -> Self;
}

macro_rules! quantities {
    ($($type:ident),+) => {
        $(impl Quantity for crate::$type {
            fn number(&self) -> f64 {
                self.0
            }
            fn of_number(number: f64) -> Self {
                Self(number)
            }
        })+
    };
}
quantities!(Length, Decibel, Speed, Acceleration);

/// A power is kept in dBm.
impl Quantity for crate::Power {
    fn number(&self) -> f64 {
        self.dbm()
    }
    fn of_number(number: f64) -> Self {
        Self::from_dbm(number)
    }
}

impl Quantity for crate::Probability {
    fn number(&self) -> f64 {
        self.get()
    }
    fn of_number(number: f64) -> Self {
        Self::new(number).unwrap_or_default()
    }
}

/// A number that stands in a file with its unit: `#[serde(with = "In::<Length>")]`.
#[derive(Debug)]
pub struct In<Q>(std::marker::PhantomData<Q>);

impl<Q: Quantity> In<Q> {
    /// Reads a `Q` as its number.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error>
    where
        Q: Deserialize<'de>,
    {
        Q::deserialize(deserializer).map(|quantity| quantity.number())
    }

    /// Writes a number as the `Q` that it stands for.
    pub fn serialize<S: serde::Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error>
    where
        Q: serde::Serialize,
    {
        Q::of_number(*number).serialize(serializer)
    }
}
