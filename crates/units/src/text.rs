//! Values that are written as a text: one macro for all of them, in every crate.

use crate::Time;
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

/// Reads decimal seconds exactly to the nanosecond (a Unix time has more digits than a 64-bit float); digits
/// beyond are rounded. An exponent is read as a float.
pub fn parse_seconds(text: &str) -> Option<Time> {
    if text.contains(['e', 'E']) {
        let value: f64 = text.parse().ok()?;
        // A time has 64 bits of nanoseconds: 1.8e10 s.
        return (0.0..1e10).contains(&value).then(|| Time::from_secs_f64(value));
    }
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let is_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    // "." alone is no number; ".5" and "5." are.
    if (whole.is_empty() && decimals.is_empty()) || !is_digits(whole) || !is_digits(decimals) {
        return None;
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    let mut digits = decimals.bytes().map(|byte| u64::from(byte - b'0'));
    let nanos = (0..9).fold(0, |nanos, _| nanos * 10 + digits.next().unwrap_or(0));
    let round_up = u64::from(digits.next().unwrap_or(0) >= 5);
    // Nanoseconds rounded up to a whole second carry in the sum.
    whole.checked_mul(1_000_000_000)?.checked_add(nanos + round_up).map(Time::from_nanos)
}

/// Writes a time as exact decimal seconds: "12.5".
pub fn write_seconds(at: Time) -> String {
    let nanos = at.as_nanos();
    let text = format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000);
    let text = text.trim_end_matches('0');
    text.strip_suffix('.').unwrap_or(text).to_owned()
}

/// Returns a text as an error quotes it: at most `longest` characters of it, and none that would move a
/// terminal's cursor.
pub fn shorten(text: &str, longest: usize) -> String {
    let mut quoted = String::new();
    for character in text.chars().take(longest) {
        if character.is_control() {
            quoted.extend(character.escape_default());
        } else {
            quoted.push(character);
        }
    }
    if text.chars().nth(longest).is_some() {
        quoted.push_str("...");
    }
    quoted
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_exact() {
        for (text, nanos) in [
            ("0", 0),
            ("12.5", 12_500_000_000),
            (".25", 250_000_000),
            ("7.", 7_000_000_000),
            ("1700000000.123456789", 1_700_000_000_123_456_789),
            ("0.0000000015", 2),
            ("1e-3", 1_000_000),
        ] {
            assert_eq!(parse_seconds(text), Some(Time::from_nanos(nanos)), "{text}");
        }
        for text in ["", ".", "-1", "+1", "1,5", "1s", "nan", "inf", "1e400", "99999999999999999999", "1e"] {
            assert_eq!(parse_seconds(text), None, "{text}");
        }
        for nanos in [0, 1, 1_000_000_000, 1_500_000_000, u64::MAX] {
            let at = Time::from_nanos(nanos);
            assert_eq!(parse_seconds(&write_seconds(at)), Some(at));
        }
    }

    #[test]
    fn quotes_move_no_cursor() {
        assert_eq!(shorten("a\u{1b}[2Jb", 60), "a\\u{1b}[2Jb");
        assert_eq!((shorten("abcd", 3), shorten("abc", 3)), ("abc...".to_owned(), "abc".to_owned()));
    }
}
