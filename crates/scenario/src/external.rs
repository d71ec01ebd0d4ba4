//! Congestion controls from outside: `module:Class` in place of a name of the registry.

use crate::suggest;

/// Whether `name` has the form of a control from outside, `module:Class`: dotted identifiers on both sides of one colon.
/// Whoever runs the experiment finds it; here only the form is known. As a transport it runs over SACK with the
/// settings of the RFCs, and what `parameters` says is for its constructor.
pub fn is_external(name: &str) -> bool {
    name.split_once(':').is_some_and(|(module, class)| is_dotted(module) && is_dotted(class))
}

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
