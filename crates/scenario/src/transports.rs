//! Transports that are not TCP: the registry, and the transport of a flow as scenarios write it.

use crate::{ControlSpec, external, is_external, suggest};
use cogtcp_endpoint::{Connection, Pair, Protocol};
use cogtcp_feedback::with_rate_transports;
use cogtcp_transport::{CongestionControl, Preset};
use cogtcp_units::registry;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Makes the congestion control of a connection.
pub type ControlMaker = Arc<dyn Fn() -> Box<dyn CongestionControl> + Send + Sync>;

// Every transport that a scenario can name beside TCP's presets. Transports of `cogtcp-feedback` stand in its list,
// in the file of its modules.
with_rate_transports! {
    registry! {
        #[entries(
            "transport",
            "the name of a transport, or a transport with its settings as { tfrc = { segment_size = \"1000 B\" } }"
        )]
        /// A transport that is not TCP, with its settings.
        pub enum TransportSpec: Protocol {
            Mptcp: cogtcp_multipath::MptcpSettings,
            #[cfg(feature = "quic")]
            Quic: cogtcp_quic::QuicSettings,
        }
    }
}

impl TransportSpec {
    /// Returns the congestion control from outside that the transport runs (see [`is_external`]); `None`: it
    /// runs none.
    pub fn external_control(&self) -> Option<ControlSpec> {
        match self {
            #[cfg(feature = "quic")]
            Self::Quic(settings) if is_external(&settings.control) => {
                Some(ControlSpec { name: settings.control.clone(), parameters: settings.user_parameters() })
            }
            _ => None,
        }
    }

    /// Returns a setting that only the simulator has; `None`: the transport runs on both planes.
    pub fn only_simulated(&self) -> Option<&'static str> {
        match self {
            #[cfg(feature = "quic")]
            Self::Quic(settings) if is_external(&settings.control) => Some("a control written in Python"),
            #[cfg(feature = "quic")]
            Self::Quic(settings) if settings.rebinds_after.is_some() => Some("rebinds_after"),
            _ if self.kind().wants_stamps() => Some("nodes on the route that write into packets"),
            _ => None,
        }
    }

    /// Returns the two ends of a connection at rest whose congestion control `control` makes, once for each
    /// connection. A transport without [`Self::external_control`] ignores `control`.
    pub fn build_around(&self, connection: Connection, control: ControlMaker) -> Pair {
        match self {
            #[cfg(feature = "quic")]
            Self::Quic(settings) if is_external(&settings.control) => {
                settings.build_around(connection, control)
            }
            _ => {
                drop(control);
                self.kind().build(connection)
            }
        }
    }
}

/// Returns the names of all transports: TCP's presets, then the others.
pub(crate) fn transport_names() -> Vec<&'static str> {
    let presets = Preset::all().iter().map(|preset| preset.name);
    presets.chain(TransportSpec::ALL.iter().map(|info| info.name)).collect()
}

/// What is wrong with the name of a transport that is not known, and what would be right.
pub(crate) fn unknown(name: &str) -> (String, String) {
    no_transport(name).or_else(|| left_out(name)).or_else(|| wrong_control(name)).unwrap_or_else(|| {
        (format!("unknown transport \"{name}\""), external::remedy(name, &transport_names()))
    })
}

/// Error and remedy for UDP, whose sources are no flows.
fn no_transport(name: &str) -> Option<(String, String)> {
    name.eq_ignore_ascii_case("udp").then(|| {
        (
            "UDP is no transport of a [[flow]]: nothing answers its datagrams".to_owned(),
            "write [[udp]] with the same from and to, and pattern = { constant = \"1 Mbit/s\" }".to_owned(),
        )
    })
}

/// Error and remedy for a congestion control that a transport cannot use, as in `tfrc-cubic`; `None`: `name`
/// does not begin with a transport.
fn wrong_control(name: &str) -> Option<(String, String)> {
    let parts = TransportSpec::ALL.iter().filter_map(|info| {
        let control = name.strip_prefix(info.name)?.strip_prefix('-')?;
        Some((info.name, control))
    });
    // Of `tfrc` and `tfrc-cr` the longer name is meant.
    let (transport, control) = parts.max_by_key(|(transport, _)| transport.len())?;
    let fits = |control: &&str| TransportSpec::of_name(&format!("{transport}-{control}")).is_some();
    let controls: Vec<&str> = Preset::all().iter().map(|preset| preset.name).filter(fits).collect();
    if controls.is_empty() {
        let wrong =
            format!("{transport} has no congestion control to choose, and the transport is \"{name}\"");
        return Some((wrong, format!("write \"{transport}\"")));
    }
    let wrong = format!("{transport} has no congestion control \"{control}\"");
    Some((wrong, format!("after \"{transport}-\" {}", suggest::among(control, &controls))))
}

/// Error and remedy for a transport that only other builds have; `None`: no build has `name`.
pub(crate) fn left_out(name: &str) -> Option<(String, String)> {
    let is_quic = name == "quic" || name.starts_with("quic-");
    (cfg!(not(feature = "quic")) && is_quic).then(|| {
        let remedy = "builds for a browser leave it out; install cogtcp with pip and open the scenario there: \
            cogtcp lab FILE --native";
        (format!("this build has no QUIC, and the transport is \"{name}\""), remedy.to_owned())
    })
}

/// True if `name` is a transport, or has the form of a congestion control written in Python.
pub fn is_known(name: &str) -> bool {
    Preset::find(name).is_ok() || TransportSpec::of_name(name).is_some() || is_external(name)
}

/// Returns all transports, name and summary: TCP's presets, then the others.
pub fn all_transports() -> Vec<(&'static str, &'static str)> {
    let presets = Preset::all().iter().map(|preset| (preset.name, preset.summary));
    presets.chain(TransportSpec::ALL.iter().map(|info| (info.name, info.summary))).collect()
}

/// The transport of a flow: a name, or a transport that is not TCP with its settings.
#[derive(Clone, Debug, PartialEq)]
pub enum Transport {
    /// A preset of TCP, a transport of [`TransportSpec::ALL`] with its default settings, or `module:Class`
    /// for a congestion control written in Python, which runs over SACK.
    Named(String),
    /// A transport that is not TCP with its settings.
    Set(TransportSpec),
}

impl Transport {
    /// Returns the name.
    pub fn name(&self) -> &str {
        match self {
            Self::Named(name) => name,
            Self::Set(spec) => spec.name(),
        }
    }

    /// Returns the name that stands for the congestion control, and where it stands below the transport.
    pub(crate) fn named_control(&self) -> (&'static [&'static str], &str) {
        match self {
            #[cfg(feature = "quic")]
            Self::Set(TransportSpec::Quic(settings)) => (&["quic", "control"], &settings.control),
            #[cfg(feature = "quic")]
            Self::Named(name) if TransportSpec::of_name(name).is_some() => {
                (&[], name.strip_prefix("quic-").unwrap_or(name))
            }
            _ => (&[], self.name()),
        }
    }

    /// Returns the transport with its settings; `None`: it is TCP, or unknown.
    pub fn spec(&self) -> Option<TransportSpec> {
        match self {
            Self::Named(name) => TransportSpec::of_name(name),
            Self::Set(spec) => Some(spec.clone()),
        }
    }
}

impl Serialize for Transport {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Named(name) => serializer.serialize_str(name),
            Self::Set(spec) => spec.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Transport {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = Transport;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(TransportSpec::EXPECTED)
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Transport, E> {
                Ok(Transport::Named(text.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Transport, A::Error> {
                TransportSpec::deserialize(MapAccessDeserializer::new(map)).map(Transport::Set)
            }
        }
        deserializer.deserialize_any(Form)
    }
}

impl JsonSchema for Transport {
    fn schema_name() -> Cow<'static, str> {
        "Transport".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let settings = generator.subschema_for::<TransportSpec>();
        json_schema!({
            "description": "The name of a transport, or a transport that is not TCP with its settings.",
            "anyOf": [{ "type": "string" }, settings],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transport_is_found_by_its_name() {
        for info in TransportSpec::ALL {
            let spec = TransportSpec::of_name(info.name).unwrap();
            assert_eq!(spec.name(), info.name);
            // The key of the table in scenarios is the same name.
            let written = serde_json::to_string(&Transport::Set(spec.clone())).unwrap();
            assert!(written.starts_with(&format!("{{\"{}\"", info.name)), "{written}");
            let read: Transport = serde_json::from_str(&written).unwrap();
            assert_eq!(read, Transport::Set(spec));
            let named: Transport = serde_json::from_str(&format!("\"{}\"", info.name)).unwrap();
            assert_eq!((named.name(), named.spec()), (info.name, TransportSpec::of_name(info.name)));
        }
    }
}
