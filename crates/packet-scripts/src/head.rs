//! The settings of the end under test.

use crate::script::ScriptError;
use cogtcp_scenario::{Protocol, Scenario, TcpSpec};
use serde::Deserialize;
use std::sync::Arc;

/// Settings of the end under test, as TOML. What stands under `tcp` is a scenario's section, and read as such.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Head {
    /// The transport, of the scenarios' presets.
    pub(crate) transport: String,
    #[serde(default)]
    #[expect(dead_code, reason = "the scenario reads it")]
    tcp: toml::Table,
}

impl Head {
    pub(crate) fn parse(text: &str, file: &str) -> Result<Self, ScriptError> {
        toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = 1 + text[..at.min(text.len())].matches('\n').count();
            let known = "behind //: write transport = NAME, and tcp.NAME = VALUE where needed";
            let message = format!("{}; {known}", error.message().replace('\n', ", "));
            ScriptError::wrong(file, line, message)
        })
    }

    /// The end under test, as a scenario with these settings has it.
    pub(crate) fn flow(&self, text: &str, file: &str) -> Result<TcpSpec, ScriptError> {
        // Lines stay where they are, so that an error names them.
        let is_tcp = |line: &&str| line.trim_start().starts_with("tcp.");
        let settings: Vec<&str> = text.lines().map(|line| if is_tcp(&line) { line } else { "" }).collect();
        flow_of(&self.transport, &settings.join("\n"), file)
    }
}

/// The end under test: a transport with `settings` of a scenario's `tcp`, a line each.
pub(crate) fn flow_of(transport: &str, settings: &str, file: &str) -> Result<TcpSpec, ScriptError> {
    // Any topology and duration do: of the whole experiment only the flow's settings are taken.
    let scenario = format!(
        "{settings}\nname = \"script\"\n[run]\nduration = \"1 s\"\n[topology.single_hop]\nlink = {{ rate = \"1 Gbit/s\", delay = \"1 ms\" }}\n\
         [[flow]]\nname = \"flow\"\nfrom = \"sender\"\nto = \"receiver\"\ntransport = \"newreno\"\n"
    );
    let flow = Scenario::parse(&scenario, file)
        .and_then(|scenario| scenario.with_transport(transport))
        .and_then(|scenario| scenario.resolve())
        .map(|mut experiment| experiment.flows.remove(0));
    let flow = flow.map_err(|error| {
        // An error of the transport, which is no setting of `tcp`, has no line of its own.
        let line = error.line.map_or(1, |line| line.get() as usize);
        let parts = [error.field.as_str(), &error.message, &error.remedy];
        let said: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        ScriptError::wrong(file, line, said.join("; "))
    })?;
    match flow.protocol {
        Protocol::Tcp(mut tcp) => {
            // The plane of the kernel has it so: scripts say what the RFCs say of a SYN.
            Arc::make_mut(&mut tcp.sender).linear_syn_timeouts = 0;
            Ok(tcp)
        }
        Protocol::Other(..) => {
            let message = format!("the transport {} has no segments; name a preset of TCP", flow.transport);
            Err(ScriptError::wrong(file, 1, message))
        }
    }
}
