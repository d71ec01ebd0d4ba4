//! Routing protocols by name.

use crate::parameters::{ParameterSpec, Parameters};
use crate::{NodeAddress, Routing, aodv, cr_aodv, search, static_routing};

/// Every protocol that can be named in a scenario. A new one adds its line here.
static PROTOCOLS: &[&RoutingInfo] = &[&static_routing::INFO, &aodv::INFO, &cr_aodv::INFO, &search::INFO];

/// A protocol as the registry knows it.
#[derive(Clone, Copy, Debug)]
pub struct RoutingInfo {
    /// Its name in scenarios.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// The RFC, paper or code that it follows.
    pub reference: &'static str,
    /// Its parameters.
    pub parameters: &'static [ParameterSpec],
    /// Builds the protocol of one node from a checked table and the run's seed.
    pub build: fn(NodeAddress, &Parameters, u64) -> Box<dyn Routing>,
}

/// A protocol or a parameter that does not exist, or a value out of range.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum RoutingError {
    /// No protocol of this name.
    #[error("unknown routing protocol \"{name}\"; known: {known}")]
    UnknownProtocol {
        /// The name asked for.
        name: String,
        /// All names.
        known: String,
    },
    /// The protocol has no such parameter.
    #[error("routing protocol \"{protocol}\" has no parameter \"{parameter}\"; it has {}", if known.is_empty() { "none" } else { known })]
    UnknownParameter {
        /// The protocol.
        protocol: String,
        /// The key asked for.
        parameter: String,
        /// All keys.
        known: String,
    },
    /// The value is of the wrong kind or out of range.
    #[error("parameter \"{parameter}\" of routing protocol \"{protocol}\" is {value}: it must be {right}")]
    BadParameter {
        /// The protocol.
        protocol: String,
        /// The key.
        parameter: String,
        /// The value given.
        value: String,
        /// What would be right.
        right: String,
    },
}

/// Every protocol that can be named, in the order of the documentation.
pub fn protocols() -> &'static [&'static RoutingInfo] {
    PROTOCOLS
}

/// The protocol called `name`.
pub fn protocol_info(name: &str) -> Result<&'static RoutingInfo, RoutingError> {
    PROTOCOLS.iter().copied().find(|info| info.name == name).ok_or_else(|| RoutingError::UnknownProtocol {
        name: name.to_owned(),
        known: PROTOCOLS.iter().map(|info| info.name).collect::<Vec<_>>().join(", "),
    })
}

/// Builds the protocol called `name` for the node `address` of a run with this seed. Parameters not set take their
/// defaults.
pub fn make(
    name: &str,
    address: NodeAddress,
    parameters: &Parameters,
    seed: u64,
) -> Result<Box<dyn Routing>, RoutingError> {
    let info = protocol_info(name)?;
    parameters.check(name, info.parameters)?;
    Ok((info.build)(address, parameters, seed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(name: &str, parameters: Parameters) -> String {
        make(name, NodeAddress::new(0), &parameters, 1).unwrap_err().to_string()
    }

    #[test]
    fn every_protocol_is_built_by_its_name() {
        for info in protocols() {
            let made = make(info.name, NodeAddress::new(7), &Parameters::new(), 1).unwrap();
            assert_eq!((made.name(), made.address()), (info.name, NodeAddress::new(7)));
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(message("olsr", Parameters::new()).contains("known: static, aodv"));
        assert!(message("static", Parameters::new().with_number("ttl", 1.0)).contains("it has none"));
        let wrong = message("aodv", Parameters::new().with_text("profile", "ns4"));
        assert!(wrong.contains("one of rfc, ns2, ns3"), "{wrong}");
        assert!(message("aodv", Parameters::new().with_number("ttl_start", 0.0)).contains("from 1 to 255"));
        assert!(message("aodv", Parameters::new().with_number("ttl_start", 1.5)).contains("a whole number"));
        assert!(message("aodv", Parameters::new().with_number("hello", 1.0)).contains("true or false"));
    }
}
