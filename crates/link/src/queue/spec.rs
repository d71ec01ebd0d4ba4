//! The queue of a link as a scenario writes it, and the list of disciplines.

use std::fmt;

/// A parameter that makes no sense.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WrongParameter {
    /// Which.
    pub parameter: &'static str,
    /// What is wrong.
    pub message: &'static str,
    /// What would be right.
    pub remedy: &'static str,
}

impl WrongParameter {
    /// Fine if `right`.
    pub(super) fn unless(
        right: bool,
        parameter: &'static str,
        message: &'static str,
        remedy: &'static str,
    ) -> Result<(), Self> {
        if right { Ok(()) } else { Err(Self { parameter, message, remedy }) }
    }
}

impl fmt::Display for WrongParameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.parameter, self.message, self.remedy)
    }
}

impl std::error::Error for WrongParameter {}

/// What a scenario's queue may be, in words.
const EXPECTING: &str = "the length of a drop-tail queue as \"100 packets\" or \"64 KiB\", the name of a queue discipline, or a \
                         discipline with its parameters as { codel = { target = \"5 ms\" } }";

/// A discipline as the list knows it.
#[derive(Clone, Copy, Debug)]
pub struct DisciplineInfo {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// The RFC or paper that it follows.
    pub reference: &'static str,
}

/// The enum of all queues, from one line for each discipline: its variant, and the type of its parameters.
macro_rules! disciplines {
    ($($variant:ident: $config:ty,)*) => {
        /// The queue of a link.
        #[derive(Clone, Debug, PartialEq)]
        pub enum QueueSpec {
            /// Drop-tail of this length.
            DropTail(QueueLimit),
            $(
                #[doc = concat!("See [`", stringify!($config), "`].")]
                $variant($config),
            )*
        }

        impl QueueSpec {
            /// The names of all disciplines but drop-tail.
            pub const NAMES: &'static [&'static str] = &[$(<$config as Discipline>::NAME),*];

            /// All disciplines but drop-tail.
            pub const DISCIPLINES: &'static [DisciplineInfo] = &[$(DisciplineInfo {
                name: <$config as Discipline>::NAME,
                summary: <$config as Discipline>::SUMMARY,
                reference: <$config as Discipline>::REFERENCE,
            }),*];

            /// Its name.
            pub const fn name(&self) -> &'static str {
                match self {
                    Self::DropTail(_) => "drop_tail",
                    $(Self::$variant(_) => <$config as Discipline>::NAME,)*
                }
            }

            /// The discipline of this name with its default parameters.
            pub fn of_name(name: &str) -> Option<Self> {
                $(if name == <$config as Discipline>::NAME {
                    return Some(Self::$variant(<$config>::default()));
                })*
                None
            }

            /// Whether it draws random numbers.
            pub const fn is_random(&self) -> bool {
                match self {
                    Self::DropTail(_) => false,
                    $(Self::$variant(_) => <$config as Discipline>::IS_RANDOM,)*
                }
            }

            /// Whether the parameters make sense: the first that does not.
            pub fn check(&self) -> Result<(), WrongParameter> {
                match self {
                    Self::DropTail(_) => Ok(()),
                    $(Self::$variant(config) => config.check(),)*
                }
            }

            /// The discipline at work; `None` for drop-tail, which the link has itself.
            pub fn build<P: Payload>(&self, site: impl FnOnce() -> Site) -> Option<Box<dyn QueueDiscipline<P>>> {
                match self {
                    Self::DropTail(_) => None,
                    $(Self::$variant(config) => Some(config.build(site())),)*
                }
            }
        }

        impl serde::Serialize for QueueSpec {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap as _;
                match self {
                    Self::DropTail(limit) => serializer.collect_str(limit),
                    $(Self::$variant(config) => {
                        let mut table = serializer.serialize_map(Some(1))?;
                        table.serialize_entry(<$config as Discipline>::NAME, config)?;
                        table.end()
                    })*
                }
            }
        }

        impl spec::FromTable for QueueSpec {
            fn of_entry<'de, A: serde::de::MapAccess<'de>>(name: &str, table: &mut A) -> Result<Self, A::Error> {
                $(if name == <$config as Discipline>::NAME {
                    return table.next_value().map(Self::$variant);
                })*
                Err(serde::de::Error::unknown_variant(name, Self::NAMES))
            }
        }

        impl schemars::JsonSchema for QueueSpec {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                "Queue".into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let forms = vec![$((
                    <$config as Discipline>::NAME,
                    <$config as Discipline>::SUMMARY,
                    generator.subschema_for::<$config>(),
                )),*];
                spec::schema(&forms)
            }
        }
    };
}
pub(super) use disciplines;

/// Reads a discipline from the one entry of its table.
pub(super) trait FromTable: Sized {
    /// The discipline `name`, whose parameters are the next value.
    fn of_entry<'de, A: serde::de::MapAccess<'de>>(name: &str, table: &mut A) -> Result<Self, A::Error>;
}

impl<'de> serde::Deserialize<'de> for super::QueueSpec {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> serde::de::Visitor<'de> for Form {
            type Value = super::QueueSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTING)
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<super::QueueSpec, E> {
                if let Some(spec) = super::QueueSpec::of_name(text.trim()) {
                    return Ok(spec);
                }
                let names = super::QueueSpec::NAMES.join(", ");
                text.parse()
                    .map(super::QueueSpec::DropTail)
                    .map_err(|message: String| E::custom(format!("{message}, or a discipline ({names})")))
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<super::QueueSpec, A::Error> {
                let Some(name) = map.next_key::<String>()? else {
                    return Err(serde::de::Error::invalid_value(serde::de::Unexpected::Map, &self));
                };
                let spec = super::QueueSpec::of_entry(&name, &mut map)?;
                match map.next_key::<String>()? {
                    None => Ok(spec),
                    Some(other) => Err(serde::de::Error::custom(format!(
                        "a queue has one discipline; keep either {name} or {other}"
                    ))),
                }
            }
        }
        deserializer.deserialize_any(Form)
    }
}

/// The JSON Schema of a queue whose disciplines are these: name, summary, schema of the parameters.
pub(super) fn schema(forms: &[(&str, &str, schemars::Schema)]) -> schemars::Schema {
    let names: Vec<_> = forms.iter().map(|(name, ..)| *name).collect();
    let mut choices = vec![
        schemars::json_schema!({
            "type": "string",
            "description": "a queue length in packets or bytes, for example \"100 packets\" or \"64 KiB\": drop-tail",
            "pattern": super::limit::PATTERN,
        }),
        schemars::json_schema!({
            "type": "string",
            "description": "a discipline with its default parameters",
            "enum": names,
        }),
    ];
    choices.extend(forms.iter().map(|(name, summary, parameters)| {
        let mut properties = serde_json::Map::new();
        properties.insert((*name).to_owned(), parameters.clone().into());
        schemars::json_schema!({
            "type": "object",
            "description": summary,
            "properties": properties,
            "required": [name],
            "additionalProperties": false,
        })
    }));
    schemars::json_schema!({ "description": EXPECTING, "oneOf": choices })
}

#[cfg(test)]
mod tests {
    use super::super::{CoDel, QueueLimit, QueueSpec};
    use cogtcp_units::Duration;

    fn read(json: &str) -> Result<QueueSpec, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn a_queue_is_a_length_a_name_or_a_discipline_with_parameters() {
        assert_eq!(read("\"20 packets\""), Ok(QueueSpec::DropTail(QueueLimit::Packets(20))));
        assert_eq!(read("\"codel\""), Ok(QueueSpec::CoDel(CoDel::default())));
        let slow = CoDel { target: Duration::from_millis(20), ..CoDel::default() };
        assert_eq!(read(r#"{ "codel": { "target": "20 ms" } }"#), Ok(QueueSpec::CoDel(slow)));
    }

    #[test]
    fn what_is_wrong_is_said() {
        let said = |json: &str| read(json).unwrap_err();
        assert!(said("\"20\"").contains("or a discipline (red, codel, fq_codel)"), "{}", said("\"20\""));
        assert!(said(r#"{ "cake": {} }"#).contains("unknown variant `cake`"));
        assert!(said(r#"{ "codel": { "aim": "5 ms" } }"#).contains("unknown field `aim`"));
        assert!(said(r#"{ "codel": {}, "red": {} }"#).contains("keep either codel or red"));
        assert!(said("{}").contains("the name of a queue discipline"));
    }

    /// Every discipline is written as it is read, and its defaults make sense.
    #[test]
    fn disciplines_survive_writing() {
        for name in QueueSpec::NAMES {
            let spec = QueueSpec::of_name(name).unwrap();
            let text = serde_json::to_string(&spec).unwrap();
            assert_eq!(read(&text), Ok(spec.clone()), "{text}");
            assert_eq!(spec.check(), Ok(()), "{name}");
        }
    }
}
