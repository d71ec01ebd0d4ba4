//! Registries: everything that a scenario names in one field, each entry with its parameters as a type of its
//! own.

use crate::{Check, among};
use schemars::{Schema, json_schema};
use serde::de::{Deserializer, Error, MapAccess, Unexpected, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A parameter of an entry that is out of range, or a name that no entry has.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct WrongSetting {
    /// The parameter; empty: the entry itself.
    pub setting: String,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub remedy: String,
}

impl WrongSetting {
    /// Returns the error about a parameter.
    pub fn new(setting: &str, message: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { setting: setting.to_owned(), message: message.into(), remedy: remedy.into() }
    }

    /// Returns the error about the name of an entry, `what`, that is not one of `names`.
    pub fn unknown(what: &str, name: &str, names: &[&str]) -> Self {
        Self::new("", format!("unknown {what} \"{name}\""), among(name, names))
    }
}

impl fmt::Display for WrongSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.setting.is_empty() {
            write!(f, "{}: ", self.setting)?;
        }
        write!(f, "{}; {}", self.message, self.remedy)
    }
}

impl std::error::Error for WrongSetting {}

/// Keeps the first error.
impl Check for Option<WrongSetting> {
    fn error(&mut self, setting: &str, message: String, remedy: String) {
        self.get_or_insert_with(|| WrongSetting::new(setting, message, remedy));
    }
}

/// The parameters of an entry whose name, alone, stands for their defaults.
pub trait Named: Default {
    /// Name in scenarios.
    const NAME: &'static str;
    /// One line for lists and the reference.
    const SUMMARY: &'static str;
    /// The RFC, paper or code that the entry follows.
    const REFERENCE: &'static str;

    /// Returns the parameters that `name` stands for: the defaults for [`Self::NAME`]. An entry may have
    /// further names.
    fn of_name(name: &str) -> Option<Self> {
        (name == Self::NAME).then(Self::default)
    }

    /// Reports each parameter that is wrong.
    fn check(&self, _found: &mut dyn Check) {}
}

/// An entry, as lists and the reference show it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Entry {
    /// Name in scenarios.
    pub name: &'static str,
    /// One line about the entry.
    pub summary: &'static str,
    /// The RFC, paper or code that the entry follows.
    pub reference: &'static str,
}

/// A registry whose entries are [`Named`]: the reader of a scenario's choice. [`registry!`](crate::registry)
/// implements it.
pub trait Registry: Sized {
    /// The word for one of its entries.
    const WHAT: &'static str;
    /// All entries.
    const ALL: &'static [Entry];
    /// The names of all entries.
    const NAMES: &'static [&'static str];

    /// Returns the entry that `name` stands for.
    fn of_name(name: &str) -> Option<Self>;

    /// Reads the entry `name`, whose parameters are the next value of `table`.
    fn of_entry<'de, A: MapAccess<'de>>(name: &str, table: &mut A) -> Result<Self, A::Error>;
}

/// Reads a name, or a table of one entry; anything else is met with what is `expected`.
pub fn deserialize_named<'de, T, D>(deserializer: D, expected: &str) -> Result<T, D::Error>
where
    T: Registry,
    D: Deserializer<'de>,
{
    let of_text = |name: &str| T::of_name(name).ok_or_else(String::new);
    deserialize_text_or_named(deserializer, expected, of_text)
}

/// Reads a table of one entry, or a text by `of_text`, whose empty error is that no entry has this name.
pub fn deserialize_text_or_named<'de, T, U, D>(
    deserializer: D,
    expected: &str,
    of_text: impl Fn(&str) -> Result<U, String>,
) -> Result<U, D::Error>
where
    T: Registry,
    U: From<T>,
    D: Deserializer<'de>,
{
    struct Form<'a, T, U, F>(&'a str, F, PhantomData<(T, U)>);
    impl<'de, T: Registry, U: From<T>, F: Fn(&str) -> Result<U, String>> Visitor<'de> for Form<'_, T, U, F> {
        type Value = U;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<U, E> {
            (self.1)(text.trim()).map_err(|message| match message.is_empty() {
                true => E::unknown_variant(text, T::NAMES),
                false => E::custom(message),
            })
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<U, A::Error> {
            let Some(name) = map.next_key::<String>()? else {
                return Err(Error::invalid_value(Unexpected::Map, &self));
            };
            let entry = T::of_entry(&name, &mut map)?;
            match map.next_key::<String>()? {
                None => Ok(entry.into()),
                Some(other) => {
                    let what = T::WHAT;
                    Err(Error::custom(format!("there is one {what}; keep either {name} or {other}")))
                }
            }
        }
    }
    deserializer.deserialize_any(Form(expected, of_text, PhantomData))
}

/// Returns the JSON Schema of an entry with its parameters.
pub fn entry_schema(entry: &Entry, parameters: &Schema) -> Schema {
    json_schema!({
        "type": "object",
        "description": entry.summary,
        "properties": { entry.name: parameters },
        "required": [entry.name],
        "additionalProperties": false,
    })
}

/// Makes the registry of everything that can be named in one place.
///
/// In each form a new entry is one line. Parameters, or the part behind a name, implement the registry's
/// trait, to which the enum hands over by `kind()`. The calling crate depends on serde and schemars.
///
/// - `pub enum Registry: Kind { Name(Parameters), Name = PART, }`: entries with their documentation above,
///   written `{ name = { ... } }` and `"name"`. Serde's and schemars' attributes are the enum's own.
/// - `#[entries("entry", "form")] pub enum Registry: Kind { Name: Parameters, }`: the parameters are
///   [`Named`], and a name alone stands for them. `"entry"` is the word for an entry, `"form"` says in errors
///   what would be right. The enum gets `ALL`, `NAMES`, `name`, `of_name`, `check` and `first_wrong`.
/// - `#[entries("entry")] static LIST: Info { module::INFO, }`: statics with a field `name`. `Info` gets
///   `all` and `find`.
#[macro_export]
macro_rules! registry {
    (
        #[entries($what:literal)]
        $(#[$meta:meta])*
        static $list:ident: $info:ident { $($entry:path,)* }
    ) => {
        $(#[$meta])*
        static $list: &[&$info] = &[$(&$entry),*];

        impl $info {
            #[doc = concat!("Returns every ", $what, ", in the order of the documentation.")]
            pub fn all() -> &'static [&'static Self] {
                $list
            }

            #[doc = concat!("Returns the ", $what, " of this name.")]
            pub fn find(name: &str) -> Result<&'static Self, $crate::WrongSetting> {
                $list.iter().copied().find(|info| info.name == name).ok_or_else(|| {
                    let names: Vec<_> = $list.iter().map(|info| info.name).collect();
                    $crate::WrongSetting::unknown($what, name, &names)
                })
            }
        }
    };
    (
        #[entries($what:literal, $expected:literal)]
        $(#[$meta:meta])*
        pub enum $name:ident: $kind:ident $(<$payload:ident: $bound:path>)? {
            $($(#[$only:meta])* $variant:ident: $parameters:ty,)*
        }
    ) => {
        #[derive(Clone, Debug, PartialEq)]
        $(#[$meta])*
        pub enum $name {
            $(
                $(#[$only])*
                #[doc = concat!("See [`", stringify!($parameters), "`].")]
                $variant($parameters),
            )*
        }

        impl $crate::Registry for $name {
            const WHAT: &'static str = $what;
            const ALL: &'static [$crate::Entry] = &[$($(#[$only])* $crate::Entry {
                name: <$parameters as $crate::Named>::NAME,
                summary: <$parameters as $crate::Named>::SUMMARY,
                reference: <$parameters as $crate::Named>::REFERENCE,
            }),*];
            const NAMES: &'static [&'static str] = &[$($(#[$only])* <$parameters as $crate::Named>::NAME),*];

            fn of_name(name: &str) -> Option<Self> {
                $($(#[$only])* if let Some(parameters) = <$parameters as $crate::Named>::of_name(name) {
                    return Some(Self::$variant(parameters));
                })*
                None
            }

            fn of_entry<'de, A: serde::de::MapAccess<'de>>(name: &str, table: &mut A) -> Result<Self, A::Error> {
                $($(#[$only])* if name == <$parameters as $crate::Named>::NAME {
                    return table.next_value().map(Self::$variant);
                })*
                Err(serde::de::Error::unknown_variant(name, Self::NAMES))
            }
        }

        impl $name {
            /// All entries.
            pub const ALL: &'static [$crate::Entry] = <Self as $crate::Registry>::ALL;
            /// The names of all entries.
            pub const NAMES: &'static [&'static str] = <Self as $crate::Registry>::NAMES;
            /// What is right in a scenario, in words.
            pub const EXPECTED: &'static str = $expected;

            /// Returns the entry that `name` stands for.
            pub fn of_name(name: &str) -> Option<Self> {
                <Self as $crate::Registry>::of_name(name)
            }

            /// Returns the name in scenarios.
            pub const fn name(&self) -> &'static str {
                match self {
                    $($(#[$only])* Self::$variant(_) => <$parameters as $crate::Named>::NAME,)*
                }
            }

            /// Reports each parameter that is wrong.
            pub fn check(&self, found: &mut dyn $crate::Check) {
                match self {
                    $($(#[$only])* Self::$variant(parameters) => $crate::Named::check(parameters, found),)*
                }
            }

            /// Returns the first parameter that is wrong, as an error.
            pub fn first_wrong(&self) -> Result<(), $crate::WrongSetting> {
                let mut found = None;
                self.check(&mut found);
                found.map_or(Ok(()), Err)
            }

            /// Returns what stands behind the name.
            pub fn kind $(<$payload: $bound>)? (&self) -> &dyn $kind $(<$payload>)? {
                match self {
                    $($(#[$only])* Self::$variant(parameters) => parameters,)*
                }
            }

            /// Returns the JSON Schema of each entry with its parameters.
            pub fn entry_schemas(generator: &mut schemars::SchemaGenerator) -> Vec<schemars::Schema> {
                let parameters = [$($(#[$only])* generator.subschema_for::<$parameters>()),*];
                let entries = Self::ALL.iter().zip(&parameters);
                entries.map(|(entry, parameters)| $crate::entry_schema(entry, parameters)).collect()
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap as _;
                let mut table = serializer.serialize_map(Some(1))?;
                match self {
                    $($(#[$only])* Self::$variant(parameters) => table.serialize_entry(self.name(), parameters)?,)*
                }
                table.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::deserialize_named(deserializer, Self::EXPECTED)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                // The reference names the field's thing, a queue discipline, and not our type for its
                // settings.
                stringify!($name).trim_end_matches("Spec").into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let mut choices = vec![schemars::json_schema!({
                    "type": "string",
                    "description": concat!("a ", $what, " with its default parameters"),
                    "enum": Self::NAMES,
                })];
                choices.extend(Self::entry_schemas(generator));
                schemars::json_schema!({ "description": Self::EXPECTED, "oneOf": choices })
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub enum $name:ident: $kind:ident {
            $($(#[$about:meta])* $variant:ident $(($parameters:ty))? $(= $part:expr)?,)*
        }
    ) => {
        #[derive(Clone, Debug, PartialEq, schemars::JsonSchema, serde::Deserialize, serde::Serialize)]
        #[serde(rename_all = "snake_case")]
        $(#[$meta])*
        pub enum $name {
            $($(#[$about])* $variant $(($parameters))?,)*
        }

        impl $name {
            /// Returns what stands behind the name.
            pub fn kind(&self) -> &dyn $kind {
                match self {
                    $($crate::registry!(@pattern parameters, $variant $(, $parameters)?) =>
                        $crate::registry!(@part parameters $(, $parameters)? $(= $part)?),)*
                }
            }
        }
    };
    (@pattern $bound:ident, $variant:ident, $parameters:ty) => { Self::$variant($bound) };
    (@pattern $bound:ident, $variant:ident) => { Self::$variant };
    (@part $bound:ident, $parameters:ty) => { $bound };
    (@part $bound:ident = $part:expr) => { &$part };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_is_met_with_the_nearest() {
        let wrong = WrongSetting::unknown("colour", "gren", &["red", "green"]);
        assert_eq!(
            wrong.to_string(),
            "unknown colour \"gren\"; did you mean \"green\"? (one of \"red\" or \"green\")"
        );
        let wrong = WrongSetting::new("hue", "it is 400", "write 0 to 360");
        assert_eq!(wrong.to_string(), "hue: it is 400; write 0 to 360");
    }

    #[test]
    fn the_first_error_is_kept() {
        let mut found: Option<WrongSetting> = None;
        found.count("a", 1, 3);
        assert_eq!(found, None);
        found.count("b", 0, 3);
        found.count("c", 0, 3);
        assert_eq!(found.unwrap().setting, "b");
    }
}
