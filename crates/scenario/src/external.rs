//! Congestion controls from outside: `module:Class` in place of a name of the registry.

use crate::tree::KeyPath;
use crate::{Scenario, ScenarioError, suggest};

/// True if `name` has the form of an external control, `module:Class`. The driver of the experiment finds the
/// class. As a transport it runs over SACK with the RFCs' settings, and `parameters` are for its constructor.
pub use cogtcp_transport::is_external;

impl Scenario {
    /// The controls from outside that the scenario names, each with the field that names it.
    fn named_from_outside(&self) -> Vec<(KeyPath, &str)> {
        let flows = self.flow.iter().enumerate().flat_map(|(i, flow)| {
            let path = KeyPath::of("flow").index(i);
            let congestion =
                flow.tcp.congestion.as_deref().map(|name| (path.key("tcp").key("congestion"), name));
            let (at, name) = flow.transport.named_control();
            congestion
                .into_iter()
                .chain([(at.iter().fold(path.key("transport"), |path, key| path.key(key)), name)])
        });
        let all = self.tcp.congestion.as_deref().map(|name| (KeyPath::of("tcp").key("congestion"), name));
        all.into_iter().chain(flows).filter(|(_, name)| is_external(name)).collect()
    }

    /// The names of the controls from outside that the scenario asks for (see [`is_external`]).
    pub fn external_controls(&self) -> std::collections::BTreeSet<String> {
        self.named_from_outside().into_iter().map(|(_, name)| name.to_owned()).collect()
    }

    /// Refuses controls from outside that are not `allowed`: to look for one is to run code, which a text
    /// from somebody else must not do by itself.
    pub fn check_external(&self, allowed: impl Fn(&str) -> bool) -> Result<(), ScenarioError> {
        let refused = self.named_from_outside().into_iter().filter(|(_, name)| !allowed(name));
        let problems: Vec<_> = refused
            .map(|(path, name)| {
                let message = format!(
                    "\"{name}\" is a class in Python, whose code would run on this machine with all your rights"
                );
                (path, message, OUTSIDE_REMEDY.to_owned())
            })
            .collect();
        ScenarioError::from_all(self.source.place(problems.into_iter())).map_or(Ok(()), Err)
    }
}

const OUTSIDE_REMEDY: &str = "if you trust it, allow it with --allow-python (in Python: allow_python=True), or name it on the \
command line yourself: --transport or --set";

/// The remedy for a name that is in no registry: what is near in `names`, or the form of a name from outside.
pub(crate) fn remedy(name: &str, names: &[&str]) -> String {
    if name.contains(':') {
        return "for one written in Python write module:Class, such as \"my_control:MyControl\"".to_owned();
    }
    suggest::among(name, names)
}
