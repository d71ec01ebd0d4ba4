//! The settings of a routing protocol, which build it.

use crate::{NodeAddress, Routing};
use std::fmt::Debug;

/// The settings of a protocol: they build it.
pub trait Protocol: Debug {
    /// Returns the protocol of one node.
    fn build(&self, site: NodeSite) -> Box<dyn Routing>;

    /// True if something tells a node that a link is broken: the MAC, hellos, or an oracle.
    fn hears_of_broken_links(&self) -> bool {
        true
    }
}

/// Where a protocol works.
#[derive(Clone, Copy, Debug)]
pub struct NodeSite {
    /// The node.
    pub address: NodeAddress,
    /// The seed of the run.
    pub seed: u64,
    /// Data channels of the medium. A protocol that chooses channels numbers them from 1 to this at most.
    pub channels: u32,
}

impl NodeSite {
    /// Returns the site of a node whose medium has as many channels as any protocol asks for.
    pub fn new(address: NodeAddress, seed: u64) -> Self {
        Self { address, seed, channels: u32::MAX }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RoutingSpec;

    fn read(text: &str) -> Result<RoutingSpec, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn every_protocol_is_built_by_its_name() {
        for info in RoutingSpec::ALL {
            let spec = read(&format!("\"{}\"", info.name)).unwrap();
            assert_eq!((spec.name(), spec.first_wrong()), (info.name, Ok(())));
            let made = spec.kind().build(NodeSite::new(NodeAddress::new(7), 1));
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
            assert_eq!(read(text).unwrap().first_wrong().unwrap_err().setting, setting, "{text}");
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
