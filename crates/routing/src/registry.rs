//! Routing protocols by name, with their settings as a scenario writes them.

use crate::aodv::AodvSettings;
use crate::cr_aodv::CrAodvConfig;
use crate::search::SearchConfig;
use crate::static_routing::StaticConfig;
use crate::{NodeAddress, Routing};
use std::fmt;

/// The settings of a protocol, and what the list says of it.
pub trait Protocol: Default {
    /// Its name in scenarios.
    const NAME: &'static str;
    /// What it is, in a line.
    const SUMMARY: &'static str;
    /// The RFC, paper or code that it follows.
    const REFERENCE: &'static str;

    /// Whether the settings make sense: the first that does not.
    fn check(&self) -> Result<(), WrongSetting>;

    /// The protocol of the node `address` in a run of this seed.
    fn build(&self, address: NodeAddress, seed: u64) -> Box<dyn Routing>;

    /// True if something tells a node that a link is broken: the MAC, hellos, or an oracle.
    fn hears_of_broken_links(&self) -> bool {
        true
    }
}

/// A protocol as the list knows it.
#[derive(Clone, Copy, Debug)]
pub struct ProtocolInfo {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// The RFC, paper or code that it follows.
    pub reference: &'static str,
}

/// A setting that makes no sense.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WrongSetting {
    /// Which.
    pub setting: &'static str,
    /// What is wrong.
    pub message: &'static str,
    /// What would be right.
    pub remedy: &'static str,
}

impl WrongSetting {
    /// Fine if `right`.
    pub(crate) fn unless(
        right: bool,
        setting: &'static str,
        message: &'static str,
        remedy: &'static str,
    ) -> Result<(), Self> {
        if right { Ok(()) } else { Err(Self { setting, message, remedy }) }
    }
}

impl fmt::Display for WrongSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.setting, self.message, self.remedy)
    }
}

impl std::error::Error for WrongSetting {}

/// What a scenario's routing may be, in words.
const EXPECTING: &str =
    "the name of a routing protocol, or a protocol with its settings as { aodv = { profile = \"ns2\" } }";

/// The enum of all protocols, from one line for each: its variant, and the type of its settings.
macro_rules! protocols {
    ($($variant:ident: $config:ty,)*) => {
        /// A routing protocol with its settings.
        #[derive(Clone, Debug, PartialEq)]
        pub enum RoutingSpec {
            $(
                #[doc = concat!("See [`", stringify!($config), "`].")]
                $variant($config),
            )*
        }

        impl RoutingSpec {
            /// The names of all protocols.
            pub const NAMES: &'static [&'static str] = &[$(<$config as Protocol>::NAME),*];

            /// All protocols.
            pub const PROTOCOLS: &'static [ProtocolInfo] = &[$(ProtocolInfo {
                name: <$config as Protocol>::NAME,
                summary: <$config as Protocol>::SUMMARY,
                reference: <$config as Protocol>::REFERENCE,
            }),*];

            /// Its name.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => <$config as Protocol>::NAME,)*
                }
            }

            /// The protocol of this name with its default settings.
            pub fn of_name(name: &str) -> Option<Self> {
                $(if name == <$config as Protocol>::NAME {
                    return Some(Self::$variant(<$config>::default()));
                })*
                None
            }

            /// Whether the settings make sense: the first that does not.
            pub fn check(&self) -> Result<(), WrongSetting> {
                match self {
                    $(Self::$variant(config) => config.check(),)*
                }
            }

            /// The protocol of the node `address` in a run of this seed.
            pub fn build(&self, address: NodeAddress, seed: u64) -> Box<dyn Routing> {
                match self {
                    $(Self::$variant(config) => config.build(address, seed),)*
                }
            }

            /// True if something tells a node that a link is broken: the MAC, hellos, or an oracle.
            pub fn hears_of_broken_links(&self) -> bool {
                match self {
                    $(Self::$variant(config) => config.hears_of_broken_links(),)*
                }
            }

            /// The protocol `name`, whose settings are the next value of a table.
            fn of_entry<'de, A: serde::de::MapAccess<'de>>(name: &str, table: &mut A) -> Result<Self, A::Error> {
                $(if name == <$config as Protocol>::NAME {
                    return table.next_value().map(Self::$variant);
                })*
                Err(serde::de::Error::unknown_variant(name, Self::NAMES))
            }
        }

        impl serde::Serialize for RoutingSpec {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap as _;
                let mut table = serializer.serialize_map(Some(1))?;
                match self {
                    $(Self::$variant(config) => table.serialize_entry(<$config as Protocol>::NAME, config)?,)*
                }
                table.end()
            }
        }

        impl schemars::JsonSchema for RoutingSpec {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                "Routing".into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let mut choices = vec![schemars::json_schema!({ "type": "string", "enum": Self::NAMES })];
                $(
                    let name = <$config as Protocol>::NAME;
                    let settings = generator.subschema_for::<$config>();
                    choices.push(schemars::json_schema!({
                        "type": "object",
                        "description": <$config as Protocol>::SUMMARY,
                        "properties": { name: settings },
                        "required": [name],
                        "additionalProperties": false,
                    }));
                )*
                schemars::json_schema!({ "description": EXPECTING, "oneOf": choices })
            }
        }
    };
}
// Every protocol that a scenario can name. A new one adds its line here.
protocols! {
    Static: StaticConfig,
    Aodv: AodvSettings,
    CrAodv: CrAodvConfig,
    Search: SearchConfig,
}

impl Default for RoutingSpec {
    /// AODV as RFC 3561 has it.
    fn default() -> Self {
        Self::Aodv(AodvSettings::default())
    }
}

impl<'de> serde::Deserialize<'de> for RoutingSpec {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> serde::de::Visitor<'de> for Form {
            type Value = RoutingSpec;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(EXPECTING)
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<RoutingSpec, E> {
                RoutingSpec::of_name(text).ok_or_else(|| E::unknown_variant(text, RoutingSpec::NAMES))
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<RoutingSpec, A::Error> {
                let Some(name) = map.next_key::<String>()? else {
                    return Err(serde::de::Error::invalid_value(serde::de::Unexpected::Map, &self));
                };
                let spec = RoutingSpec::of_entry(&name, &mut map)?;
                match map.next_key::<String>()? {
                    None => Ok(spec),
                    Some(other) => Err(serde::de::Error::custom(format!(
                        "there is one routing protocol; keep either {name} or {other}"
                    ))),
                }
            }
        }
        deserializer.deserialize_any(Form)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<RoutingSpec, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn every_protocol_is_built_by_its_name() {
        for info in RoutingSpec::PROTOCOLS {
            let spec = read(&format!("\"{}\"", info.name)).unwrap();
            assert_eq!((spec.name(), spec.check()), (info.name, Ok(())));
            let made = spec.build(NodeAddress::new(7), 1);
            assert_eq!((made.name(), made.address()), (info.name, NodeAddress::new(7)));
            let written = serde_json::to_string(&spec).unwrap();
            assert_eq!(read(&written).as_ref(), Ok(&spec), "{written}");
        }
    }

    #[test]
    fn settings_are_read_and_checked() {
        let spec = read(r#"{ "aodv": { "profile": "ns2", "ttl_start": 2 } }"#).unwrap();
        let RoutingSpec::Aodv(settings) = &spec else { panic!("{spec:?}") };
        assert_eq!((settings.config().ttl_start, settings.config().net_diameter), (2, 30));
        for (text, words) in [
            ("\"olsr\"", "unknown variant `olsr`, expected one of `static`, `aodv`"),
            (r#"{ "olsr": {} }"#, "unknown variant `olsr`"),
            (r#"{ "aodv": { "ttl": 1 } }"#, "unknown field `ttl`"),
            (r#"{ "aodv": { "profile": "ns4" } }"#, "expected one of `rfc`, `ns2`, `ns3`"),
            (r#"{ "aodv": { "ttl_start": 300 } }"#, "expected u8"),
            (r#"{ "aodv": {}, "static": {} }"#, "keep either aodv or static"),
            ("{}", "the name of a routing protocol"),
            ("3", "the name of a routing protocol"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
        for (text, setting) in [
            (r#"{ "aodv": { "ttl_start": 0 } }"#, "ttl_start"),
            (r#"{ "aodv": { "node_traversal_time": "0 s" } }"#, "node_traversal_time"),
            (r#"{ "cr_aodv": { "channels": 0 } }"#, "channels"),
            (r#"{ "cr_aodv": { "aodv": { "hello_interval": "0 s" } } }"#, "hello_interval"),
            (r#"{ "search": { "focus_angle": 200 } }"#, "focus_angle"),
            (r#"{ "search": { "channels": 64 } }"#, "channels"),
        ] {
            assert_eq!(read(text).unwrap().check().unwrap_err().setting, setting, "{text}");
        }
    }

    #[test]
    fn the_schema_names_every_protocol() {
        let schema = serde_json::to_string(&schemars::schema_for!(RoutingSpec)).unwrap();
        for name in RoutingSpec::NAMES {
            assert!(schema.contains(&format!("\"{name}\"")), "{name}");
        }
    }
}
