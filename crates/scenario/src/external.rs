//! Congestion controls from outside: `module:Class` in place of a name of the registry.

use crate::tree::Path;
use crate::{Scenario, ScenarioError, suggest};

/// Whether `name` has the form of a control from outside, `module:Class`: dotted identifiers on both sides of one colon.
/// Whoever runs the experiment finds it; here only the form is known. As a transport it runs over SACK with the
/// settings of the RFCs, and what `parameters` says is for its constructor.
pub fn is_external(name: &str) -> bool {
    name.split_once(':').is_some_and(|(module, class)| is_dotted(module) && is_dotted(class))
}

impl Scenario {
    /// The controls from outside that the scenario names, each with the field that names it.
    fn named_from_outside(&self) -> Vec<(Path, &str)> {
        let flows = self.flow.iter().enumerate().flat_map(|(i, flow)| {
            let path = Path::of("flow").index(i);
            let congestion =
                flow.tcp.congestion.as_deref().map(|name| (path.key("tcp").key("congestion"), name));
            congestion.into_iter().chain([(path.key("transport"), flow.transport.as_str())])
        });
        let all = self.tcp.congestion.as_deref().map(|name| (Path::of("tcp").key("congestion"), name));
        all.into_iter().chain(flows).filter(|(_, name)| is_external(name)).collect()
    }

    /// The names of the controls from outside that the scenario asks for (see [`is_external`]).
    pub fn external_controls(&self) -> std::collections::BTreeSet<String> {
        self.named_from_outside().into_iter().map(|(_, name)| name.to_owned()).collect()
    }

    /// Refuses controls from outside that are not `allowed`: to look for one is to run code, which a text from somebody else
    /// must not do by itself.
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

fn is_dotted(path: &str) -> bool {
    path.split('.').all(|part| {
        let mut letters = part.chars();
        letters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
            && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
    })
}

/// The remedy for a name that is in no registry: what is near in `names`, or the form of a name from outside.
pub(crate) fn remedy(name: &str, names: &[&str]) -> String {
    if name.contains(':') {
        return "for one written in Python write module:Class, such as \"my_control:MyControl\"".to_owned();
    }
    suggest::among(name, names)
}

#[cfg(test)]
mod tests {
    use super::is_external;
    use crate::{Scenario, starter};
    use cogtcp_transport::{ParameterValue, Recovery};

    #[test]
    fn the_form_is_module_and_class() {
        for name in ["m:C", "pkg.mod:Outer.Inner", "_a1:_B"] {
            assert!(is_external(name), "{name}");
        }
        for name in ["newreno", "", ":", "m:", ":C", "a b:C", "m:C:D", "1m:C", "pkg..mod:C", "m.py:", "./m:C"]
        {
            assert!(!is_external(name), "{name}");
        }
    }

    #[test]
    fn controls_from_outside_are_refused_where_they_are_named() {
        let text = starter("dumbbell").unwrap();
        let inside = Scenario::parse(&text, "inside").unwrap();
        assert!(inside.external_controls().is_empty());
        inside.check_external(|_| false).unwrap();
        let text = text
            .replace("transport = \"newreno\"", "transport = \"m:C\"")
            .replace("stagger =", "tcp = { congestion = \"n:D\" }\nstagger =");
        let text = text.replacen("[tcp]", "[tcp]\ncongestion = \"o:E\"", 1);
        let scenario = Scenario::parse(&text, "outside").unwrap();
        assert_eq!(Vec::from_iter(scenario.external_controls()), ["m:C", "n:D", "o:E"]);
        scenario.check_external(|_| true).unwrap();
        let error = scenario.check_external(|name| name == "n:D").unwrap_err();
        let fields = |error: &crate::ScenarioError| {
            let more = error.more.iter().map(|error| error.field.clone());
            std::iter::once(error.field.clone()).chain(more).collect::<Vec<_>>()
        };
        assert_eq!(fields(&error), ["tcp.congestion", "flow.0.transport"]);
        assert!(error.line.is_some() && error.remedy.contains("--allow-python"), "{error}");
        assert_eq!(fields(&scenario.check_external(|_| false).unwrap_err()).len(), 3);
    }

    #[test]
    fn a_transport_or_a_control_may_come_from_outside() {
        let text = starter("dumbbell").unwrap();
        let parse = |text: String| {
            Scenario::parse(&text, "external").unwrap().resolve().map(|mut found| found.flows.remove(0))
        };
        let flow = parse(
            text.replace("transport = \"newreno\"", "transport = \"m:C\"")
                .replace("stagger =", "tcp = { parameters = { gain = 2 } }\nstagger ="),
        )
        .unwrap();
        assert_eq!((flow.transport.as_str(), flow.control.name.as_str()), ("m:C", "m:C"));
        assert_eq!(flow.sender.recovery, Recovery::Sack);
        assert_eq!(flow.control.parameters.get("gain"), Some(&ParameterValue::Number(2.0)));
        let flow = parse(text.replace("stagger =", "tcp = { congestion = \"m:C\" }\nstagger =")).unwrap();
        assert_eq!((flow.transport.as_str(), flow.control.name.as_str()), ("newreno", "m:C"));
        assert_eq!(flow.sender.recovery, Recovery::NewReno);
        let changed = Scenario::parse(&text, "external").unwrap().with_transport("m:C").unwrap();
        assert_eq!(changed.resolve().unwrap().flows[0].control.name, "m:C");
        let message = parse(text.replace("\"newreno\"", "\"m:\"")).unwrap_err().to_string();
        assert!(
            message.contains("unknown transport \"m:\"") && message.contains("module:Class"),
            "{message}"
        );
    }
}
